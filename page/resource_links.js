// The references of a resource as a picture: resources that refer to it on the left, its own
// references on the right, with lines between them.

import { make } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";

function drawLines(links, lines, left, self, right) {
  const base = links.getBoundingClientRect();
  const box = (element) => element.getBoundingClientRect();
  const middle = box(self);
  const curve = (x1, y1, x2, y2) => {
    const path = document.createElementNS(SVG, "path");
    const bend = (x1 + x2) / 2 - base.x;
    const [from, to] = [`${x1 - base.x} ${y1 - base.y}`, `${x2 - base.x} ${y2 - base.y}`];
    path.setAttribute("d", `M${from} C${bend} ${y1 - base.y} ${bend} ${y2 - base.y} ${to}`);
    lines.append(path);
  };
  const center = (rect) => rect.y + rect.height / 2;
  lines.replaceChildren();
  for (const item of left.children)
    curve(box(item).right, center(box(item)), middle.left, center(middle));
  for (const item of right.children)
    curve(middle.right, center(middle), box(item).left, center(box(item)));
}

// Returns an element with the references of a resource. `look` shows another resource.
export function makeLinks(one, look) {
  const link = (name) =>
    make("li", {}, make("button", { onclick: () => look(name), title: name }, name));
  const left = make("ul", { "aria-label": "Named by" }, ...one.dependents.map(link));
  const right = make(
    "ul",
    { "aria-label": "Names" },
    ...one.names.map(link),
    ...one.built_in.map((name) =>
      make("li", { class: "built-in", title: "part of the engine" }, `${name} (built in)`),
    ),
    ...one.missing.map((name) =>
      make("li", { class: "missing", title: "it is missing" }, `${name} (missing)`),
    ),
  );
  const self = make("div", { class: "self" }, one.name);
  const lines = document.createElementNS(SVG, "svg");
  lines.setAttribute("aria-hidden", "true");
  const links = make("div", { class: "links" }, lines, left, self, right);
  // The lines follow the boxes when the panel changes its width.
  new ResizeObserver(() => drawLines(links, lines, left, self, right)).observe(links);
  return links;
}
