// Dialogs of the Flow editor: a name, unsaved changes, conflicts with the file on disk.

import { make, makeTable } from "./dom.js";

// Shows a modal dialog, and returns a promise of the value of the button that closed it, or "".
function ask(title, content, buttons) {
  const dialog = make("dialog", { class: "flow-dialog", "aria-label": title });
  const row = make(
    "div",
    { class: "others" },
    ...buttons.map(([text, value]) =>
      make(
        "button",
        { type: value === "" ? "button" : "submit", value, "data-value": value },
        text,
      ),
    ),
  );
  const form = make("form", { method: "dialog" }, make("h2", {}, title), ...content, row);
  dialog.append(form);
  form.querySelector('[data-value=""]')?.addEventListener("click", () => dialog.close(""));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

// Asks for a name. Returns it, or null.
export async function askName(title, initial) {
  const input = make("input", {
    type: "text",
    "aria-label": title,
    value: initial,
    pattern: "[A-Za-z0-9_\\/]+",
    required: true,
    title: "letters, digits, _ and /",
    autofocus: true,
  });
  const answer = ask(
    title,
    [make("p", {}, input)],
    [
      ["Create", "yes"],
      ["Cancel", ""],
    ],
  );
  input.select();
  return (await answer) === "yes" ? input.value : null;
}

// Asks about unsaved changes. Returns "save", "discard" or "".
export function askUnsaved(graph) {
  const text = `The changes of ${graph} are not saved.`;
  return ask(
    "Unsaved changes",
    [make("p", {}, text)],
    [
      ["Save", "save"],
      ["Discard", "discard"],
      ["Cancel", ""],
    ],
  );
}

// Shows entries that both this page and somebody else have changed. Returns "mine", "disk" or "".
export function askConflicts(conflicts) {
  const cell = (text) => make("td", { class: "wide" }, text ?? "(removed)");
  const rows = conflicts.map((one) =>
    make("tr", {}, make("td", {}, one.path), cell(one.base), cell(one.mine), cell(one.disk)),
  );
  const heads = ["entry", "before", "here", "on disk"];
  const table = makeTable({}, heads, 9, make("tbody", {}, ...rows));
  const text = "The file was changed on disk, and these entries were changed here, too:";
  const content = [make("p", {}, text), make("div", { class: "wide-table" }, table)];
  return ask("Conflicts", content, [
    ["Keep mine", "mine"],
    ["Take those on disk", "disk"],
    ["Cancel", ""],
  ]);
}
