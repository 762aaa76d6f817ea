// Frames as bars, one of them as a flame graph of scopes on each thread, and a table: of all
// scopes, or of the sampled locations of scripts.

import { drawn, make, setText, short } from "./dom.js";
import { openSamples } from "./samples.js";

const FRAMES = 240;
const BAR_HEIGHT = 84;
const ROW = 19;
const NAME = 14;

// Returns a color for a name, the same in every run.
function color(name) {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) >>> 0;
  return `hsl(${hash % 360} 42% ${34 + ((hash >> 9) % 14)}%)`;
}

function sized(canvas, height) {
  const width = canvas.parentElement.clientWidth;
  const scale = devicePixelRatio;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return [context, width];
}

export function openProfile(panel, connection) {
  const hold = make("input", { type: "checkbox" });
  const slowest = make("button", { title: "The slowest of the frames that are shown" }, "Slowest");
  const reset = make("button", { title: "Forgets averages and extremes" }, "Reset");
  const figures = make("span", {
    class: "grow",
    style: "font: 12px var(--mono); color: var(--dim)",
  });
  const bars = make("canvas", {
    tabindex: "0",
    role: "slider",
    "aria-label": "Frame",
    "aria-valuemin": "0",
  });
  const flame = make("canvas", { "aria-label": "Scopes of the frame" });
  const body = make("tbody", {});
  const head = ["scope", "calls", "last ms", "own ms", "min %", "avg %", "max %"];
  const table = make(
    "table",
    {},
    make(
      "thead",
      {},
      make("tr", {}, ...head.map((name, at) => make("th", { class: at ? "number" : "" }, name))),
    ),
    body,
  );
  const tip = make("div", { class: "tip", hidden: true });
  const samples = openSamples(connection, table);
  panel.append(
    make(
      "div",
      { class: "bar" },
      make("label", {}, hold, "hold"),
      slowest,
      reset,
      samples.choice,
      figures,
    ),
    make("div", { class: "frames" }, bars),
    make("div", { class: "flame" }, flame),
    make("div", { class: "scroll" }, table, samples.element),
  );
  // The tooltip follows the mouse across the whole page.
  document.body.append(tip);

  let entered = false;
  let frames = [];
  let names = [];
  let threads = [];
  let chosen = null;
  let boxes = [];

  const frameOf = () => frames.find((frame) => frame.index === chosen) ?? frames.at(-1);

  const drawBars = () => {
    const [context, width] = sized(bars, BAR_HEIGHT);
    // The scale fits the slowest frame, and one display frame if the frames come close to it. A few
    // frames that are far slower than all others are cut off.
    const sorted = frames.map((frame) => frame.seconds).sort((a, b) => a - b);
    const usual = sorted[Math.floor(sorted.length * 0.97)] ?? 0;
    const worst = sorted.at(-1) ?? 0;
    const slowest = Math.max(1 / 500, worst > usual * 4 ? usual * 2 : worst);
    const most = (slowest > 1 / 90 ? Math.max(slowest, 1 / 55) : slowest) * 1.2;
    const step = width / FRAMES;
    for (const seconds of [1 / 1000, 1 / 250, 1 / 60, 1 / 30]) {
      if (seconds > most || seconds < most / 6) continue;
      const y = BAR_HEIGHT - (seconds / most) * BAR_HEIGHT;
      context.fillStyle = "#2c3440";
      context.fillRect(0, y, width, 1);
      context.fillStyle = "#8c96a6";
      context.font = "10px ui-monospace, monospace";
      context.fillText(`${(seconds * 1000).toFixed(1)} ms`, 4, y - 3);
    }
    const current = frameOf();
    frames.forEach((frame, at) => {
      const height = Math.min(1, frame.seconds / most) * BAR_HEIGHT;
      context.fillStyle =
        frame === current
          ? "#6fb3ff"
          : frame.seconds > 1 / 30
            ? "#c9605a"
            : frame.seconds > 1 / 59
              ? "#b8913f"
              : "#4d7a5c";
      context.fillRect(
        width - (frames.length - at) * step,
        BAR_HEIGHT - height,
        Math.max(1, step - 1),
        height,
      );
    });
    if (current) {
      bars.setAttribute("aria-valuemax", frames.at(-1).index);
      bars.setAttribute("aria-valuenow", current.index);
      const milliseconds = (current.seconds * 1000).toFixed(2);
      const more = current.left_out ? `, ${current.left_out} more are left out` : "";
      const scopes = `${current.scopes.length} scopes${more}`;
      setText(figures, `frame ${current.index}: ${milliseconds} ms, ${scopes}`);
    }
  };

  const drawFlame = () => {
    const frame = frameOf();
    const scopes = frame?.scopes ?? [];
    const lanes = new Map();
    for (const scope of scopes) {
      const lane = lanes.get(scope[0]) ?? { deepest: 0, scopes: [] };
      lane.deepest = Math.max(lane.deepest, scope[2]);
      lane.scopes.push(scope);
      lanes.set(scope[0], lane);
    }
    const sorted = [...lanes].sort(([a], [b]) => a - b);
    const height = sorted.reduce((sum, [, lane]) => sum + NAME + 6 + (lane.deepest + 1) * ROW, 8);
    const [context, width] = sized(flame, Math.max(60, height));
    boxes = [];
    if (!frame) return;
    // Scopes of other threads may extend far beyond the frame on both sides.
    const whole = Math.max(frame.seconds, 1e-6) * 1.02;
    let y = 4;
    context.textBaseline = "middle";
    for (const [thread, lane] of sorted) {
      context.fillStyle = "#8c96a6";
      context.font = "10px ui-monospace, monospace";
      const lines = frame.threads[thread]?.name ?? "";
      context.fillText(lines, 6, y + NAME / 2);
      y += NAME;
      context.font = "11px ui-monospace, monospace";
      for (const [, number, depth, began, seconds] of lane.scopes) {
        const name = frame.names[number];
        const x = Math.max(0, (began / whole) * width);
        const end = Math.min(width, ((began + seconds) / whole) * width);
        if (end < 0 || x > width) continue;
        const wide = Math.max(1, end - x - 0.5);
        const top = y + depth * ROW;
        context.fillStyle = color(name ?? "");
        context.fillRect(x, top, wide, ROW - 1);
        if (wide > 34) {
          context.save();
          context.beginPath();
          context.rect(x, top, wide - 3, ROW);
          context.clip();
          context.fillStyle = "#f2f5f9";
          context.fillText(`${name}  ${(seconds * 1000).toFixed(2)}`, x + 5, top + ROW / 2);
          context.restore();
        }
        boxes.push({ x, y: top, wide, name, seconds, thread: lines });
      }
      y += (lane.deepest + 1) * ROW + 6;
    }
  };

  const drawTable = () => {
    const all = threads.flatMap((thread, lane) =>
      thread.rows.map((row) => ({ lane, thread, row })),
    );
    while (body.children.length > all.length) body.lastChild.remove();
    all.forEach(({ lane, thread, row }, at) => {
      const [name, parents, calls, seconds, own, min, avg, max] = row;
      const line =
        body.children[at] ??
        body.appendChild(
          make(
            "tr",
            {},
            make("td", {}),
            ...head.slice(1).map(() => make("td", { class: "number" })),
          ),
        );
      const texts = [
        `${lane && parents === 0 ? `${thread.name}: ` : ""}${names[name]}`,
        String(calls),
        (seconds * 1000).toFixed(3),
        (own * 1000).toFixed(3),
        min.toFixed(1),
        avg.toFixed(1),
        max.toFixed(1),
      ];
      texts.forEach((text, column) => setText(line.children[column], text));
      line.firstChild.style.paddingLeft = `${10 + parents * 14}px`;
    });
  };

  const ask = drawn(() => {
    if (!entered) return;
    drawBars();
    drawFlame();
    if (!hold.checked) drawTable();
  });

  connection.on("profile", (message) => {
    if (hold.checked) return;
    names = message.names;
    threads = message.threads;
    // Name and thread indices are only valid within one message.
    for (const frame of message.frames) [frame.names, frame.threads] = [names, threads];
    const newest = frames.at(-1)?.index ?? 0;
    const begunAnew = message.frames.length > 0 && message.frames.at(-1).index < newest;
    frames = begunAnew ? message.frames : [...frames, ...message.frames].slice(-FRAMES);
    ask();
  });

  const choose = (index) => {
    chosen = index;
    hold.checked = true;
    ask();
  };
  bars.addEventListener("click", (event) => {
    const width = bars.clientWidth;
    const at = frames.length - Math.ceil((width - event.offsetX) / (width / FRAMES));
    if (frames[at]) choose(frames[at].index);
  });
  bars.addEventListener("keydown", (event) => {
    const at = frames.indexOf(frameOf());
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: frames.length - 1 }[
      event.key
    ];
    if (to === undefined || !frames[to]) return;
    event.preventDefault();
    choose(frames[to].index);
  });
  hold.addEventListener("change", () => {
    if (!hold.checked) chosen = null;
    ask();
  });
  slowest.addEventListener("click", () => {
    const worst = frames.reduce((a, b) => (b.seconds > a.seconds ? b : a), frames[0]);
    if (worst) choose(worst.index);
  });
  reset.addEventListener("click", () => {
    connection.ask("profile", { reset: true }).catch(() => {});
    samples.reset();
  });
  flame.addEventListener("mousemove", (event) => {
    const box = boxes.find(
      (one) =>
        event.offsetX >= one.x &&
        event.offsetX <= one.x + one.wide &&
        event.offsetY >= one.y &&
        event.offsetY < one.y + ROW,
    );
    tip.hidden = !box;
    if (!box) return;
    setText(tip, `${box.name}\n${short(box.seconds * 1000)} ms on ${box.thread}`);
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${event.clientY + 14}px`;
  });
  flame.addEventListener("mouseleave", () => {
    tip.hidden = true;
  });

  const subscribe = () =>
    connection.ask("subscribe", { stream: "profile", every: 0.05 }).catch(() => {});
  connection.on("open", () => entered && subscribe());
  return {
    enter() {
      entered = true;
      subscribe();
      samples.enter();
      ask();
    },
    leave() {
      entered = false;
      tip.hidden = true;
      samples.leave();
      connection.ask("unsubscribe", { stream: "profile" }).catch(() => {});
    },
  };
}
