// The page: the header, keyboard shortcuts, and what holds the panels together. Each panel and view
// is in its own file.

import { openAnimation } from "./animation.js";
import { openChanges } from "./changes.js";
import { Connection } from "./connection.js";
import { openCounters } from "./counters.js";
import { make, setText, short } from "./dom.js";
import { openFlow } from "./flow.js";
import { linked, setFolder } from "./links.js";
import { openLog } from "./log.js";
import { openMemory } from "./memory.js";
import { openNavigation } from "./navigation.js";
import { ONLY_PICTURE, openPicture } from "./picture.js";
import { openProfile } from "./profile.js";
import { openPrompt } from "./prompt.js";
import { openReferences } from "./references.js";
import { openResources } from "./resources.js";
import { openSettings } from "./settings.js";
import { openSplitter } from "./splitters.js";
import { openSteps } from "./steps.js";
import { Tabs } from "./tabs.js";
import { openUnits } from "./units.js";
import "./theme.js";

const STATUS_MILLISECONDS = 500;
// All views, each with the message type that it requires.
const VIEWS = [
  { name: "Frames", needs: "time_step", open: openSteps },
  { name: "Counters", needs: "counters", open: openCounters },
  { name: "Profile", needs: "profile", open: openProfile },
  { name: "Memory", needs: "memory", open: openMemory },
  { name: "Units", needs: "units", open: openUnits },
  { name: "Resources", needs: "resources", open: openResources },
  { name: "Animation", needs: "characters", open: openAnimation },
  { name: "Flow", needs: "flow_open", open: openFlow },
  { name: "References", needs: "references", open: openReferences },
  { name: "Changes", needs: "difference", open: openChanges },
  { name: "Navigation", needs: "navigation", open: openNavigation },
];

const element = (id) => document.getElementById(id);
const onlyPicture = location.hash === ONLY_PICTURE;
document.body.toggleAttribute("data-only-picture", onlyPicture);

const connection = new Connection();
const picture = openPicture(element("picture"), connection);
const log = onlyPicture ? null : openLog(element("console"), connection, element("announcer"));
const prompt = onlyPicture ? null : openPrompt(element("console"), connection, log);
const tabs = new Tabs(element("tabs"), element("views"));
const showSettings = openSettings(element("options"));

openSplitter(element("split-main"), {
  host: document.querySelector("main"),
  variable: "--left",
  initial: 42,
  label: "Width of the picture and the console",
});
openSplitter(element("split-left"), {
  host: element("left"),
  variable: "--top",
  across: true,
  initial: 40,
  label: "Height of the picture",
});

// The header.
const FIGURES = ["frame", "frames a second", "units", "worlds"];
const figures = new Map(FIGURES.map((name) => [name, make("dd", {}, "–")]));
element("figures").append(
  ...FIGURES.map((name) => make("div", {}, make("dt", {}, name), figures.get(name))),
);
let paused = false;
let last = null;
let folder = null;
let version = null;
let problem = null;

function showState(text, kind) {
  const chip = element("state");
  setText(chip, text);
  chip.className = `chip ${kind}`;
}

function showProblem(text) {
  if (text === problem) return;
  problem = text;
  element("problem").hidden = !text;
  element("problem").replaceChildren(...linked(text ?? ""));
}

function take(status) {
  setText(element("game"), status.game);
  document.title = `${status.game} – engine`;
  if (status.folder !== folder) {
    folder = status.folder;
    setFolder(folder);
    log?.again();
  }
  paused = status.paused;
  if (status.problem) showState("stopped by an error", "stopped");
  else if (status.stopped) showState(`stopped at ${status.stopped}`, "paused");
  else if (paused) showState("paused", "paused");
  else showState("running", "running");
  showProblem(status.problem);
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
const restart = () => connection.ask("restart").then(refresh, failed);
const showHelp = () => element("help").showModal();
element("pause").addEventListener("click", pause);
element("step").addEventListener("click", step);
element("restart").addEventListener("click", restart);
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
element("keys").addEventListener("click", showHelp);
element("settings").addEventListener("click", showSettings);

// A view asks for another one, with a resource.
document.addEventListener("show-view", ({ detail }) => tabs.showNamed(detail.view, detail.name));
document.addEventListener("keydown", (event) => {
  if (!event.altKey || event.ctrlKey || event.metaKey) return;
  const digit = /^Digit([0-9])$/.exec(event.code);
  const actions = {
    KeyP: pause,
    KeyS: step,
    KeyR: restart,
    KeyE: () => {
      tabs.showConsole();
      prompt?.focus();
    },
    KeyK: showHelp,
    KeyF: () => tabs.shown?.view?.filter?.focus(),
    KeyL: () => picture.toggleLarge(),
  };
  // The tenth view has the key 0.
  if (digit) tabs.showView((Number(digit[1]) + 9) % 10);
  else if (event.code in actions) actions[event.code]();
  else return;
  event.preventDefault();
});

connection.on("open", async () => {
  if (onlyPicture) {
    await refresh();
    document.body.dataset.ready = "true";
    return;
  }
  const help = await connection.ask("help");
  // The game runs in another version of the engine now, which has another page.
  version ??= help.version;
  if (version !== help.version) location.reload();
  const messages = new Set(help.messages.map((message) => message.type));
  tabs.open(
    VIEWS.filter((view) => messages.has(view.needs)),
    connection,
  );
  await refresh();
  document.body.dataset.ready = "true";
});
connection.on("closed", ({ reason }) => {
  showState(reason || "the game has ended", "ended");
  if (document.body.dataset.ready === "true") {
    const message = "The game has ended. The page connects when it runs again.";
    connection.emit("message", { level: "dim", message });
  }
  document.body.dataset.ready = "false";
});
setInterval(refresh, STATUS_MILLISECONDS);
