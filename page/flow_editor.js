// The state of the Flow editor: the open graph, its layout, the selection, problems, saving and
// what changes on disk meanwhile. Independent of the DOM.

import { placesOf } from "./flow_layout.js";
import { FlowModel } from "./flow_model.js";
import {
  Catalogue,
  GRID,
  bounds,
  gridPlace,
  pixels,
  shapeOf,
  splitWire,
  wireKey,
  wiredInputs,
} from "./flow_types.js";

const VALIDATE_MILLISECONDS = 120;
const DISK_MILLISECONDS = 1500;
const ID_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz";

// Returns the wires that begin, and those that end, at each node.
function wiresByNode(wires) {
  const [wiresFrom, wiresTo] = [new Map(), new Map()];
  const add = (map, id, wire) => {
    if (map.has(id)) map.get(id).push(wire);
    else map.set(id, [wire]);
  };
  for (const wire of wires) {
    add(wiresFrom, wire.from, wire);
    add(wiresTo, wire.to, wire);
  }
  return { wiresFrom, wiresTo };
}

export class FlowEditor {
  constructor(connection) {
    this.connection = connection;
    this.listeners = [];
    this.catalogue = null;
    // The view is visible. Otherwise nothing is asked for.
    this.entered = false;
    this.clear();
    setInterval(() => this.lookAtDisk(), DISK_MILLISECONDS);
  }

  clear() {
    Object.assign(this, { graph: null, path: null, model: null, kind: "flow", units: [] });
    Object.assign(this, { revision: null, problems: [], dynamic: {}, size: null, saving: false });
    Object.assign(this, { selection: new Set(), wire: null, drag: null, quiet: null });
    this.hasRenamed = false;
    this.layoutOf = { version: -1 };
    this.freePlaces = { key: "", places: new Map() };
    this.pinsVersion = 0;
    this.serial = (this.serial ?? 0) + 1;
    clearTimeout(this.timer);
  }

  // Calls a function after changes: "opened", "model", "selection", "problems", "note", "saved".
  watch(listener) {
    this.listeners.push(listener);
  }

  notify(what, detail) {
    for (const listener of this.listeners) listener(what, detail);
  }

  note(text, level = "info") {
    this.notify("note", { text, level });
  }

  ask(type, fields) {
    return this.connection.ask(type, fields);
  }

  async readCatalogue() {
    this.catalogue = new Catalogue(await this.ask("flow_nodes"));
    this.pinsVersion += 1;
    if (this.model) this.changed();
  }

  // Reads the types of nodes again if a file of nodes has been loaded since.
  async refreshCatalogue(revision) {
    const isNew = this.catalogueRevision !== undefined && this.catalogueRevision !== revision;
    this.catalogueRevision = revision;
    if (isNew) await this.readCatalogue();
  }

  async open(graph) {
    if (!this.catalogue) await this.readCatalogue();
    const answer = await this.ask("flow_open", { graph });
    this.clear();
    this.graph = answer.graph;
    this.path = answer.path;
    this.kind = answer.kind;
    this.units = answer.units ?? [];
    this.revision = answer.revision ?? null;
    this.model = new FlowModel(answer.source);
    this.notify("opened");
    this.changed();
  }

  // Applies changes of the source as one step of the history. `from` is the node whose element made
  // the change itself, and is not created again.
  change(label, changes, { join = null, from = null } = {}) {
    if (!this.model?.apply(label, [...this.placing(changes), ...changes], join)) return false;
    this.quiet = from;
    this.changed();
    this.quiet = null;
    if (!join) this.note(label);
    return true;
  }

  // Returns the changes that keep the nodes without positions where they are, if others get one.
  placing(changes) {
    const isMove = ([path, value]) => path[0] === "positions" && value !== undefined;
    if (!changes.some(isMove)) return [];
    const met = new Set(changes.map(([path]) => path[1]));
    const { nodes } = this.layout();
    const free = [...this.freePlaces.places.keys()].filter((id) => nodes.has(id) && !met.has(id));
    return free.map((id) => [["positions", id], gridPlace(nodes.get(id))]);
  }

