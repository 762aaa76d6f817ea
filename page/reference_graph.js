// The graph of references around a resource: its users on the left, what it uses on the right.
// Pan, zoom and the keys; the game sends at most some hundred nodes.

import { bytes, make, makeSvg } from "./dom.js";

const [WIDTH, HEIGHT, ROW] = [204, 40, 52];
// Distance of columns of the same number of steps, and of other steps.
const [NARROW, WIDE] = [20, 84];
// A column with more nodes continues next to it.
const ROWS_MAX = 40;
const LETTERS = 26;
const [ZOOM_LEAST, ZOOM_MOST] = [0.12, 2.5];
// A graph that does not fit at this zoom is shown from its middle.
const FIT_LEAST = 0.4;
const PAN = 60;
const COLORS = 8;

// Returns the end of a long name, which differs more than its beginning.
const cut = (text) => (text.length > LETTERS ? `…${text.slice(1 - LETTERS)}` : text);

// Returns the class of the color of a kind.
function colorOf(kind) {
  let sum = 0;
  for (const letter of kind) sum = (sum * 31 + letter.charCodeAt(0)) % 9973;
  return `color-${(sum % COLORS) + 1}`;
}

// Returns what a person should know about a node besides its numbers.
function marksOf(node) {
  const marks = [];
  if (node.unused) marks.push("unused");
  if (node.cycle != null) marks.push("in a cycle");
  if (node.missing) {
    marks.push(node.missing === 1 ? "1 missing name" : `${node.missing} missing names`);
  }
  return marks;
}

export function describe(node) {
  if (node.absent) return `${node.name}: missing ${node.kind}`;
  const sizes = `${bytes(node.bytes)}, uses ${node.uses}, used by ${node.used_by}`;
  return [`${node.name}: ${sizes}`, ...marksOf(node)].join(", ");
}

// Returns the columns of each number of steps, beginning with those next to the middle. The order
// in a column follows the neighbours in the one before.
function levelsOf(nodes, arrows, sign) {
  const levels = [];
  nodes.forEach((node, at) => {
    if (Math.sign(node.steps) !== sign) return;
    (levels[Math.abs(node.steps) - 1] ??= []).push(at);
  });
  const near = nodes.map(() => []);
  for (const { from, to } of arrows) {
    near[from].push(to);
    near[to].push(from);
  }
  const rank = new Map();
  for (const level of levels.filter(Boolean)) {
    const middle = (at) => {
      const known = near[at].map((other) => rank.get(other)).filter((it) => it !== undefined);
      return known.length ? known.reduce((sum, it) => sum + it, 0) / known.length : 0;
    };
    const middles = new Map(level.map((at) => [at, middle(at)]));
    level.sort((a, b) => middles.get(a) - middles.get(b) || a - b);
    level.forEach((at, index) => rank.set(at, index - level.length / 2));
  }
  return levels.filter(Boolean);
}

// Returns the left upper corner of each node.
export function layOut(nodes, arrows) {
  const positions = nodes.map(() => [0, 0]);
  for (const sign of [-1, 1]) {
    let x = WIDTH + WIDE;
    for (const level of levelsOf(nodes, arrows, sign)) {
      const columns = Math.ceil(level.length / ROWS_MAX);
      const rows = Math.ceil(level.length / columns);
      level.forEach((at, index) => {
        const column = Math.floor(index / rows);
        const used = Math.min(rows, level.length - column * rows);
        const y = ((index % rows) - (used - 1) / 2) * ROW;
        positions[at] = [sign * (x + column * (WIDTH + NARROW)), y];
      });
      x += columns * (WIDTH + NARROW) - NARROW + WIDE;
    }
  }
  return positions;
}

function path([x1, y1], [x2, y2]) {
  const [fromX, fromY, toX, toY] = [x1 + WIDTH, y1 + HEIGHT / 2, x2, y2 + HEIGHT / 2];
  const bend = toX > fromX ? (toX - fromX) / 2 : 70;
  return `M${fromX} ${fromY} C${fromX + bend} ${fromY} ${toX - bend} ${toY} ${toX} ${toY}`;
}

let graphs = 0;

