// One frame as a flame graph: the scopes of each thread and the passes of the graphics adapter. It
// zooms with the wheel and the keys, and pans by dragging.

import { makeTip, setText, short, sizedCanvas } from "./dom.js";
import { color } from "./theme.js";

const ROW = 19;
const NAME = 15;
const GAP = 6;
const LEAST_HEIGHT = 60;
// The shortest time that fills the width, in seconds.
const LEAST_SECONDS = 2e-6;
const ZOOM = 1.25;
const PAN = 0.1;
const FONT = "11px ui-monospace, monospace";
const SMALL_FONT = "10px ui-monospace, monospace";
// Space to the right of a frame, as a part of it.
const MARGIN = 1.02;

// Returns a color for a name, the same in every run.
function nameColor(name) {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  const light = parseFloat(color("scope-light")) + ((hash >> 9) % 10);
  return `hsl(${hash % 360} 45% ${light}%)`;
}

// Returns the lanes of a frame: for each thread its name and its boxes; at the end the graphics
// adapter, whose clock is not that of the threads.
function lanesOf(frame) {
  const lanes = new Map();
  for (const [thread, number, depth, began, seconds] of frame.scopes) {
    if (!lanes.has(thread)) {
      lanes.set(thread, { name: frame.threads[thread]?.name ?? "", deepest: 0, boxes: [] });
    }
    const lane = lanes.get(thread);
    lane.deepest = Math.max(lane.deepest, depth);
    lane.boxes.push({ name: frame.names[number] ?? "", depth, began, seconds });
  }
  const sorted = [...lanes].sort(([a], [b]) => a - b).map(([, lane]) => lane);
  if (frame.gpu?.length) {
    const boxes = frame.gpu.map(([name, began, seconds]) => ({ name, depth: 0, began, seconds }));
    sorted.push({ name: "GPU, from its first pass", deepest: 0, boxes, gpu: true });
  }
  return sorted;
}

export class FlameGraph {
  constructor(canvas, status) {
    Object.assign(this, { canvas, status, frame: null, boxes: [], from: 0, to: 0, tip: makeTip() });
    // Without a choice, the graph shows the whole frame.
    this.zoomed = false;
    this.listen();
  }

  // The time that is shown without a zoom: the frame, and its passes on the graphics adapter.
  get whole() {
    const passes = (this.frame?.gpu ?? []).map(([, began, seconds]) => began + seconds);
    return Math.max(this.frame?.seconds ?? 0, ...passes, 1e-6) * MARGIN;
  }

  // Shows a part of the frame, in seconds from its beginning.
  view(from, to) {
    const length = Math.min(Math.max(to - from, LEAST_SECONDS), this.whole);
    this.from = Math.min(Math.max(0, from), this.whole - length);
    this.to = this.from + length;
    this.zoomed = length < this.whole * 0.999;
    this.draw(this.frame);
  }

  fit() {
    this.view(0, this.whole);
  }

  // Zooms around a position on the canvas.
  zoom(factor, x = this.canvas.clientWidth / 2) {
    const at = this.from + (x / this.canvas.clientWidth) * (this.to - this.from);
    this.view(at - (at - this.from) / factor, at + (this.to - at) / factor);
  }

  pan(seconds) {
    this.view(this.from + seconds, this.to + seconds);
  }

  boxAt(x, y) {
    return this.boxes.find(
      (box) => x >= box.x && x <= box.x + box.wide && y >= box.y && y < box.y + ROW,
    );
  }

  listen() {
    const { canvas, tip } = this;
    const perPixel = () => (this.to - this.from) / Math.max(1, canvas.clientWidth);
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!this.frame) return;
        event.preventDefault();
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
          this.pan((event.deltaX || event.deltaY) * perPixel());
        } else this.zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, event.offsetX);
      },
      { passive: false },
    );
    canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      if (canvas.hasPointerCapture(event.pointerId)) {
        this.pan(-event.movementX * perPixel());
        canvas.parentElement.scrollTop -= event.movementY;
        tip.hide();
        return;
      }
      const box = this.boxAt(event.offsetX, event.offsetY);
      if (!box) return tip.hide();
      const text = `${box.name}\n${short(box.seconds * 1000)} ms on ${box.lane}`;
      tip.show(text, event.clientX, event.clientY);
    });
    canvas.addEventListener("pointerleave", () => tip.hide());
    canvas.addEventListener("dblclick", (event) => {
      const box = this.boxAt(event.offsetX, event.offsetY);
      if (box) this.view(box.began - box.seconds * 0.05, box.began + box.seconds * 1.05);
      else this.fit();
    });
    canvas.addEventListener("keydown", (event) => {
      if (!this.frame || event.altKey || event.ctrlKey || event.metaKey) return;
      const length = this.to - this.from;
      const actions = {
        "+": () => this.zoom(ZOOM),
        "=": () => this.zoom(ZOOM),
        "-": () => this.zoom(1 / ZOOM),
        0: () => this.fit(),
        ArrowLeft: () => this.pan(-length * PAN),
        ArrowRight: () => this.pan(length * PAN),
      };
      if (!(event.key in actions)) return;
      event.preventDefault();
      actions[event.key]();
    });
  }

  // Draws a frame. The part that is shown stays the same while one frame after another is drawn.
  draw(frame) {
    this.frame = frame;
    this.boxes = [];
    const lanes = frame ? lanesOf(frame) : [];
    const laneHeight = (lane) => NAME + GAP + (lane.deepest + 1) * ROW;
    const height = lanes.reduce((sum, lane) => sum + laneHeight(lane), 8);
    const [context, width] = sizedCanvas(this.canvas, Math.max(LEAST_HEIGHT, height));
    if (!frame) return;
    if (!this.zoomed) [this.from, this.to] = [0, this.whole];
    let y = 4;
    context.textBaseline = "middle";
    for (const lane of lanes) {
      context.fillStyle = color("dim");
      context.font = SMALL_FONT;
      context.fillText(lane.name, 6, y + NAME / 2);
      y += NAME;
      context.font = FONT;
      for (const box of lane.boxes) this.drawBox(context, width, lane, box, y);
      y += (lane.deepest + 1) * ROW + GAP;
    }
    this.canvas.dataset.view = `${this.from} ${this.to}`;
    this.canvas.dataset.lanes = lanes.map((lane) => lane.name).join("|");
    const shown = `${short(this.from * 1000)} to ${short(this.to * 1000)} ms`;
    setText(this.status, this.zoomed ? shown : "");
  }

  drawBox(context, width, lane, { name, depth, began, seconds }, y) {
    const scale = width / (this.to - this.from);
    const x = Math.max(0, (began - this.from) * scale);
    const end = Math.min(width, (began + seconds - this.from) * scale);
    if (end < 0 || x > width) return;
    const wide = Math.max(1, end - x - 0.5);
    const top = y + depth * ROW;
    context.fillStyle = nameColor(name);
    context.fillRect(x, top, wide, ROW - 1);
    if (wide > 34) {
      context.save();
      context.beginPath();
      context.rect(x, top, wide - 3, ROW);
      context.clip();
      context.fillStyle = color("scope-text");
      context.fillText(`${name}  ${(seconds * 1000).toFixed(2)}`, x + 5, top + ROW / 2);
      context.restore();
    }
    this.boxes.push({ x, y: top, wide, name, began, seconds, lane: lane.name });
  }
}
