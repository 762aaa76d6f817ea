// The commands of the Flow editor: their keys, the menu, and the keyboard's way through a graph.

import {
  addComment,
  addGroup,
  align,
  copyText,
  moveBy,
  pasteText,
  removeSelection,
} from "./flow_edit.js";
import { autoLayout } from "./flow_layout.js";
import { openMenu } from "./flow_palette.js";
import { extract, extractable, inline } from "./flow_subgraphs.js";
import { GRID, HEAD, WIDTH, bounds } from "./flow_types.js";

const STEP = 40;
// Keys that also act in the panel and the bar: always, and where no text is edited.
const ALWAYS = ["Ctrl+S", "Ctrl+F", "F8", "F10"];
const HISTORY = ["Ctrl+Z", "Ctrl+Shift+Z", "Ctrl+Y"];
// What the keyboard can reach in a node.
const STOPS = "button, .editing";

// Returns the node, the name and the side of the element of a pin.
function pinOf(element) {
  const node = element.closest(".flow-node").dataset.node;
  return { node, pin: element.dataset.pin, side: element.dataset.side };
}

// Returns the key of an event as the table below writes it.
function keyName(event) {
  const mods = [];
  if (event.ctrlKey || event.metaKey) mods.push("Ctrl");
  if (event.shiftKey && (event.key.length > 1 || event.ctrlKey || /[a-z]/i.test(event.key)))
    mods.push("Shift");
  const key =
    event.key === " " ? "Space" : event.key.length === 1 ? event.key.toUpperCase() : event.key;
  return [...mods, key].join("+");
}

export class FlowCommands {
  // `host` has editor, canvas, live, side, actions, and asks for names with `askName`.
  constructor(host) {
    Object.assign(this, host);
    this.table = this.commands();
    this.byKey = new Map();
    for (const one of this.table) for (const key of one?.keys ?? []) this.byKey.set(key, one);
    const { element } = this.canvas;
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("focusin", () => {
      this.canvas.active = this.focusedKey() ?? this.canvas.active;
    });
    for (const type of ["copy", "cut", "paste"]) {
      element.addEventListener(type, (event) => this.clipboard(type, event));
    }
  }

  // All commands, in the order of the menu; null is a line. `needs` is a case of `fits`.
  commands() {
    const { editor, canvas, live, actions, side } = this;
    const one = () => this.focusedNode() ?? editor.chosen[0] ?? canvas.active;
    return [
      {
        title: "Add a node…",
        keys: ["Space", "A", "Insert"],
        run: (at) => actions.palette(...this.spot(at)),
      },
      { title: "Wire a pin…", keys: ["W"], needs: "pin", run: () => this.wirePin() },
      {
        title: "Add a comment",
        keys: ["C"],
        run: (at) => canvas.frames.edit(this.shown(addComment(editor, this.grid(at)))),
      },
      {
        title: "Group",
        keys: ["G"],
        needs: "nodes",
        run: () => {
          const key = addGroup(editor);
          if (key) canvas.frames.edit(this.shown(key));
        },
      },
      {
        title: "Edit the text",
        keys: ["F2"],
        needs: "frame",
        run: () => canvas.frames.edit([...editor.selection][0]),
      },
      null,
      { title: "Undo", keys: ["Ctrl+Z"], run: () => editor.undo() },
      { title: "Redo", keys: ["Ctrl+Shift+Z", "Ctrl+Y"], run: () => editor.redo() },
      { title: "Cut", keys: ["Ctrl+X"], native: true, needs: "any", run: () => this.cut() },
      { title: "Copy", keys: ["Ctrl+C"], native: true, needs: "any", run: () => this.copy() },
      { title: "Paste", keys: ["Ctrl+V"], native: true, run: (at) => this.paste(at) },
      { title: "Duplicate", keys: ["Ctrl+D"], needs: "any", run: () => this.duplicate() },
      {
        title: "Remove",
        keys: ["Delete", "Backspace"],
        needs: "removable",
        run: () => this.remove(),
      },
      {
        title: "Select all",
        keys: ["Ctrl+A"],
        run: () => editor.select(Object.keys(editor.model.block("nodes"))),
      },
      null,
      { title: "Align left", keys: ["Shift+L"], needs: "two", run: () => align(editor, "left") },
      { title: "Align right", keys: ["Shift+R"], needs: "two", run: () => align(editor, "right") },
      { title: "Align tops", keys: ["Shift+T"], needs: "two", run: () => align(editor, "top") },
      {
        title: "Align bottoms",
        keys: ["Shift+B"],
        needs: "two",
        run: () => align(editor, "bottom"),
      },
      {
        title: "Space evenly across",
        keys: ["Shift+H"],
        needs: "two",
        run: () => align(editor, "across"),
      },
      {
        title: "Space evenly down",
        keys: ["Shift+V"],
        needs: "two",
        run: () => align(editor, "down"),
      },
      { title: "Lay out", keys: ["L"], run: () => autoLayout(editor) },
      null,
      { title: "Extract a subgraph…", keys: ["E"], needs: "nodes", run: () => this.extract() },
      {
        title: "Inline the subgraph",
        keys: ["I"],
        needs: "graph",
        run: () => inline(editor, one()),
      },
      {
        title: "Open the subgraph",
        keys: ["Ctrl+Enter"],
        needs: "graph",
        run: () => actions.enter(one()),
      },
      {
        title: "Back to the graph before",
        keys: ["B"],
        needs: "back",
        run: () => actions.back(),
      },
      {
        title: "Find uses of the type",
        keys: ["U"],
        needs: "nodes",
        run: () => {
          this.showSide();
          side.find(editor.model.get("nodes", one(), "type"), "type");
        },
      },
      { title: "Find…", keys: ["Ctrl+F", "/"], run: () => this.find() },
      null,
      { title: "Show all", keys: ["0", "Home"], run: () => canvas.fit(null) },
      { title: "Show the selection", keys: ["F"], run: () => canvas.fit(editor.chosen) },
      { title: "Zoom in", keys: ["+", "="], run: () => canvas.zoom(1.25) },
      { title: "Zoom out", keys: ["-"], run: () => canvas.zoom(0.8) },
      null,
      { title: "Breakpoint", keys: ["F9"], needs: "nodes", run: () => live.toggleStop(one()) },
      { title: "Step: run one node", keys: ["F10"], needs: "paused", run: () => live.step() },
      { title: "Resume", keys: ["F8"], needs: "halted", run: () => live.resume() },
      { title: "Save", keys: ["Ctrl+S"], run: () => editor.save() },
    ];
  }

