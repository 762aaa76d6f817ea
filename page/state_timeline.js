// The states of a character's layers in the last seconds, and the events that it sent.

import { make, makeTip, sizedCanvas } from "./dom.js";
import { color } from "./theme.js";

const SECONDS = 10;
const [ROW, MARKS, GAP] = [18, 16, 2];
const SERIES = 8;

export class StateTimeline {
  // `graph` has the states of each layer, whose colors follow from their order.
  constructor(graph) {
    Object.assign(this, { samples: [], events: [], last: -1 });
    this.colors = graph.layers.map(
      (layer) => new Map(layer.states.map((state, at) => [state.name, (at % SERIES) + 1])),
    );
    this.canvas = make("canvas", { role: "img", "aria-label": "States in the last seconds" });
    this.element = make("div", { class: "timeline" }, this.canvas);
    const tip = makeTip();
    this.canvas.addEventListener("mousemove", (event) => {
      const text = this.describe(event.offsetX);
      if (text) tip.show(text, event.clientX, event.clientY);
      else tip.hide();
    });
    this.canvas.addEventListener("mouseleave", () => tip.hide());
  }

  // Adds the present state of a character, and draws.
  add(unit) {
    const now = performance.now() / 1000;
    this.samples.push({ at: now, layers: unit.layers.map((layer) => layer.state) });
    const newest = unit.sent.at(-1)?.number ?? this.last;
    // The first answer has events of an unknown time.
    if (this.last >= 0 || this.samples.length > 1) {
      const fresh = unit.sent.filter((event) => event.number > this.last);
      for (const event of fresh) this.events.push({ at: now, ...event });
    }
    this.last = newest;
    while (this.samples[1]?.at < now - SECONDS) this.samples.shift();
    while (this.events[0]?.at < now - SECONDS) this.events.shift();
    this.draw(now);
  }

  // Returns the states and events at a position.
  describe(x) {
    const width = this.canvas.clientWidth;
    const at = this.now - SECONDS * (1 - x / width);
    const sample = this.samples.findLast((it) => it.at <= at);
    if (!sample) return "";
    const near = this.events.filter((event) => Math.abs(event.at - at) < SECONDS * (4 / width));
    const lines = [...sample.layers, ...near.map((event) => `event ${event.event}`)];
    return [`${(this.now - at).toFixed(1)} s ago`, ...lines].join("\n");
  }

  draw(now) {
    this.now = now;
    const layers = this.samples.at(-1)?.layers.length ?? 0;
    const [context, width] = sizedCanvas(this.canvas, MARKS + layers * (ROW + GAP));
    const place = (at) => width * (1 - (now - at) / SECONDS);
    context.font = "10px ui-monospace, monospace";
    for (let layer = 0; layer < layers; layer += 1) {
      this.drawLayer(context, layer, place, width);
    }
    context.fillStyle = color("text");
    for (const event of this.events) {
      const x = Math.round(place(event.at));
      context.fillRect(x, 0, 1, MARKS - 3);
      context.fillText(event.event, x + 3, 9);
    }
  }

  // Draws a band for each stretch of time in one state.
  drawLayer(context, layer, place, width) {
    const y = MARKS + layer * (ROW + GAP);
    let start = 0;
    for (let at = 1; at <= this.samples.length; at += 1) {
      const state = this.samples[start].layers[layer];
      if (at < this.samples.length && this.samples[at].layers[layer] === state) continue;
      const left = Math.max(0, place(this.samples[start].at));
      const right = at < this.samples.length ? place(this.samples[at].at) : width;
      context.fillStyle = color(`series-${this.colors[layer]?.get(state) ?? 1}`);
      context.globalAlpha = 0.35;
      context.fillRect(left, y, Math.max(1, right - left - 1), ROW);
      context.globalAlpha = 1;
      context.save();
      context.beginPath();
      context.rect(left, y, Math.max(0, right - left - 2), ROW);
      context.clip();
      context.fillStyle = color("text");
      context.fillText(state ?? "", left + 4, y + 12);
      context.restore();
      start = at;
    }
  }
}
