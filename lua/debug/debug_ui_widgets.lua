-- `DebugUi`: the common widgets. Windows and the frame are in debug_ui.lua; text fields, plots and
-- tables are in debug_ui_tables.lua.
local core = ...

local type, tostring, format = type, tostring, string.format
local floor, max, min = math.floor, math.max, math.min
local raise, ui = core.raise, core.debug_ui
local istype, C = core.ffi.istype, core.ctypes.Color
local color, ROW, GAP = ui.color, ui.ROW, ui.GAP

local DebugUi = core.module("DebugUi")

-- Returns true if widgets are skipped: in a release, or in a collapsed window.
local function hidden()
  return ui.is_off() or not ui.window.clipped
end
ui.hidden = hidden

---Shows text, one line for each line in it.
---@param text any is shown with `tostring`
function DebugUi.text(text)
  ui.widget("DebugUi.text", {})
  if hidden() then return end
  text = tostring(text)
  for line in (text .. "\n"):gmatch("(.-)\n") do
    local x, y = ui.reserve(ui.text_width(line), ROW)
    ui.text(line, x, y, ROW)
  end
end

---Shows a line of text in a colour.
---@param text any is shown with `tostring`
---@param tint Color its colour
function DebugUi.text_colored(text, tint)
  ui.widget("DebugUi.text_colored", {})
  if not istype(C, tint) then
    core.bad_argument("DebugUi.text_colored", 2, "tint", "Color", tint)
  end
  if hidden() then return end
  text = tostring(text)
  local x, y = ui.reserve(ui.text_width(text), ROW)
  ui.text(text, x, y, ROW, tint)
end

---Shows a line of text after a bullet point.
---@param text any is shown with `tostring`
function DebugUi.bullet_text(text)
  ui.widget("DebugUi.bullet_text", {})
  if hidden() then return end
  text = tostring(text)
  local x, y = ui.reserve(ui.text_width(text) + 14, ROW)
  ui.rect(x + 3, y + ROW / 2 - 2, 4, 4, color.dim)
  ui.text(text, x + 14, y, ROW)
end

local function fill_of(over, held)
  return held and color.held or over and color.hot or color.field
end
ui.fill_of = fill_of

---Shows a button.
---@param label string its text; the part from "##" on is not shown
---@return boolean clicked true in the frame in which it was clicked
function DebugUi.button(label)
  ui.widget("DebugUi.button", { "label", "string" }, label)
  if hidden() then return false end
  local caption = ui.visible_text(label)
  local w = ui.text_width(caption) + 16
  local x, y = ui.reserve(w, ROW)
  local over, held, clicked = ui.press(ui.id(label), x, y, w, ROW)
  ui.rect(x, y, w, ROW, fill_of(over, held))
  ui.text(caption, x + 8, y, ROW)
  return clicked
end

---Shows a check box.
---@param label string its text
---@param value boolean true if it is checked
---@return boolean value the same value, or the opposite after a click
---@return boolean changed true if it was clicked
function DebugUi.checkbox(label, value)
  ui.widget("DebugUi.checkbox", { "label", "string", "value", "boolean" }, label, value)
  if hidden() then return value, false end
  local caption = ui.visible_text(label)
  local w = ROW + 6 + ui.text_width(caption)
  local x, y = ui.reserve(w, ROW)
  local over, held, clicked = ui.press(ui.id(label), x, y, w, ROW)
  if clicked then value = not value end
  ui.rect(x, y + 2, ROW - 4, ROW - 4, fill_of(over, held))
  if value then ui.rect(x + 4, y + 6, ROW - 12, ROW - 12, color.mark, 2) end
  ui.text(caption, x + ROW + 2, y, ROW)
  return value, clicked
end

