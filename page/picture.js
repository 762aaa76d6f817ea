// The game's image, as often as the browser can receive it, and keyboard and mouse input for the
// game. The image can be enlarged, or shown in a window of its own.

import { make, setText } from "./dom.js";
import { openPictureInput } from "./picture_input.js";

// The mark in the address of a window that shows only the picture.
export const ONLY_PICTURE = "#picture";
const WIDTH_LEAST = 160;
const WIDTH_MOST = 1920;
const NOTHING_DRAWN =
  "Nothing is drawn in this run. Start it with a window, or with --renderer auto.";
// Those of the engine (src/frame_packet/debug_view.rs), which a test compares.
const DEBUG_VIEWS = [
  "none",
  "albedo",
  "normals",
  "roughness",
  "metallic",
  "occlusion",
  "mip_level",
  "light_count",
  "cascades",
  "overdraw",
  "shadow_atlas",
  "motion_vectors",
];
const WINDOW = "popup,width=1000,height=640";

// Shows the pictures of the stream. The game sends the next one when this one is shown.
function openStream(canvas, connection, live) {
  const context = canvas.getContext("2d", { alpha: false });
  connection.on("picture", async (message) => {
    try {
      const type = `image/${message.format}`;
      const bitmap = await createImageBitmap(new Blob([message.bytes], { type }));
      if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
        [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
      }
      context.drawImage(bitmap, 0, 0);
      canvas.dataset.frame = message.frame;
      canvas.dataset.format = message.format;
      bitmap.close();
    } finally {
      connection.ask("picture_shown").catch(() => {});
    }
  });
  let draws = false;
  const follow = () => {
    if (!draws) return;
    const wanted = Math.round(canvas.clientWidth * devicePixelRatio);
    const width = Math.max(WIDTH_LEAST, Math.min(WIDTH_MOST, wanted));
    const shown = live() && canvas.clientWidth > 0;
    const message = shown
      ? ["subscribe", { stream: "picture", every: 0.03, width, acknowledge: true }]
      : ["unsubscribe", { stream: "picture" }];
    connection.ask(...message).catch(() => {});
  };
  // A restored connection is a new one, without subscriptions.
  connection.on("open", follow);
  let resizing = 0;
  new ResizeObserver(() => {
    clearTimeout(resizing);
    resizing = setTimeout(follow, 300);
  }).observe(canvas);
  return {
    follow,
    set draws(on) {
      const change = on !== draws;
      draws = on;
      if (change) follow();
    },
  };
}

// Makes the list of debug views: values and images that worlds show instead of light.
function makeDebugViews(connection) {
  const title = "Shows values of surfaces or images of the renderer instead of light";
  const list = make("select", { title, "aria-label": "Debug view" });
  for (const name of DEBUG_VIEWS) {
    const text = name === "none" ? "light" : name.replace("_", " ");
    list.append(make("option", { value: name }, text));
  }
  // A restored connection may be to another run, and another page may have switched the view.
  connection.on("open", async () => {
    const text = 'Application.render_setting("debug_view")';
    const answer = await connection.ask("eval", { text, data: true }).catch(() => ({}));
    list.value = DEBUG_VIEWS.includes(answer.data) ? answer.data : "none";
  });
  list.addEventListener("change", async () => {
    const text = `Application.set_render_setting("debug_view", "${list.value}")`;
    try {
      await connection.ask("eval", { text });
    } catch (error) {
      connection.emit("message", { level: "error", message: error.message });
    }
  });
  return list;
}

async function savePicture(connection) {
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
}

export function openPicture(panel, connection) {
  const live = make("input", { type: "checkbox", checked: true });
  const control = make("input", { type: "checkbox" });
  const save = make("button", { title: "Saves the picture as a PNG file" }, "Save");
  const large = make("button", { "aria-pressed": "false", title: "Alt+L" }, "Large");
  const detach = make("button", { title: "Shows the picture in a window of its own" }, "Detach");
  const canvas = make("canvas", { tabindex: "0", "aria-label": "The game's picture" });
  const note = make("div", { class: "note", hidden: true });
  const title = "Keys and mouse go to the game while the picture has the focus; Escape leaves it";
  panel.append(
    make(
      "div",
      { class: "bar" },
      make("label", {}, live, "live"),
      make("label", { title }, control, "play here"),
      makeDebugViews(connection),
      make("span", { class: "grow" }),
      large,
      detach,
      save,
    ),
    canvas,
    note,
  );

  let other = null;
  const isDetached = () => other !== null && !other.closed;
  const stream = openStream(canvas, connection, () => live.checked && !isDetached());
  live.addEventListener("change", stream.follow);
  save.addEventListener("click", () => savePicture(connection));

  const setLarge = (on) => {
    document.body.toggleAttribute("data-large", on);
    large.setAttribute("aria-pressed", String(on));
    setText(large, on ? "Small" : "Large");
  };
  const toggleLarge = () => setLarge(!document.body.hasAttribute("data-large"));
  large.addEventListener("click", toggleLarge);

  let draws = false;
  const showNote = () => {
    const away = isDetached();
    canvas.hidden = !draws || away;
    note.hidden = draws && !away;
    setText(note, draws ? "The picture is in a window of its own." : NOTHING_DRAWN);
    setText(detach, away ? "Attach" : "Detach");
  };
  detach.addEventListener("click", () => {
    if (isDetached()) {
      other.close();
      return;
    }
    other = window.open(`${location.pathname}${location.search}${ONLY_PICTURE}`, "_blank", WINDOW);
    if (!other) {
      const message = "the browser has blocked the window: allow windows of this page";
      connection.emit("message", { level: "warning", message });
      return;
    }
    setLarge(false);
    showNote();
    stream.follow();
    const watch = setInterval(() => {
      if (isDetached()) return;
      clearInterval(watch);
      showNote();
      stream.follow();
    }, 300);
  });

  let size = [0, 0];
  openPictureInput(canvas, control, connection, () => size);
  return {
    toggleLarge,
    status(status) {
      size = status.size.map((pixels) => pixels / status.scale);
      draws = status.draws;
      save.disabled = large.disabled = detach.disabled = !draws;
      showNote();
      stream.draws = draws;
    },
  };
}
