-- `DebugUi`: columns, tables, plots, input fields and colours. The other widgets are in
-- debug_ui_widgets.lua.
local core = ...

local type, tostring, tonumber = type, tostring, tonumber
local floor, max, min, huge = math.floor, math.max, math.min, math.huge
local sub = string.sub
local raise, ui = core.raise, core.debug_ui
local C = core.ctypes.Color
local color, ROW = ui.color, ui.ROW

local DebugUi, Gui = core.module("DebugUi"), core.module("Gui")
local Keyboard, Window = core.module("Keyboard"), core.module("Window")

local POINTS_MAX, TEXT_MAX = 4096, 4096

-- Moves the layout to a column of the current columns.
local function to_column(columns, index)
  local window = ui.window
  columns.index = index
  window.left = columns.left + (index - 1) * columns.width
  window.right = window.left + columns.width - 6
  window.next_top, window.same = columns.top, nil
end

---Places the following widgets in columns of equal width, from left to right. `DebugUi.next_column`
---moves to the next column.
---@param count integer the number of columns; 1 ends the columns
function DebugUi.columns(count)
  ui.widget("DebugUi.columns", { "count", "number" }, count)
  if count < 1 or count > 64 or count % 1 ~= 0 then
    raise("DebugUi.columns: 'count' must be a whole number from 1 to 64, got " .. count)
  end
  if ui.hidden() then return end
  local window, columns = ui.window, ui.window.columns
  if columns then
    window.left, window.right = columns.left, columns.right
    window.next_top = min(columns.lowest, window.next_top)
    window.columns = nil
  end
  if count > 1 then
    columns = { count = count, left = window.left, right = window.right, top = window.next_top,
      lowest = window.next_top }
    columns.width = (window.right - window.left) / count
    window.columns = columns
    to_column(columns, 1)
  end
end

---Moves to the next column. After the last column, moves to the first column, below all widgets so
---far.
function DebugUi.next_column()
  ui.widget("DebugUi.next_column", {})
  if ui.hidden() then return end
  local columns, window = ui.window.columns, ui.window
  if not columns then
    raise("DebugUi.next_column: there are no columns: call DebugUi.columns(n)")
  end
  columns.lowest = min(columns.lowest, window.next_top)
  if columns.index == columns.count then
    columns.top = columns.lowest
    to_column(columns, 1)
  else
    to_column(columns, columns.index + 1)
  end
end

---Shows a table: a header line, and a line for each row.
---@param label string its unique name in the window, which is not shown
---@param heads string[] the column headers
---@param rows any[][] the values in each row, shown with `tostring`
---@return integer? clicked the index of the row that was clicked in this frame
function DebugUi.table(label, heads, rows)
  ui.widget("DebugUi.table", { "label", "string", "heads", "table", "rows", "table" }, label, heads,
    rows)
  if ui.hidden() or #heads == 0 then return nil end
  local w, clicked = ui.available_width(), nil
  local column = w / #heads
  local x, y = ui.reserve(w, ROW)
  ui.rect(x, y, w, ROW, color.title)
  for i, head in ipairs(heads) do
    ui.clipped_text(tostring(head), x + (i - 1) * column + 4, y, column - 6, ROW, color.dim)
  end
  local clip = ui.window.clip
  for at, row in ipairs(rows) do
    local left, bottom = ui.reserve(w, ROW - 2)
    -- Lines outside the visible area take up space, but are not drawn.
    if bottom < clip[2] + clip[4] and bottom + ROW > clip[2] then
      local over, _, hit = ui.press(ui.id(label) .. "/" .. at, left, bottom, w, ROW - 2)
      if hit then clicked = at end
      if over then ui.rect(left, bottom, w, ROW - 2, color.hot) end
      for i = 1, #heads do
        local value = row[i]
        if value ~= nil then
          ui.clipped_text(tostring(value), left + (i - 1) * column + 4, bottom, column - 6, ROW - 2)
        end
      end
    end
  end
  return clicked
end

