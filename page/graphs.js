// Graphs of values per frame (time steps and selected counters), and the table of all counters.

import { drawn, make, setText, short, walkable } from "./dom.js";

const FRAMES = 480;
const COLORS = [
  "#6fb3ff",
  "#6fd08c",
  "#e5b454",
  "#ff7d73",
  "#c792ea",
  "#7fdbca",
  "#f78fb3",
  "#9aa7ff",
];

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

// Number format next to a curve, where space is limited: 2.98M.
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 3 });
const FONT = "11px ui-monospace, monospace";

function plot(target, names, height, fromZero) {
  const axis = {
    stroke: "#8c96a6",
    font: FONT,
    grid: { stroke: "#262d37", width: 1 },
    ticks: { show: false },
  };
  return new uPlot(
    {
      width: Math.max(120, target.clientWidth),
      height,
      pxAlign: 0,
      cursor: { y: false, points: { size: 5 } },
      legend: { show: false },
      scales: {
        x: { time: false },
        ...(fromZero && { y: { range: (u, low, high) => range(low, high, u.data.slice(1)) } }),
      },
      axes: [
        { ...axis, size: 22 },
        { ...axis, size: 46, values: (_, values) => values.map((value) => COMPACT.format(value)) },
      ],
      series: [
        {},
        ...names.map((name, at) => ({
          label: name,
          stroke: COLORS[at % COLORS.length],
          width: 1.25,
          points: { show: false },
        })),
      ],
    },
    [[], ...names.map(() => [])],
    target,
  );
}

// Minimum time between updates of the newest value's text, in milliseconds.
const SAID = 150;

// A graph with its name and newest value.
export class Graph {
  constructor(title, names, options = {}) {
    this.series = new Series(names.length);
    this.names = names;
    this.height = options.height ?? 120;
    this.fromZero = options.fromZero ?? false;
    this.value = make("b", {}, "");
    this.said = -Infinity;
    this.body = make("div", {});
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
  }

  // Several curves are distinguished by the colors of their names.
  title(title, names) {
    if (names.length === 1) return [make("span", {}, title)];
    const name = (text, at) => make("span", { style: `color: ${COLORS[at]}` }, text);
    return [make("span", {}, title), ...names.map(name)];
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
      this.plot = plot(this.body, this.names, this.height, this.fromZero);
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
    this.sized?.disconnect();
    this.watcher?.disconnect();
    this.plot?.destroy();
    this.plot = null;
    this.element.remove();
  }
}

// Subscribes to a stream while its view is shown, and again after a reconnection.
function following(connection, subscribe) {
  let on = false;
  const begin = () => on && subscribe()?.catch(() => {});
  connection.on("open", begin);
  return (wanted) => {
    on = wanted;
    begin();
  };
}

export function openSteps(panel, connection) {
  const steps = new Graph("milliseconds", ["measured", "step"], { height: 220, fromZero: true });
  const rate = new Graph("frames a second", ["frames a second"], { height: 160, fromZero: true });
  const debt = new Graph("debt, milliseconds", ["debt"], { height: 120, fromZero: true });
  const all = [steps, rate, debt];
  const grid = make(
    "div",
    { class: "scroll" },
    make(
      "div",
      { class: "graphs", style: "grid-template-columns: 1fr" },
      ...all.map((graph) => graph.element),
    ),
  );
  panel.append(grid);
  let entered = false;
  const ask = drawn(() => {
    if (entered) for (const graph of all) graph.draw();
  });
  connection.on("time_step", (message) => {
    const thousands = (values) => values.map((value) => value * 1000);
    steps.add(message.frame, [thousands(message.measured), thousands(message.delta)]);
    rate.add(message.frame, [message.measured.map((value) => (value > 1e-4 ? 1 / value : null))]);
    debt.add(message.frame, [thousands(message.debt)]);
    ask();
  });
  const follow = following(connection, () =>
    connection.ask("subscribe", { stream: "time_step", every: 1 / 30 }),
  );
  return {
    enter() {
      entered = true;
      follow(true);
      ask();
    },
    leave() {
      entered = false;
      follow(false);
      connection.ask("unsubscribe", { stream: "time_step" }).catch(() => {});
    },
  };
}

const GRAPHS_MAX = 64;