---Shows a radio button: one of several choices.
---@param label string its text
---@param active boolean true if it is the selected choice
---@return boolean clicked true in the frame in which it was clicked
function DebugUi.radio_button(label, active)
  ui.widget("DebugUi.radio_button", { "label", "string", "active", "boolean" }, label, active)
  if hidden() then return false end
  local caption = ui.visible_text(label)
  local w = ROW + 6 + ui.text_width(caption)
  local x, y = ui.reserve(w, ROW)
  local over, held, clicked = ui.press(ui.id(label), x, y, w, ROW)
  local Gui, V3 = core.module("Gui"), core.ctypes.Vector3
  Gui.circle(ui.gui, V3(x + 8, y + ROW / 2, ui.layer + 1), 7, fill_of(over, held))
  if active then Gui.circle(ui.gui, V3(x + 8, y + ROW / 2, ui.layer + 2), 4, color.mark) end
  ui.text(caption, x + ROW + 2, y, ROW)
  return clicked
end

---Shows a selectable line, for example an entry of a list.
---@param label string its text
---@param selected boolean true if it is selected
---@return boolean clicked true in the frame in which it was clicked
function DebugUi.selectable(label, selected)
  ui.widget("DebugUi.selectable", { "label", "string", "selected", "boolean" }, label, selected)
  if hidden() then return false end
  local w = ui.available_width()
  local x, y = ui.reserve(w, ROW)
  local over, held, clicked = ui.press(ui.id(label), x, y, w, ROW)
  if selected or over then ui.rect(x, y, w, ROW, selected and color.held or fill_of(over, held)) end
  ui.text(ui.visible_text(label), x + 4, y, ROW)
  return clicked
end

local function slider(name, label, value, least, most, form, whole)
  if least > most then raise(name .. ": the least value is above the largest") end
  if hidden() then return value, false end
  local caption = ui.visible_text(label)
  local w = max(ui.available_width() - ui.text_width(caption) - 8, 60)
  local x, y = ui.reserve(w + 8 + ui.text_width(caption), ROW)
  local over, held = ui.press(ui.id(label), x, y, w, ROW)
  local before = value
  if held and ui.mouse.down then
    local share = max(0, min((ui.mouse.x - x - 4) / (w - 8), 1))
    value = least + (most - least) * share
    if whole then value = floor(value + 0.5) end
  end
  ui.rect(x, y, w, ROW, fill_of(over, held))
  local share = most > least and max(0, min((value - least) / (most - least), 1)) or 0
  ui.rect(x + 2 + (w - 12) * share, y + 2, 8, ROW - 4, color.mark, 2)
  local shown = form:format(value)
  ui.text(shown, x + (w - ui.text_width(shown)) / 2, y, ROW, color.text, 3)
  ui.text(caption, x + w + 8, y, ROW)
  return value, value ~= before
end

---Shows a slider for a number.
---@param label string its text
---@param value number the number
---@param least number the value at the left end
---@param most number the value at the right end
---@param form? string its format, as for `string.format`; "%.2f" if left out
---@return number value the number after this frame's input
---@return boolean changed true if the number changed
function DebugUi.slider_float(label, value, least, most, form)
  ui.widget("DebugUi.slider_float", { "label", "string", "value", "number", "least", "number",
    "most", "number", "form", "string?" }, label, value, least, most, form)
  return slider("DebugUi.slider_float", label, value, least, most, form or "%.2f", false)
end

---Shows a slider for a whole number.
---@param label string its text
---@param value integer the number
---@param least integer the value at the left end
---@param most integer the value at the right end
---@return integer value the number after this frame's input
---@return boolean changed true if the number changed
function DebugUi.slider_int(label, value, least, most)
  ui.widget("DebugUi.slider_int", { "label", "string", "value", "number", "least", "number",
    "most", "number" }, label, value, least, most)
  return slider("DebugUi.slider_int", label, value, least, most, "%d", true)
end

---Shows a progress bar.
---@param fraction number from 0 to 1
---@param overlay? string the text on the bar; its percentage if left out
function DebugUi.progress_bar(fraction, overlay)
  ui.widget("DebugUi.progress_bar", { "fraction", "number", "overlay", "string?" }, fraction,
    overlay)
  if hidden() then return end
  local w = ui.available_width()
  local x, y = ui.reserve(w, ROW)
  local share = max(0, min(fraction == fraction and fraction or 0, 1))
  ui.rect(x, y, w, ROW, color.field)
  ui.rect(x, y, w * share, ROW, color.held, 2)
  local caption = overlay or format("%d %%", floor(share * 100 + 0.5))
  ui.text(caption, x + (w - ui.text_width(caption)) / 2, y, ROW, color.text, 3)
