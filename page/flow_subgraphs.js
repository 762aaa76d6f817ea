// Subgraphs: moving the selected nodes of a graph into a new graph, and a subgraph's nodes into the
// graph that uses it. Independent of the DOM.

import { removal } from "./flow_edit.js";
import { copy } from "./flow_model.js";
import {
  GRID,
  WIDTH,
  bounds,
  gridPlace,
  splitPin,
  splitWire,
  wireKey,
  wireOf,
} from "./flow_types.js";

const [IN, OUT] = ["inputs", "outputs"];

// Returns a name that a block does not have: the name itself, or with a number.
function freeName(block, name) {
  const base = name.replace(/\W/g, "_").replace(/^[^A-Za-z]+/, "") || "value";
  for (let at = 1; ; at += 1) {
    const found = at === 1 ? base : `${base}${at}`;
    if (!Object.hasOwn(block, found)) return found;
  }
}

// Returns the variables that only the chosen nodes use, or throws an error about shared ones.
function ownVariables(editor, inside) {
  const [own, others] = [new Set(), new Set()];
  for (const { id, node, settings } of editor.layout().nodes.values()) {
    for (const setting of settings.filter((one) => one.type === "variable")) {
      (inside.has(id) ? own : others).add(node[setting.name]);
    }
  }
  const shared = [...own].filter((name) => others.has(name));
  if (shared.length) {
    const names = shared.join(", ");
    throw new Error(
      `other nodes use these variables, too: ${names}. Wire their values in instead.`,
    );
  }
  return [...own].filter((name) => editor.model.get("variables", name) !== undefined);
}

// Collects what crosses the border of the chosen nodes, as inputs and outputs of the new graph.
function crossings(editor, inside) {
  const inner = { inputs: {}, outputs: {}, events: {}, nodes: {}, outInputs: {} };
  const outer = { inputs: {}, changes: [] };
  const [ins, outs] = [new Map(), new Map()];
  const pinType = (wire) =>
    editor
      .layout()
      .nodes.get(wire.to)
      ?.inputs.find((pin) => pin.name === wire.toPin)?.type;
  const named = (map, block, key, name, type) => {
    if (!map.has(key)) {
      map.set(key, freeName(block, name));
      block[map.get(key)] = { type: type ?? "any" };
    }
    return map.get(key);
  };
  for (const wire of editor.layout().wires) {
    const [from, to] = [inside.has(wire.from), inside.has(wire.to)];
    const source = `${wire.from}.${wire.fromPin}`;
    const target = `${wire.to}.${wire.toPin}`;
    if (from && to && wire.event) inner.events[wire.key] = true;
    else if (!from && to) {
      const key = wire.event ? target : source;
      const name = named(ins, inner.inputs, key, wire.toPin, wire.event ? "event" : pinType(wire));
      if (wire.event) {
        inner.events[wireKey(IN, name, wire.to, wire.toPin)] = true;
        outer.changes.push(["in", wire.from, wire.fromPin, name]);
      } else {
        outer.inputs[name] = { wire: source };
        inner.nodes[wire.to] ??= {};
        inner.nodes[wire.to][wire.toPin] = { wire: `${IN}.${name}` };
      }
    } else if (from && !to) {
      const type = wire.event ? "event" : wire.type;
      const name = named(outs, inner.outputs, source, wire.fromPin, type);
      if (wire.event) inner.events[wireKey(wire.from, wire.fromPin, OUT, name)] = true;
      else inner.outInputs[name] = { wire: source };
      outer.changes.push(["out", wire, name]);
    }
  }
  return { inner, outer };
}

// Returns the groups of only these nodes, and the selected comments, for the new graph.
function innerRemarks(editor, inside, [left, top]) {
  const result = {};
  for (const [name, group] of Object.entries(editor.model.block("groups"))) {
    const members = Object.keys(group?.nodes ?? {});
    if (!members.length || !members.every((id) => inside.has(id))) continue;
    result.groups ??= {};
    result.groups[name] = copy(group);
  }
  for (const name of chosenComments(editor)) {
    const comment = copy(editor.model.get("comments", name));
    comment.position = movedBy(comment.position, -left, -top);
    result.comments ??= {};
    result.comments[name] = comment;
  }
  return result;
}

const chosenComments = (editor) =>
  [...editor.selection].filter((key) => key.startsWith("c:")).map((key) => key.slice(2));

// Moves a position of a source, in units of the grid.
function movedBy(position, x, y) {
  const [px, py] = Array.isArray(position) ? position.map(Number) : [0, 0];
  return [Math.round(px + x) || 0, Math.round(py + y) || 0];
}

