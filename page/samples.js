// The view of the sampling profiler: a table by script, function or line, which replaces the table
// of scopes. Scripts are sampled while the table is shown.

import { bytes, make, setText } from "./dom.js";
import { setLinked } from "./links.js";

const CHOICES = [
  ["scopes", "scopes"],
  ["scripts", "scripts"],
  ["functions", "functions of scripts"],
  ["lines", "lines of scripts"],
];
const HEADS = ["", "time %", "samples", "allocated", "engine calls"];

export function openSamples(connection, scopes) {
  const choice = make(
    "select",
    { "aria-label": "Content of the table", title: "Content of the table" },
    ...CHOICES.map(([value, text]) => make("option", { value }, text)),
  );
  const body = make("tbody", {});
  const first = make("th", { scope: "col" });
  const rest = HEADS.slice(1).map((name) => make("th", { scope: "col", class: "number" }, name));
  const head = make("thead", {}, make("tr", {}, first, ...rest));
  const table = make("table", {}, head, body);
  const nothing = make("p", { class: "note" }, "No samples of scripts yet: they take little time.");
  const whole = make("div", { hidden: true }, table, nothing);

  let entered = false;
  let asks = false;
  const on = () => entered && choice.value !== "scopes";

  const draw = (answer) => {
    const rows = answer[choice.value] ?? [];
    const all = Math.max(1, answer.samples);
    setText(first, `${choice.value.replace(/s$/, "")}: ${answer.samples} samples`);
    while (body.children.length > rows.length) body.lastChild.remove();
    nothing.hidden = rows.length > 0;
    rows.forEach((row, at) => {
      const cells = HEADS.map((_, column) => make("td", { class: column ? "number" : "" }));
      const line = body.children[at] ?? body.appendChild(make("tr", {}, ...cells));
      const texts = [
        row.name,
        ((row.samples / all) * 100).toFixed(1),
        String(row.samples),
        bytes(row.allocated_bytes),
        String(row.engine_calls),
      ];
      setLinked(line.children[0], texts[0]);
      texts.slice(1).forEach((text, column) => setText(line.children[column + 1], text));
    });
  };

  let waiting = false;
  const look = async () => {
    if (waiting || !on()) return;
    waiting = true;
    try {
      const answer = await connection.ask("sampling", { on: true });
      asks = true;
      if (on()) draw(answer);
    } catch {
      // The connection reports its own end.
    } finally {
      waiting = false;
    }
  };
  const end = () => {
    // If the whole run is sampled, sampling continues.
    if (asks) connection.ask("sampling", { on: false }).catch(() => {});
    asks = false;
  };
  choice.addEventListener("change", () => {
    scopes.hidden = choice.value !== "scopes";
    whole.hidden = !scopes.hidden;
    if (on()) look();
    else end();
  });
  setInterval(look, 500);
  return {
    choice,
    element: whole,
    reset() {
      if (on()) end();
    },
    enter() {
      entered = true;
    },
    leave() {
      entered = false;
      end();
    },
  };
}
