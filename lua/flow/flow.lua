-- Graphs of visual scripting: sends events to the graphs of units and levels, calls the functions
-- of their nodes, and has what the functions of the modules for them share. Graphs run natively
-- (src/system/flow/); they hand out the functions that only Lua can call.
local core = ...

local type, ipairs, error, tostring = type, ipairs, error, tostring
local xpcall, unpack, select = xpcall, unpack, select
local cast = core.ffi.cast
local format, find, match = string.format, string.find, string.match
local gmatch, gsub, sub = string.gmatch, string.gsub, string.sub
local getinfo = core.debug.getinfo
local concat = table.concat
local running, create, resume = coroutine.running, coroutine.create, coroutine.resume
local status, yield = coroutine.status, coroutine.yield
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local value_of, store = core.flow_value, core.flow_store
local add_result = core.flow_add_result
local fail = core.flow_fail
local count, has = core.flow_count, core.flow_has
local globals, check = core.globals, core.user_data.check

local Unit, Level = core.module("Unit"), core.module("Level")
local Input, Flow = core.module("Input"), core.module("Flow")

---@module Flow
---Graphs of visual scripting: how they look from scripts. Units and levels have graphs in their
---files; see the page about Flow in the manual.
---@example
---   local world = Application.new_world()
---   local unit = World.spawn_unit(world, "core/units/empty")
---   assert(not Flow.has_graph(unit))
---   Application.release_world(world)

-- Kinds of events that are sent from here (SENT_KINDS in src/script/api/flow/mod.rs).
local CUSTOM, LEVEL_LOADED = 1, 2

-- Functions of node types by the number that `flow_step` returns.
local functions = core.flow_functions
-- Event outputs of the node that runs: its chosen bits, and its names.
local chosen, choices

local WAITS = "the function waits (coroutine.yield), and a graph needs its results at once"

-- Returns true if an error was raised in a function of the game that a graph calls: in a coroutine
-- that has died of it, or where the caller handles it. The game's function can have called one of
-- this file. The one that called the game's is below it, except in a coroutine.
local function is_of_game(thread)
  local level, is_found = thread and 0 or 3, false
  while true do
    local info
    if thread then info = getinfo(thread, level, "S") else info = getinfo(level, "S") end
    if not info then return is_found and thread ~= nil end
    if sub(info.source, 1, 1) == "@" then
      is_found = true
    elseif is_found and find(info.source, "[engine] flow/flow", 1, true) then
      return true
    end
    level = level + 1
  end
end

-- Returns the results of a function in a coroutine.
local function results_of(thread, ok, ...)
  if not ok then
    local message = tostring((...))
    core.note_death(thread, message)
    if is_of_game(thread) then core.debug_uncaught(message) end
    error(core.debug.traceback(thread, message), 0)
  end
  if status(thread) == "suspended" then
    error(WAITS, 0)
  end
  return ...
end

-- Calls a function inside of a coroutine: one that waits is an error.
local function call_in_thread(fn, ...)
  local thread = create(fn)
  return results_of(thread, resume(thread, ...))
end

-- Arguments of the running call: its inputs without the last ones that are nil.
local function arguments(n)
  while n > 0 and core.flow_input_tag(n) == 0 do n = n - 1 end
  if n == 0 then return 0 end
  if n == 1 then return 1, value_of(1) end
  if n == 2 then return 2, value_of(1), value_of(2) end
  if n == 3 then return 3, value_of(1), value_of(2), value_of(3) end
  local values = {}
  for i = 1, n do values[i] = value_of(i) end
  return n, unpack(values, 1, n)
end

local OWN_LINES_MAX = 3 -- lines of a stack, from its start, in which this file can be called

