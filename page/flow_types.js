// The catalogue of Flow: types of values, conversions, types of nodes and their pins, and the
// positions of pins on a node. Independent of the DOM.

// Sizes in CSS pixels at zoom 1. A position in the source counts in units of the grid.
export const GRID = 16;
export const WIDTH = 13 * GRID;
export const HEAD = 30;
export const ROW = 24;
export const FOOT = 6;

// A position or size in a source that is larger counts as this, in units of the grid.
const POSITION_MAX = 100000;

// Converts a position or size of a source to pixels.
export const pixels = (part) =>
  Math.max(-POSITION_MAX, Math.min(POSITION_MAX, Number(part) || 0)) * GRID;

// Types whose values can be written in the source.
const LITERALS = new Set([
  "number",
  "boolean",
  "text",
  "vector",
  "rotation",
  "color",
  "resource",
  "any",
]);

// Splits "NODE.PIN". Ids of nodes have no dots, pins may.
export function splitPin(text) {
  const dot = text.indexOf(".");
  return [text.slice(0, dot), text.slice(dot + 1)];
}

// Splits the key of an event wire: "NODE.PIN > NODE.PIN".
export function splitWire(key) {
  const [from, to] = key.split(">").map((part) => part.trim());
  return [...splitPin(from ?? ""), ...splitPin(to ?? "")];
}

export const wireKey = (from, fromPin, to, toPin) => `${from}.${fromPin} > ${to}.${toPin}`;

// The source of an input that has a wire, or null.
export const wireOf = (value) => (typeof value?.wire === "string" ? value.wire : null);

// Returns the inputs of a node that have wires: name, node and pin of the source.
export function wiredInputs(node) {
  const all = Object.entries(node?.inputs ?? {}).map(([pin, value]) => [pin, wireOf(value)]);
  return all.filter(([, source]) => source !== null).map(([pin, it]) => [pin, ...splitPin(it)]);
}

// Makes a text for people from the value of an input.
export function literalText(value) {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.join(", ");
  if (value !== null && typeof value === "object") return Object.keys(value).join(", ");
  return JSON.stringify(value);
}

export class Catalogue {
  constructor(answer) {
    this.types = answer.types;
    this.nodes = new Map(answer.nodes.map((row) => [row.type, row]));
    this.conversions = new Map(answer.conversions.map((one) => [`${one.from} ${one.to}`, one]));
  }

  // Returns "same", "converted", "checked" (while the game runs), or null if a wire cannot be.
  wire(from, to) {
    if (from === to) return "same";
    const found = this.conversions.get(`${from} ${to}`);
    if (!found) return null;
    return found.checked ? "checked" : "converted";
  }

  // Returns true if an input of this type and graph can have a literal.
  literal(pin, units) {
    const isNamed = pin.type === "unit" || pin.type === "handle";
    return isNamed ? units.length > 0 : LITERALS.has(pin.type);
  }

  // Returns the pins of a node of this type with which a pin of the other side can be wired.
  partners(row, pin, isOutput) {
    const pins = isOutput ? row.inputs : row.outputs;
    return pins.filter((one) =>
      this.wire(...(isOutput ? [pin.type, one.type] : [one.type, pin.type])),
    );
  }

  // Returns the kind that colors a node.
  kind(row) {
    if (!row) return "unknown";
    if (row.kind === "event" || row.kind === "graph") return row.kind;
    if (row.origin === "script") return "script";
    return row.kind;
  }
}

// Returns the rows of a node: settings first, then pins of events side by side, then outputs, then
// inputs with their values.
export function rowsOf(settings, inputs, outputs) {
  const rows = settings.map((setting) => ({ setting }));
  const isEvent = (pin) => pin.type === "event";
  const [ins, outs] = [inputs.filter(isEvent), outputs.filter(isEvent)];
  for (let at = 0; at < Math.max(ins.length, outs.length); at += 1) {
    rows.push({ input: ins[at], output: outs[at] });
  }
  for (const output of outputs) if (!isEvent(output)) rows.push({ output });
  for (const input of inputs) if (!isEvent(input)) rows.push({ input });
  return rows;
}

// Returns the rectangle around boxes: nodes at their positions, in pixels; null without any.
export function bounds(boxes) {
  if (!boxes.length) return null;
  const rect = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { x, y, shape } of boxes) {
    rect.left = Math.min(rect.left, x);
    rect.top = Math.min(rect.top, y);
    rect.right = Math.max(rect.right, x + WIDTH);
    rect.bottom = Math.max(rect.bottom, y + shape.height);
  }
  return rect;
}

// The position of a node in units of the grid.
export const gridPlace = (box) => [Math.round(box.x / GRID), Math.round(box.y / GRID)];

// The shape of a node: its rows, its height, and the offsets of its pins.
export function shapeOf(settings, inputs, outputs) {
  const rows = rowsOf(settings, inputs, outputs);
  const pins = { input: new Map(), output: new Map() };
  rows.forEach((row, at) => {
    for (const side of ["input", "output"]) {
      if (row[side]) pins[side].set(row[side].name, { pin: row[side], y: HEAD + (at + 0.5) * ROW });
    }
  });
  return { rows, pins, height: HEAD + rows.length * ROW + FOOT };
}
