// The layers of what is dragged in the drawing of a graph: nodes with the wires between them, which
// the browser moves without drawing them again, and the wires from them to other nodes. Everything
// else stays as it is drawn.

import { make } from "./dom.js";
import { bounds } from "./flow_types.js";
import { makeWires } from "./flow_wires.js";

// The ground reaches this far beyond the nodes, in pixels.
const MARGIN = 60;

// The browser draws a layer that it keeps at a scale of 1, or more coarsely if that is too large.
// So a layer of many nodes is kept only at small scales, where drawing them again would take long.
const FEW = 50;
const SMALL_ZOOM = 0.2;

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
    this.moved = make("div", { class: "flow-world flow-lifted", hidden: true });
    this.ground = make("div", { class: "flow-lifted-ground" });
    this.moved.append(this.ground, this.frames, this.inner, this.layer);
    this.border = make("div", { class: "flow-world kept", hidden: true });
    this.border.append(this.outer);
  }

  // Lifts nodes and their wires from the drawing.
  begin(keys) {
    const { canvas } = this;
    this.end();
    this.isActive = true;
    this.moved.hidden = false;
    this.border.hidden = false;
    this.move();
    this.lifted = [...keys].map((id) => canvas.nodes.get(id)).filter(Boolean);
    this.cover();
    const isKept = this.lifted.length <= FEW || canvas.view.zoom < SMALL_ZOOM;
    this.moved.classList.toggle("kept", isKept);
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
    const at = (value) => Math.round(value);
    const scale = `scale(${view.zoom})`;
    const [left, top] = [view.x + x * view.zoom, view.y + y * view.zoom];
    this.moved.style.transform = `translate(${at(left)}px, ${at(top)}px) ${scale}`;
    const fixed = `translate(${at(view.x)}px, ${at(view.y)}px) ${scale}`;
    if (this.fixed !== fixed) this.border.style.transform = fixed;
    this.fixed = fixed;
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
    this.moved.hidden = true;
    this.border.hidden = true;
  }
}
