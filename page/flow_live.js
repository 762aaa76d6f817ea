// The live view of a graph: an instance of the running game, its events, counts and last values,
// breakpoints, steps.

const POLL_MILLISECONDS = 100;
const LIST_MILLISECONDS = 1500;
const HISTORY_MAX = 1000;

// Names an instance for people.
export function instanceName(one) {
  const path = one.prefix ? ` ${one.prefix.replace(/\/$/, "")}` : "";
  const at = Array.isArray(one.position)
    ? ` at ${one.position.map((part) => Number(part.toFixed(1))).join(", ")}`
    : "";
  return `${one.name || "(no name)"}${path}${at}`;
}

export class FlowLive {
  // `changed(what)` is called with "instances", "events", "paused", "stops".
  constructor(editor, canvas, changed) {
    Object.assign(this, { editor, canvas, changed, entered: false });
    this.clear();
    editor.watch((what) => {
      if (what === "opened") this.opened();
    });
    setInterval(() => this.poll(), POLL_MILLISECONDS);
    setInterval(() => this.list(), LIST_MILLISECONDS);
  }

  clear() {
    Object.assign(this, { instances: [], instance: null, prefix: "", history: [] });
    Object.assign(this, { after: 0, revision: 0 });
    Object.assign(this, { paused: null, problem: null, lost: 0, isWaiting: false, ended: null });
    Object.assign(this.canvas, { values: {}, counts: {}, paused: null, stops: new Set() });
  }

  async opened() {
    // A subgraph is watched in the same instance as the graph around it.
    this.wanted = this.instance;
    this.clear();
    this.changed("instances");
    this.changed("events");
    this.list();
    try {
      await this.look();
    } catch (error) {
      this.editor.note(error.message, "error");
    }
  }

  setStops(paths) {
    const { prefix } = this;
    const own = paths.filter((path) => path.startsWith(prefix));
    this.canvas.stops = new Set(own.map((path) => path.slice(prefix.length)));
    this.canvas.refresh();
    this.changed("stops");
  }

  async list() {
    const { editor } = this;
    if (!this.entered || !editor.graph) return;
    const { serial } = editor;
    try {
      const { instances } = await editor.ask("flow_instances", { graph: editor.graph });
      if (serial !== editor.serial) return;
      const before = JSON.stringify(this.instances);
      this.instances = instances;
      // The last events of an instance stay after its end, until a person chooses.
      if (this.instance !== null && !this.current() && !this.ended && !(await this.poll())) {
        this.choose(null);
      }
      if (serial !== editor.serial) return;
      // The game may not have loaded a new subgraph yet.
      const wanted = instances.find((one) => one.instance === this.wanted);
      if (wanted && this.instance === null) this.choose(wanted);
      // Nobody has to choose the only one.
      const isOnly = this.isLooking && instances.length === 1 && this.instance === null;
      if (isOnly) this.choose(instances[0]);
      if (JSON.stringify(instances) !== before) this.changed("instances");
      if (this.instance === null) await this.look();
      if (this.isWaiting) this.setWaiting((await editor.ask("status")).paused === true);
    } catch {
      // The connection reports its own end.
    }
  }

  // The graph that runs: the open one, or one that has it as a subgraph.
  get program() {
    return this.current()?.graph ?? this.editor.graph;
  }

  // Asks for breakpoints, and for a stop in an instance that nobody watches.
  async look() {
    const { serial } = this.editor;
    const answer = await this.editor.ask("flow_breakpoint", { graph: this.program });
    if (serial !== this.editor.serial) return;
    this.setStops(answer.breakpoints);
    this.setPaused(answer.paused ?? null, this.problem);
  }

  // Watches the only instance, until a person chooses none.
  watchOnly(isLooking) {
    if (this.isLooking === isLooking) return;
    this.isLooking = isLooking;
    this.list();
  }

  current() {
    return this.instances.find(
      (one) => one.instance === this.instance && (one.prefix ?? "") === this.prefix,
    );
  }

  choose(one) {
    this.wanted = null;
    this.instance = one?.instance ?? null;
    this.prefix = one?.prefix ?? "";
    Object.assign(this, { after: 0, revision: 0, history: [], lost: 0, problem: null });
    Object.assign(this, { ended: null, name: one ? instanceName(one) : "" });
    Object.assign(this.canvas, { values: {}, counts: {} });
    this.canvas.refresh();
    this.changed("instances");
    this.changed("events");
    this.look().catch((error) => this.editor.note(error.message, "error"));
  }

  // Returns false if the instance is not there any more.
  async poll() {
    const { editor } = this;
    if (!this.entered || this.instance === null || this.polling || this.ended) return true;
    const { instance } = this;
    const { serial } = editor;
    this.polling = true;
    try {
      const { after, revision } = this;
      const answer = await editor.ask("flow_live", { instance, after, known: revision });
      if (serial === editor.serial && instance === this.instance) this.take(answer);
      return true;
    } catch {
      // The list of instances finds out why.
      return instance !== this.instance;
    } finally {
      this.polling = false;
    }
  }

