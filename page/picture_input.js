// Keyboard and mouse input for the game, while its picture has the focus.

const BUTTONS = ["left", "middle", "right"];

// `control`: the checkbox that allows input. `size` returns the size of the game's window, in
// logical pixels.
export function openPictureInput(canvas, control, connection, size) {
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
  const gamePosition = (event) => {
    const { width, height } = canvas.getBoundingClientRect();
    const scale = Math.min(width / canvas.width, height / canvas.height);
    const [shown, tall] = [canvas.width * scale, canvas.height * scale];
    const x = (event.offsetX - (width - shown) / 2) / shown;
    const y = (event.offsetY - (height - tall) / 2) / tall;
    const [wide, high] = size();
    return [x * wide, (1 - y) * high];
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
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!control.checked) return;
      event.preventDefault();
      send({ device: "mouse", axis: "wheel", by: [0, -Math.sign(event.deltaY)] });
    },
    { passive: false },
  );
}
