// Memory by owner, scripts' variables by name, and growth since a chosen moment.

import { bytes, make, setText } from "./dom.js";
import { Graph } from "./graphs.js";

const HELD_SHOWN = 100;
// Prefix that no owner of the engine uses.
const SCRIPTS = "scripts: ";

export function openMemory(panel, connection) {
  const mark = make("button", { title: "Remembers the current memory, to show growth" }, "Mark");
  // The walk pauses the game, so it only runs on request.
  const walk = make("button", { title: "Lists memory that scripts hold now" }, "Look into scripts");
  const grown = make("input", { type: "checkbox" });
  const figures = make("span", {
    class: "grow",
    style: "font: 12px var(--mono); color: var(--dim)",
  });
  const graph = new Graph("MiB", ["in all", "scripts"], { height: 120, fromZero: true });
  const body = make("tbody", {});
  const heads = ["owner", "", "bytes", "blocks", "since the mark", "blocks since"];
  panel.append(
    make("div", { class: "bar" }, mark, walk, make("label", {}, grown, "only what grew"), figures),
    make("div", { class: "graphs", style: "grid-template-columns: 1fr" }, graph.element),
    make(
      "div",
      { class: "scroll" },
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            ...heads.map((name, at) => make("th", { class: at > 1 ? "number" : "" }, name)),
          ),
        ),
        body,
      ),
    ),
  );

  let entered = false;
  let marked = new Map();
  let newest = [];
  let lastTick = 0;
  const began = performance.now();
  let held = [];
  let since = null;
  const rows = new Map();

  // Memory held by scripts, as rows below the row of scripts.
  const below = () =>
    held.slice(0, HELD_SHOWN).map((one) => ({
      name: one.name,
      path: `${SCRIPTS}${one.name}`,
      parents: 1,
      bytes: one.bytes,
      blocks: one.objects,
      more: since == null ? null : one.more_bytes,
      moreBlocks: since == null ? null : one.more_objects,
    }));

  const draw = (answer) => {
    if (answer.held) {
      held = answer.held;
      since = answer.marked ?? null;
    }
    const scripts = {
      name: "scripts (Lua)",
      path: SCRIPTS,
      parents: 0,
      bytes: answer.scripts,
      blocks: null,
    };
    newest = [scripts, ...below(), ...answer.rows];
    const whole = Math.max(1, ...newest.map((row) => row.bytes));
    const sum = newest
      .filter((row) => row.parents === 0)
      .reduce((total, row) => total + row.bytes, 0);
    const most = `${bytes(sum)}, scripts at most ${bytes(answer.scripts_most)}`;
    const frames = since == null ? "" : `, mark: frame ${since}`;
    const counted = answer.counts ? most : `${most}; this run does not count Rust's memory`;
    setText(figures, counted + frames);
    setText(walk, since == null ? "Look into scripts" : "What grew in scripts?");
    // The time axis is the seconds that the view has been open.
    lastTick = Math.max(lastTick + 1, Math.round((performance.now() - began) / 500));
    graph.add(lastTick / 2, [[sum / (1 << 20)], [answer.scripts / (1 << 20)]]);
    graph.draw();
    const seen = new Set();
    let last = null;
    for (const row of newest) {
      const before = marked.get(row.path);
      const more = row.more ?? row.bytes - (before?.bytes ?? 0);
      if (grown.checked && more <= 0) continue;
      seen.add(row.path);
      let known = rows.get(row.path);
      if (!known) {
        const bar = make("div", {
          style: "height: 8px; background: #3f6d9c; border-radius: 2px; min-width: 1px",
        });
        const cells = Array.from({ length: 4 }, () => make("td", { class: "number" }));
        const line = make(
          "tr",
          {},
          make(
            "td",
            { title: row.path, style: `padding-left: ${10 + row.parents * 16}px` },
            row.name,
          ),
          make("td", { style: "width: 28%" }, bar),
          ...cells,
        );
        known = { line, bar, cells };
        rows.set(row.path, known);
      }
      // Only moves rows whose position changed.
      const next = last ? last.nextElementSibling : body.firstElementChild;
      if (next !== known.line) body.insertBefore(known.line, next);
      last = known.line;
      known.bar.style.width = `${(Math.max(0, row.bytes) / whole) * 100}%`;
      const sign = (value, format) =>
        !marked.size || value === 0 ? "" : `${value > 0 ? "+" : "−"}${format(Math.abs(value))}`;
      const blocks =
        row.moreBlocks ?? (row.blocks == null ? 0 : row.blocks - (before?.blocks ?? 0));
      [
        bytes(row.bytes),
        row.blocks == null ? "" : String(row.blocks),
        sign(more, bytes),
        sign(blocks, String),
      ].forEach((text, at) => setText(known.cells[at], text));
      known.cells[2].style.color = marked.size && more > 0 ? "var(--warn)" : "";
    }
    for (const [path, { line }] of rows) if (!seen.has(path)) line.remove();
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
