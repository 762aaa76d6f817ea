// Worlds and units, and the details of one unit with live values.

import { make, setText, short, walkable } from "./dom.js";

// Formats positions to the millimetre, because further digits are noise.
const vector = (numbers) => numbers.map((number) => short(Number(number.toFixed(3)))).join(", ");

export function openUnits(panel, connection) {
  const filter = make("input", {
    type: "search",
    placeholder: "filter by name",
    "aria-label": "Filter of units",
  });
  const count = make("span", { class: "note", style: "padding: 0" });
  const tree = make("ul", { class: "tree", role: "listbox", "aria-label": "Units" });
  const detail = make("div", { class: "detail", "aria-live": "off" });
  panel.append(
    make("div", { class: "bar" }, filter, count),
    make("div", { class: "columns" }, tree, detail),
  );

  let chosen = null;
  let entered = false;
  const rows = new Map();

  const choose = (row) => {
    chosen = Number(row.dataset.unit);
    for (const { row: other } of rows.values()) {
      const on = other === row;
      other.setAttribute("aria-selected", on);
      other.tabIndex = on ? 0 : -1;
    }
    look();
  };
  walkable(tree, "li[data-unit]", choose);

  // Orders units so that children follow their parent.
  const ordered = (units) => {
    const known = new Set(units.map((unit) => unit.unit));
    const below = new Map();
    for (const unit of units) {
      const above = known.has(unit.parent) ? unit.parent : null;
      if (!below.has(above)) below.set(above, []);
      below.get(above).push(unit);
    }
    const all = [];
    const walk = (above, depth) => {
      for (const unit of below.get(above) ?? []) {
        all.push({ unit, depth });
        walk(unit.unit, depth + 1);
      }
    };
    walk(null, 1);
    return all;
  };

  let asking = false;
  const list = async () => {
    if (!entered || asking) return;
    asking = true;
    try {
      const answer = await connection.ask("units", filter.value ? { text: filter.value } : {});
      const wanted = [];
      let all = 0;
      for (const world of answer.worlds) {
        all += world.count;
        const key = `w${world.world}`;
        wanted.push({
          key,
          text: `${world.main ? "main world" : `world ${world.world}`}`,
          small: `${world.count} units, ${world.seconds.toFixed(1)} s`,
          depth: 0,
        });
        for (const { unit, depth } of ordered(world.units)) {
          wanted.push({
            key: unit.unit,
            unit: unit.unit,
            text: unit.name || "(no name)",
            small: vector(unit.position),
            depth,
          });
        }
        const more = world.count - world.units.length;
        if (more > 0)
          wanted.push({
            key: `${key}more`,
            text: `… ${more} more: use the filter`,
            small: "",
            depth: 1,
          });
      }
      setText(count, `${all} units`);
      const seen = new Set();
      let before = null;
      for (const { key, unit, text, small, depth } of wanted) {
        seen.add(key);
        let known = rows.get(key);
        if (!known) {
          const row = make(
            "li",
            unit === undefined
              ? { class: "world" }
              : {
                  "data-unit": unit,
                  role: "option",
                  tabindex: "-1",
                  "aria-selected": String(unit === chosen),
                },
          );
          known = { row, name: make("span"), small: make("small") };
          row.append(known.name, known.small);
          rows.set(key, known);
        }
        known.row.style.paddingLeft = `${10 + depth * 14}px`;
        setText(known.name, text);
        setText(known.small, small);
        const next = before ? before.nextElementSibling : tree.firstElementChild;
        if (next !== known.row) tree.insertBefore(known.row, next);
        before = known.row;
      }
      for (const [key, { row }] of rows) {
        if (!seen.has(key)) {
          row.remove();
          rows.delete(key);
        }
      }
      if (!tree.querySelector('[tabindex="0"]')) {
        const first = tree.querySelector("[data-unit]");
        if (first) first.tabIndex = 0;
      }
    } catch {
      // The connection reports its own end.
    } finally {
      asking = false;
    }
  };

  let looking = false;
  let shape = "";
  let cells = [];
  const look = async () => {
    if (!entered || looking) return;
    if (chosen === null) {
      if (!shape)
        detail.replaceChildren(
          make("p", { class: "note" }, "Choose a unit to see its nodes, components and data."),
        );
      shape = "none";
      return;
    }
    looking = true;
    try {
      const unit = await connection.ask("unit", { unit: chosen });
      draw(unit);
    } catch (error) {
      shape = "gone";
      detail.replaceChildren(make("p", { class: "note" }, error.message));
    } finally {
      looking = false;
    }
  };

  // Returns the output of Unit.inspect without the nodes, which are shown above it.
  const beside = (text) => {
    let inNodes = false;
    return text
      .split("\n")
      .slice(1)
      .filter((line) => {
        if (!line.startsWith(" ")) inNodes = line === "nodes";
        return !inNodes;
      })
      .join("\n");
  };

  // Draws a unit. The table is created once per unit; later only changed texts are written.
  const draw = (unit) => {
    const now = `${unit.unit}:${unit.nodes.length}:${unit.components.length}`;
    if (now !== shape) {
      shape = now;
      cells = unit.nodes.map(() =>
        Array.from({ length: 4 }, () => make("td", { class: "number" })),
      );
      const nodes = unit.nodes.map((node, at) =>
        make(
          "tr",
          {},
          make("td", {}, `${at + 1} ${node.name}${node.parent ? ` on ${node.parent}` : ""}`),
          ...cells[at],
        ),
      );
      const components = unit.components.map((part) =>
        make(
          "tr",
          {},
          make("td", {}, part.name),
          make("td", {}, part.component),
          make("td", { class: "wide" }, JSON.stringify(part.fields)),
        ),
      );
      detail.replaceChildren(
        make("h2", {}, unit.name || "(no name)"),
        make(
          "div",
          { class: "note", style: "padding: 0" },
          `handle ${unit.unit}${unit.bases.length ? `, inherits ${unit.bases.join(", ")}` : ""}`,
        ),
        make("h3", {}, "Nodes"),
        make(
          "table",
          {},
          make(
            "thead",
            {},
            make(
              "tr",
              {},
              ...["node", "world position", "local position", "rotation", "scale"].map((name, at) =>
                make("th", { class: at ? "number" : "" }, name),
              ),
            ),
          ),
          make("tbody", {}, ...nodes),
        ),
        ...(components.length
          ? [
              make("h3", {}, "Components, as the resource has them"),
              make("table", {}, make("tbody", {}, ...components)),
            ]
          : []),
        make("h3", {}, "Values"),
        make("pre", { id: "inspected" }),
      );
    }
    unit.nodes.forEach((node, at) =>
      [node.position, node.local, node.rotation, node.scale].forEach((numbers, column) =>
        setText(cells[at][column], vector(numbers)),
      ),
    );
    setText(detail.querySelector("#inspected"), beside(unit.text));
  };

  filter.addEventListener("input", list);
  setInterval(list, 700);
  setInterval(look, 200);
  return {
    filter,
    enter() {
      entered = true;
      list();
      look();
    },
    leave() {
      entered = false;
    },
  };
}