  fits(command) {
    const { editor } = this;
    const count = editor.chosen.length;
    const focused = this.focusedKey();
    const active = focused !== null;
    switch (command.needs) {
      case "nodes":
        return count > 0 || this.focusedNode() !== null;
      case "two":
        return count > 1;
      case "any":
        return editor.selection.size > 0 || active;
      case "removable":
        return editor.selection.size > 0 || editor.wire !== null || active;
      case "frame":
        return ([...editor.selection][0] ?? focused)?.includes(":") ?? false;
      case "graph":
        return (
          editor.model.get("nodes", editor.chosen[0] ?? this.canvas.active, "type") === "graph"
        );
      case "pin":
        return this.pin() !== null;
      case "paused":
        return this.live.paused !== null;
      case "back":
        return this.actions.hasBack();
      case "halted":
        return this.live.paused !== null || this.live.isWaiting;
      default:
        return true;
    }
  }

  async run(command, at) {
    if (!this.editor.model || !this.fits(command)) return;
    // A command on no selection acts on the focused node.
    const focused = this.focusedKey();
    if (!this.editor.selection.size && focused && command.needs !== "removable") {
      this.editor.select([focused]);
    }
    try {
      await command.run(at);
    } catch (error) {
      this.editor.note(error.message, "error");
    }
  }

  menu(x, y) {
    if (!this.editor.model) return;
    const at = [x, y];
    const entries = this.table
      .filter((one) => !one?.needs || this.fits(one))
      .filter((one, index, all) => one || (index > 0 && all[index - 1]));
    const focus = document.activeElement;
    const run = (one) => {
      // The command acts on what had the focus before the menu.
      if (focus?.isConnected) focus.focus({ preventScroll: true });
      this.run(one, at);
    };
    const entry = (one) => one && { title: one.title, keys: one.keys[0], run: () => run(one) };
    openMenu("Commands of the graph", entries.map(entry), x, y);
  }

