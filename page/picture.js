// What is seen in the game, as often as the browser takes it, and keys for it from here.

import { make } from "./dom.js";

// Keys whose names differ from the standard's.
const KEYS = {
  " ": "space",
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
  Enter: "enter",
  Backspace: "backspace",
  Delete: "delete",
  Home: "home",
  End: "end",
  Shift: "left shift",
  Control: "left ctrl",
  Tab: "tab",
};

export function openPicture(panel, connection) {
  const live = make("input", { type: "checkbox", checked: true });
  const control = make("input", { type: "checkbox" });
  const save = make("button", {}, "Save picture");
  const figures = make("span", { class: "grow" });
  const canvas = make("canvas", { tabindex: "0", "aria-label": "What is seen in the game" });
  const note = make("div", { class: "note", hidden: true });
  panel.append(
    make(
      "div",
      { class: "bar" },
      make("label", {}, live, "live"),
      make(
        "label",
        { title: "Keys go to the game while the picture has the focus; Escape leaves it" },
        control,
        "keys to the game",
      ),
      figures,
      save,
    ),
    canvas,
    note,
  );

  let draws = false;
  const follow = () => {
    if (!draws) return;
    const width = Math.max(160, Math.min(1280, Math.round(canvas.clientWidth * devicePixelRatio)));
    const message = live.checked
      ? ["subscribe", { stream: "picture", every: 0.05, width }]
      : ["unsubscribe", { stream: "picture" }];
    connection.ask(...message).catch(() => {});
  };
  live.addEventListener("change", follow);
  let resizing = 0;
  new ResizeObserver(() => {
    clearTimeout(resizing);
    resizing = setTimeout(follow, 300);
  }).observe(canvas);

  let busy = false;
  connection.on("picture", async (message) => {
    // One at a time: a slow browser shows fewer of them.
    if (busy) return;
    busy = true;
    try {
      const bitmap = await createImageBitmap(new Blob([message.bytes], { type: "image/png" }));
      if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
        [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
      }
      canvas.getContext("2d").drawImage(bitmap, 0, 0);
      canvas.dataset.frame = message.frame;
      bitmap.close();
    } finally {
      busy = false;
    }
  });

  save.addEventListener("click", async () => {
    try {
      const picture = await connection.ask("screenshot");
      const link = make("a", {
        href: `data:image/png;base64,${picture.png}`,
        download: `frame_${picture.frame}.png`,
      });
      link.click();
    } catch (error) {
      connection.tell("message", { level: "error", message: error.message });
    }
  });

  const press = (event, value) => {
    if (!control.checked || event.altKey || event.metaKey) return;
    if (event.key === "Escape") {
      control.checked = false;
      return;
    }
    if (event.repeat) return event.preventDefault();
    const button = KEYS[event.key] ?? event.key.toLowerCase();
    event.preventDefault();
    connection.ask("input", { device: "keyboard", button, value }).catch(() => {});
    if (value === 1 && event.key.length === 1) {
      connection.ask("input", { device: "keyboard", text: event.key }).catch(() => {});
    }
  };
  canvas.addEventListener("keydown", (event) => press(event, 1));
  canvas.addEventListener("keyup", (event) => press(event, 0));

  return {
    status(status) {
      const change = status.draws !== draws;
      draws = status.draws;
      canvas.hidden = save.disabled = !draws;
      note.hidden = draws;
      note.textContent =
        "Nothing is drawn in this run. Start it with a window, or with --renderer auto.";
      if (change) follow();
    },
  };
}
