// The view of Flow graphs: the editor of one graph, with its bar, drawing, panel and status.

import { make, setText } from "./dom.js";
import { FlowCanvas } from "./flow_canvas.js";
import { FlowCommands } from "./flow_commands.js";
import { askConflicts, askName, askUnsaved } from "./flow_dialogs.js";
import { freePlace, moveBy } from "./flow_edit.js";
import { FlowEditor } from "./flow_editor.js";
import { FlowLive } from "./flow_live.js";
import { nodeItems, openPalette, pinItems } from "./flow_palette.js";
import { FlowPointer } from "./flow_pointer.js";
import { FlowSide } from "./flow_side.js";
import { GRID, HEAD, ROW, WIDTH } from "./flow_types.js";
import { resourceNames } from "./flow_values.js";
import { sharing } from "./resource_links.js";

// Distance of a new node from the one that it is wired to, in pixels.
const GAP = 4 * GRID;
// So many pins of other nodes come before new nodes in the list for a wire.
const KNOWN_MAX = 100;
const NO_GRAPHS =
  "The game has no graphs yet. The button Graphs makes one: for a unit or a level, or a file " +
  "that many of them use.";
const LAST = "flow-graph";
const WIDE = "flow-wide";
const narrow = matchMedia("(max-width: 820px)");

// Makes the browser ask before the page is left.
const keepPage = (event) => event.preventDefault();

class FlowView {
  constructor(panel, connection) {
    this.editor = new FlowEditor(connection);
    // The graphs that were open before.
    this.trail = [];
    const { editor } = this;
    const failed = (error) => editor.note(error.message, "error");
    const pick = (title, names, choose, near) => this.pick(title, names, choose, near);
    this.canvas = new FlowCanvas(editor, pick);
    this.live = new FlowLive(editor, this.canvas, (what) => this.liveChanged(what));
    const jump = (graph, node) => this.jump(graph, node).catch(failed);
    this.side = new FlowSide({ editor, canvas: this.canvas, live: this.live, pick, jump });
    this.actions = this.makeActions();
    this.pointer = new FlowPointer(this.canvas, this.actions);
    this.commands = new FlowCommands({
      editor,
      canvas: this.canvas,
      live: this.live,
      side: this.side,
      actions: this.actions,
      pointer: this.pointer,
      askName,
      showSide: () => this.showSide(true),
    });
    this.makeBar();
    this.status = make("p", { class: "flow-note", role: "status" });
    this.body = make("div", { class: "flow-body" }, this.canvas.element, this.side.element);
    const foot = make("div", { class: "flow-foot" }, this.status, this.canvas.percent);
    panel.append(this.bar, this.stopped, this.body, foot);
    panel.classList.add("flow-panel");
    panel.addEventListener("keydown", (event) => this.commands.panelKey(event));
    editor.watch((what, detail) => this.took(what, detail));
    connection.on(
      "open",
      () => editor.entered && editor.model && editor.readCatalogue().catch(failed),
    );
    this.showSide(!narrow.matches);
    this.setWide(sessionStorage.getItem(WIDE) === "true");
    this.failed = failed;
    this.panel = panel;
  }

  makeBar() {
    const { editor } = this;
    const run = (title) => {
      const command = this.commands.table.find((one) => one?.title === title);
      return () => this.commands.run(command);
    };
    const button = (text, title, onclick, more = {}) =>
      make("button", { title, "aria-label": title, onclick, ...more }, text);
    this.name = button("Graphs", "Choose a graph", () => this.chooseGraph(), {
      class: "graph-name",
    });
    this.save = button("Save", "Save into the file (Ctrl+S)", () => editor.save());
    this.undo = button("↶", "Undo (Ctrl+Z)", () => editor.undo());
    this.redo = button("↷", "Redo (Ctrl+Shift+Z)", () => editor.redo());
    this.add = button("+ Node", "Add a node (Space)", run("Add a node…"));
    this.more = button("⋯", "All commands (Shift+F10)", () => {
      const box = this.more.getBoundingClientRect();
      this.commands.menu(box.x, box.bottom + 4);
    });
    this.panelButton = button("Panel", "Show the panel", () =>
      this.showSide(this.side.element.hidden),
    );
    this.wide = button("Wide", "Give the graph the whole page", () => this.setWide(!this.isWide));
    this.bar = make("div", { class: "bar", role: "toolbar", "aria-label": "Graph" });
    this.bar.append(
      this.name,
      this.save,
      this.undo,
      this.redo,
      this.add,
      this.more,
      make("span", { class: "grow" }),
      this.panelButton,
      this.wide,
    );
    this.stopText = make("span", { class: "grow" });
    this.stepButtons = [
      button("Show", "Show the node", () => this.showPaused()),
      button("Step", "Run one node (F10)", run("Step: run one node")),
    ];
    this.stopped = make(
      "div",
      { class: "bar flow-stopped", role: "alert", hidden: true },
      this.stopText,
      ...this.stepButtons,
      button("Resume", "Resume the game (F8)", run("Resume")),
    );
  }

