// Edits of a Flow graph as changes of its source: removing, moving, aligning, copying, comments,
// groups, renaming, usages. Independent of the DOM.

import { copy } from "./flow_model.js";
import {
  GRID,
  WIDTH,
  bounds,
  gridPlace,
  shapeOf,
  splitWire,
  wireKey,
  wiredInputs,
} from "./flow_types.js";

const MARK = "engine_flow";
const PASTED_MAX = 5000;
// As in src/system/flow/old_names.rs.
const OLD_NAMES_MAX = 16;
const NAME = /^[A-Za-z]\w{0,31}$/;

// Returns the changes that remove nodes, with their wires, positions and memberships.
export function removal(editor, ids) {
  const gone = new Set(ids);
  const changes = [];
  for (const wire of editor.layout().wires) {
    if (gone.has(wire.from) || gone.has(wire.to)) changes.push(...editor.unwiring(wire));
  }
  for (const id of gone) {
    changes.push([["nodes", id], undefined], [["positions", id], undefined]);
  }
  for (const [name, group] of Object.entries(editor.model.block("groups"))) {
    const members = Object.keys(group.nodes ?? {});
    if (!members.some((id) => gone.has(id))) continue;
    if (members.every((id) => gone.has(id))) changes.push([["groups", name], undefined]);
    else {
      for (const id of members.filter((one) => gone.has(one))) {
        changes.push([["groups", name, "nodes", id], undefined]);
      }
    }
  }
  return changes;
}

// Returns the nearest position below a point, in units of the grid, where a new node of a type
// covers no other one.
export function freePlace(editor, row, [x, y]) {
  const { height } = shapeOf(row?.settings ?? [], row?.inputs ?? [], row?.outputs ?? []);
  const boxes = [...editor.layout().nodes.values()];
  let [left, top] = [Math.round(x), Math.round(y)];
  for (;;) {
    const [x1, y1] = [left * GRID, top * GRID];
    const covered = boxes.find(
      (box) =>
        box.x < x1 + WIDTH + GRID &&
        box.x + WIDTH + GRID > x1 &&
        box.y < y1 + height + GRID &&
        box.y + box.shape.height + GRID > y1,
    );
    if (!covered) return [left, top];
    top = Math.ceil((covered.y + covered.shape.height) / GRID) + 1;
  }
}

// Removes the selection: nodes, comments, groups (not their nodes), or a wire.
export function removeSelection(editor) {
  const wire = editor.wire && editor.layout().byKey.get(editor.wire);
  if (wire) {
    editor.change("remove a wire", editor.unwiring(wire));
    return;
  }
  const changes = removal(editor, editor.chosen);
  for (const key of editor.selection) {
    if (key.startsWith("c:")) changes.push([["comments", key.slice(2)], undefined]);
    if (key.startsWith("g:")) changes.push([["groups", key.slice(2)], undefined]);
  }
  if (changes.length) editor.change("remove", changes);
}

// Moves nodes and comments by units of the grid.
export function moveBy(editor, keys, x, y, join = null) {
  const layout = editor.layout();
  const changes = [];
  for (const key of keys) {
    if (key.startsWith("c:")) {
      const path = ["comments", key.slice(2), "position"];
      const [cx, cy] = editor.model.get(...path) ?? [0, 0];
      changes.push([path, [cx + x, cy + y]]);
    } else if (layout.nodes.has(key)) {
      const [nx, ny] = gridPlace(layout.nodes.get(key));
      changes.push([
        ["positions", key],
        [nx + x, ny + y],
      ]);
    }
  }
  editor.change("move", changes, { join });
}

