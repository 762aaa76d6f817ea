// Comments and groups of a Flow graph: boxes behind the nodes, whose texts are edited in place.

import { make, setText } from "./dom.js";
import { GRID, bounds, pixels } from "./flow_types.js";

const PAD = GRID;
const TITLE = 26;
const GRIP = 18;
const COLOR = /^#[0-9a-f]{6}$/i;

const numbers = (value, fallback) => {
  const [x, y] = Array.isArray(value) ? value : fallback;
  return [pixels(x), pixels(y)];
};

export class FlowFrames {
  constructor(canvas) {
    this.canvas = canvas;
    this.element = make("div", { class: "flow-frames" });
    this.boxes = new Map();
  }

  clear() {
    this.element.replaceChildren();
    this.boxes.clear();
  }

  // Moves the frames that move with dragged nodes to the layer of the drag.
  lift(keys, moveInto) {
    for (const [key, box] of this.boxes) {
      box.isLifted = this.isDragged(key, keys);
      if (box.isLifted) moveInto(box.element);
    }
  }

  lower(moveInto) {
    for (const box of this.boxes.values()) {
      if (box.isLifted) moveInto(box.element);
      box.isLifted = false;
    }
  }

  // A comment moves by itself, a group with all of its nodes.
  isDragged(key, keys) {
    if (key.startsWith("c:")) return keys.has(key);
    const members = Object.keys(
      this.canvas.editor.model.get("groups", key.slice(2), "nodes") ?? {},
    );
    return members.length > 0 && members.every((id) => keys.has(id));
  }

  // Returns the rectangle of a comment or of a group's nodes, in pixels, or null. A group does not
  // grow with single nodes that are dragged: that would draw all around it again and again.
  rect(key, layout) {
    const { editor } = this.canvas;
    const drag = editor.drag;
    if (key.startsWith("c:")) {
      const comment = editor.model.get("comments", key.slice(2));
      const [x, y] = numbers(comment?.position, [0, 0]);
      const [width, height] = numbers(comment?.size, [16, 8]);
      const moved = drag?.keys.has(key) ? [drag.x, drag.y] : [0, 0];
      const grown = drag?.resized === key ? [drag.x, drag.y] : [0, 0];
      return {
        x: x + moved[0],
        y: y + moved[1],
        width: Math.max(GRID * 4, width + grown[0]),
        height: Math.max(GRID * 2, height + grown[1]),
      };
    }
    const group = editor.model.get("groups", key.slice(2));
    const members = Object.keys(group?.nodes ?? {});
    const boxes = members.map((id) => layout.nodes.get(id)).filter(Boolean);
    const around = bounds(boxes);
    if (!around) return null;
    const isDragged = drag && this.isDragged(key, drag.keys);
    return {
      x: around.left - PAD + (isDragged ? drag.x : 0),
      y: around.top - PAD - TITLE + (isDragged ? drag.y : 0),
      width: around.right - around.left + 2 * PAD,
      height: around.bottom - around.top + 2 * PAD + TITLE,
    };
  }

  // Returns the frame at a point of the graph, or null.
  hit(x, y, layout) {
    let found = null;
    for (const key of this.boxes.keys()) {
      const rect = this.rect(key, layout);
      if (!rect || x < rect.x || x > rect.x + rect.width) continue;
      if (y < rect.y || y > rect.y + rect.height) continue;
      // Below its title, a group is no more than its nodes.
      if (key.startsWith("g:") && y > rect.y + TITLE) continue;
      const isGrip = x > rect.x + rect.width - GRIP && y > rect.y + rect.height - GRIP;
      found = { key, part: key.startsWith("c:") && isGrip ? "grip" : "frame" };
    }
    return found;
  }

  draw(layout) {
    const { model } = this.canvas.editor;
    const keys = [
      ...Object.keys(model.block("groups")).map((id) => `g:${id}`),
      ...Object.keys(model.block("comments")).map((id) => `c:${id}`),
    ];
    const seen = new Set(keys);
    for (const [key, box] of this.boxes) {
      if (seen.has(key)) continue;
      box.element.remove();
      this.boxes.delete(key);
    }
    for (const key of keys) {
      if (!this.boxes.has(key)) this.create(key);
      this.update(key, this.boxes.get(key), layout);
    }
  }

  create(key) {
    const isGroup = key.startsWith("g:");
    const text = make("div", { class: "text" });
    const grip = isGroup ? null : make("div", { class: "grip" });
    const element = make(
      "div",
      {
        class: isGroup ? "flow-frame group" : "flow-frame comment",
        role: "group",
        "aria-roledescription": isGroup ? "group" : "comment",
        tabindex: "-1",
        "data-frame": key,
      },
      text,
      grip,
    );
    this.boxes.set(key, { element, text, shown: "" });
    this.element.append(element);
  }

  update(key, box, layout) {
    const { editor } = this.canvas;
    const isGroup = key.startsWith("g:");
    const data = editor.model.get(isGroup ? "groups" : "comments", key.slice(2));
    const text = String((isGroup ? data?.title : data?.text) ?? "");
    const color = COLOR.test(data?.color) ? data.color : "";
    const isSelected = editor.selection.has(key);
    const rect = this.rect(key, layout);
    if (rect && box.isLifted) {
      rect.x -= editor.drag.x;
      rect.y -= editor.drag.y;
    }
    const shown = JSON.stringify([rect, text, color, isSelected]);
    if (box.shown === shown) return;
    box.shown = shown;
    box.element.hidden = !rect;
    if (!rect) return;
    const { style } = box.element;
    style.left = `${rect.x}px`;
    style.top = `${rect.y}px`;
    style.width = `${rect.width}px`;
    style.height = `${rect.height}px`;
    style.setProperty("--frame", color || "var(--strong-line)");
    setText(box.text, text || (isGroup ? "Group" : "Comment"));
    box.element.classList.toggle("selected", isSelected);
    const suffix = isSelected ? ", selected" : "";
    box.element.setAttribute("aria-label", `${isGroup ? "Group" : "Comment"}: ${text}${suffix}`);
  }

  // Edits the text of a comment, or the title of a group, in place.
  edit(key) {
    const { editor } = this.canvas;
    const box = this.boxes.get(key);
    if (!box || box.element.querySelector("textarea")) return;
    const [block, field] = key.startsWith("g:") ? ["groups", "title"] : ["comments", "text"];
    const path = [block, key.slice(2), field];
    const area = make("textarea", { "aria-label": field, spellcheck: "true" });
    area.value = String(editor.model.get(...path) ?? "");
    let hasEnded = false;
    const end = (isKept) => {
      // The removal of the area takes its focus, which is an end, too.
      if (hasEnded) return;
      hasEnded = true;
      area.remove();
      if (isKept) editor.change(`text of a ${block.slice(0, -1)}`, [[path, area.value]]);
      box.element.focus({ preventScroll: true });
    };
    area.addEventListener("blur", () => end(true));
    area.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") end(false);
      else if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        end(true);
      }
    });
    box.element.append(area);
    area.focus();
    area.select();
  }
}
