-- Breakpoints of the debugger. A breakpoint inserts a call of `hit` before the first statement of
-- its line, and all functions of the file get the code of the changed text
-- (src/script/debugger/code_swap.rs). What happens at a breakpoint is in debugger.lua.
local core = ...

local next, pcall, rawset, tostring = next, pcall, rawset, tostring
local sub, format, concat = string.sub, string.format, table.concat
local sort = table.sort
local reload = core.reloader
local jit = core.jit

local BREAKPOINTS_MAX = 1000 -- in one file
local VERSIONS_MAX = 64 -- compiled texts of one file that are kept for running functions
local TEXTS_MAX = 8 -- texts of one file that are kept
local RETRY_FRAMES = 60 -- between two attempts to give running functions their code

local breakpoints = {}
core.breakpoints = breakpoints

-- The files with breakpoints, by chunk: `points` as the tool set them, `text` for which their lines
-- hold, `groups` with the compiled versions of each text, `running` functions without inserted
-- calls.
local files = {}
-- What inserted calls name, by number: the chunk, the line, and its breakpoints.
local spots = {}
local last_spot, last_point = 0, 0
-- True while a step needs the line hook.
local is_stepping = false
local is_jit_off = false

-- The call that is inserted. It has no upvalue and uses no name of the game, so the functions of
-- both versions of a file have the same upvalues.
local HIT = 'if ("")["\\27break"](%d) then end '

-- Compiled code contains this function: only what it calls for a breakpoint is slow.
local function hit(number)
  local spot = spots[number]
  if spot then breakpoints.reached(spot) end
end

-- Returns true if the hook has to find the breakpoints of running functions of a file.
local function is_followed(file)
  return #file.running > 0 and #file.points > 0
end

-- The JIT compiler is off while the hook follows lines: compiled code does not report them.
local function update_jit()
  local off = is_stepping
  for _, file in next, files do
    off = off or is_followed(file)
  end
  if not core.options.jit or off == is_jit_off then return end
  is_jit_off = off
  if off then
    jit.flush()
    jit.off()
  else
    jit.on()
  end
end

function breakpoints.set_stepping(on)
  is_stepping = on
  update_jit()
end