end

-- Draws the list of the open combo in the popup layer, above every window.
function ui.draw_popup()
  local popup, layer = ui.popup, ui.layer
  ui.layer, ui.in_popup = ui.POPUP_LAYER, true
  local x, y, w, h = unpack(popup.rect)
  ui.rect(x, y, w, h, color.ground, 0)
  ui.rect(x, y, w, h, color.title, 1)
  for i, item in ipairs(popup.items) do
    local row = y + h - i * ROW
    local over, _, clicked = ui.press(popup.id .. "/" .. i, x, row, w, ROW)
    if over then ui.rect(x, row, w, ROW, color.hot, 2) end
    ui.clipped_text(item, x + 6, row, w - 12, ROW, color.text, 3)
    if clicked then popup.chosen = i end
  end
  ui.layer, ui.in_popup = layer, false
end

---Shows a drop-down list with one selected item.
---@param label string its text
---@param index integer the selected item, from 1
---@param items string[] the text of each item
---@return integer index the same index, or another after a click
---@return boolean changed true if the index changed
function DebugUi.combo(label, index, items)
  ui.widget("DebugUi.combo", { "label", "string", "index", "number", "items", "table" }, label,
    index, items)
  if hidden() then return index, false end
  local caption, id = ui.visible_text(label), ui.id(label)
  local w = max(ui.available_width() - ui.text_width(caption) - 8, 60)
  local x, y = ui.reserve(w + 8 + ui.text_width(caption), ROW)
  local over, held, clicked = ui.press(id, x, y, w, ROW)
  ui.rect(x, y, w, ROW, fill_of(over, held))
  ui.clipped_text(tostring(items[index] or ""), x + 6, y, w - 24, ROW)
  ui.text("v", x + w - 14, y, ROW, color.dim)
  ui.text(caption, x + w + 8, y, ROW)
  local popup, changed = ui.popup, false
  local is_open = popup and popup.id == id
  local elsewhere = is_open and ui.mouse.pressed and not popup.fresh and not ui.is_over_popup()
  if is_open and popup.chosen then
    index, changed = popup.chosen, popup.chosen ~= index
    ui.popup = nil
  elseif is_open and (clicked or elsewhere) then
    ui.popup = nil
  elseif clicked then
    local shown = {}
    for i, item in ipairs(items) do shown[i] = tostring(item) end
    local tall = ROW * #shown
    local below = y - tall >= 0 and y - tall or y + ROW
    ui.popup = { id = id, window = ui.window, items = shown, rect = { x, below, w, tall },
      fresh = true }
  elseif is_open then
    popup.fresh = false
  end
  return index, changed
end

function ui.is_over_popup()
  local rect, mouse = ui.popup.rect, ui.mouse
  return mouse.x >= rect[1] and mouse.x < rect[1] + rect[3] and mouse.y >= rect[2]
    and mouse.y < rect[2] + rect[4]
end

local function tree_header(label, open, indents)
  local id = ui.id(label)
  local state = ui.state[id]
  if state == nil then state = open or false end
  local w = ui.available_width()
  local x, y = ui.reserve(w, ROW)
  local over, held, clicked = ui.press(id, x, y, w, ROW)
  if clicked then state = not state end
  ui.state[id] = state
  if over or not indents then ui.rect(x, y, w, ROW, fill_of(over, held)) end
  ui.text(state and "-" or "+", x + 4, y, ROW, color.dim)
  ui.text(ui.visible_text(label), x + 18, y, ROW)
  return state
end

