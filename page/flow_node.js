// The element of a node: its head, its rows of pins with values, its marks. The canvas decides
// where it is, and when it exists.

import { make, setText } from "./dom.js";
import { literalText, wireOf } from "./flow_types.js";
import { makeSetting, makeValue, showText } from "./flow_values.js";

const KIND_NAMES = {
  event: "event",
  action: "action",
  query: "query",
  graph: "subgraph",
  lua: "Lua",
};

// Describes a pin for screen readers.
function pinLabel(pin, side, value) {
  const wired = wireOf(value);
  const state = wired ? `, wired from ${wired}` : "";
  return `${side} ${pin.name}, ${pin.type}${state}`;
}

export class FlowNode {
  // `host` has `editor`, `pick(title, names, choose, near)` and `toggleBreakpoint(id)`.
  constructor(host, id) {
    Object.assign(this, { host, id, signature: "", place: "", live: new Map() });
    this.title = make("b", {});
    this.count = make("i", { class: "count", hidden: true });
    this.stop = make("span", { class: "stop", hidden: true, title: "A breakpoint" });
    this.alarm = make("span", { class: "alarm", hidden: true });
    this.head = make("div", { class: "head" }, this.stop, this.title, this.count, this.alarm);
    this.body = make("div", { class: "rows" });
    this.remark = make("div", { class: "remark", hidden: true });
    this.element = make(
      "div",
      {
        class: "flow-node",
        role: "group",
        tabindex: "-1",
        "aria-roledescription": "node",
        "data-node": id,
      },
      this.remark,
      this.head,
      this.body,
    );
  }

  // Creates the content again if the node has changed. Rows are created only when `near` is true.
  update(box, near) {
    const { editor } = this.host;
    if (this.signature !== box.signature) {
      const quiet = editor.quiet === this.id;
      this.signature = box.signature;
      this.box = box;
      if (!quiet) this.built = false;
      this.updateHead(box);
    }
    if (near && !this.built) this.build(box);
  }

  updateHead({ node, row, shape }) {
    const kind = this.host.editor.catalogue?.kind(row) ?? "unknown";
    this.name = row?.name ?? String(node?.type ?? "?");
    setText(this.title, this.name);
    const doc = row ? row.doc : "No such type of node.";
    this.head.title = [String(node?.type ?? ""), doc].join("\n");
    this.element.dataset.kind = kind;
    this.element.style.height = `${shape.height}px`;
    this.kindName = KIND_NAMES[kind] ?? "unknown type";
    showText(this.remark, typeof node?.note === "string" ? node.note : "");
    this.label();
  }

  label() {
    const isSelected = this.element.classList.contains("selected") ? ", selected" : "";
    const problem = this.problem ? `, ${this.problem}` : "";
    const label = `${this.name}, ${this.kindName}, ${this.id}${isSelected}${problem}`;
    this.element.setAttribute("aria-label", label);
  }

  build(box) {
    const focused = document.activeElement;
    const kept = this.element.contains(focused) ? this.controlKey(focused) : null;
    const caret = focused?.type === "text" ? focused.selectionStart : null;
    this.built = true;
    this.live = new Map();
    this.body.replaceChildren(...box.shape.rows.map((row) => this.row(row, box)));
    if (!kept) return;
    const control = this.control(kept);
    control?.focus();
    if (caret !== null && control?.type === "text") control.setSelectionRange(caret, caret);
  }

  // Returns a text that names a control of the node, and survives its creation.
  controlKey(element) {
    const row = element.closest("[data-row]");
    const all = row ? [...row.querySelectorAll("button, input, select, textarea")] : [];
    return row ? [row.dataset.row, all.indexOf(element)] : null;
  }

  control([name, at]) {
    const row = [...this.body.children].find((one) => one.dataset.row === name);
    return row?.querySelectorAll("button, input, select, textarea")[at];
  }

  row({ setting, input, output }, box) {
    if (setting) return this.settingRow(setting, box);
    const name = input ? `in ${input.name}` : `out ${output.name}`;
    const row = make("div", { class: "row", "data-row": name });
    if (input) row.append(this.pin(input, "input", box), ...this.value(input, box));
    if (output) {
      if (output.type !== "event") row.append(this.last(`${this.id}.${output.name}`));
      row.append(this.pin(output, "output", box));
    }
    return row;
  }

