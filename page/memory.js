// Memory by owner, scripts' variables by name, and growth since a chosen moment.

import { bytes, make, makeTable, setText } from "./dom.js";
import { Graph } from "./graph.js";

const HELD_SHOWN = 100;
// Prefix that no owner of the engine uses.
const SCRIPTS = "scripts: ";
const HEADS = ["owner", "", "bytes", "blocks", "since the mark", "blocks since"];

// Returns the rows of an answer: scripts with what they hold, then the owners of the engine.
// `walk` is the last walk over the memory of scripts.
function rowsOf(answer, walk) {
  const scripts = {
    name: "scripts (Lua)",
    path: SCRIPTS,
    parents: 0,
    bytes: answer.scripts,
    blocks: null,
  };
  const below = walk.held.slice(0, HELD_SHOWN).map((one) => ({
    name: one.name,
    path: `${SCRIPTS}${one.name}`,
    parents: 1,
    bytes: one.bytes,
    blocks: one.objects,
    more: walk.since == null ? null : one.more_bytes,
    moreBlocks: walk.since == null ? null : one.more_objects,
  }));
  return [scripts, ...below, ...answer.rows];
}

// The table of owners. Its rows stay the same elements while they are shown.
class OwnerTable {
  constructor() {
    this.body = make("tbody", {});
    this.element = makeTable({}, HEADS, 2, this.body);
    this.rows = new Map();
  }

  // `marked` has the rows at the mark by path.
  draw(rows, marked, onlyGrown) {
    const whole = Math.max(1, ...rows.map((row) => row.bytes));
    const seen = new Set();
    let last = null;
    for (const row of rows) {
      const before = marked.get(row.path);
      const more = row.more ?? row.bytes - (before?.bytes ?? 0);
      if (onlyGrown && more <= 0) continue;
      seen.add(row.path);
      const known = this.known(row);
      // Only moves rows whose position changed.
      const next = last ? last.nextElementSibling : this.body.firstElementChild;
      if (next !== known.line) this.body.insertBefore(known.line, next);
      last = known.line;
      known.bar.style.width = `${(Math.max(0, row.bytes) / whole) * 100}%`;
      this.drawCells(known.cells, row, more, before, marked.size > 0);
    }
    for (const [path, { line }] of this.rows) if (!seen.has(path)) line.remove();
  }

  known(row) {
    let known = this.rows.get(row.path);
    if (known) return known;
    const bar = make("div", { class: "amount" });
    const cells = Array.from({ length: 4 }, () => make("td", { class: "number" }));
    const indent = `padding-left: ${10 + row.parents * 16}px`;
    const name = make("td", { title: row.path, style: indent }, row.name);
    const line = make("tr", {}, name, make("td", { class: "amounts" }, bar), ...cells);
    known = { line, bar, cells };
    this.rows.set(row.path, known);
    return known;
  }

  drawCells(cells, row, more, before, isMarked) {
    const sign = (value, format) =>
      !isMarked || value === 0 ? "" : `${value > 0 ? "+" : "−"}${format(Math.abs(value))}`;
    const blocks = row.moreBlocks ?? (row.blocks == null ? 0 : row.blocks - (before?.blocks ?? 0));
    const texts = [
      bytes(row.bytes),
      row.blocks == null ? "" : String(row.blocks),
      sign(more, bytes),
      sign(blocks, String),
    ];
    texts.forEach((text, at) => setText(cells[at], text));
    cells[2].classList.toggle("grown", isMarked && more > 0);
  }
}

export function openMemory(panel, connection) {
  const mark = make("button", { title: "Remembers the current memory, to show growth" }, "Mark");
  // The walk pauses the game, so it only runs on request.
  const walk = make("button", { title: "Lists memory that scripts hold now" }, "Look into scripts");
  const grown = make("input", { type: "checkbox" });
  const figures = make("span", { class: "figures grow" });
  const graph = new Graph("MiB", ["in all", "scripts"], {
    height: 120,
    fromZero: true,
    unit: "MiB",
    axis: "second",
  });
  const table = new OwnerTable();
  panel.append(
    make("div", { class: "bar" }, mark, walk, make("label", {}, grown, "only what grew"), figures),
    make("div", { class: "graphs one" }, graph.element),
    make("div", { class: "scroll" }, table.element),
  );

  let entered = false;
  let marked = new Map();
  let lastTick = 0;
  const began = performance.now();
  const walked = { held: [], since: null };

  const draw = (answer) => {
    if (answer.held) Object.assign(walked, { held: answer.held, since: answer.marked ?? null });
    const rows = rowsOf(answer, walked);
    const sum = rows
      .filter((row) => row.parents === 0)
      .reduce((total, row) => total + row.bytes, 0);
    const most = `${bytes(sum)}, scripts at most ${bytes(answer.scripts_most)}`;
    const since = walked.since == null ? "" : `, mark: frame ${walked.since}`;
    const counted = answer.counts ? most : `${most}; this run does not count Rust's memory`;
    setText(figures, counted + since);
    setText(walk, walked.since == null ? "Look into scripts" : "What grew in scripts?");
    // The time axis is the seconds that the view has been open.
    lastTick = Math.max(lastTick + 1, Math.round((performance.now() - began) / 500));
    graph.add(lastTick / 2, [[sum / (1 << 20)], [answer.scripts / (1 << 20)]]);
    graph.draw();
    table.draw(rows, marked, grown.checked);
  };

  let asking = false;
  const look = async (fields) => {
    if (!entered || asking) return;
    asking = true;
    try {
      const answer = await connection.ask("memory", fields ?? {});
      if (fields?.mark) {
        marked = new Map(answer.rows.map((row) => [row.path, row]));
        marked.set(SCRIPTS, { bytes: answer.scripts });
      }
      draw(answer);
    } catch (error) {
      // The connection reports its own end; a walk may also time out.
      if (fields) connection.emit("message", { level: "error", message: error.message });
    } finally {
      asking = false;
    }
  };
  // If a request is in progress, the clicked one is sent after it.
  const surely = (fields) => (asking ? setTimeout(() => surely(fields), 50) : look(fields));
  mark.addEventListener("click", () => surely({ mark: true }));
  walk.addEventListener("click", () => surely({ walk: true }));
  grown.addEventListener("change", () => look());
  setInterval(() => look(), 500);
  return {
    enter() {
      entered = true;
      look();
    },
    leave() {
      entered = false;
    },
  };
}