---Shows a tree node that opens and closes. If it returns true, the following widgets are below the
---node; end them with `DebugUi.tree_pop`.
---@param label string its text
---@param open? boolean true if it is open at first
---@return boolean open true if it is open
function DebugUi.tree_node(label, open)
  ui.widget("DebugUi.tree_node", { "label", "string", "open", "boolean?" }, label, open)
  if hidden() then return false end
  local state = tree_header(label, open, true)
  if state then
    ui.window.indent = ui.window.indent + 14
    ui.ids[#ui.ids + 1] = label
  end
  return state
end

---Ends an open tree node.
function DebugUi.tree_pop()
  ui.widget("DebugUi.tree_pop", {})
  if hidden() then return end
  if ui.window.indent <= 0 or #ui.ids == 0 then
    raise("DebugUi.tree_pop: no node is open: call it only where DebugUi.tree_node returned true")
  end
  ui.window.indent = ui.window.indent - 14
  ui.ids[#ui.ids] = nil
end

---Shows a header that opens and closes. Show the content below it only if it returns true.
---@param label string its text
---@param open? boolean true if it is open at first
---@return boolean open true if it is open
function DebugUi.collapsing_header(label, open)
  ui.widget("DebugUi.collapsing_header", { "label", "string", "open", "boolean?" }, label, open)
  if hidden() then return false end
  return tree_header(label, open, false)
end

---Pushes an id, which is added to the ids of the following widgets. The same labels can then be
---used again.
---@param id string|number makes the following ids unique
function DebugUi.push_id(id)
  ui.widget("DebugUi.push_id", {})
  if type(id) ~= "string" and type(id) ~= "number" then
    core.bad_argument("DebugUi.push_id", 1, "id", "string or number", id)
  end
  ui.ids[#ui.ids + 1] = tostring(id)
end

---Removes the last id pushed by `DebugUi.push_id`.
function DebugUi.pop_id()
  ui.widget("DebugUi.pop_id", {})
  if ui.is_off() then return end
  if #ui.ids == 0 then raise("DebugUi.pop_id: no id is pushed") end
  ui.ids[#ui.ids] = nil
end

---Places the next widget on the line of the last widget.
---@param gap? number logical pixels between them; 4 if left out
function DebugUi.same_line(gap)
  ui.widget("DebugUi.same_line", { "gap", "number?" }, gap)
  if hidden() or not ui.window.last_right then return end
  ui.window.same = gap or GAP
end

---Shows a horizontal line across the window.
function DebugUi.separator()
  ui.widget("DebugUi.separator", {})
  if hidden() then return end
  local w = ui.available_width()
  local x, y = ui.reserve(w, 5)
  ui.rect(x, y + 2, w, 1, color.edge)
end

---Leaves a small vertical gap.
function DebugUi.spacing()
  ui.widget("DebugUi.spacing", {})
  if hidden() then return end
  ui.reserve(0, GAP)
end

---Leaves an empty area of a size.
---@param width number logical pixels
---@param height number logical pixels
function DebugUi.dummy(width, height)
  ui.widget("DebugUi.dummy", { "width", "number", "height", "number" }, width, height)
  if hidden() then return end
  ui.reserve(width, height)
end

---Moves the following widgets to the right.
---@param width? number logical pixels; 14 if left out
function DebugUi.indent(width)
  ui.widget("DebugUi.indent", { "width", "number?" }, width)
  if hidden() then return end
  ui.window.indent = ui.window.indent + (width or 14)
end

---Moves the following widgets back to the left.
---@param width? number logical pixels; 14 if left out
function DebugUi.unindent(width)
  ui.widget("DebugUi.unindent", { "width", "number?" }, width)
  if hidden() then return end
  ui.window.indent = max(ui.window.indent - (width or 14), 0)
end

---Shows a text next to the mouse while it is over the last clickable widget.
---@param text string the text
function DebugUi.tooltip(text)
  ui.widget("DebugUi.tooltip", { "text", "string" }, text)
  if hidden() or not (ui.last and ui.last.over) then return end
  local layer, mouse = ui.layer, ui.mouse
  ui.layer = ui.POPUP_LAYER
  local w = ui.text_width(text) + 12
  ui.rect(mouse.x + 12, mouse.y - 24, w, ROW, color.title, 1)
  ui.text(text, mouse.x + 18, mouse.y - 24, ROW, color.text, 2)
  ui.layer = layer
end

---Returns true if the mouse is over the last clickable widget.
---@return boolean hovered false in a release
function DebugUi.is_item_hovered()
  ui.widget("DebugUi.is_item_hovered", {})
  return not hidden() and ui.last ~= nil and ui.last.over
end
