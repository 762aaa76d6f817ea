-- In-game console: an input line that runs Lua in the game, drawn over the frame with the lines of
-- the log (console_view.lua). A key opens and closes it (settings.sjson: console.key), and Escape
-- closes it. While it is open, it takes the keyboard: native code splits the input
-- (src/system/input/capture.rs). Releases have no console.
local core = ...

local tostring, pcall, select = tostring, pcall, select
local byte, sub, gmatch, gsub = string.byte, string.sub, string.gmatch, string.gsub
local concat = table.concat
local floor, max, min = math.floor, math.max, math.min
local log, view = core.log, core.console_view

local Window = core.module("Window")

local HISTORY_MAX = 100
local INPUT_BYTES_MAX = 4096
local COMPLETIONS_SHOWN = 40 -- completions shown
local ROWS_A_NOTCH = 3 -- rows that a notch of the wheel scrolls

local open = false
local before, after = "", "" -- the input before and after the cursor
local composing = "" -- what an input method composes at the cursor
local history = {}
local history_index = 0 -- index of the shown history entry from the newest, 0 for none
local draft = "" -- the input before an entry of the history was recalled
local notches = 0 -- parts of a notch that the wheel was turned

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
  chunk, problem = core.load_line("return " .. text, "console")
  if not chunk then
    local as_expression = problem
    chunk, problem = core.load_line(text, "console")
    problem = problem and core.line_problem(text, as_expression, problem)
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
  view.scroll_to_newest()
  if text == "" then return end
  if history[#history] ~= text then
    history[#history + 1] = text
    if #history > HISTORY_MAX then table.remove(history, 1) end
  end
  run(text)
end

local function recall(step)
  if history_index == 0 then draft = before .. after end
  history_index = max(0, min(#history, history_index + step))
  before, after = history_index > 0 and history[#history + 1 - history_index] or draft, ""
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

-- Returns as much of a text as the input can take, without a part of a character.
local function fitting(text)
  local ends = INPUT_BYTES_MAX + 1
  while ends > 1 and (byte(text, ends) or 0) >= 128 and byte(text, ends) < 192 do
    ends = ends - 1
  end
  return sub(text, 1, ends - 1)
end

-- Inserts the text of the clipboard. Its line ends become spaces, because the input is one line.
local function paste()
  local text, problem = Window.clipboard()
  if not text then
    log("warning", problem)
    return
  end
  text = gsub(fitting(text), "[\r\n\t]+", " ")
  for character in gmatch(text, "[^\128-\191][\128-\191]*") do
    before, after = core.type_into(before, after, character, INPUT_BYTES_MAX)
  end
end

-- Applies `home` or `end`: without input they scroll, otherwise they move the cursor.
local function go(stroke, scroll)
  if before .. after == "" then
    scroll()
  else
    before, after = core.type_into(before, after, stroke, INPUT_BYTES_MAX)
  end
end

local keys = {
  up = function() recall(1) end,
  down = function() recall(-1) end,
  enter = enter,
  tab = complete,
  ["page up"] = function() view.scroll_pages(1) end,
  ["page down"] = function() view.scroll_pages(-1) end,
  home = function() go("home", view.scroll_to_oldest) end,
  ["end"] = function() go("end", view.scroll_to_newest) end,
  ["ctrl+home"] = view.scroll_to_oldest,
  ["ctrl+end"] = view.scroll_to_newest,
  ["ctrl+v"] = paste,
}

-- Processes what was typed since the last frame.
core.on("frame_update", "console", function()
  local typed, wheel
  local was_open = open
  typed, wheel, composing = core.console_input()
  open = typed ~= nil
  if not open then return end
  if not was_open then view.scroll_to_newest() end
  for i = 1, #typed do
    local stroke = typed[i]
    if keys[stroke] then
      keys[stroke]()
    else
      before, after = core.type_into(before, after, stroke, INPUT_BYTES_MAX)
      view.scroll_to_newest()
    end
  end
  -- Some devices report parts of notches.
  notches = notches + wheel * ROWS_A_NOTCH
  local rows = notches < 0 and -floor(-notches) or floor(notches)
  notches = notches - rows
  if rows ~= 0 then view.scroll_by(rows) end
end)

-- Draws the console over the frame.
core.on("frame_render", "console", function()
  if open then view.draw(before .. composing, after) end
end)
