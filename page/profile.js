// The profiler: the last frames as bars, one of them as a flame graph, and a table of its scopes,
// of all scopes, or of the sampled locations of scripts.

import { drawn, make, setText } from "./dom.js";
import { FlameGraph } from "./flame_graph.js";
import { FRAMES, FrameBars } from "./frame_bars.js";
import { openSamples } from "./samples.js";
import { ScopeTable } from "./scope_table.js";
import { onTheme } from "./theme.js";

// The frames that the page keeps, with their passes on the graphics adapter.
class Frames {
  constructor() {
    this.all = [];
    this.names = [];
    this.threads = [];
    // The chosen frame; null while the newest one is shown.
    this.chosen = null;
  }

  take(message) {
    const { names, threads, frames, gpu } = message;
    Object.assign(this, { names, threads });
    // Name and thread indices are only valid within one message.
    for (const frame of frames) Object.assign(frame, { names, threads });
    const newest = this.all.at(-1)?.index ?? 0;
    const hasRestarted = frames.length > 0 && frames.at(-1).index < newest;
    this.all = hasRestarted ? frames : [...this.all, ...frames].slice(-FRAMES);
    this.takePasses(gpu);
  }

  // Adds the passes on the graphics adapter, which arrive some frames later than the scopes.
  takePasses(gpu) {
    const passes = new Map(gpu.map((frame) => [frame.index, frame.passes]));
    for (const frame of this.all) frame.gpu ??= passes.get(frame.index);
  }

  get current() {
    return this.all.find((frame) => frame.index === this.chosen) ?? this.all.at(-1);
  }
}

function makeParts() {
  const hold = make("input", { type: "checkbox" });
  const button = (text, title) => make("button", { title }, text);
  return {
    hold,
    slowest: button("Slowest", "The slowest of the frames that are shown"),
    reset: button("Reset", "Forgets averages and extremes"),
    whole: button("Fit", "Shows the whole frame: 0"),
    figures: make("span", { class: "figures grow" }),
    zoom: make("span", { class: "figures", role: "status" }),
    bars: make("canvas", { tabindex: "0", role: "slider", "aria-label": "Frame" }),
    flame: make("canvas", {
      tabindex: "0",
      role: "img",
      "aria-label": "Flame graph of the frame; the table has the same scopes",
      "aria-keyshortcuts": "+ - 0 ArrowLeft ArrowRight",
    }),
  };
}

export function openProfile(panel, connection) {
  const parts = makeParts();
  const table = new ScopeTable();
  const samples = openSamples(connection, table.element);
  const { hold, slowest, reset, whole } = parts;
  panel.append(
    make(
      "div",
      { class: "bar" },
      make("label", { title: "Keeps the frame that is shown" }, hold, "hold"),
      slowest,
      reset,
      whole,
      samples.choice,
      parts.zoom,
      parts.figures,
    ),
    make("div", { class: "frames" }, parts.bars),
    make("div", { class: "flame" }, parts.flame),
    make("div", { class: "scroll" }, table.element, samples.element),
  );

  let entered = false;
  const frames = new Frames();
  const flame = new FlameGraph(parts.flame, parts.zoom);
  const choose = (index) => {
    frames.chosen = index;
    hold.checked = true;
    ask();
    complete(frames.current);
  };
  const bars = new FrameBars(parts.bars, choose);

  const showFigures = (frame) => {
    const more = frame.left_out ? `, ${frame.left_out} more are left out` : "";
    const scopes = `${frame.scopes.length} scopes${more}`;
    const milliseconds = (frame.seconds * 1000).toFixed(2);
    setText(parts.figures, `frame ${frame.index}: ${milliseconds} ms, ${scopes}`);
  };
  const ask = drawn(() => {
    if (!entered) return;
    const frame = frames.current;
    bars.draw(frames.all, frame);
    flame.draw(frame);
    table.draw(frames.names, frames.threads, hold.checked ? frame : null);
    if (frame) showFigures(frame);
  });
  // Messages leave out scopes of frames that have thousands. A chosen frame is fetched completely.
  const complete = async (frame) => {
    if (!frame?.left_out) return;
    try {
      const answer = await connection.ask("profile", { frame: frame.index });
      const { names, threads } = answer;
      Object.assign(frame, answer.frames[0], { names, threads });
      ask();
    } catch {
      // The frame is no longer kept: its first scopes stay.
    }
  };

  connection.on("profile", (message) => {
    if (hold.checked) frames.takePasses(message.gpu);
    else frames.take(message);
    ask();
  });
  onTheme(ask);
  new ResizeObserver(ask).observe(parts.bars.parentElement);
  hold.addEventListener("change", () => {
    frames.chosen = hold.checked ? (frames.current?.index ?? null) : null;
    ask();
    if (hold.checked) complete(frames.current);
  });
  slowest.addEventListener("click", () => {
    const worst = frames.all.reduce((a, b) => (b.seconds > a.seconds ? b : a), frames.all[0]);
    if (worst) choose(worst.index);
  });
  whole.addEventListener("click", () => flame.fit());
  reset.addEventListener("click", () => {
    connection.ask("profile", { reset: true }).catch(() => {});
    samples.reset();
  });

  const subscribe = () =>
    connection.ask("subscribe", { stream: "profile", every: 0.05 }).catch(() => {});
  connection.on("open", () => {
    // A new run counts its frames from 0.
    [hold.checked, frames.chosen] = [false, null];
    if (entered) subscribe();
  });
  return {
    enter() {
      entered = true;
      subscribe();
      samples.enter();
      ask();
    },
    leave() {
      entered = false;
      flame.tip.hide();
      samples.leave();
      connection.ask("unsubscribe", { stream: "profile" }).catch(() => {});
    },
  };
}