  changed() {
    for (const key of [...this.selection]) if (!this.exists(key)) this.selection.delete(key);
    if (this.wire && !this.layout().byKey.has(this.wire)) this.wire = null;
    this.notify("model");
    this.validateSoon();
  }

  undo() {
    const label = this.model?.undo();
    if (label == null) return;
    this.changed();
    this.note(`undone: ${label}`);
  }

  redo() {
    const label = this.model?.redo();
    if (label == null) return;
    this.changed();
    this.note(`repeated: ${label}`);
  }

  // A key of the selection: a node's id, "c:ID" of a comment, "g:ID" of a group.
  exists(key) {
    if (key.startsWith("c:")) return this.model.get("comments", key.slice(2)) !== undefined;
    if (key.startsWith("g:")) return this.model.get("groups", key.slice(2)) !== undefined;
    return this.model.get("nodes", key) !== undefined;
  }

  select(keys, wire = null) {
    this.selection = new Set(keys);
    this.wire = wire;
    this.notify("selection");
  }

  // The ids of the selected nodes.
  get chosen() {
    return [...this.selection].filter((key) => !key.includes(":"));
  }

  newId(block = "nodes", letter = "n") {
    const known = this.model.block(block);
    for (;;) {
      const random = crypto.getRandomValues(new Uint8Array(5));
      const id = letter + [...random].map((byte) => ID_LETTERS[byte % 36]).join("");
      if (!Object.hasOwn(known, id)) return id;
    }
  }

  // The type of a node, its settings and its pins. Wires of a type that is not known show its pins.
  pins(id, node = this.model.get("nodes", id)) {
    const row = this.catalogue?.nodes.get(node?.type);
    const dynamic = Object.hasOwn(this.dynamic, id) ? this.dynamic[id] : null;
    const inputs = [...(dynamic?.inputs ?? row?.inputs ?? [])];
    const outputs = [...(dynamic?.outputs ?? row?.outputs ?? [])];
    return { row, settings: row?.settings ?? [], inputs, outputs };
  }

  // The nodes with their shapes and positions in pixels, and the wires, of the current source.
  layout() {
    const version = `${this.model.version} ${this.pinsVersion}`;
    if (this.layoutOf.version !== version) this.layoutOf = { version, ...this.computeLayout() };
    return this.layoutOf;
  }

  computeLayout() {
    const nodes = new Map();
    const positions = this.model.block("positions");
    for (const [id, node] of Object.entries(this.model.block("nodes"))) {
      const at = Object.hasOwn(positions, id) ? positions[id] : null;
      const isFree = !Array.isArray(at);
      const [x, y] = isFree ? [0, 0] : [pixels(at[0]), pixels(at[1])];
      nodes.set(id, { id, node, x, y, isFree, ...this.pins(id, node) });
    }
    const wires = this.computeWires(nodes);
    // Pins that only wires name are shown, so that they can be repaired.
    for (const wire of wires) {
      for (const [side, list, name] of [
        ["from", "outputs", "fromPin"],
        ["to", "inputs", "toPin"],
      ]) {
        const box = nodes.get(wire[side]);
        if (!box || box[list].some((pin) => pin.name === wire[name])) continue;
        box[list].push({
          name: wire[name],
          type: wire.event ? "event" : "any",
          unknown: !box.row?.dynamic,
        });
      }
    }
    for (const box of nodes.values()) {
      box.shape = shapeOf(box.settings, box.inputs, box.outputs);
      box.signature = JSON.stringify([box.node, box.inputs, box.outputs]);
    }
    for (const wire of wires) this.typeWire(wire, nodes);
    this.placeFree(nodes, wires);
    const byKey = new Map(wires.map((wire) => [wire.key, wire]));
    return { nodes, wires, byKey, ...wiresByNode(wires) };
  }