// Aligns the selected nodes: "left", "right", "top", "bottom", or spaces them evenly: "across",
// "down".
export function align(editor, how) {
  const boxes = editor.chosen.map((id) => editor.layout().nodes.get(id)).filter(Boolean);
  if (boxes.length < 2) return;
  const place = new Map(boxes.map((box) => [box.id, gridPlace(box)]));
  const height = (box) => Math.ceil(box.shape.height / GRID);
  const side = (index, far) =>
    Math[far ? "max" : "min"](
      ...boxes.map((box) => place.get(box.id)[index] + (far && index === 1 ? height(box) : 0)),
    );
  const even = (index) => {
    const sorted = [...boxes].sort((a, b) => place.get(a.id)[index] - place.get(b.id)[index]);
    const size = (box) => (index === 0 ? WIDTH / GRID : height(box));
    const [first, last] = [place.get(sorted[0].id), place.get(sorted.at(-1).id)];
    const used = sorted.slice(0, -1).reduce((sum, box) => sum + size(box), 0);
    const gap = Math.max(1, (last[index] - first[index] - used) / (sorted.length - 1));
    let at = first[index];
    for (const box of sorted) {
      place.get(box.id)[index] = Math.round(at);
      at += size(box) + gap;
    }
  };
  if (how === "across") even(0);
  else if (how === "down") even(1);
  else {
    const index = how === "left" || how === "right" ? 0 : 1;
    const edge = side(index, how === "right" || how === "bottom");
    for (const box of boxes)
      place.get(box.id)[index] = how === "bottom" ? edge - height(box) : edge;
  }
  editor.change(
    `align ${how}`,
    [...place].map(([id, at]) => [["positions", id], at]),
  );
}

// Returns a part of the graph as a text: nodes, the wires between them, variables, comments.
export function copyText(editor) {
  const { model } = editor;
  const ids = editor.chosen;
  const inside = new Set(ids);
  const part = { nodes: {}, events: {}, positions: {}, comments: {}, variables: {} };
  const layout = editor.layout();
  for (const id of ids) {
    const { node, settings } = layout.nodes.get(id);
    part.nodes[id] = copy(node);
    part.positions[id] = gridPlace(layout.nodes.get(id));
    for (const setting of settings.filter((one) => one.type === "variable")) {
      const variable = model.get("variables", node[setting.name]);
      if (variable) part.variables[node[setting.name]] = copy(variable);
    }
  }
  for (const wire of layout.wires) {
    if (wire.event && inside.has(wire.from) && inside.has(wire.to)) part.events[wire.key] = true;
  }
  for (const key of editor.selection) {
    if (key.startsWith("c:"))
      part.comments[key.slice(2)] = copy(model.get("comments", key.slice(2)));
  }
  if (!ids.length && !Object.keys(part.comments).length) return null;
  return JSON.stringify({ [MARK]: part }, null, 2);
}

// Returns the part of a graph in a text, or null.
function readPart(text) {
  try {
    const part = JSON.parse(text)?.[MARK];
    const isTree = (value) => value && typeof value === "object" && !Array.isArray(value);
    if (!isTree(part) || !isTree(part.nodes ?? {})) return null;
    if (Object.keys(part.nodes ?? {}).length > PASTED_MAX) return null;
    return part;
  } catch {
    return null;
  }
}

// Returns a node with the nodes of its wires renamed by a map. Wires from other nodes stay only if
// those exist.
function renamed(editor, node, ids) {
  const result = copy(node);
  for (const [pin, from, fromPin] of wiredInputs(result)) {
    if (ids.has(from)) result.inputs[pin] = { wire: `${ids.get(from)}.${fromPin}` };
    else if (editor.model.get("nodes", from) === undefined) delete result.inputs[pin];
  }
  return result;
}

