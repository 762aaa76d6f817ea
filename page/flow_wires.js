// The wires of a Flow graph in one SVG: their curves, the wire at a point, and the wire that is
// being dragged.

import { WIDTH } from "./flow_types.js";

const SVG = "http://www.w3.org/2000/svg";
const [REACH_MIN, REACH_MAX] = [32, 160];
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
  const reach = Math.max(REACH_MIN, Math.min(REACH_MAX, across * 0.5), back);
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

// Returns an element for wires.
export const makeWires = () => svg("svg", { class: "flow-wires", "aria-hidden": "true" });

export class FlowWires {
  constructor() {
    this.svg = makeWires();
    this.paths = new Map();
    this.lifted = [];
    this.dragged = svg("path", { class: "dragged" });
    this.lit = new Map();
    this.shownLit = new Set();
  }

  // Moves the wires of nodes that are dragged: those between them to `inner`, where they keep their
  // positions, and those to other nodes to `outer`.
  lift(layout, keys, inner, outer) {
    for (const wire of layout.wires) {
      const one = this.paths.get(wire.key);
      const ends = Number(keys.has(wire.from)) + Number(keys.has(wire.to));
      if (!one || ends === 0) continue;
      one.isInner = ends === 2;
      (one.isInner ? inner : outer).append(one.path);
      this.lifted.push([wire.key, one]);
    }
  }

  lower() {
    for (const [key, one] of this.lifted) {
      one.isInner = false;
      if (this.paths.get(key) === one) this.svg.append(one.path);
      else one.path.remove();
    }
    this.lifted = [];
  }

  // Draws the wires between dragged nodes and others.
  drawLifted(layout, place) {
    for (const [key, one] of this.lifted) {
      const wire = layout.byKey.get(key);
      const ends = wire && !one.isInner && this.ends(wire, layout.nodes, place);
      if (ends) this.bendTo(one, ends);
    }
  }

  // Draws the wires that touch a rectangle. `place(box)` returns a node's current position.
  draw(layout, rect, place, selected, problems) {
    const { nodes, wires } = layout;
    const seen = new Set();
    const added = [];
    for (const wire of wires) {
      let one = this.paths.get(wire.key);
      const ends = this.ends(wire, nodes, one?.isInner ? (box) => [box.x, box.y] : place);
      if (!ends) {
        this.paths.get(wire.key)?.path.remove();
        this.paths.delete(wire.key);
        continue;
      }
      const [x1, y1, x2, y2] = ends;
      const reach = x2 < x1 ? REACH_MAX : 0;
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
      this.bendTo(one, ends);
      this.nameTo(one, wire, selected, problems);
    }
    this.shownLit = new Set(this.lit.keys());
    // Wires that are far away stay up to a number: a new element costs more.
    const isFull = this.paths.size > PATHS_KEPT;
    for (const [key, one] of this.paths) {
      if (seen.has(key) || (!isFull && layout.byKey.has(key))) continue;
      one.path.remove();
      this.paths.delete(key);
    }
    if (added.length) this.svg.append(...added);
  }

  bendTo(one, ends) {
    const d = ends.join(" ");
    if (one.d === d) return;
    one.d = d;
    one.ends = ends;
    one.path.setAttribute("d", curve(...ends));
  }

  nameTo(one, wire, selected, problems) {
    const name = this.nameOf(wire, selected, problems);
    if (one.name === name) return;
    one.name = name;
    one.path.setAttribute("class", name);
    one.path.dataset.type = wire.type;
  }

  // Draws the wires that have been lit, or are not lit any more.
  drawLit(layout, selected, problems) {
    const lit = new Set(this.lit.keys());
    for (const key of [...lit, ...this.shownLit]) {
      if (lit.has(key) && this.shownLit.has(key)) continue;
      const [one, wire] = [this.paths.get(key), layout.byKey.get(key)];
      if (one && wire) this.nameTo(one, wire, selected, problems);
    }
    this.shownLit = lit;
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
      const [left, right] = ends[0] < ends[2] ? [ends[0], ends[2]] : [ends[2], ends[0]];
      const reach = best + (ends[2] < ends[0] ? REACH_MAX : REACH_MIN);
      if (x < left - reach || x > right + reach) continue;
      if (y < Math.min(ends[1], ends[3]) - best || y > Math.max(ends[1], ends[3]) + best) continue;
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
