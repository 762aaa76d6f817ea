// A graph of values per frame: curves, the newest values in its heading, and the values of the
// frame under the mouse or chosen with the arrow keys.

import { make, makeTip, setText, short } from "./dom.js";
import { color, onTheme } from "./theme.js";

const FRAMES = 480;
const COLORS = 8;
// Minimum time between updates of the newest value's text, in milliseconds.
const SAID = 150;
const FONT = "11px ui-monospace, monospace";
// Number format next to a curve, where space is limited: 2.98M.
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 3 });

const seriesColor = (at) => `series-${(at % COLORS) + 1}`;

let tip = null;
const theTip = () => (tip ??= makeTip());
const graphs = new Set();
onTheme(() => {
  for (const graph of graphs) graph.plot?.redraw(false, true);
});

// The values of the last FRAMES frames.
class Series {
  constructor(count) {
    this.frames = [];
    this.values = Array.from({ length: count }, () => []);
  }

  // Appends columns of values, which end with the frame `newest`.
  add(newest, columns) {
    const first = newest - columns[0].length + 1;
    const known = this.frames.at(-1) ?? -Infinity;
    if (newest < known) {
      this.frames.length = 0;
      for (const values of this.values) values.length = 0;
    }
    for (let at = 0; at < columns[0].length; at += 1) {
      if (newest >= known && first + at <= known) continue;
      this.frames.push(first + at);
      this.values.forEach((values, column) => values.push(columns[column]?.[at] ?? null));
    }
    const over = this.frames.length - FRAMES;
    if (over > 0) {
      this.frames.splice(0, over);
      for (const values of this.values) values.splice(0, over);
    }
  }
}

// Returns the range of values: from 0, or the smallest value if negative, to the largest value. If
// a few values are far above all others, such as the first frames of a game, those are cut off.
function range(low, high, all) {
  const least = Math.min(0, low ?? 0);
  if (high == null || !(high > least)) return [least, least + 1];
  const sorted = all.flat().filter((value) => value != null).sort((a, b) => a - b);
  const usual = sorted[Math.floor(sorted.length * 0.97)] ?? high;
  const most = high > usual * 4 && usual > 0 ? usual * 1.6 : high * 1.05;
  return [least, most];
}