  // Cuts the prefix of the open graph's nodes. Returns null for nodes of other graphs.
  own(node) {
    if (!node.startsWith(this.prefix)) return null;
    const id = node.slice(this.prefix.length);
    return id.includes("/") ? id.slice(0, id.indexOf("/")) : id;
  }

  take(answer) {
    const { canvas, prefix } = this;
    const { wires, events } = answer;
    const isFirst = this.after === 0;
    // The recording has begun anew, for example with a changed graph.
    if (answer.sequence < this.after) canvas.counts = {};
    this.after = answer.sequence;
    this.revision = answer.revision;
    this.lost += answer.lost;
    // A subgraph counts as often as its busiest node.
    const counts = Object.entries(answer.counts);
    for (const [node, count] of counts) {
      const id = this.own(node);
      if (id !== null) canvas.counts[id] = Math.max(canvas.counts[id] ?? 0, count);
    }
    const values = Object.entries(answer.values);
    for (const [pin, text] of values) {
      if (pin.startsWith(prefix)) canvas.values[pin.slice(prefix.length)] = String(text);
    }
    if (!isFirst && events.length) this.light(wires);
    if (events.length) {
      const named = events.map(([number, frame, wire]) => [number, frame, ...wires[wire]]);
      this.history = [...this.history, ...named].slice(-HISTORY_MAX);
      this.changed("events");
    }
    if (counts.length || values.length) canvas.liveSoon();
    this.setPaused(answer.paused ?? null, answer.problem ?? null);
    if (answer.ended) {
      this.ended = this.name;
      this.changed("instances");
      this.changed("events");
    }
  }

  // Lights up the wires of events, which are [node, pin, node, pin], and their nodes.
  light(ends) {
    const [wires, nodes, passed] = [new Set(), new Set(), []];
    for (const end of ends) {
      const [from, , to] = end;
      const [a, b] = [from === "" ? null : this.own(from), this.own(to)];
      for (const id of [a, b]) if (id !== null) nodes.add(id);
      if (a !== b) passed.push([a, b, end]);
    }
    if (!nodes.size) return;
    const { wiresFrom, wiresTo } = this.editor.layout();
    for (const id of nodes) {
      // Data that a lit node reads came along its wires now.
      for (const wire of wiresTo.get(id) ?? []) if (!wire.event) wires.add(wire.key);
    }
    for (const [a, b, end] of passed) {
      const near = (a === null ? wiresTo.get(b) : wiresFrom.get(a)) ?? [];
      for (const wire of near) if (this.isWireOf(wire, a, b, end)) wires.add(wire.key);
    }
    this.canvas.light(wires, nodes);
  }

  // True if an event went along a wire. Nodes of subgraphs, and of the graph around this one, are
  // known only by the node that stands for them.
  isWireOf(wire, a, b, [from, fromPin, to, toPin]) {
    if (!wire.event) return false;
    const type = (id) => this.editor.model.get("nodes", id, "type");
    const isExact = (id, path) => this.prefix + id === path;
    const starts =
      a === null
        ? type(wire.from) === "graph.inputs"
        : wire.from === a && (!isExact(a, from) || wire.fromPin === fromPin);
    const ends =
      b === null
        ? type(wire.to) === "graph.outputs"
        : wire.to === b && (!isExact(b, to) || wire.toPin === toPin);
    return starts && ends;
  }

  setPaused(paused, problem) {
    const before = JSON.stringify([this.paused, this.problem]);
    this.problem = problem;
    this.paused = paused;
    if (JSON.stringify([paused, problem]) === before) return;
    if (paused) this.isWaiting = false;
    this.pausedNode = paused && paused.graph === this.program ? this.own(paused.node) : null;
    this.canvas.paused = this.pausedNode;
    this.canvas.refresh();
    this.changed("paused");
  }

  async toggleStop(id) {
    const { editor } = this;
    const on = !this.canvas.stops.has(id);
    const fields = { graph: this.program, node: this.prefix + id, on };
    const answer = await editor.ask("flow_breakpoint", fields);
    this.setStops(answer.breakpoints);
    editor.note(on ? `breakpoint at ${id}` : `no breakpoint at ${id}`);
  }

  async step() {
    const answer = await this.editor.ask("flow_step");
    this.setPaused(answer.paused ?? null, this.problem);
    this.setWaiting(!answer.paused);
  }

  // After the last step of an event, no node is stopped, but the game is still paused.
  setWaiting(isWaiting) {
    if (this.isWaiting === isWaiting) return;
    this.isWaiting = isWaiting;
    this.changed("paused");
  }

  async resume() {
    await this.editor.ask("flow_resume");
    this.setPaused(null, this.problem);
    this.setWaiting(false);
  }

  async send(name) {
    const { taken } = await this.editor.ask("flow_event", { instance: this.instance, name });
    if (!taken) this.editor.note(`no node takes the event '${name}'`, "warning");
  }
}