export function openCounters(panel, connection) {
  const filter = make("input", {
    type: "search",
    placeholder: "filter",
    "aria-label": "Filter of counters",
  });
  const none = make("button", {}, "Close all graphs");
  const zeros = make("input", { type: "checkbox" });
  const rate = make("span", { class: "note", style: "padding: 0" });
  const graphs = make("div", { class: "graphs" });
  const body = make("tbody", {});
  const table = make(
    "table",
    {},
    make(
      "thead",
      {},
      make("tr", {}, make("th", {}, "counter"), make("th", { class: "number" }, "last frame")),
    ),
    body,
  );
  panel.append(
    make(
      "div",
      { class: "bar" },
      filter,
      make("label", { title: "Also counters that were always zero" }, zeros, "zeros"),
      rate,
      none,
    ),
    make("div", { class: "half" }, graphs),
    make("div", { class: "scroll" }, table),
  );

  const open = new Map();
  const nonzero = new Set();
  const rows = new Map();
  let entered = false;
  let times = [];
  const ask = drawn((now) => {
    if (!entered) return;
    for (const graph of open.values()) graph.draw();
    times = times.filter((time) => now - time < 2000);
    times.push(now);
    panel.dataset.updates = (times.length / 2).toFixed(1);
  });
  const showRate = () =>
    setText(
      rate,
      open.size
        ? `${open.size} graphs, ${panel.dataset.updates ?? 0} updates a second`
        : "Enter, or a click, on a counter draws it",
    );
  const subscribe = () =>
    open.size
      ? connection.ask("subscribe", { stream: "counters", names: [...open.keys()], every: 0.012 })
      : connection.ask("unsubscribe", { stream: "counters" });
  const follow = following(connection, subscribe);
  const keep = () => {
    sessionStorage.setItem("counters", JSON.stringify([...open.keys()]));
    if (entered) follow(true);
    ask();
  };
  const close = (name) => {
    open.get(name)?.remove();
    open.delete(name);
    rows.get(name)?.row.setAttribute("aria-selected", "false");
    keep();
  };
  const begin = (name) => {
    if (open.size >= GRAPHS_MAX) return;
    const graph = new Graph(name, [name], { height: 96, close: () => close(name) });
    open.set(name, graph);
    graphs.append(graph.element);
    graph.watch(graphs.parentElement);
    rows.get(name)?.row.setAttribute("aria-selected", "true");
    keep();
  };
  none.addEventListener("click", () => [...open.keys()].forEach(close));
  walkable(body, "tr", () => {});
  const toggle = (row) =>
    open.has(row.dataset.name) ? close(row.dataset.name) : begin(row.dataset.name);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) toggle(row);
  });
  body.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") toggle(event.target.closest("tr"));
  });

  connection.on("counters", (message) => {
    message.names.forEach((name, at) => open.get(name)?.add(message.frame, [message.values[at]]));
    ask();
  });

  let asking = false;
  const list = async () => {
    if (!entered || asking) return;
    asking = true;
    showRate();
    try {
      const answer = await connection.ask("counters", filter.value ? { text: filter.value } : {});
      const seen = new Set();
      let before = null;
      for (const { name, value } of answer.counters) {
        if (value !== 0) nonzero.add(name);
        else if (!zeros.checked && !filter.value && !nonzero.has(name) && !open.has(name)) continue;
        seen.add(name);
        let known = rows.get(name);
        if (!known) {
          const cell = make("td", { class: "number" });
          const row = make(
            "tr",
            { "data-name": name, tabindex: "-1", "aria-selected": String(open.has(name)) },
            make("td", {}, name),
            cell,
          );
          known = { row, cell };
          rows.set(name, known);
        }
        setText(known.cell, short(value));
        const next = before ? before.nextElementSibling : body.firstElementChild;
        if (next !== known.row) body.insertBefore(known.row, next);
        before = known.row;
      }
      for (const [name, { row }] of rows) {
        if (!seen.has(name)) {
          row.remove();
          rows.delete(name);
        }
      }
      if (body.firstElementChild && !body.querySelector('[tabindex="0"]'))
        body.firstElementChild.tabIndex = 0;
    } catch {
      // The connection reports its own end.
    } finally {
      asking = false;
    }
  };
  filter.addEventListener("input", list);
  zeros.addEventListener("change", list);
  setInterval(list, 400);
  for (const name of JSON.parse(sessionStorage.getItem("counters") ?? "[]")) begin(name);
  return {
    filter,
    enter() {
      entered = true;
      follow(true);
      list();
    },
    leave() {
      entered = false;
      follow(false);
      connection.ask("unsubscribe", { stream: "counters" }).catch(() => {});
    },
  };
}
