-- The view of the console: the lines of the log that it has seen, broken into rows of equal
-- letters, scrolling, and drawing. The input line and its keys are in console.lua.
local core = ...

local byte, sub, rep = string.byte, string.sub, string.rep
local gmatch, format = string.gmatch, string.format
local floor, max, min = math.floor, math.max, math.min
local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color

local Gui, Window = core.module("Gui"), core.module("Window")

local LINES_MAX = 1000 -- lines that can be scrolled back to
local FONT = "core/fonts/mono"
local SIZE, LINE, MARGIN, BAR = 14, 18, 10, 4 -- logical pixels
local HEIGHT = 0.4 -- of the window
local ROWS_MIN = 4
local TAB = 4 -- letters
local INDENT = 2 -- of the rows that continue a line, in letters
local GROUND, EDGE = C(236, 14, 16, 22), C(255, 80, 160, 255)
local BAR_COLOR, BAR_GROUND = C(255, 96, 104, 118), C(255, 32, 36, 44)
local INPUT_COLOR = C(255, 255, 255, 255)
local COLORS = {
  info = C(255, 200, 204, 210),
  warning = C(255, 255, 206, 110),
  error = C(255, 255, 120, 110),
}
local OPTIONS = { markup = false }

-- First and last characters of the ranges that are two cells wide: scripts of East Asia, symbols.
local WIDE = {
  0x1100, 0x115F, 0x2E80, 0xA4CF, 0xAC00, 0xD7A3, 0xF900, 0xFAFF, 0xFE30, 0xFE6F, 0xFF00, 0xFF60,
  0xFFE0, 0xFFE6, 0x1F300, 0x1FAFF, 0x20000, 0x3FFFD,
}

local lines = {} -- { level =, text = }, oldest first
local rows = {} -- { level =, text = } of all lines, for `columns`
local counts = {} -- number of rows of each line
local columns = 0
local seen = 0 -- number of lines that the log had when it was last read
local scroll = 0 -- rows between the last visible row and the newest
local visible = ROWS_MIN -- rows of the log in the view
local cell -- width of a letter

-- Returns the index after the character at `i` in UTF-8 text, and its width in cells.
local function next_character(text, i)
  local first = byte(text, i)
  if first < 0x80 then return i + 1, 1 end
  local bytes = first >= 0xF0 and 4 or first >= 0xE0 and 3 or 2
  local code = first % 2 ^ (7 - bytes)
  for k = i + 1, i + bytes - 1 do
    code = code * 64 + (byte(text, k) or 0x80) % 64
  end
  if code >= 0x300 and code <= 0x36F then return i + bytes, 0 end -- combining
  for k = 1, #WIDE, 2 do
    if code >= WIDE[k] and code <= WIDE[k + 1] then return i + bytes, 2 end
  end
  return i + bytes, 1
end

local function width_of(text)
  local width, i, cells = 0, 1, 0
  while i <= #text do
    i, cells = next_character(text, i)
    width = width + cells
  end
  return width
end

-- Breaks a line into rows of at most `most` cells and passes each to `add`. A row ends at a space
-- if there is one in its second half. Rows after the first are indented.
local function wrap(text, most, add)
  text = text:gsub("\t", rep(" ", TAB))
  local start, i, width, space, indent = 1, 1, 0, nil, 0
  while i <= #text do
    local following, cells = next_character(text, i)
    if width + cells > most - indent and i > start then
      local ends = space and space - start > (i - start) / 2 and space or i - 1
      add(rep(" ", indent) .. sub(text, start, ends))
      start, indent, space = ends + 1, min(INDENT, most - 2), nil
      width = width_of(sub(text, start, i - 1))
    end
    if byte(text, i) == 32 then space = i end
    width, i = width + cells, following
  end
  add(rep(" ", indent) .. sub(text, start))
end

