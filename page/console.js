// The log, and a console for lines of Lua that run in the game, with history and completion.

import { make, setText } from "./dom.js";

const LINES_MAX = 2000;
const HISTORY_MAX = 200;

export function openConsole(panel, connection) {
  const filter = make("input", {
    type: "search",
    placeholder: "filter",
    "aria-label": "Filter of the log",
  });
  const level = make(
    "select",
    { "aria-label": "Level" },
    ...["everything", "warnings", "errors"].map((name) => make("option", {}, name)),
  );
  const clear = make("button", {}, "Clear");
  const lines = make("ol", { id: "lines", tabindex: "0", "aria-label": "Log", role: "log" });
  const entry = make("textarea", {
    id: "lua",
    rows: "1",
    spellcheck: "false",
    autocomplete: "off",
    "aria-label": "Lua that runs in the game",
    "aria-controls": "completions",
    placeholder: "a line of Lua that runs in the game, or a command: help",
  });
  const completions = make("ul", {
    id: "completions",
    class: "completions",
    role: "listbox",
    hidden: true,
  });
  panel.append(
    make("div", { class: "bar" }, filter, level, clear),
    lines,
    make(
      "div",
      { class: "entry" },
      make("span", { "aria-hidden": "true" }, "›"),
      entry,
      completions,
    ),
  );

  const kept = [];
  const fits = (line) => {
    if (level.selectedIndex === 1 && !["warning", "error"].includes(line.kind)) return false;
    if (level.selectedIndex === 2 && line.kind !== "error") return false;
    return line.text.toLowerCase().includes(filter.value.toLowerCase());
  };
  const show = (line) => make("li", { class: line.kind }, line.text);
  let pending = [];
  let count = null;
  const flush = () => {
    count = null;
    const follows = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 40;
    lines.append(...pending.filter(fits).map(show));
    pending = [];
    while (lines.childElementCount > LINES_MAX) lines.firstElementChild.remove();
    if (follows) lines.scrollTop = lines.scrollHeight;
  };
  const add = (kind, text) => {
    const line = { kind, text };
    kept.push(line);
    if (kept.length > LINES_MAX) kept.shift();
    pending.push(line);
    count ??= requestAnimationFrame(flush);
  };
  const again = () => {
    lines.replaceChildren(...kept.filter(fits).map(show));
    lines.scrollTop = lines.scrollHeight;
  };
  filter.addEventListener("input", again);
  level.addEventListener("change", again);
  clear.addEventListener("click", () => {
    kept.length = 0;
    again();
  });

  connection.on("message", ({ level, system, message }) =>
    add(level ?? "info", system ? `${system}: ${message}` : String(message)),
  );
  connection.on("dropped", (message) =>
    add("warning", `${message.count} messages came faster than they were read`),
  );
  connection.on("open", () => {
    kept.length = 0;
    again();
    connection.ask("subscribe", { stream: "log" });
    connection.ask("subscribe", { stream: "game" });
  });

  const history = JSON.parse(sessionStorage.getItem("history") ?? "[]");
  let back = 0;
  let typed = "";
  const fit = () => {
    entry.rows = Math.min(6, entry.value.split("\n").length);
  };
  const put = (text) => {
    entry.value = text;
    entry.selectionStart = entry.selectionEnd = text.length;
    fit();
  };
  const run = async () => {
    const text = entry.value.trim();
    if (text === "") return;
    if (history.at(-1) !== text) history.push(text);
    while (history.length > HISTORY_MAX) history.shift();
    sessionStorage.setItem("history", JSON.stringify(history));
    back = 0;
    put("");
    add("asked", text);
    try {
      const answer = await connection.ask("eval", { text });
      for (const value of answer.values) add("answer", value);
      // Lines that were logged meanwhile arrive in the log's stream.
      if (answer.values.length === 0 && answer.logged.length === 0) add("dim", "done");
    } catch (error) {
      add("error", error.report ?? error.message);
    }
  };
  const recall = (step) => {
    const to = back + step;
    if (to < 0 || to > history.length) return;
    if (back === 0) typed = entry.value;
    back = to;
    put(to === 0 ? typed : history[history.length - to]);
  };

  // Completion of the name at the cursor.
  let start = "";
  let chosen = 0;
  const hide = () => {
    completions.hidden = true;
  };
  const accept = (name) => {
    const at = entry.selectionStart;
    const rest = entry.value.slice(at);
    put(entry.value.slice(0, at - start.length) + name + rest);
    entry.selectionStart = entry.selectionEnd = at - start.length + name.length;
    hide();
  };
  const choose = (to) => {
    const rows = [...completions.children];
    chosen = (to + rows.length) % rows.length;
    rows.forEach((row, at) => row.setAttribute("aria-selected", at === chosen));
    rows[chosen].scrollIntoView({ block: "nearest" });
  };
  const complete = async () => {
    let answer;
    try {
      answer = await connection.ask("complete", {
        text: entry.value.slice(0, entry.selectionStart),
      });
    } catch {
      return;
    }
    start = answer.start;
    if (answer.words.length === 1) {
      accept(answer.words[0]);
      return;
    }
    const signatures = new Map(
      answer.signatures.map((one) => [one.signature.split("(")[0].split(/[.:]/).at(-1), one]),
    );
    completions.replaceChildren(
      ...answer.words.map((name) => {
        const known = signatures.get(name);
        const row = make("li", { role: "option", title: known?.words ?? "" }, name);
        if (known)
          row.append(make("small", {}, known.signature.slice(known.signature.indexOf("("))));
        row.addEventListener("mousedown", (event) => {
          event.preventDefault();
          accept(name);
        });
        return row;
      }),
    );
    completions.hidden = answer.words.length === 0;
    if (!completions.hidden) choose(0);
  };
  entry.addEventListener("keydown", (event) => {
    if (!completions.hidden) {
      const rows = completions.children.length;
      const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
      if (event.key in moves) choose(Math.max(-1, Math.min(rows, chosen + moves[event.key])));
      else if (event.key === "Enter" || event.key === "Tab")
        accept(completions.children[chosen].firstChild.data);
      else if (event.key === "Escape") hide();
      else {
        hide();
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const one = !entry.value.includes("\n");
    if (event.key === "Enter" && !event.shiftKey) run();
    else if (
      event.key === "Tab" &&
      !event.shiftKey &&
      entry.value.slice(0, entry.selectionStart).trim() !== ""
    )
      complete();
    else if (event.key === "ArrowUp" && one) recall(1);
    else if (event.key === "ArrowDown" && one) recall(-1);
    else return;
    event.preventDefault();
  });
  entry.addEventListener("input", fit);
  entry.addEventListener("blur", hide);
  setText(clear, "Clear");
  return { focus: () => entry.focus(), filter };
}
