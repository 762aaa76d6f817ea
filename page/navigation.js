// The view of navigation: the counters, the meshes, and the agents of one mesh on a map with their
// paths, and in a table. The map can also show the last search, a flow field, the velocities that an
// agent may have, or a grid.

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
const LINE_COLORS = {
  ...{ edge: "grid", wall: "dim", closed: "bad", link: "warn" },
  ...{ area1: "series-6", area2: "series-7", area3: "series-8" },
  ...{ area4: "series-3", area5: "series-2" },
  ...{ searched: "series-5", flow: "series-1", end: "warn" },
  ...{ avoided: "series-5", avoided_wall: "bad", speed: "dim" },
  ...{ blocked: "bad", dear: "warn", cheap: "series-2" },
};
// What the map shows besides the agents: nothing, the last search, a flow field, or a grid.
const AGENTS_ONLY = JSON.stringify({});
const LAST_SEARCH = JSON.stringify({ search: true });
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
    Object.assign(this, { mesh: null, version: null, ...nothing, chosen: null });
    this.mark({ kinds: [], lines: [], left_out: 0 });
  }

  // Takes lines that change from frame to frame.
  mark({ kinds, lines, left_out: leftOut }) {
    this.marks = { kinds, lines, leftOut };
  }

  // Takes the lines of a grid, and fits the map to its cells.
  takeGrid({ columns, rows, kinds, lines, left_out: leftOut }) {
    this.forget();
    Object.assign(this, { kinds, lines, leftOut, box: [0, 0, columns, rows] });
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
    const stroke = ({ kinds, lines }) =>
      kinds.forEach((kind, number) => {
        context.strokeStyle = color(LINE_COLORS[kind] ?? "dim");
        context.beginPath();
        for (let at = 0; at < lines.length; at += 5) {
          if (lines[at] !== number) continue;
          context.moveTo(x(lines[at + 1]), y(lines[at + 2]));
          context.lineTo(x(lines[at + 3]), y(lines[at + 4]));
        }
        context.stroke();
      });
    stroke(this);
    context.strokeStyle = color(PATH_COLOR);
    context.beginPath();
    for (const { position, path } of this.agents) {
      if (!path?.length) continue;
      context.moveTo(x(position[0]), y(position[1]));
      for (let at = 0; at < path.length; at += 2) context.lineTo(x(path[at]), y(path[at + 1]));
    }
    context.stroke();
    for (const { agent, position, radius, state, stuck } of this.agents) {
      const bad = LOST_STATES.has(state) || stuck >= 0.75;
      context.fillStyle = color(bad ? "bad" : (STATE_COLORS[state] ?? "series-1"));
      context.beginPath();
      const size = Math.max(1.5, radius * scale);
      context.arc(x(position[0]), y(position[1]), size, 0, 2 * Math.PI);
      context.fill();
      if (agent !== this.chosen) continue;
      context.strokeStyle = color("warn");
      context.stroke();
    }
    stroke(this.marks);
  }
}

