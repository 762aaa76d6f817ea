// The drawing of a Flow graph: pan and zoom, and the elements of what is near the visible part.
// Pointers are in flow_pointer.js, keys and commands in flow_commands.js.

import { make, seldom, setText } from "./dom.js";
import { FlowFrames } from "./flow_frames.js";
import { FlowLift } from "./flow_lift.js";
import { FlowNode } from "./flow_node.js";
import { FlowPicture } from "./flow_picture.js";
import { HEAD, ROW, WIDTH, bounds } from "./flow_types.js";
import { FlowWires } from "./flow_wires.js";

const ZOOM_LEAST = 0.08;
const ZOOM_MOST = 2;
// Below this zoom, nodes show only their names.
const FAR = 0.36;
// Nodes within this distance of the visible part have elements, in pixels of the screen.
const MARGIN = 200;
// Rows of at most so many nodes are created in a frame.
const BUILT_MAX = 8;
// So many nodes have elements although they are not near.
const NODES_KEPT = 700;
// After a change of the scale, the graph is drawn sharply again: when the view rests, or at these
// ratios to the scale at which it is drawn.
const SETTLE_MILLISECONDS = 180;
const [SHARP_LEAST, SHARP_MOST] = [0.5, 4];
// The browser scales only what it has drawn at 1 or more. Below this scale that is slow.
const SCALED_LEAST = 0.3;
// How long a wire is lit, how often lights are looked at, and how often live values are drawn.
const LIT_MILLISECONDS = 450;
const FADE_MILLISECONDS = 150;
const LIVE_MILLISECONDS = 90;

// A pin can be met up to this distance outside of its node.
const PIN = 9;
// The values of inputs begin here.
const VALUE_LEFT = 96;

// Returns the part of a node at a point, relative to the node.
function partAt(box, x, y) {
  const row = box.shape.rows[Math.floor((y - HEAD) / ROW)];
  if (y < HEAD || !row) return { part: y < HEAD ? "head" : "rows" };
  if (row.setting) return { part: "value", row: `set ${row.setting.name}` };
  const { input, output } = row;
  if (output && x > (input ? WIDTH / 2 : WIDTH * 0.45))
    return { part: "pin", side: "output", pin: output };
  if (input && (x < VALUE_LEFT || input.type === "event") && x < WIDTH / 2) {
    return { part: "pin", side: "input", pin: input };
  }
  return input && x > VALUE_LEFT ? { part: "value", row: `in ${input.name}` } : { part: "rows" };
}

const HELP = "Arrows: the next node. Enter: its pins. Space: a new node. Shift+F10: all commands.";

export class FlowCanvas {
  constructor(editor, pick) {
    Object.assign(this, { editor, pick, nodes: new Map(), view: { x: 0, y: 0, zoom: 1 } });
    Object.assign(this, { stops: new Set(), paused: null, values: {}, counts: {}, active: null });
    this.litNodes = new Map();
    this.marks = 0;
    this.wires = new FlowWires();
    this.frames = new FlowFrames(this);
    this.layer = make("div", { class: "flow-layer" });
    // The ground is as large as all graphs, so that it never has to be drawn for a movement.
    const ground = make("div", { class: "flow-ground", "aria-hidden": "true" });
    this.world = make("div", { class: "flow-world" });
    this.world.append(ground, this.frames.element, this.wires.svg, this.layer);
    this.picture = new FlowPicture(this);
    this.lift = new FlowLift(this);
    this.marquee = make("div", { class: "marquee", hidden: true });
    this.percent = make("span", { class: "figures" });
    this.empty = make("p", { class: "note flow-empty", hidden: true });
    this.element = make(
      "div",
      {
        class: "flow-canvas",
        tabindex: "0",
        role: "application",
        "aria-roledescription": "graph",
        "aria-label": `Graph. ${HELP}`,
      },
      this.world,
      this.picture.element,
      this.lift.border,
      this.lift.moved,
      this.marquee,
      this.empty,
    );
    this.frame = this.scheduler();
    // Draws live values and lights in the next frame.
    this.liveSoon = seldom(() => {
      this.isLiveStale = true;
      this.frame();
    }, LIVE_MILLISECONDS);
    new ResizeObserver(() => this.resized()).observe(this.element);
    editor.watch((what) => this.took(what));
  }

  // Draws everything in the next frame.
  soon() {
    this.isStale = true;
    this.frame();
  }

  // Draws what is dragged in the next frame.
  dragged() {
    this.isStale ||= !this.lift.isActive;
    this.frame();
  }

