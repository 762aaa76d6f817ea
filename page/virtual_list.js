// A tree with any number of rows, of which only the visible ones are elements. The keyboard focus
// stays on the list; the active row is announced by `aria-activedescendant`.

import { make } from "./dom.js";

const ROW = 22;
// Rows above and below the visible ones.
const MARGIN = 8;
let lists = 0;

// `row(index)` returns a row, or null while it is unknown: { key, depth, parts (elements), heading,
// selected, setSize, position }. `choose(index)` is called for the active row.
export class VirtualList {
  constructor({ label, row, choose, moved }) {
    Object.assign(this, { row, choose, moved, count: 0, active: 0, range: [0, 0] });
    lists += 1;
    this.prefix = `list${lists}`;
    this.space = make("div", { class: "space" });
    this.element = make(
      "div",
      { class: "tree", role: "tree", tabindex: "0", "aria-label": label },
      this.space,
    );
    this.element.addEventListener("scroll", () => this.draw(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.key(event));
    // A tap gives the focus before its click, which the row that was drawn before must get.
    this.element.addEventListener("focus", () => {
      if (this.element.matches(":focus-visible")) this.draw();
    });
    const pick = (event) => {
      const row = event.target.closest("[data-index]");
      if (row) this.activate(Number(row.dataset.index));
    };
    this.element.addEventListener("click", pick);
    // The rows may be drawn again before the button is released, which then is no click.
    this.element.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "mouse" && event.button === 0) pick(event);
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  isHeading(at) {
    return this.row(at)?.heading ?? false;
  }

  // Makes a row the active one, and chooses it.
  activate(at) {
    this.active = at;
    this.show(at);
    if (!this.isHeading(at)) this.choose(at);
    this.draw();
  }

  // Scrolls a row into view.
  show(at) {
    const [top, height] = [at * ROW, this.element.clientHeight];
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + ROW > this.element.scrollTop + height) {
      this.element.scrollTop = top + ROW - height;
    }
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
    const last = this.count - 1;
    const to = {
      ArrowDown: this.active + 1,
      ArrowUp: this.active - 1,
      PageDown: this.active + page,
      PageUp: this.active - page,
      Home: 0,
      End: last,
      Enter: this.active,
      " ": this.active,
    }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    let at = Math.max(0, Math.min(last, to));
    // Headings are passed over.
    const step = at !== 0 && (at < this.active || at === last) ? -1 : 1;
    while (this.isHeading(at) && at + step >= 0 && at + step <= last) at += step;
    this.activate(this.isHeading(at) ? this.active : at);
  }

  setCount(count) {
    this.count = count;
    this.active = Math.max(0, Math.min(this.active, count - 1));
    if (this.isHeading(this.active) && this.active + 1 < count) this.active += 1;
    this.draw();
  }

  // Returns the first row that should be an element, and the one after the last.
  visible() {
    const first = Math.floor(this.element.scrollTop / ROW) - MARGIN;
    const rows = Math.ceil(this.element.clientHeight / ROW) + 2 * MARGIN;
    return [Math.max(0, first), Math.min(this.count, Math.max(0, first) + rows)];
  }

  draw() {
    const height = `${this.count * ROW}px`;
    if (this.space.style.height !== height) this.space.style.height = height;
    const [from, to] = this.visible();
    const before = this.range.join();
    this.range = [from, to];
    const rows = [];
    for (let at = from; at < to; at += 1) rows.push(this.rowElement(at));
    this.space.replaceChildren(...rows);
    const active = this.space.querySelector(`[data-index="${this.active}"]`);
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
    if (before !== this.range.join()) this.moved?.(from, to);
  }

  rowElement(at) {
    const row = this.row(at);
    const element = make(
      "div",
      {
        id: `${this.prefix}-${at}`,
        "data-index": at,
        role: "treeitem",
        class: row?.heading ? "heading" : at === this.active ? "active" : "",
        style: `top: ${at * ROW}px; padding-left: ${10 + (row?.depth ?? 0) * 14}px`,
        "aria-level": (row?.depth ?? 0) + 1,
        "aria-setsize": this.count,
        "aria-posinset": at + 1,
        "aria-selected": row && !row.heading ? String(row.selected) : null,
      },
      ...(row?.parts ?? [make("small", {}, "…")]),
    );
    for (const [name, value] of Object.entries(row?.data ?? {})) element.dataset[name] = value;
    return element;
  }
}
