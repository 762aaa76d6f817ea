// Two versions of a file next to each other: files that have changed since a mark, and the
// differences of one of them by path, by lines, as pictures and as graphs.

import { bytes, make, setText, short } from "./dom.js";
import { linked } from "./links.js";
import { VirtualList } from "./virtual_list.js";

const LIST_MILLISECONDS = 3000;
const SETTLE_MILLISECONDS = 120;
const ROWS_MAX = 1000;

const VERSIONS = [
  ["mark", "at the mark"],
  ["disk", "on disk"],
  ["open", "open in tools, not saved"],
];

const select = (label, value) => {
  const options = VERSIONS.map(([name, text]) => make("option", { value: name }, text));
  const element = make("select", { "aria-label": label }, ...options);
  element.value = value;
  return element;
};
const input = (label) => make("input", { type: "text", "aria-label": label, placeholder: "path" });
const nameOf = (version) => VERSIONS.find(([name]) => name === version)[1];

// A drawing in an image runs no scripts.
const image = (type, base64, name) =>
  make("img", { src: `data:image/${type};base64,${base64}`, alt: name });

function encoded(text) {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function makePictures(answer, names) {
  const figure = (picture, name) =>
    picture &&
    make(
      "figure",
      {},
      image("png", picture.png, name),
      make("figcaption", {}, name, picture.width ? `: ${picture.width} × ${picture.height}` : ""),
    );
  const texels = answer.texels;
  const differ = texels && `${short(texels.count)} texels differ, by at most ${texels.largest}`;
  const all = [
    figure(answer.old_picture, names[0]),
    figure(answer.new_picture, names[1]),
    texels && figure({ png: texels.png }, differ),
  ].filter(Boolean);
  return all.length ? [make("div", { class: "versions" }, ...all)] : [];
}

function makeChanges(answer, names) {
  if (!answer.changes.length) return [];
  const cell = (kind, text) =>
    make("td", { class: "wide" }, text && make(kind, {}, make("pre", {}, text)));
  const row = (change) =>
    make(
      "tr",
      {},
      make(
        "td",
        { class: "wide" },
        change.path || "the file",
        make("small", {}, ` ${change.kind} `),
        ...linked(`${answer.path}:${change.line}`),
      ),
      cell("del", change.old),
      cell("ins", change.new),
    );
  const body = make("tbody", {}, ...answer.changes.map(row));
  const heads = ["path", ...names].map((name) => make("th", { scope: "col" }, name));
  const more = answer.left_out
    ? [make("p", { class: "note" }, `${short(answer.left_out)} more changes are not shown.`)]
    : [];
  return [
    make("table", { class: "changes" }, make("thead", {}, make("tr", {}, ...heads)), body),
    ...more,
  ];
}

function makeDifference(answer, versions) {
  const names = answer.path === answer.with ? versions : [answer.with, answer.path];
  const notes = answer.notes.map((note) => make("p", { class: "note" }, note));
  const same = !answer.changes.length && !answer.notes.length;
  const graph = answer.graph
    ? [image("svg+xml", encoded(answer.graph), "The graphs of both versions")]
    : [];
  return [
    make("div", { class: "headline" }, make("h2", {}, answer.path)),
    ...notes,
    same ? make("p", { class: "note" }, "Both versions are equal.") : null,
    ...makePictures(answer, names),
    ...graph.map((it) =>
      make("div", { class: "drawing", tabindex: "0", role: "group", "aria-label": it.alt }, it),
    ),
    ...makeChanges(answer, names),
  ].filter(Boolean);
}

export function openChanges(panel, connection) {
  const filter = make("input", {
    type: "search",
    placeholder: "filter by path",
    "aria-label": "Filter of changed files",
  });
  const count = make("span", { class: "aside", role: "status" });
  const [oldVersion, newVersion] = [select("Old version", "mark"), select("New version", "disk")];
  const [oldPath, newPath] = [input("File of the old version"), input("File of the new version")];
  const detail = make("div", {
    class: "detail difference",
    tabindex: "0",
    role: "group",
    "aria-label": "The differences",
  });
  const hint = "Choose a file that has changed, or give two files of the game's folder.";
  detail.append(make("p", { class: "note" }, hint));

  let entered = false;
  let rows = [];
  let chosen = null;
  // Pictures of units, levels and materials follow the values: another program draws them.
  let asked = 0;
  const draw = async (fields, names) => {
    const number = asked;
    const note = make("p", { class: "note", role: "status" }, "Both versions are being drawn.");
    detail.querySelector(".headline").after(note);
    try {
      const answer = await connection.ask("draw_difference", fields);
      if (number !== asked) return;
      const notes = answer.notes.map((text) => make("p", { class: "note" }, text));
      note.replaceWith(...notes, ...makePictures(answer, names));
    } catch (error) {
      if (number === asked) setText(note, error.message);
    }
  };
  const compare = async () => {
    const path = newPath.value.trim();
    if (!path) return;
    const fields = { path, new: newVersion.value, old: oldVersion.value };
    const other = oldPath.value.trim();
    if (other && other !== path) fields.with = other;
    try {
      asked += 1;
      const answer = await connection.ask("difference", fields);
      const names = [oldVersion.value, newVersion.value].map(nameOf);
      detail.replaceChildren(...makeDifference(answer, names));
      if (answer.draws) draw(fields, names);
    } catch (error) {
      detail.replaceChildren(make("p", { class: "note" }, error.message));
    }
  };
  const look = (path) => {
    chosen = path;
    [oldPath.value, newPath.value] = [path, path];
    [oldVersion.value, newVersion.value] = ["mark", "disk"];
    list.draw();
    return compare();
  };
  const list = new VirtualList({
    label: "Files that have changed",
    row(at) {
      const row = rows[at];
      if (!row) return null;
      const facts = make("small", {}, `${row.change}, ${bytes(row.bytes)}`);
      return {
        depth: 0,
        parts: [make("span", { title: row.path }, row.path), facts],
        selected: row.path === chosen,
      };
    },
    choose: (at) => rows[at] && look(rows[at].path),
  });

  let shown = "";
  const ask = async (mark = false) => {
    if (!entered && !mark) return;
    const fields = { max: ROWS_MAX, mark };
    if (filter.value) fields.text = filter.value;
    try {
      const answer = await connection.ask("changed_files", fields);
      const text = JSON.stringify(answer.rows);
      const time = new Date(answer.marked).toLocaleTimeString();
      const missing = answer.without_content
        ? `, ${short(answer.without_content)} of them without content`
        : "";
      const files = `${short(answer.files)} files${missing}`;
      setText(count, `${short(answer.count)} changed since the mark at ${time} (${files})`);
      if (text === shown) return;
      shown = text;
      rows = answer.rows;
      list.setCount(rows.length);
      // The file that is shown has changed again.
      if (rows.some((row) => row.path === chosen)) compare();
    } catch (error) {
      setText(count, error.message);
    }
  };
  let settling = 0;
  filter.addEventListener("input", () => {
    clearTimeout(settling);
    settling = setTimeout(ask, SETTLE_MILLISECONDS);
  });
  const mark = make(
    "button",
    { title: "Compare with the files as they are now", onclick: () => ask(true) },
    "Mark now",
  );
  const form = make(
    "form",
    { class: "bar" },
    make("label", {}, "old ", oldVersion),
    oldPath,
    make("label", {}, "new ", newVersion),
    newPath,
    make("button", {}, "Compare"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    chosen = null;
    compare();
  });
  panel.append(
    make("div", { class: "bar" }, filter, mark, count),
    form,
    make("div", { class: "columns files" }, list.element, detail),
  );
  setInterval(ask, LIST_MILLISECONDS);
  return {
    filter,
    look,
    enter() {
      entered = true;
      ask();
    },
    leave() {
      entered = false;
    },
  };
}
