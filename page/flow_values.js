// Controls for the values of inputs and settings, by type. A control calls `commit(value)` with
// each value that is valid, and with undefined when it is emptied.

import { make, setText } from "./dom.js";
import { literalText } from "./flow_types.js";

const VECTORS = { vector: ["x", "y", "z"], rotation: ["x", "y", "z"] };
const RESOURCES_MAX = 200;

const textInput = (label, value, more = {}) =>
  make("input", { type: "text", "aria-label": label, value, spellcheck: "false", ...more });

function numberInput(label, value, placeholder, commit) {
  const input = make("input", {
    type: "number",
    step: "any",
    "aria-label": label,
    value: typeof value === "number" ? value : "",
    placeholder: literalText(placeholder),
  });
  input.addEventListener("input", () => {
    if (input.value === "" && !input.validity.badInput) commit(undefined);
    else if (Number.isFinite(input.valueAsNumber)) commit(input.valueAsNumber);
  });
  return input;
}

// Several numbers, side by side. A part that is empty counts as that of the default, or as 0.
function vectorInput(label, names, value, standard, commit) {
  const parts = Array.isArray(value) ? [...value] : [];
  const fallback = Array.isArray(standard) ? standard : [];
  const all = parts.length === 4 && names.length === 3 ? [...names, "w"] : names;
  const inputs = all.map((name, at) =>
    numberInput(`${label} ${name}`, parts[at], fallback[at] ?? name, (number) => {
      parts[at] = number;
      const none = all.every((_, index) => parts[index] === undefined);
      commit(none ? undefined : all.map((_, index) => parts[index] ?? fallback[index] ?? 0));
    }),
  );
  return make("span", { class: "parts" }, ...inputs);
}

// Returns options for a select: an unset value, the choices, and a value that is not one of them.
function options(choices, value, standard) {
  const names = choices.map((one) => (Array.isArray(one) ? one : [one, literalText(one)]));
  const known = names.some(([name]) => name === value);
  if (value !== undefined && !known) names.unshift([value, `${literalText(value)} (unknown)`]);
  const unset = standard === undefined ? "–" : `${literalText(standard)} (default)`;
  return { names, unset };
}

function choiceInput(label, choices, value, standard, commit) {
  const { names, unset } = options(choices, value, standard);
  const select = make(
    "select",
    { "aria-label": label },
    make("option", { value: "" }, unset),
    ...names.map(([, text], at) => make("option", { value: at }, text)),
  );
  const at = names.findIndex(([name]) => name === value);
  select.value = at < 0 ? "" : String(at);
  select.addEventListener("change", () => {
    commit(select.value === "" ? undefined : names[Number(select.value)][0]);
  });
  return select;
}

function checkInput(label, value, standard, commit) {
  const box = make("input", { type: "checkbox", "aria-label": label });
  box.checked = Boolean(value ?? standard);
  if (value === undefined) box.classList.add("unset");
  box.addEventListener("change", () => commit(box.checked));
  return box;
}

const hex = (part) =>
  Math.round(Math.min(255, Math.max(0, part || 0)))
    .toString(16)
    .padStart(2, "0");

