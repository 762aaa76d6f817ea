// The view of characters: the list of units with animations, and one of them.

import { openCharacter } from "./character.js";
import { make, setText, short } from "./dom.js";
import { VirtualList } from "./virtual_list.js";

const LIST_MILLISECONDS = 600;
// Pause after a scroll or a keystroke before the list is asked for.
const SETTLE_MILLISECONDS = 40;

// Returns the elements of a character's row.
function parts(unit) {
  const states = unit.states.length ? unit.states.join(", ") : "no state machine";
  return [make("span", {}, unit.name || "(no name)"), make("small", {}, states)];
}

export function openAnimation(panel, connection) {
  const filter = make("input", {
    type: "search",
    placeholder: "name of a unit",
    "aria-label": "Filter of units with animations by name",
  });
  const count = make("span", { class: "aside", role: "status" });
  const detail = make("div", { class: "detail", tabindex: "0", "aria-label": "The chosen unit" });
  const character = openCharacter(detail, connection);
  let [entered, asking, askAgain, settling] = [false, false, false, 0];
  let units = new Map();
  const soon = () => {
    clearTimeout(settling);
    settling = setTimeout(() => ask(), SETTLE_MILLISECONDS);
  };
  const list = new VirtualList({
    label: "Units with animations",
    row(at) {
      const unit = units.get(at);
      if (!unit) return null;
      const selected = unit.unit === character.chosen;
      return { depth: 0, selected, parts: parts(unit), data: { unit: unit.unit } };
    },
    choose(at) {
      const unit = units.get(at);
      if (unit) character.choose(unit.unit);
    },
    moved: soon,
  });
  panel.append(
    make("div", { class: "bar" }, filter, count),
    make("div", { class: "columns" }, list.element, detail),
  );

  const ask = async () => {
    if (!entered) return;
    if (asking) {
      askAgain = true;
      return;
    }
    asking = true;
    try {
      const [from, to] = list.visible();
      const fields = { first: from, max: Math.max(100, to - from) };
      if (filter.value) fields.text = filter.value;
      const answer = await connection.ask("characters", fields);
      units = new Map(answer.units.map((unit, at) => [answer.first + at, unit]));
      setText(count, `${short(answer.count)} ${answer.count === 1 ? "unit" : "units"}`);
      const before = list.count;
      list.setCount(answer.count);
      // The list has become longer than the part that was asked for.
      if (before < answer.count && list.visible()[1] > to) askAgain = true;
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
      character.enter();
    },
    leave() {
      entered = false;
      character.leave();
    },
  };
}
