// The game's image, as often as the browser can receive it, and keyboard and mouse input for the
// game.

import { make } from "./dom.js";

const BUTTONS = ["left", "middle", "right"];

export function openPicture(panel, connection) {
  const live = make("input", { type: "checkbox", checked: true });
  const control = make("input", { type: "checkbox" });
  const save = make("button", {}, "Save picture");
  const figures = make("span", { class: "grow" });
  const canvas = make("canvas", { tabindex: "0", "aria-label": "The game's picture" });
  const note = make("div", { class: "note", hidden: true });
  panel.append(
    make(
      "div",
      { class: "bar" },
      make("label", {}, live, "live"),
      make(
        "label",
        {
          title: "Keys and mouse go to the game while the picture has the focus; Escape leaves it",
        },
        control,
        "play here",
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
  // A restored connection is a new one, without subscriptions.
  connection.on("open", follow);
  let resizing = 0;
  new ResizeObserver(() => {
    clearTimeout(resizing);
    resizing = setTimeout(follow, 300);
  }).observe(canvas);

  const context = canvas.getContext("2d", { alpha: false });
  let busy = false;
  connection.on("picture", async (message) => {
    // One image at a time: a slow browser shows fewer of them.
    if (busy) return;
    busy = true;
    try {
      const bitmap = await createImageBitmap(new Blob([message.bytes], { type: "image/png" }));
      if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
        [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
      }
      context.drawImage(bitmap, 0, 0);
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
      connection.emit("message", { level: "error", message: error.message });
    }
  });

  // Keys and buttons that are held down in the game. They are released when the page loses the
  // keyboard focus.
  const held = new Map();
  const send = (fields) => connection.ask("input", fields).catch(() => {});
  const hold = (device, button) => {
    held.set(`${device} ${button}`, { device, button });
    send({ device, button, value: 1 });
  };
  const release = (device, button) => {
    if (held.delete(`${device} ${button}`)) send({ device, button, value: 0 });
  };
  const releaseAll = () => {
    for (const { device, button } of [...held.values()]) release(device, button);
  };
  canvas.addEventListener("keydown", (event) => {
    if (!control.checked || event.altKey || event.metaKey) return;
    if (event.key === "Escape") {
      control.checked = false;
      releaseAll();
      return;
    }
    event.preventDefault();
    // Identified by the physical key, as in the game's own window.
    if (!event.repeat && event.code) hold("keyboard", event.code);
    if (event.key.length === 1 && !event.ctrlKey) send({ device: "keyboard", text: event.key });
  });
  canvas.addEventListener("keyup", (event) => release("keyboard", event.code));
  canvas.addEventListener("blur", releaseAll);
  control.addEventListener("change", () => {
    if (control.checked) canvas.focus();
    else releaseAll();
  });

  // Returns the mouse position in the game: logical pixels from the lower left corner. The image is
  // centered in the canvas, as large as it fits.
  let size = [0, 0];
  const gamePosition = (event) => {
    const { width, height } = canvas.getBoundingClientRect();
    const scale = Math.min(width / canvas.width, height / canvas.height);
    const [shown, tall] = [canvas.width * scale, canvas.height * scale];
    const x = (event.offsetX - (width - shown) / 2) / shown;
    const y = (event.offsetY - (height - tall) / 2) / tall;
    return [x * size[0], (1 - y) * size[1]];
  };
  canvas.addEventListener("pointermove", (event) => {
    if (!control.checked) return;
    send({ device: "mouse", axis: "cursor", to: gamePosition(event) });
    send({ device: "mouse", axis: "mouse", by: [event.movementX, -event.movementY] });
  });
  canvas.addEventListener("pointerdown", (event) => {
    if (!control.checked || !BUTTONS[event.button]) return;
    canvas.setPointerCapture(event.pointerId);
    send({ device: "mouse", axis: "cursor", to: gamePosition(event) });
    hold("mouse", BUTTONS[event.button]);
  });
  canvas.addEventListener("pointerup", (event) => release("mouse", BUTTONS[event.button]));
  canvas.addEventListener("pointercancel", releaseAll);
  canvas.addEventListener("contextmenu", (event) => control.checked && event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    if (!control.checked) return;
    event.preventDefault();
    send({ device: "mouse", axis: "wheel", by: [0, -Math.sign(event.deltaY)] });
  });

  return {
    status(status) {
      size = status.size.map((pixels) => pixels / status.scale);
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
