// The settings of the page, kept in the browser for this game's address, and their dialog.

import { make } from "./dom.js";
import { EDITORS } from "./editors.js";

const KEY = "settings";

// Each setting: its label and its choices, the first of which is the default.
const ROWS = {
  theme: [
    "Theme",
    [
      ["auto", "as the desktop"],
      ["dark", "dark"],
      ["light", "light"],
    ],
  ],
  editor: ["Editor that file links open", EDITORS.map(({ name, title }) => [name, title])],
  stamps: [
    "Time and frame of log lines",
    [
      ["both", "time and frame"],
      ["time", "time"],
      ["frame", "frame"],
      ["none", "hidden"],
    ],
  ],
  announce: [
    "Log lines that screen readers announce",
    [
      ["problems", "warnings and errors"],
      ["all", "all lines"],
      ["none", "none"],
    ],
  ],
};

const listeners = [];
let stored = {};
try {
  stored = JSON.parse(localStorage.getItem(KEY) ?? "{}") ?? {};
} catch {
  // A damaged text counts as no settings.
}

// The settings as fields. An unknown value counts as the default.
export const settings = {
  watch(listener) {
    listeners.push(listener);
  },
  set(name, value) {
    stored = { ...stored, [name]: value };
    localStorage.setItem(KEY, JSON.stringify(stored));
    for (const listener of listeners) listener();
  },
};
for (const [name, [, choices]] of Object.entries(ROWS)) {
  Object.defineProperty(settings, name, {
    get: () => (choices.some(([value]) => value === stored[name]) ? stored[name] : choices[0][0]),
  });
}

// Another window of the page has changed the settings.
addEventListener("storage", (event) => {
  if (event.key !== KEY) return;
  stored = JSON.parse(event.newValue ?? "{}");
  for (const listener of listeners) listener();
});

// Fills the dialog of the settings, and returns a function that opens it.
export function openSettings(dialog) {
  const rows = Object.entries(ROWS).map(([name, [label, choices]]) => {
    const select = make(
      "select",
      { id: `setting-${name}` },
      ...choices.map(([value, text]) => make("option", { value }, text)),
    );
    select.addEventListener("change", () => settings.set(name, select.value));
    return { name, select, line: [make("label", { for: select.id }, label), select] };
  });
  dialog.replaceChildren(
    make("h2", { id: "options-title" }, "Settings"),
    make("div", { class: "form" }, ...rows.flatMap(({ line }) => line)),
    make(
      "p",
      { class: "note" },
      "A link such as main.lua:12 asks the browser to open the editor.",
    ),
    make("form", { method: "dialog" }, make("button", {}, "Close")),
  );
  return () => {
    for (const { name, select } of rows) select.value = settings[name];
    dialog.showModal();
  };
}
