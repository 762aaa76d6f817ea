// A picture of a whole graph as it is at small scales, where a node is its name. While the scale
// changes, the browser scales this picture, which costs it much less than to draw hundreds of nodes
// and wires again. Small graphs need none.

import { make } from "./dom.js";
import { WIDTH, bounds } from "./flow_types.js";
import { curve } from "./flow_wires.js";
import { onTheme } from "./theme.js";

const NODES_LEAST = 120;
const PIXELS_MAX = 6e6;
const SCALE_MOST = 0.4;
// Wires and selected nodes reach this far beyond the nodes, in pixels of the graph.
const MARGIN = 180;
const IDLE_MILLISECONDS = 400;
// Sizes of the style, in pixels of the graph.
const [WIRE, BORDER, RADIUS] = [3, 1, 7];
const [HEAD_MOST, TEXT_LEFT, TEXT_DOWN] = [64, 11, 9];
const [ALARM_RIGHT, ALARM_RADIUS] = [17, 7.5];

export class FlowPicture {
  constructor(canvas) {
    this.canvas = canvas;
    this.image = make("img", { class: "flow-picture", alt: "", hidden: true });
    // Colors of kinds and types come from the style.
    this.probe = make("span", { hidden: true });
    this.element = make("div", { class: "flow-pictures" }, this.image, this.probe);
    [this.drawn, this.serial] = [null, 0];
    onTheme(() => this.forget());
  }

  // The picture does not show the graph as it is now.
  forget() {
    this.drawn = null;
    this.serial += 1;
  }

  // True if there is a picture of the graph as it is now.
  get isDrawn() {
    return this.drawn !== null && this.drawn === this.canvas.editor.layout();
  }

  // Draws the picture of a large graph when the page has time.
  prepareSoon() {
    const { editor } = this.canvas;
    clearTimeout(this.timer);
    if (this.isDrawn || editor.layout().nodes.size < NODES_LEAST) return;
    this.timer = setTimeout(() => {
      if (!this.isShown && !editor.drag && editor.model) this.prepare();
    }, IDLE_MILLISECONDS);
  }

  async prepare() {
    const layout = this.canvas.editor.layout();
    this.forget();
    const { serial } = this;
    const around = bounds([...layout.nodes.values()]);
    const [left, top] = [around.left - MARGIN, around.top - MARGIN];
    const width = around.right - around.left + 2 * MARGIN;
    const height = around.bottom - around.top + 2 * MARGIN;
    const scale = Math.min(SCALE_MOST, Math.sqrt(PIXELS_MAX / (width * height)));
    const drawn = new OffscreenCanvas(Math.ceil(width * scale), Math.ceil(height * scale));
    const context = drawn.getContext("2d");
    context.setTransform(scale, 0, 0, scale, -left * scale, -top * scale);
    this.colors = new Map();
    this.drawFrames(context, layout);
    this.drawWires(context, layout);
    this.drawNodes(context, layout);
    // An image, unlike a canvas, is not copied for each frame.
    const address = URL.createObjectURL(await drawn.convertToBlob());
    if (serial === this.serial) await this.take(address, { left, top, scale, drawn: layout });
    URL.revokeObjectURL(address);
  }

  async take(address, more) {
    const { serial } = this;
    this.image.src = address;
    await this.image.decode().catch(() => {});
    if (serial === this.serial && this.image.naturalWidth) Object.assign(this, more);
  }

  // Returns the color of a kind of nodes, a type of pins, or another variable of the style.
  color(name, attribute = null, value = "") {
    const key = `${name} ${value}`;
    if (!this.colors.has(key)) {
      if (attribute) this.probe.dataset[attribute] = value;
      this.colors.set(key, getComputedStyle(this.probe).getPropertyValue(name).trim());
    }
    return this.colors.get(key);
  }

  drawFrames(context, layout) {
    const { frames } = this.canvas;
    context.lineWidth = BORDER * 1.5;
    for (const [key, { element }] of frames.boxes) {
      const rect = frames.rect(key, layout);
      if (!rect) continue;
      const color = element.style.getPropertyValue("--frame");
      context.strokeStyle = color.startsWith("#") ? color : this.color("--strong-line");
      context.fillStyle = context.strokeStyle;
      context.globalAlpha = 0.12;
      context.fillRect(rect.x, rect.y, rect.width, rect.height);
      context.globalAlpha = 1;
      context.strokeRect(rect.x, rect.y, rect.width, rect.height);
    }
  }

  drawWires(context, layout) {
    const { wires, editor } = this.canvas;
    for (const wire of layout.wires) {
      const ends = wires.ends(wire, layout.nodes, (box) => [box.x, box.y]);
      if (!ends) continue;
      context.strokeStyle =
        wire.key === editor.wire ? this.color("--accent") : this.color("--pin", "type", wire.type);
      context.lineWidth = WIRE;
      context.stroke(new Path2D(curve(...ends)));
    }
  }

  drawNodes(context, layout) {
    const { canvas } = this;
    const [panel, text, wash] = ["--panel", "--text", "--flow-wash"].map((name) =>
      this.color(name),
    );
    context.font = `600 24px ${getComputedStyle(canvas.element).fontFamily}`;
    for (const { id, x, y, row, node, shape } of layout.nodes.values()) {
      const kind = this.color("--kind", "kind", canvas.editor.catalogue?.kind(row) ?? "unknown");
      const { border, width, alarm } = this.marksOf(id);
      const middle = y + Math.min(shape.height, HEAD_MOST) / 2;
      context.beginPath();
      context.roundRect(x, y, WIDTH, shape.height, RADIUS);
      context.fillStyle = `color-mix(in srgb, ${kind} ${wash}, ${panel})`;
      context.fill();
      context.fillStyle = kind;
      context.fillRect(x + BORDER, y + BORDER, WIDTH - 2 * BORDER, BORDER * 2);
      context.lineWidth = width;
      context.strokeStyle = border;
      context.stroke();
      context.fillStyle = text;
      context.fillText(row?.name ?? String(node?.type ?? "?"), x + TEXT_LEFT, middle + TEXT_DOWN);
      if (!alarm) continue;
      context.fillStyle = alarm;
      context.beginPath();
      context.arc(x + WIDTH - ALARM_RIGHT, middle, ALARM_RADIUS, 0, 2 * Math.PI);
      context.fill();
    }
  }

  // Returns the border of a node, and the color of the mark of its problems.
  marksOf(id) {
    const problems = this.canvas.byNode.get(id) ?? [];
    const isBad = problems.some((one) => one.severity === "error");
    const alarm = problems.length ? this.color(isBad ? "--bad" : "--warn") : null;
    const isSelected = this.canvas.editor.selection.has(id);
    const border = isSelected ? this.color("--accent") : (alarm ?? this.color("--strong-line"));
    return { border, width: isSelected ? BORDER * 4 : BORDER, alarm };
  }

  // Shows the picture in the place of the graph, at a position and a scale.
  show({ x, y, zoom }) {
    this.setShown(true);
    const [left, top] = [x + this.left * zoom, y + this.top * zoom];
    const scale = zoom / this.scale;
    this.image.style.transform = `translate(${left}px, ${top}px) scale(${scale})`;
  }

  hide() {
    this.setShown(false);
  }

  setShown(isShown) {
    if (Boolean(this.isShown) === isShown) return;
    this.isShown = isShown;
    this.image.hidden = !isShown;
    this.canvas.element.classList.toggle("pictured", isShown);
  }
}
