-- The console: a line of Lua that runs in the game, over its picture, and the last lines of the
-- log. Opened and closed with a key (settings.sjson: console.key), never in a release.
local core = ...

local type, tostring, pcall, select = type, tostring, pcall, select
local sub, floor, max, concat = string.sub, math.floor, math.max, table.concat
local log, describe = core.log, core.describe
local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color

local Gui, Keyboard = core.module("Gui"), core.module("Keyboard")
local Application = core.module("Application")

local HISTORY_MAX = 100
local INPUT_BYTES_MAX = 4096
local SIZE, LINE, MARGIN = 14, 18, 10 -- logical pixels
local GROUND, EDGE = C(224, 14, 16, 22), C(255, 80, 160, 255)
local WORDS, TYPED = C(255, 200, 204, 210), C(255, 255, 255, 255)
local BAD, CAREFUL = C(255, 255, 120, 110), C(255, 255, 206, 110)

local open = false
local key -- the toggle's name; false where there is no console
local before, after = "", "" -- the input before and after the cursor
local history, at = {}, 0 -- at: which entry is shown, 0 for none

local function toggle_key()
  if key == nil then
    key = Application.build() ~= "release" and core.console_key() or false
    if key == "" then key = false end
  end
  return key
end

-- The last character of a text: how many bytes it has.
local function last_bytes(text)
  local bytes = #text
  while bytes > 0 do
    local byte = text:byte(bytes)
    if byte < 128 or byte >= 192 then return #text - bytes + 1 end
    bytes = bytes - 1
  end
  return 0
end

local function first_bytes(text)
  local bytes = 1
  while bytes < #text do
    local byte = text:byte(bytes + 1)
    if byte < 128 or byte >= 192 then break end
    bytes = bytes + 1
  end
  return #text == 0 and 0 or bytes
end

local function shown(...)
  local parts = {}
  for i = 1, select("#", ...) do
    local value = (select(i, ...))
    parts[i] = type(value) == "table" and "table" or type(value) == "string" and describe(value)
      or tostring(value)
  end
  return concat(parts, ", ")
end

local function report(ok, ...)
  if not ok then
    log("error", tostring((...)))
  elseif select("#", ...) > 0 then
    log("info", shown(...))
  end
end

-- Runs a line: as an expression whose values are shown, or as statements.
local function run(text)
  log("info", "> " .. text)
  if core.try_command(text) then return end
  local chunk, problem = core.load("return " .. text, "=console")
  if not chunk then
    chunk, problem = core.load(text, "=console")
  end
  if not chunk then
    log("error", problem)
    return
  end
  report(pcall(chunk))
end

local function enter()
  local text = before .. after
  before, after, at = "", "", 0
  if text == "" then return end
  if history[#history] ~= text then
    history[#history + 1] = text
    if #history > HISTORY_MAX then table.remove(history, 1) end
  end
  run(text)
end

local function recall(step)
  if #history == 0 then return end
  at = max(0, math.min(#history, at + step))
  before, after = at > 0 and history[#history + 1 - at] or "", ""
end

local edits = {
  backspace = function() before = sub(before, 1, #before - last_bytes(before)) end,
  delete = function() after = sub(after, first_bytes(after) + 1) end,
  left = function()
    local bytes = last_bytes(before)
    before, after = sub(before, 1, #before - bytes), sub(before, #before - bytes + 1) .. after
  end,
  right = function()
    local bytes = first_bytes(after)
    before, after = before .. sub(after, 1, bytes), sub(after, bytes + 1)
  end,
  home = function() before, after = "", before .. after end,
  ["end"] = function() before, after = before .. after, "" end,
  up = function() recall(1) end,
  down = function() recall(-1) end,
  enter = enter,
  tab = function() end,
}

-- Takes what was typed since the last frame.
function core.update_console()
  local name = toggle_key()
  if not name then return end
  if Keyboard.pressed(name) then
    -- What the key itself types in this frame is no input.
    open = not open
    return
  end
  if not open then return end
  local strokes = Keyboard.keystrokes()
  for i = 1, #strokes do
    local stroke = strokes[i]
    local edit = edits[stroke]
    if edit then
      edit()
    elseif #before + #after + #stroke <= INPUT_BYTES_MAX and stroke:byte() >= 32 then
      before = before .. stroke
    end
  end
end

local function color_of(line)
  if sub(line, 1, 7) == "error: " then return BAD end
  if sub(line, 1, 9) == "warning: " then return CAREFUL end
  return WORDS
end

-- Draws the console over the frame.
function core.draw_console()
  if not open then return end
  local gui = core.console_gui()
  local width, height = Gui.resolution(gui)
  local tall = floor(height * 0.4)
  local bottom = height - tall
  Gui.rect(gui, V3(0, bottom, 0), V2(width, tall), GROUND)
  Gui.rect(gui, V3(0, bottom, 1), V2(width, 2), EDGE)
  local y = bottom + MARGIN
  local options = { markup = false }
  Gui.text(gui, "> " .. before .. after, nil, SIZE, nil, V3(MARGIN, y, 2), TYPED, options)
  local _, _, caret = Gui.text_extents(gui, "> " .. before, nil, SIZE, options)
  Gui.rect(gui, V3(MARGIN + caret.x, y - 3, 2), V2(2, SIZE), EDGE)
  local lines = core.log_lines(floor((tall - 2 * MARGIN) / LINE))
  for i = #lines, 1, -1 do
    y = y + LINE
    if y > height - LINE then break end
    local line = lines[i]:gsub("\n.*", " …")
    Gui.text(gui, line, nil, SIZE, nil, V3(MARGIN, y, 2), color_of(line), options)
  end
end
