// The theme: dark, light, or that of the desktop. Canvases read its colors here.

import { settings } from "./settings.js";

const prefersLight = matchMedia("(prefers-color-scheme: light)");
const listeners = [];
let known = new Map();

function apply() {
  const chosen = settings.theme;
  const light = chosen === "light" || (chosen === "auto" && prefersLight.matches);
  document.documentElement.dataset.theme = light ? "light" : "dark";
  known = new Map();
  for (const listener of listeners) listener();
}

prefersLight.addEventListener("change", apply);
settings.watch(apply);
apply();

// Returns a color of the theme by the name of its variable, without dashes.
export function color(name) {
  if (!known.has(name)) {
    const style = getComputedStyle(document.documentElement);
    known.set(name, style.getPropertyValue(`--${name}`).trim());
  }
  return known.get(name);
}

// Calls a function when the colors have changed.
export function onTheme(listener) {
  listeners.push(listener);
}