  settingRow(setting, { node }) {
    const { editor, pick } = this.host;
    const commit = (value) =>
      editor.change(
        `${setting.name} of ${this.name}`,
        [[["nodes", this.id, setting.name], value]],
        {
          join: `${this.id} ${setting.name}`,
          from: this.id,
        },
      );
    const label = `${this.name}: ${setting.name}`;
    const value = node[setting.name];
    const control = makeSetting({ editor, setting, value, label, commit, pick });
    control.classList.add("value");
    const name = make("span", { class: "label", title: setting.doc ?? "" }, setting.name);
    return make("div", { class: "row setting", "data-row": `set ${setting.name}` }, name, control);
  }

  pin(pin, side, { node }) {
    const value = side === "input" ? node?.inputs?.[pin.name] : undefined;
    const kind = pin.resource ? `${pin.type} of kind ${pin.resource}` : pin.type;
    const button = make(
      "button",
      {
        class: `pin ${side}${pin.unknown ? " unknown" : ""}`,
        tabindex: "-1",
        "data-pin": pin.name,
        "data-side": side,
        "data-type": pin.type,
        title: pin.unknown ? `The node has no pin '${pin.name}'.` : `${kind}\n${pin.doc ?? ""}`,
        "aria-label": pinLabel(pin, side, value),
      },
      make("span", { class: "label" }, pin.name),
    );
    if (pin.type === "event") button.classList.add("event");
    return button;
  }

  // The value of an input: a control, or the last value of its wire.
  value(pin, { node }) {
    if (pin.type === "event") return [];
    const value = node?.inputs?.[pin.name];
    if (wireOf(value) !== null) return [this.last(wireOf(value))];
    const { editor, pick } = this.host;
    if (!editor.catalogue.literal(pin, editor.units) && value === undefined) {
      const standard = pin.default === "self" ? "self" : pin.optional ? "" : "–";
      return [make("span", { class: "value none" }, standard)];
    }
    const commit = (next) =>
      editor.change(
        `${pin.name} of ${this.name}`,
        [[["nodes", this.id, "inputs", pin.name], next]],
        {
          join: `${this.id} in ${pin.name}`,
          from: this.id,
        },
      );
    const label = `${this.name}: ${pin.name}`;
    const control = makeValue({ editor, pin, value, label, commit, pick });
    control.classList.add("value");
    control.title ||= literalText(value ?? (pin.default === "self" ? undefined : pin.default));
    return [control];
  }

  // An element for the last value of an output.
  last(source) {
    const element = make("output", { class: "last", "aria-live": "off" });
    const all = this.live.get(source) ?? [];
    this.live.set(source, [...all, element]);
    return element;
  }

  mark({ isSelected, problems, hasStop, isPaused }) {
    const worst = problems?.find((one) => one.severity === "error") ?? problems?.[0];
    const message = problems?.map((one) => one.message).join("\n") ?? "";
    const state = `${isSelected} ${hasStop} ${isPaused} ${message}`;
    const isSame = this.state === state && this.marked === this.built;
    if (isSame) return;
    Object.assign(this, { state, marked: this.built, problem: message });
    const names = this.element.classList;
    names.toggle("selected", isSelected);
    names.toggle("paused", isPaused);
    names.toggle("error", worst?.severity === "error");
    names.toggle("warning", Boolean(worst) && worst.severity !== "error");
    this.stop.hidden = !hasStop;
    this.alarm.hidden = !worst;
    this.alarm.title = message;
    const wrong = new Set(problems?.map((one) => one.pin));
    for (const pin of this.body.querySelectorAll(".pin")) {
      pin.classList.toggle("wrong", wrong.has(pin.dataset.pin));
    }
    this.label();
  }

  // Shows the last values of pins, and how often the node ran.
  showLive(values, count, isLit) {
    for (const [source, elements] of this.live) {
      const text = values[source] ?? "";
      for (const element of elements) {
        if (element.textContent === text) continue;
        element.textContent = text;
        element.title = text;
      }
    }
    showText(this.count, count ? `×${count}` : "");
    this.element.classList.toggle("lit", isLit);
  }
}
