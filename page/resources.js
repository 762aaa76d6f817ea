// Resources: a list of all of them, and one resource with its references in both directions.

import { bytes, make, setText, walkable } from "./dom.js";

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
  const count = make("span", { class: "note", style: "padding: 0" });
  const body = make("tbody", {});
  const table = make(
    "table",
    {},
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", {}, "resource"),
        make("th", { class: "number" }, "loaded"),
        make("th", { class: "number" }, "names"),
      ),
    ),
    body,
  );
  const detail = make(
    "div",
    { class: "detail" },
    make(
      "p",
      { class: "note" },
      "Choose a resource to see what it is made of and who depends on it.",
    ),
  );
  panel.append(
    make("div", { class: "bar" }, filter, kinds, count),
    make("div", { class: "columns" }, make("div", {}, table), detail),
  );

  let entered = false;
  let chosen = null;
  let all = [];

  const show = () => {
    const fitting = all.filter(
      (one) => one.name.includes(filter.value) && (!kinds.value || one.kind === kinds.value),
    );
    setText(count, `${fitting.length} resources`);
    body.replaceChildren(
      ...fitting
        .slice(0, 3000)
        .map((one, at) =>
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
          ),
        ),
    );
  };
  const list = async () => {
    if (!entered) return;
    try {
      const answer = await connection.ask("resources");
      const text = JSON.stringify(answer.resources);
      if (text === list.text) return;
      list.text = text;
      all = answer.resources;
      const known = [...new Set(all.map((one) => one.kind))].sort();
      const kind = kinds.value;
      kinds.replaceChildren(
        make("option", { value: "" }, "every kind"),
        ...known.map((name) => make("option", { value: name }, name)),
      );
      kinds.value = known.includes(kind) ? kind : "";
      const focused = document.activeElement?.closest("tr")?.dataset.name;
      show();
      if (focused) body.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus();
    } catch {
      // The connection reports its own end.
    }
  };

  const look = async (name) => {
    chosen = name;
    for (const row of body.children) {
      row.setAttribute("aria-selected", row.dataset.name === name);
      row.tabIndex = row.dataset.name === name ? 0 : -1;
    }
    try {
      draw(await connection.ask("resource", { name }));
    } catch (error) {
      detail.replaceChildren(make("p", { class: "note" }, error.message));
    }
  };
  walkable(body, "tr", (row) => look(row.dataset.name));

  // Draws resources that refer to this one on the left, and its own references on the right, with
  // lines between them.
  const draw = (one) => {
    const link = (name) =>
      make("li", {}, make("button", { onclick: () => look(name), title: name }, name));
    const left = make("ul", { "aria-label": "Named by" }, ...one.dependents.map(link));
    const right = make(
      "ul",
      { "aria-label": "Names" },
      ...one.names.map(link),
      ...one.missing.map((name) =>
        make("li", { class: "missing", title: "it is missing" }, `${name} (missing)`),
      ),
    );
    const self = make("div", { class: "self" }, one.name);
    const lines = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    lines.setAttribute("aria-hidden", "true");
    const links = make("div", { class: "links" }, lines, left, self, right);
    const again = make(
      "button",
      {
        onclick: () =>
          connection.ask("reload", { name: one.name }).then(
            () => look(one.name),
            (error) => connection.emit("message", { level: "error", message: error.message }),
          ),
      },
      "Reload",
    );
    const indirect = one.all_dependents.filter((name) => !one.dependents.includes(name));
    const variants = one.variants.map((variant) =>
      make(
        "tr",
        {},
        make("td", {}, variant.properties || "(none)"),
        make("td", { class: "wide" }, variant.files.join(", ")),
        make("td", {}, variant.data),
      ),
    );
    detail.replaceChildren(
      make(
        "div",
        { style: "display: flex; gap: 10px; align-items: center" },
        make("h2", { style: "margin: 0" }, one.name),
        again,
      ),
      make(
        "div",
        { class: "note", style: "padding: 0" },
        `#${one.hash}, serves ${one.serves || "nothing"}, loaded ${bytes(one.loaded)}`,
      ),
      make("h3", {}, "Named by, and names"),
      links,
      ...(indirect.length
        ? [
            make("h3", {}, "Depend on it through others"),
            make(
              "p",
              { style: "margin: 0" },
              ...indirect.map((name) =>
                make(
                  "button",
                  {
                    style: "margin: 0 4px 4px 0; font: 12px var(--mono)",
                    onclick: () => look(name),
                  },
                  name,
                ),
              ),
            ),
          ]
        : []),
      make("h3", {}, "Variants"),
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make("tr", {}, ...["properties", "made of", "data"].map((name) => make("th", {}, name))),
        ),
        make("tbody", {}, ...variants),
      ),
    );
    const base = links.getBoundingClientRect();
    const box = (element) => element.getBoundingClientRect();
    const middle = box(self);
    const curve = (x1, y1, x2, y2) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      const [from, to] = [`${x1 - base.x} ${y1 - base.y}`, `${x2 - base.x} ${y2 - base.y}`];
      const bend = (x1 + x2) / 2 - base.x;
      path.setAttribute(
        "d",
        `M${from} C${bend} ${y1 - base.y} ${bend} ${y2 - base.y} ${to}`,
      );
      lines.append(path);
    };
    const center = (rect) => rect.y + rect.height / 2;
    for (const item of left.children)
      curve(box(item).right, center(box(item)), middle.left, center(middle));
    for (const item of right.children)
      curve(middle.right, center(middle), box(item).left, center(box(item)));
  };

  filter.addEventListener("input", show);
  kinds.addEventListener("change", show);
  setInterval(list, 1500);
  return {
    filter,
    enter() {
      entered = true;
      list();
    },
    leave() {
      entered = false;
    },
  };
}