// `choose(node)` is called for the node that has the focus, `open(node)` for the one that becomes
// the middle.
export class ReferenceGraph {
  constructor({ choose, open }) {
    Object.assign(this, { choose, open, nodes: [], arrows: [], positions: [], active: 0 });
    graphs += 1;
    this.prefix = `references${graphs}`;
    this.view = { x: 0, y: 0, zoom: 1 };
    const head = makeSvg("path", { d: "M0 0 8 4 0 8z" });
    const size = { viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7 };
    const marker = makeSvg("marker", { id: `${this.prefix}-head`, orient: "auto", ...size }, head);
    this.layer = makeSvg("g", {});
    this.svg = makeSvg("svg", {}, makeSvg("defs", {}, marker), this.layer);
    this.element = make(
      "div",
      { class: "reference-graph", tabindex: "0", role: "listbox", "aria-label": "References" },
      this.svg,
    );
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.element.addEventListener("pointerdown", (event) => this.press(event));
    this.element.addEventListener("dblclick", (event) => {
      const at = this.nodeAt(event);
      if (at >= 0) this.enter(at);
    });
    new ResizeObserver(() => this.resized()).observe(this.element);
  }

  // Shows a neighbourhood. The missing names of the middle are nodes, too.
  show(answer) {
    this.nodes = answer.nodes.map((node) => ({ ...node }));
    this.arrows = answer.arrows.filter(({ from, to }) => from !== to);
    for (const one of answer.missing) {
      const { name, kind, near, file, line } = one;
      this.arrows.push({ from: 0, to: this.nodes.length, certainty: "certain", file, line });
      this.nodes.push({ name, kind, near, file, line, absent: true, steps: 1 });
    }
    this.positions = layOut(this.nodes, this.arrows);
    this.active = 0;
    this.element.setAttribute("aria-label", `References of ${answer.name}`);
    this.draw();
    this.fit(FIT_LEAST);
  }

  draw() {
    this.paths = this.arrows.map((arrow) => {
      const d = path(this.positions[arrow.from], this.positions[arrow.to]);
      const line = makeSvg("path", { d, "marker-end": `url(#${this.prefix}-head)` });
      const ring = this.nodes[arrow.from].cycle ?? -1;
      line.classList.add(arrow.certainty);
      line.classList.toggle("ring", ring >= 0 && ring === this.nodes[arrow.to].cycle);
      line.classList.toggle("absent", this.nodes[arrow.to].absent ?? false);
      return line;
    });
    this.boxes = this.nodes.map((node, at) => this.box(node, at));
    this.layer.replaceChildren(...this.paths, ...this.boxes);
    this.mark();
  }

  box(node, at) {
    const [x, y] = this.positions[at];
    const marks = node.absent ? [`missing ${node.kind}`] : marksOf(node);
    const facts = node.absent ? [] : [bytes(node.bytes), `used by ${node.used_by}`];
    const group = makeSvg(
      "g",
      {
        id: `${this.prefix}-${at}`,
        role: "option",
        "aria-label": describe(node),
        "aria-setsize": this.nodes.length,
        "aria-posinset": at + 1,
        transform: `translate(${x} ${y})`,
        "data-at": at,
      },
      makeSvg("title", {}, describe(node)),
      makeSvg("rect", { width: WIDTH, height: HEIGHT, rx: 5 }),
      makeSvg("rect", { class: `kind ${colorOf(node.kind)}`, width: 5, height: HEIGHT, rx: 2 }),
      makeSvg("text", { x: 13, y: 16 }, cut(node.name)),
      makeSvg("text", { x: 13, y: 31, class: "facts" }, [...marks, ...facts].join(" · ")),
    );
    group.classList.toggle("middle", at === 0);
    group.classList.toggle("absent", node.absent ?? false);
    group.classList.toggle("unused", node.unused ?? false);
    group.classList.toggle("ring", node.cycle != null);
    group.classList.toggle("on-the-way", node.selected === false && at !== 0);
    return group;
  }

