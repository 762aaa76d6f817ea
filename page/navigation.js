// The view of navigation: the counters, the meshes, and the agents of one mesh on a map with their
// paths, and in a table.

import { make, makeTable, setText, short, sizedCanvas, vector } from "./dom.js";
import { color, onTheme } from "./theme.js";

const ASK_MILLISECONDS = 400;
const AGENTS_MAX = 2000;
const ROWS_MAX = 200;
const MAP_HEIGHT = 300;
const MARGIN = 8;
const STATES = [
  ...["stuck", "idle", "moving", "waiting", "linking", "arrived", "partial", "blocked", "lost"],
  ...["boarding", "riding", "leaving"],
];
const HEADS = ["agent", "state", "position", "way left", "speed", "stuck", "no progress"];
// Colours of lines and of agents, by their names in the theme.
const LINE_COLORS = { edge: "grid", wall: "dim", closed: "bad", link: "warn" };
const PATH_COLOR = "series-4";
const STATE_COLORS = { moving: "series-2", waiting: "series-3", linking: "series-5" };
const LOST_STATES = new Set(["blocked", "partial", "lost"]);

const nameOf = (mesh) => {
  const from = mesh.level ? `${mesh.level}, ${mesh.class}` : `mesh of radius ${short(mesh.radius)}`;
  return mesh.platform ? `${from}, platform` : from;
};

// The map: lines of the mesh, and its agents, from above.
class NavigationMap {
  constructor() {
    const label = "The mesh and its agents, from above";
    this.canvas = make("canvas", { role: "img", "aria-label": label });
    this.element = make("div", { class: "navigation-map" }, this.canvas);
    this.forget();
    new ResizeObserver(() => this.draw()).observe(this.element);
    onTheme(() => this.draw());
  }

  forget() {
    const nothing = { kinds: [], lines: [], agents: [], leftOut: 0 };
    Object.assign(this, { mesh: null, version: null, ...nothing });
  }

  // Takes the lines of a mesh as the game sends them.
  take({ mesh, version, kinds, lines, left_out: leftOut }) {
    Object.assign(this, { mesh, version, kinds, lines, leftOut });
    this.box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let at = 0; at < lines.length; at += 5) {
      for (const [x, y] of [lines.slice(at + 1, at + 3), lines.slice(at + 3, at + 5)]) {
        const [left, low, right, high] = this.box;
        this.box = [Math.min(left, x), Math.min(low, y), Math.max(right, x), Math.max(high, y)];
      }
    }
  }

  draw() {
    const [context, width] = sizedCanvas(this.canvas, MAP_HEIGHT);
    if (!this.lines.length) return;
    const [left, low, right, high] = this.box;
    const inside = [width - 2 * MARGIN, MAP_HEIGHT - 2 * MARGIN];
    const scale = Math.min(inside[0] / (right - left || 1), inside[1] / (high - low || 1));
    const x = (at) => width / 2 + (at - (left + right) / 2) * scale;
    const y = (at) => MAP_HEIGHT / 2 - (at - (low + high) / 2) * scale;
    this.kinds.forEach((kind, number) => {
      context.strokeStyle = color(LINE_COLORS[kind] ?? "dim");
      context.beginPath();
      for (let at = 0; at < this.lines.length; at += 5) {
        if (this.lines[at] !== number) continue;
        context.moveTo(x(this.lines[at + 1]), y(this.lines[at + 2]));
        context.lineTo(x(this.lines[at + 3]), y(this.lines[at + 4]));
      }
      context.stroke();
    });
    context.strokeStyle = color(PATH_COLOR);
    context.beginPath();
    for (const { position, path } of this.agents) {
      if (!path?.length) continue;
      context.moveTo(x(position[0]), y(position[1]));
      for (let at = 0; at < path.length; at += 2) context.lineTo(x(path[at]), y(path[at + 1]));
    }
    context.stroke();
    for (const { position, radius, state, stuck } of this.agents) {
      const bad = LOST_STATES.has(state) || stuck >= 0.75;
      context.fillStyle = color(bad ? "bad" : (STATE_COLORS[state] ?? "series-1"));
      context.beginPath();
      context.arc(x(position[0]), y(position[1]), Math.max(1.5, radius * scale), 0, 2 * Math.PI);
      context.fill();
    }
  }
}

