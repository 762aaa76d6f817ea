// A list with a search field over the page: types of nodes, pins to wire, names of resources; and a
// menu of commands.

import { make } from "./dom.js";

const ROWS_MAX = 150;
const GAP = 8;
let lists = 0;

// Returns how well an entry fits all words, or -1. Smaller is better. Between names that fit
// equally, the rank of an entry decides.
export function fit(item, words) {
  let sum = (item.rank ?? 0) * 0.1;
  const name = item.name.toLowerCase();
  const path = `${item.group ?? ""} ${item.type ?? ""}`.toLowerCase();
  const doc = (item.doc ?? "").toLowerCase();
  for (const word of words) {
    if (name === word) sum += 0;
    else if (name.startsWith(word)) sum += 1;
    else if (name.includes(` ${word}`)) sum += 2;
    else if (name.includes(word)) sum += 3;
    else if (path.includes(word)) sum += 5;
    else if (doc.includes(word)) sum += 9;
    else return -1;
  }
  return sum + name.length / 1000;
}

// Places an element near a point of the page, inside of the window.
function putNear(element, x, y) {
  const box = element.getBoundingClientRect();
  element.style.left = `${Math.max(GAP, Math.min(x, innerWidth - box.width - GAP))}px`;
  element.style.top = `${Math.max(GAP, Math.min(y, innerHeight - box.height - GAP))}px`;
}

// Shows a popover until it is closed, and returns the focus afterwards. The release of the button
// that opened it does not close it, as it would an "auto" popover; a press elsewhere does.
function open(element, x, y, closed) {
  const before = document.activeElement;
  const outside = (event) => {
    if (!element.contains(event.target)) element.hidePopover();
  };
  // The tap that opened the element ends as a click on what is under the finger now.
  let isPressed = false;
  element.addEventListener("pointerdown", () => {
    isPressed = true;
  });
  const click = (event) => {
    if (isPressed || event.detail === 0) return;
    event.stopPropagation();
    event.preventDefault();
  };
  element.addEventListener("click", click, true);
  element.popover = "manual";
  document.body.append(element);
  element.showPopover();
  putNear(element, x, y);
  document.addEventListener("pointerdown", outside, true);
  addEventListener("blur", () => element.isConnected && element.hidePopover(), { once: true });
  element.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !element.contains(event.relatedTarget)) element.hidePopover();
  });
  element.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    document.removeEventListener("pointerdown", outside, true);
    const focus = document.activeElement;
    const isLost = !focus || focus === document.body || element.contains(focus);
    element.remove();
    closed?.();
    if (isLost) before?.focus?.({ preventScroll: true });
  });
}

// Shows a list to choose from. An item: { name, type, group, doc, color, run }. `items` may be a
// promise. At first, the item at `start` is the active one. The texts may come from a game.
export function openPalette({ title, items, x, y, text = "", chosen, closed, start = 0 }) {
  lists += 1;
  const id = `palette-${lists}`;
  const input = make("input", {
    type: "search",
    role: "combobox",
    "aria-label": title,
    "aria-expanded": "true",
    "aria-controls": id,
    "aria-autocomplete": "list",
    placeholder: title,
    value: text,
  });
  const list = make("div", { id, role: "listbox", "aria-label": title, class: "found" });
  const doc = make("p", { class: "doc", role: "status" }, "…");
  const element = make("div", { class: "flow-palette", role: "dialog", "aria-label": title });
  element.append(input, list, doc);
  let [all, shown, active] = [[], [], 0];

  const choose = (item) => {
    if (!item) return;
    element.hidePopover();
    if (item.run) item.run();
    else chosen(item);
  };
  const activate = (at) => {
    active = Math.max(0, Math.min(shown.length - 1, at));
    [...list.children].forEach((row, index) => {
      row.setAttribute("aria-selected", String(index === active));
    });
    const row = list.children[active];
    row?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", row?.id ?? "");
    const item = shown[active];
    doc.textContent = item ? (item.doc ?? item.type ?? "") : "Nothing fits.";
  };
  const draw = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const scored = all.map((item) => [fit(item, words), item]).filter(([score]) => score >= 0);
    if (words.length) scored.sort(([a], [b]) => a - b);
    shown = scored.slice(0, ROWS_MAX).map(([, item]) => item);
    list.replaceChildren(
      ...shown.map((item, at) =>
        make(
          "div",
          { id: `${id}-${at}`, role: "option", "data-kind": item.color, "aria-selected": "false" },
          make("span", {}, item.name),
          make("small", {}, item.group ?? ""),
        ),
      ),
    );
    activate(words.length ? 0 : start);
  };
  input.addEventListener("input", draw);
  input.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const to = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + 8,
      PageUp: active - 8,
    };
    if (event.key in to) activate(to[event.key]);
    else if (event.key === "Enter") choose(shown[active]);
    else if (event.key === "Escape") element.hidePopover();
    else return;
    event.preventDefault();
  });
  list.addEventListener("pointermove", (event) => {
    const at = [...list.children].indexOf(event.target.closest("[role=option]"));
    if (at >= 0 && at !== active) activate(at);
  });
  list.addEventListener("click", (event) => {
    const at = [...list.children].indexOf(event.target.closest("[role=option]"));
    if (at >= 0) choose(shown[at]);
  });
  open(element, x, y, closed);
  input.focus();
  Promise.resolve(items).then(
    (found) => {
      all = found;
      draw();
    },
    (error) => {
      doc.textContent = error.message;
    },
  );
  return element;
}