// Returns "#rrggbb" and the opacity, up to 1, of a color in any of its forms.
export function colorParts(value) {
  if (Array.isArray(value)) {
    const [r, g, b, a] = value.map(Number);
    return [`#${hex(r)}${hex(g)}${hex(b)}`, (a ?? 255) / 255];
  }
  const long = String(value ?? "").replace(/^#(\w)(\w)(\w)$/, "#$1$1$2$2$3$3");
  const match = /^#([0-9a-f]{6})([0-9a-f]{2})?$/i.exec(long);
  if (!match) return ["#ffffff", 1];
  return [`#${match[1]}`, match[2] ? Number.parseInt(match[2], 16) / 255 : 1];
}

function colorInput(label, value, standard, commit) {
  const [color, opacity] = colorParts(value ?? standard);
  const input = make("input", { type: "color", "aria-label": label, value: color });
  const share = make("input", {
    type: "number",
    "aria-label": `${label}: opacity`,
    min: 0,
    max: 1,
    step: 0.05,
    value: Math.round(opacity * 100) / 100,
  });
  const send = () => {
    const part = share.valueAsNumber;
    commit(part < 1 ? `${input.value}${hex(part * 255)}` : input.value);
  };
  input.addEventListener("input", send);
  share.addEventListener("input", send);
  return make("span", { class: "parts" }, input, share);
}

// A number, true, false, or any other text.
function anyInput(label, value, standard, commit) {
  const input = textInput(label, literalText(value), { placeholder: literalText(standard) });
  input.addEventListener("input", () => {
    const text = input.value;
    if (text === "") commit(undefined);
    else if (text === "true" || text === "false") commit(text === "true");
    else commit(/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);
  });
  return input;
}

// Any text.
function anyText(label, value, standard, commit) {
  const input = textInput(label, literalText(value), { placeholder: literalText(standard) });
  input.addEventListener("input", () => commit(input.value === "" ? undefined : input.value));
  return input;
}

// A text, with a button that lists what could be named here.
function namedInput(label, value, standard, commit, pick) {
  const input = anyText(label, value, standard, commit);
  const choose = (name) => {
    input.value = name;
    commit(name);
    input.focus();
  };
  const button = make(
    "button",
    { class: "pick", "aria-label": `${label}: choose from a list`, title: "Choose from a list" },
    "…",
  );
  button.addEventListener("click", () => pick(input.value, choose, button));
  return make("span", { class: "named" }, input, button);
}

// Asks for the names of the game's resources of a kind, without their endings.
export async function resourceNames(editor, kind) {
  const fields = kind ? { kind, max: RESOURCES_MAX * 20 } : { max: RESOURCES_MAX * 20 };
  const { resources } = await editor.ask("resources", fields);
  const cut = (name) =>
    kind && name.endsWith(`.${kind}`) ? name.slice(0, -kind.length - 1) : name;
  return [...new Set(resources.map((one) => cut(one.name)))].sort();
}

// Creates the control of an input of a node. `pick(title, names, choose, near)` shows a list.
export function makeValue({ editor, pin, value, label, commit, pick }) {
  const standard = pin.default === "self" ? undefined : pin.default;
  const listed = (names) => (_, choose, near) => pick(label, names, choose, near);
  if (pin.choices) return choiceInput(label, pin.choices, value, standard, commit);
  switch (pin.type) {
    case "boolean":
      return checkInput(label, value, standard, commit);
    case "number":
      return numberInput(label, value, standard, commit);
    case "vector":
    case "rotation":
      return vectorInput(label, VECTORS[pin.type], value, standard, commit);
    case "color":
      return colorInput(label, value, standard, commit);
    case "resource": {
      const names = () => resourceNames(editor, pin.resource);
      return namedInput(label, value, standard, commit, listed(names));
    }
    case "any":
      return anyInput(label, value, standard, commit);
    case "unit":
    case "handle":
      return namedInput(
        label,
        value,
        standard,
        commit,
        listed(async () => editor.units),
      );
    default:
      return anyText(label, value, standard, commit);
  }
}

// Reads "1, 2" or "open, shut" as a block of cases.
function readCases(text) {
  const parts = text.split(",").map((part) => part.trim());
  return Object.fromEntries(parts.filter((part) => part !== "").map((part) => [part, true]));
}

// Curves as lines "name: time value, time value".
export function curvesText(curves) {
  const line = ([name, points]) => {
    const list = Array.isArray(points) ? points : [];
    return `${name}: ${list.map((point) => [point].flat().join(" ")).join(", ")}`;
  };
  return Object.entries(curves ?? {})
    .map(line)
    .join("\n");
}

// Reads lines of curves. Throws an error that names the wrong line.
export function readCurves(text) {
  const curves = {};
  for (const line of text.split("\n").filter((one) => one.trim())) {
    const match = /^\s*([A-Za-z]\w*)\s*:(.*)$/.exec(line);
    if (!match) throw new Error(`'${line}': a line is like: height: 0 0, 1.5 2`);
    const points = match[2].split(",").map((part) => part.trim().split(/\s+/).map(Number));
    const bad = points.some((one) => one.length !== 2 || !one.every(Number.isFinite));
    if (bad) throw new Error(`'${match[1]}': each point is a time and a value, such as 1.5 2`);
    curves[match[1]] = points;
  }
  return curves;
}

// The curves of a timeline: their lines, and what is wrong with them.
function curvesInput(label, value, commit) {
  const text = make("textarea", { "aria-label": label, rows: 2, spellcheck: "false" });
  text.value = curvesText(value);
  text.placeholder = "height: 0 0, 1 2";
  text.addEventListener("input", () => {
    try {
      const curves = readCurves(text.value);
      commit(Object.keys(curves).length ? curves : undefined);
      text.setCustomValidity("");
      text.title = "";
    } catch (error) {
      text.setCustomValidity(error.message);
      text.title = error.message;
    }
  });
  return text;
}

// Creates the control of a setting of a node.
export function makeSetting({ editor, setting, value, label, commit, pick }) {
  const standard = setting.default;
  if (setting.choices) return choiceInput(label, setting.choices, value, standard, commit);
  switch (setting.type) {
    case "variable": {
      const names = Object.keys(editor.model.block("variables")).sort();
      return choiceInput(label, names, value, undefined, commit);
    }
    case "number":
      return numberInput(label, value, standard, commit);
    case "type":
      return choiceInput(label, editor.catalogue.types, value, standard, commit);
    case "graph": {
      const list = async () => {
        const { graphs } = await editor.ask("flow_graphs");
        const names = graphs.map((one) => one.graph).filter((name) => name.endsWith(".flow"));
        return names.map((name) => name.slice(0, -".flow".length));
      };
      const shown = (_, choose, near) => pick(label, list, choose, near);
      return namedInput(label, value, standard, commit, shown);
    }
    case "cases": {
      const input = textInput(label, literalText(value), { placeholder: "1, 2, 3" });
      input.addEventListener("input", () => {
        const cases = readCases(input.value);
        commit(Object.keys(cases).length ? cases : undefined);
      });
      return input;
    }
    case "curves":
      return curvesInput(label, value, commit);
    default:
      return anyText(label, value, standard, commit);
  }
}

// Sets the text of an element, and hides it if there is none. An attribute is set only if it
// differs, because even an equal one costs a new style.
export function showText(element, text) {
  if (element.hidden !== !text) element.hidden = !text;
  setText(element, text ?? "");
}
