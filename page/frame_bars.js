// The last frames as bars, one of which is chosen.

import { makeTip, short, sizedCanvas } from "./dom.js";
import { color } from "./theme.js";

export const FRAMES = 240;
const HEIGHT = 84;
// Durations at which a line is drawn.
const GUIDES = [1 / 1000, 1 / 250, 1 / 60, 1 / 30];

// Returns the duration at the top of the bars. The scale fits the slowest frame, and one display
// frame if the frames come close to it. A few frames that are far slower than all others are cut
// off.
function scaleOf(frames) {
  const sorted = frames.map((frame) => frame.seconds).sort((a, b) => a - b);
  const usual = sorted[Math.floor(sorted.length * 0.97)] ?? 0;
  const worst = sorted.at(-1) ?? 0;
  const slowest = Math.max(1 / 500, worst > usual * 4 ? usual * 2 : worst);
  return (slowest > 1 / 90 ? Math.max(slowest, 1 / 55) : slowest) * 1.2;
}

function barColor(frame, chosen) {
  if (chosen) return color("accent");
  if (frame.seconds > 1 / 30) return color("frame-slow");
  return color(frame.seconds > 1 / 59 ? "frame-late" : "frame-good");
}

export class FrameBars {
  // `choose` is called with the index of a frame.
  constructor(canvas, choose) {
    Object.assign(this, { canvas, choose, frames: [], current: null });
    const tip = makeTip();
    canvas.addEventListener("click", (event) => {
      const frame = this.at(event.offsetX);
      if (frame) choose(frame.index);
    });
    canvas.addEventListener("mousemove", (event) => {
      const frame = this.at(event.offsetX);
      if (!frame) return tip.hide();
      const text = `frame ${frame.index}\n${short(frame.seconds * 1000)} ms`;
      tip.show(text, event.clientX, event.clientY);
    });
    canvas.addEventListener("mouseleave", () => tip.hide());
    canvas.addEventListener("keydown", (event) => {
      const at = this.frames.indexOf(this.current);
      const end = this.frames.length - 1;
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: end }[event.key];
      if (to === undefined || !this.frames[to]) return;
      event.preventDefault();
      choose(this.frames[to].index);
    });
  }

  // Returns the frame at a position on the canvas.
  at(x) {
    const width = this.canvas.clientWidth;
    return this.frames[this.frames.length - Math.ceil((width - x) / (width / FRAMES))];
  }

  draw(frames, current) {
    Object.assign(this, { frames, current });
    const [context, width] = sizedCanvas(this.canvas, HEIGHT);
    const most = scaleOf(frames);
    const step = width / FRAMES;
    context.font = "10px ui-monospace, monospace";
    frames.forEach((frame, at) => {
      const height = Math.min(1, frame.seconds / most) * HEIGHT;
      const x = width - (frames.length - at) * step;
      context.fillStyle = barColor(frame, frame === current);
      context.fillRect(x, HEIGHT - height, Math.max(1, step - 1), height);
    });
    for (const seconds of GUIDES) {
      if (seconds > most || seconds < most / 6) continue;
      const y = Math.round(HEIGHT - (seconds / most) * HEIGHT);
      context.fillStyle = color("strong-line");
      context.fillRect(0, y, width, 1);
      context.fillStyle = color("dim");
      // Below the line at the upper edge.
      context.fillText(`${(seconds * 1000).toFixed(1)} ms`, 4, y < 12 ? y + 11 : y - 3);
    }
    if (!current) return;
    this.canvas.setAttribute("aria-valuemin", frames[0].index);
    this.canvas.setAttribute("aria-valuemax", frames.at(-1).index);
    this.canvas.setAttribute("aria-valuenow", current.index);
    const milliseconds = short(current.seconds * 1000);
    this.canvas.setAttribute(
      "aria-valuetext",
      `frame ${current.index}, ${milliseconds} milliseconds`,
    );
  }
}
