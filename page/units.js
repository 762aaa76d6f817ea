// The list of worlds and units. The game sends only the part that is visible, because a world can
// have hundreds of thousands of units.

import { make, setText, short, vector } from "./dom.js";
import { openUnit } from "./unit_detail.js";
import { VirtualList } from "./virtual_list.js";

const LIST_MILLISECONDS = 600;
// Pause after a scroll or a keystroke before the list is asked for.
const SETTLE_MILLISECONDS = 40;

// The worlds of the last answer, and the units that are known by their position in the list. Each
// world has a row as a heading, followed by its units.
class Rows {
  constructor() {
    this.worlds = [];
    this.units = new Map();
  }

  get count() {
    return this.worlds.reduce((sum, world) => sum + 1 + world.count, 0);
  }

  // Returns the world of a row, and the position of its unit among all units; -1 for a heading.
  find(at) {
    let [row, unit] = [at, 0];
    for (const world of this.worlds) {
      if (row === 0) return { world, unit: -1 };
      if (row <= world.count) return { world, unit: unit + row - 1 };
      row -= world.count + 1;
      unit += world.count;
    }
    return null;
  }

  // Returns the number of units before a row.
  unitsBefore(at) {
    let [row, units] = [at, 0];
    for (const world of this.worlds) {
      if (row <= world.count) return units + Math.max(0, row - 1);
      row -= world.count + 1;
      units += world.count;
    }
    return units;
  }

  take(answer) {
    this.worlds = answer.worlds.map(({ world, main, seconds, count }) => ({
      name: main ? "main world" : `world ${world}`,
      seconds,
      count,
    }));
    this.units = new Map();
    let before = 0;
    for (const { count, units } of answer.worlds) {
      const first = Math.max(0, answer.first - before);
      units.forEach((unit, at) => this.units.set(before + first + at, unit));
      before += count;
    }
  }
}

// Returns the elements of a unit's row.
function unitParts(unit) {
  const inLevel = unit.level_unit || unit.level;
  return [
    make("span", {}, unit.name || "(no name)"),
    inLevel && make("i", { title: `in the level ${unit.level}` }, inLevel),
    make("small", {}, vector(unit.position)),
  ].filter(Boolean);
}

export function openUnits(panel, connection) {
  const filter = make("input", {
    type: "search",
    placeholder: "name, data or handle",
    "aria-label": "Filter of units: a name, a name in a level, data, or a handle",
  });
  const count = make("span", { class: "aside", role: "status" });
  const detail = make("div", { class: "detail", tabindex: "0", "aria-label": "The chosen unit" });
  const rows = new Rows();
  const unit = openUnit(detail, connection);
  let entered = false;
  let settling = 0;
  const soon = () => {
    clearTimeout(settling);
    settling = setTimeout(() => ask(), SETTLE_MILLISECONDS);
  };
  const list = new VirtualList({
    label: "Units",
    row(at) {
      const found = rows.find(at);
      if (!found) return null;
      if (found.unit < 0) {
        const { name, count, seconds } = found.world;
        const small = make("small", {}, `${short(count)} units, ${seconds.toFixed(1)} s`);
        return { heading: true, depth: 0, parts: [make("span", {}, name), small] };
      }
      const known = rows.units.get(found.unit);
      if (!known) return null;
      return {
        depth: known.depth + 1,
        selected: known.unit === unit.chosen,
        parts: unitParts(known),
        data: { unit: known.unit },
      };
    },
    choose(at) {
      const known = rows.units.get(rows.find(at)?.unit);
      if (known) unit.choose(known.unit);
    },
    moved: soon,
  });
  panel.append(
    make("div", { class: "bar" }, filter, count),
    make("div", { class: "columns" }, list.element, detail),
  );

  let asking = false;
  let askAgain = false;
  const ask = async () => {
    if (!entered) return;
    if (asking) {
      askAgain = true;
      return;
    }
    asking = true;
    try {
      const [from, to] = list.visible();
      const fields = { first: rows.unitsBefore(from), max: Math.max(100, to - from) };
      if (filter.value) fields.text = filter.value;
      const answer = await connection.ask("units", fields);
      const before = rows.count;
      rows.take(answer);
      const units = rows.worlds.reduce((sum, world) => sum + world.count, 0);
      const problem = answer.problem ? `; ${answer.problem}` : "";
      setText(count, `${short(units)} ${units === 1 ? "unit" : "units"}${problem}`);
      list.setCount(rows.count);
      // The list has become longer than the part that was asked for.
      if (before < rows.count && list.visible()[1] > to) askAgain = true;
    } catch {
      // The connection reports its own end.
    } finally {
      asking = false;
      if (askAgain) soon();
      askAgain = false;
    }
  };
  filter.addEventListener("input", () => {
    list.element.scrollTop = 0;
    list.active = 0;
    soon();
  });
  setInterval(ask, LIST_MILLISECONDS);
  return {
    filter,
    enter() {
      entered = true;
      ask();
      unit.enter();
    },
    leave() {
      entered = false;
      unit.leave();
    },
  };
}
