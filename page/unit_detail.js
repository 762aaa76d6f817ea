// The details of one unit with live values: nodes, components, and the text of Unit.inspect.

import { make, makeTable, setText, vector } from "./dom.js";
import { setLinked } from "./links.js";

const LOOK_MILLISECONDS = 200;
const NODE_HEADS = ["node", "world position", "local position", "rotation", "scale"];

// Returns the output of Unit.inspect without the nodes, which are shown above it.
function withoutNodes(text) {
  let inNodes = false;
  const lines = text.split("\n").slice(1);
  const kept = lines.filter((line) => {
    if (!line.startsWith(" ")) inNodes = line === "nodes";
    return !inNodes;
  });
  return kept.join("\n");
}

export function openUnit(detail, connection) {
  let entered = false;
  let chosen = null;
  let shape = "";
  let cells = [];

  // Creates the elements of a unit. Later only changed texts are written.
  const build = (unit) => {
    cells = unit.nodes.map(() => Array.from({ length: 4 }, () => make("td", { class: "number" })));
    const nodes = unit.nodes.map((node, at) => {
      const name = `${at + 1} ${node.name}${node.parent ? ` on ${node.parent}` : ""}`;
      return make("tr", {}, make("td", {}, name), ...cells[at]);
    });
    const components = unit.components.map((part) =>
      make(
        "tr",
        {},
        make("td", {}, part.name),
        make("td", {}, part.component),
        make("td", { class: "wide" }, JSON.stringify(part.fields)),
      ),
    );
    const facts = [
      `handle ${unit.unit}`,
      unit.bases.length ? `inherits ${unit.bases.join(", ")}` : "",
      unit.level ? `in the level ${unit.level}` : "",
      unit.level_unit ? `named ${unit.level_unit} there` : "",
    ];
    const table = makeTable({}, NODE_HEADS, 1, make("tbody", {}, ...nodes));
    detail.replaceChildren(
      make("h2", {}, unit.name || "(no name)"),
      make("div", { class: "facts" }, facts.filter(Boolean).join(", ")),
      make("h3", {}, "Nodes"),
      make("div", { class: "wide-table" }, table),
      ...(components.length
        ? [
            make("h3", {}, "Components, as the resource has them"),
            make("table", {}, make("tbody", {}, ...components)),
          ]
        : []),
      make("h3", {}, "Values"),
      make("pre", { id: "inspected" }),
    );
  };

  const draw = (unit) => {
    const now = `${unit.unit}:${unit.nodes.length}:${unit.components.length}`;
    if (now !== shape) build(unit);
    shape = now;
    unit.nodes.forEach((node, at) =>
      [node.position, node.local, node.rotation, node.scale].forEach((numbers, column) =>
        setText(cells[at][column], vector(numbers)),
      ),
    );
    setLinked(detail.querySelector("#inspected"), withoutNodes(unit.text));
  };

  let looking = false;
  const look = async () => {
    if (!entered || looking) return;
    if (chosen === null) {
      const text = "Choose a unit to see its nodes, components and data.";
      if (!shape) detail.replaceChildren(make("p", { class: "note" }, text));
      shape = "none";
      return;
    }
    looking = true;
    try {
      draw(await connection.ask("unit", { unit: chosen }));
    } catch (error) {
      shape = "gone";
      detail.replaceChildren(make("p", { class: "note" }, error.message));
    } finally {
      looking = false;
    }
  };
  setInterval(look, LOOK_MILLISECONDS);
  return {
    get chosen() {
      return chosen;
    },
    choose(handle) {
      chosen = handle;
      look();
    },
    enter() {
      entered = true;
      look();
    },
    leave() {
      entered = false;
    },
  };
}