export function openNavigation(panel, connection) {
  const meshes = make("select", { "aria-label": "Navigation mesh" });
  const filter = make("select", { "aria-label": "State of the agents" });
  filter.append(make("option", { value: "" }, "all agents"));
  filter.append(...STATES.map((state) => make("option", { value: state }, state)));
  const shown = make("select", { "aria-label": "On the map" });
  const count = make("span", { class: "aside", role: "status" });
  const figures = make("p", { class: "navigation-figures" });
  const counters = make("p", { class: "navigation-figures" });
  const omitted = make("p", { class: "navigation-figures", role: "status" });
  const map = new NavigationMap();
  const body = make("tbody", {});
  const table = makeTable({ "aria-label": "Agents" }, HEADS, 3, body);
  panel.append(
    make("div", { class: "bar" }, meshes, filter, shown, count),
    make("div", { class: "navigation-head" }, figures, counters, omitted, map.element),
    make("div", { class: "scroll" }, table),
  );
  let [entered, asking, askAgain] = [false, false, false];
  // Restarts of the game at the last answer. After another one, handles are of other meshes.
  let restarts = null;
  // The mesh that was chosen in the list; null for the first one.
  let wanted = null;
  // The agent that was chosen in the table.
  let chosenAgent = null;

  // Forgets the meshes of the game, which has ended or was restarted.
  const forget = () => {
    [wanted, chosenAgent] = [null, null];
    shown.dataset.names = "";
    shown.replaceChildren();
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
  // Lists what the map can show.
  const showChoices = ({ meshes: all, mesh: chosen, grids }) => {
    const choices = [["agents", AGENTS_ONLY]];
    const fieldsOf = (of, name, more) =>
      of.fields.map((field) => [`${name}${field}`, JSON.stringify({ ...more, field })]);
    const mesh = all.find((one) => one.mesh === chosen);
    if (mesh) choices.push(["last search", LAST_SEARCH], ...fieldsOf(mesh, "field ", {}));
    for (const grid of grids) {
      const name = `grid of ${grid.columns} by ${grid.rows}`;
      choices.push([name, JSON.stringify({ grid: grid.grid })]);
      choices.push(...fieldsOf(grid, `${name}, field `, { grid: grid.grid }));
    }
    const names = JSON.stringify(choices);
    if (shown.dataset.names === names) return;
    const before = shown.value;
    shown.dataset.names = names;
    shown.replaceChildren(...choices.map(([name, value]) => make("option", { value }, name)));
    const isKnown = choices.some(([, value]) => value === before);
    shown.value = isKnown ? before : AGENTS_ONLY;
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
    const listed = agents.slice(0, ROWS_MAX);
    while (body.rows.length > listed.length) body.lastElementChild.remove();
    listed.forEach((agent, at) => {
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
      const row = body.rows[at] ?? body.appendChild(make("tr", { tabindex: "0" }, ...cells()));
      row.dataset.agent = agent.agent;
      row.setAttribute("aria-selected", String(agent.agent === chosenAgent));
      texts.forEach((text, column) => setText(row.cells[column], text));
    });
  };
  // Says what the map and the table leave out.
  const showOmitted = ({ agents, count: all, paths_left_out: paths }) => {
    const parts = [
      [all - Math.min(agents.length, ROWS_MAX), "agents are not in the table"],
      [all - agents.length, "agents are not on the map"],
      [paths, "paths are not on the map"],
      [map.leftOut + map.marks.leftOut, "lines are not on the map"],
    ];
    const omittedParts = parts.filter(([number]) => number > 0);
    const texts = omittedParts.map(([number, text]) => `${short(number)} ${text}`);
    setText(omitted, texts.join(" · "));
    omitted.hidden = texts.length === 0;
  };
  const showMap = async (answer) => {
    const { grid, field, search } = JSON.parse(shown.value || AGENTS_ONLY);
    if (grid !== undefined) {
      map.takeGrid(await connection.ask("navigation_grid", field ? { grid, field } : { grid }));
      map.draw();
      return;
    }
    const mesh = answer.meshes.find((one) => one.mesh === answer.mesh);
    if (!mesh) map.forget();
    else if (map.mesh !== mesh.mesh || map.version !== mesh.version || mesh.platform) {
      map.take(await connection.ask("navigation_lines", { mesh: mesh.mesh }));
    }
    const fields = mesh ? { mesh: mesh.mesh } : {};
    if (search) fields.search = true;
    if (field) fields.field = field;
    const isChosen = answer.agents.some(({ agent }) => agent === chosenAgent);
    if (isChosen) fields.agent = chosenAgent;
    const isMarked = mesh && Object.keys(fields).length > 1;
    const nothing = { kinds: [], lines: [], left_out: 0 };
    map.mark(isMarked ? await connection.ask("navigation_marks", fields) : nothing);
    map.chosen = isChosen ? chosenAgent : null;
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
      showChoices(answer);
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
  shown.addEventListener("change", ask);
  // Chooses the agent of a row, or none if it is chosen already.
  const choose = ({ target }) => {
    const row = target.closest("tr");
    if (!row) return;
    const agent = Number(row.dataset.agent);
    chosenAgent = agent === chosenAgent ? null : agent;
    ask();
  };
  body.addEventListener("click", choose);
  body.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(event);
  });
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
