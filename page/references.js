// Who uses what in the game's folder: lists of resources, of unused ones, missing names, cycles and
// shared ones, and the graph around one of them. The game sends only parts of both.

import { bytes, make, setText, short } from "./dom.js";
import { linked } from "./links.js";
import { describe, ReferenceGraph } from "./reference_graph.js";
import { sharing } from "./resource_links.js";
import { VirtualList } from "./virtual_list.js";

const SETTLE_MILLISECONDS = 120;
const PART = 200;
const EARLIER_MAX = 50;

const LISTS = [
  ["all", "everything"],
  ["missing", "missing names"],
  ["unused", "unused"],
  ["cycles", "cycles"],
  ["shared", "shared, most used first"],
];
const DEPTHS = [
  ["0", "none"],
  ["1", "direct"],
  ["2", "2 steps"],
  ["3", "3 steps"],
  ["64", "all steps"],
];

const options = (rows) => rows.map(([value, text]) => make("option", { value }, text));

// Replaces the kinds of a select, and keeps its value.
function setKinds(select, kinds) {
  const names = kinds.map((kind) => kind.name);
  if (select.value && !names.includes(select.value)) names.push(select.value);
  const text = names.join();
  if (select.dataset.kinds === text) return;
  const value = select.value;
  select.dataset.kinds = text;
  const rows = names.sort().map((name) => [name, name]);
  select.replaceChildren(...options([["", "every kind"], ...rows]));
  select.value = value;
}

// The list on the left: a part of the rows, which are asked for when they become visible.
class ReferenceList {
  constructor(connection, controls, choose) {
    Object.assign(this, { connection, controls, rows: new Map(), entered: false, turn: 0 });
    this.list = new VirtualList({
      label: "Resources and files",
      row: (at) => this.row(at),
      choose: (at) => {
        const row = this.rows.get(at);
        if (row) choose(row.by || row.name || row.names?.[0]);
      },
      moved: () => this.soon(),
    });
  }

  row(at) {
    const row = this.rows.get(at);
    if (!row) return null;
    const name = row.names ? row.names.join(" → ") : row.name;
    const facts = row.names
      ? `${row.count} resources`
      : row.by
        ? `${row.kind}, ${row.file}:${row.line}`
        : `${bytes(row.bytes)}, used by ${row.used_by}`;
    const parts = [make("span", { title: name }, name), make("small", {}, facts)];
    return { depth: 0, parts, selected: at === this.list.active };
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), SETTLE_MILLISECONDS);
  }

  // Asks for the list again, from its beginning.
  again() {
    this.rows.clear();
    this.list.setCount(0);
    this.list.element.scrollTop = 0;
    this.list.active = 0;
    this.soon();
  }

  async ask() {
    if (!this.entered) return;
    const { filter, which, kind, count } = this.controls;
    const [from, to] = this.list.visible();
    const known = this.rows.size && this.rows.has(from) && this.rows.has(Math.max(from, to - 1));
    if (known) return;
    this.turn += 1;
    const turn = this.turn;
    const first = Math.max(0, from - PART / 4);
    const fields = { list: which.value, first, max: Math.max(PART, to - from) };
    if (filter.value) fields.text = filter.value;
    if (kind.value) fields.kind = kind.value;
    try {
      const answer = await this.connection.ask("reference_list", fields);
      if (turn !== this.turn) return;
      answer.rows.forEach((row, at) => this.rows.set(first + at, row));
      const { all, missing, unused, cycles } = answer.totals;
      const size = answer.bytes ? `, ${bytes(answer.bytes)}` : "";
      const rings = `${short(cycles)} ${cycles === 1 ? "cycle" : "cycles"}`;
      const totals = `${short(missing)} missing, ${short(unused)} unused, ${rings}`;
      setText(count, `${short(answer.count)} of ${short(all)}${size}; ${totals}`);
      setKinds(kind, answer.kinds);
      this.list.setCount(answer.count);
    } catch (error) {
      if (turn === this.turn) setText(count, error.message);
    }
  }
}

// The line below the graph: the node that has the focus, and where it is named.
function detailOf(node, graph, actions) {
  const at = graph.nodes.indexOf(node);
  const places = graph.arrows
    .filter(({ from, to, file }) => file && (from === at || to === at))
    .slice(0, 6)
    .flatMap(({ from, to, file, line, certainty, count }) => {
      const other = graph.nodes[from === at ? to : from].name;
      const more = count > 1 ? ` and ${count - 1} more` : "";
      const text = `${file}:${line}${certainty === "certain" ? "" : ` (${certainty})`}${more}`;
      const direction = from === at ? "uses" : "used by";
      return [make("dt", {}, `${direction} ${other}`), make("dd", {}, ...linked(text))];
    });
  const near = node.near ? [make("p", {}, `did you mean ${node.near}?`)] : [];
  const isResource = !node.absent && node.kind !== "file";
  return [
    make(
      "div",
      { class: "headline" },
      make("b", {}, describe(node)),
      node.absent || at === 0 ? null : make("button", { onclick: actions.middle }, "Its graph"),
      isResource ? make("button", { onclick: actions.detail }, "Details") : null,
    ),
    ...near,
    make("dl", {}, ...places),
  ];
}