  makeActions() {
    const { editor, canvas } = this;
    return {
      palette: (x, y) => this.palette(x, y),
      connect: (node, pin, side, x, y, isDropped) =>
        this.connect({ node, pin, side, x, y, isDropped }),
      wire: (end, target, detach) => this.wire(end, target, detach),
      move: (keys, x, y) => moveBy(editor, keys, x, y),
      menu: (x, y) => this.commands.menu(x, y),
      back: () => this.openGraph(this.trail.pop(), true),
      hasBack: () => this.trail.length > 0,
      enter: (id) => {
        const name = editor.model.get("nodes", id, "graph");
        if (editor.model.get("nodes", id, "type") === "graph" && typeof name === "string") {
          this.openGraph(`${name}.flow`).catch(this.failed);
        } else {
          canvas.active = id;
          this.showSide(true);
          this.side.show("Node");
        }
      },
    };
  }

  // Shows a list of names, and calls `choose` with one of them.
  pick(title, names, choose, near) {
    const box = near.getBoundingClientRect();
    const items = Promise.resolve(names()).then((all) => all.map((name) => ({ name })));
    openPalette({ title, items, x: box.x, y: box.bottom, chosen: (item) => choose(item.name) });
  }

  palette(x, y) {
    const { editor } = this;
    if (!editor.model) return;
    const items = nodeItems(editor.catalogue);
    const at = this.canvas.point(x, y);
    openPalette({
      title: "Type of the new node",
      items,
      x,
      y,
      chosen: (item) => this.addNode(item, at),
    });
  }

  addNode(item, [x, y], wiring = () => []) {
    const { editor } = this;
    const id = editor.newId();
    const place = freePlace(editor, item.row, [x / GRID, y / GRID]);
    const changes = [
      [["nodes", id], { type: item.type }],
      [["positions", id], place],
      ...wiring(id),
    ];
    editor.change(`add ${item.name}`, changes);
    editor.select([id]);
    this.canvas.reveal(editor.layout().nodes.get(id));
    this.canvas.focusNode(id);
  }

  // Lists pins and types of nodes that can be wired to a pin. A wire that was dropped makes a new
  // node where it was dropped, others next to their node.
  connect({ node, pin, side, x, y, isDropped }) {
    const { editor, canvas } = this;
    const isOutput = side === "output";
    const isEvent = pin.type === "event";
    const wiring = (other, otherPin) =>
      isOutput
        ? editor.wiring(node, pin.name, other, otherPin, isEvent)
        : editor.wiring(other, otherPin, node, pin.name, isEvent);
    const chosen = (item) => {
      if (item.pin) {
        editor.change("add a wire", wiring(item.box.id, item.pin.name));
        return;
      }
      const box = editor.layout().nodes.get(node);
      const pinY = box.y + (box.shape.pins[side].get(pin.name)?.y ?? 0);
      const near = [isOutput ? box.x + WIDTH + GAP : box.x - GAP, pinY];
      const [px, py] = isDropped ? canvas.point(x, y) : near;
      const at = [isOutput ? px : px - WIDTH, py - HEAD - ROW / 2];
      this.addNode(item, at, (id) => (item.partner ? wiring(id, item.partner.name) : []));
    };
    const fresh = nodeItems(editor.catalogue, pin, isOutput);
    const known = pinItems(editor, node, pin, isOutput, isDropped);
    const removals = isDropped ? [] : this.removals(node, pin, isOutput);
    const items = isDropped
      ? [...fresh, ...known]
      : [...removals, ...known.slice(0, KNOWN_MAX), ...fresh];
    const title = `Wire ${pin.name} (${pin.type}) ${isOutput ? "to" : "from"}`;
    const closed = () => canvas.wires.drag(null);
    openPalette({ title, items, x, y, chosen, closed, start: removals.length });
  }

