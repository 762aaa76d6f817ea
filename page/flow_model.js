// The source of a Flow graph as a tree: changes by paths, undo and redo, differences, merges.
// Independent of the DOM and of the connection.

// Changes of the same entry within this time are one step of the history.
const JOIN_MILLISECONDS = 1200;
const STEPS_MAX = 500;

const isTree = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const same = (a, b) => a === b || JSON.stringify(a) === JSON.stringify(b);
export const copy = (value) => (value === undefined ? undefined : structuredClone(value));

// Returns the entry at a path, or undefined.
export function entry(tree, path) {
  let at = tree;
  for (const key of path) {
    if (!isTree(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

// Sets or removes (undefined) the entry at a path. Blocks that become empty are removed.
export function setEntry(tree, path, value) {
  const [key, ...rest] = path;
  if (rest.length === 0) {
    if (value === undefined) delete tree[key];
    else tree[key] = value;
    return;
  }
  if (!Object.hasOwn(tree, key) || !isTree(tree[key])) {
    if (value === undefined) return;
    tree[key] = {};
  }
  setEntry(tree[key], rest, value);
  if (value === undefined && Object.keys(tree[key]).length === 0) delete tree[key];
}

// Returns the changes [path, value] that make `to` out of `from`.
export function difference(from, to, path = []) {
  const changes = [];
  for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [a, b] = [entry(from, [key]), entry(to, [key])];
    const at = [...path, key];
    if (isTree(a) && isTree(b)) changes.push(...difference(a, b, at));
    else if (!same(a, b)) changes.push([at, copy(b)]);
  }
  return changes;
}

// True if one path leads to the other, or beyond it.
const meet = (a, b) => a.slice(0, b.length).every((key, at) => key === b[at]);

// Returns the changes between `base` and `theirs` that do not meet changes of `mine`, and those
// that do.
export function mergeChanges(base, mine, theirs) {
  const own = difference(base, mine);
  const [free, conflicts] = [[], []];
  for (const [path, value] of difference(base, theirs)) {
    const met = own.filter(([other]) => meet(path, other));
    if (met.length === 0) free.push([path, value]);
    else if (met.length > 1 || met[0][0].length !== path.length || !same(met[0][1], value)) {
      conflicts.push([path, value]);
    }
  }
  return { free, conflicts };
}

export class FlowModel {
  constructor(source) {
    this.tree = JSON.parse(source);
    this.base = copy(this.tree);
    [this.past, this.future, this.version] = [[], [], 0];
  }

  get source() {
    return JSON.stringify(this.tree);
  }

  get unsaved() {
    return !same(this.base, this.tree);
  }

  get(...path) {
    return entry(this.tree, path);
  }

  // The entries of a block, by name.
  block(name) {
    const found = entry(this.tree, [name]);
    return isTree(found) ? found : {};
  }

  // Applies changes [path, value] as one step that can be undone. With `join`, it extends the last
  // step if that one has the same key and is recent.
  apply(label, changes, join = null) {
    const real = changes.filter(([path, value]) => !same(entry(this.tree, path), value));
    if (real.length === 0) return false;
    const back = [];
    for (const [path, value] of real) {
      back.unshift([path, copy(entry(this.tree, path))]);
      setEntry(this.tree, path, copy(value));
    }
    const now = Date.now();
    const last = this.past.at(-1);
    if (join && last?.join === join && now - last.time < JOIN_MILLISECONDS) {
      last.time = now;
      last.forward.push(...copy(real));
      last.back.unshift(...back);
    } else {
      this.past.push({ label, join, time: now, forward: copy(real), back });
      if (this.past.length > STEPS_MAX) this.past.shift();
    }
    this.future = [];
    this.version += 1;
    return true;
  }

  // Undoes or repeats a step. Returns its label, or null.
  move(from, to, changes) {
    const step = from.pop();
    if (!step) return null;
    for (const [path, value] of step[changes]) setEntry(this.tree, path, copy(value));
    to.push({ ...step, join: null });
    this.version += 1;
    return step.label;
  }

  undo() {
    return this.move(this.past, this.future, "back");
  }

  redo() {
    return this.move(this.future, this.past, "forward");
  }

  // Takes over what the file on disk has now. Conflicting entries keep the value of this page, and
  // the next save reports them. Returns the numbers of merged and of conflicting entries.
  mergeDisk(source) {
    const disk = JSON.parse(source);
    const { free, conflicts } = mergeChanges(this.base, this.tree, disk);
    for (const [path, value] of free) setEntry(this.tree, path, copy(value));
    const before = this.base;
    this.base = disk;
    for (const [path] of conflicts) setEntry(this.base, path, copy(entry(before, path)));
    if (free.length) this.version += 1;
    return { merged: free.length, conflicts: conflicts.length };
  }

  // Takes over the answer to a save: the file has this source now. Edits made since the request
  // with the source `sent` stay. Returns true if the file had other changes.
  saved(source, sent) {
    const disk = JSON.parse(source);
    this.base = JSON.parse(sent);
    const isMerged = difference(this.base, disk).length > 0;
    const { free } = mergeChanges(this.base, this.tree, disk);
    for (const [path, value] of free) setEntry(this.tree, path, copy(value));
    this.base = disk;
    if (free.length) this.version += 1;
    return isMerged;
  }
}
