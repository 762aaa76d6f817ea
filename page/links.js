// Links from names such as `enemies/orc.lua:12` to that line in the person's editor. The texts come
// from a game: only relative paths that stay in the game's folder become links.

import { make } from "./dom.js";
import { EDITORS } from "./editors.js";
import { settings } from "./settings.js";

const ENDINGS =
  "lua|sjson|unit|level|material|shader|wgsl|texture|sheet|package|sound|mixer|particles|font|" +
  "physics_properties|shading_environment|strings|config|tilemap|model|navigation|json|txt|frag|vert";
const PLACE = new RegExp(String.raw`(?:[\w.+-]+/)*[\w.+-]+\.(?:${ENDINGS}):\d{1,7}\b`, "g");

// Characters before the beginning of a path.
const START = /[\s'"`([{<>,;=]/;

// The game's folder, as `status` reports it.
let folder = "";

export function setFolder(path) {
  folder = path.replaceAll("\\", "/").replace(/\/$/, "");
}

// Returns the address that opens a line of a file of the game, or null.
export function editorAddress(file, line) {
  const editor = EDITORS.find(({ name }) => name === settings.editor);
  const parts = file.split("/");
  const inside = !parts.some((part) => part === "" || part === "." || part === "..");
  // The engine's own files are not in the folder.
  if (!editor?.address || !folder || !inside || parts[0] === "core") return null;
  return editor.address(`${folder}/${file}`, line);
}

// Returns a text as nodes: its places as links, everything else as text.
export function linked(text) {
  const nodes = [];
  let last = 0;
  for (const match of text.matchAll(PLACE)) {
    const before = text[match.index - 1] ?? " ";
    const [file, line] = match[0].split(":");
    // Anything else is part of a longer path, which may not be in the game's folder.
    const address = START.test(before) ? editorAddress(file, line) : null;
    if (!address) continue;
    nodes.push(text.slice(last, match.index));
    nodes.push(make("a", { href: address, class: "place", title: "Open in the editor" }, match[0]));
    last = match.index + match[0].length;
  }
  nodes.push(text.slice(last));
  return nodes;
}

// Replaces an element's content by a text with links, if the text differs.
export function setLinked(element, text) {
  if (element.textContent !== text) element.replaceChildren(...linked(text));
}
