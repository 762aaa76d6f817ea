// The page: the header, the views and their tabs, keyboard shortcuts. Each view is in its own file.

import { Connection } from "./connection.js";
import { openConsole } from "./console.js";
import { make, setText, short } from "./dom.js";
import { openCounters, openSteps } from "./graphs.js";
import { openMemory } from "./memory.js";
import { openPicture } from "./picture.js";
import { openProfile } from "./profile.js";
import { openResources } from "./resources.js";
import { openUnits } from "./units.js";

const element = (id) => document.getElementById(id);
const connection = new Connection();
const lua = openConsole(element("console"), connection);
const picture = openPicture(element("picture"), connection);

// All views, each with the message type that it requires.
const VIEWS = [
  { name: "Frames", needs: "time_step", open: openSteps },
  { name: "Counters", needs: "counters", open: openCounters },
  { name: "Profile", needs: "profile", open: openProfile },
  { name: "Memory", needs: "memory", open: openMemory },
  { name: "Units", needs: "units", open: openUnits },
  { name: "Resources", needs: "resources", open: openResources },
];

let views = [];
let shown = null;

function show(view, focus) {
  for (const other of views) {
    const on = other === view;
    other.tab.setAttribute("aria-selected", on);
    other.tab.tabIndex = on ? 0 : -1;
    other.panel.hidden = !on;
    if (!on && shown === other) other.view.leave?.();
  }
  if (shown !== view) view.view.enter?.();
  shown = view;
  sessionStorage.setItem("view", view.name);
  if (focus) view.tab.focus();
}

function makeViews(messages) {
  const before = views;
  views = VIEWS.filter((view) => messages.has(view.needs)).map((view, at) => {
    const known = before.find((one) => one.name === view.name);
    if (known) return known;
    const id = view.name.toLowerCase();
    const panel = make("div", {
      id: `view-${id}`,
      class: "panel",
      role: "tabpanel",
      "aria-labelledby": `tab-${id}`,
      hidden: true,
    });
    const tab = make(
      "button",
      {
        id: `tab-${id}`,
        role: "tab",
        "aria-controls": `view-${id}`,
        "aria-selected": "false",
        tabindex: "-1",
        title: `Alt+${at + 1}`,
      },
      view.name,
    );
    const entry = { name: view.name, panel, tab, view: view.open(panel, connection) };
    tab.addEventListener("click", () => show(entry, true));
    return entry;
  });
  element("tabs").replaceChildren(...views.map((view) => view.tab));
  element("views").replaceChildren(...views.map((view) => view.panel));
  const last = sessionStorage.getItem("view");
  show(views.find((view) => view.name === last) ?? views[0], false);
}

element("tabs").addEventListener("keydown", (event) => {
  const at = views.indexOf(shown);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: views.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  show(views[(to + views.length) % views.length], true);
});

// The header.
const FIGURES = ["frame", "frames a second", "units", "worlds"];
const figures = new Map(FIGURES.map((name) => [name, make("dd", {}, "–")]));
element("figures").append(
  ...FIGURES.map((name) => make("div", {}, make("dt", {}, name), figures.get(name))),
);
let paused = false;
let last = null;

function showState(text, kind) {
  const chip = element("state");
  setText(chip, text);
  chip.className = `chip ${kind}`;
}

function take(status) {
  setText(element("game"), status.game);
  document.title = `${status.game} – engine`;
  paused = status.paused;
  if (status.problem) showState("stopped by an error", "stopped");
  else if (paused) showState("paused", "paused");
  else showState("running", "running");
  element("problem").hidden = !status.problem;
  setText(element("problem"), status.problem ?? "");
  setText(element("pause"), paused ? "Resume" : "Pause");
  element("pause").setAttribute("aria-pressed", paused);
  element("step").disabled = !paused;
  const now = performance.now();
  if (last && now - last.at > 200) {
    const rate = ((status.frame - last.frame) / (now - last.at)) * 1000;
    setText(figures.get("frames a second"), rate >= 0 ? rate.toFixed(1) : "–");
  }
  last = { frame: status.frame, at: now };
  setText(figures.get("frame"), short(status.frame));
  setText(figures.get("units"), short(status.units));
  setText(figures.get("worlds"), short(status.worlds));
  picture.status(status);
}

async function refresh() {
  try {
    take(await connection.ask("status"));
  } catch {
    // The connection reports its own end.
  }
}

const failed = (error) => connection.emit("message", { level: "error", message: error.message });
const pause = () => connection.ask(paused ? "resume" : "pause").then(refresh, failed);
const step = () => paused && connection.ask("step").then(refresh, failed);
element("pause").addEventListener("click", pause);
element("step").addEventListener("click", step);
element("reload").addEventListener("click", async () => {
  try {
    const answer = await connection.ask("reload");
    const names = answer.reloaded.length
      ? answer.reloaded.join(", ")
      : "nothing has changed since the last reload";
    connection.emit("message", { level: "info", message: `reload: ${names}` });
    for (const problem of answer.problems) failed(new Error(problem));
  } catch (error) {
    failed(error);
  }
});
element("keys").addEventListener("click", () => element("help").showModal());

document.addEventListener("keydown", (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey) return;
  const digit = /^Digit([1-9])$/.exec(event.code);
  const actions = {
    KeyP: pause,
    KeyS: step,
    KeyE: () => lua.focus(),
    KeyK: () => element("help").showModal(),
    KeyF: () => shown?.view.filter?.focus(),
  };
  if (digit && views[digit[1] - 1]) show(views[digit[1] - 1], true);
  else if (event.code in actions) actions[event.code]();
  else return;
  event.preventDefault();
});

connection.on("open", async () => {
  const help = await connection.ask("help");
  makeViews(new Set(help.messages.map((message) => message.type)));
  await refresh();
  document.body.dataset.ready = "true";
});
connection.on("closed", ({ reason }) => {
  showState(reason || "the game has ended", "ended");
  if (document.body.dataset.ready === "true") {
    const message = "The game has ended. Its next run prints a new address.";
    connection.emit("message", { level: "dim", message });
  }
  document.body.dataset.ready = "false";
});
setInterval(refresh, 500);
