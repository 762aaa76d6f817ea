-- `DebugUi`: an immediate-mode GUI for debug windows, with the names that users of Dear ImGui's Lua
-- bindings expect. Each call draws a widget and returns its state in the same frame. This file has
-- the frame, the mouse, the windows and their z-order. Widgets are in debug_ui_widgets.lua and
-- debug_ui_tables.lua. In a release, no window is shown and every widget returns its input value.
local core = ...

local type, format = type, string.format
local floor, max, min = math.floor, math.max, math.min
local raise, bad_argument = core.raise, core.bad_argument
local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color

local DebugUi, Gui = core.module("DebugUi"), core.module("Gui")
local Mouse, Application = core.module("Mouse"), core.module("Application")

---@module DebugUi
---@node hidden
---Debug windows, described again in every frame: lists, sliders, switches, curves. A widget takes a
---value and returns the value after input from the mouse or the keyboard.
---@example
---   local speed = 4
---   if DebugUi.begin_window("Player") then
---     speed = DebugUi.slider_float("speed", speed, 0, 20)
---     if DebugUi.button("Reset") then speed = 4 end
---   end
---   DebugUi.end_window()
---   assert(speed == 4)

-- Sizes in logical pixels.
local SIZE, ROW, GAP, PAD = 13, 19, 4, 8
local TITLE = 22
local WIDTH, HEIGHT, SIZE_MIN = 300, 220, 60
-- Layers of the overlay: each window has a range of layers, and popups are above all windows.
local FIRST_LAYER, WINDOW_LAYERS, POPUP_LAYER = 100, 10, 20000

local color = {
  ground = C(235, 22, 25, 31),
  title = C(255, 38, 44, 56),
  title_front = C(255, 44, 66, 104),
  edge = C(255, 62, 70, 84),
  field = C(255, 40, 46, 57),
  hot = C(255, 56, 76, 110),
  held = C(255, 70, 104, 160),
  mark = C(255, 96, 156, 240),
  text = C(255, 216, 220, 226),
  dim = C(255, 136, 142, 152),
}

local OPTIONS = { markup = false }

-- State and functions that the DebugUi files share.
local ui = {
  color = color, SIZE = SIZE, ROW = ROW, GAP = GAP, PAD = PAD,
  windows = {}, -- by id
  order = {}, -- back to front
  stack = {}, -- windows between `begin_window` and `end_window`
  ids = {}, -- the stack of pushed ids
  mouse = { x = -1, y = -1, down = false, pressed = false, released = false, wheel = 0 },
  state = {}, -- state that widgets keep between frames, by id
  frame = -1,
}
core.debug_ui = ui

local release

-- Returns true in a release, where no window is shown.
function ui.is_off()
  if release == nil then release = Application.build() == "release" end
  return release
end

-- Returns the visible text of a label. The part from "##" on only makes the label's id unique.
function ui.visible_text(label)
  local at = label:find("##", 1, true)
  return at and label:sub(1, at - 1) or label
end

function ui.id(label)
  local window = ui.window
  return window.id .. "/" .. table.concat(ui.ids, "/") .. "/" .. label
end

-- Raises if an argument has the wrong type. `spec` alternates names and types; "?" at the end of a
-- type also allows nil.
function ui.check(name, spec, ...)
  for i = 1, #spec, 2 do
    local wanted, value = spec[i + 1], (select((i + 1) / 2, ...))
    local plain = wanted:gsub("%?$", "")
    if not (value == nil and plain ~= wanted) and type(value) ~= plain then
      local types = plain == wanted and plain or plain .. " or nil"
      bad_argument(name, (i + 1) / 2, spec[i], types, value)
    end
  end
end

-- Checks a widget's arguments. Also raises if no window has begun.
function ui.widget(name, spec, ...)
  ui.check(name, spec, ...)
  if not ui.window and not ui.is_off() then
    raise(name .. ": no window is begun: call DebugUi.begin_window(title) first")
  end
end

local function text_width(text)
  local _, corner, caret = Gui.text_extents(ui.gui, text, nil, SIZE, OPTIONS)
  return max(corner.x, caret.x)
end
ui.text_width = text_width

function ui.rect(x, y, w, h, fill, above)
  if w <= 0 or h <= 0 then return end
  Gui.rect(ui.gui, V3(x, y, ui.layer + (above or 1)), V2(w, h), fill)
end

