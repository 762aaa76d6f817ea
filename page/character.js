// One character with live values: the graph of its state machine, its variables and events, the
// animations that it plays, and the last seconds.

import { make, makeTable, setText, short } from "./dom.js";
import { StateGraph } from "./state_graph.js";
import { StateTimeline } from "./state_timeline.js";

const LOOK_MILLISECONDS = 100;
// Minimum time between two values that a slider sends.
const SEND_MILLISECONDS = 50;
// Variables without a range have this one.
const NO_RANGE = 1e9;
const HELP = "Choose a unit to see the states of its state machine, its variables and events.";

const percent = (part) => `${Math.round(part * 100)} %`;

// Returns the rows of a table of samples or playing animations.
function clipRows(clips) {
  return clips.map((clip) =>
    make(
      "tr",
      {},
      make("td", {}, clip.clip),
      make("td", { class: "number" }, `${clip.time.toFixed(2)} s`),
      make("td", { class: "number" }, percent(clip.weight)),
      make(
        "td",
        { class: "amounts" },
        make("div", { class: "amount", style: `width: ${Math.min(1, clip.weight) * 100}%` }),
      ),
    ),
  );
}

// A variable: a slider in its range, or a number.
function makeVariable(variable, send) {
  const { name, min, max } = variable;
  const ranged = max < NO_RANGE && min > -NO_RANGE;
  const attributes = ranged
    ? { type: "range", min, max, step: (max - min) / 1000 || 1 }
    : { type: "number", step: "any", class: "plain" };
  const input = make("input", { ...attributes, "aria-label": name, value: variable.value });
  const value = make("output", {});
  let [due, timer] = [0, 0];
  const push = () => {
    const number = Number(input.value);
    if (!Number.isFinite(number)) return;
    clearTimeout(timer);
    const wait = due - performance.now();
    if (wait > 0) {
      timer = setTimeout(push, wait);
      return;
    }
    due = performance.now() + SEND_MILLISECONDS;
    send({ variable: name, value: number });
  };
  input.addEventListener("input", push);
  return {
    element: make("label", {}, make("span", { title: name }, name), input, ranged ? value : null),
    draw(now) {
      setText(value, short(now));
      // A person who holds the slider decides.
      if (document.activeElement !== input) input.value = String(now);
    },
  };
}

export function openCharacter(detail, connection) {
  let [entered, looking, chosen, built] = [false, false, null, ""];
  let view = null;

  const report = make("div", { class: "facts", role: "status" });
  const send = async (fields) => {
    try {
      const answer = await connection.ask("control_character", { unit: chosen, ...fields });
      if (!fields.event) return;
      setText(report, answer.taken ? "" : `'${fields.event}': no state has a transition for it now`);
    } catch (error) {
      setText(report, error.message);
    }
  };

  // Creates the elements of a layer.
  const makeLayer = (layer) => {
    const facts = make("span", { class: "facts" });
    const progress = make("progress", { max: 1, value: 0, "aria-label": "cross-fade" });
    const graph = new StateGraph(layer);
    const samples = make("tbody", {});
    const table = makeTable({}, ["animation", "time", "weight", ""], 1, samples);
    const heading = make("div", { class: "headline" }, make("h3", {}, layer.name), facts, progress);
    return {
      elements: [heading, graph.element, table],
      draw(now) {
        const from = now.from ? `, from ${now.from}` : "";
        const waits = now.waits ? ", waiting" : "";
        const time = `${now.time.toFixed(2)} of ${now.seconds.toFixed(2)} s`;
        setText(facts, `${now.state} ${time}, weight ${percent(now.weight)}${from}${waits}`);
        progress.value = now.progress;
        progress.hidden = !now.from;
        graph.draw(now);
        samples.replaceChildren(...clipRows(now.samples));
      },
    };
  };

  // Creates the elements of a character. Later only values are written.
  const build = (unit) => {
    const skeleton = make("button", { class: "skeleton" }, "Skeleton");
    skeleton.addEventListener("click", () => send({ skeleton: !unit.skeleton }).then(look));
    const variables = unit.variables.map((variable) => makeVariable(variable, send));
    const events = (unit.graph?.events ?? []).map((event) =>
      make("button", { onclick: () => send({ event }) }, event),
    );
    const layers = (unit.graph?.layers ?? []).map(makeLayer);
    const playing = make("tbody", {});
    const played = make(
      "section",
      { hidden: true },
      make("h3", {}, "Animations that scripts play"),
      makeTable({}, ["animation", "time", "weight", ""], 1, playing),
    );
    const weights = make("tbody", {});
    const constraints = unit.constraints.map((constraint) => {
      const bar = make("div", { class: "amount" });
      const weight = make("td", { class: "number" });
      const name = make("td", {}, constraint.name);
      weights.append(make("tr", {}, name, weight, make("td", { class: "amounts" }, bar)));
      return { bar, weight };
    });
    const timeline = unit.graph ? new StateTimeline(unit.graph) : null;
    const facts = [
      `handle ${unit.unit}`,
      `model ${unit.model}, ${unit.bones} bones`,
      unit.state_machine ? `state machine ${unit.state_machine}` : "no state machine",
    ];
    const off = make("div", { class: "note", hidden: true }, "The state machine is disabled.");
    detail.replaceChildren(
      make("div", { class: "headline" }, make("h2", {}, unit.name || "(no name)"), skeleton),
      make("div", { class: "facts" }, facts.join(", ")),
      off,
      ...(variables.length
        ? [
            make("h3", {}, "Variables"),
            make("div", { class: "variables" }, ...variables.map((one) => one.element)),
          ]
        : []),
      ...(events.length
        ? [make("h3", {}, "Events"), make("div", { class: "others" }, ...events)]
        : []),
      report,
      ...(timeline ? [make("h3", {}, "The last seconds"), timeline.element] : []),
      ...layers.flatMap((layer) => layer.elements),
      ...(constraints.length
        ? [make("h3", {}, "Constraints"), makeTable({}, ["constraint", "weight", ""], 1, weights)]
        : []),
      played,
    );
    setText(report, "");
    return (now) => {
      unit = now;
      skeleton.setAttribute("aria-pressed", String(now.skeleton));
      off.hidden = now.enabled || !now.state_machine;
      now.variables.forEach((variable, at) => variables[at]?.draw(variable.value));
      now.layers.forEach((layer, at) => layers[at]?.draw(layer));
      now.constraints.forEach(({ weight }, at) => {
        if (!constraints[at]) return;
        setText(constraints[at].weight, percent(weight));
        constraints[at].bar.style.width = `${weight * 100}%`;
      });
      timeline?.add(now);
      played.hidden = now.playing.length === 0;
      playing.replaceChildren(...clipRows(now.playing));
    };
  };

  const ask = (graph) => connection.ask("character", graph ? { unit: chosen, graph } : { unit: chosen });

  const look = async () => {
    if (!entered || looking) return;
    if (chosen === null) {
      if (!built) detail.replaceChildren(make("p", { class: "note" }, HELP));
      built = "none";
      return;
    }
    looking = true;
    try {
      let unit = await ask(built !== String(chosen));
      // A saved state machine has other states.
      const shapeOf = (it) => [it.unit, it.state_machine, it.version].join();
      if (view?.shape !== shapeOf(unit)) {
        if (!unit.graph) unit = await ask(true);
        view = { shape: shapeOf(unit), draw: build(unit) };
      }
      built = String(unit.unit);
      view.draw(unit);
    } catch (error) {
      [built, view] = ["gone", null];
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
      [chosen, view] = [handle, null];
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
