-- Breakpoints of the debugger. A breakpoint inserts a call before the first statement of its line,
-- or at the beginning of a function, and all functions of the file get the code of the changed text
-- (src/script/debugger/code_swap.rs). The calls are in inserted_calls.lua, what happens when one
-- stops is in debugger.lua.
local core = ...

local next, pcall, tostring, setmetatable = next, pcall, tostring, setmetatable
local gsub, match, format, sort = string.gsub, string.match, string.format, table.sort
local reload, calls = core.reloader, core.inserted_calls
local jit = core.jit

local BREAKPOINTS_MAX = 1000 -- in one file
local VERSIONS_MAX = 64 -- compiled texts of one file that are kept for running functions
local TEXTS_MAX = 8 -- texts of one file that are kept
local RETRY_FRAMES = 60 -- between two attempts to give running functions their code
local SLOW = "functions of the file that are running now are slow until they have returned"

local breakpoints = {}
core.breakpoints = breakpoints

-- The files with breakpoints, by chunk: `set` are the breakpoints as the tool set them, `points`
-- these and those of functions, `text` the text in use, `saved` a later text for which their lines
-- hold, while it is not loaded, `groups` the compiled versions of each text, `running` the
-- functions without inserted calls.
local files = {}
reload.debugged = files
-- The breakpoints of functions, by name.
local functions = {}
local last_point = 0
-- The calls in the text that was changed last.
local last_inserted
-- True while a step, or the comparison of values, needs the line hook.
local is_stepping, is_comparing = false, false
local is_jit_off = false

-- Returns true if the hook has to find the breakpoints of running functions of a file.
local function is_followed(file)
  return #file.running > 0 and #file.points > 0
end

-- The JIT compiler is off while the hook follows lines: compiled code does not report them.
local function update_jit()
  local off = is_stepping or is_comparing
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
  calls.set_stepping(on)
  update_jit()
end

-- Sets if values are compared at each line.
function breakpoints.set_comparing(on)
  if is_comparing == on then return end
  is_comparing = on
  update_jit()
  core.debug_compare(on)
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

-- Returns the position in `starts` of the first line from `line` on, or false.
local function first_start(starts, line)
  local below, above = -1, #starts / 2
  while above - below > 1 do
    local middle = below + (above - below - (above - below) % 2) / 2
    if starts[2 * middle + 1] < line then below = middle else above = middle end
  end
  return above < #starts / 2 and 2 * above + 1
end

-- Returns a function that finds where a line of a file's breakpoints is in a text that a reload
-- brings; nil if lines are where they are, such as in the text in use.
local function line_mover(file, text)
  local from = file and (file.saved or file.text)
  if not from or from == text or file.text == text then return nil end
  return core.moved_lines(from, text)
end

-- Returns where each breakpoint is in a text: `{ line, byte }`, or false. `move` is that of
-- `line_mover`. Returns nil if the text is not understood.
local function locations_of(points, text, move)
  local starts = core.statement_starts(text)
  if not starts then return nil end
  local locations = {}
  for i = 1, #points do
    local point = points[i]
    if point.fault then
      locations[i] = false
    elseif point.byte then
      locations[i] = { line = point.wanted, byte = point.byte }
    else
      local at = first_start(starts, move and move(point.wanted) or point.wanted)
      locations[i] = at and { line = starts[at], byte = starts[at + 1] } or false
    end
  end
  return locations
end

-- Sets the lines of breakpoints.
local function set_lines(points, text)
  local locations = locations_of(points, text)
  for i = 1, #points do
    local point = points[i]
    point.line, point.message = locations and locations[i] and locations[i].line or nil, nil
    if not locations then
      point.message = "the file has a syntax error"
    elseif not point.line then
      point.message = "there is no statement on this line or after it"
    end
  end
end