// Shows a menu. An entry: { title, keys, run, disabled }, or null for a line.
export function openMenu(title, entries, x, y) {
  const menu = make("div", { class: "flow-menu", role: "menu", "aria-label": title });
  for (const one of entries) {
    if (!one) {
      menu.append(make("hr", { role: "separator" }));
      continue;
    }
    const run = () => {
      menu.hidePopover();
      one.run();
    };
    menu.append(
      make(
        "button",
        { role: "menuitem", tabindex: "-1", onclick: run, disabled: Boolean(one.disabled) },
        make("span", {}, one.title),
        make("kbd", {}, one.keys ?? ""),
      ),
    );
  }
  const rows = () => [...menu.querySelectorAll("button:not(:disabled)")];
  menu.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const all = rows();
    const at = all.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Escape") menu.hidePopover();
    else if (to !== undefined) all.at(to % all.length)?.focus();
    else if (/^\S$/.test(event.key)) {
      const letter = event.key.toLowerCase();
      const found = (row) => row.innerText.trim().toLowerCase().startsWith(letter);
      [...all.slice(at + 1), ...all.slice(0, at + 1)].find(found)?.focus();
    } else return;
    event.preventDefault();
  });
  open(menu, x, y);
  rows()[0]?.focus();
}

const RANK_LAST = 9;
const ORIGINS = ["built_in", "script", "engine"];
const FITS = ["same", "converted", "checked"];

// Returns the rank of a type of nodes: pins of the same type come before conversions, then nodes of
// the language and of the game before functions of the engine.
function rankOf(catalogue, row, pin, partner, isOutput) {
  const ends = isOutput ? [pin?.type, partner?.type] : [partner?.type, pin?.type];
  const fits = partner ? FITS.indexOf(catalogue.wire(...ends)) : 0;
  // Nodes that are written for graphs, such as "unit.effect", have small names.
  const isFunction = /^[A-Z]/.test(row.type) ? 1 : 0;
  return fits * 4 + ORIGINS.indexOf(row.origin) + isFunction;
}

// Returns the items of types of nodes. With a pin, only those that can be wired to it.
export function nodeItems(catalogue, pin = null, isOutput = false) {
  const items = [];
  for (const row of catalogue.nodes.values()) {
    const partners = pin ? catalogue.partners(row, pin, isOutput) : [];
    if (pin && partners.length === 0 && !row.dynamic) continue;
    // The first pin of the same type is the best one.
    const partner = partners.find((one) => one.type === pin.type) ?? partners[0] ?? null;
    items.push({
      name: row.name,
      type: row.type,
      group: row.category,
      doc: row.doc || row.type,
      color: catalogue.kind(row),
      row,
      partner,
      rank: rankOf(catalogue, row, pin, partner, isOutput),
    });
  }
  const key = (item) => `${item.group} ${item.name}`;
  return items.sort((a, b) => a.rank - b.rank || (key(a) < key(b) ? -1 : 1));
}

// Returns the items of existing pins that can be wired to a pin of a node, the nearest first. Where
// a new node is more likely, they come after all nodes.
export function pinItems(editor, id, pin, isOutput, isLast) {
  const items = [];
  const { nodes } = editor.layout();
  const own = nodes.get(id);
  const distance = (box) => Math.hypot(box.x - own.x, box.y - own.y);
  for (const box of [...nodes.values()].sort((a, b) => distance(a) - distance(b))) {
    if (box.id === id) continue;
    for (const one of isOutput ? box.inputs : box.outputs) {
      const [from, to] = isOutput ? [pin.type, one.type] : [one.type, pin.type];
      if (!editor.catalogue.wire(from, to)) continue;
      const name = `${box.row?.name ?? box.node.type}: ${one.name}`;
      const color = editor.catalogue.kind(box.row);
      items.push({
        name,
        type: box.id,
        group: `existing ${box.id}`,
        doc: one.doc,
        color,
        box,
        pin: one,
        rank: isLast ? RANK_LAST : 0,
      });
    }
  }
  return items;
}