-- Returns the message of an error with the stack of the game: without the functions of this file,
-- which call the game's, and without those that raise errors.
local function handler(problem)
  local text = tostring(problem)
  -- The message of LuaJIT names its own stack. It is right in a coroutine that the game has made.
  local before = match(text, "^(.-)attempt to yield across C%-call boundary$")
  if before and getinfo(2, "f").func == yield then text = before .. WAITS end
  if is_of_game() then core.debug_uncaught(text) end
  if not find(text, "\nstack traceback:", 1, true) then
    text = core.debug.traceback(text, 2)
  end
  local message, stack = match(text, "^(.-)\nstack traceback:(.*)$")
  local lines, number = {}, 0
  for line in gmatch(stack or "", "\n([^\n]*)") do
    number = number + 1
    local is_own = find(line, "[engine] flow/flow", 1, true)
    -- The first lines can be functions of this file that the game has called.
    if is_own and (#lines > 0 or number > OWN_LINES_MAX) then break end
    local raises = find(line, "^%s*%[C%]: in function 'error'")
      or find(line, "^%s*%[C%]: in function 'yield'")
      or find(line, "[engine] boot/core:", 1, true) and find(line, "in function 'raise'$")
    if not raises and not is_own then lines[#lines + 1] = line end
  end
  if #lines == 0 then return message or text end
  -- The name by which this file calls it says nothing to the game.
  lines[#lines] = gsub(lines[#lines], "in function 'fn'$", "in function 'run'")
  return message .. "\nstack traceback:\n" .. concat(lines, "\n")
end

-- Kinds of results that a step takes, by type (src/script/api/flow/step.rs).
local KINDS = { ["nil"] = 0, number = 1, boolean = 2 }
-- Kind of results that were added one by one.
local ADDED = -1

-- Stores the results of a function. Returns a message if one of them is no value of a graph.
local function store_all(known, ...)
  core.flow_clear_results()
  for i = 1, known.count do
    local message = add_result((select(i, ...)), known.outputs[i])
    if message then
      local colon = find(message, "^item ") and ":" or ""
      return format("the output '%s'%s %s", known.names[i], colon, message)
    end
  end
end

-- True after a warning that the scripts handle no events of graphs.
local warned_of_callback = false

-- Warns once of an event that no script handles.
local function warn_of_no_callback(name)
  if warned_of_callback then return end
  warned_of_callback = true
  core.log("warning", format("a graph raised the event '%s', and no script has the callback "
    .. "on_flow_event(object, name, value)", name))
end

-- Calls the callback for an event out of a graph.
local function call_back(in_thread)
  local event = core.flow_callback()
  local value = value_of(1)
  if not core.has_callback("on_flow_event") then
    warn_of_no_callback(event[2])
    return
  end
  local fn = globals.on_flow_event
  if in_thread then return call_in_thread(fn, event[1], event[2], value) end
  fn(event[1], event[2], value)
end

-- The native step, and the inputs of the running call that are numbers or objects. Both are looked
-- up late: functions are replaced by those that compiled Lua calls after this file has run.
local step, inputs

-- Continues after a call with the results of its function. Returns the code of the next call.
local function complete(known, a, b, ...)
  local count = known.count
  if count == 0 then return step(chosen, 0, 0, 0) end
  if count == 1 then b = nil end
  local first, second = KINDS[type(a)], KINDS[type(b)]
  if count <= 2 and first and second then
    if first ~= 1 then a = a and 1 or 0 end
    if second ~= 1 then b = b and 1 or 0 end
    return step(chosen, first + 3 * second, a, b)
  end
  local message = store_all(known, a, b, ...)
  if not message then return step(chosen, ADDED, 0, 0) end
  fail(message)
  return step(-1, 0, 0, 0)
end

-- Calls the function of a node. `count` is the number of its plain inputs, or -1 if it has others.
-- Returns the code of the next call.
local function call_node(known, fn, count)
  chosen, choices = 1, known.events
  if count == 0 then return complete(known, fn()) end
  if count == 1 then return complete(known, fn(inputs[0])) end
  if count == 2 then return complete(known, fn(inputs[0], inputs[1])) end
  if count == 3 then return complete(known, fn(inputs[0], inputs[1], inputs[2])) end
  if count == 4 then return complete(known, fn(inputs[0], inputs[1], inputs[2], inputs[3])) end
  return complete(known, fn(select(2, arguments(known.inputs))))
end

-- Calls functions of nodes until no event waits. In a coroutine of the game, each function runs in
-- a coroutine of its own, because one that waits must not stop the others.
local function run_all(in_thread)
  local code = step(-1, 0, 0, 0)
  while code ~= 0 do
    if code == -1 then
      call_back(in_thread)
      code = step(0, 0, 0, 0)
    else
      local count = code % 8
      local number = (code - count) / 8
      local known = functions[number] or core.flow_function_of(number)
      if not known then
        fail("its node type does not exist any more")
        code = step(-1, 0, 0, 0)
      elseif in_thread then
        local fn = known.fn
        local function in_own_thread(...) return call_in_thread(fn, ...) end
        code = call_node(known, in_own_thread, count - 1)
      else
        code = call_node(known, known.fn, count - 1)
      end
    end
  end
end

-- Runs the events that wait, with the functions that their nodes call. An error ends the event of
-- its node, and the others go on.
local function run_events()
  local in_thread = running() ~= nil
  if not step then
    step, inputs = core.flow_step, cast("const double *", core.flow_plain_inputs())
  end
  local bits, names = chosen, choices
  while true do
    local ok, problem = xpcall(run_all, handler, in_thread)
    if ok then break end
    -- An error outside of a call is one of this file.
    if not fail(tostring(problem)) then error(problem, 0) end
  end
  chosen, choices = bits, names
end

core.run_flow_events = run_events

-- Creates and starts the graphs of units that were spawned.
function core.start_unit_graphs(units)
  core.get_flow_ready()
  local created = false
  for i = 1, #units do
    local unit = units[i]
    if Unit.alive(unit) and core.flow_create_unit(unit) then
      core.flow_start(unit)
      created = true
    end
  end
  if created then run_events() end
end

-- Ends the graph of a unit or a level, after its last event.
function core.end_graph(owner)
  if count() == 0 or not has(owner) then return end
  if core.flow_begin_end(owner) then
    run_events()
    core.flow_finish_nested()
  end
  core.flow_end(owner)
end

-- Ends the graphs of a level and of the levels in it.
local function end_level_graphs(level)
  if not Level.alive(level) then return end
  core.end_graph(level)
  for _, below in ipairs(core.nested_levels(level)) do end_level_graphs(below) end
end

-- The graphs of units end with their units, after those of the levels.
core.on("world_release", "flow", function(world)
  if count() == 0 then return end
  for _, level in ipairs(core.levels(world)) do end_level_graphs(level) end
end)

-- Creates and starts the graph of a level and of the levels in it.
function core.start_level_graph(level)
  if core.flow_level_has_graph(level) then
    core.get_flow_ready()
    if core.flow_create_level(level) then core.flow_start(level) end
  end
  for _, below in ipairs(core.nested_levels(level)) do core.start_level_graph(below) end
  if count() > 0 then run_events() end
end

-- Tells the graphs of a level and of the levels in it that all of its units were spawned.
function core.level_graph_loaded(level)
  if count() == 0 then return end
  core.flow_raise(level, "", LEVEL_LOADED)
  for _, below in ipairs(core.nested_levels(level)) do
    if has(below) then core.flow_raise(below, "", LEVEL_LOADED) end
  end
  run_events()
end

-- Input actions that graphs wait for, and the number of the change of which they are.
local actions, actions_known = {}, 0
-- Input actions of graphs that the game does not have, after they were reported.
local missing_actions = {}

-- Sends the changes of input actions to the graphs of a world.
local function send_actions(world)
  local changes = core.flow_actions_changes()
  if changes ~= actions_known then
    actions, actions_known = core.flow_action_names(), changes
  end
  for i = 1, #actions do
    local name = actions[i]
    if core.has_action(name) then
      if Input.pressed(name) then core.flow_raise_action(world, name, true) end
      if Input.released(name) then core.flow_raise_action(world, name, false) end
    elseif not missing_actions[name] then
      missing_actions[name] = true
      local near = core.suggest(name, Input.actions())
      core.flow_report_missing_action(name, near and ", did you mean '" .. near .. "'?"
        or ": add it with Input.set_actions, or to input.actions in settings.sjson")
    end
  end
end

core.on("world_update", "flow", function(world, dt)
  if count() == 0 then return end
  core.flow_update(world, dt)
  send_actions(world)
  run_events()
end)

-- Files of running units and levels may have their first graph now. It starts in the next update.
core.on("resources_changed", "flow", function()
  local owners = core.flow_new_owners()
  if #owners == 0 then return end
  core.get_flow_ready()
  for _, owner in ipairs(owners) do
    if Unit.alive(owner) then
      if core.flow_create_unit(owner) then core.flow_start(owner) end
    elseif core.flow_create_level(owner) then
      core.flow_start(owner)
      if Level.is_spawned(owner) then core.flow_raise(owner, "", LEVEL_LOADED) end
    end
  end
end)

core.on("frame_update", "flow", function()
  if count() > 0 then core.flow_recover() end
end)

-- Checks the name of an event or a variable.
local function check_name(where, name)
  if type(name) ~= "string" then bad_argument(where, 2, "name", "string", name) end
end

core.check_flow_name = check_name

-- Sends a custom event to the graph of a unit or a level, an object of a module.
function core.send_flow_event(where, module, owner, name, value)
  check(where, module, owner)
  no_reload(where)
  check_name(where, name)
  local message = store(value)
  if message then raise(format("%s: argument #3 'value' %s", where, message)) end
  local taken = core.flow_raise(owner, name, CUSTOM)
  run_events()
  return taken
end

-- Returns a variable of the graph of a unit or a level.
function core.read_flow_variable(where, module, owner, name)
  check(where, module, owner)
  check_name(where, name)
  local message = core.flow_variable(owner, name)
  if message then raise(where .. ": " .. message) end
  return value_of(1)
end

-- Sets a variable of the graph of a unit or a level.
function core.write_flow_variable(where, module, owner, name, value)
  check(where, module, owner)
  no_reload(where)
  check_name(where, name)
  local kind, wrong = core.flow_variable_type(owner, name)
  if wrong then raise(where .. ": " .. wrong) end
  local message = store(value, kind)
  if message then raise(format("%s: argument #3 'value' %s", where, message)) end
  wrong = core.flow_set_variable(owner, name)
  if wrong then raise(where .. ": " .. wrong) end
end

-- Chooses the event output by which the graph continues after the function that runs.
function core.choose_flow_output(where, name)
  if not choices then
    raise(where .. ": no node of a graph runs: call it in the function of a node")
  end
  if name == nil then
    chosen = 0
    return
  end
  for i = 1, #choices do
    if choices[i] == name then
      chosen = 2 ^ (i - 1)
      return
    end
  end
  local near = type(name) == "string" and core.suggest(name, choices)
  raise(format("%s: the node has no event output %s%s", where,
    type(name) == "string" and "'" .. name .. "'" or core.describe(name),
    near and ", did you mean '" .. near .. "'?" or ""))
end

---Returns true if a unit or a level has a graph that runs.
---@param object Unit|Level a unit or a level
---@return boolean exists false also if its graph has errors
---@node query
function Flow.has_graph(object)
  if type(object) ~= "number" then
    bad_argument("Flow.has_graph", 1, "object", "Unit or Level", object)
  end
  return has(object)
end

---Describes the graph of a unit or a level: a table with `graph` (its name), `nodes`,
---`static_bytes` (shared by all of its instances), `dynamic_bytes` (of this one), `variables` (by
---name, as text), `events` (names of custom events) and `error` (the last error of any graph).
---@param object Unit|Level a unit or a level with a graph
---@return table description a new table
function Flow.inspect(object)
  if type(object) ~= "number" then
    bad_argument("Flow.inspect", 1, "object", "Unit or Level", object)
  end
  local description, message = core.flow_inspect(object)
  if message then raise("Flow.inspect: " .. message) end
  return description
end