  // True if all that is visible was near at the last drawing.
  get isDrawn() {
    const [now, drawn] = [this.rect(0), this.drawnRect];
    return (
      drawn &&
      now.left >= drawn.left &&
      now.top >= drawn.top &&
      now.right <= drawn.right &&
      now.bottom <= drawn.bottom
    );
  }

  // Returns a function that schedules one drawing for the next frame. The element is marked until
  // all that moves has been drawn where it stays.
  scheduler() {
    let asked = false;
    const mark = () => {
      this.element.toggleAttribute("data-drawing", asked || Boolean(this.isZooming));
    };
    const turn = () => {
      asked = false;
      if (this.picture.isShown) this.drawView();
      else if (this.isStale || !this.isDrawn) this.draw();
      else {
        this.drawMovement();
        if (this.isLiveStale) this.drawLive();
      }
      mark();
    };
    return () => {
      if (asked) return;
      asked = true;
      mark();
      requestAnimationFrame(turn);
    };
  }

  took(what) {
    if (what === "opened") this.opened();
    if (what === "selection" || what === "problems") this.picture.forget();
    if (what === "problems") this.collectProblems();
    // The first answer has pins that make nodes larger.
    if (what === "problems" && !this.isMoved) this.fitted = false;
    if (what === "problems") this.isMoved = true;
    if (what === "selection" || what === "problems") this.refresh();
    else if (what !== "note") this.soon();
  }

  // Draws the marks and live values of nodes again.
  refresh() {
    this.marks += 1;
    this.soon();
  }

  opened() {
    this.lift.end();
    for (const one of this.nodes.values()) one.element.remove();
    this.nodes.clear();
    this.wires.clear();
    this.frames.clear();
    this.litNodes.clear();
    Object.assign(this, { values: {}, counts: {}, active: null, fitted: false, isMoved: false });
    this.collectProblems();
    setText(this.empty, "The graph is empty: press Space, or double-click here, for a first node.");
  }

  // Shows a text on the empty drawing.
  explain(text) {
    setText(this.empty, text);
    this.empty.hidden = false;
  }

  resized() {
    this.size = [this.element.clientWidth, this.element.clientHeight];
    this.soon();
  }

  collectProblems() {
    this.byNode = new Map();
    this.badWires = new Set();
    for (const problem of this.editor.problems) {
      if (problem.wire) this.badWires.add(problem.wire);
      if (!problem.node) continue;
      if (problem.pin) this.badWires.add(`${problem.node}.${problem.pin}`);
      if (!this.byNode.has(problem.node)) this.byNode.set(problem.node, []);
      this.byNode.get(problem.node).push(problem);
    }
  }

  // The position of a node, which may be dragged.
  place(box) {
    const drag = this.editor.drag;
    return drag?.keys.has(box.id) ? [box.x + drag.x, box.y + drag.y] : [box.x, box.y];
  }

  // Converts a point of the page to the graph.
  point(clientX, clientY) {
    const box = this.element.getBoundingClientRect();
    const { x, y, zoom } = this.view;
    return [(clientX - box.x - x) / zoom, (clientY - box.y - y) / zoom];
  }

  // Returns what is at a point of the page: a frame (`key`, perhaps its `grip`), or a node (`box`)
  // and its `part`: "head", "rows", "pin" (with `pin` and `side`) or "value" (with `row`).
  hit(clientX, clientY) {
    const [x, y] = this.point(clientX, clientY);
    let found = null;
    for (const one of this.nodes.values()) {
      const { box } = one;
      const [left, top] = this.place(box);
      const inside = x >= left - PIN && x <= left + WIDTH + PIN && y >= top;
      if (inside && y <= top + box.shape.height) found = [box, x - left, y - top];
    }
    if (!found) return this.frames.hit(x, y, this.editor.layout());
    const [box, across, down] = found;
    const part = this.isFar ? { part: "head" } : partAt(box, across, down);
    // Beside a node there are only its pins.
    const isBeside = across < 0 || across > WIDTH;
    if (isBeside && part.part !== "pin") return this.frames.hit(x, y, this.editor.layout());
    return { key: box.id, box, ...part };
  }

  rect(margin) {
    const { x, y, zoom } = this.view;
    const [width, height] = this.size ?? [0, 0];
    return {
      left: (-x - margin) / zoom,
      top: (-y - margin) / zoom,
      right: (width - x + margin) / zoom,
      bottom: (height - y + margin) / zoom,
    };
  }

