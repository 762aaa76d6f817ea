// The graph of a layer of a state machine: states as boxes, transitions as arrows. States are in
// rows, by the number of transitions that lead to them from the initial state.

import { make, makeSvg as svg } from "./dom.js";

const [WIDTH, HEIGHT, GAP, DROP] = [148, 34, 14, 44];
// Letters that fit into a box: of the name of a state, and of what it plays.
const [LETTERS, SMALL_LETTERS] = [19, 23];
// Letters of the events on an arrow.
const EVENT_LETTERS = 24;

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
// Returns the name of an animation or a state without its weight, condition or position.
const nameOf = (text) => text.replace(/ (\((weight|if) .*\)|at [-[\d].*)$/, "");

// Returns the states in rows: the initial state, those that it leads to, and so on. States that
// nothing leads to are in the last row.
function rowsOf(layer) {
  const next = new Map(layer.states.map((state) => [state.name, [...state.choices]]));
  for (const { from, to } of layer.transitions) next.get(from)?.push(to);
  const known = new Set([layer.initial]);
  const rows = [];
  let row = [layer.initial];
  while (row.length) {
    rows.push(row);
    const found = row.flatMap((name) => next.get(name) ?? []);
    row = [...new Set(found)].filter((name) => !known.has(name));
    for (const name of row) known.add(name);
  }
  const rest = layer.states.map((state) => state.name).filter((name) => !known.has(name));
  return rest.length ? [...rows, rest] : rows;
}

// Returns the position of each state in a width. A row that is too long continues below.
function positionsOf(rows, width) {
  const fit = Math.max(1, Math.floor((width + GAP) / (WIDTH + GAP)));
  const positions = new Map();
  let y = 10;
  for (const row of rows) {
    for (let at = 0; at < row.length; at += fit) {
      const part = row.slice(at, at + fit);
      const used = part.length * (WIDTH + GAP) - GAP;
      const left = Math.max(0, (width - used) / 2);
      part.forEach((name, index) => positions.set(name, [left + index * (WIDTH + GAP), y]));
      y += HEIGHT + DROP;
    }
  }
  return [positions, y - DROP + 10];
}

// Returns the path of an arrow between two boxes. The two directions between the same boxes are
// apart from each other.
function arrow([x1, y1], [x2, y2]) {
  const [from, to] = [x1 + WIDTH / 2, x2 + WIDTH / 2];
  if (y1 === y2 && x1 === x2) {
    const right = x1 + WIDTH;
    return `M${right} ${y1 + 10} c16 -8 16 22 0 14`;
  }
  if (y1 === y2) {
    const [start, end] = x1 < x2 ? [x1 + WIDTH, x2] : [x1, x2 + WIDTH];
    const side = x1 < x2 ? -1 : 1;
    const y = y1 + HEIGHT / 2 + side * 5;
    const bend = Math.abs(start - end) > GAP + 2 ? side * (HEIGHT / 2 + 12) : 0;
    const middle = (start + end) / 2;
    return `M${start} ${y} Q${middle} ${y + bend * 2} ${end} ${y}`;
  }
  const down = y1 < y2;
  const shift = down ? -9 : 9;
  const [start, end] = down ? [y1 + HEIGHT, y2] : [y1, y2 + HEIGHT];
  const reach = (end - start) * 0.4;
  return `M${from + shift} ${start} C${from + shift} ${start + reach} ${to + shift} ${
    end - reach
  } ${to + shift} ${end}`;
}

let graphs = 0;

export class StateGraph {
  constructor(layer) {
    graphs += 1;
    this.id = `arrow-${graphs}`;
    this.layer = layer;
    this.rows = rowsOf(layer);
    this.svg = svg("svg", { role: "img" });
    this.element = make("div", { class: "states" }, this.svg);
    new ResizeObserver(() => this.lay()).observe(this.element);
  }

  // Places boxes and arrows in the width of the element.
  lay() {
    const width = Math.max(WIDTH + 2, this.element.clientWidth - 4);
    if (width === this.width) return;
    this.width = width;
    const [positions, height] = positionsOf(this.rows, width - 20);
    for (const [name, [x, y]] of positions) positions.set(name, [x + 2, y]);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    const head = svg(
      "marker",
      {
        id: this.id,
        viewBox: "0 0 8 8",
        refX: 7,
        refY: 4,
        markerWidth: 7,
        markerHeight: 7,
        orient: "auto",
      },
      svg("path", { d: "M0 0 8 4 0 8z", class: "head" }),
    );
    this.arrows = [];
    this.boxes = new Map();
    const all = this.layer.transitions.map((it) => ({ ...it }));
    for (const state of this.layer.states) {
      for (const to of state.choices) all.push({ from: state.name, to, event: "choice", blend: 0 });
    }
    for (const it of all) {
      const [from, to] = [positions.get(it.from), positions.get(it.to)];
      if (!from || !to) continue;
      const path = svg("path", { d: arrow(from, to), "marker-end": `url(#${this.id})` });
      const event = it.event ?? "at its end";
      path.append(svg("title", {}, `${it.from} → ${it.to}: ${event}, ${it.blend} s`));
      this.arrows.push({ ...it, path });
    }
    for (const state of this.layer.states) {
      const position = positions.get(state.name);
      if (position) this.boxes.set(state.name, this.box(state, position));
    }
    const boxes = [...this.boxes.values()].map((box) => box.group);
    this.label();
    this.svg.replaceChildren(
      svg("defs", {}, head),
      ...this.arrows.map((it) => it.path),
      ...boxes,
      ...this.labels.map((it) => it.text),
    );
    if (this.now) this.draw(this.now);
  }

  // Creates the texts with the events of arrows. Arrows between the same boxes share one. They are
  // shown for the arrows that leave the current state.
  label() {
    const byEnds = new Map();
    for (const { from, to, event, path } of this.arrows) {
      const ends = `${from}\n${to}`;
      const known = byEnds.get(ends) ?? { from, path, events: [] };
      known.events.push(event ?? "at its end");
      byEnds.set(ends, known);
    }
    this.labels = [...byEnds.values()].map(({ from, path, events }) => {
      const middle = path.getPointAtLength(path.getTotalLength() / 2);
      const place = { x: middle.x, y: middle.y + 3, class: "event" };
      const names = [...new Set(events)].join(", ");
      const text = svg("text", place, cut(names, EVENT_LETTERS), svg("title", {}, names));
      return { from, text };
    });
  }

  // Creates the box of a state: its name, and below it what it plays.
  box(state, [x, y]) {
    const rect = svg("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 5 });
    const bar = svg("rect", { x, y: y + HEIGHT - 3, width: 0, height: 3, class: "bar" });
    const played = [...state.clips, ...state.choices];
    const small = played.map(nameOf).join(", ") || state.kind;
    const text = (content, top, name, most) =>
      svg("text", { x: x + WIDTH / 2, y: y + top, class: name }, cut(content, most));
    const title = svg("title", {}, `${state.name}: ${state.kind} ${played.join(", ")}`);
    const texts = [
      text(state.name, 14, "name", LETTERS),
      text(small, 26, "clips", SMALL_LETTERS),
    ];
    const group = svg("g", { class: "state" }, title, rect, ...texts, bar);
    group.dataset.state = state.name;
    return { group, bar };
  }

  // Shows the current state of the layer, and its cross-fade.
  draw(now) {
    this.now = now;
    if (!this.boxes) return;
    const label = `States: ${now.state}${now.from ? `, from ${now.from}` : ""}`;
    if (this.svg.getAttribute("aria-label") !== label) this.svg.setAttribute("aria-label", label);
    const share = new Map([[now.state, now.progress]]);
    if (now.from && now.from !== now.state) share.set(now.from, 1 - now.progress);
    for (const [name, { group, bar }] of this.boxes) {
      group.classList.toggle("current", name === now.state);
      group.classList.toggle("leaving", name === now.from && name !== now.state);
      bar.setAttribute("width", WIDTH * (share.get(name) ?? 0));
    }
    for (const { from, to, path } of this.arrows) {
      path.classList.toggle("taken", from === now.from && to === now.state);
      path.classList.toggle("possible", from === now.state);
    }
    for (const { from, text } of this.labels) {
      text.classList.toggle("shown", from === now.state);
    }
  }
}
