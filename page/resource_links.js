// The references of a resource as a picture: resources that refer to it on the left, its own
// references on the right, with lines between them.

import { make, makeSvg, short } from "./dom.js";

// Resources with more references on a side show so many; the view References shows more.
const LINKS_MAX = 40;

function drawLines(links, lines, left, self, right) {
  const base = links.getBoundingClientRect();
  const box = (element) => element.getBoundingClientRect();
  const middle = box(self);
  const curve = (x1, y1, x2, y2) => {
    const bend = (x1 + x2) / 2 - base.x;
    const [from, to] = [`${x1 - base.x} ${y1 - base.y}`, `${x2 - base.x} ${y2 - base.y}`];
    const d = `M${from} C${bend} ${y1 - base.y} ${bend} ${y2 - base.y} ${to}`;
    lines.append(makeSvg("path", { d }));
  };
  const center = (rect) => rect.y + rect.height / 2;
  lines.replaceChildren();
  for (const item of left.children)
    curve(box(item).right, center(box(item)), middle.left, center(middle));
  for (const item of right.children)
    curve(middle.right, center(middle), box(item).left, center(box(item)));
}

// Returns a sentence about how many share a resource, for people who are about to change it.
export function sharing(direct, all) {
  if (all === 0) return "Nothing uses it.";
  const users = direct === 1 ? "1 resource uses it" : `${short(direct)} resources use it`;
  const through = all > direct ? `, ${short(all)} in all also through others` : "";
  return `${users}${through}: an edit changes ${all === 1 ? "that one" : "all of them"}.`;
}

// Returns an element with the references of a resource. `look` shows another resource.
export function makeLinks(one, look) {
  const link = (name) =>
    make("li", {}, make("button", { onclick: () => look(name), title: name }, name));
  const links = (names) => {
    const rest = names.length - LINKS_MAX;
    const more = rest > 0 ? [make("li", { class: "built-in" }, `and ${short(rest)} more`)] : [];
    return [...names.slice(0, LINKS_MAX).map(link), ...more];
  };
  const left = make("ul", { "aria-label": "Named by" }, ...links(one.dependents));
  const right = make(
    "ul",
    { "aria-label": "Names" },
    ...links(one.names),
    ...one.built_in.map((name) =>
      make("li", { class: "built-in", title: "part of the engine" }, `${name} (built in)`),
    ),
    ...one.missing.map((name) =>
      make("li", { class: "missing", title: "it is missing" }, `${name} (missing)`),
    ),
  );
  const self = make("div", { class: "self" }, one.name);
  const lines = makeSvg("svg", { "aria-hidden": "true" });
  const element = make("div", { class: "links" }, lines, left, self, right);
  // The lines follow the boxes when the panel changes its width.
  new ResizeObserver(() => drawLines(element, lines, left, self, right)).observe(element);
  return element;
}