  draw() {
    const { editor } = this;
    this.isStale = false;
    if (!editor.model || !this.size?.[0]) return;
    const layout = editor.layout();
    if (!this.fitted && layout.nodes.size) this.fit(null);
    this.fitted = true;
    if (this.empty.hidden !== layout.nodes.size > 0) this.empty.hidden = layout.nodes.size > 0;
    this.drawView();
    this.lift.move();
    const rect = this.rect(MARGIN);
    this.drawnRect = rect;
    this.frames.draw(layout);
    this.drawNodes(layout, rect);
    const place = (box) => this.place(box);
    this.wires.draw(layout, rect, place, editor.wire, this.badWires);
    // Values can have come together with the change that is drawn.
    if (this.isLiveStale) this.drawLive();
    this.picture.prepareSoon();
  }

  // Draws only what the view and a drag have moved.
  drawMovement() {
    const layout = this.editor.layout();
    this.drawView();
    this.lift.move();
    if (!this.lift.isActive) return;
    this.frames.draw(layout);
    this.wires.drawLifted(layout, (box) => this.place(box));
  }

  // Draws only live values, counts and lights.
  drawLive() {
    const { editor } = this;
    this.isLiveStale = false;
    if (!editor.model) return;
    for (const one of this.nodes.values()) {
      one.isLiveStale = !one.isNear;
      if (one.isNear) this.showLive(one);
    }
    this.wires.drawLit(editor.layout(), editor.wire, this.badWires);
  }

  showLive(one) {
    one.showLive(this.values, this.counts[one.id], this.litNodes.has(one.id));
  }

  // Moves what is drawn.
  drawView() {
    const { view } = this;
    this.moveWorld();
    // While the scale changes, nodes keep the form that they have.
    const isFar = this.isZooming ? this.isFar : view.zoom < FAR;
    if (this.isFar !== isFar) this.element.classList.toggle("far", isFar);
    this.isFar = isFar;
    setText(this.percent, `${Math.round(view.zoom * 100)} %`);
  }

  moveWorld() {
    const { view } = this;
    if (this.picture.isShown) {
      this.picture.show(view);
      return;
    }
    const [x, y] = [Math.round(view.x), Math.round(view.y)];
    const transform = `translate(${x}px, ${y}px) scale(${view.zoom})`;
    if (this.transform === transform) return;
    this.transform = transform;
    this.world.style.transform = transform;
  }

  // Draws sharply at the scale that the view has now.
  settle() {
    this.drawnZoom = this.view.zoom;
    this.isZooming = false;
    this.world.classList.remove("zooming");
    this.picture.hide();
    this.transform = "";
    this.soon();
  }

  drawNodes(layout, rect) {
    let budget = this.isZooming ? 0 : BUILT_MAX;
    const added = [];
    for (const box of layout.nodes.values()) {
      let one = this.nodes.get(box.id);
      const [x, y] = this.place(box);
      const isNear =
        x < rect.right &&
        x + WIDTH > rect.left &&
        y < rect.bottom &&
        y + box.shape.height > rect.top;
      if (!isNear && !one) continue;
      if (!one) {
        one = new FlowNode(this, box.id);
        this.nodes.set(box.id, one);
        added.push(one.element);
      }
      const wasBuilt = one.built;
      one.update(box, isNear && !this.isFar && (budget > 0 || wasBuilt === false));
      if (!wasBuilt && one.built) budget -= 1;
      if (isNear && !this.isFar && !one.built && !this.isZooming) this.soon();
      this.put(one, ...(one.isLifted ? [box.x, box.y] : [x, y]));
      one.isNear = isNear;
      if (isNear && one.marks !== this.marks) this.mark(one);
      else if (isNear && one.isLiveStale) this.showLive(one);
      if (isNear) one.isLiveStale = false;
    }
    this.removeNodes(layout);
    if (added.length) this.layer.append(...added);
  }

  // Hundreds of transforms would cost the browser much more than positions do.
  put(one, x, y) {
    const place = `${x} ${y}`;
    if (one.place === place) return;
    one.place = place;
    one.element.style.left = `${x}px`;
    one.element.style.top = `${y}px`;
  }

  // Removes the elements of removed nodes. Nodes that are far away keep theirs up to a number,
  // because a new element costs more than one that is not visible.
  removeNodes(layout) {
    for (const [id, one] of this.nodes) {
      const isFocused = one.element.contains(document.activeElement);
      const isKept = one.isNear || this.nodes.size <= NODES_KEPT || isFocused;
      if (layout.nodes.has(id) && isKept) continue;
      one.element.remove();
      this.nodes.delete(id);
      // Keys go to the graph, not to nowhere.
      if (isFocused) this.element.focus({ preventScroll: true });
    }
  }

