// The line of Lua that runs in the game, with history and completion.

import { make } from "./dom.js";

const HISTORY_MAX = 200;

// The completions of the name at the cursor: a list above the line.
class Completions {
  constructor(connection, entry, replace) {
    Object.assign(this, { connection, entry, replace, chosen: 0, start: "" });
    this.list = make("ul", {
      id: "completions",
      class: "completions",
      role: "listbox",
      "aria-label": "Completions",
      hidden: true,
    });
  }

  get open() {
    return !this.list.hidden;
  }

  hide() {
    this.list.hidden = true;
    this.entry.setAttribute("aria-expanded", "false");
    this.entry.removeAttribute("aria-activedescendant");
  }

  accept(name) {
    this.replace(this.start.length, name);
    this.hide();
  }

  acceptChosen() {
    this.accept(this.list.children[this.chosen].firstChild.data);
  }

  choose(to) {
    const rows = [...this.list.children];
    this.chosen = (to + rows.length) % rows.length;
    rows.forEach((row, at) => row.setAttribute("aria-selected", at === this.chosen));
    this.entry.setAttribute("aria-activedescendant", rows[this.chosen].id);
    rows[this.chosen].scrollIntoView({ block: "nearest" });
  }

  move(by) {
    this.choose(Math.max(-1, Math.min(this.list.children.length, this.chosen + by)));
  }

  async ask() {
    const text = this.entry.value.slice(0, this.entry.selectionStart);
    let answer;
    try {
      answer = await this.connection.ask("complete", { text });
    } catch {
      return;
    }
    this.start = answer.start;
    if (answer.words.length === 1) {
      this.accept(answer.words[0]);
      return;
    }
    const name = (one) => one.signature.split("(")[0].split(/[.:]/).at(-1);
    const signatures = new Map(answer.signatures.map((one) => [name(one), one]));
    this.list.replaceChildren(
      ...answer.words.map((word, at) => this.row(word, signatures.get(word), at)),
    );
    this.list.hidden = answer.words.length === 0;
    this.entry.setAttribute("aria-expanded", String(this.open));
    if (this.open) this.choose(0);
  }

  row(word, known, at) {
    const row = make(
      "li",
      { id: `completion-${at}`, role: "option", title: known?.words ?? "" },
      word,
      known && make("small", {}, known.signature.slice(known.signature.indexOf("("))),
    );
    row.addEventListener("mousedown", (event) => {
      event.preventDefault();
      this.accept(word);
    });
    return row;
  }
}

// Earlier lines, kept for this window.
class History {
  constructor() {
    this.lines = JSON.parse(sessionStorage.getItem("history") ?? "[]");
    this.back = 0;
    this.typed = "";
  }

  add(text) {
    if (this.lines.at(-1) !== text) this.lines.push(text);
    while (this.lines.length > HISTORY_MAX) this.lines.shift();
    sessionStorage.setItem("history", JSON.stringify(this.lines));
    this.back = 0;
  }

  // Returns the line `step` further back than the current one, or null.
  recall(step, current) {
    const to = this.back + step;
    if (to < 0 || to > this.lines.length) return null;
    if (this.back === 0) this.typed = current;
    this.back = to;
    return to === 0 ? this.typed : this.lines[this.lines.length - to];
  }
}

// `log` shows lines, answers and errors.
export function openPrompt(panel, connection, log) {
  const entry = make("textarea", {
    id: "lua",
    rows: "1",
    spellcheck: "false",
    autocomplete: "off",
    role: "combobox",
    "aria-label": "Lua that runs in the game",
    "aria-autocomplete": "list",
    "aria-controls": "completions",
    "aria-expanded": "false",
    "aria-multiline": "true",
    placeholder: "Lua that runs in the game, or help",
  });
  const fit = () => {
    entry.rows = Math.min(6, entry.value.split("\n").length);
  };
  const put = (text) => {
    entry.value = text;
    entry.selectionStart = entry.selectionEnd = text.length;
    fit();
  };
  const history = new History();
  const completions = new Completions(connection, entry, (count, name) => {
    const at = entry.selectionStart;
    put(entry.value.slice(0, at - count) + name + entry.value.slice(at));
    entry.selectionStart = entry.selectionEnd = at - count + name.length;
  });
  panel.append(
    make(
      "div",
      { class: "entry" },
      make("span", { "aria-hidden": "true" }, "›"),
      entry,
      completions.list,
    ),
  );

  const run = async () => {
    const text = entry.value.trim();
    if (text === "") return;
    history.add(text);
    put("");
    log.add("asked", text);
    try {
      const answer = await connection.ask("eval", { text });
      for (const value of answer.values) log.add("answer", value);
      // Lines that were logged meanwhile arrive in the log's stream.
      if (answer.values.length === 0 && answer.logged.length === 0) log.add("dim", "done");
    } catch (error) {
      log.add("error", error.report ?? error.message);
    }
  };
  const recall = (step) => {
    const line = history.recall(step, entry.value);
    if (line !== null) put(line);
  };
  // Returns true if the list of completions has handled a key.
  const inCompletions = (event) => {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in moves) completions.move(moves[event.key]);
    else if (event.key === "Enter" || event.key === "Tab") completions.acceptChosen();
    else {
      completions.hide();
      return event.key === "Escape";
    }
    return true;
  };
  entry.addEventListener("keydown", (event) => {
    if (completions.open) {
      if (inCompletions(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
      return;
    }
    const one = !entry.value.includes("\n");
    const before = entry.value.slice(0, entry.selectionStart).trim();
    if (event.key === "Enter" && !event.shiftKey) run();
    else if (event.key === "Tab" && !event.shiftKey && before !== "") completions.ask();
    else if (event.key === "ArrowUp" && one) recall(1);
    else if (event.key === "ArrowDown" && one) recall(-1);
    else return;
    event.preventDefault();
  });
  entry.addEventListener("input", fit);
  entry.addEventListener("blur", () => completions.hide());
  return { focus: () => entry.focus() };
}
