// The log: lines with their time and frame, filtered, with repeated lines folded into one.

import { make, setText } from "./dom.js";
import { linked } from "./links.js";
import { settings } from "./settings.js";

const LINES_MAX = 2000;
// Minimum time between two announcements for screen readers, in milliseconds.
const ANNOUNCE_PAUSE = 1500;

const two = (number) => String(number).padStart(2, "0");

// Formats a time of day: 14:05:09.250.
function clock(milliseconds) {
  const date = new Date(milliseconds);
  const seconds = `${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
  return `${two(date.getHours())}:${two(date.getMinutes())}:${seconds}`;
}

// Announces lines to screen readers, one at a time: a game can print thousands in a second.
function makeAnnouncer(element) {
  let due = 0;
  let waiting = null;
  let timer = 0;
  const say = () => {
    timer = 0;
    due = performance.now() + ANNOUNCE_PAUSE;
    element.textContent = waiting;
  };
  return (text) => {
    waiting = text;
    timer ||= setTimeout(say, Math.max(0, due - performance.now()));
  };
}

export function openLog(panel, connection, announcer) {
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
  // A filtered log is announced by the announcer, not by itself.
  const lines = make("div", {
    id: "lines",
    tabindex: "0",
    role: "log",
    "aria-label": "Log",
    "aria-live": "off",
  });
  panel.append(make("div", { class: "bar" }, filter, level, clear), lines);

  let kept = [];
  const announce = makeAnnouncer(announcer);
  const fits = (line) => {
    if (level.selectedIndex === 1 && !["warning", "error"].includes(line.kind)) return false;
    if (level.selectedIndex === 2 && line.kind !== "error") return false;
    return line.text.toLowerCase().includes(filter.value.toLowerCase());
  };
  const stampOf = (line) => (line.time == null ? "" : clock(line.time));
  const frameOf = (line) => (line.frame == null ? "" : `#${line.frame}`);
  const show = (line) => {
    const time = make("time", {}, stampOf(line));
    const frame = make("span", { class: "frame" }, frameOf(line));
    const repeats = make("span", { class: "repeats", hidden: true });
    const text = make("span", { class: "text" }, ...linked(line.text));
    line.parts = { time, frame, repeats };
    line.element = make("div", { class: `line ${line.kind}` }, time, frame, text, repeats);
    if (line.count > 1) update(line);
    return line.element;
  };
  // Shows the number of repetitions of a line, and the newest of them.
  const update = (line) => {
    setText(line.parts.time, stampOf(line));
    setText(line.parts.frame, frameOf(line));
    setText(line.parts.repeats, `× ${line.count}`);
    line.parts.repeats.setAttribute("aria-label", `${line.count} times`);
    line.parts.repeats.hidden = false;
  };
  let pending = [];
  let changed = new Set();
  let asked = null;
  // True while the newest line is in view; the log then follows its end.
  let follows = true;
  const toEnd = () => {
    lines.scrollTop = lines.scrollHeight;
  };
  lines.addEventListener(
    "scroll",
    () => {
      follows = lines.scrollHeight - lines.scrollTop - lines.clientHeight < 40;
    },
    { passive: true },
  );
  new ResizeObserver(() => follows && toEnd()).observe(lines);
  const flush = () => {
    asked = null;
    for (const line of changed) if (line.element) update(line);
    changed = new Set();
    lines.append(...pending.slice(-LINES_MAX).filter(fits).map(show));
    pending = [];
    while (lines.childElementCount > LINES_MAX) lines.firstElementChild.remove();
    if (follows) toEnd();
  };
  const add = (kind, text, { frame, time } = {}) => {
    const last = kept.at(-1);
    const line = { kind, text, frame, time: time ?? Date.now(), count: 1 };
    if (last && last.kind === kind && last.text === text) {
      Object.assign(last, { frame: line.frame, time: line.time, count: last.count + 1 });
      changed.add(last);
    } else {
      kept.push(line);
      if (kept.length > LINES_MAX) kept.shift();
      pending.push(line);
      const spoken = settings.announce === "all" || ["warning", "error", "answer"].includes(kind);
      if (settings.announce !== "none" && spoken && fits(line)) announce(text);
    }
    asked ??= requestAnimationFrame(flush);
  };
  const again = () => {
    lines.dataset.stamps = settings.stamps;
    for (const line of kept) line.element = null;
    pending = [];
    lines.replaceChildren(...kept.filter(fits).map(show));
    follows = true;
    toEnd();
  };
  settings.watch(again);
  again();
  filter.addEventListener("input", again);
  level.addEventListener("change", again);
  clear.addEventListener("click", () => {
    kept = [];
    again();
  });

  connection.on("message", (message) => {
    const { level: kind, system, message: text } = message;
    add(kind ?? "info", system ? `${system}: ${text}` : String(text), message);
  });
  connection.on("dropped", (message) =>
    add("warning", `${message.count} messages came faster than they were read`),
  );
  connection.on("open", () => {
    kept = [];
    again();
    connection.ask("subscribe", { stream: "log" });
    connection.ask("subscribe", { stream: "game" });
  });
  // Links need the folder, which is known a moment after the first lines.
  return { add, again, filter };
}
