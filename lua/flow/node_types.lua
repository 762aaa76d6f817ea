-- Types of nodes that are written in Lua, and the functions that nodes call: those of the game's
-- modules in the folder `nodes`, those of the engine, and functions of modules.
local core = ...

local type, ipairs, next, tostring = type, ipairs, next, tostring
local format, match, find = string.format, string.match, string.find
local pcall, sort, raise = core.pcall, table.sort, core.raise

local Application = core.module("Application")

-- Nodes that are written in Lua, by name: their tables.
local nodes, files = {}, {}
-- True if the game has modules with nodes.
local game_nodes = false
-- Functions of node types by the number that `flow_step` returns: { fn =, inputs =, outputs =,
-- count =, events =, name = }.
local functions = {}
core.flow_functions = functions

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
  for number in next, functions do functions[number] = nil end
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

-- Returns the function of a node type; nil if the type does not exist any more.
function core.flow_function_of(number)
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
  local known = { name = name, fn = fn, inputs = found[2], outputs = found[3], count = #found[3],
    events = found[4] }
  functions[number] = known
  return known
end
