// The wires of a Flow graph in one SVG: their curves, the wire at a point, and the wire that is
// being dragged.

import { WIDTH } from "./flow_types.js";

const SVG = "http://www.w3.org/2000/svg";
const REACH_MAX = 160;
// How far a click may be from a wire, in pixels of the screen.
const NEAR = 7;
const SAMPLES = 24;
const PATHS_KEPT = 2000;

function svg(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

// Returns the control points of a curve that leaves to the right and arrives from the left.
function bend(x1, x2, y1, y2) {
  const across = Math.abs(x2 - x1);
  const back = x2 < x1 ? Math.min(REACH_MAX, across + Math.abs(y2 - y1) * 0.2) : 0;
  const reach = Math.max(32, Math.min(REACH_MAX, across * 0.5), back);
  return [x1 + reach, x2 - reach];
}

export function curve(x1, y1, x2, y2) {
  const [a, b] = bend(x1, x2, y1, y2);
  return `M${x1} ${y1}C${a} ${y1} ${b} ${y2} ${x2} ${y2}`;
}

// Returns the distance of a point from a curve.
function distance([x1, y1, x2, y2], x, y) {
  const [a, b] = bend(x1, x2, y1, y2);
  let best = Infinity;
  for (let at = 0; at <= SAMPLES; at += 1) {
    const t = at / SAMPLES;
    const s = 1 - t;
    const px = s * s * s * x1 + 3 * s * s * t * a + 3 * s * t * t * b + t * t * t * x2;
    const py = (s * s * s + 3 * s * s * t) * y1 + (3 * s * t * t + t * t * t) * y2;
    best = Math.min(best, Math.hypot(px - x, py - y));
  }
  return best;
}

export class FlowWires {
  constructor() {
    this.svg = svg("svg", { class: "flow-wires", "aria-hidden": "true" });
    this.paths = new Map();
    this.dragged = svg("path", { class: "dragged" });
    this.lit = new Map();
  }

  // Draws the wires that touch a rectangle. `place(id)` returns a node's current position.
  draw(layout, rect, place, selected, problems) {
    const { nodes, wires } = layout;
    const seen = new Set();
    const added = [];
    for (const wire of wires) {
      const ends = this.ends(wire, nodes, place);
      if (!ends) {
        this.paths.get(wire.key)?.path.remove();
        this.paths.delete(wire.key);
        continue;
      }
      const [x1, y1, x2, y2] = ends;
      const reach = x2 < x1 ? REACH_MAX : 0;
      let one = this.paths.get(wire.key);
      const isNear =
        Math.min(x1, x2) - reach < rect.right &&
        Math.max(x1, x2) + reach > rect.left &&
        Math.min(y1, y2) < rect.bottom &&
        Math.max(y1, y2) > rect.top;
      if (isNear) seen.add(wire.key);
      else if (!one) continue;
      if (!one) {
        one = { path: svg("path", {}), d: "", name: "" };
        this.paths.set(wire.key, one);
        added.push(one.path);
      }
      const d = `${x1} ${y1} ${x2} ${y2}`;
      if (one.d !== d) {
        one.d = d;
        one.ends = ends;
        one.path.setAttribute("d", curve(x1, y1, x2, y2));
      }
      const name = this.nameOf(wire, selected, problems);
      if (one.name !== name) {
        one.name = name;
        one.path.setAttribute("class", name);
        one.path.dataset.type = wire.type;
      }
    }
    // Wires that are far away stay up to a number: a new element costs more.
    const isFull = this.paths.size > PATHS_KEPT;
    for (const [key, one] of this.paths) {
      if (seen.has(key) || (!isFull && layout.byKey.has(key))) continue;
      one.path.remove();
      this.paths.delete(key);
    }
    if (added.length) this.svg.append(...added);
  }

  nameOf(wire, selected, problems) {
    const names = ["wire"];
    if (wire.event) names.push("event");
    if (wire.state === null || problems.has(wire.key)) names.push("bad");
    else if (wire.state !== "same") names.push(wire.state);
    if (wire.key === selected) names.push("selected");
    if (this.lit.has(wire.key)) names.push("lit");
    return names.join(" ");
  }

  ends(wire, nodes, place) {
    const [from, to] = [nodes.get(wire.from), nodes.get(wire.to)];
    if (!from || !to) return null;
    const [[fx, fy], [tx, ty]] = [place(from), place(to)];
    return [fx + WIDTH, fy + wire.fromY, tx, ty + wire.toY];
  }

  // Returns the key of the wire at a point, or null.
  at(x, y, zoom) {
    let [best, found] = [NEAR / zoom, null];
    for (const [key, { ends }] of this.paths) {
      const near = distance(ends, x, y);
      if (near < best) [best, found] = [near, key];
    }
    return found;
  }

  // Shows the wire that is being dragged, or none.
  drag(ends, type = "", isFit = true) {
    if (!ends) {
      this.dragged.remove();
      return;
    }
    this.dragged.setAttribute("d", curve(...ends));
    this.dragged.dataset.type = type;
    this.dragged.classList.toggle("unfit", !isFit);
    if (!this.dragged.isConnected) this.svg.append(this.dragged);
  }

  clear() {
    for (const { path } of this.paths.values()) path.remove();
    this.paths.clear();
    this.lit.clear();
    this.drag(null);
  }
}
