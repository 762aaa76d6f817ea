-- Types of nodes that are written in Lua, and the functions that nodes call: those of the game's
-- modules in the folder `nodes`, those of the engine, and functions of modules.
local core = ...

local type, ipairs, next, tostring = type, ipairs, next, tostring
local format, match, find, gmatch = string.format, string.match, string.find, string.gmatch
local gsub, sub = string.gsub, string.sub
local pcall, error = core.pcall, error

-- Nodes of the game, by name: their tables.
local nodes = {}
-- Functions of node types by the number that `flow_step` returns: { fn =, inputs =, outputs =,
-- count =, events =, names =, name = }.
local functions = {}
core.flow_functions = functions

-- Fields of a node that the engine reads.
local FIELDS = { "title", "category", "doc", "inputs", "outputs", "events", "query" }

-- Returns the line of a file on which a node is, or after it the first name that a message has in
-- quotes; nil if the text has no such line, or cannot be read, as in a bundle.
local function line_of(file, name, message)
  local text = core.read_script((gsub(match(file, "^(.*)%.lua$") or file, "/", "."))).text
  local first
  local wanted = {}
  for term in gmatch(message, "'([^']+)'") do
    local is_node = term == name or sub(term, -#name - 1) == "." .. name
    if not is_node then wanted[#wanted + 1] = term end
  end
  local number, found, rank = 0, nil, #wanted + 1
  for line in gmatch(text or "", "([^\n]*)\n?") do
    number = number + 1
    local is_node = find(line, "%f[%w_]" .. gsub(name, "%W", "%%%0") .. "[\"'%]]*%s*=")
    if not first and is_node then first = number end
    for i = 1, first and rank - 1 or 0 do
      if find(line, "%f[%w_]" .. gsub(wanted[i], "%W", "%%%0") .. "%f[^%w_]") then
        found, rank = number, i
        break
      end
    end
    if rank == 1 then break end
  end
  return found or first
end

-- Raises an error of a node in a file of the game, with its line there.
local function refuse(file, name, message)
  local line = line_of(file, name, message)
  error(format("%s:%d: %s", file, line or 1, message), 0)
end

-- Registers the nodes in a table of a file.
local function add_nodes(prefix, file, list)
  for _, name in ipairs(core.names(list)) do
    local node = list[name]
    if type(node) ~= "table" or type(node.run) ~= "function" then
      refuse(file, name, format("the node '%s' must be a table with a function 'run'", name))
    end
    for _, key in ipairs(core.names(node)) do
      local known = key == "run"
      for _, field in ipairs(FIELDS) do known = known or field == key end
      if not known then
        local near = core.suggest(key, FIELDS)
        refuse(file, name, format("the node '%s' has the unknown field '%s'%s", name, key,
          near and ", did you mean '" .. near .. "'?" or ""))
      end
    end
    local fields = {}
    for _, field in ipairs(FIELDS) do fields[field] = node[field] end
    if next(fields) == nil then fields.doc = "" end
    local _, problem = core.flow_add_node(prefix .. name, file, fields)
    if problem then refuse(file, name, problem) end
    nodes[prefix .. name] = node
  end
end

-- Functions of the engine's nodes that are written in Lua, by the name of the node.
local engine_functions = {}

-- Sets the functions of the engine's nodes that are written in Lua.
function core.set_flow_functions(list) engine_functions = list end

local function add_module(name)
  local list = core.require((gsub(name, "/", ".")))
  local file = name .. ".lua"
  if type(list) ~= "table" then
    -- `require` remembers true for a file that returns nothing.
    local returned = list == true and "returned nothing, or true: add 'return nodes' at its end"
      or "returned " .. core.describe(list)
    error(format("%s: it must return a table of nodes, and %s", file, returned), 0)
  end
  add_nodes(gsub(match(name, "^nodes/(.+)$"), "/", ".") .. ".", file, list)
end

-- Adds the node types of a module. An error in it is reported.
function core.add_node_module(name)
  local ok, problem = pcall(add_module, name)
  if ok then return end
  local text = tostring(problem)
  local has_location = find(text, name .. ".lua:", 1, true) == 1
  core.log("error", has_location and text or name .. ".lua: " .. text)
end

-- Adds the node types of the game. A file with an error is reported, and the others are added.
local function add_game_nodes()
  for number in next, functions do functions[number] = nil end
  for _, name in ipairs(core.scripts_in("nodes")) do core.add_node_module(name) end
end

-- Adds the node types of the engine. Returns the names of the game's modules, which the caller adds
-- one by one, each in its own time; none if all were added before.
function core.begin_node_types()
  if core.flow_is_ready() then return {} end
  core.flow_add_functions()
  return core.scripts_in("nodes")
end

-- Adds all node types, when the first graph needs them.
function core.get_flow_ready()
  if core.flow_is_ready() then return end
  core.flow_add_functions()
  add_game_nodes()
end

-- Returns true if a deleted script defined node types: graphs that use them are compiled again, and
-- report it.
function core.has_nodes_among(chunks)
  if not core.flow_is_ready() then return false end
  for _, chunk in ipairs(chunks) do
    if find(chunk, "^nodes/") then return true end
  end
  return false
end

core.on("scripts_reloaded", "flow", function()
  if not core.flow_is_ready() then return end
  for name in next, nodes do nodes[name] = nil end
  core.flow_remove_nodes()
  add_game_nodes()
  core.flow_recompile()
end)

-- Returns the function of a node type; nil if the type does not exist any more.
function core.flow_function_of(number)
  local found = core.flow_function(number)
  -- The file of the node was removed or changed, and the graph could not be compiled again.
  if not found then return nil end
  local name = found[1]
  local node = nodes[name]
  local fn = node and node.run or engine_functions[name]
  if not fn then
    local module, key = match(name, "^([%w_]+)%.([%w_]+)$")
    fn = core.module(module)[key]
  end
  local known = { name = name, fn = fn, inputs = found[2], outputs = found[3], count = #found[3],
    events = found[4], names = found[5] }
  functions[number] = known
  return known
end