// Inserts a part of a graph at a point (in units of the grid), with new ids, and selects it.
export function pasteText(editor, text, at) {
  const part = readPart(text);
  if (!part) {
    editor.note("the text of the clipboard is no part of a graph", "warning");
    return;
  }
  const ids = new Map(Object.keys(part.nodes ?? {}).map((id) => [id, editor.newId()]));
  const places = [
    ...Object.values(part.positions ?? {}),
    ...Object.values(part.comments ?? {}).map((one) => one?.position),
  ].filter((one) => Array.isArray(one) && one.every(Number.isFinite));
  const least = (index) => Math.min(...places.map((place) => place[index]));
  const [left, top] = places.length ? [least(0), least(1)] : [0, 0];
  const moved = (place) => {
    const [x, y] = Array.isArray(place) ? place : [left, top];
    return [Math.round(x - left + at[0]) || 0, Math.round(y - top + at[1]) || 0];
  };
  const changes = [];
  for (const [old, id] of ids) {
    changes.push([["nodes", id], renamed(editor, part.nodes[old], ids)]);
    changes.push([["positions", id], moved(part.positions?.[old])]);
  }
  for (const key of Object.keys(part.events ?? {})) {
    const [from, fromPin, to, toPin] = splitWire(key);
    if (!ids.has(from) || !ids.has(to)) continue;
    changes.push([["events", wireKey(ids.get(from), fromPin, ids.get(to), toPin)], true]);
  }
  for (const [name, variable] of Object.entries(part.variables ?? {})) {
    if (editor.model.get("variables", name) === undefined)
      changes.push([["variables", name], variable]);
  }
  const comments = [];
  for (const comment of Object.values(part.comments ?? {})) {
    const id = editor.newId("comments", "c");
    changes.push([["comments", id], { ...comment, position: moved(comment?.position) }]);
    comments.push(`c:${id}`);
  }
  editor.change("paste", changes);
  editor.select([...ids.values(), ...comments]);
}

// Adds a comment around the selection, or at a point. Returns its key.
export function addComment(editor, at) {
  const boxes = editor.chosen.map((id) => editor.layout().nodes.get(id)).filter(Boolean);
  const id = editor.newId("comments", "c");
  let [position, size] = [at, [16, 6]];
  if (boxes.length) {
    const { left, top, right, bottom } = bounds(boxes);
    position = [Math.floor(left / GRID) - 1, Math.floor(top / GRID) - 3];
    size = [Math.ceil((right - left) / GRID) + 2, Math.ceil((bottom - top) / GRID) + 4];
  }
  editor.change("add a comment", [[["comments", id], { text: "", position, size }]]);
  editor.select([`c:${id}`]);
  return `c:${id}`;
}

// Makes the selected nodes a group. If one group is selected, too, they are added to it, or removed
// if they are in it. Returns the key of a new group, or null.
export function addGroup(editor) {
  const ids = editor.chosen;
  const groups = [...editor.selection].filter((key) => key.startsWith("g:"));
  if (!ids.length) return null;
  if (groups.length === 1) {
    const path = ["groups", groups[0].slice(2), "nodes"];
    const isMember = (id) => editor.model.get(...path, id) !== undefined;
    const isRemoval = ids.every(isMember);
    const value = isRemoval ? undefined : true;
    const label = isRemoval ? "remove from the group" : "add to the group";
    editor.change(
      label,
      ids.map((id) => [[...path, id], value]),
    );
    return null;
  }
  const id = editor.newId("groups", "g");
  const nodes = Object.fromEntries(ids.map((one) => [one, true]));
  editor.change("add a group", [[["groups", id], { title: "", nodes }]]);
  editor.select([`g:${id}`]);
  return `g:${id}`;
}

// Returns the message of what is wrong with a new name in a block, or null.
export function wrongName(editor, block, name) {
  if (!NAME.test(name)) {
    return `'${name}' is no name: a letter, then letters, digits or _, at most 32 characters`;
  }
  if (editor.model.get(block, name) !== undefined) return `there is already a '${name}'`;
  return null;
}

// Returns a pin of a shared graph under a new name. It keeps the names by which the files of other
// graphs know it, so that these follow.
function renamedPin(editor, block, from, to) {
  const pin = editor.model.get(block, from);
  if (pin === null || typeof pin !== "object") return pin;
  const isSaved = editor.model.base?.[block]?.[from] !== undefined;
  const before = [isSaved ? from : [], pin.was ?? []].flat();
  const was = [...new Set(before)].filter((name) => name !== to).slice(0, OLD_NAMES_MAX);
  const { was: _, ...rest } = pin;
  if (!was.length) return rest;
  return { ...rest, was: was.length === 1 ? was[0] : was };
}