  // Returns the items that remove the wires of a pin.
  removals(node, pin, isOutput) {
    const { editor } = this;
    const { nodes, wiresFrom, wiresTo } = editor.layout();
    const all = (isOutput ? wiresFrom : wiresTo).get(node) ?? [];
    const own = all.filter((wire) => (isOutput ? wire.fromPin : wire.toPin) === pin.name);
    return own.map((wire) => {
      const [id, other] = isOutput ? [wire.to, wire.toPin] : [wire.from, wire.fromPin];
      const name = nodes.get(id)?.row?.name ?? id;
      return {
        name: `Remove the wire ${isOutput ? "to" : "from"} ${name}: ${other}`,
        group: id,
        color: "bad",
        run: () => editor.change("remove a wire", editor.unwiring(wire)),
      };
    });
  }

  wire(end, target, detach) {
    const { editor } = this;
    const isEvent = end.pin.type === "event";
    const [from, to] = end.side === "output" ? [end, target] : [target, end];
    const wiring = editor.wiring(from.node, from.pin.name, to.node, to.pin.name, isEvent);
    editor.change("add a wire", [...detach, ...wiring]);
  }

  async chooseGraph() {
    const box = this.name.getBoundingClientRect();
    const list = async () => {
      const { graphs } = await this.editor.ask("flow_graphs");
      const items = graphs.map((one) => ({
        name: one.graph,
        group: `${one.nodes} nodes`,
        doc: `${one.path}: ${one.instances} instances, ${one.problems} problems`,
        color: one.problems ? "bad" : "graph",
      }));
      const create = { name: "New graph…", run: () => this.createGraph().catch(this.failed) };
      const unit = { name: "Graph of a unit or level…", run: () => this.chooseOwner() };
      return [...items, create, unit];
    };
    openPalette({
      title: "Graph to open",
      items: list(),
      x: box.x,
      y: box.bottom,
      chosen: (item) => this.openGraph(item.name).catch(this.failed),
    });
  }

  chooseOwner() {
    const kinds = ["unit", "level"];
    const names = async () => {
      const all = await Promise.all(
        kinds.map(async (kind) =>
          (await resourceNames(this.editor, kind)).map((name) => `${name}.${kind}`),
        ),
      );
      return all.flat().filter((name) => !name.startsWith("core/"));
    };
    const open = (name) => this.openGraph(name).catch(this.failed);
    this.pick("Unit or level", names, open, this.name);
  }

  async createGraph() {
    const folder = /^.*\//.exec(this.editor.graph ?? "")?.[0] ?? "";
    const name = await askName("Name of the new graph", `${folder}new_graph`);
    if (!name) return;
    const graph = `${name}.flow`;
    const answer = await this.editor.ask("flow_save", { graph, base: "{}", source: "{}" });
    if (!answer.saved) throw new Error(`there is already a graph '${name}'`);
    await this.openGraph(graph);
  }

  // Opens a graph. The one before can be returned to, unless this is a return.
  async openGraph(graph, isReturn = false) {
    const { editor } = this;
    const before = editor.graph;
    if (editor.model?.unsaved && graph !== editor.graph) {
      const answer = await askUnsaved(editor.graph);
      if (answer === "") return false;
      if (answer === "save") await editor.save();
      if (answer === "save" && editor.model.unsaved) return false;
    }
    await editor.open(graph);
    if (before && before !== graph && !isReturn) this.trail.push(before);
    sessionStorage.setItem(LAST, graph);
    editor.note(`opened ${graph}`);
    await this.noteSharing();
    // The next key acts on the graph that was chosen.
    if (document.activeElement === this.name) this.canvas.element.focus({ preventScroll: true });
    return true;
  }