  // Lays out the nodes without positions, below the others. The source stays as it is.
  placeFree(nodes, wires) {
    const free = [...nodes.values()].filter((box) => box.isFree);
    const key = `${this.pinsVersion} ${free.map((box) => box.id).join(" ")}`;
    if (this.freePlaces.key !== key) {
      const around = bounds([...nodes.values()].filter((box) => !box.isFree));
      const origin = around
        ? [Math.round(around.left / GRID), Math.ceil(around.bottom / GRID) + 3]
        : [0, 0];
      this.freePlaces = { key, places: new Map(placesOf({ nodes, wires }, free, origin)) };
    }
    for (const box of free) [box.x, box.y] = this.freePlaces.places.get(box.id).map(pixels);
  }

  computeWires(nodes) {
    const wires = [];
    for (const key of Object.keys(this.model.block("events"))) {
      const [from, fromPin, to, toPin] = splitWire(key);
      wires.push({ key, event: true, from, fromPin, to, toPin });
    }
    for (const [id, { node }] of nodes) {
      for (const [pin, from, fromPin] of wiredInputs(node)) {
        wires.push({ key: `${id}.${pin}`, event: false, from, fromPin, to: id, toPin: pin });
      }
    }
    return wires;
  }

  typeWire(wire, nodes) {
    const from = nodes.get(wire.from)?.shape.pins.output.get(wire.fromPin);
    const to = nodes.get(wire.to)?.shape.pins.input.get(wire.toPin);
    wire.type = from?.pin.type ?? "any";
    wire.state = this.catalogue?.wire(from?.pin.type, to?.pin.type) ?? null;
    Object.assign(wire, { fromY: from?.y ?? 0, toY: to?.y ?? 0 });
  }

  // The changes that wire an output to an input. They replace the wire or value of a data input.
  wiring(from, fromPin, to, toPin, event) {
    return event
      ? [[["events", wireKey(from, fromPin, to, toPin)], true]]
      : [[["nodes", to, "inputs", toPin], { wire: `${from}.${fromPin}` }]];
  }

  unwiring(wire) {
    return wire.event
      ? [[["events", wire.key], undefined]]
      : [[["nodes", wire.to, "inputs", wire.toPin], undefined]];
  }

  validateSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.validate(), VALIDATE_MILLISECONDS);
  }

  async validate() {
    const { serial, graph } = this;
    const version = this.model?.version;
    if (!this.model) return;
    try {
      const answer = await this.ask("flow_validate", { graph, source: this.model.source });
      if (serial !== this.serial || version !== this.model?.version) return;
      await this.refreshCatalogue(answer.catalogue ?? null);
      // Meanwhile, another graph may be open, or the source may have changed.
      if (serial !== this.serial || version !== this.model?.version) return;
      this.problems = answer.problems;
      this.size = answer.size ?? null;
      const before = JSON.stringify(this.dynamic);
      this.dynamic = answer.pins ?? {};
      if (JSON.stringify(this.dynamic) !== before) {
        this.pinsVersion += 1;
        this.hasRenamed = false;
        this.notify("model");
      }
      this.notify("problems");
      this.applyRenames(answer.renamed ?? null);
    } catch (error) {
      if (serial === this.serial) this.note(error.message, "error");
    }
  }

  // Takes over the new names of pins that were renamed in a subgraph or in a node of the game: once
  // until pins change again, so that it can be undone. `source` is the source with these names, if
  // it uses old ones.
  applyRenames(source) {
    if (source === null || this.hasRenamed) return;
    this.hasRenamed = true;
    const tree = JSON.parse(source);
    const changes = [];
    for (const block of ["nodes", "events"]) {
      const [now, next] = [this.model.block(block), tree[block] ?? {}];
      for (const key of Object.keys(now)) {
        if (!Object.hasOwn(next, key)) changes.push([[block, key], undefined]);
      }
      for (const [key, value] of Object.entries(next)) {
        const known = Object.hasOwn(now, key) ? now[key] : undefined;
        if (JSON.stringify(known) !== JSON.stringify(value)) changes.push([[block, key], value]);
      }
    }
    if (!this.change("new names of pins", changes)) return;
    this.note("pins were renamed: save the graph, so that its file follows them", "warning");
  }

  // Writes the new names of pins into the files of all graphs that use old ones.
  async updateUsers() {
    const { serial } = this;
    if (this.model.unsaved) await this.save();
    if (serial !== this.serial || !this.model || this.model.unsaved) return;
    try {
      this.noteRenamed(await this.ask("flow_apply_renames", {}));
    } catch (error) {
      this.note(`nothing was updated: ${error.message}`, "error");
    }
  }

  // Says which files have the new names of pins, and which do not.
  noteRenamed({ graphs, skipped, more }) {
    const shown = graphs.length === 1 ? graphs[0] : `${graphs.length} graphs`;
    let text = graphs.length ? `updated ${shown}` : "no readable graph has an old name";
    if (!graphs.length && !skipped.length) text = "all graphs have the new names";
    if (more) text += "; press Update graphs again for the others";
    if (skipped.length) {
      const count = skipped.length === 1 ? "1 file was" : `${skipped.length} files were`;
      text += `; ${count} left out: ${skipped[0].path}: ${skipped[0].message}`;
    }
    this.note(text, more || skipped.length ? "warning" : "info");
  }

  // Saves into the file on disk. `resolve` says whose value counts in a conflict.
  async save(resolve) {
    if (!this.model || this.saving) return;
    const { serial, graph } = this;
    const source = this.model.source;
    this.saving = true;
    try {
      const fields = { graph, base: JSON.stringify(this.model.base), source };
      const answer = await this.ask("flow_save", resolve ? { ...fields, resolve } : fields);
      if (serial !== this.serial) return;
      if (!answer.saved) {
        this.notify("conflicts", answer.conflicts);
        return;
      }
      const version = this.model.version;
      const isMerged = this.model.saved(answer.source, source);
      this.revision = answer.revision ?? null;
      if (this.model.version !== version) this.changed();
      this.notify("saved");
      this.noteSaved(isMerged);
    } catch (error) {
      this.note(`not saved: ${error.message}`, "error");
    } finally {
      this.saving = false;
    }
  }

  // Says what was saved. The game does not take over a graph with errors.
  noteSaved(isMerged) {
    const merged = isMerged ? "saved, and merged with the changes on disk" : "saved";
    const errors = this.problems.filter((one) => one.severity === "error").length;
    const count = errors === 1 ? "its error is" : `its ${errors} errors are`;
    if (!errors) this.note(merged);
    else this.note(`${merged}: the game keeps the graph before until ${count} repaired`, "warning");
  }

  // Merges what somebody else has written into the file.
  async lookAtDisk() {
    if (!this.entered || !this.model || this.saving || this.looking) return;
    const { serial, graph } = this;
    this.looking = true;
    try {
      const fields = this.revision === null ? { graph } : { graph, known: this.revision };
      const answer = await this.ask("flow_open", fields);
      if (serial !== this.serial || answer.unchanged || this.saving) return;
      this.revision = answer.revision ?? null;
      const { merged, conflicts } = this.model.mergeDisk(answer.source);
      if (merged) this.changed();
      if (merged || conflicts) this.notify("saved");
      const changed = "the file changed on disk";
      if (conflicts) {
        const count = conflicts === 1 ? "1 entry conflicts" : `${conflicts} entries conflict`;
        this.note(`${changed}: ${count}, and you choose when you save`, "warning");
      } else if (merged) {
        this.note(`${changed}: ${merged === 1 ? "1 entry" : `${merged} entries`} merged`);
      }
    } catch {
      // The file may be in the middle of a change, and the connection reports its own end.
    } finally {
      this.looking = false;
    }
  }
}