  mark(one) {
    one.marks = this.marks;
    one.mark({
      isSelected: this.editor.selection.has(one.id),
      problems: this.byNode.get(one.id),
      hasStop: this.stops.has(one.id),
      isPaused: this.paused === one.id,
    });
    this.showLive(one);
  }

  // Moves the visible part, in pixels of the screen.
  pan(x, y) {
    this.view.x += x;
    this.view.y += y;
    this.moving();
  }

  // Zooms, so that a point of the element stays.
  zoom(factor, x = (this.size?.[0] ?? 0) / 2, y = (this.size?.[1] ?? 0) / 2) {
    const { view } = this;
    const zoom = Math.min(ZOOM_MOST, Math.max(ZOOM_LEAST, view.zoom * factor));
    const real = zoom / view.zoom;
    view.x = x - (x - view.x) * real;
    view.y = y - (y - view.y) * real;
    view.zoom = zoom;
    this.moving();
  }

  // A new scale is drawn sharply when the view rests.
  moving() {
    this.isMoved = true;
    const ratio = this.view.zoom / this.drawnZoom;
    if (this.isZooming || ratio !== 1) {
      this.isZooming = true;
      const { zoom } = this.view;
      const isScaled = zoom > SCALED_LEAST && ratio >= SHARP_LEAST && ratio <= SHARP_MOST;
      if (zoom < FAR && !this.editor.drag && this.picture.isDrawn) this.picture.show(this.view);
      // The picture, and nodes, keep their form until the view rests.
      if (!this.picture.isShown) {
        this.world.classList.toggle("zooming", isScaled);
        if (!isScaled) this.drawnZoom = zoom;
      }
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.settle(), SETTLE_MILLISECONDS);
    }
    this.frame();
  }

  // Shows the whole graph with the next drawing.
  fitAgain() {
    this.fitted = false;
    this.soon();
  }

  // Shows all of some nodes, or the whole graph.
  fit(ids) {
    const boxes = [...this.editor.layout().nodes.values()];
    const some = ids?.length ? boxes.filter((box) => ids.includes(box.id)) : boxes;
    if (!some.length || !this.size) return;
    const { left, top, right, bottom } = bounds(some);
    const [width, height] = this.size;
    const fitting = Math.min((width - 48) / (right - left), (height - 64) / (bottom - top));
    const zoom = Math.min(1, Math.max(ZOOM_LEAST, fitting));
    this.view.zoom = zoom;
    this.view.x = (width - (left + right) * zoom) / 2;
    this.view.y = (height - (top + bottom) * zoom) / 2;
    this.settle();
  }

  // Selects a node and moves it into view.
  jump(id) {
    const box = this.editor.layout().nodes.get(id);
    if (!box) return;
    this.active = id;
    this.editor.select([id]);
    this.reveal(box);
    this.soon();
  }

  // Moves a node into view if it is not there.
  reveal(box) {
    const rect = this.rect(-24);
    const inside =
      box.x > rect.left &&
      box.x + WIDTH < rect.right &&
      box.y > rect.top &&
      box.y + box.shape.height < rect.bottom;
    if (inside && this.view.zoom >= FAR) return;
    this.isMoved = true;
    const zoom = Math.max(this.view.zoom, 0.75);
    this.view.zoom = zoom;
    this.view.x = this.size[0] / 2 - (box.x + WIDTH / 2) * zoom;
    this.view.y = this.size[1] / 2 - (box.y + box.shape.height / 2) * zoom;
    this.settle();
  }

  // Focuses a node, comment or group, whose element may not exist yet.
  focusNode(id) {
    this.active = id;
    this.draw();
    const one = this.nodes.get(id) ?? this.frames.boxes.get(id);
    one?.element.focus({ preventScroll: true });
  }

  // Lights up the wires and nodes of events that were just sent.
  light(wires, nodes) {
    const until = performance.now() + LIT_MILLISECONDS;
    for (const key of wires) this.wires.lit.set(key, until);
    for (const id of nodes) this.litNodes.set(id, until);
    this.fading ??= setTimeout(() => this.fade(), FADE_MILLISECONDS);
    this.liveSoon();
  }

  fade() {
    this.fading = null;
    const now = performance.now();
    for (const lit of [this.wires.lit, this.litNodes]) {
      for (const [key, until] of lit) if (until <= now) lit.delete(key);
    }
    if (this.wires.lit.size + this.litNodes.size) {
      this.fading = setTimeout(() => this.fade(), FADE_MILLISECONDS);
    }
    this.liveSoon();
  }
}
