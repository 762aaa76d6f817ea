// Mouse, pen and fingers on the drawing of a graph: moving nodes, dragging wires, frames of
// selection, pan and zoom.

import { makeTip } from "./dom.js";
import { GRID, WIDTH, splitPin, wireOf } from "./flow_types.js";

// A pointer that moves less than this makes a click, in pixels of the screen.
const CLICK = 4;
const WHEEL = 0.0016;
const LONG_MILLISECONDS = 500;

// How long the mouse rests before a text explains what is under it.
const TIP_MILLISECONDS = 450;

// Only controls that are being edited take the mouse themselves.
const CONTROLS = "input, select, textarea, button";

export class FlowPointer {
  // `actions` has `connect(node, pin, side, x, y, isDropped)`, `wire`, `move`, `enter`,
  // `palette(x, y)` and `menu(x, y)`.
  constructor(canvas, actions) {
    Object.assign(this, { canvas, actions, editor: canvas.editor, fingers: new Map(), act: null });
    const { element } = canvas;
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", (event) => this.up(event));
    element.addEventListener("pointercancel", () => this.cancel());
    element.addEventListener("pointerleave", () => this.hover(null));
    this.tip = makeTip();
    element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    element.addEventListener("dblclick", (event) => this.double(event));
    element.addEventListener("contextmenu", (event) => this.context(event));
    // The middle button moves the view: it neither scrolls nor pastes.
    for (const type of ["mousedown", "mouseup", "auxclick"]) {
      element.addEventListener(type, (event) => event.button === 1 && event.preventDefault());
    }
  }