  key(event) {
    const target = event.target;
    const isText = target.matches("input:not([type=checkbox]), textarea, select");
    if (event.altKey) return;
    if (isText) {
      if (event.key === "Escape") this.leavePins();
      else if (event.key === "Tab") {
        if (!this.nextValue(target, event.shiftKey)) return;
      } else if (event.key === "s" && (event.ctrlKey || event.metaKey)) this.editor.save();
      else return;
      event.preventDefault();
      return;
    }
    const name = keyName(event);
    if (event.key === "ContextMenu" || name === "Shift+F10") this.menuAtFocus();
    else if (this.walk(event)) this.editor.notify("focus");
    else {
      const command = this.byKey.get(name);
      if (!command || command.native) return;
      this.run(command);
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // Keys outside of the drawing: those that act on the graph as a whole.
  panelKey(event) {
    const { target } = event;
    const isText = target.matches("input:not([type=checkbox]), textarea, select");
    const name = keyName(event);
    if (this.canvas.element.contains(target) || event.altKey) return;
    if (!(isText ? ALWAYS : [...ALWAYS, ...HISTORY]).includes(name)) return;
    event.preventDefault();
    this.run(this.byKey.get(name));
  }

  // The focused node, comment or group, as a key of the selection.
  focusedKey() {
    const frame = document.activeElement?.closest?.(".flow-frame")?.dataset.frame;
    return frame ?? this.focusedNode();
  }

  focusedNode() {
    return document.activeElement?.closest?.(".flow-node")?.dataset.node ?? null;
  }

  // The focused pin.
  pin() {
    return document.activeElement?.closest?.(".pin") ?? null;
  }

  menuAtFocus() {
    const focus = document.activeElement;
    const box = (focus?.closest(".flow-node") ?? this.canvas.element).getBoundingClientRect();
    this.menu(box.x + Math.min(60, box.width / 2), box.y + 30);
  }

  // Keys that move the focus, the selection or the view. Returns true if the key was one.
  walk(event) {
    const { editor, canvas } = this;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const arrow = arrows[event.key];
    const node = this.focusedNode();
    const key = this.focusedKey();
    const isPin = node !== null && document.activeElement.closest(".rows") !== null;
    if (arrow && (event.ctrlKey || event.metaKey)) {
      const [x, y] = arrow;
      if (!editor.selection.size && key) editor.select([key]);
      const far = event.shiftKey ? 4 : 1;
      moveBy(editor, this.pointer.moving(), x * far, y * far, "move by keys");
      return true;
    }
    if (arrow && event.shiftKey) {
      canvas.pan(-arrow[0] * STEP, -arrow[1] * STEP);
      return true;
    }
    if (arrow && isPin) return this.walkPins(node, arrow);
    if (arrow) return this.walkNodes(key, arrow);
    if (event.key === "Enter" && !event.ctrlKey) return this.enterKey(event, key, isPin);
    if (event.key === "Escape") {
      // A drag ends without an effect.
      if (this.pointer.act) this.pointer.cancel();
      else if (isPin) this.leavePins();
      else if (editor.selection.size || editor.wire) editor.select([]);
      else canvas.element.focus({ preventScroll: true });
      return true;
    }
    return false;
  }

  enterKey(event, key, isPin) {
    if (isPin && document.activeElement.matches(".pin")) this.wirePin();
    else if (isPin) document.activeElement.click();
    else if (key && event.shiftKey) this.toggle(key);
    else if (key?.includes(":")) this.canvas.frames.edit(key);
    else if (key) this.enterPins(key);
    else if (this.editor.wire === null) this.walkNodes(null, [1, 0]);
    return true;
  }

  toggle(key) {
    const { editor } = this;
    const keys = new Set(editor.selection);
    if (!keys.delete(key)) keys.add(key);
    editor.select(keys);
  }

  // Goes from a value that is edited to the next one of the node, or back. Returns false inside of
  // a value with several parts.
  nextValue(target, isBack) {
    const editing = target.closest(".editing");
    const view = this.canvas.nodes.get(this.focusedNode());
    if (!editing || !view) return false;
    const parts = [...editing.querySelectorAll("input, select, textarea, button")];
    if (parts.length && target !== parts.at(isBack ? 0 : -1)) return false;
    const all = [...view.body.querySelectorAll("button.value, .editing")];
    const next = all[all.indexOf(editing) + (isBack ? -1 : 1)];
    if (next) view.edit(next.closest("[data-row]").dataset.row);
    else this.leavePins();
    return true;
  }

  enterPins(id) {
    const box = this.editor.layout().nodes.get(id);
    this.canvas.reveal(box);
    this.canvas.draw();
    const view = this.canvas.nodes.get(id);
    if (view && !view.built) view.update(box, true);
    view?.body.querySelector(STOPS)?.focus({ preventScroll: true });
  }

  leavePins() {
    const node = this.focusedNode();
    const view = this.canvas.nodes.get(node);
    (view?.element ?? this.canvas.element).focus({ preventScroll: true });
  }

  walkPins(id, [x, y]) {
    const view = this.canvas.nodes.get(id);
    const all = [...view.body.querySelectorAll(STOPS)];
    const at = all.indexOf(document.activeElement);
    const next = all[at + (x || y)];
    next?.focus({ preventScroll: true });
    return true;
  }

  // Returns what the arrow keys can reach: nodes, and the titles of comments and groups.
  places() {
    const { editor, canvas } = this;
    const layout = editor.layout();
    const places = [...layout.nodes.values()].map(({ id, x, y, shape }) => ({
      key: id,
      x,
      y,
      shape,
    }));
    for (const key of canvas.frames.boxes.keys()) {
      const rect = canvas.frames.rect(key, layout);
      if (rect) places.push({ key, x: rect.x, y: rect.y, shape: { height: HEAD } });
    }
    return places;
  }

  // Focuses the nearest node, comment or group in a direction.
  walkNodes(from, [dx, dy]) {
    const { editor, canvas } = this;
    const places = this.places();
    const start = places.find((one) => one.key === (from ?? canvas.active));
    let best = null;
    let least = Infinity;
    const center = (one) => [one.x + WIDTH / 2, one.y + one.shape.height / 2];
    const rect = canvas.rect(0);
    const [sx, sy] = start ? center(start) : [rect.left, (rect.top + rect.bottom) / 2];
    for (const one of places) {
      if (one === start) continue;
      const [x, y] = center(one);
      const along = (x - sx) * dx + (y - sy) * dy;
      const aside = Math.abs((x - sx) * dy) + Math.abs((y - sy) * dx);
      if (start && along <= 0) continue;
      const score = start ? along + aside * 2 : Math.hypot(x - sx, y - sy);
      if (score < least) [best, least] = [one, score];
    }
    const found = from === null && start ? start : best;
    if (!found) return true;
    editor.select([found.key]);
    canvas.reveal(found);
    canvas.focusNode(found.key);
    return true;
  }

  wirePin() {
    const pin = this.pin();
    if (!pin) return;
    const { node, pin: name, side } = pinOf(pin);
    const box = this.editor.layout().nodes.get(node);
    const one = (side === "output" ? box.outputs : box.inputs).find((it) => it.name === name);
    const { x, y } = pin.getBoundingClientRect();
    this.actions.connect(node, one, side, x, y + 20, false);
  }

  // The point of the page where a command acts: the menu's, or the middle of the drawing.
  spot(at) {
    if (at) return at;
    const box = this.canvas.element.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 3];
  }

  grid(at) {
    return this.canvas.point(...this.spot(at)).map((part) => Math.round(part / GRID));
  }

  // Draws at once, so that a new element can be edited.
  shown(key) {
    this.canvas.draw();
    return key;
  }

  remove() {
    const { editor } = this;
    const pin = document.activeElement?.closest(".pin");
    if (pin && !editor.wire) {
      this.unset(pin);
      return;
    }
    const focused = this.focusedKey();
    if (!editor.selection.size && !editor.wire && focused) editor.select([focused]);
    removeSelection(editor);
    this.canvas.element.focus({ preventScroll: true });
  }

  // Removes the wires and the value of a pin.
  unset(element) {
    const { editor } = this;
    const { node, pin, side } = pinOf(element);
    const changes = [];
    for (const wire of editor.layout().wires) {
      const isOwn =
        side === "output"
          ? wire.from === node && wire.fromPin === pin
          : wire.to === node && wire.toPin === pin;
      if (isOwn) changes.push(...editor.unwiring(wire));
    }
    if (side === "input") changes.push([["nodes", node, "inputs", pin], undefined]);
    editor.change(`unset ${pin}`, changes);
  }

  clipboard(type, event) {
    if (event.target.matches("input, textarea") || !this.editor.model) return;
    if (type === "paste") {
      pasteText(this.editor, event.clipboardData.getData("text/plain"), this.grid());
    } else {
      this.selectFocused();
      const text = copyText(this.editor);
      if (text === null) return;
      event.clipboardData.setData("text/plain", text);
      if (type === "cut") removeSelection(this.editor);
    }
    event.preventDefault();
  }

  selectFocused() {
    const focused = this.focusedKey();
    if (!this.editor.selection.size && focused) this.editor.select([focused]);
  }

  async copy() {
    const text = copyText(this.editor);
    if (text !== null) await navigator.clipboard.writeText(text);
  }

  async cut() {
    await this.copy();
    removeSelection(this.editor);
  }

  async paste(at) {
    pasteText(this.editor, await navigator.clipboard.readText(), this.grid(at));
  }

  duplicate() {
    const text = copyText(this.editor);
    if (text === null) return;
    const rect = bounds(this.editor.chosen.map((id) => this.editor.layout().nodes.get(id)));
    const moved = (part) => Math.round(part / GRID) + 2;
    const at = rect ? [moved(rect.left), moved(rect.top)] : this.grid();
    pasteText(this.editor, text, at);
  }

  find() {
    this.side.show("Find");
    this.showSide();
    this.side.query.focus();
    this.side.query.select();
  }

  async extract() {
    extractable(this.editor);
    const folder = this.editor.graph.includes("/")
      ? this.editor.graph.replace(/\/[^/]*$/, "/")
      : "";
    const name = await this.askName("Name of the subgraph", `${folder}part`);
    if (name) await extract(this.editor, name);
  }
}