// Returns the source of the new graph.
function innerSource(editor, ids, inner, variables) {
  const layout = editor.layout();
  const boxes = ids.map((id) => layout.nodes.get(id));
  const around = bounds(boxes);
  const [left, top, right] = [around.left, around.top, around.right - WIDTH].map((part) =>
    Math.round(part / GRID),
  );
  const source = { nodes: {}, positions: {} };
  for (const box of boxes) {
    const node = copy(box.node);
    if (inner.nodes[box.id]) node.inputs = { ...node.inputs, ...inner.nodes[box.id] };
    source.nodes[box.id] = node;
    const [x, y] = gridPlace(box);
    source.positions[box.id] = [x - left, y - top];
  }
  const step = WIDTH / GRID + 4;
  if (Object.keys(inner.inputs).length) {
    source.inputs = inner.inputs;
    source.nodes[IN] = { type: "graph.inputs" };
    source.positions[IN] = [-step, 0];
  }
  if (Object.keys(inner.outputs).length) {
    source.outputs = inner.outputs;
    source.nodes[OUT] = { type: "graph.outputs" };
    if (Object.keys(inner.outInputs).length) source.nodes[OUT].inputs = inner.outInputs;
    source.positions[OUT] = [right - left + step, 0];
  }
  if (Object.keys(inner.events).length) source.events = inner.events;
  const remarks = innerRemarks(editor, new Set(ids), [left, top]);
  Object.assign(source, remarks);
  if (variables.length) {
    source.variables = {};
    for (const name of variables)
      source.variables[name] = copy(editor.model.get("variables", name));
  }
  return source;
}

// Returns the selected nodes and the variables that move with them, or throws an error that says
// why they cannot become a subgraph.
export function extractable(editor) {
  const { model } = editor;
  const ids = editor.chosen;
  const taken = ids.filter((id) => /^graph\.(in|out)puts$/.test(model.get("nodes", id, "type")));
  if (!ids.length) throw new Error("select the nodes that become a subgraph");
  if (taken.length) throw new Error("the inputs and outputs of the graph itself cannot move");
  if (ids.includes(IN) || ids.includes(OUT)) {
    throw new Error("a selected node has the id 'inputs' or 'outputs', which the subgraph needs");
  }
  return { ids, variables: ownVariables(editor, new Set(ids)) };
}

// Moves the selected nodes into the new graph `name` (without its ending), and puts a node that
// uses it in their place.
export async function extract(editor, name) {
  const { serial } = editor;
  const { ids, variables } = extractable(editor);
  const inside = new Set(ids);
  const { inner, outer } = crossings(editor, inside);
  const source = JSON.stringify(innerSource(editor, ids, inner, variables));
  const comments = chosenComments(editor);
  const answer = await editor.ask("flow_save", { graph: `${name}.flow`, base: "{}", source });
  if (!answer.saved) throw new Error(`there is already a graph '${name}'`);
  if (serial !== editor.serial) return;
  const id = editor.newId();
  const around = bounds(ids.map((one) => editor.layout().nodes.get(one)));
  const node = { type: "graph", graph: name };
  if (Object.keys(outer.inputs).length) node.inputs = outer.inputs;
  const place = [
    Math.round((around.left + around.right - WIDTH) / 2 / GRID),
    Math.round((around.top + around.bottom) / 2 / GRID),
  ];
  const changes = [
    ...removal(editor, ids),
    ...comments.map((one) => [["comments", one], undefined]),
    [["nodes", id], node],
    [["positions", id], place],
    ...variables.map((one) => [["variables", one], undefined]),
  ];
  for (const [side, a, b, c] of outer.changes) {
    if (side === "in") changes.push([["events", wireKey(a, b, id, c)], true]);
    else changes.push(...editor.wiring(id, b, a.to, a.toPin, a.event));
  }
  editor.change(`extract ${name}`, changes);
  editor.select([id]);
}

// Returns the inner nodes with new ids and resolved inputs.
function innerNodes(editor, id, tree, ids, renamedVariables) {
  const node = editor.model.get("nodes", id);
  const find = (type) =>
    Object.keys(tree.nodes ?? {}).find((one) => tree.nodes[one]?.type === type) ?? null;
  const [input, output] = [find("graph.inputs"), find("graph.outputs")];
  // The value of an inner input: a wire to an inner node, or what the outer node has.
  const resolve = (value) => {
    const source = wireOf(value);
    if (source === null) return copy(value);
    const [from, pin] = splitPin(source);
    if (from === input) {
      return copy(node.inputs?.[pin] ?? tree.inputs?.[pin]?.value);
    }
    return ids.has(from) ? { wire: `${ids.get(from)}.${pin}` } : undefined;
  };
  const nodes = new Map();
  for (const [old, fresh] of ids) {
    const one = copy(tree.nodes[old]);
    for (const [pin, value] of Object.entries(one.inputs ?? {})) {
      const next = resolve(value);
      if (next === undefined) delete one.inputs[pin];
      else one.inputs[pin] = next;
    }
    const settings = editor.catalogue?.nodes.get(one.type)?.settings ?? [];
    for (const setting of settings.filter((it) => it.type === "variable")) {
      const variable = one[setting.name];
      one[setting.name] = renamedVariables.get(variable) ?? variable;
    }
    nodes.set(fresh, one);
  }
  return { input, output, nodes, resolve };
}