  // Says how many units, levels and graphs an edit changes.
  async noteSharing() {
    const { editor, status } = this;
    const before = status.textContent;
    try {
      const one = await editor.ask("resource", { name: editor.graph });
      // A newer message stays.
      if (status.textContent !== before) return;
      editor.note(sharing(one.dependents.length, one.all_dependents.length));
    } catch {
      // A new graph is no resource before it is compiled.
    }
  }

  async jump(graph, node) {
    if (graph !== this.editor.graph && !(await this.openGraph(graph))) return;
    this.canvas.draw();
    this.canvas.jump(node);
  }

  showPaused() {
    const { paused, pausedNode } = this.live;
    if (pausedNode) this.canvas.jump(pausedNode);
    // A node of a subgraph is found at the node that uses the subgraph.
    else if (paused) this.jump(paused.graph, paused.node.split("/")[0]).catch(this.failed);
  }

  showSide(isShown) {
    this.side.element.hidden = !isShown;
    this.panelButton.setAttribute("aria-pressed", String(isShown));
    this.body.classList.toggle("alone", !isShown);
  }

  setWide(isWide) {
    this.isWide = isWide;
    sessionStorage.setItem(WIDE, String(isWide));
    this.wide.setAttribute("aria-pressed", String(isWide));
    if (!this.editor.entered) return;
    document.body.toggleAttribute("data-wide", isWide);
    // The drawing has its new size in the frame after the next one.
    requestAnimationFrame(() => this.canvas.fitAgain());
  }

  took(what, detail) {
    if (what === "note") {
      setText(this.status, detail.text);
      this.status.className = `flow-note ${detail.level}`;
    } else if (what === "conflicts") {
      askConflicts(detail).then((resolve) => resolve && this.editor.save(resolve));
    } else this.showState();
  }

  showState() {
    const { model, graph } = this.editor;
    setText(this.name, graph ?? "Graphs");
    const isUnsaved = Boolean(model?.unsaved);
    setText(this.save, isUnsaved ? "Save •" : "Save");
    this.save.disabled = !isUnsaved;
    // Without unsaved changes, the browser need not ask the page before it leaves it.
    (isUnsaved ? addEventListener : removeEventListener)("beforeunload", keepPage);
    this.undo.disabled = !model?.past.length;
    this.redo.disabled = !model?.future.length;
    for (const one of [this.add, this.more]) one.disabled = !model;
  }

  liveChanged(what) {
    if (what === "paused") {
      const { paused, isWaiting } = this.live;
      this.stopped.hidden = !paused && !isWaiting;
      const ended = "The event has ended. The game is still paused.";
      const { pausedNode } = this.live;
      const box = pausedNode && this.editor.layout().nodes.get(pausedNode);
      const name = box?.row?.name;
      const node = paused && (name ? `${name} (${paused.node})` : paused.node);
      const at = paused ? `Paused before ${node} of ${paused.graph}` : ended;
      setText(this.stopText, at);
      for (const one of this.stepButtons) one.disabled = !paused;
      if (box) this.canvas.jump(pausedNode);
    }
    if (this.side.page !== "Live") return;
    if (what === "instances") this.side.draw();
    else if (what === "events") this.side.drawHistorySoon();
    else this.side.drawHistory();
  }

  async enter() {
    this.editor.entered = true;
    this.live.entered = true;
    document.body.toggleAttribute("data-wide", this.isWide);
    this.showState();
    if (this.editor.model) return;
    try {
      const { graphs } = await this.editor.ask("flow_graphs");
      const last = sessionStorage.getItem(LAST);
      const found = graphs.find((one) => one.graph === last) ?? graphs[0];
      if (found) await this.openGraph(found.graph);
      else {
        this.editor.note("The game has no graphs yet.");
        this.canvas.explain(NO_GRAPHS);
      }
    } catch (error) {
      this.failed(error);
    }
  }

  leave() {
    this.editor.entered = false;
    this.live.entered = false;
    document.body.removeAttribute("data-wide");
  }
}

export function openFlow(panel, connection) {
  const view = new FlowView(panel, connection);
  return {
    filter: view.name,
    enter: () => view.enter(),
    leave: () => view.leave(),
  };
}