---Shows numbers as a curve.
---@param label string its text
---@param values number[] from left to right
---@param least? number the value at the bottom; the smallest value if left out
---@param most? number the value at the top; the largest value if left out
---@param height? number logical pixels; 60 if left out
function DebugUi.plot_lines(label, values, least, most, height)
  ui.widget("DebugUi.plot_lines", { "label", "string", "values", "table", "least", "number?",
    "most", "number?", "height", "number?" }, label, values, least, most, height)
  if ui.hidden() then return end
  local w, h = ui.available_width(), height or 60
  local x, y = ui.reserve(w, h)
  ui.rect(x, y, w, h, color.field)
  local count = min(#values, POINTS_MAX)
  local low, high = huge, -huge
  for i = 1, count do
    local value = values[i]
    if type(value) ~= "number" then
      raise("DebugUi.plot_lines: value " .. i .. " must be a number, got " .. core.describe(value))
    end
    if value == value then low, high = min(low, value), max(high, value) end
  end
  low, high = least or low, most or high
  if count > 1 and low < huge then
    local span = high > low and high - low or 1
    local points = {}
    -- Draws at most as many points as there are pixels.
    local step = max(1, count / max(w, 2))
    local at = 1
    while at <= count do
      local value = values[floor(at)]
      local share = value == value and max(0, min((value - low) / span, 1)) or 0
      local px = x + 1 + (w - 2) * (floor(at) - 1) / (count - 1)
      points[#points + 1] = core.ctypes.Vector2(px, y + 2 + (h - 4) * share)
      at = at + step
    end
    if #points > 1 then Gui.polyline(ui.gui, points, 1.5, ui.layer + 2, color.mark) end
  end
  local last = values[count]
  local caption = ui.visible_text(label)
  if last then caption = caption .. ("  %.4g"):format(last) end
  ui.text(caption, x + 4, y + h - ROW, ROW, color.text, 3)
end

---Shows numbers as bars.
---@param label string its text
---@param values number[] from left to right
---@param least? number the value at the bottom; 0 if left out
---@param most? number the value at the top; the largest value if left out
---@param height? number logical pixels; 60 if left out
function DebugUi.plot_histogram(label, values, least, most, height)
  ui.widget("DebugUi.plot_histogram", { "label", "string", "values", "table", "least", "number?",
    "most", "number?", "height", "number?" }, label, values, least, most, height)
  if ui.hidden() then return end
  local w, h = ui.available_width(), height or 60
  local x, y = ui.reserve(w, h)
  ui.rect(x, y, w, h, color.field)
  local count, low, high = min(#values, POINTS_MAX), least or 0, 0
  for i = 1, count do
    if type(values[i]) ~= "number" then
      raise("DebugUi.plot_histogram: value " .. i .. " must be a number, got "
        .. core.describe(values[i]))
    end
    if values[i] == values[i] then high = max(high, values[i]) end
  end
  high = most or high
  local span = high - low
  for i = 1, count do
    local value = values[i]
    local share = span > 0 and value == value and max(0, min((value - low) / span, 1)) or 0
    local bar = (h - 4) * share
    local left, wide = x + 1 + (w - 2) * (i - 1) / count, max((w - 2) / count - 1, 1)
    ui.rect(left, y + 2, wide, bar, color.mark, 2)
  end
  ui.text(ui.visible_text(label), x + 4, y + h - ROW, ROW, color.text, 3)
end

-- Returns the byte offset in a text at a mouse position. The first `shown` bytes of the text are
-- scrolled out of view.
local function byte_at(text, shown, x)
  local before = shown
  for first, last in text:sub(shown + 1):gmatch("()[%z\1-\127\192-\255][\128-\191]*()") do
    local middle = ui.text_width(text:sub(shown + 1, shown + first - 1))
      + ui.text_width(text:sub(shown + first, shown + last - 1)) / 2
    if x < middle then return before end
    before = shown + last - 1
  end
  return before
end

-- Returns the clipboard's text as one line of at most `most` bytes.
local function pasted(most)
  local text = (Window.clipboard() or ""):gsub("[%z\1-\31\127]+", " ")
  return #text <= most and text or core.utf8_cut(text, most)
end

-- Applies this frame's keys to a field's text. Returns the new text, and true if editing has ended.
local function typed(text)
  local caret = min(ui.caret or #text, #text)
  local before, after = sub(text, 1, caret), sub(text, caret + 1)
  local done = Keyboard.pressed("escape")
  for _, stroke in ipairs(Keyboard.keystrokes()) do
    if stroke == "enter" or stroke == "tab" then
      done = true
      break
    end
    before, after = core.type_into(before, after, stroke, TEXT_MAX)
  end
  if Keyboard.button("ctrl") > 0 and Keyboard.pressed("v") then
    before = before .. pasted(TEXT_MAX - #before - #after)
  end
  ui.caret = #before
  return before .. after, done
end

-- Returns the number of bytes of a field's text that are scrolled out on the left, so that the
-- cursor stays visible.
local function hidden_bytes(text, caret, w)
  if not ui.is_wider(text, w) then return 0 end
  local before = sub(text, 1, caret)
  if not ui.is_wider(before, w) then return 0 end
  return #before - ui.fitting(before, w, true)
end

-- Shows an input field. Returns its text, true if the text changed, and true if editing has ended.
local function field(label, text)
  local caption, id = ui.visible_text(label), ui.id(label)
  local wide = ui.text_width(caption)
  local w = max(ui.available_width() - wide - 8, 60)
  local x, y = ui.reserve(w + 8 + wide, ROW)
  local over, held, clicked = ui.press(id, x, y, w, ROW)
  local inner_width, before, done = w - 14, text, false
  if clicked then
    local shown = ui.focus == id and hidden_bytes(text, ui.caret or #text, inner_width) or 0
    ui.focus, ui.caret = id, byte_at(text, shown, ui.mouse.x - x - 6)
  elseif ui.focus == id and ui.mouse.pressed and not over then
    ui.focus, done = nil, true
  end
  if ui.focus == id then
    text, done = typed(text)
    if done then ui.focus = nil end
  end
  local focused = ui.focus == id
  ui.rect(x, y, w, ROW, focused and color.hot or ui.fill_of(over, held))
  if focused then
    local shown = hidden_bytes(text, ui.caret, inner_width)
    local visible = sub(text, shown + 1)
    if ui.is_wider(visible, inner_width) then
      visible = sub(visible, 1, ui.fitting(visible, inner_width))
    end
    ui.text(visible, x + 6, y, ROW)
    ui.rect(x + 6 + ui.text_width(sub(text, shown + 1, ui.caret)), y + 3, 1, ROW - 6, color.mark, 3)
  else
    ui.clipped_text(text, x + 6, y, inner_width, ROW)
  end
  ui.text(caption, x + w + 8, y, ROW)
  return text, text ~= before, done
end

---Shows a text field. A click starts editing at the clicked position. Enter, Tab, Escape or a click
---elsewhere ends it. The arrow keys, Home and End move the cursor, and Ctrl+V pastes the clipboard.
---@param label string its text
---@param text string the text in the field
---@return string text the text in the field after this frame's input
---@return boolean changed true if the text changed
function DebugUi.input_text(label, text)
  ui.widget("DebugUi.input_text", { "label", "string", "text", "string" }, label, text)
  if ui.hidden() then return text, false end
  local now, changed = field(label, text)
  return now, changed
end

local function input_number(label, value, form, whole)
  if ui.hidden() then return value, false end
  local id = ui.id(label)
  -- A widget of another type may have the same label and so the same state.
  local typed_before = ui.state[id]
  local text = type(typed_before) == "string" and typed_before or form:format(value)
  local now, changed, done = field(label, text)
  local number = tonumber(now)
  if number and number == number and math.abs(number) < huge then
    number = whole and floor(number + 0.5) or number
  else
    number = nil
  end
  -- During editing, the field may hold an incomplete number.
  ui.state[id] = ui.focus == id and now or nil
  if not changed or not number then return value, false end
  return number, number ~= value
end

---Shows a field to type a number.
---@param label string its text
---@param value number the number
---@param form? string its format, as for `string.format`; "%.3f" if left out
---@return number value the number after this frame's input
---@return boolean changed true if the number changed
function DebugUi.input_float(label, value, form)
  ui.widget("DebugUi.input_float", { "label", "string", "value", "number", "form", "string?" },
    label, value, form)
  return input_number(label, value, form or "%.3f", false)
end

---Shows a field to type a whole number.
---@param label string its text
---@param value integer the number
---@return integer value the number after this frame's input
---@return boolean changed true if the number changed
function DebugUi.input_int(label, value)
  ui.widget("DebugUi.input_int", { "label", "string", "value", "number" }, label, value)
  return input_number(label, value, "%d", true)
end

---Shows a colour, with a slider for each of its parts.
---@param label string its text
---@param value Color the colour
---@return Color value the colour after this frame's input
---@return boolean changed true if the colour changed
function DebugUi.color_edit(label, value)
  ui.widget("DebugUi.color_edit", { "label", "string" }, label)
  if not core.ffi.istype(C, value) then
    core.bad_argument("DebugUi.color_edit", 2, "value", "Color", value)
  end
  if ui.hidden() then return value, false end
  local caption = ui.visible_text(label)
  local x, y = ui.reserve(ROW + 6 + ui.text_width(caption), ROW)
  ui.rect(x, y + 2, ROW - 4, ROW - 4, value)
  ui.text(caption, x + ROW + 2, y, ROW)
  local parts, changed = {}, false
  DebugUi.push_id(label)
  for i, name in ipairs({ "a", "r", "g", "b" }) do
    local part, other = DebugUi.slider_int(name, value[name], 0, 255)
    parts[i], changed = part, changed or other
  end
  DebugUi.pop_id()
  if not changed then return value, false end
  return C(parts[1], parts[2], parts[3], parts[4]), true
end
