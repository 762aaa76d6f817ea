-- Graphs of visual scripting: sends events to the graphs of units and levels, calls the functions
-- of their nodes, and has the functions of the modules for them. Graphs run natively
-- (src/system/flow/); they hand out the functions that only Lua can call.
local core = ...

local type, ipairs, next, error, tostring = type, ipairs, next, error, tostring
local xpcall, pcall, unpack, select = xpcall, core.pcall, unpack, select
local format, match, find = string.format, string.match, string.find
local running, create, resume, status =
  coroutine.running, coroutine.create, coroutine.resume, coroutine.status
local sort, check = table.sort, core.user_data.check
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local value_of, store = core.flow_value, core.flow_store
local step, fail = core.flow_step, core.flow_fail
local count, has = core.flow_count, core.flow_has
local globals = core.globals

local Unit, Level = core.module("Unit"), core.module("Level")
local Application, Input = core.module("Application"), core.module("Input")
local Flow = core.module("Flow")

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

-- Nodes that are written in Lua, by name: their tables.
local nodes, files = {}, {}
-- True if the game has modules with nodes.
local game_nodes = false
-- Functions of node types by the number that `flow_step` returns: { fn =, threaded =, inputs =,
-- outputs =, count =, events =, name = }.
local functions = {}
-- Event outputs of the node that runs: its chosen bits, and its names.
local chosen, choices

-- Fields of a node that the engine reads.
local FIELDS = { "title", "category", "doc", "inputs", "outputs", "events", "query" }

-- Registers the nodes in a table of a file. `file` is empty for nodes of the engine.
local function add_nodes(prefix, file, list)
  for _, name in ipairs(core.names(list)) do
    local node = list[name]
    if type(node) ~= "table" or type(node.run) ~= "function" then
      raise(format("%s: the node '%s' must be a table with a function 'run'", file, name))
    end
    for _, key in ipairs(core.names(node)) do
      local known = key == "run"
      for _, field in ipairs(FIELDS) do known = known or field == key end
      if not known then
        local near = core.suggest(key, FIELDS)
        raise(format("%s: the node '%s' has the unknown field '%s'%s", file, name, key,
          near and ", did you mean '" .. near .. "'?" or ""))
      end
    end
    local fields = {}
    for _, field in ipairs(FIELDS) do fields[field] = node[field] end
    if next(fields) == nil then fields.doc = "" end
    core.flow_add_node(prefix .. name, file, fields)
    nodes[prefix .. name], files[prefix .. name] = node, file
  end
end

local engine_nodes = {}

