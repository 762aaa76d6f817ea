// The element of a node: its head, its rows of pins with values, its marks. The canvas decides
// where it is, when it exists, and what is under the mouse: hundreds of elements that take the
// mouse or clip their texts would make each frame slow. So a value is a text until it is edited.

import { make, setText } from "./dom.js";
import { literalText, wireOf } from "./flow_types.js";
import { colorParts, makeSetting, makeValue, showText } from "./flow_values.js";

const KIND_NAMES = {
  event: "event",
  action: "action",
  query: "query",
  graph: "subgraph",
  script: "Lua",
};
const [TITLE_WIDTH, LABEL_WIDTH, VALUE_WIDTH, LAST_WIDTH, NOTE_WIDTH] = [150, 88, 84, 78, 260];
const CUT_MAX = 5000;

const measure = document.createElement("canvas").getContext("2d");
const cuts = new Map();

// Cuts a text to a width in pixels.
export function cut(text, width, font = "12px") {
  const key = `${font} ${width} ${text}`;
  if (cuts.has(key)) return cuts.get(key);
  if (cuts.size > CUT_MAX) cuts.clear();
  const family = font.includes("mono") ? "monospace" : getComputedStyle(document.body).fontFamily;
  measure.font = `${font.replace("mono", "")} ${family}`;
  let shown = text.length > 200 ? text.slice(0, 200) : text;
  if (measure.measureText(shown).width > width) {
    while (shown && measure.measureText(`${shown}…`).width > width) shown = shown.slice(0, -1);
    shown = `${shown}…`;
  }
  cuts.set(key, shown);
  return shown;
}

// Describes a pin for screen readers.
function pinLabel(pin, side, value) {
  const wired = wireOf(value);
  const state = wired ? `, wired from ${wired}` : "";
  return `${side} ${pin.name}, ${pin.type}${state}`;
}

export class FlowNode {
  // `host` has `editor` and `pick(title, names, choose, near)`.
  constructor(host, id) {
    Object.assign(this, { host, id, signature: "", place: "", live: new Map() });
    this.title = make("b", {});
    this.count = make("i", { class: "count", hidden: true });
    this.stop = make("span", { class: "stop", hidden: true });
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
    // Positions are not part of the signature.
    this.box = box;
    if (this.signature !== box.signature) {
      const quiet = editor.quiet === this.id;
      this.signature = box.signature;
      if (!quiet) this.built = false;
      this.updateHead(box);
    }
    if (near && !this.built) this.build(box);
  }

  updateHead({ node, row, shape }) {
    const kind = this.host.editor.catalogue?.kind(row) ?? "unknown";
    this.name = row?.name ?? String(node?.type ?? "?");
    setText(this.title, cut(this.name, TITLE_WIDTH, "600 12px"));
    this.element.dataset.kind = kind;
    this.element.style.height = `${shape.height}px`;
    this.kindName = KIND_NAMES[kind] ?? "unknown type";
    showText(this.remark, typeof node?.note === "string" ? cut(node.note, NOTE_WIDTH) : "");
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
    const isEdited = Boolean(focused?.closest(".editing"));
    const caret = focused?.type === "text" ? focused.selectionStart : null;
    this.built = true;
    this.marks = -1;
    this.live = new Map();
    this.body.replaceChildren(...box.shape.rows.map((row) => this.row(row, box)));
    if (!kept) return;
    if (isEdited) this.edit(kept[0]);
    const control = this.control(kept);
    (control ?? this.element).focus({ preventScroll: true });
    if (caret !== null && control?.type === "text") control.setSelectionRange(caret, caret);
  }

  // Returns a text that names a control of the node, and survives its creation.
  controlKey(element) {
    const row = element.closest("[data-row]");
    const all = row ? [...row.querySelectorAll("button, input, select, textarea")] : [];
    return row ? [row.dataset.row, all.indexOf(element)] : null;
  }

  rowNamed(name) {
    return [...this.body.children].find((one) => one.dataset.row === name);
  }

  control([name, at]) {
    return this.rowNamed(name)?.querySelectorAll("button, input, select, textarea")[at];
  }

  pinElement(side, name) {
    const all = [...this.body.querySelectorAll(".pin")];
    return all.find((pin) => pin.dataset.side === side && pin.dataset.pin === name) ?? null;
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
    const name = make("span", { class: "label" }, cut(setting.name, LABEL_WIDTH));
    const value = node?.[setting.name];
    const text = literalText(value);
    const shown = this.shown(text, literalText(setting.default), `${this.name}: ${setting.name}`);
    return make("div", { class: "row setting", "data-row": `set ${setting.name}` }, name, shown);
  }

  pin(pin, side, { node }) {
    const value = side === "input" ? node?.inputs?.[pin.name] : undefined;
    const names = ["pin", side];
    if (pin.type === "event") names.push("event");
    if (pin.unknown) names.push("unknown");
    return make(
      "button",
      {
        class: names.join(" "),
        tabindex: "-1",
        "data-pin": pin.name,
        "data-side": side,
        "data-type": pin.type,
        "aria-label": pinLabel(pin, side, value),
      },
      cut(pin.name, LABEL_WIDTH),
    );
  }