function plot(target, names, { height, fromZero, onCursor }) {
  const axis = {
    stroke: () => color("dim"),
    font: FONT,
    grid: { stroke: () => color("grid"), width: 1 },
    ticks: { show: false },
  };
  const y = { range: (u, low, high) => range(low, high, u.data.slice(1)) };
  return new uPlot(
    {
      width: Math.max(120, target.clientWidth),
      height,
      pxAlign: 0,
      cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
      legend: { show: false },
      scales: { x: { time: false }, ...(fromZero && { y }) },
      axes: [
        { ...axis, size: 22 },
        { ...axis, size: 46, values: (_, values) => values.map((value) => COMPACT.format(value)) },
      ],
      series: [
        {},
        ...names.map((name, at) => ({
          label: name,
          stroke: () => color(seriesColor(at)),
          width: 1.25,
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [onCursor] },
    },
    [[], ...names.map(() => [])],
    target,
  );
}

// A graph with its name and newest value.
export class Graph {
  constructor(title, names, options = {}) {
    this.series = new Series(names.length);
    this.names = names;
    this.height = options.height ?? 120;
    this.fromZero = options.fromZero ?? false;
    this.unit = options.unit ?? "";
    this.axis = options.axis ?? "frame";
    this.value = make("b", {}, "");
    this.said = -Infinity;
    this.body = make("div", {
      class: "plot",
      tabindex: "0",
      role: "img",
      "aria-label": `Graph of ${title}; the arrow keys read its values`,
    });
    this.element = make(
      "div",
      // The heading takes the remaining height, so that drawing never moves the elements around the
      // graph.
      { class: "graph", style: `height: ${this.height + 28}px` },
      make("h2", { title }, ...this.title(title, names), this.value),
      this.body,
    );
    if (options.close) {
      this.element.append(
        make(
          "button",
          { class: "close", "aria-label": `Close the graph of ${title}`, onclick: options.close },
          "×",
        ),
      );
    }
    graphs.add(this);
    this.listen();
  }

  // Several curves are distinguished by the colors of their names.
  title(title, names) {
    if (names.length === 1) return [make("span", {}, title)];
    const name = (text, at) =>
      make("span", { style: `color: var(--${seriesColor(at)})` }, text);
    return [make("span", {}, title), ...names.map(name)];
  }

  listen() {
    this.body.addEventListener("keydown", (event) => {
      const last = this.series.frames.length - 1;
      const at = this.plot?.cursor.idx ?? last;
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
      if (to === undefined || last < 0) return;
      event.preventDefault();
      this.point(Math.max(0, Math.min(last, to)));
    });
    const end = () => {
      theTip().hide();
      this.plot?.setCursor({ left: -10, top: -10 });
    };
    this.body.addEventListener("blur", end);
    this.body.addEventListener("pointerleave", end);
  }

  // Moves the cursor to a frame by its index.
  point(at) {
    const left = this.plot.valToPos(this.series.frames[at], "x");
    this.plot.setCursor({ left, top: this.height / 4 });
  }

  // Shows the values under the cursor.
  showValues(u) {
    const at = u.cursor.idx;
    if (at == null || u.cursor.left < 0) {
      if (this.body.matches(":hover, :focus")) theTip().hide();
      return;
    }
    const unit = this.unit && ` ${this.unit}`;
    const lines = this.names.map((name, column) => {
      const value = `${short(this.series.values[column][at])}${unit}`;
      return this.names.length > 1 ? `${name}  ${value}` : value;
    });
    const text = [`${this.axis} ${this.series.frames[at]}`, ...lines].join("\n");
    const box = u.over.getBoundingClientRect();
    theTip().show(text, box.left + u.cursor.left, box.top + Math.max(0, u.cursor.top));
    this.body.dataset.read = text;
  }

  add(newest, columns) {
    this.series.add(newest, columns);
  }

  // Stops drawing while the graph is scrolled out of view.
  watch(root) {
    this.seen = false;
    this.watcher = new IntersectionObserver(
      (entries) => {
        this.seen = entries.at(-1).isIntersecting;
        if (this.seen) this.draw();
      },
      { root },
    );
    this.watcher.observe(this.element);
  }

  draw() {
    if (this.seen === false) return;
    if (!this.plot) {
      const onCursor = (u) => this.showValues(u);
      const { height, fromZero } = this;
      this.plot = plot(this.body, this.names, { height, fromZero, onCursor });
      // Reading the width at every drawing would cost a layout each time.
      this.sized = new ResizeObserver(() => {
        const width = this.body.clientWidth;
        if (width && width !== this.plot?.width) this.plot.setSize({ width, height: this.height });
      });
      this.sized.observe(this.body);
    }
    this.plot.setData([this.series.frames, ...this.series.values]);
    // Thirty updates a second are unreadable, and each costs a layout.
    const now = performance.now();
    if (now < this.said + SAID) return;
    this.said = now;
    const newest = this.series.values.map((values) => short(values.at(-1)));
    setText(this.value, newest.join(" / "));
  }

  remove() {
    graphs.delete(this);
    theTip().hide();
    this.sized?.disconnect();
    this.watcher?.disconnect();
    this.plot?.destroy();
    this.plot = null;
    this.element.remove();
  }
}

// Subscribes to a stream while its view is shown, and again after a reconnection.
export function following(connection, subscribe) {
  let on = false;
  const begin = () => on && subscribe()?.catch(() => {});
  connection.on("open", begin);
  return (wanted) => {
    on = wanted;
    begin();
  };
}
