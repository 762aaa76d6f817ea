// Automatic layout of a graph: columns by the order of events, queries left of what uses them, few
// crossings, straight wires. Connected parts are laid out one below the other. Independent of the
// DOM. After Sugiyama, Tagawa and Toda (1981): layers, ordering by barycenters, coordinates.

import { GRID, WIDTH, bounds } from "./flow_types.js";

const GAP_ACROSS = 4;
const GAP_DOWN = 2;
// A wire that passes a column keeps this much of it free.
const LANE = 2;
const GAP_PARTS = 4;
const SWEEPS = 8;
const STRAIGHTENINGS = 12;
// Wires that pass more columns than this in all have no lanes.
const LANES_MAX = 20000;
// Nodes without wires are in rows of this many.
const LOOSE_ACROSS = 6;
// How much wires of events are straightened, compared to wires of values.
const EVENT_WEIGHT = 5;

// Returns the wires without those that close a cycle, by depth-first search without recursion. It
// begins where events begin, so that the wires that lead back are those that close a cycle.
function acyclic(ids, wires, isQuery) {
  const targets = new Set(wires.map((wire) => wire.to));
  const begins = ids.filter((id) => !targets.has(id) && !isQuery(id));
  const next = new Map(ids.map((id) => [id, []]));
  for (const wire of wires) next.get(wire.from).push(wire);
  const state = new Map();
  const kept = [];
  for (const root of [...begins, ...ids]) {
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

// Returns the column of each node: the longest way to it. Then queries, and nodes without a way to
// them, move next to their first user.
function columnsOf(ids, wires, isQuery) {
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
  const order = ids.filter((id) => open.get(id) === 0);
  for (let at = 0; at < order.length; at += 1) {
    const id = order[at];
    for (const to of out.get(id)) {
      column.set(to, Math.max(column.get(to), column.get(id) + 1));
      open.set(to, open.get(to) - 1);
      if (open.get(to) === 0) order.push(to);
    }
  }
  for (const id of order.reverse()) {
    const users = out.get(id);
    if (users.length === 0 || (into.get(id).length > 0 && !isQuery(id))) continue;
    const nearest = Math.min(...users.map((to) => column.get(to))) - 1;
    column.set(id, Math.max(nearest, into.get(id).length ? column.get(id) : nearest));
  }
  return column;
}

// Returns the connected parts of the nodes, in the order of their first nodes.
function partsOf(ids, wires) {
  const parent = new Map(ids.map((id) => [id, id]));
  const root = (id) => {
    let at = id;
    while (parent.get(at) !== at) {
      parent.set(at, parent.get(parent.get(at)));
      at = parent.get(at);
    }
    return at;
  };
  for (const { from, to } of wires) parent.set(root(to), root(from));
  const parts = new Map();
  for (const id of ids) {
    if (!parts.has(root(id))) parts.set(root(id), []);
    parts.get(root(id)).push(id);
  }
  return [...parts.values()];
}

function link(from, to, fromY, toY, weight) {
  from.right.push({ item: to, shift: toY - fromY, at: fromY, weight });
  to.left.push({ item: from, shift: fromY - toY, at: fromY, weight });
}

// Returns columns of items: nodes, and the lanes of wires that pass a column. Sizes count in units
// of the grid.
function columnItems(ids, wires, column, layout) {
  const first = Math.min(...column.values());
  const columns = [];
  const add = (id, at, height) => {
    const item = { id, height, order: 0, y: 0, left: [], right: [] };
    (columns[at] ??= []).push(item);
    return item;
  };
  const items = new Map();
  for (const id of ids) {
    const height = Math.ceil(layout.nodes.get(id).shape.height / GRID) + GAP_DOWN;
    items.set(id, add(id, column.get(id) - first, height));
  }
  let lanes = 0;
  for (const wire of wires) {
    const weight = wire.event ? EVENT_WEIGHT : 1;
    const [start, end] = [column.get(wire.from) - first, column.get(wire.to) - first];
    let [item, y] = [items.get(wire.from), wire.fromY / GRID];
    lanes += end - start - 1;
    for (let at = start + 1; at < end && lanes < LANES_MAX; at += 1) {
      const lane = add(null, at, LANE);
      link(item, lane, y, LANE / 2, weight * 2);
      [item, y] = [lane, LANE / 2];
    }
    link(item, items.get(wire.to), y, wire.toY / GRID, weight);
  }
  for (let at = 0; at < columns.length; at += 1) columns[at] ??= [];
  return columns;
}

// Orders the items of columns by the middle of their neighbours, from the left and from the right.
function orderColumns(columns) {
  const number = (list) => list.forEach((item, at) => Object.assign(item, { order: at }));
  columns.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const side = sweep % 2 ? "right" : "left";
    for (const list of sweep % 2 ? [...columns].reverse() : columns) {
      const middle = (item) => {
        const links = item[side];
        if (!links.length) return item.order;
        const share = (one) => one.item.order + one.at / (one.item.height + one.at + 1);
        return links.reduce((sum, one) => sum + share(one), 0) / links.length;
      };
      const keys = new Map(list.map((item) => [item, middle(item)]));
      list.sort((a, b) => keys.get(a) - keys.get(b));
      number(list);
    }
  }
}

// Moves the items of a column as near as possible to their wishes without overlaps: the least sum
// of squares, by pooling neighbours that would overlap.
function settle(list, wishes, weights) {
  const pools = [];
  let offset = 0;
  list.forEach((item, at) => {
    pools.push({ sum: (wishes[at] - offset) * weights[at], weight: weights[at], items: [item] });
    item.offset = offset;
    offset += item.height;
    for (;;) {
      const [before, last] = pools.slice(-2);
      if (!last || before.sum / before.weight <= last.sum / last.weight) break;
      pools.pop();
      before.sum += last.sum;
      before.weight += last.weight;
      before.items.push(...last.items);
    }
  });
  for (const { sum, weight, items } of pools) {
    for (const item of items) item.y = Math.round(sum / weight) + item.offset;
  }
}

// Straightens wires: each item moves to the middle of where its wires on one side come from.
function straighten(columns) {
  for (const list of columns)
    settle(
      list,
      list.map(() => 0),
      list.map(() => 1),
    );
  for (let pass = 0; pass < STRAIGHTENINGS; pass += 1) {
    const isBack = pass % 2 === 1;
    const isLast = pass >= STRAIGHTENINGS - 2;
    for (const list of isBack ? [...columns].reverse() : columns) {
      const linksOf = (item) => {
        const one = isBack ? item.right : item.left;
        return isLast || !one.length ? [...item.left, ...item.right] : one;
      };
      const all = list.map(linksOf);
      const weights = all.map((links) => links.reduce((sum, one) => sum + one.weight, 0) || 0.1);
      const wishes = all.map((links, at) => {
        if (!links.length) return list[at].y;
        const sum = links.reduce((total, one) => total + (one.item.y + one.shift) * one.weight, 0);
        return sum / weights[at];
      });
      settle(list, wishes, weights);
    }
  }
}

// Returns the position of each node of a part, and its height. The part begins at 0, 0.
function placePart(ids, wires, layout) {
  const isEvent = (pin) => pin.type === "event";
  const isQuery = (id) => {
    const box = layout.nodes.get(id);
    return !box.inputs.some(isEvent) && !box.outputs.some(isEvent);
  };
  const kept = acyclic(ids, wires, isQuery);
  const columns = columnItems(ids, kept, columnsOf(ids, kept, isQuery), layout);
  orderColumns(columns);
  straighten(columns);
  const places = [];
  columns.forEach((list, at) => {
    for (const { id, y, height } of list.filter((item) => item.id !== null)) {
      places.push({ id, x: at * (WIDTH / GRID + GAP_ACROSS), y, bottom: y + height });
    }
  });
  return places;
}

// Returns the positions of nodes without wires: rows.
function placeLoose(ids, layout) {
  const places = [];
  let [y, bottom] = [0, 0];
  ids.forEach((id, at) => {
    if (at % LOOSE_ACROSS === 0) y = bottom;
    const height = Math.ceil(layout.nodes.get(id).shape.height / GRID) + GAP_DOWN;
    bottom = Math.max(bottom, y + height);
    const x = (at % LOOSE_ACROSS) * (WIDTH / GRID + GAP_ACROSS);
    places.push({ id, x, y, bottom: y + height });
  });
  return places;
}

// Returns the positions of some nodes of a layout, in units of the grid: [id, [x, y]]. They begin
// at a point.
export function placesOf(layout, boxes, [left, from]) {
  const inside = new Set(boxes.map((box) => box.id));
  // The order of today decides between equals, so that a second layout changes little.
  const sorted = [...boxes].sort((a, b) => a.y - b.y || a.x - b.x || (a.id < b.id ? -1 : 1));
  const wires = layout.wires.filter((wire) => inside.has(wire.from) && inside.has(wire.to));
  const parts = partsOf(
    sorted.map((box) => box.id),
    wires,
  );
  const joined = parts.filter((part) => part.length > 1);
  const all = joined.map((part) => {
    const own = new Set(part);
    return placePart(
      part,
      wires.filter((wire) => own.has(wire.from)),
      layout,
    );
  });
  all.push(placeLoose(parts.filter((part) => part.length === 1).flat(), layout));
  const found = [];
  let top = from;
  for (const places of all.filter((one) => one.length > 0)) {
    const first = Math.min(...places.map((place) => place.y));
    for (const { id, x, y } of places) found.push([id, [left + x, top + y - first]]);
    top += Math.max(...places.map((place) => place.bottom)) - first + GAP_PARTS - GAP_DOWN;
  }
  return found;
}

// Lays out the selected nodes, or all of them, as one change of their positions.
export function autoLayout(editor) {
  const layout = editor.layout();
  const some = editor.chosen.length > 1 ? editor.chosen : [...layout.nodes.keys()];
  const boxes = some.map((id) => layout.nodes.get(id));
  const around = bounds(boxes);
  if (!around) return;
  const origin = [around.left, around.top].map((part) => Math.round(part / GRID));
  const changes = placesOf(layout, boxes, origin).map(([id, at]) => [["positions", id], at]);
  editor.change("lay out", changes);
}
