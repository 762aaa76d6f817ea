// The manual's search, and a link to each heading. search.js contains the list of all headings:
// title, address, page, the text below, and terms of other engines. src/command/docs/search.rs ranks
// in the same way for `engine docs`; a test compares the two.
"use strict";

const SHOWN_MAX = 12;
// Length of the text that is shown below a result, in characters.
const TEXT_MAX = 160;
// Minimum length of a term that matches a part of a word, in characters.
const PART_LENGTH_MIN = 4;
const FILLERS = new Set(
  "a an the how to do i of in on is my can with for and take make use using".split(" "),
);
const input = document.getElementById("search");
const found = document.getElementById("found");
const up = document.body.dataset.up;
let chosen = 0;

const isLetter = (c) => /[\p{L}\p{N}]/u.test(c);

// Returns the letters and digits of a text, in lower case.
function squash(text) {
  return [...text.toLowerCase()].filter(isLetter).join("");
}

// Returns the terms of a text in lower case: "Gui.drawImage" has "gui", "draw" and "image".
function termsOf(text) {
  const split = text.replace(/(\p{Ll})(?=\p{Lu})/gu, "$1 ").toLowerCase();
  const terms = split.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const meaningful = terms.filter((term) => !FILLERS.has(term));
  return meaningful.length ? meaningful : terms;
}

const INDEX = ENTRIES.map((entry) => {
  const [title, , page, below, aliases] = entry;
  const lower = title.toLowerCase();
  const list = aliases ? aliases.split(",") : [];
  return {
    entry,
    title: lower,
    squashed: squash(title),
    name: squash(lower.slice(lower.lastIndexOf(".") + 1)),
    titleTerms: termsOf(title),
    aliases: list.map(squash),
    aliasTerms: list.flatMap(termsOf),
    page: page.toLowerCase(),
    below: below.toLowerCase(),
  };
});

// Returns true for a term that is a part of many unrelated words.
const isShort = (term) => [...term].length < PART_LENGTH_MIN;

// Returns true if a word of a text begins with a term, or is the term if that is short.
function hasWord(text, term) {
  const isWord = (at) =>
    !isLetter(text[at - 1] ?? "") &&
    !(isShort(term) && isLetter(text[at + term.length] ?? ""));
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    if (isWord(at)) return true;
  }
  return false;
}

// Returns how well an entry matches one search term, or 0 for no match.
function termScore(term, item) {
  if (item.titleTerms.includes(term)) return 40;
  if (item.titleTerms.some((known) => known.startsWith(term))) return 25;
  if (item.aliasTerms.includes(term)) return 20;
  if (item.aliasTerms.some((known) => known.startsWith(term))) return 12;
  if (item.title.includes(term) && !isShort(term)) return 10;
  if (hasWord(item.page, term)) return 8;
  return hasWord(item.below, term) ? 3 : 0;
}

// Returns how many terms an entry has, and its score.
function score(item, whole, terms) {
  const alias = item.aliases.indexOf(whole);
  if (item.squashed === whole) return [terms.length, 300];
  if (item.name === whole) return [terms.length, 250];
  if (alias >= 0) return [terms.length, 200 - alias * 0.1];
  const scores = terms.map((term) => termScore(term, item)).filter((value) => value > 0);
  return [scores.length, scores.reduce((sum, value) => sum + value, 0)];
}

// Returns the best entries for a query. If no entry has all of its terms, entries that have the
// most of them are returned.
function find(text) {
  const [whole, terms] = [squash(text), termsOf(text)];
  const hits = [];
  INDEX.forEach((item, at) => {
    const [count, value] = score(item, whole, terms);
    // The parts of the changelog name everything, and follow the other results. The page on security
    // explains few functions.
    const [page] = item.entry[1].split("#");
    const last = ["CHANGELOG.html", "docs/reference/nodes.html"].includes(page);
    const loss = last ? 1000 : page === "docs/security.html" ? 150 : 0;
    if (count > 0) hits.push([count, value - [...item.entry[0]].length * 0.01 - loss, at]);
  });
  const most = Math.max(0, ...hits.map((hit) => hit[0]));
  const best = hits.filter((hit) => hit[0] === most);
  best.sort((a, b) => b[1] - a[1] || a[2] - b[2]);
  return best.slice(0, SHOWN_MAX).map((hit) => ENTRIES[hit[2]]);
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
  const items = find(input.value).map(([title, address, page, text], index) => {
    const below = text.slice(0, TEXT_MAX);
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