-- Appends the rows of a line. Returns their number.
local function add_rows(line)
  local before = #rows
  for part in gmatch(line.text .. "\n", "([^\n]*)\n") do
    wrap(part, columns, function(text)
      rows[#rows + 1] = { level = line.level, text = text }
    end)
  end
  counts[#counts + 1] = #rows - before
  return #rows - before
end

local function break_all()
  rows, counts = {}, {}
  for i = 1, #lines do add_rows(lines[i]) end
end

local function add_line(level, text)
  -- Colors alone would not tell everyone what a line is.
  if level ~= "info" then text = level .. ": " .. text end
  local line = { level = level, text = text }
  lines[#lines + 1] = line
  if columns == 0 then return end
  local added = add_rows(line)
  -- What the reader looks at stays in its position.
  if scroll > 0 then scroll = scroll + added end
end

-- Returns a list without its first items.
local function without_first(list, count)
  local kept = {}
  for i = count + 1, #list do kept[#kept + 1] = list[i] end
  return kept
end

-- Drops the oldest lines beyond the limit, and their rows. The others are not broken again.
local function drop_old()
  local old = #lines - LINES_MAX
  if old <= 0 then return end
  lines = without_first(lines, old)
  if columns == 0 then return end
  local old_rows = 0
  for i = 1, old do old_rows = old_rows + counts[i] end
  rows, counts = without_first(rows, old_rows), without_first(counts, old)
end

-- Reads the lines that the log got since the last call.
local function read_log()
  local count, new = core.log_lines_after(seen)
  local missed = count - seen - #new
  if missed > 0 and #lines > 0 then
    add_line("warning", format("… %d lines are only on the terminal and in the log file", missed))
  end
  for i = 1, #new do add_line(new[i][1], new[i][2]) end
  seen = count
  drop_old()
end

local function clamp_scroll()
  scroll = max(0, min(scroll, #rows - visible))
end

local view = {}
core.console_view = view

-- Scrolls by a number of rows; positive numbers show older rows.
function view.scroll_by(count)
  scroll = scroll + count
  clamp_scroll()
end

-- Scrolls by pages: all rows but one.
function view.scroll_pages(pages)
  view.scroll_by(pages * max(1, visible - 1))
end

function view.scroll_to_oldest()
  scroll = #rows
  clamp_scroll()
end

function view.scroll_to_newest()
  scroll = 0
end

-- Returns the rows of the input line, and the row and column of the cursor, from 0. Rows are full,
-- so that the cursor's position follows from the widths before it.
local function input_rows(before, after)
  local list, text, i, width, start = {}, "> " .. before .. after, 1, 0, 1
  local at, row, column = #before + 3, nil, nil
  while i <= #text do
    local following, cells = next_character(text, i)
    if width + cells > columns then
      list[#list + 1] = sub(text, start, i - 1)
      start, width = i, 0
    end
    if i == at then row, column = #list, width end
    width, i = width + cells, following
  end
  list[#list + 1] = sub(text, start)
  if not row then row, column = #list - 1, width end
  if column >= columns then
    list[#list + 1] = ""
    row, column = row + 1, 0
  end
  return list, row, column
end

local function draw_text(gui, text, x, y, color)
  if text ~= "" then Gui.text(gui, text, FONT, SIZE, nil, V3(x, y, 2), color, OPTIONS) end
end

-- Draws the input line from the bottom up. Returns the baseline of the row above it.
local function draw_input(gui, bottom, most, before, after)
  local list, row, column = input_rows(before, after)
  local count = min(#list, most)
  -- Of a long line, the rows around the cursor are shown.
  local first = max(0, min(row - floor(count / 2), #list - count))
  local y = bottom + MARGIN + (count - 1) * LINE
  for i = 1, count do
    draw_text(gui, list[first + i], MARGIN, y - (i - 1) * LINE, INPUT_COLOR)
  end
  local caret = y - (row - first) * LINE
  Gui.rect(gui, V3(MARGIN + column * cell, caret - 3, 2), V2(2, SIZE + 2), EDGE)
  return y + LINE
end

local function draw_bar(gui, x, low, high)
  if #rows <= visible then return end
  local length = high - low
  local thumb = max(12, length * visible / #rows)
  local at = low + (length - thumb) * scroll / (#rows - visible)
  Gui.rect(gui, V3(x, low, 1), V2(BAR, length), BAR_GROUND)
  Gui.rect(gui, V3(x, at, 2), V2(BAR, thumb), BAR_COLOR)
end

-- Draws the console over the frame, with the input line before and after its cursor.
function view.draw(before, after)
  local gui = core.console_gui()
  local width, height = Gui.resolution(gui)
  if not cell then
    local _, _, caret = Gui.text_extents(gui, "0000000000", FONT, SIZE, OPTIONS)
    cell = caret.x / 10
  end
  local fitting = max(8, floor((width - 2 * MARGIN - 2 * BAR) / cell))
  if fitting ~= columns then
    columns = fitting
    break_all()
  end
  read_log()
  local tall = min(height, max(floor(height * HEIGHT), ROWS_MIN * LINE + 2 * MARGIN))
  local bottom = height - tall
  -- With a locked cursor, its position says nothing about where the player points.
  if Window.cursor_mode() == "lock" then
    core.set_console_area(0, 0, width, height)
  else
    core.set_console_area(0, bottom, width, height)
  end
  Gui.rect(gui, V3(0, bottom, 0), V2(width, tall), GROUND)
  Gui.rect(gui, V3(0, bottom, 1), V2(width, 2), EDGE)
  local all = max(ROWS_MIN, floor((tall - 2 * MARGIN) / LINE))
  local y = draw_input(gui, bottom, floor(all / 2), before, after)
  visible = max(1, floor((height - MARGIN - y) / LINE) + 1)
  clamp_scroll()
  draw_bar(gui, width - 2 * BAR, y, height - MARGIN)
  for i = #rows - scroll, max(1, #rows - scroll - visible + 1), -1 do
    draw_text(gui, rows[i].text, MARGIN, y, COLORS[rows[i].level])
    y = y + LINE
  end
end
