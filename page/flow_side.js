// The panel next to the drawing of a graph: the selected node, variables, problems, the live view,
// and a search through all graphs.

import { make, seldom, setText, walkable } from "./dom.js";
import { findText, rename, usesOf } from "./flow_edit.js";
import { instanceName } from "./flow_live.js";
import { makeValue } from "./flow_values.js";
import { VirtualList } from "./virtual_list.js";

const PAGES = ["Node", "Values", "Problems", "Live", "Find"];
const FOUND_MAX = 300;
const HISTORY_MILLISECONDS = 250;
const BLOCKS = [
  ["variables", "Variables", "variable"],
  ["inputs", "Inputs of the graph", "input"],
  ["outputs", "Outputs of the graph", "output"],
];

const NO_GRAPH = "No graph is open.";
const NOBODY =
  "No unit and no level runs this graph now. Those in the game get it when it is saved without " +
  "errors.";
const ENDED = "This instance has ended. Its last events and values are shown.";

// A problem of a node: its pin, and what is wrong.
const messageOf = ({ pin, message }) => (pin ? `${pin}: ${message}` : message);
const button = (title, run, more = {}) => make("button", { onclick: run, ...more }, title);

export class FlowSide {
  // `host` has editor, canvas, live, pick, jump(graph, node).
  constructor(host) {
    Object.assign(this, host, { host, page: "Node" });
    this.tabs = make("div", { role: "tablist", class: "flow-pages", "aria-label": "Panel" });
    this.content = make("div", {
      class: "flow-page",
      role: "tabpanel",
      tabindex: "0",
      id: "flow-page",
    });
    this.element = make("aside", { class: "flow-side", "aria-label": "Panel of the graph" });
    for (const name of PAGES) {
      const tab = make(
        "button",
        { role: "tab", "aria-controls": "flow-page", "data-page": name },
        name,
      );
      tab.addEventListener("click", () => this.show(name));
      this.tabs.append(tab);
    }
    this.tabs.addEventListener("keydown", (event) => this.key(event));
    this.element.append(this.tabs, this.content);
    this.query = make("input", { type: "search", "aria-label": "Text to find in all graphs" });
    this.found = make("div", { class: "flow-found", role: "status" });
    this.query.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.find(this.query.value);
    });
    this.editor.watch((what) => this.took(what));
    this.drawHistorySoon = seldom(() => this.drawHistory(), HISTORY_MILLISECONDS);
    this.show("Node");
  }

  took(what) {
    if (what === "opened" && this.page === "Find") return;
    const pages = {
      opened: PAGES,
      model: ["Node", "Values"],
      selection: ["Node"],
      problems: ["Problems", "Node"],
    };
    if (what === "problems") this.countProblems();
    const isTyping = this.content.contains(document.activeElement) && this.isTextField();
    if (pages[what]?.includes(this.page) && !(what === "model" && isTyping)) this.draw();
  }

  isTextField() {
    return document.activeElement.matches("input, textarea, select");
  }

  countProblems() {
    const count = this.editor.problems.length;
    const tab = this.tabs.querySelector('[data-page="Problems"]');
    setText(tab, count ? `Problems ${count}` : "Problems");
    tab.classList.toggle(
      "error",
      this.editor.problems.some((one) => one.severity === "error"),
    );
  }

  key(event) {
    const at = PAGES.indexOf(this.page);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.show(PAGES.at(to % PAGES.length), true);
  }

  show(page, focus = false) {
    this.page = page;
    for (const tab of this.tabs.children) {
      const isShown = tab.dataset.page === page;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      if (isShown) this.content.setAttribute("aria-label", page);
      if (isShown && focus) tab.focus();
    }
    this.live.watchOnly(page === "Live");
    this.draw();
  }

  draw() {
    const drawings = {
      Node: () => this.drawNode(),
      Values: () => this.drawValues(),
      Problems: () => this.drawProblems(),
      Live: () => this.drawLive(),
      Find: () => [make("div", { class: "line" }, this.query, this.findButton()), this.found],
    };
    const focused = document.activeElement;
    const hadFocus = this.content.contains(focused);
    const label = focused?.getAttribute?.("aria-label") ?? focused?.textContent;
    if (!this.editor.model) this.content.replaceChildren(make("p", { class: "note" }, NO_GRAPH));
    else this.content.replaceChildren(...drawings[this.page]().filter(Boolean));
    if (!hadFocus || this.content.contains(document.activeElement)) return;
    // The control with the focus was made again, or is gone: the panel has the focus then.
    const controls = [...this.content.querySelectorAll("input, select, textarea, button")];
    const again = controls.find(
      (one) => (one.getAttribute("aria-label") ?? one.textContent) === label,
    );
    (again ?? this.content).focus({ preventScroll: true });
  }

  findButton() {
    return button("Find", () => this.find(this.query.value));
  }

  // One node: its documentation, its note, its problems, its type's uses.
  drawNode() {
    const { editor } = this;
    const [id, ...others] = editor.chosen;
    const frame = [...editor.selection].find((key) => key.includes(":"));
    if (!id && frame) return this.drawFrame(frame);
    if (!id) return this.drawGraph();
    if (others.length)
      return [make("p", { class: "note" }, `${others.length + 1} nodes are selected.`)];
    const { node, row, inputs, outputs } = editor.layout().nodes.get(id);
    const note = make("textarea", {
      "aria-label": "Note of the node",
      rows: 2,
      placeholder: "a note",
    });
    note.value = typeof node.note === "string" ? node.note : "";
    note.addEventListener("input", () => {
      const change = [[["nodes", id, "note"], note.value === "" ? undefined : note.value]];
      editor.change("note of a node", change, { join: `${id} note` });
    });
    const pins = (title, list) =>
      list.length > 0 && [
        make("h3", {}, title),
        make(
          "dl",
          { class: "pins" },
          ...list.flatMap((pin) => [
            make("dt", { "data-type": pin.type }, pin.name),
            make("dd", {}, [pin.type, pin.doc].filter(Boolean).join(": ")),
          ]),
        ),
      ];
    const problems = editor.problems.filter((one) => one.node === id);
    return [
      make("h2", {}, row?.name ?? String(node.type)),
      make("p", { class: "facts" }, `${node.type}, ${id}${row?.file ? `, from ${row.file}` : ""}`),
      make("p", { class: "doc" }, row?.doc ?? "There is no such type of node."),
      ...problems.map((one) => make("p", { class: one.severity }, messageOf(one))),
      note,
      ...(pins("Inputs", inputs) || []),
      ...(pins("Outputs", outputs) || []),
      make(
        "p",
        { class: "others" },
        button("Find this type", () => this.find(String(node.type), "type")),
      ),
    ];
  }

  // The text of a comment, or the title and color of a group.
  drawFrame(key) {
    const { editor } = this;
    const [block, field] = key.startsWith("g:") ? ["groups", "title"] : ["comments", "text"];
    const path = [block, key.slice(2)];
    const data = editor.model.get(...path);
    const text = make("textarea", { "aria-label": field, rows: 4 });
    text.value = String(data[field] ?? "");
    text.addEventListener("input", () => {
      editor.change(field, [[[...path, field], text.value]], { join: `${key} ${field}` });
    });
    const color = make("input", {
      type: "color",
      "aria-label": "Color",
      value: data.color ?? "#808890",
    });
    color.addEventListener("input", () => {
      editor.change("color", [[[...path, "color"], color.value]], { join: `${key} color` });
    });
    const isGroup = block === "groups";
    const title = make("h2", {}, isGroup ? "Group" : "Comment");
    if (isGroup) return [title, text, make("label", { class: "line" }, color, "color")];
    return [title, text, this.sizeOf(path)];
  }

  // The width and height of a comment, in units of the grid.
  sizeOf(path) {
    const { editor } = this;
    const least = [4, 2];
    const inputs = ["Width", "Height"].map((name, at) => {
      const size = editor.model.get(...path, "size") ?? [16, 8];
      const input = make("input", {
        type: "number",
        "aria-label": `${name} of the comment`,
        min: least[at],
        step: 1,
        value: size[at],
      });
      input.addEventListener("input", () => {
        const next = [...(editor.model.get(...path, "size") ?? size)];
        next[at] = Math.round(input.valueAsNumber);
        if (!(next[at] >= least[at])) return;
        editor.change("size of a comment", [[[...path, "size"], next]], { join: path.join(" ") });
      });
      return input;
    });
    return make("label", { class: "line" }, "size", ...inputs);
  }

  drawGraph() {
    const { editor } = this;
    const count = Object.keys(editor.model.block("nodes")).length;
    const { size } = editor;
    const uses = () => this.find(editor.graph.replace(/\.flow$/, ""), "graph");
    const bytes = size ? `${size.static} bytes for all, ${size.dynamic} for each instance` : "";
    return [
      make("h2", {}, editor.graph),
      make("p", { class: "facts" }, `${count} nodes${bytes ? `: ${bytes}` : ""}`),
      editor.kind === "flow"
        ? make("p", { class: "others" }, button("Find graphs that use this one", uses))
        : null,
      make("p", { class: "doc" }, "Select a node to see what it does. Space adds a node."),
    ];
  }

  drawValues() {
    return BLOCKS.flatMap(([block, title, word]) => this.drawBlock(block, title, word));
  }

  drawBlock(block, title, word) {
    const { editor } = this;
    const rows = Object.entries(editor.model.block(block)).map(([name, value]) =>
      this.drawVariable(block, name, value ?? {}),
    );
    const add = () => {
      let at = 1;
      while (editor.model.get(block, `${word}${at}`) !== undefined) at += 1;
      editor.change(`add ${word}${at}`, [[[block, `${word}${at}`], { type: "number" }]]);
      this.draw();
      const last = this.content.querySelector(`[data-name="${word}${at}"] input`);
      last?.focus();
      last?.select();
    };
    return [make("h3", {}, title), ...rows, button(`Add ${word}`, add, { class: "add" })];
  }

  // A variable, or an input or output of the graph: its name, type, first value, and uses.
  drawVariable(block, name, value) {
    const { editor } = this;
    const field = make("input", {
      type: "text",
      "aria-label": `Name of ${name}`,
      value: name,
      class: "name",
    });
    field.addEventListener("change", () => {
      const isKept = field.value === name || !rename(editor, block, name, field.value);
      const hadFocus = field === document.activeElement;
      this.draw();
      const now = isKept ? name : field.value;
      if (hadFocus) this.content.querySelector(`[data-name="${now}"] .name`)?.focus();
    });
    const types = editor.catalogue.types.filter(
      (type) => block !== "variables" || type !== "event",
    );
    const type = make(
      "select",
      { "aria-label": `Type of ${name}` },
      ...types.map((one) => make("option", { value: one }, one)),
    );
    type.value = value.type;
    type.addEventListener("change", () => {
      const changes = [
        [[block, name, "type"], type.value],
        [[block, name, "value"], undefined],
      ];
      editor.change(`type of ${name}`, changes);
      this.draw();
    });
    const remove = () => {
      editor.change(`remove ${name}`, [[[block, name], undefined]]);
      this.draw();
    };
    const uses = usesOf(editor, block, name);
    const use = () => {
      editor.select(uses);
      this.canvas.fit(uses);
      this.canvas.focusNode(uses[0]);
      this.show("Node");
    };
    const pin = { type: value.type, name };
    const isWritten = block !== "outputs" && editor.catalogue.literal(pin, editor.units);
    const commit = (next) =>
      editor.change(`value of ${name}`, [[[block, name, "value"], next]], {
        join: `${block} ${name}`,
      });
    const doc = make("input", {
      type: "text",
      "aria-label": `Description of ${name}`,
      placeholder: "what it is for",
      value: typeof value.doc === "string" ? value.doc : "",
    });
    doc.addEventListener("input", () => {
      const next = doc.value === "" ? undefined : doc.value;
      const join = `${block} ${name} doc`;
      editor.change(`description of ${name}`, [[[block, name, "doc"], next]], { join });
    });
    const label = `First value of ${name}`;
    const control = isWritten
      ? makeValue({ editor, pin, value: value.value, label, commit, pick: this.pick })
      : null;
    return make(
      "div",
      { class: "variable", "data-name": name, "data-type": value.type },
      make(
        "div",
        { class: "line" },
        field,
        type,
        button("×", remove, { "aria-label": `Remove ${name}` }),
      ),
      control && make("div", { class: "line" }, make("span", {}, "starts as"), control),
      doc,
      this.drawOldNames(block, name, value),
      button(uses.length === 1 ? "1 use" : `${uses.length} uses`, use, {
        "aria-label": `${uses.length} uses of ${name}`,
        title: "Show the nodes that use it",
        disabled: !uses.length,
      }),
    );
  }

  // The names that a pin had, under which the files of other graphs may know it.
  drawOldNames(block, name, value) {
    const { editor } = this;
    const was = [value.was ?? []].flat();
    if (!was.length) return null;
    const forget = () => {
      editor.change(`forget the old names of ${name}`, [[[block, name, "was"], undefined]]);
      this.draw();
    };
    return make(
      "div",
      { class: "line was" },
      make("span", { class: "grow" }, `was ${was.join(", ")}`),
      button("Update graphs", () => editor.updateUsers(), {
        title: "Write the new name into the files of all graphs that use an old one",
      }),
      button("×", forget, { "aria-label": `Forget the old names of ${name}` }),
    );
  }

  drawProblems() {
    const { editor } = this;
    if (!editor.problems.length) return [make("p", { class: "note" }, "No problems.")];
    const list = make("ul", { class: "flow-list" });
    for (const one of editor.problems) {
      const type = one.node && editor.layout().nodes.get(one.node)?.row?.name;
      const name = type ? `${type} (${one.node})` : one.node;
      const at = [name, one.pin].filter(Boolean).join(": ");
      list.append(
        make(
          "li",
          {
            tabindex: list.children.length ? "-1" : "0",
            class: one.severity,
            "data-node": one.node,
          },
          make("b", {}, at || one.wire || "The graph"),
          ` ${one.message}`,
        ),
      );
    }
    walkable(list, "li", (row) => row.dataset.node && this.canvas.jump(row.dataset.node));
    return [list];
  }

  drawLive() {
    const { live, editor } = this;
    const select = make(
      "select",
      { "aria-label": "Instance that is watched" },
      make("option", { value: "" }, live.instances.length ? "no instance" : "no instance plays"),
      ...live.instances.map((one, at) => make("option", { value: at }, instanceName(one))),
    );
    const at = live.instances.indexOf(live.current());
    if (live.ended) select.append(make("option", { value: "ended" }, `${live.ended} (ended)`));
    select.value = live.ended ? "ended" : at < 0 ? "" : String(at);
    select.addEventListener("change", () => {
      live.watchOnly(false);
      live.choose(live.instances[select.value] ?? null);
    });
    this.history = new VirtualList({
      label: "Events, newest last",
      row: (row) => this.historyRow(row),
      choose: (row) => this.chooseEvent(row),
    });
    this.lost = make("p", { class: "facts" });
    this.problem = make("p", { class: "error", hidden: true });
    this.stops = make("ul", { class: "flow-stops", "aria-label": "Breakpoints" });
    this.shownStops = null;
    const name = make("input", {
      type: "text",
      "aria-label": "Name of a custom event",
      placeholder: "event",
    });
    const sendNow = () =>
      live.send(name.value).catch((error) => editor.note(error.message, "error"));
    name.addEventListener("keydown", (event) => {
      if (event.key === "Enter") sendNow();
    });
    const send = button("Send", sendNow);
    requestAnimationFrame(() => this.drawHistory());
    return [
      select,
      this.problem,
      live.ended ? make("p", { class: "note" }, ENDED) : null,
      live.instances.length || live.ended ? null : make("p", { class: "note" }, NOBODY),
      live.instance === null || live.ended ? null : make("div", { class: "line" }, name, send),
      make("h3", {}, "Breakpoints"),
      this.stops,
      make("h3", {}, "Events"),
      this.lost,
      this.history.element,
    ];
  }

  // Shows the newest events, unless a person has scrolled to older ones.
  drawHistory() {
    if (this.page !== "Live" || !this.history) return;
    const { live, history } = this;
    this.drawStops();
    setText(this.lost, live.lost ? `${live.lost} older events are not kept` : "");
    this.problem.hidden = !live.problem;
    setText(this.problem, live.problem ?? "");
    const { scrollTop, scrollHeight, clientHeight } = history.element;
    const isAtEnd = scrollTop + clientHeight >= scrollHeight - 30;
    history.setCount(live.history.length);
    if (isAtEnd) history.show(live.history.length - 1);
  }

  // Lists the breakpoints: a button that shows the node, and one that removes it.
  drawStops() {
    const { live, editor, canvas } = this;
    const key = [...canvas.stops].join(" ");
    if (this.shownStops === key) return;
    this.shownStops = key;
    const toggle = (id) =>
      live.toggleStop(id).catch((error) => editor.note(error.message, "error"));
    const row = (id) => {
      const { row: type, node } = editor.layout().nodes.get(id) ?? {};
      const name = type?.name ?? node?.type ?? "removed";
      return make(
        "li",
        { class: "line" },
        button(`${name} (${id})`, () => canvas.jump(id), { class: "grow" }),
        button("×", () => toggle(id), { "aria-label": `Remove the breakpoint at ${id}` }),
      );
    };
    const none = make("li", { class: "note" }, "None. F9 stops the game before the selected node.");
    this.stops.replaceChildren(...(key ? [...canvas.stops].map(row) : [none]));
  }

  // Names a node of the watched instance for people: its type, or its path in a subgraph.
  nodeName(path) {
    const { live, editor } = this;
    const isOwn = path.startsWith(live.prefix);
    const box = isOwn && editor.layout().nodes.get(path.slice(live.prefix.length));
    return box?.row?.name ?? path;
  }

  historyRow(at) {
    const one = this.live.history[at];
    if (!one) return null;
    const [, frame, from, pin, to, toPin] = one;
    const isFirst = this.live.history[at - 1]?.[1] !== frame;
    const named = (path, name, usual) =>
      !name || name === usual ? this.nodeName(path) : `${this.nodeName(path)}.${name}`;
    const source = from === "" ? "from outside" : `← ${named(from, pin, "out")}`;
    const target = named(to, toPin, "in");
    const parts = [
      make("small", { class: "frame" }, isFirst ? String(frame) : ""),
      make("span", {}, target),
      make("small", {}, source),
    ];
    return { depth: 0, selected: false, parts, data: { node: this.live.own(to) ?? "" } };
  }

  chooseEvent(at) {
    const one = this.live.history[at];
    const node = one && this.live.own(one[4]);
    if (node) this.canvas.jump(node);
  }

  // Finds a text in the nodes of all graphs. With `field`, this field of the nodes is the text.
  async find(text, field = null) {
    if (!text.trim()) return;
    this.query.value = text;
    if (this.page !== "Find") this.show("Find");
    setText(this.found, "…");
    try {
      const { graphs } = await this.editor.ask("flow_graphs");
      const rows = [];
      for (const { graph } of graphs) {
        const isOpen = graph === this.editor.graph;
        const source = isOpen
          ? this.editor.model.source
          : (await this.editor.ask("flow_open", { graph })).source;
        const tree = JSON.parse(source);
        for (const [id, hit] of findText(tree, text.trim())) {
          if (field && tree.nodes[id][field] !== text) continue;
          const type = this.editor.catalogue.nodes.get(tree.nodes[id].type);
          rows.push([graph, id, hit, type?.name ?? String(tree.nodes[id].type)]);
        }
      }
      this.showFound(rows);
    } catch (error) {
      setText(this.found, error.message);
    }
  }

  showFound(rows) {
    const list = make("ul", { class: "flow-list" });
    rows.slice(0, FOUND_MAX).forEach(([graph, id, hit, name], at) => {
      const row = make(
        "li",
        { tabindex: at === 0 ? "0" : "-1", "data-graph": graph, "data-node": id },
        make("b", {}, name),
        hit === name ? "" : ` ${hit}`,
        make("small", {}, `${graph}: ${id}`),
      );
      list.append(row);
    });
    walkable(list, "li", (row) => this.jump(row.dataset.graph, row.dataset.node));
    const nodes = rows.length === 1 ? "1 node" : `${rows.length} nodes`;
    const shown = rows.length > FOUND_MAX ? `, of which the first ${FOUND_MAX} are listed` : "";
    const count = make("p", { class: "facts" }, `${nodes}${shown}`);
    this.found.replaceChildren(count, list);
  }
}