// Returns the event wires that replace those of the subgraph's node.
function innerEvents(editor, id, tree, ids, input, output) {
  const keys = [];
  const wires = Object.keys(tree.events ?? {}).map(splitWire);
  const outside = editor.layout().wires.filter((wire) => wire.event);
  const before = (pin) => outside.filter((wire) => wire.to === id && wire.toPin === pin);
  const after = (pin) => outside.filter((wire) => wire.from === id && wire.fromPin === pin);
  for (const [from, fromPin, to, toPin] of wires) {
    const starts =
      from === input
        ? before(fromPin).map((wire) => [wire.from, wire.fromPin])
        : ids.has(from)
          ? [[ids.get(from), fromPin]]
          : [];
    const ends =
      to === output
        ? after(toPin).map((wire) => [wire.to, wire.toPin])
        : ids.has(to)
          ? [[ids.get(to), toPin]]
          : [];
    for (const start of starts) for (const end of ends) keys.push(wireKey(...start, ...end));
  }
  return keys;
}

// Returns the changes that add the comments and groups of a subgraph, with new ids.
function outerRemarks(editor, tree, ids, shift) {
  const changes = [];
  for (const comment of Object.values(tree.comments ?? {})) {
    const position = movedBy(comment?.position, ...shift);
    changes.push([["comments", editor.newId("comments", "c")], { ...copy(comment), position }]);
  }
  for (const group of Object.values(tree.groups ?? {})) {
    const members = Object.keys(group?.nodes ?? {}).filter((old) => ids.has(old));
    if (!members.length) continue;
    const nodes = Object.fromEntries(members.map((old) => [ids.get(old), true]));
    changes.push([["groups", editor.newId("groups", "g")], { ...copy(group), nodes }]);
  }
  return changes;
}

// Replaces a node that uses a subgraph by the nodes of that graph.
export async function inline(editor, id) {
  const { model, serial } = editor;
  const name = model.get("nodes", id, "graph");
  if (model.get("nodes", id, "type") !== "graph" || typeof name !== "string") {
    throw new Error("select a node that uses a subgraph");
  }
  const answer = await editor.ask("flow_open", { graph: `${name}.flow` });
  if (serial !== editor.serial) return;
  const tree = JSON.parse(answer.source);
  const renamedVariables = new Map();
  const changes = [];
  const variables = { ...model.block("variables") };
  for (const [variable, value] of Object.entries(tree.variables ?? {})) {
    const fresh = freeName(variables, variable);
    variables[fresh] = value;
    renamedVariables.set(variable, fresh);
    changes.push([["variables", fresh], value]);
  }
  const borders = new Set(["graph.inputs", "graph.outputs"]);
  const olds = Object.keys(tree.nodes ?? {}).filter((one) => !borders.has(tree.nodes[one]?.type));
  const ids = new Map(olds.map((old) => [old, editor.newId()]));
  const { input, output, nodes, resolve } = innerNodes(editor, id, tree, ids, renamedVariables);
  const results = tree.nodes?.[output]?.inputs ?? {};
  const box = editor.layout().nodes.get(id);
  const [left, top] = gridPlace(box);
  const places = olds.map((old) => movedBy(tree.positions?.[old], 0, 0));
  const [minX, minY] = [0, 1].map((axis) => Math.min(...places.map((place) => place[axis]), 9999));
  const shift = [left - minX, top - minY];
  // The node goes first, because its removal also ends wires that are made again below.
  const after = [...removal(editor, [id]), ...changes];
  for (const [fresh, node] of nodes) after.push([["nodes", fresh], node]);
  olds.forEach((old, at) => {
    after.push([["positions", ids.get(old)], movedBy(places[at], ...shift)]);
  });
  after.push(...outerRemarks(editor, tree, ids, shift));
  for (const key of innerEvents(editor, id, tree, ids, input, output))
    after.push([["events", key], true]);
  for (const wire of editor.layout().wires) {
    if (wire.event || wire.from !== id) continue;
    after.push([["nodes", wire.to, "inputs", wire.toPin], resolve(results[wire.fromPin])]);
  }
  editor.change(`inline ${name}`, after);
  editor.select(ids.values());
}