-- Tells native code at which lines running functions have to be stopped.
local function follow()
  local lines, targets, has_old_code = {}, {}, false
  for chunk, file in next, files do
    local group = file.text and file.groups[file.text]
    if #file.points > 0 and group and group.target then targets[#targets + 1] = group.target end
    has_old_code = has_old_code or is_followed(file)
    for i = 1, #file.points do
      local point = file.points[i]
      if point.line then lines[#lines + 1], lines[#lines + 2] = chunk, point.line end
    end
  end
  core.debug_follow(lines, targets, has_old_code)
  update_jit()
end

-- Returns the position in `starts` of the first line from `line` on.
local function first_start(starts, line)
  local below, above = -1, #starts / 2
  while above - below > 1 do
    local middle = below + (above - below - (above - below) % 2) / 2
    if starts[2 * middle + 1] < line then below = middle else above = middle end
  end
  return above < #starts / 2 and 2 * above + 1
end

-- Returns the starts of the statements of a text, and the line of each breakpoint in it, or false.
-- Returns nil if the text is not understood.
local function lines_of(points, text)
  local starts = core.statement_starts(text)
  if not starts then return nil end
  local lines = {}
  for i = 1, #points do
    local at = first_start(starts, points[i].wanted)
    lines[i] = at and starts[at] or false
  end
  return starts, lines
end

-- Sets the lines of breakpoints. Returns the same as `lines_of`.
local function set_lines(points, text)
  local starts, lines = lines_of(points, text)
  for i = 1, #points do
    local point = points[i]
    point.line, point.message = lines and lines[i] or nil, nil
    if not starts then
      point.message = "the file has a syntax error"
    elseif not point.line then
      point.message = "there is no statement on this line or after it"
    end
  end
  return starts, lines
end

-- Returns a text with the calls of its breakpoints, or nil if it has none. A number is given to
-- each line with breakpoints.
local function with_calls(chunk, text, points, starts, lines)
  local of_line, sorted = {}, {}
  for i = 1, #points do
    local line = lines[i]
    if line and not of_line[line] then
      of_line[line], sorted[#sorted + 1] = {}, line
    end
    if line then of_line[line][#of_line[line] + 1] = points[i] end
  end
  if #sorted == 0 then return nil end
  sort(sorted)
  local parts, from = {}, 1
  for i = 1, #sorted do
    local line = sorted[i]
    local byte = starts[first_start(starts, line) + 1]
    last_spot = last_spot + 1
    spots[last_spot] = { chunk = chunk, line = line, points = of_line[line] }
    parts[#parts + 1] = sub(text, from, byte)
    parts[#parts + 1] = format(HIT, last_spot)
    from = byte + 1
  end
  parts[#parts + 1] = sub(text, from)
  return concat(parts)
end

local function file_of(chunk)
  local file = files[chunk]
  if not file then
    file = { points = {}, groups = {}, texts = {}, running = {}, frames = 0 }
    files[chunk] = file
  end
  return file
end

-- Returns the compiled versions of a text of a file.
local function group_of(file, text)
  local group = file.groups[text]
  if not group then
    group = {}
    file.groups[text], file.texts[#file.texts + 1] = group, text
    if #file.texts > TEXTS_MAX then
      file.groups[core.table.remove(file.texts, 1)] = nil
    end
  end
  return group
end

local function compile(chunk, text)
  return reload.compile_text({ chunk = chunk, text = text })
end

-- Gives all functions of a file the code of their breakpoints. Returns the message of a problem.
local function exchange(chunk, file, text, changed)
  local group = group_of(file, text)
  local ok, plain = true, group.plain
  if not plain then
    ok, plain = pcall(compile, chunk, text)
    if not ok then return tostring(plain) end
    group.plain = plain
    core.table.insert(group, 1, plain)
  end
  local target = plain
  if changed then
    ok, target = pcall(compile, chunk, changed)
    if not ok then return tostring(target) end
    group[#group + 1] = target
    if #group > VERSIONS_MAX then core.table.remove(group, 2) end
  end
  group.target = target
  jit.flush()
  local _, running = core.debug_exchange("@" .. chunk, group, target)
  file.running, file.frames = running, 0
end

local function result_of(point)
  return {
    id = point.id, line = point.line or point.wanted, verified = point.line ~= nil,
    message = point.message,
  }
end

local function results(file)
  local list = {}
  for i = 1, #file.points do
    list[i] = result_of(file.points[i])
  end
  return list
end

local function forget_spots(chunk)
  for number, spot in next, spots do
    if spot.chunk == chunk then spots[number] = nil end
  end
end

local function new_point(wanted)
  last_point = last_point + 1
  return {
    id = last_point, wanted = wanted.line, condition = wanted.condition, log = wanted.log,
    hit_condition = wanted.hits, hits = 0,
  }
end

-- Sets all breakpoints of a file, in place of those before. Returns a list of `{ id, line,
-- verified, message }`, or nil and a message.
function breakpoints.set(chunk, list)
  if #list > BREAKPOINTS_MAX then
    return nil, format("a file can have %d breakpoints (BREAKPOINTS_MAX)", BREAKPOINTS_MAX)
  end
  if #list == 0 and not files[chunk] then return {} end
  local file = file_of(chunk)
  forget_spots(chunk)
  file.points = {}
  for i = 1, #list do
    file.points[i] = new_point(list[i])
  end
  local text = core.source(chunk)
  if text then
    file.text = text
    local starts, lines = set_lines(file.points, text)
    local changed = starts and with_calls(chunk, text, file.points, starts, lines)
    local problem = exchange(chunk, file, text, changed)
    for i = 1, problem and #file.points or 0 do
      file.points[i].line, file.points[i].message = nil, problem
    end
    if problem then forget_spots(chunk) end
    if is_followed(file) then
      for i = 1, #file.points do
        if file.points[i].line then
          file.points[i].message = "functions of the file that are running now are slow until "
            .. "they have returned"
        end
      end
    end
  else
    for i = 1, #file.points do
      file.points[i].message = "the file is not loaded yet"
    end
  end
  follow()
  return results(file)
end

-- Returns the breakpoints on a line.
function breakpoints.at(chunk, line)
  local file, list = files[chunk], {}
  for i = 1, file and #file.points or 0 do
    if file.points[i].line == line then list[#list + 1] = file.points[i] end
  end
  return list
end

-- Returns the lines from `first` to `last` on which a breakpoint can be.
function breakpoints.locations(chunk, first, last)
  local text = core.source(chunk)
  local starts = text and core.statement_starts(text) or {}
  local lines = {}
  for i = first_start(starts, first) or #starts + 1, #starts, 2 do
    if starts[i] > last then break end
    lines[#lines + 1] = starts[i]
  end
  return lines
end

-- Tells the tool where the breakpoints of a file are now.
local function announce(chunk, file)
  core.debug_send("debug_breakpoints_changed", { file = chunk, breakpoints = results(file) })
end

-- Called for every text of a file that is compiled, also in the dry run of a reload. Returns the
-- text with the calls of its breakpoints.
local function instrument(chunk, text)
  local file = files[chunk]
  if not file or #file.points == 0 then return text end
  -- The breakpoints themselves move when the text is in use.
  local starts, lines = lines_of(file.points, text)
  return starts and with_calls(chunk, text, file.points, starts, lines) or text
end

-- Called with every main function that was compiled from a text with breakpoints.
local function compiled(chunk, text, main)
  local file = files[chunk]
  if not file or #file.points == 0 then return end
  local group = group_of(file, text)
  group[#group + 1], group.target = main, main
  if #group > VERSIONS_MAX then core.table.remove(group, 2) end
  if file.text == nil then
    -- The file is loaded for the first time.
    file.text = text
    set_lines(file.points, text)
    announce(chunk, file)
    follow()
  end
end

-- Moves breakpoints to the lines of the files' new texts, after a reload.
core.on("scripts_reloaded", "debugger", function()
  for chunk, file in next, files do
    local text = core.source(chunk)
    if text and file.text and text ~= file.text and #file.points > 0 then
      file.text = text
      local starts, lines = set_lines(file.points, text)
      local changed = starts and with_calls(chunk, text, file.points, starts, lines)
      exchange(chunk, file, text, changed)
      announce(chunk, file)
    end
  end
  if next(files) then follow() end
end)

-- In each frame, no function of the game but those of suspended coroutines is running.
function breakpoints.update()
  for chunk, file in next, files do
    if #file.running > 0 then
      local group = group_of(file, file.text)
      if file.frames % RETRY_FRAMES == 0 then
        local frames = file.frames
        jit.flush()
        local _, running = core.debug_exchange("@" .. chunk, group, group.target)
        file.running, file.frames = running, frames
        follow()
      end
      file.frames = file.frames + 1
    end
  end
end

function breakpoints.begin()
  -- Functions that a reload left with an inserted call keep it, so it stays.
  rawset(core.string, "\27break", hit)
  reload.instrument, reload.compiled = instrument, compiled
end

-- Removes all breakpoints.
function breakpoints.clear()
  for chunk, file in next, files do
    local had_points = #file.points > 0
    file.points = {}
    if file.text and had_points then
      exchange(chunk, file, core.source(chunk) or file.text, nil)
    end
  end
  -- The versions are kept: running functions have their code from them.
  spots, is_stepping = {}, false
  follow()
end

-- Ends the debugger.
function breakpoints.finish()
  breakpoints.clear()
  reload.instrument, reload.compiled = nil, nil
end