-- Draws text, vertically centered in a row.
function ui.text(text, x, y, h, fill, above)
  if text == "" then return end
  local at = V3(floor(x), floor(y + (h - SIZE) / 2 + 3), ui.layer + (above or 2))
  Gui.text(ui.gui, text, nil, SIZE, nil, at, fill or color.text, OPTIONS)
end

-- Returns the number of bytes of the longest prefix of a text (or suffix, if `from_end`) that fits
-- into the width `w`. Never splits a character.
local function fitting(text, w, from_end)
  local low, high = 0, #text
  while low < high do
    local middle = floor((low + high + 1) / 2)
    local part = from_end and text:sub(-middle) or text:sub(1, middle)
    if text_width(part) <= w then low = middle else high = middle - 1 end
  end
  while low > 0 and low < #text do
    local first = text:byte(from_end and #text - low + 1 or low + 1)
    if first < 128 or first >= 192 then break end
    low = low - 1
  end
  return low
end
ui.fitting = fitting

-- Returns true if a text is wider than `w`. Most texts are so short that they need no measuring.
function ui.is_wider(text, w)
  return #text * SIZE > w and text_width(text) > w
end

-- Draws text like `ui.text`, cut to the width `w`. A cut text ends in an ellipsis.
function ui.clipped_text(text, x, y, w, h, fill, above)
  if ui.is_wider(text, w) then
    text = text:sub(1, fitting(text, w - text_width("…"))) .. "…"
  end
  ui.text(text, x, y, h, fill, above)
end

-- Returns the window under the mouse, from the windows' positions in the last frame.
local function window_at(x, y)
  for i = #ui.order, 1, -1 do
    local window = ui.order[i]
    local tall = window.collapsed and TITLE or window.height
    if window.seen == ui.frame - 1 and x >= window.x and x < window.x + window.width
      and y <= window.top and y > window.top - tall then
      return window
    end
  end
end

local function to_front(window)
  for i, known in ipairs(ui.order) do
    if known == window then
      table.remove(ui.order, i)
      break
    end
  end
  ui.order[#ui.order + 1] = window
end

-- Starts a frame at its first call: resets state that an error left open and reads the mouse.
local function begin_frame()
  local index = Application.frame_index()
  if ui.frame_index == index then return end
  ui.frame_index, ui.frame = index, ui.frame + 1
  ui.stack, ui.ids, ui.window, ui.clips = {}, {}, nil, 0
  ui.gui = core.console_gui()
  local mouse, cursor = ui.mouse, Mouse.axis("cursor")
  local x, y = core.overlay_position(cursor.x, cursor.y)
  mouse.dx, mouse.dy = x - mouse.x, y - mouse.y
  mouse.x, mouse.y = x, y
  mouse.down = Mouse.button("left") > 0
  mouse.pressed, mouse.released = Mouse.pressed("left"), Mouse.released("left")
  mouse.wheel = Mouse.axis("wheel").y
  ui.popup_seen = ui.popup and ui.popup.rect or nil
  ui.over = window_at(mouse.x, mouse.y)
  if not mouse.down and not mouse.released then ui.active = nil end
  if mouse.pressed then
    if ui.over and not ui.popup_seen then to_front(ui.over) end
    if not ui.over then ui.focus = nil end
  end
end

-- Returns true if the mouse is over a rectangle of the current window and no other window or popup
-- covers it.
function ui.is_over(x, y, w, h)
  local mouse, window = ui.mouse, ui.window
  local popup = ui.popup_seen
  if popup and not ui.in_popup and mouse.x >= popup[1] and mouse.x < popup[1] + popup[3]
    and mouse.y >= popup[2] and mouse.y < popup[2] + popup[4] then
    return false
  end
  if not ui.in_popup then
    if ui.over ~= window then return false end
    local clip = window.clip
    if clip and (mouse.y < clip[2] or mouse.y >= clip[2] + clip[4]) then return false end
  end
  return mouse.x >= x and mouse.x < x + w and mouse.y >= y and mouse.y < y + h
end

-- Returns the state of a clickable widget: hovered, held, and clicked (released over the widget).
function ui.press(id, x, y, w, h)
  local over, mouse = ui.is_over(x, y, w, h), ui.mouse
  if over and mouse.pressed then ui.active = id end
  local held = ui.active == id
  local clicked = held and mouse.released and over
  if held and mouse.released then ui.active = nil end
  ui.last = { over = over, held = held, clicked = clicked }
  return over and (ui.active == nil or held), held, clicked
end

-- Reserves space for the next widget. Returns its left and bottom.
function ui.reserve(w, h)
  local window = ui.window
  local left, top
  if window.same then
    left, top = window.last_right + window.same, window.last_top
    window.line = max(window.line, h)
  else
    left, top = window.left + window.indent, window.next_top
    window.line = h
  end
  window.same = nil
  window.last_right, window.last_top = left + w, top
  window.next_top = top - window.line - GAP
  window.lowest = min(window.lowest, window.next_top)
  return left, top - h
end

-- Returns the remaining width of the current line, at least 20.
function ui.available_width()
  local window = ui.window
  local left = window.same and window.last_right + window.same or window.left + window.indent
  return max(window.right - left, 20)
end

local WINDOW_OPTIONS = {
  x = "number", y = "number", width = "number", height = "number", closable = "boolean",
  collapsed = "boolean",
}

local function check_options(options)
  for _, key in ipairs(core.names(options)) do
    local wanted = WINDOW_OPTIONS[key]
    if not wanted then
      raise("DebugUi.begin_window: " .. core.unknown_option(key, WINDOW_OPTIONS))
    end
    if type(options[key]) ~= wanted then
      raise(format("DebugUi.begin_window: option '%s' must be a %s, got %s", key, wanted,
        core.describe(options[key])))
    end
  end
end

local function new_window(id, options)
  local _, height = Gui.resolution(ui.gui)
  local step = 26 * (#ui.order % 12)
  local window = {
    id = id, x = options.x or 20 + step, width = options.width or WIDTH,
    height = options.height or HEIGHT, collapsed = options.collapsed or false, scroll = 0,
    full = 0, open = true,
  }
  window.top = options.y and options.y + window.height or height - 20 - step
  ui.windows[id] = window
  ui.order[#ui.order + 1] = window
  return window
end

-- Draws the title bar, which moves, collapses and closes the window.
local function title_bar(window, title, closable)
  local x, y, w = window.x, window.top - TITLE, window.width
  local front = ui.order[#ui.order] == window
  ui.rect(x, y, w, TITLE, front and color.title_front or color.title, 1)
  ui.text(window.collapsed and "+" or "-", x + 8, y, TITLE, color.text, 3)
  ui.text(title, x + 22, y, TITLE, color.text, 3)
  local width_left = closable and w - TITLE or w
  if closable then
    local over, _, clicked = ui.press(window.id .. "//close", x + width_left, y, TITLE, TITLE)
    ui.text("x", x + width_left + 7, y, TITLE, over and color.mark or color.dim, 3)
    if clicked then window.open = false end
  end
  local _, _, folded = ui.press(window.id .. "//fold", x, y, 20, TITLE)
  if folded then window.collapsed = not window.collapsed end
  local _, held = ui.press(window.id .. "//move", x + 20, y, width_left - 20, TITLE)
  if held and ui.mouse.down and not ui.mouse.pressed then
    window.x, window.top = window.x + ui.mouse.dx, window.top + ui.mouse.dy
  end
  local width, height = Gui.resolution(ui.gui)
  window.x = max(min(window.x, width - 40), 40 - window.width)
  window.top = max(min(window.top, height), TITLE)
end

-- Draws the resize corner and the scroll bar of a window and applies their input.
local function frame_of(window)
  local x, bottom, w = window.x, window.top - window.height, window.width
  local inner = window.height - TITLE - 2 * PAD
  local most = max(window.full - inner, 0)
  if ui.over == window and not ui.popup_seen then
    window.scroll = window.scroll - ui.mouse.wheel * 3 * ROW
  end
  if most > 0 then
    local track = window.height - TITLE - 14
    local size = max(track * inner / window.full, 16)
    local at = window.top - TITLE - 2 - (track - size) * window.scroll / most - size
    local over, held = ui.press(window.id .. "//scroll", x + w - 9, at, 8, size)
    if held and not ui.mouse.pressed and track > size then
      window.scroll = window.scroll - ui.mouse.dy * most / (track - size)
    end
    ui.rect(x + w - 8, at, 5, size, (over or held) and color.held or color.edge, 3)
  end
  window.scroll = max(0, min(window.scroll, most))
  local over, held = ui.press(window.id .. "//size", x + w - 13, bottom, 13, 13)
  ui.rect(x + w - 9, bottom + 3, 6, 6, (over or held) and color.held or color.edge, 3)
  if held and not ui.mouse.pressed then
    window.width = max(window.width + ui.mouse.dx, SIZE_MIN)
    window.height = max(window.height - ui.mouse.dy, SIZE_MIN)
  end
end

---Begins a window. If it returns true, the following widgets are in the window. Call
---`DebugUi.end_window` in either case. The mouse moves, sizes, scrolls and collapses windows. The
---options set the window's initial state; `closable` adds a close button.
---@param title string its name; the part from "##" on is not shown and tells windows apart
---@param options? table `x`, `y` (its left bottom), `width`, `height`, `collapsed`, `closable`
---@return boolean visible false if the window is collapsed or closed, and in a release
---@return boolean open false after its close button was clicked
function DebugUi.begin_window(title, options)
  ui.check("DebugUi.begin_window", { "title", "string", "options", "table?" }, title, options)
  if ui.is_off() then return false, true end
  options = options or {}
  check_options(options)
  begin_frame()
  if #ui.stack > 0 then
    raise(format("DebugUi.begin_window: the window '%s' is begun already: end it with "
      .. "DebugUi.end_window()", ui.visible_text(ui.stack[#ui.stack].id)))
  end
  local window = ui.windows[title] or new_window(title, options)
  ui.stack[1], ui.window = window, window
  window.begun_at = core.location()
  if not window.open then return false, false end
  window.seen = ui.frame
  for i, known in ipairs(ui.order) do
    if known == window then ui.layer = FIRST_LAYER + i * WINDOW_LAYERS end
  end
  window.clip = nil
  title_bar(window, ui.visible_text(title), options.closable)
  if window.collapsed or not window.open then return false, window.open end
  local bottom = window.top - window.height
  ui.rect(window.x, bottom, window.width, window.height, color.ground, 0)
  Gui.rect_outline(ui.gui, V3(window.x, bottom, ui.layer + 3), V2(window.width, window.height), 1,
    color.edge)
  frame_of(window)
  window.left, window.right = window.x + PAD, window.x + window.width - PAD - 6
  window.first_top = window.top - TITLE - PAD + window.scroll
  window.next_top, window.lowest = window.first_top, window.first_top
  window.indent, window.same, window.columns = 0, nil, nil
  window.clip = { window.x + 1, bottom + 2, window.width - 2, window.height - TITLE - 2 }
  Gui.push_clip(ui.gui, V2(window.clip[1], window.clip[2]), V2(window.clip[3], window.clip[4]))
  window.clipped = true
  return true, true
end

---Ends the current window.
function DebugUi.end_window()
  if ui.is_off() then return end
  local window = ui.stack[#ui.stack]
  if not window then raise("DebugUi.end_window: no window is begun") end
  if window.clipped then
    Gui.pop_clip(ui.gui)
    window.clipped = false
    window.full = window.first_top - window.lowest
    if ui.popup and ui.popup.window == window then ui.draw_popup() end
  end
  ui.stack[#ui.stack], ui.window = nil, nil
  ui.ids = {}
end

-- Ends the window that the game left open, because an error that it caught, or a `return`, came
-- before `end_window`. Warns once for each window.
core.on("frame_render", "debug_ui", function()
  local window = ui.stack[1]
  if not window then return end
  if window.clipped then
    Gui.pop_clip(ui.gui)
    window.clipped = false
  end
  ui.stack[1], ui.window = nil, nil
  ui.ids = {}
  if window.warned then return end
  window.warned = true
  core.log("warning", format("%s: the window '%s' was begun and not ended in this frame: call "
    .. "DebugUi.end_window() in every case, and after an error that you catch", window.begun_at,
    ui.visible_text(window.id)))
end)

---Opens or closes a window. This reopens a window that was closed by its close button.
---@param title string the title passed to `DebugUi.begin_window`
---@param open boolean true to show the window from now on
function DebugUi.set_window_open(title, open)
  ui.check("DebugUi.set_window_open", { "title", "string", "open", "boolean" }, title, open)
  if ui.windows[title] then ui.windows[title].open = open end
end

---Returns true if the mouse is over a window or is dragging in one. A game should then ignore mouse
---input.
---@return boolean captured true while the windows use the mouse
function DebugUi.wants_mouse()
  if ui.is_off() or ui.frame_index == nil then return false end
  local idle = Application.frame_index() - ui.frame_index > 1
  return not idle and (ui.over ~= nil or ui.active ~= nil or ui.popup ~= nil)
end

---Returns true if a text field of a window receives the typed keys.
---@return boolean captured true while a field has the cursor
function DebugUi.wants_keyboard()
  if ui.is_off() or ui.frame_index == nil then return false end
  return ui.focus ~= nil and Application.frame_index() - ui.frame_index <= 1
end

-- Popups are above every window. At most one popup is open.
ui.POPUP_LAYER = POPUP_LAYER