-- Returns the calls to insert, in the order of the text: `{ byte, line, points, names,
-- has_calls }`.
local function insertions_of(points, locations)
  local at, list = {}, {}
  for i = 1, #points do
    local location = locations[i]
    local insertion = location and at[location.byte]
    if location and not insertion then
      insertion = { byte = location.byte, line = location.line, points = {}, names = "" }
      at[location.byte], list[#list + 1] = insertion, insertion
    end
    if insertion then insertion.points[#insertion.points + 1] = points[i] end
  end
  sort(list, function(a, b) return a.byte < b.byte end)
  return list
end

-- Returns a text with the calls of its breakpoints, and a list of these calls; nil if it has none.
-- `is_slow` leaves all conditions to debugger.lua.
local function with_calls(chunk, text, points, is_slow)
  local locations = locations_of(points, text, line_mover(files[chunk], text))
  local insertions = locations and insertions_of(points, locations) or {}
  if #insertions == 0 then return nil end
  core.resolve_conditions(text, insertions)
  local inserted = {}
  for i = 1, #insertions do
    local insertion = insertions[i]
    inserted[i] = { byte = insertion.byte, call = calls.add({
      chunk = chunk, line = insertion.line, points = insertion.points,
      names = not is_slow and insertion.names or nil, has_calls = insertion.has_calls,
    }) }
  end
  return calls.assemble(text, inserted), inserted
end

-- Returns true if a breakpoint of a function means the function that is declared by this name.
local function means(wanted, name)
  name = gsub(name, ":", ".")
  return name == wanted or match(name, "[^.]*$") == wanted
end

-- Returns the breakpoints at functions of a text.
local function function_points(text)
  local list = {}
  local found = #functions > 0 and core.named_functions(text) or {}
  for i = 1, #found, 3 do
    for j = 1, #functions do
      local at = functions[j]
      if means(at.wanted, found[i]) then
        list[#list + 1] = {
          id = at.id, wanted = found[i + 1], byte = found[i + 2], condition = at.condition,
          hit_condition = at.hit_condition, hits = 0, is_function = true,
        }
        at.line = at.line or found[i + 1]
      end
    end
  end
  return list
end

-- Returns all breakpoints of a file in a text.
local function points_in(file, text)
  local points = function_points(text)
  for i = 1, #points do points[i].line = points[i].wanted end
  if #points == 0 then return file.set end
  local all = {}
  for i = 1, #file.set do all[i] = file.set[i] end
  for i = 1, #points do all[#all + 1] = points[i] end
  return all
end

local function file_of(chunk)
  local file = files[chunk]
  if not file then
    file = { set = {}, points = {}, groups = {}, texts = {}, running = {}, frames = 0 }
    files[chunk] = file
  end
  return file
end

-- Returns the compiled versions of a text of a file. `inserted` has the calls in each.
local function group_of(file, text)
  local group = file.groups[text]
  if not group then
    group = { inserted = setmetatable({}, { __mode = "k" }) }
    file.groups[text], file.texts[#file.texts + 1] = group, text
    if #file.texts > TEXTS_MAX then
      -- The functions have the code of the text in use.
      local oldest = file.texts[1] == file.text and 2 or 1
      file.groups[core.table.remove(file.texts, oldest)] = nil
    end
  end
  return group
end

local function compile(chunk, text)
  return reload.compile_text({ chunk = chunk, text = text })
end

-- Compiles a text with the calls of its breakpoints, and returns these calls, too; without any,
-- returns `plain`. Returns nil and the message of a problem.
local function compile_with_calls(chunk, text, points, plain)
  local problem
  for attempt = 1, 2 do
    local changed, inserted = with_calls(chunk, text, points, attempt == 2)
    if not changed then return plain end
    local ok, main = pcall(compile, chunk, changed)
    if ok and core.debug_fits(plain, main) then return main, inserted end
    problem = ok and "no call can be inserted" or tostring(main)
  end
  return nil, problem
end

-- Gives all functions of a file the code of their breakpoints. Returns the message of a problem.
local function exchange(chunk, file, text)
  local group = group_of(file, text)
  local plain = group.plain
  if not plain then
    local ok, main = pcall(compile, chunk, text)
    if not ok then return tostring(main) end
    plain, group.plain = main, main
    core.table.insert(group, 1, plain)
  end
  local target, inserted = compile_with_calls(chunk, text, file.points, plain)
  if not target then return inserted end
  if target ~= plain then
    group[#group + 1], group.inserted[target] = target, inserted
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
    message = point.fault or point.message or point.note,
  }
end

local function results(points)
  local list = {}
  for i = 1, #points do list[i] = result_of(points[i]) end
  return list
end

-- Returns the number of a new breakpoint.
function breakpoints.new_id()
  last_point = last_point + 1
  return last_point
end

local function new_point(wanted)
  return {
    id = wanted.id or breakpoints.new_id(), wanted = wanted.line or wanted.name,
    condition = wanted.condition, log = wanted.log, hit_condition = wanted.hits, hits = 0,
    fault = core.breakpoint_fault(wanted),
  }
end

-- Moves breakpoints to their lines in a text that is in use from now on. Returns true if they have
-- moved.
local function move_lines(file, text)
  local move = line_mover(file, text)
  for i = 1, move and #file.set or 0 do file.set[i].wanted = move(file.set[i].wanted) end
  if text ~= file.text then file.text, file.saved = text, nil end
  set_lines(file.set, text)
  return move ~= nil and #file.set > 0
end

-- Gives the functions of a loaded file the code of its breakpoints, which move with their lines.
-- Returns true if they have moved.
local function apply(chunk, file, text)
  local has_moved = move_lines(file, text)
  file.points = points_in(file, text)
  local problem = exchange(chunk, file, text)
  if problem then calls.forget(chunk) end
  for i = 1, #file.points do
    local point = file.points[i]
    if problem then
      point.line, point.message = nil, problem
    elseif point.line and is_followed(file) then
      point.message = SLOW
    end
  end
  return has_moved
end

-- Brings the breakpoints of a file into its functions.
local function install(chunk, file)
  calls.forget(chunk)
  local text = core.source(chunk)
  if text then
    -- Their lines are those of this text, or of the saved one that a reload brings.
    file.text = text
    apply(chunk, file, text)
  else
    file.points = file.set
    for i = 1, #file.points do file.points[i].message = "the file is not loaded yet" end
  end
  follow()
end

local TOO_MANY = format("a file can have %d breakpoints (BREAKPOINTS_MAX)", BREAKPOINTS_MAX)

-- Sets all breakpoints of a file, in place of those before. `saved` is the text of the file now, or
-- nil: until it is loaded, the lines are lines of it, and move only if another text is. Returns a
-- list of `{ id, line, verified, message }`, or nil and a message.
function breakpoints.set(chunk, list, saved)
  if #list > BREAKPOINTS_MAX then return nil, TOO_MANY end
  if #list == 0 and not files[chunk] then return {} end
  local file = file_of(chunk)
  local loaded = core.source(chunk)
  file.saved = saved ~= loaded and saved or nil
  file.set = {}
  for i = 1, #list do file.set[i] = new_point(list[i]) end
  install(chunk, file)
  return results(file.set)
end

-- Tells the tool of all breakpoints that a file has: they have moved, or a command has set or
-- removed some. It sets these again after a restart. Workers also get the text with these lines.
local function announce_list(chunk, file, reason, points)
  local event = { file = chunk, reason = reason, changed = {}, breakpoints = results(file.set),
    lines = {}, conditions = {}, hits = {}, logs = {}, saved = file.saved or file.text }
  for i = 1, #points do event.changed[i] = result_of(points[i]) end
  for i = 1, #file.set do
    local point = file.set[i]
    event.lines[i], event.conditions[i] = point.wanted, point.condition or ""
    event.hits[i], event.logs[i] = point.hit_condition or "", point.log or ""
  end
  core.debug_send("debug_breakpoints_listed", event)
end

-- Lets a command change the breakpoints of a file: `edit(set, new_point)` returns the list in place
-- of `set`, the changed ones, and the reason: "new", "changed" or "removed". Returns the results of
-- the changed ones, and the reason; or nil and a message.
function breakpoints.edit(chunk, edit)
  local file = file_of(chunk)
  local set, changed, reason = edit(file.set, new_point)
  if #set > BREAKPOINTS_MAX then return nil, TOO_MANY end
  file.set = set
  install(chunk, file)
  announce_list(chunk, file, reason, changed)
  return results(changed), reason
end

-- Returns all breakpoints of lines, as a list of `{ file, line, condition }`.
function breakpoints.list()
  local list = {}
  for chunk, file in next, files do
    for i = 1, #file.set do
      local point = file.set[i]
      list[#list + 1] = { file = chunk, line = point.line or point.wanted,
        condition = point.condition }
    end
  end
  sort(list, function(a, b)
    if a.file ~= b.file then return a.file < b.file end
    return a.line < b.line
  end)
  return list
end

-- Sets all breakpoints of functions by name, in place of those before: a list of `{ name,
-- condition, hits }`. Functions of the engine are left to row_breakpoints.lua. Returns a list as
-- `breakpoints.set` does.
function breakpoints.set_functions(list)
  if #list > BREAKPOINTS_MAX then
    return nil, format("there can be %d of them (BREAKPOINTS_MAX)", BREAKPOINTS_MAX)
  end
  local had_any = #functions > 0
  local points = {}
  functions = {}
  for i = 1, #list do
    points[i] = new_point(list[i])
    local is_row, problem = core.row_breakpoints.find(list[i].name)
    problem = points[i].fault or problem
    points[i].row, points[i].message = is_row and not problem, problem
    if points[i].row then
      points[i].line = 0
    elseif not problem then
      points[i].wanted = gsub(list[i].name, ":", ".")
      functions[#functions + 1] = points[i]
    end
  end
  core.row_breakpoints.set(points)
  for chunk in next, reload.records do
    local text = core.source(chunk)
    local file = files[chunk]
    if text and (file and had_any or #function_points(text) > 0) then
      calls.forget(chunk)
      apply(chunk, file_of(chunk), text)
    end
  end
  follow()
  local answers = results(points)
  for i = 1, #answers do
    if not answers[i].verified and not answers[i].message then
      answers[i].message = "no loaded file has a function of this name"
    end
    answers[i].line = answers[i].verified and points[i].line > 0 and points[i].line or nil
  end
  return answers
end

-- Returns the breakpoints on a line.
function breakpoints.at(chunk, line)
  local file, list = files[chunk], {}
  for i = 1, file and #file.points or 0 do
    if file.points[i].line == line then list[#list + 1] = file.points[i] end
  end
  return list
end

-- Returns the compiled versions of a text of a file, or nil.
function breakpoints.versions(chunk, text)
  return files[chunk] and files[chunk].groups[text]
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
  core.debug_send("debug_breakpoints_changed",
    { file = chunk, breakpoints = results(file.points) })
end

-- Returns the breakpoints of a file that is compiled, which may be a new file with a function of a
-- breakpoint; none if it has none.
local function points_of_new(chunk, text)
  local file = files[chunk]
  if not file and #function_points(text) > 0 then file = file_of(chunk) end
  return file and points_in(file, text) or {}, file
end

-- Called for every text of a file that is compiled, also in the dry run of a reload. Returns the
-- text with the calls of its breakpoints.
local function instrument(chunk, text)
  local points = points_of_new(chunk, text)
  last_inserted = nil
  if #points == 0 then return text end
  -- The breakpoints themselves move when the text is in use.
  local changed, inserted = with_calls(chunk, text, points)
  last_inserted = inserted
  return changed or text
end

-- Called with every main function that was compiled from a text of a file.
local function compiled(chunk, text, main)
  core.text_versions.note(chunk, text)
  local points, file = points_of_new(chunk, text)
  if #points == 0 then return end
  local group = group_of(file, text)
  group[#group + 1], group.target, group.inserted[main] = main, main, last_inserted
  if #group > VERSIONS_MAX then core.table.remove(group, 2) end
  if file.text == nil then
    -- The file is loaded for the first time.
    local has_moved = move_lines(file, text)
    file.points = points
    announce(chunk, file)
    -- A worker may have loaded another text than the game, whose lines count after a restart.
    if has_moved and not reload.is_worker then announce_list(chunk, file, "moved", {}) end
    follow()
  end
end

-- Moves breakpoints to the lines of the files' new texts, after a reload.
core.on("scripts_reloaded", "debugger", function()
  for chunk, file in next, files do
    local text = core.source(chunk)
    if text and file.text and text ~= file.text then
      local has_any = #file.points > 0 or #file.running > 0
      if has_any or #points_in(file, text) > 0 then
        local has_moved = apply(chunk, file, text)
        announce(chunk, file)
        if has_moved then announce_list(chunk, file, "moved", {}) end
      else
        file.text, file.saved = text, nil
      end
    end
  end
  if next(files) then follow() end
end)

-- Notes that all functions of a file have the code of its breakpoints.
local function note_settled(chunk, file)
  local was_slow = false
  for i = 1, #file.points do
    local point = file.points[i]
    if point.message == SLOW then point.message, was_slow = nil, true end
  end
  if was_slow then announce(chunk, file) end
end

-- Tries again to give running functions their code: from time to time if it is called in each
-- frame, where no function of the game but those of suspended coroutines is running, or `now`.
function breakpoints.update(now)
  for chunk, file in next, files do
    if now then file.frames = 0 end
    if #file.running > 0 then
      local group = group_of(file, file.text)
      if file.frames % RETRY_FRAMES == 0 then
        local frames = file.frames
        jit.flush()
        local _, running = core.debug_exchange("@" .. chunk, group, group.target)
        file.running, file.frames = running, frames
        follow()
        if #running == 0 then note_settled(chunk, file) end
      end
      file.frames = file.frames + 1
    end
  end
end

breakpoints.first_start = first_start

-- `first` is the number before those of this script's breakpoints.
function breakpoints.begin(first)
  if last_point < first then last_point = first end
  calls.begin()
  reload.instrument, reload.compiled = instrument, compiled
end

-- Removes all breakpoints.
function breakpoints.clear()
  functions = {}
  core.row_breakpoints.set({})
  for chunk, file in next, files do
    local had_points = #file.points > 0
    file.set, file.points = {}, {}
    if file.text and had_points then
      exchange(chunk, file, core.source(chunk) or file.text)
    end
  end
  -- The versions are kept: running functions have their code from them.
  calls.forget()
  breakpoints.set_comparing(false)
  breakpoints.set_stepping(false)
  follow()
end

-- Ends the debugger.
function breakpoints.finish()
  breakpoints.clear()
  reload.instrument, reload.compiled = nil, nil
end
