// The table of all counters, and a graph for each that is selected.

import { drawn, make, makeTable, setText, short, walkable } from "./dom.js";
import { Graph, following } from "./graph.js";

const GRAPHS_MAX = 64;

export function openCounters(panel, connection) {
  const filter = make("input", {
    type: "search",
    placeholder: "filter",
    "aria-label": "Filter of counters",
  });
  const none = make("button", {}, "Close all graphs");
  const zeros = make("input", { type: "checkbox" });
  const rate = make("span", { class: "aside" });
  const graphs = make("div", { class: "graphs" });
  const body = make("tbody", {});
  const table = makeTable(
    { role: "grid", "aria-label": "Counters", "aria-multiselectable": "true" },
    ["counter", "last frame"],
    1,
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
