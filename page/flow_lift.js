// The layers of what is dragged in the drawing of a graph: nodes with the wires between them, which
// the browser moves without drawing them again, and the wires from them to other nodes. Everything
// else stays as it is drawn.

import { make } from "./dom.js";
import { FlowLayer } from "./flow_layer.js";
import { bounds } from "./flow_types.js";
import { makeWires } from "./flow_wires.js";

// The ground reaches this far beyond the nodes, in pixels.
const MARGIN = 60;

// Moves an element to the end of another one. It keeps its focus, if the browser can do that.
function moveInto(parent, element) {
  if (parent.moveBefore) {
    parent.moveBefore(element, null);
    return;
  }
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  parent.append(element);
  focused?.focus({ preventScroll: true });
}

export class FlowLift {
  constructor(canvas) {
    Object.assign(this, { canvas, isActive: false, lifted: [] });
    this.inner = makeWires();
    this.outer = makeWires();
    this.layer = make("div", { class: "flow-layer" });
    this.frames = make("div", { class: "flow-frames" });
    this.ground = make("div", { class: "flow-lifted-ground" });
    const children = [this.ground, this.frames, this.inner, this.layer];
    this.moved = new FlowLayer({ class: "flow-lifted", hidden: true }, ...children);
    this.border = new FlowLayer({ hidden: true }, this.outer);
  }

  // Lifts nodes and their wires from the drawing.
  begin(keys) {
    const { canvas } = this;
    this.end();
    this.isActive = true;
    this.show(true);
    this.move();
    this.lifted = [...keys].map((id) => canvas.nodes.get(id)).filter(Boolean);
    this.cover();
    for (const one of this.lifted) {
      one.isLifted = true;
      moveInto(this.layer, one.element);
    }
    canvas.frames.lift(keys, (element) => moveInto(this.frames, element));
    canvas.wires.lift(canvas.editor.layout(), keys, this.inner, this.outer);
  }

  // Puts the ground below all lifted nodes.
  cover() {
    const { style } = this.ground;
    const around = bounds(this.lifted.map((one) => one.box));
    this.ground.hidden = !around;
    if (!around) return;
    style.left = `${around.left - MARGIN}px`;
    style.top = `${around.top - MARGIN}px`;
    style.width = `${around.right - around.left + 2 * MARGIN}px`;
    style.height = `${around.bottom - around.top + 2 * MARGIN}px`;
  }

  // Moves the layers to where the pointer has dragged them.
  move() {
    if (!this.isActive) return;
    const { view, editor } = this.canvas;
    const { x, y } = editor.drag ?? { x: 0, y: 0 };
    for (const layer of [this.moved, this.border]) layer.sharpen(view.zoom);
    this.moved.move(view.x + x * view.zoom, view.y + y * view.zoom, view.zoom);
    this.border.move(view.x, view.y, view.zoom);
  }

  // Returns everything to the drawing, on top of other nodes.
  end() {
    if (!this.isActive) return;
    const { canvas } = this;
    this.isActive = false;
    for (const one of this.lifted) {
      one.isLifted = false;
      if (canvas.nodes.get(one.id) !== one) continue;
      canvas.nodes.delete(one.id);
      canvas.nodes.set(one.id, one);
      moveInto(canvas.layer, one.element);
    }
    this.lifted = [];
    canvas.frames.lower((element) => moveInto(canvas.frames.element, element));
    canvas.wires.lower();
    this.show(false);
  }

  show(isShown) {
    for (const layer of [this.moved, this.border]) layer.element.hidden = !isShown;
  }
}