export function openReferences(panel, connection) {
  const filter = make("input", {
    type: "search",
    placeholder: "filter by name",
    "aria-label": "Filter of the list",
  });
  const which = make("select", { "aria-label": "List" }, ...options(LISTS));
  const kinds = (label) =>
    make("select", { "aria-label": label }, ...options([["", "every kind"]]));
  const kind = kinds("Kind in the list");
  const count = make("span", { class: "aside", role: "status" });

  const depth = (label, value) => {
    const select = make("select", { "aria-label": label }, ...options(DEPTHS));
    select.value = value;
    return select;
  };
  const [usedBy, uses] = [depth("Steps to users", "1"), depth("Steps to what it uses", "1")];
  const only = kinds("Kind in the graph");
  const named = make("input", {
    type: "search",
    placeholder: "name in the graph",
    "aria-label": "Filter of the graph by name",
  });
  const button = (text, label, onclick) =>
    make("button", { title: label, "aria-label": label, onclick }, text);
  const hint = "Choose a resource to see who uses it and what it uses.";
  const title = make("div", { class: "reference-title", role: "status" }, hint);
  const detail = make("div", {
    class: "reference-detail",
    role: "group",
    "aria-label": "The node with the focus",
  });

  let shown = null;
  let asked = null;
  const earlier = [];
  const graph = new ReferenceGraph({
    choose: (node) => detail.replaceChildren(...detailOf(node, graph, actionsOf(node))),
    open: (node) => look(node.name),
  });
  const actionsOf = (node) => ({
    middle: () => look(node.name),
    detail: () => showView("Resources", node.name),
  });
  const back = button("←", "Back to the last resource", () => {
    const last = earlier.pop();
    if (last) look(last, false);
  });

  // Shows a resource or file as the middle of the graph.
  const look = async (name, isNew = true) => {
    if (!name) return;
    if (isNew && shown && shown !== name) {
      earlier.push(shown);
      if (earlier.length > EARLIER_MAX) earlier.shift();
    }
    asked = name;
    const fields = { name, uses: Number(uses.value), used_by: Number(usedBy.value) };
    if (only.value) fields.kind = only.value;
    if (named.value) fields.text = named.value;
    try {
      const answer = await connection.ask("references", fields);
      if (asked !== name) return;
      shown = answer.name;
      take(answer);
    } catch (error) {
      if (asked === name) setText(title, error.message);
    }
    back.disabled = earlier.length === 0;
  };
  const take = (answer) => {
    const middle = answer.nodes[0];
    const { all_uses: below, all_used_by: above } = answer;
    const left = answer.left_out ? `; ${short(answer.left_out)} more are not shown` : "";
    title.replaceChildren(
      make("b", {}, answer.name),
      make("span", {}, ` ${sharing(middle.used_by, above.count)} `),
      make(
        "span",
        { class: "aside" },
        `With the ${short(below.count)} that it uses: ${bytes(middle.bytes + below.bytes)}${left}`,
      ),
    );
    const near = [...new Set(answer.nodes.map((node) => node.kind))].map((name) => ({ name }));
    if (!only.value && !named.value) setKinds(only, near);
    graph.show(answer);
    detail.replaceChildren(...detailOf(graph.nodes[0], graph, actionsOf(graph.nodes[0])));
  };

  const list = new ReferenceList(connection, { filter, which, kind, count }, (name) => look(name));
  filter.addEventListener("input", () => list.again());
  for (const control of [which, kind]) control.addEventListener("change", () => list.again());
  const again = () => shown && look(shown, false);
  for (const control of [usedBy, uses, only]) control.addEventListener("change", again);
  named.addEventListener("input", again);
  back.disabled = true;
  panel.append(
    make("div", { class: "bar" }, filter, which, kind, count),
    make(
      "div",
      { class: "columns references" },
      list.list.element,
      make(
        "div",
        { class: "reference-side" },
        make(
          "div",
          { class: "bar" },
          back,
          make("label", {}, "users ", usedBy),
          make("label", {}, "uses ", uses),
          only,
          named,
          button("−", "Zoom out", () => graph.zoomBy(0.8)),
          button("+", "Zoom in", () => graph.zoomBy(1.25)),
          button("Fit", "Show the whole graph", () => graph.fit()),
        ),
        title,
        graph.element,
        detail,
      ),
    ),
  );
  return {
    filter,
    look,
    enter() {
      list.entered = true;
      list.again();
      if (shown) look(shown, false);
    },
    leave() {
      list.entered = false;
    },
  };
}

// Asks the page to show another view, with a resource.
export function showView(view, name) {
  document.dispatchEvent(new CustomEvent("show-view", { detail: { view, name } }));
}
