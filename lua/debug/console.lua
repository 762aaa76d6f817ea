-- In-game console: an input line that runs Lua in the game, drawn over the frame with the latest
-- lines of the log. A key opens and closes it (settings.sjson: console.key). Releases have no
-- console.
local core = ...

local tostring, pcall, select = tostring, pcall, select
local sub, gmatch, concat = string.sub, string.gmatch, table.concat
local floor, max, min = math.floor, math.max, math.min
local log = core.log
local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color

local Gui, Keyboard = core.module("Gui"), core.module("Keyboard")
local Application = core.module("Application")

local HISTORY_MAX = 100
local INPUT_BYTES_MAX = 4096
local COMPLETIONS_SHOWN = 40 -- completions shown
local SIZE, LINE, MARGIN = 14, 18, 10 -- logical pixels
local GROUND, EDGE = C(224, 14, 16, 22), C(255, 80, 160, 255)
local TEXT_COLOR, INPUT_COLOR = C(255, 200, 204, 210), C(255, 255, 255, 255)
local ERROR_COLOR, WARNING_COLOR = C(255, 255, 120, 110), C(255, 255, 206, 110)

local open = false
local key -- name of the toggle key; false if there is no console
local before, after = "", "" -- the input before and after the cursor
local history = {}
local history_index = 0 -- index of the shown history entry from the newest, 0 for none

local function toggle_key()
  if key == nil then
    key = Application.build() ~= "release" and core.console_key() or false
    if key == "" then key = false end
  end
  return key
end

-- Logs the results of a line, formatted as for tools: tables with their fields.
local function report(ok, ...)
  if not ok then
    log("error", tostring((...)))
    return
  end
  for i = 1, select("#", ...) do
    for line in gmatch(core.display_text((select(i, ...))), "[^\n]+") do
      log("info", line)
    end
  end
end

-- Runs a line as a command, as an expression whose values are shown, or as statements.
local function run(text)
  log("info", "> " .. text)
  local is_command, problem = core.try_command(text)
  if is_command then
    if problem then log("error", problem) end
    return
  end
  local chunk
  chunk, problem = core.load("return " .. text, "=console", "t", core.line_env)
  if not chunk then
    chunk, problem = core.load(text, "=console", "t", core.line_env)
  end
  if not chunk then
    log("error", problem)
    return
  end
  report(pcall(chunk))
end

local function enter()
  local text = before .. after
  before, after, history_index = "", "", 0
  if text == "" then return end
  if history[#history] ~= text then
    history[#history + 1] = text
    if #history > HISTORY_MAX then table.remove(history, 1) end
  end
  run(text)
end

local function recall(step)
  if #history == 0 then return end
  history_index = max(0, min(#history, history_index + step))
  before, after = history_index > 0 and history[#history + 1 - history_index] or "", ""
end

-- Inserts the common prefix of all completions of the name before the cursor. If there are several
-- and the prefix adds no characters, lists the completions.
local function complete()
  local answer = core.tool_complete(before)
  local completions, start = answer.words, answer.start
  local common = core.common_prefix(completions)
  if #common > #start then
    before = sub(before, 1, #before - #start) .. common
  elseif #completions > 1 then
    local left = #completions - COMPLETIONS_SHOWN
    log("info", concat(completions, "  ", 1, min(#completions, COMPLETIONS_SHOWN))
      .. (left > 0 and "  … " .. left .. " more" or ""))
  end
end

local keys = {
  up = function() recall(1) end,
  down = function() recall(-1) end,
  enter = enter,
  tab = complete,
}

-- Processes the keys typed since the last frame.
core.on("frame_update", "console", function()
  local name = toggle_key()
  if not name then return end
  if Keyboard.pressed(name) then
    -- The character that the toggle key types is not input.
    open = not open
    return
  end
  if not open then return end
  local strokes = Keyboard.keystrokes()
  for i = 1, #strokes do
    local stroke = strokes[i]
    if keys[stroke] then
      keys[stroke]()
    else
      before, after = core.type_into(before, after, stroke, INPUT_BYTES_MAX)
    end
  end
end)

local function color_of(line)
  if sub(line, 1, 7) == "error: " then return ERROR_COLOR end
  if sub(line, 1, 9) == "warning: " then return WARNING_COLOR end
  return TEXT_COLOR
end

-- Draws the console over the frame.
core.on("frame_render", "console", function()
  if not open then return end
  local gui = core.console_gui()
  local width, height = Gui.resolution(gui)
  local tall = floor(height * 0.4)
  local bottom = height - tall
  Gui.rect(gui, V3(0, bottom, 0), V2(width, tall), GROUND)
  Gui.rect(gui, V3(0, bottom, 1), V2(width, 2), EDGE)
  local y = bottom + MARGIN
  local options = { markup = false }
  Gui.text(gui, "> " .. before .. after, nil, SIZE, nil, V3(MARGIN, y, 2), INPUT_COLOR, options)
  local _, _, caret = Gui.text_extents(gui, "> " .. before, nil, SIZE, options)
  Gui.rect(gui, V3(MARGIN + caret.x, y - 3, 2), V2(2, SIZE), EDGE)
  local lines = core.log_lines(floor((tall - 2 * MARGIN) / LINE))
  for i = #lines, 1, -1 do
    y = y + LINE
    if y > height - LINE then break end
    local line = lines[i]:gsub("\n.*", " …")
    Gui.text(gui, line, nil, SIZE, nil, V3(MARGIN, y, 2), color_of(line), options)
  end
end)