  down(event) {
    if (event.target.closest(CONTROLS)) return;
    this.hover(null);
    // A press is one on the nodes themselves, not on a picture of them.
    if (this.canvas.isZooming) this.canvas.settle();
    // A fast movement leaves the drawing before the first event about it.
    this.canvas.element.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.fingers.size === 2) {
      this.abort();
      this.act = { kind: "pinch", ...this.pinch() };
      return;
    }
    if (this.fingers.size > 2) return;
    const [x, y] = [event.clientX, event.clientY];
    const start = { x, y, at: this.canvas.point(x, y), touch: event.pointerType === "touch" };
    const hit = this.canvas.hit(x, y);
    this.act = { ...this.choose(event, hit), start, id: event.pointerId, moved: false };
    if (["pan", "move"].includes(this.act.kind) && start.touch) {
      this.timer = setTimeout(() => this.long(), LONG_MILLISECONDS);
    }
    // The focus goes to the graph, so that keys act on it.
    if (event.button !== 1) event.preventDefault();
    this.focus(hit);
  }

  // Focuses what was pressed.
  focus(hit) {
    const { canvas } = this;
    const view = canvas.nodes.get(hit?.key);
    const pin = hit?.part === "pin" ? view?.pinElement(hit.side, hit.pin.name) : null;
    (pin ?? view?.element ?? canvas.element).focus({ preventScroll: true });
    if (view) canvas.active = hit.key;
  }

  // Returns what a press begins.
  choose(event, hit) {
    if (event.button === 1 || (event.button === 0 && event.altKey)) return { kind: "pan" };
    if (event.button !== 0) return { kind: "none" };
    if (hit?.part === "pin") return this.beginWire(hit, event);
    if (hit?.part === "grip") return { kind: "resize", key: hit.key };
    if (hit) {
      const { key } = hit;
      const add = event.shiftKey || event.ctrlKey || event.metaKey;
      const { selection } = this.editor;
      const before = [...selection];
      if (add && selection.has(key)) return { kind: "move", drop: key };
      if (add) this.editor.select([...selection, key]);
      else if (!selection.has(key)) this.editor.select([key]);
      const row = hit.part === "value" && !add ? hit.row : null;
      return { kind: "move", only: add ? null : key, row, key, before };
    }
    const [x, y] = this.canvas.point(event.clientX, event.clientY);
    const wire = this.canvas.wires.at(x, y, this.canvas.view.zoom);
    if (wire) {
      this.editor.select([], wire);
      return { kind: "none" };
    }
    if (event.pointerType === "touch") return { kind: "pan", clears: true };
    return { kind: "marquee", before: event.shiftKey ? [...this.editor.selection] : [] };
  }

  // A wire begins at a pin, or at the other end of the wire of an input.
  beginWire({ key, box, pin, side }, event) {
    const source = wireOf(box.node?.inputs?.[pin.name]);
    const isDetached = side === "input" && source !== null && !event.shiftKey;
    return { kind: "wire", node: key, pin, side, detached: isDetached ? source : null };
  }

  // Returns the center of two fingers and their distance.
  pinch() {
    const [[x1, y1], [x2, y2]] = [...this.fingers.values()];
    return { x: (x1 + x2) / 2, y: (y1 + y2) / 2, apart: Math.hypot(x2 - x1, y2 - y1) || 1 };
  }

  move(event) {
    if (!this.fingers.has(event.pointerId)) {
      if (event.pointerType !== "touch") this.hover(event);
      return;
    }
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    const { act, canvas } = this;
    if (act?.kind === "pinch") {
      const now = this.pinch();
      const box = canvas.element.getBoundingClientRect();
      canvas.pan(now.x - act.x, now.y - act.y);
      canvas.zoom(now.apart / act.apart, now.x - box.x, now.y - box.y);
      Object.assign(act, now);
      return;
    }
    if (!act || act.id !== event.pointerId) return;
    const [dx, dy] = [event.clientX - act.start.x, event.clientY - act.start.y];
    if (!act.moved) {
      if (Math.hypot(dx, dy) < CLICK) return;
      act.moved = true;
      clearTimeout(this.timer);
      this.begin(act);
    }
    this.drag(act, event, dx, dy);
  }

  begin(act) {
    if (act.kind === "move") {
      if (act.drop) this.editor.select([...this.editor.selection]);
      this.editor.drag = { keys: this.moving(), x: 0, y: 0 };
      this.canvas.lift.begin(this.editor.drag.keys);
    } else if (act.kind === "resize") {
      this.editor.drag = { keys: new Set(), resized: act.key, x: 0, y: 0 };
    } else if (act.kind === "marquee") {
      this.canvas.marquee.hidden = false;
    }
  }

  // Returns all that moves with the selection: members of groups, and what is on a comment.
  moving() {
    const { editor, canvas } = this;
    const keys = new Set(editor.selection);
    const layout = editor.layout();
    for (const key of editor.selection) {
      if (key.startsWith("g:")) {
        const members = editor.model.get("groups", key.slice(2), "nodes") ?? {};
        for (const id of Object.keys(members)) keys.add(id);
      }
      if (!key.startsWith("c:")) continue;
      const rect = canvas.frames.rect(key, layout);
      for (const box of layout.nodes.values()) {
        const isIn = box.x >= rect.x && box.x + WIDTH <= rect.x + rect.width;
        if (isIn && box.y >= rect.y && box.y + box.shape.height <= rect.y + rect.height) {
          keys.add(box.id);
        }
      }
    }
    return keys;
  }

  drag(act, event, dx, dy) {
    const { canvas, editor } = this;
    const { zoom } = canvas.view;
    if (act.kind === "pan") {
      const [x, y] = act.last ?? [act.start.x, act.start.y];
      canvas.pan(event.clientX - x, event.clientY - y);
      act.last = [event.clientX, event.clientY];
    } else if (act.kind === "move" || act.kind === "resize") {
      Object.assign(editor.drag, { x: dx / zoom, y: dy / zoom });
      canvas.dragged();
    } else if (act.kind === "marquee") {
      this.dragMarquee(act, event);
    } else if (act.kind === "wire") {
      this.dragWire(act, event);
    }
  }

  dragMarquee(act, event) {
    const { canvas, editor } = this;
    const base = canvas.element.getBoundingClientRect();
    const [left, right] = [act.start.x, event.clientX].sort((a, b) => a - b);
    const [top, bottom] = [act.start.y, event.clientY].sort((a, b) => a - b);
    const { style } = canvas.marquee;
    style.transform = `translate(${left - base.x}px, ${top - base.y}px)`;
    style.width = `${right - left}px`;
    style.height = `${bottom - top}px`;
    const [x1, y1] = canvas.point(left, top);
    const [x2, y2] = canvas.point(right, bottom);
    const inside = [...editor.layout().nodes.values()]
      .filter(
        (box) => box.x < x2 && box.x + WIDTH > x1 && box.y < y2 && box.y + box.shape.height > y1,
      )
      .map((box) => box.id);
    for (const key of canvas.frames.boxes.keys()) {
      const box = key.startsWith("c:") && canvas.frames.rect(key, editor.layout());
      if (!box || box.x < x1 || box.y < y1) continue;
      if (box.x + box.width <= x2 && box.y + box.height <= y2) inside.push(key);
    }
    const keys = new Set([...act.before, ...inside]);
    if (keys.size !== editor.selection.size || inside.some((id) => !editor.selection.has(id))) {
      editor.select(keys);
    }
  }

  // The fixed end of a dragged wire: its node, pin and side.
  fixedEnd(act) {
    if (!act.detached) return { node: act.node, pin: act.pin, side: act.side };
    const [node, name] = splitPin(act.detached);
    const box = this.editor.layout().nodes.get(node);
    const pin = box?.outputs.find((one) => one.name === name) ?? { name, type: "any" };
    return { node, pin, side: "output" };
  }

  dragWire(act, event) {
    const { canvas, editor } = this;
    const { node, pin, side } = this.fixedEnd(act);
    const box = editor.layout().nodes.get(node);
    if (!box) return;
    const y = box.y + (box.shape.pins[side].get(pin.name)?.y ?? 0);
    const point = canvas.point(event.clientX, event.clientY);
    const target = this.target(event.clientX, event.clientY, { node, pin, side });
    const isFit = target === null || target.pin !== null;
    const ends = side === "output" ? [box.x + WIDTH, y, ...point] : [...point, box.x, y];
    canvas.wires.drag(ends, pin.type, isFit);
    this.hint(target?.element ?? null);
  }

  hint(element) {
    if (this.hinted === element) return;
    this.hinted?.classList.remove("target");
    element?.classList.add("target");
    this.hinted = element;
  }

  // Returns the pin under a point that a wire can end at, with `pin: null` and a reason if it
  // cannot, or null on the background. On a node, it is the first pin that fits.
  target(x, y, { node, pin, side }) {
    const hit = this.canvas.hit(x, y);
    if (!hit?.box) return null;
    const view = this.canvas.nodes.get(hit.key);
    const list = side === "output" ? hit.box.inputs : hit.box.outputs;
    const isNamed = hit.part === "pin" && hit.side !== side;
    const fits = (one) => {
      const [from, to] = side === "output" ? [pin.type, one.type] : [one.type, pin.type];
      return hit.key !== node && this.editor.catalogue.wire(from, to) !== null;
    };
    const found = isNamed ? list.find((one) => one.name === hit.pin.name) : list.find(fits);
    const element = isNamed ? view.pinElement(hit.side, hit.pin.name) : view.element;
    if (found && fits(found)) return { element, node: hit.key, pin: found };
    const isOutput = side === "output";
    const needs = isOutput ? `input takes type ${pin.type}` : `output fits type ${pin.type}`;
    const [from, to] = isOutput ? [pin, found] : [found, pin];
    let reason = `this cannot be wired: no ${needs}`;
    if (hit.key === node) reason = "a node cannot be wired to itself";
    else if (found) {
      const types = `'${from.name}' is of type ${from.type}, and '${to.name}' of type ${to.type}`;
      reason = `this cannot be wired: ${types}`;
    }
    return { element, node: hit.key, pin: null, reason };
  }

  // Shows a text about what the mouse rests on.
  hover(event) {
    clearTimeout(this.tipTimer);
    this.tip.hide();
    if (!event || this.act) return;
    const { canvas } = this;
    const hit = canvas.hit(event.clientX, event.clientY);
    const cursors = {
      pin: "crosshair",
      head: "grab",
      rows: "grab",
      value: "text",
      grip: "nwse-resize",
    };
    canvas.element.style.cursor = cursors[hit?.part] ?? "";
    const text = hit ? this.tipText(hit) : this.wireText(event);
    if (!text) return;
    const [x, y] = [event.clientX, event.clientY];
    this.tipTimer = setTimeout(() => this.tip.show(text, x, y), TIP_MILLISECONDS);
  }

  // Describes the wire under the mouse.
  wireText(event) {
    const { canvas, editor } = this;
    const [x, y] = canvas.point(event.clientX, event.clientY);
    const key = canvas.wires.at(x, y, canvas.view.zoom);
    const wire = key && editor.layout().byKey.get(key);
    if (!wire) return "";
    const states = {
      same: wire.type,
      converted: `${wire.type}, which is converted`,
      checked: `${wire.type}, which is checked while the game runs`,
    };
    const problems = editor.problems.filter((one) => one.wire === key);
    const ends = `${wire.from}.${wire.fromPin} → ${wire.to}.${wire.toPin}`;
    const value = canvas.values[`${wire.from}.${wire.fromPin}`];
    const lines = [ends, states[wire.state] ?? "these pins do not fit", value];
    return [...lines, ...problems.map((one) => one.message)].filter(Boolean).join("\n");
  }

  tipText({ key, box, part, pin }) {
    if (!box) return "";
    const { canvas } = this;
    const problems = canvas.byNode.get(key) ?? [];
    const lines = [];
    if (part === "pin") {
      const kind = pin.resource ? `${pin.type} of kind ${pin.resource}` : pin.type;
      lines.push(
        pin.unknown ? `the node has no pin '${pin.name}'` : `${pin.name}: ${kind}`,
        pin.doc,
      );
      lines.push(canvas.values[`${key}.${pin.name}`]);
      lines.push(...problems.filter((one) => one.pin === pin.name).map((one) => one.message));
    } else if (part === "head") {
      lines.push(`${box.row?.name ?? box.node?.type} (${key})`, box.row?.doc, box.node?.note);
      lines.push(...problems.map((one) => one.message));
    }
    return lines.filter((line) => typeof line === "string" && line).join("\n");
  }

  up(event) {
    clearTimeout(this.timer);
    this.fingers.delete(event.pointerId);
    const { act } = this;
    if (!act || (act.kind !== "pinch" && act.id !== event.pointerId)) return;
    this.act = null;
    this.hint(null);
    // A list of what the wire can end at keeps showing it.
    let isListed = false;
    if (act.kind === "move" || act.kind === "resize") this.drop(act);
    else if (act.kind === "wire") isListed = this.dropWire(act, event);
    else if (act.kind === "marquee" && !act.moved) this.editor.select(act.before);
    else if (act.clears && !act.moved) this.editor.select([]);
    this.canvas.marquee.hidden = true;
    if (!isListed) this.canvas.wires.drag(null);
    this.canvas.soon();
  }

  drop(act) {
    const { editor } = this;
    const { drag } = editor;
    editor.drag = null;
    this.canvas.lift.end();
    if (!act.moved) {
      if (act.row) this.canvas.nodes.get(act.only)?.edit(act.row, true);
      if (act.drop) editor.select([...editor.selection].filter((key) => key !== act.drop));
      else if (act.only && editor.selection.size > 1) editor.select([act.only]);
      return;
    }
    const [x, y] = [Math.round(drag.x / GRID), Math.round(drag.y / GRID)];
    if (act.kind === "resize") {
      const path = ["comments", act.key.slice(2), "size"];
      const [width, height] = editor.model.get(...path) ?? [16, 8];
      const size = [Math.max(4, width + x), Math.max(2, height + y)];
      editor.change("size of a comment", [[path, size]]);
      return;
    }
    this.actions.move(drag.keys, x, y);
  }

  // Ends the drag of a wire. Returns true if a list of ends was opened where it was dropped.
  dropWire(act, event) {
    const { editor, actions } = this;
    const end = this.fixedEnd(act);
    if (!act.moved) {
      // A click on a pin lists what it can be wired to.
      actions.connect(act.node, act.pin, act.side, event.clientX, event.clientY);
      return false;
    }
    const target = this.target(event.clientX, event.clientY, end);
    const detach = act.detached ? [[["nodes", act.node, "inputs", act.pin.name], undefined]] : [];
    if (target?.pin) {
      actions.wire(end, { node: target.node, pin: target.pin }, detach);
    } else if (target) {
      editor.note(target.reason, "warning");
    } else if (act.detached) {
      editor.change("remove a wire", detach);
    } else {
      actions.connect(end.node, end.pin, end.side, event.clientX, event.clientY, true);
      return true;
    }
    return false;
  }

  cancel() {
    this.fingers.clear();
    this.abort();
  }

  // Ends what has begun without an effect.
  abort() {
    clearTimeout(this.timer);
    this.act = null;
    this.editor.drag = null;
    this.canvas.lift.end();
    this.hint(null);
    this.canvas.marquee.hidden = true;
    this.canvas.wires.drag(null);
    this.canvas.soon();
  }

  // A finger that stays on the background opens the menu; on a node, it adds it to the selection,
  // or removes it.
  long() {
    const { start, kind, key, before } = this.act ?? {};
    if (!start) return;
    this.cancel();
    if (kind !== "move") this.actions.menu(start.x, start.y);
    else if (before.includes(key)) this.editor.select(before.filter((one) => one !== key));
    else this.editor.select([...before, key]);
  }

  wheel(event) {
    event.preventDefault();
    const { canvas } = this;
    if (event.shiftKey || (!event.ctrlKey && event.deltaX !== 0)) {
      const isTurned = event.shiftKey && event.deltaX === 0;
      canvas.pan(...(isTurned ? [-event.deltaY, 0] : [-event.deltaX, -event.deltaY]));
      return;
    }
    const box = canvas.element.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 24 : 1;
    const speed = event.ctrlKey && Math.abs(event.deltaY) < 40 ? 6 : 1;
    const factor = Math.exp(-event.deltaY * lines * WHEEL * speed);
    canvas.zoom(factor, event.clientX - box.x, event.clientY - box.y);
  }

  double(event) {
    if (event.target.closest(CONTROLS)) return;
    const hit = this.canvas.hit(event.clientX, event.clientY);
    if (hit?.part === "pin" || hit?.part === "value") return;
    if (hit?.box) this.actions.enter(hit.key);
    else if (hit) this.canvas.frames.edit(hit.key);
    else this.actions.palette(event.clientX, event.clientY);
  }

  context(event) {
    if (event.target.closest(CONTROLS)) return;
    event.preventDefault();
    const hit = this.canvas.hit(event.clientX, event.clientY);
    if (hit && !this.editor.selection.has(hit.key)) this.editor.select([hit.key]);
    this.focus(hit);
    this.actions.menu(event.clientX, event.clientY);
  }
}
