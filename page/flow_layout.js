// Automatic layout of a graph: columns by the order of events, queries left of what uses them, few
// crossings. Independent of the DOM.

import { GRID, WIDTH } from "./flow_types.js";

const GAP_ACROSS = 4;
const GAP_DOWN = 2;
const SWEEPS = 6;

// Returns the wires without those that close a cycle, by depth-first search without recursion.
function acyclic(ids, wires) {
  const next = new Map(ids.map((id) => [id, []]));
  for (const wire of wires) next.get(wire.from).push(wire);
  const state = new Map();
  const kept = [];
  for (const root of ids) {
    if (state.has(root)) continue;
    state.set(root, "open");
    const stack = [[root, 0]];
    while (stack.length) {
      const top = stack.at(-1);
      const wire = next.get(top[0])[top[1]];
      top[1] += 1;
      if (!wire) {
        state.set(top[0], "done");
        stack.pop();
      } else if (state.get(wire.to) !== "open") {
        kept.push(wire);
        if (!state.has(wire.to)) {
          state.set(wire.to, "open");
          stack.push([wire.to, 0]);
        }
      }
    }
  }
  return kept;
}

// Returns the column of each node: the longest way to it. Then nodes without a way to them, mostly
// queries, move next to their first user.
function columnsOf(ids, wires) {
  const [into, out, open] = [new Map(), new Map(), new Map()];
  for (const id of ids) {
    into.set(id, []);
    out.set(id, []);
    open.set(id, 0);
  }
  for (const { from, to } of wires) {
    into.get(to).push(from);
    out.get(from).push(to);
    open.set(to, open.get(to) + 1);
  }
  const column = new Map(ids.map((id) => [id, 0]));
  const ready = ids.filter((id) => open.get(id) === 0);
  const order = [];
  while (ready.length) {
    const id = ready.shift();
    order.push(id);
    for (const to of out.get(id)) {
      column.set(to, Math.max(column.get(to), column.get(id) + 1));
      open.set(to, open.get(to) - 1);
      if (open.get(to) === 0) ready.push(to);
    }
  }
  for (const id of order.reverse()) {
    if (into.get(id).length > 0 || out.get(id).length === 0) continue;
    column.set(id, Math.min(...out.get(id).map((to) => column.get(to))) - 1);
  }
  return column;
}

// Orders the nodes of columns by the middle of their neighbours.
function orderColumns(columns, wires) {
  const place = new Map();
  const number = () => columns.forEach((list) => list.forEach((id, at) => place.set(id, at)));
  number();
  const near = new Map();
  const add = (a, b) => near.set(a, [...(near.get(a) ?? []), b]);
  for (const { from, to } of wires) {
    add(from, to);
    add(to, from);
  }
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const list = sweep % 2 ? [...columns].reverse() : columns;
    for (const ids of list) {
      const middle = (id) => {
        const all = near.get(id) ?? [];
        if (!all.length) return place.get(id);
        return all.reduce((sum, one) => sum + place.get(one), 0) / all.length;
      };
      const keys = new Map(ids.map((id) => [id, middle(id)]));
      ids.sort((a, b) => keys.get(a) - keys.get(b));
      number();
    }
  }
}

// Lays out the selected nodes, or all of them, and returns the changes of their positions.
export function autoLayout(editor) {
  const layout = editor.layout();
  const some = editor.chosen.length > 1 ? editor.chosen : [...layout.nodes.keys()];
  const inside = new Set(some);
  const boxes = some.map((id) => layout.nodes.get(id));
  if (!boxes.length) return;
  // The order of today decides between equals, so that a second layout changes nothing.
  boxes.sort((a, b) => a.y - b.y || a.x - b.x || (a.id < b.id ? -1 : 1));
  const ids = boxes.map((box) => box.id);
  const joined = layout.wires.filter((wire) => inside.has(wire.from) && inside.has(wire.to));
  const wires = acyclic(ids, joined);
  const column = columnsOf(ids, wires);
  const first = Math.min(...column.values());
  const columns = [];
  for (const id of ids) (columns[column.get(id) - first] ??= []).push(id);
  for (let at = 0; at < columns.length; at += 1) columns[at] ??= [];
  orderColumns(columns, wires);
  const left = Math.round(Math.min(...boxes.map((box) => box.x)) / GRID);
  const top = Math.round(Math.min(...boxes.map((box) => box.y)) / GRID);
  const high = (id) => Math.ceil(layout.nodes.get(id).shape.height / GRID) + GAP_DOWN;
  const heights = columns.map((list) => list.reduce((sum, id) => sum + high(id), 0));
  const tallest = Math.max(...heights);
  const changes = [];
  columns.forEach((list, at) => {
    let y = top + Math.floor((tallest - heights[at]) / 2);
    for (const id of list) {
      changes.push([
        ["positions", id],
        [left + at * (WIDTH / GRID + GAP_ACROSS), y],
      ]);
      y += high(id);
    }
  });
  editor.change("lay out", changes);
}