  // The value of an input as a text that can be edited, or the last value of its wire.
  value(pin, { node }) {
    if (pin.type === "event") return [];
    const value = node?.inputs?.[pin.name];
    if (wireOf(value) !== null) return [this.last(wireOf(value))];
    const { editor } = this.host;
    const standard = pin.default === "self" ? "self" : literalText(pin.default);
    if (!editor.catalogue.literal(pin, editor.units) && value === undefined) {
      return [make("span", { class: "none" }, standard || (pin.optional ? "" : "–"))];
    }
    const shown = this.shown(literalText(value), standard, `${this.name}: ${pin.name}`);
    if (pin.type === "color") {
      shown.style.setProperty("--swatch", colorParts(value ?? pin.default)[0]);
      shown.classList.add("swatch");
    }
    return [shown];
  }

  // A button with the text of a value, which is edited when it is pressed.
  shown(text, standard, label) {
    const button = make(
      "button",
      {
        class: text === "" ? "value unset" : "value",
        tabindex: "-1",
        "aria-label": `${label}: ${text || standard || "unset"}`,
      },
      cut(text || standard, VALUE_WIDTH, "11px"),
    );
    const edit = () => this.edit(button.closest("[data-row]").dataset.row, true);
    button.addEventListener("click", edit);
    return button;
  }

  // Replaces the text of a value by its control, until that loses the focus. A press on the text is
  // also one on the control: it toggles a box, and opens a list.
  edit(name, isPressed = false) {
    const row = this.rowNamed(name);
    const shown = row?.querySelector("button.value");
    if (!shown) return;
    const [kind, key] = [name.slice(0, name.indexOf(" ")), name.slice(name.indexOf(" ") + 1)];
    const control = kind === "set" ? this.settingControl(key) : this.inputControl(key);
    if (!control) return;
    control.classList.add("value", "editing");
    shown.replaceWith(control);
    const first = control.matches("input, select, textarea")
      ? control
      : control.querySelector("input");
    control.addEventListener("focusout", (event) => {
      const isChoosing = document.querySelector(".flow-palette:popover-open");
      if (control.contains(event.relatedTarget) || isChoosing) return;
      this.built = false;
      this.host.soon();
    });
    first.focus({ preventScroll: true });
    first.select?.();
    if (isPressed && first.type === "checkbox") first.click();
    if (isPressed && first.matches("select") && navigator.userActivation?.isActive) {
      first.showPicker?.();
    }
  }

  commit(path, label) {
    const { editor } = this.host;
    return (value) => {
      const options = { join: `${this.id} ${path.join(" ")}`, from: this.id };
      editor.change(`${label} of ${this.name}`, [[["nodes", this.id, ...path], value]], options);
    };
  }

  settingControl(name) {
    const { editor, pick } = this.host;
    const setting = this.box.settings.find((one) => one.name === name);
    const value = editor.model.get("nodes", this.id, name);
    const label = `${this.name}: ${name}`;
    return makeSetting({ editor, setting, value, label, commit: this.commit([name], name), pick });
  }

  inputControl(name) {
    const { editor, pick } = this.host;
    const pin = this.box.inputs.find((one) => one.name === name);
    const value = editor.model.get("nodes", this.id, "inputs", name);
    const label = `${this.name}: ${name}`;
    return makeValue({
      editor,
      pin,
      value,
      label,
      commit: this.commit(["inputs", name], name),
      pick,
    });
  }

  // An element for the last value of an output.
  last(source) {
    const element = make("output", { class: "last", "aria-live": "off" });
    this.live.set(source, [...(this.live.get(source) ?? []), element]);
    return element;
  }

  mark({ isSelected, problems, hasStop, isPaused }) {
    const worst = problems?.find((one) => one.severity === "error") ?? problems?.[0];
    const describe = ({ pin, message }) => (pin ? `${pin}: ${message}` : message);
    const message = problems?.map(describe).join("\n") ?? "";
    const state = `${isSelected} ${hasStop} ${isPaused} ${message}`;
    if (this.state === state && this.marked === this.built) return;
    Object.assign(this, { state, marked: this.built, problem: message });
    const names = this.element.classList;
    names.toggle("selected", isSelected);
    names.toggle("paused", isPaused);
    names.toggle("error", worst?.severity === "error");
    names.toggle("warning", Boolean(worst) && worst.severity !== "error");
    this.stop.hidden = !hasStop;
    this.alarm.hidden = !worst;
    const wrong = new Set(problems?.map((one) => one.pin));
    for (const pin of this.body.querySelectorAll(".pin")) {
      pin.classList.toggle("wrong", wrong.has(pin.dataset.pin));
    }
    this.label();
  }

  // Shows the last values of pins, and how often the node ran.
  showLive(values, count, isLit) {
    for (const [source, elements] of this.live) {
      const text = cut(values[source] ?? "", LAST_WIDTH, "11px mono");
      for (const element of elements) setText(element, text);
    }
    showText(this.count, count ? `×${count}` : "");
    if (this.isLit !== isLit) this.element.classList.toggle("lit", isLit);
    this.isLit = isLit;
  }
}
