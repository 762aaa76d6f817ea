// The table of scopes: their averages while the game runs, or the scopes of one chosen frame.

import { make, makeTable, setText } from "./dom.js";

const HEADS = ["scope", "calls", "ms", "own ms", "min %", "avg %", "max %"];

// Returns the rows of the running averages, each with its path as a key.
function averages(names, threads) {
  return threads.flatMap((thread, lane) => {
    const path = [];
    return thread.rows.map(([name, parents, calls, seconds, own, ...percents]) => {
      path.length = parents;
      path.push(names[name]);
      const key = `${lane}/${path.join("/")}`;
      return { key, lane, thread, name: names[name], parents, calls, seconds, own, percents };
    });
  });
}

// Returns the rows of one frame: the scopes of equal path as one row, parents first.
export function frameRows(frame) {
  const scopes = [...frame.scopes].sort((a, b) => a[0] - b[0] || a[3] - b[3] || a[2] - b[2]);
  const roots = [];
  let open = [];
  let lane = null;
  for (const [thread, number, depth, , seconds] of scopes) {
    if (thread !== lane) [lane, open] = [thread, []];
    open.length = Math.min(open.length, depth);
    const parent = open.at(-1);
    const siblings = parent ? parent.children : roots;
    const name = frame.names[number] ?? "";
    let row = siblings.find((one) => one.name === name && one.lane === thread);
    if (!row) {
      const key = `${parent?.key ?? thread}/${name}`;
      row = { key, lane: thread, name, calls: 0, seconds: 0, own: 0, children: [] };
      siblings.push(row);
    }
    row.calls += 1;
    row.seconds += seconds;
    row.own += seconds;
    if (parent) parent.own -= seconds;
    open.push(row);
  }
  const rows = [];
  const add = (row, parents) => {
    rows.push({ ...row, parents, thread: frame.threads[row.lane] });
    for (const child of row.children) add(child, parents + 1);
  };
  for (const row of roots) add(row, 0);
  return rows;
}

export class ScopeTable {
  constructor() {
    this.body = make("tbody", {});
    this.caption = make("caption", {});
    this.element = makeTable({}, HEADS, 1, this.body);
    this.element.prepend(this.caption);
  }

  // Shows the scopes of a frame, or the averages if `frame` is null.
  draw(names, threads, frame) {
    const known = averages(names, threads);
    const percents = new Map(known.map((row) => [row.key, row.percents]));
    const rows = frame ? frameRows(frame) : known;
    const more = frame?.left_out ? `; ${frame.left_out} scopes are missing` : "";
    setText(this.caption, frame ? `Frame ${frame.index}${more}` : "Last frame and averages");
    while (this.body.children.length > rows.length) this.body.lastChild.remove();
    rows.forEach((row, at) => this.drawRow(at, row, row.percents ?? percents.get(row.key)));
  }

  drawRow(at, { name, lane, parents, thread, calls, seconds, own }, percents) {
    const line = this.body.children[at] ?? this.body.appendChild(this.emptyRow());
    const texts = [
      `${lane && parents === 0 ? `${thread?.name ?? ""}: ` : ""}${name}`,
      String(calls),
      (seconds * 1000).toFixed(3),
      (Math.max(0, own) * 1000).toFixed(3),
      ...[0, 1, 2].map((column) => percents?.[column]?.toFixed(1) ?? "–"),
    ];
    texts.forEach((text, column) => setText(line.children[column], text));
    line.firstChild.style.paddingLeft = `${10 + parents * 14}px`;
  }

  emptyRow() {
    const cells = HEADS.slice(1).map(() => make("td", { class: "number" }));
    return make("tr", {}, make("td", {}), ...cells);
  }
}
