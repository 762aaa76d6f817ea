// Splitters: bars between panels that change their sizes, with the mouse or the arrow keys. The
// sizes are kept in the browser as percentages, so that they fit every window.

const KEY = "sizes";
const LEAST = 12;
const MOST = 88;
const STEP = 2;

const read = () => {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
  } catch {
    // A damaged text counts as no sizes.
    return {};
  }
};

// Makes a bar set the property `variable` of the element `host` to its position in percent.
// `across`: the bar is horizontal, and the panels are above and below it.
export function openSplitter(bar, { host, variable, across, initial, label }) {
  let size = 0;
  const set = (percent) => {
    size = Math.min(MOST, Math.max(LEAST, percent));
    host.style.setProperty(variable, `${size}%`);
    bar.setAttribute("aria-valuenow", Math.round(size));
  };
  const keep = () => localStorage.setItem(KEY, JSON.stringify({ ...read(), [variable]: size }));
  bar.setAttribute("role", "separator");
  bar.setAttribute("tabindex", "0");
  bar.setAttribute("aria-orientation", across ? "horizontal" : "vertical");
  bar.setAttribute("aria-label", label);
  bar.setAttribute("aria-valuemin", LEAST);
  bar.setAttribute("aria-valuemax", MOST);
  bar.title = "Drag, or press an arrow key; a double click resets it";
  bar.addEventListener("pointerdown", (event) => {
    bar.setPointerCapture(event.pointerId);
    event.preventDefault();
    bar.focus();
  });
  bar.addEventListener("pointermove", (event) => {
    if (!bar.hasPointerCapture(event.pointerId)) return;
    const box = host.getBoundingClientRect();
    const part = across
      ? (event.clientY - box.top) / box.height
      : (event.clientX - box.left) / box.width;
    set(part * 100);
  });
  bar.addEventListener("pointerup", keep);
  bar.addEventListener("dblclick", () => {
    set(initial);
    keep();
  });
  bar.addEventListener("keydown", (event) => {
    const [less, more] = across ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
    const to = { [less]: size - STEP, [more]: size + STEP, Home: LEAST, End: MOST }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    set(to);
    keep();
  });
  const stored = Number(read()[variable]);
  set(stored > 0 ? stored : initial);
}
