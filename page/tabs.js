// The views and their tabs. In a narrow window the picture and the console are tabs, too, and one
// of them is shown at a time.

import { make } from "./dom.js";

// The panels that are tabs only in a narrow window.
const SIDE = [
  { name: "Picture", pane: "picture" },
  { name: "Log", pane: "console" },
];

const narrow = matchMedia("(max-width: 820px)");

export class Tabs {
  constructor(bar, views) {
    Object.assign(this, { bar, views, entries: [], shown: null, focus: null });
    this.side = SIDE.map(({ name, pane }) => this.sideEntry(name, pane));
    bar.addEventListener("keydown", (event) => this.key(event));
    narrow.addEventListener("change", () => this.layOut());
    this.layOut();
  }

  // The tabs that can be seen now.
  get visible() {
    return narrow.matches ? [...this.side, ...this.entries] : this.entries;
  }

  sideEntry(name, pane) {
    const panel = document.getElementById(pane);
    const tab = make(
      "button",
      { id: `tab-${pane}`, role: "tab", "aria-controls": pane, class: "narrow-only" },
      name,
    );
    const entry = { name, pane, panel, tab };
    tab.addEventListener("click", () => this.show(entry, true));
    return entry;
  }

  // Makes the tabs of the views that the game has data for.
  open(available, connection) {
    const before = this.entries;
    this.entries = available.map((view, at) => {
      const known = before.find((one) => one.name === view.name);
      return known ?? this.viewEntry(view, at, connection);
    });
    this.bar.replaceChildren(...[...this.side, ...this.entries].map((entry) => entry.tab));
    this.views.replaceChildren(...this.entries.map((entry) => entry.panel));
    // An address can name a view: `#profile`.
    const wanted = this.shown ? "" : location.hash.slice(1);
    const last = sessionStorage.getItem("view");
    const first = narrow.matches ? this.side[0] : this.entries[0];
    const named = (name) => this.visible.find((entry) => entry.name === name);
    const asked = this.visible.find((entry) => entry.name.toLowerCase() === wanted);
    this.show(asked ?? named(last) ?? first, false);
  }

  viewEntry(view, at, connection) {
    const id = view.name.toLowerCase();
    const panel = make("div", {
      id: `view-${id}`,
      class: "panel",
      role: "tabpanel",
      "aria-labelledby": `tab-${id}`,
      hidden: true,
    });
    const tab = make(
      "button",
      {
        id: `tab-${id}`,
        role: "tab",
        "aria-controls": `view-${id}`,
        // The tenth view has the key 0, and further ones have none.
        title: at < 10 ? `Alt+${(at + 1) % 10}` : null,
      },
      view.name,
    );
    const entry = { name: view.name, panel, tab, view: view.open(panel, connection) };
    tab.addEventListener("click", () => this.show(entry, true));
    return entry;
  }

  show(entry, focus) {
    if (!entry) return;
    const before = this.shown;
    this.shown = entry;
    document.body.dataset.pane = entry.pane ?? "views";
    for (const other of [...this.side, ...this.entries]) {
      other.tab.setAttribute("aria-selected", String(other === entry));
      other.tab.tabIndex = other === entry ? 0 : -1;
      if (!other.pane) other.panel.hidden = other !== entry;
    }
    if (before !== entry) {
      before?.view?.leave?.();
      entry.view?.enter?.();
    }
    sessionStorage.setItem("view", entry.name);
    entry.tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (focus) entry.tab.focus();
  }

  // Shows the view with a number, counted from 0.
  showView(at) {
    if (this.entries[at]) this.show(this.entries[at], true);
  }

  // Shows the view with a name, and a resource in it.
  showNamed(name, resource) {
    const entry = this.entries.find((one) => one.name === name);
    if (!entry) return;
    this.show(entry, true);
    entry.view?.look?.(resource);
  }

  // Shows the console before its line gets the focus.
  showConsole() {
    if (narrow.matches) this.show(this.side[1], false);
  }

  // A wide window shows the picture and the console next to a view.
  layOut() {
    for (const { panel, tab } of this.side) {
      panel.setAttribute("role", narrow.matches ? "tabpanel" : "group");
      panel.setAttribute("aria-labelledby", tab.id);
    }
    if (!narrow.matches && this.shown?.pane) this.show(this.entries[0], false);
  }

  key(event) {
    const all = this.visible;
    const at = all.indexOf(this.shown);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.show(all[(to + all.length) % all.length], true);
  }
}
