// Resources: a list of all of them, and one resource with its references in both directions.

import { bytes, make, makeTable, setText, walkable } from "./dom.js";
import { showView } from "./references.js";
import { makeLinks, sharing } from "./resource_links.js";

const ROWS_MAX = 1000;
const INDIRECT_MAX = 100;
const SETTLE_MILLISECONDS = 120;

function makeDetail(one, look, reload) {
  const indirect = one.all_dependents.filter((name) => !one.dependents.includes(name));
  const other = (name) => make("button", { onclick: () => look(name) }, name);
  const rest = indirect.length - INDIRECT_MAX;
  const variants = one.variants.map((variant) =>
    make(
      "tr",
      {},
      make("td", {}, variant.properties || "(none)"),
      make("td", { class: "wide" }, variant.files.join(", ")),
      make("td", {}, variant.data),
    ),
  );
  const body = make("tbody", {}, ...variants);
  const facts = `#${one.hash}, serves ${one.serves || "nothing"}, loaded ${bytes(one.loaded)}`;
  return [
    make(
      "div",
      { class: "headline" },
      make("h2", {}, one.name),
      make("button", { onclick: reload }, "Reload"),
      make("button", { onclick: () => showView("References", one.name) }, "Graph"),
    ),
    make("p", { class: "sharing" }, sharing(one.dependents.length, one.all_dependents.length)),
    make("div", { class: "facts" }, facts),
    make("h3", {}, "Named by, and names"),
    makeLinks(one, look),
    ...(indirect.length
      ? [
          make("h3", {}, "Depend on it through others"),
          make(
            "p",
            { class: "others" },
            ...indirect.slice(0, INDIRECT_MAX).map(other),
            rest > 0 ? `and ${rest} more` : null,
          ),
        ]
      : []),
    make("h3", {}, "Variants"),
    make(
      "div",
      { class: "wide-table" },
      makeTable({}, ["properties", "made of", "data"], 9, body),
    ),
  ];
}

export function openResources(panel, connection) {
  const filter = make("input", {
    type: "search",
    placeholder: "filter by name",
    "aria-label": "Filter of resources",
  });
  const kinds = make(
    "select",
    { "aria-label": "Kind" },
    make("option", { value: "" }, "every kind"),
  );
  const count = make("span", { class: "aside", role: "status" });
  const body = make("tbody", {});
  const heads = ["resource", "loaded", "names"];
  const table = makeTable({ role: "grid", "aria-label": "Resources" }, heads, 1, body);
  const hint = "Choose a resource to see what it is made of and who depends on it.";
  const detail = make(
    "div",
    { class: "detail", tabindex: "0", "aria-label": "The chosen resource" },
    make("p", { class: "note" }, hint),
  );
  panel.append(
    make("div", { class: "bar" }, filter, kinds, count),
    make("div", { class: "columns" }, make("div", { class: "list" }, table), detail),
  );

  let entered = false;
  let chosen = null;

  const rowOf = (one, at) =>
    make(
      "tr",
      {
        "data-name": one.name,
        tabindex: at === 0 ? "0" : "-1",
        "aria-selected": String(one.name === chosen),
      },
      make("td", { title: one.path }, one.name),
      make("td", { class: "number" }, one.loaded == null ? "" : bytes(one.loaded)),
      make("td", { class: "number" }, String(one.names.length || "")),
    );
  let shown = "";
  let turn = 0;
  const list = async () => {
    if (!entered) return;
    turn += 1;
    const own = turn;
    const fields = { max: ROWS_MAX };
    if (filter.value) fields.text = filter.value;
    if (kinds.value) fields.kind = kinds.value;
    try {
      const answer = await connection.ask("resources", fields);
      if (own !== turn) return;
      const text = JSON.stringify([answer.count, answer.resources]);
      if (text === shown) return;
      shown = text;
      const all = answer.resources;
      const cut = answer.count > all.length ? `, the first ${all.length} are listed` : "";
      setText(count, `${answer.count} resources${cut}`);
      const known = answer.kinds.map((kind) => kind.name);
      const kind = kinds.value;
      if (kind && !known.includes(kind)) known.push(kind);
      kinds.replaceChildren(
        make("option", { value: "" }, "every kind"),
        ...known.map((name) => make("option", { value: name }, name)),
      );
      kinds.value = kind;
      const focused = document.activeElement?.closest("tr")?.dataset.name;
      body.replaceChildren(...all.map(rowOf));
      if (focused) body.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
    } catch {
      // The connection reports its own end.
    }
  };
  let settling = 0;
  const soon = () => {
    clearTimeout(settling);
    settling = setTimeout(list, SETTLE_MILLISECONDS);
  };

  const look = async (name) => {
    chosen = name;
    for (const row of body.children) {
      row.setAttribute("aria-selected", row.dataset.name === name);
      row.tabIndex = row.dataset.name === name ? 0 : -1;
    }
    const reload = () =>
      connection.ask("reload", { name }).then(
        () => look(name),
        (error) => connection.emit("message", { level: "error", message: error.message }),
      );
    try {
      const one = await connection.ask("resource", { name });
      detail.replaceChildren(...makeDetail(one, look, reload));
    } catch (error) {
      detail.replaceChildren(make("p", { class: "note" }, error.message));
    }
  };
  walkable(body, "tr", (row) => look(row.dataset.name));

  filter.addEventListener("input", soon);
  kinds.addEventListener("change", list);
  setInterval(list, 1500);
  return {
    filter,
    look,
    enter() {
      entered = true;
      list();
    },
    leave() {
      entered = false;
    },
  };
}
