// The manual's search, and a link to each heading. search.js contains the list of all headings:
// title, address, page, and the text below.
"use strict";

const SHOWN_MAX = 40;
const input = document.getElementById("search");
const found = document.getElementById("found");
const up = document.body.dataset.up;
let chosen = 0;

// Returns how well an entry matches one search term, or 0 for no match.
function matchScore(term, title, page, below) {
  const last = title.slice(title.lastIndexOf(".") + 1);
  if (title === term) return 100;
  if (last === term) return 90;
  if (title.startsWith(term)) return 60;
  if (last.startsWith(term)) return 50;
  if (title.includes(term)) return 30;
  if (page.includes(term)) return 8;
  return below.includes(term) ? 3 : 0;
}

function find(text) {
  const terms = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = [];
  for (const entry of terms.length ? ENTRIES : []) {
    const [title, , page, below] = entry.map((part) => part.toLowerCase());
    const scores = terms.map((term) => matchScore(term, title, page, below));
    if (scores.every((value) => value > 0)) {
      hits.push([scores.reduce((sum, value) => sum + value) - title.length / 100, entry]);
    }
  }
  return hits.sort((a, b) => b[0] - a[0]).slice(0, SHOWN_MAX).map((hit) => hit[1]);
}

function element(kind, className, text) {
  const created = document.createElement(kind);
  created.className = className;
  created.textContent = text;
  return created;
}

function choose(index) {
  const items = found.querySelectorAll("[role=option]");
  chosen = Math.max(0, Math.min(index, items.length - 1));
  items.forEach((item, at) => item.setAttribute("aria-selected", at === chosen));
  items[chosen]?.scrollIntoView({ block: "nearest" });
  if (items[chosen]) input.setAttribute("aria-activedescendant", items[chosen].id);
}

function show() {
  const open = input.value.trim() !== "";
  const items = find(input.value).map(([title, address, page, below], index) => {
    const link = element("a", "", title);
    link.href = up + address;
    link.append(element("small", "", title === page ? below : `${page}: ${below}`));
    const item = document.createElement("li");
    item.id = `found-${index}`;
    item.setAttribute("role", "option");
    item.append(link);
    return item;
  });
  if (items.length === 0) items.push(element("li", "none", "No results."));
  found.replaceChildren(...items);
  found.hidden = !open;
  input.setAttribute("aria-expanded", open);
  choose(0);
}

function close() {
  found.hidden = true;
  input.setAttribute("aria-expanded", "false");
}

input.addEventListener("input", show);
input.addEventListener("focus", show);
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") choose(chosen + 1);
  else if (event.key === "ArrowUp") choose(chosen - 1);
  else if (event.key === "Enter") found.querySelectorAll("a")[chosen]?.click();
  else if (event.key === "Escape") input.blur();
  else return;
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) {
    input.focus();
    input.select();
    event.preventDefault();
  }
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search") || event.target.closest("#found a")) close();
});
input.addEventListener("blur", (event) => {
  if (!found.contains(event.relatedTarget)) setTimeout(close, 150);
});

for (const heading of document.querySelectorAll("main h2[id], main h3[id]")) {
  const link = element("a", "here", "#");
  link.href = `#${heading.id}`;
  link.setAttribute("aria-label", `Link to ${heading.textContent}`);
  heading.append(link);
}
document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest" });

const asked = new URLSearchParams(location.search).get("q");
if (asked) {
  input.value = asked;
  input.focus();
}