-- Adds nodes of the engine that are written in Lua.
function core.add_flow_nodes(prefix, list)
  engine_nodes[#engine_nodes + 1] = { prefix = prefix, list = list }
end

-- Returns the names of the game's modules with nodes, sorted.
local function node_modules()
  local found = {}
  for _, name in ipairs(Application.resource_names("lua") or {}) do
    if find(name, "^nodes/") then found[#found + 1] = name end
  end
  sort(found)
  return found
end

local function add_module(name)
  local list = core.require((name:gsub("/", ".")))
  local file = name .. ".lua"
  if type(list) ~= "table" then
    raise(format("%s must return a table of nodes, and returned %s", file, core.describe(list)))
  end
  add_nodes(match(name, "^nodes/(.+)$"):gsub("/", ".") .. ".", file, list)
end

-- Adds the node types of the game. A file with an error is reported, and the others are added.
local function add_game_nodes()
  functions = {}
  local modules = node_modules()
  for _, name in ipairs(modules) do
    local ok, problem = pcall(add_module, name)
    if not ok then core.log("error", name .. ".lua: " .. tostring(problem)) end
  end
  game_nodes = #modules > 0
end

-- Adds all node types, when the first graph needs them.
local function get_ready()
  if core.flow_is_ready() then return end
  core.flow_add_functions()
  for _, one in ipairs(engine_nodes) do add_nodes(one.prefix, "", one.list) end
  add_game_nodes()
end

core.get_flow_ready = get_ready

core.on("scripts_reloaded", "flow", function()
  if not core.flow_is_ready() then return end
  local had_nodes = game_nodes
  for name, file in next, files do
    if file ~= "" then nodes[name], files[name] = nil, nil end
  end
  core.flow_remove_nodes()
  add_game_nodes()
  if had_nodes or game_nodes then core.flow_recompile() end
end)

-- Returns the function of a node type.
local function function_of(number)
  local known = functions[number]
  if known then return known end
  local found = core.flow_function(number)
  -- The file of the node was removed or changed, and the graph could not be compiled again.
  if not found then return nil end
  local name = found[1]
  local node = nodes[name]
  local fn
  if node then
    fn = node.run
  else
    local module, key = match(name, "^([%w_]+)%.([%w_]+)$")
    fn = core.module(module)[key]
  end
  known = { name = name, fn = fn, inputs = found[2], outputs = found[3], count = #found[3],
    events = found[4] }
  functions[number] = known
  return known
end

-- Calls a function inside of a coroutine: one that waits is an error.
local function call_in_thread(fn, ...)
  local thread = create(fn)
  local ok, a, b, c, d, e, f = resume(thread, ...)
  if not ok then error(a, 0) end
  if status(thread) == "suspended" then
    error("the node waits (coroutine.yield), and a node must return at once", 0)
  end
  return a, b, c, d, e, f
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

local function handler(problem)
  return core.debug.traceback(tostring(problem), 2)
end

-- Types of results that a step takes; `step` has two of them.
local PLAIN = { number = true, boolean = true, ["nil"] = true }

-- Stores the results of a function. Returns a message if one of them is no value of a graph.
local function store_all(known, ...)
  for i = 1, known.count do
    local message = store((select(i, ...)), known.outputs[i])
    if message then return format("result %d %s", i, message) end
  end
end

-- Calls the callback for an event out of a graph.
local function call_back()
  local event = core.flow_callback()
  local value = value_of(1)
  if core.has_callback("on_flow_event") then globals.on_flow_event(event[1], event[2], value) end
end

-- Continues after a call with the results of its function.
local function complete(known, a, b, ...)
  if known.count <= 2 and PLAIN[type(a)] and PLAIN[type(b)] then return step(chosen, a, b) end
  local message = store_all(known, a, b, ...)
  if not message then return step(chosen) end
  fail(message)
  return step(-1)
end

-- Calls the function of a node with `n` inputs, or with all of them if `n` is -1. Returns the next
-- step.
local function call_node(known, fn, n, a, b, c, d)
  chosen, choices = 1, known.events
  if n == 0 then return complete(known, fn()) end
  if n == 1 then return complete(known, fn(a)) end
  if n == 2 then return complete(known, fn(a, b)) end
  if n == 3 then return complete(known, fn(a, b, c)) end
  if n == 4 then return complete(known, fn(a, b, c, d)) end
  return complete(known, fn(select(2, arguments(known.inputs))))
end

-- Calls functions of nodes until no event waits. In a coroutine of the game, each function runs in
-- a coroutine of its own, because one that waits must not stop the others.
local function run_all(in_thread)
  local number, n, a, b, c, d = step(-1)
  while number ~= 0 do
    if number == -1 then
      call_back()
      number, n, a, b, c, d = step(0)
    else
      local known = functions[number] or function_of(number)
      if not known then
        fail("its node type does not exist any more")
        number, n, a, b, c, d = step(-1)
      elseif in_thread then
        local fn = known.fn
        number, n, a, b, c, d = call_node(known, function(...) return call_in_thread(fn, ...) end,
          n, a, b, c, d)
      else
        number, n, a, b, c, d = call_node(known, known.fn, n, a, b, c, d)
      end
    end
  end
end

-- Runs the events that wait, with the functions that their nodes call. An error ends the event of
-- its node, and the others go on.
local function run_events()
  local in_thread = running() ~= nil
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
  get_ready()
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
    get_ready()
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

-- Input actions of graphs that the game does not have, after they were reported.
local missing_actions = {}

-- Sends the changes of input actions to the graphs of a world.
local function send_actions(world)
  local names = core.flow_action_names(world)
  for i = 1, #names do
    local name = names[i]
    if core.has_action(name) then
      if Input.pressed(name) then core.flow_raise_action(world, name, true) end
      if Input.released(name) then core.flow_raise_action(world, name, false) end
    elseif not missing_actions[name] then
      missing_actions[name] = true
      local near = core.suggest(name, Input.actions())
      core.log("error", format("a graph has a node event.input for the action '%s', and there is no"
        .. " such action%s", name, near and ", did you mean '" .. near .. "'?"
          or " (Input.set_actions and input.actions in settings.sjson set them)"))
    end
  end
end

core.on("world_update", "flow", function(world, dt)
  if count() == 0 then return end
  core.flow_update(world, dt)
  send_actions(world)
  run_events()
end)

core.on("frame_update", "flow", function()
  if count() > 0 then core.flow_recover() end
end)

local function check_name(where, name)
  if type(name) ~= "string" then bad_argument(where, 2, "name", "string", name) end
end

local function send(where, owner, name, value)
  no_reload(where)
  check_name(where, name)
  local message = store(value)
  if message then raise(format("%s: argument #3 'value' %s", where, message)) end
  local taken = core.flow_raise(owner, name, CUSTOM)
  run_events()
  return taken
end

---Sends an event to the graph of a unit: its nodes of type `event.custom` with this name run at
---once. Does nothing if the unit has no graph with such a node.
---@param unit Unit a unit
---@param name string the name of the event
---@param value? any a number, boolean, text, vector, rotation, color, object, or a list of these
---@return boolean taken true if the graph of the unit has the event
function Unit.flow_event(unit, name, value)
  check("Unit.flow_event", Unit, unit)
  return send("Unit.flow_event", unit, name, value)
end

---Returns true if the graph of a unit has a node of type `event.custom` with a name.
---@param unit Unit a unit
---@param name string the name of the event
---@return boolean exists true if `Unit.flow_event` would run something
function Unit.has_flow_event(unit, name)
  check("Unit.has_flow_event", Unit, unit)
  check_name("Unit.has_flow_event", name)
  return core.flow_receives(unit, name)
end

local function variable(where, owner, name)
  check_name(where, name)
  core.flow_variable(owner, name)
  return value_of(1)
end

local function set_variable(where, owner, name, value)
  no_reload(where)
  check_name(where, name)
  local message = store(value, core.flow_variable_type(owner, name))
  if message then raise(format("%s: argument #3 'value' %s", where, message)) end
  core.flow_set_variable(owner, name)
end

---Returns the value of a variable of a unit's graph.
---@param unit Unit a unit with a graph
---@param name string the name of the variable
---@return any value its value
function Unit.flow_variable(unit, name)
  check("Unit.flow_variable", Unit, unit)
  return variable("Unit.flow_variable", unit, name)
end

---Sets a variable of a unit's graph. The value must have the type of the variable.
---@param unit Unit a unit with a graph
---@param name string the name of the variable
---@param value any the value
function Unit.set_flow_variable(unit, name, value)
  check("Unit.set_flow_variable", Unit, unit)
  set_variable("Unit.set_flow_variable", unit, name, value)
end

---Sends an event to the graph of a level: its nodes of type `event.custom` with this name run at
---once. Does nothing if the level has no graph with such a node.
---@param level Level a level
---@param name string the name of the event
---@param value? any a number, boolean, text, vector, rotation, color, object, or a list of these
---@return boolean taken true if the graph of the level has the event
function Level.trigger_event(level, name, value)
  check("Level.trigger_event", Level, level)
  return send("Level.trigger_event", level, name, value)
end

---Returns the value of a variable of a level's graph.
---@param level Level a level with a graph
---@param name string the name of the variable
---@return any value its value
function Level.flow_variable(level, name)
  check("Level.flow_variable", Level, level)
  return variable("Level.flow_variable", level, name)
end

---Sets a variable of a level's graph. The value must have the type of the variable.
---@param level Level a level with a graph
---@param name string the name of the variable
---@param value any the value
function Level.set_flow_variable(level, name, value)
  check("Level.set_flow_variable", Level, level)
  set_variable("Level.set_flow_variable", level, name, value)
end

---Returns true if a unit or a level has a graph that runs.
---@param object Unit|Level a unit or a level
---@return boolean exists false also if its graph has errors
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
  return core.flow_inspect(object)
end

-- Returns a part of the context of the node that runs.
local function context(where, index)
  local found = core.flow_context()
  if not found then
    raise(where .. ": no node of a graph runs: call it in the function of a node")
  end
  return found[index] or nil
end

---Returns the unit of the graph whose node runs, or nil for the graph of a level. Call it in the
---function of a node.
---@return Unit|nil unit the unit
function Application.flow_callback_context_unit()
  return context("Application.flow_callback_context_unit", 1)
end

---Returns the level of the graph whose node runs, or the level that spawned its unit, or nil. Call
---it in the function of a node.
---@return Level|nil level the level
function Application.flow_callback_context_level()
  return context("Application.flow_callback_context_level", 2)
end

---Returns the world of the graph whose node runs. Call it in the function of a node.
---@return World world the world
function Application.flow_callback_context_world()
  return context("Application.flow_callback_context_world", 3)
end

---Returns the graph and the id of the node that runs. Call it in the function of a node.
---@return string graph the name of the graph, such as "units/barrel.unit"
---@return string node the id of the node; "n8/n3" for the node n3 of the subgraph n8
function Application.flow_callback_context_node()
  local where = "Application.flow_callback_context_node"
  return context(where, 4), context(where, 5)
end

---Chooses the output by which the graph continues after the function of a node with several
---`events`. Without a call, it continues by the first one. Call it in the function of a node.
---@param name string|nil the name of the output; nil for none
function Application.flow_callback_return_event(name)
  local where = "Application.flow_callback_return_event"
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
  raise(format("%s: the node has no event output %s%s", where, core.describe(name),
    near and ", did you mean '" .. near .. "'?" or ""))
end
