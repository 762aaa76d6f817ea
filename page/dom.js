// Helpers for DOM elements and number formats. Independent of the game.

// Creates an element: `make("li", { class: "a", onclick: f }, "text", child, …)`.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

// Creates an element of a drawing. The children may be texts.
export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Creates a table with the names of its columns; those from `numbers` on are numbers.
export function makeTable(attributes, heads, numbers, body) {
  const cells = heads.map((name, at) =>
    make("th", { scope: "col", class: at >= numbers ? "number" : "" }, name),
  );
  return make("table", attributes, make("thead", {}, make("tr", {}, ...cells)), body);
}

// Sets an element's text only if it differs, to avoid needless layouts.
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const WHOLE = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

// Formats a number for people, with few digits.
export function short(value) {
  if (value == null || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-4)) return value.toExponential(2);
  if (size < 1000 && Number.isInteger(value)) return String(value);
  if (size >= 1000) return WHOLE.format(value);
  return String(Number(value.toPrecision(size >= 100 ? 4 : 3)));
}

// Formats positions to the millimetre, because further digits are noise.
export const vector = (numbers) =>
  numbers.map((number) => short(Number(number.toFixed(3)))).join(", ");

// Formats a byte count for people.
export function bytes(value) {
  if (value == null) return "–";
  const units = ["B", "KiB", "MiB", "GiB"];
  let at = 0;
  while (Math.abs(value) >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${at === 0 ? value : value.toFixed(value < 10 ? 2 : 1)} ${units[at]}`;
}

// Makes rows of a list navigable with the arrow keys. One of the rows can be reached with Tab.
export function walkable(list, selector, choose) {
  const rows = () => [...list.querySelectorAll(selector)];
  list.addEventListener("keydown", (event) => {
    const all = rows();
    const at = all.indexOf(event.target.closest(selector));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined && all[to]) {
      event.preventDefault();
      all[to].focus();
      choose(all[to]);
    } else if ((event.key === "Enter" || event.key === " ") && all[at]) {
      event.preventDefault();
      choose(all[at]);
    }
  });
  list.addEventListener("click", (event) => {
    const row = event.target.closest(selector);
    if (row) choose(row);
  });
}

// Returns a function `ask` that schedules `draw`, at most 30 times a second.
export function drawn(draw) {
  const every = 1000 / 30;
  let asked = false;
  let due = 0;
  const turn = (now) => {
    // Display rates differ: on most displays this skips every second frame.
    if (now < due - 4) {
      requestAnimationFrame(turn);
      return;
    }
    // After a late frame, the next one comes earlier.
    due = Math.max(due + every, now - every);
    asked = false;
    draw(now);
  };
  return () => {
    if (!asked) {
      asked = true;
      requestAnimationFrame(turn);
    }
  };
}

// Returns a function that calls `run` at once, but not again within some milliseconds.
export function seldom(run, milliseconds) {
  let [last, timer] = [-Infinity, null];
  const turn = () => {
    timer = null;
    last = performance.now();
    run();
  };
  return () => {
    const wait = last + milliseconds - performance.now();
    if (timer === null && wait <= 0) turn();
    else timer ??= setTimeout(turn, wait);
  };
}

// Returns the context of a canvas that fills the width of its parent, cleared, and that width.
export function sizedCanvas(canvas, height) {
  const width = canvas.parentElement.clientWidth;
  const scale = devicePixelRatio;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return [context, width];
}

// A text that follows the mouse across the whole page.
export function makeTip() {
  const tip = make("div", { class: "tip", hidden: true });
  document.body.append(tip);
  return {
    hide() {
      tip.hidden = true;
    },
    show(text, x, y) {
      tip.hidden = false;
      setText(tip, text);
      tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - tip.offsetWidth - 8))}px`;
      const below = y + 14 + tip.offsetHeight < innerHeight;
      tip.style.top = `${below ? y + 14 : y - tip.offsetHeight - 8}px`;
    },
  };
}
