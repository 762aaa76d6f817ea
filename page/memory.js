// Who holds how much memory, and what grew since a moment of one's choice.

import { bytes, make, say } from "./dom.js";
import { Graph } from "./graphs.js";

export function openMemory(panel, connection) {
  const mark = make("button", { title: "Shows what grew since now" }, "Mark");
  const grown = make("input", { type: "checkbox" });
  const figures = make("span", {
    class: "grow",
    style: "font: 12px var(--mono); color: var(--dim)",
  });
  const graph = new Graph("MiB in all / of scripts", ["in all", "scripts"], { height: 120 });
  const body = make("tbody", {});
  const heads = ["owner", "", "bytes", "blocks", "since the mark", "blocks since"];
  panel.append(
    make("div", { class: "bar" }, mark, make("label", {}, grown, "only what grew"), figures),
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
            ...heads.map((word, at) => make("th", { class: at > 1 ? "number" : "" }, word)),
          ),
        ),
        body,
      ),
    ),
  );

  let entered = false;
  let marked = new Map();
  let newest = [];
  let told = 0;
  const rows = new Map();

  const draw = (answer) => {
    newest = [...answer.rows];
    newest.push({
      name: "scripts (Lua)",
      path: "\uffff",
      parents: 0,
      bytes: answer.scripts,
      blocks: null,
    });
    const whole = Math.max(1, ...newest.map((row) => row.bytes));
    const sum = newest
      .filter((row) => row.parents === 0)
      .reduce((total, row) => total + row.bytes, 0);
    const most = `${bytes(sum)} in all, scripts at most ${bytes(answer.scripts_most)}`;
    say(figures, answer.counts ? most : `${most}; this run does not count what Rust holds`);
    told += 1;
    graph.add(told, [[sum / (1 << 20)], [answer.scripts / (1 << 20)]]);
    graph.draw();
    const seen = new Set();
    for (const row of newest) {
      const before = marked.get(row.path);
      const more = before ? row.bytes - before.bytes : row.bytes;
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
      body.append(known.line);
      known.bar.style.width = `${(Math.max(0, row.bytes) / whole) * 100}%`;
      const sign = (value, words) =>
        !marked.size || value === 0 ? "" : `${value > 0 ? "+" : "−"}${words(Math.abs(value))}`;
      const blocks = row.blocks == null ? 0 : row.blocks - (before?.blocks ?? 0);
      [
        bytes(row.bytes),
        row.blocks == null ? "" : String(row.blocks),
        sign(more, bytes),
        sign(blocks, String),
      ].forEach((word, at) => say(known.cells[at], word));
      known.cells[2].style.color = marked.size && more > 0 ? "var(--warn)" : "";
    }
    for (const [path, { line }] of rows) if (!seen.has(path)) line.remove();
  };

  let asking = false;
  const look = async () => {
    if (!entered || asking) return;
    asking = true;
    try {
      draw(await connection.ask("memory"));
    } catch {
      // The connection tells when it ends.
    } finally {
      asking = false;
    }
  };
  mark.addEventListener("click", () => {
    marked = new Map(newest.map((row) => [row.path, row]));
    look();
  });
  grown.addEventListener("change", look);
  setInterval(look, 500);
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