// Returns the changes by which other pins forget the old names of a pin: a name means one pin.
function forgottenNames(editor, block, from, value) {
  const taken = new Set([value?.was ?? []].flat());
  const changes = [];
  for (const [name, pin] of Object.entries(editor.model.block(block))) {
    if (name === from || !pin?.was) continue;
    const before = [pin.was].flat();
    const was = before.filter((old) => !taken.has(old));
    if (was.length === before.length) continue;
    const kept = was.length > 1 ? was : was[0];
    changes.push([[block, name, "was"], kept]);
  }
  return changes;
}

// Renames a variable, an input or an output of the graph, and all that names it in this graph.
export function rename(editor, block, from, to) {
  const wrong = wrongName(editor, block, to);
  if (wrong) {
    editor.note(wrong, "error");
    return false;
  }
  const isShared = block !== "variables" && editor.kind === "flow";
  const value = isShared ? renamedPin(editor, block, from, to) : editor.model.get(block, from);
  const changes = [
    [[block, from], undefined],
    [[block, to], value],
  ];
  if (isShared) changes.push(...forgottenNames(editor, block, from, value));
  const layout = editor.layout();
  for (const { id, node, settings } of layout.nodes.values()) {
    if (block === "variables") {
      for (const setting of settings) {
        if (setting.type !== "variable" || node[setting.name] !== from) continue;
        changes.push([["nodes", id, setting.name], to]);
      }
    }
    if (block === "outputs" && node.type === "graph.outputs" && node.inputs?.[from] !== undefined) {
      changes.push([["nodes", id, "inputs", from], undefined]);
      changes.push([["nodes", id, "inputs", to], node.inputs[from]]);
    }
  }
  for (const wire of block === "variables" ? [] : layout.wires) {
    const type = (id) => layout.nodes.get(id)?.node.type;
    const isInput = block === "inputs" && type(wire.from) === "graph.inputs";
    const isOutput = block === "outputs" && type(wire.to) === "graph.outputs";
    const fromPin = isInput && wire.fromPin === from ? to : wire.fromPin;
    const toPin = isOutput && wire.toPin === from ? to : wire.toPin;
    if (fromPin === wire.fromPin && (toPin === wire.toPin || !wire.event)) continue;
    changes.push(...editor.unwiring(wire));
    changes.push(...editor.wiring(wire.from, fromPin, wire.to, toPin, wire.event));
  }
  editor.change(`rename ${from} to ${to}`, changes);
  if (value?.was) editor.note(`renamed: graphs that use '${from}' follow when this one is saved`);
  return true;
}

// Returns the ids of the nodes that use a variable, an input or an output of the graph.
export function usesOf(editor, block, name) {
  const { nodes, wires } = editor.layout();
  if (block === "variables") {
    const isUse = ({ node, settings }) =>
      settings.some((one) => one.type === "variable" && node[one.name] === name);
    return [...nodes.values()].filter(isUse).map((box) => box.id);
  }
  const isOf = (id, type) => nodes.get(id)?.node.type === type;
  const uses = wires.map((wire) => {
    if (block === "inputs")
      return isOf(wire.from, "graph.inputs") && wire.fromPin === name ? wire.to : null;
    return isOf(wire.to, "graph.outputs") && wire.toPin === name ? wire.from : null;
  });
  return [...new Set(uses.filter((id) => id !== null))];
}

// Returns the nodes of a source whose texts contain a text: [id, the text that was found].
export function findText(tree, text) {
  const wanted = text.toLowerCase();
  const found = [];
  const search = (value) => {
    if (typeof value === "string") return value.toLowerCase().includes(wanted) ? value : null;
    if (value === null || typeof value !== "object") return null;
    for (const [key, inner] of Object.entries(value)) {
      const hit = key.toLowerCase().includes(wanted) ? key : search(inner);
      if (hit !== null) return hit;
    }
    return null;
  };
  for (const [id, node] of Object.entries(tree?.nodes ?? {})) {
    const hit = id.toLowerCase() === wanted ? id : search(Object.values(node ?? {}));
    if (hit !== null) found.push([id, hit]);
  }
  return found;
}
