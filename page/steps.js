// Graphs of the time steps: how each frame's step was computed, frames a second, debt.

import { drawn, make } from "./dom.js";
import { Graph, following } from "./graph.js";

export function openSteps(panel, connection) {
  const steps = new Graph("milliseconds", ["measured", "step"], {
    height: 220,
    fromZero: true,
    unit: "ms",
  });
  const rate = new Graph("frames a second", ["frames a second"], { height: 160, fromZero: true });
  const debt = new Graph("debt, milliseconds", ["debt"], {
    height: 120,
    fromZero: true,
    unit: "ms",
  });
  const all = [steps, rate, debt];
  const grid = make(
    "div",
    { class: "scroll" },
    make("div", { class: "graphs one" }, ...all.map((graph) => graph.element)),
  );
  panel.append(grid);
  let entered = false;
  const ask = drawn(() => {
    if (entered) for (const graph of all) graph.draw();
  });
  connection.on("time_step", (message) => {
    const thousands = (values) => values.map((value) => value * 1000);
    steps.add(message.frame, [thousands(message.measured), thousands(message.delta)]);
    rate.add(message.frame, [message.measured.map((value) => (value > 1e-4 ? 1 / value : null))]);
    debt.add(message.frame, [thousands(message.debt)]);
    ask();
  });
  const follow = following(connection, () =>
    connection.ask("subscribe", { stream: "time_step", every: 1 / 30 }),
  );
  return {
    enter() {
      entered = true;
      follow(true);
      ask();
    },
    leave() {
      entered = false;
      follow(false);
      connection.ask("unsubscribe", { stream: "time_step" }).catch(() => {});
    },
  };
}