  // Marks the active node and its arrows.
  mark() {
    this.boxes.forEach((box, at) => {
      box.classList.toggle("active", at === this.active);
      box.setAttribute("aria-selected", String(at === this.active));
    });
    this.paths.forEach((line, at) => {
      const { from, to } = this.arrows[at];
      line.classList.toggle("near", from === this.active || to === this.active);
    });
    const active = this.boxes[this.active];
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  activate(at) {
    if (!this.nodes[at]) return;
    this.active = at;
    this.mark();
    this.reveal(at);
    this.choose(this.nodes[at]);
  }

  // Makes a node the middle of the graph.
  enter(at) {
    const node = this.nodes[at];
    if (node && !node.absent && at !== 0) this.open(node);
  }

  nodeAt(event) {
    return Number(event.target.closest?.("[data-at]")?.dataset.at ?? -1);
  }

  press(event) {
    if (event.button !== 0) return;
    const at = this.nodeAt(event);
    if (at >= 0) return this.activate(at);
    const [startX, startY, { x, y }] = [event.clientX, event.clientY, this.view];
    const move = (moved) => {
      this.view = { ...this.view, x: x + moved.clientX - startX, y: y + moved.clientY - startY };
      this.apply();
    };
    const end = () => {
      this.element.removeEventListener("pointermove", move);
      this.element.removeEventListener("pointerup", end);
      this.element.removeEventListener("pointercancel", end);
    };
    this.element.setPointerCapture(event.pointerId);
    this.element.addEventListener("pointermove", move);
    this.element.addEventListener("pointerup", end);
    this.element.addEventListener("pointercancel", end);
  }

  wheel(event) {
    event.preventDefault();
    const box = this.element.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 16 : 1;
    this.zoomBy(0.998 ** (event.deltaY * lines), event.clientX - box.x, event.clientY - box.y);
  }

  // Zooms around a point of the element; around its middle if no point is passed.
  zoomBy(factor, x = this.element.clientWidth / 2, y = this.element.clientHeight / 2) {
    const zoom = Math.max(ZOOM_LEAST, Math.min(ZOOM_MOST, this.view.zoom * factor));
    const scale = zoom / this.view.zoom;
    this.view = { zoom, x: x - (x - this.view.x) * scale, y: y - (y - this.view.y) * scale };
    this.apply();
  }

  // Shows the whole graph; a new one only if it is large enough for reading, else its middle.
  fit(least = ZOOM_LEAST) {
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    this.isFitted = width > 0;
    if (!this.isFitted || !this.nodes.length) return;
    const [xs, ys] = [0, 1].map((axis) => this.positions.map((position) => position[axis]));
    const [left, right] = [Math.min(...xs), Math.max(...xs) + WIDTH];
    const [top, bottom] = [Math.min(...ys), Math.max(...ys) + HEIGHT];
    const whole = Math.min(width / (right - left + 32), height / (bottom - top + 32), 1);
    const zoom = Math.max(whole, least);
    const isWhole = whole >= least;
    const middle = [(left + right) / 2, (top + bottom) / 2];
    const [x, y] = isWhole ? middle : [WIDTH / 2, HEIGHT / 2];
    this.view = { zoom, x: width / 2 - x * zoom, y: height / 2 - y * zoom };
    this.apply();
  }

  // The middle of the view stays when the panel changes its size.
  resized() {
    const size = [this.element.clientWidth, this.element.clientHeight];
    const [width, height] = this.size ?? size;
    this.size = size[0] ? size : null;
    if (!this.isFitted) return this.fit(FIT_LEAST);
    this.view.x += (size[0] - width) / 2;
    this.view.y += (size[1] - height) / 2;
    this.apply();
  }

  // Moves the view so that a node is in it.
  reveal(at) {
    const { zoom } = this.view;
    const [x, y] = this.positions[at];
    const shift = (from, length, size) => {
      if (from < 8) return 8 - from;
      return Math.min(0, size - 8 - from - length);
    };
    this.view.x += shift(x * zoom + this.view.x, WIDTH * zoom, this.element.clientWidth);
    this.view.y += shift(y * zoom + this.view.y, HEIGHT * zoom, this.element.clientHeight);
    this.apply();
  }

  apply() {
    const { x, y, zoom } = this.view;
    this.layer.setAttribute("transform", `translate(${x} ${y}) scale(${zoom})`);
    this.element.dataset.zoom = zoom.toFixed(3);
  }

  // Returns the nearest node in a direction.
  neighbour(dx, dy) {
    const [fromX, fromY] = this.positions[this.active];
    let [best, least] = [-1, Infinity];
    this.positions.forEach(([x, y], at) => {
      const [along, across] = dx ? [(x - fromX) * dx, y - fromY] : [(y - fromY) * dy, x - fromX];
      if (along < 1 || (dy && Math.abs(across) > 1)) return;
      const distance = along + Math.abs(across) * 0.7;
      if (distance < least) [best, least] = [at, distance];
    });
    return best;
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.nodes.length) return;
    const direction = {
      ArrowLeft: [-1, 0],
      ArrowRight: [1, 0],
      ArrowUp: [0, -1],
      ArrowDown: [0, 1],
    }[event.key];
    const pan = ([x, y]) => {
      this.view.x -= x * PAN;
      this.view.y -= y * PAN;
      this.apply();
    };
    const actions = {
      "+": () => this.zoomBy(1.25),
      "=": () => this.zoomBy(1.25),
      "-": () => this.zoomBy(0.8),
      0: () => this.fit(),
      Home: () => this.activate(0),
      Enter: () => this.enter(this.active),
    };
    if (direction && event.shiftKey) pan(direction);
    else if (direction) this.activate(this.neighbour(...direction));
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
  }
}
