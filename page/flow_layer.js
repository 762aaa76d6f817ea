// A layer of the drawing of a graph, which the browser keeps as a picture: it moves and scales the
// picture without drawing it again. The picture has the scale of the last `sharpen`.

import { make } from "./dom.js";

export class FlowLayer {
  constructor(attributes, ...children) {
    this.scaled = make("div", { class: "flow-scaled" }, ...children);
    const names = ["flow-world", attributes.class].filter(Boolean).join(" ");
    this.element = make("div", { ...attributes, class: names }, this.scaled);
    this.sharpen(1);
  }

  // Draws the picture at a scale.
  sharpen(zoom) {
    if (this.zoom === zoom) return;
    this.zoom = zoom;
    this.scaled.style.transform = `scale(${zoom})`;
  }

  // Shows the picture at a position and a scale.
  move(x, y, zoom) {
    const place = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    const transform = `${place} scale(${zoom / this.zoom})`;
    if (this.transform === transform) return;
    this.transform = transform;
    this.element.style.transform = transform;
  }
}