export function openNavigation(panel, connection) {
  const meshes = make("select", { "aria-label": "Navigation mesh" });
  const filter = make("select", { "aria-label": "State of the agents" });
  filter.append(make("option", { value: "" }, "all agents"));
  filter.append(...STATES.map((state) => make("option", { value: state }, state)));
  const count = make("span", { class: "aside", role: "status" });
  const figures = make("p", { class: "navigation-figures" });
  const counters = make("p", { class: "navigation-figures" });
  const omitted = make("p", { class: "navigation-figures", role: "status" });
  const map = new NavigationMap();
  const body = make("tbody", {});
  const table = makeTable({ "aria-label": "Agents" }, HEADS, 3, body);
  panel.append(
    make("div", { class: "bar" }, meshes, filter, count),
    make("div", { class: "navigation-head" }, figures, counters, omitted, map.element),
    make("div", { class: "scroll" }, table),
  );
  let [entered, asking, askAgain] = [false, false, false];
  // Restarts of the game at the last answer. After another one, handles are of other meshes.
  let restarts = null;
  // The mesh that was chosen in the list; null for the first one.
  let wanted = null;

  // Forgets the meshes of the game, which has ended or was restarted.
  const forget = () => {
    wanted = null;
    meshes.replaceChildren();
    meshes.dataset.names = "";
    map.forget();
  };
  const showMeshes = (all, chosen) => {
    const names = all.map((mesh) => `${mesh.mesh} ${nameOf(mesh)}`).join("\n");
    if (meshes.dataset.names !== names) {
      meshes.dataset.names = names;
      const options = all.map((mesh) => make("option", { value: mesh.mesh }, nameOf(mesh)));
      meshes.replaceChildren(...options);
    }
    meshes.hidden = all.length === 0;
    // An answer to a question from before the choice does not change it.
    if (chosen !== null) meshes.value = wanted ?? chosen;
  };
  const showFigures = (answer) => {
    const mesh = answer.meshes.find((one) => one.mesh === answer.mesh);
    const grids = answer.grids.map((grid) => `grid of ${grid.columns} by ${grid.rows}`);
    const parts = mesh
      ? [
          `${short(mesh.polygons)} polygons`,
          `${short(mesh.volumes)} volumes`,
          `${short(mesh.links)} links`,
          `${short(mesh.waiting_tiles)} tiles and ${short(mesh.waiting_paths)} paths wait`,
        ]
      : ["the game has no navigation mesh"];
    setText(figures, [...parts, ...grids].join(" · "));
    const line = answer.counters.map(
      ({ name, value }) => `${name.replace("navigation/", "")} ${short(value)}`,
    );
    setText(counters, line.join(" · "));
    const states = answer.states.map((one) => `${short(one.count)} ${one.state}`);
    setText(count, states.join(", ") || "no agents");
  };
  const showAgents = (agents) => {
    const shown = agents.slice(0, ROWS_MAX);
    while (body.rows.length > shown.length) body.lastElementChild.remove();
    shown.forEach((agent, at) => {
      const texts = [
        String(agent.agent),
        agent.state,
        vector(agent.position),
        `${short(agent.remaining)} m`,
        `${short(agent.speed)} m/s`,
        `${short(agent.stuck)} s`,
        `${short(agent.still)} s`,
      ];
      const cells = () =>
        texts.map((_, column) => make("td", { class: column >= 3 ? "number" : "" }));
      const row = body.rows[at] ?? body.appendChild(make("tr", {}, ...cells()));
      texts.forEach((text, column) => setText(row.cells[column], text));
    });
  };
  // Says what the map and the table leave out.
  const showOmitted = ({ agents, count: all, paths_left_out: paths }) => {
    const parts = [
      [all - Math.min(agents.length, ROWS_MAX), "agents are not in the table"],
      [all - agents.length, "agents are not on the map"],
      [paths, "paths are not on the map"],
      [map.leftOut, "lines of the mesh are not on the map"],
    ];
    const omittedParts = parts.filter(([number]) => number > 0);
    const texts = omittedParts.map(([number, text]) => `${short(number)} ${text}`);
    setText(omitted, texts.join(" · "));
    omitted.hidden = texts.length === 0;
  };
  const showMap = async (answer) => {
    const mesh = answer.meshes.find((one) => one.mesh === answer.mesh);
    if (!mesh) map.forget();
    else if (map.mesh !== mesh.mesh || map.version !== mesh.version || mesh.platform) {
      map.take(await connection.ask("navigation_lines", { mesh: mesh.mesh }));
    }
    map.agents = answer.agents;
    map.draw();
  };
  const ask = async () => {
    if (!entered) return;
    if (asking) {
      askAgain = true;
      return;
    }
    asking = true;
    try {
      const fields = { max: AGENTS_MAX, paths: true };
      if (wanted !== null) fields.mesh = wanted;
      if (filter.value) fields.state = filter.value;
      const answer = await connection.ask("navigation", fields);
      if (restarts !== answer.restarts) forget();
      ({ restarts } = answer);
      showMeshes(answer.meshes, answer.mesh);
      showFigures(answer);
      showAgents(answer.agents);
      await showMap(answer);
      showOmitted(answer);
    } catch {
      // The mesh has ended: the next question is about another one. The connection reports its own
      // end.
      forget();
    } finally {
      asking = false;
      if (askAgain) setTimeout(ask);
      askAgain = false;
    }
  };
  meshes.addEventListener("change", () => {
    wanted = Number(meshes.value);
    ask();
  });
  filter.addEventListener("change", ask);
  setInterval(ask, ASK_MILLISECONDS);
  connection.on("open", forget);
  return {
    filter,
    enter() {
      entered = true;
      ask();
    },
    leave() {
      entered = false;
    },
  };
}
