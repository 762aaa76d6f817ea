-- `Unit.inspect` and `inspect_table`: a description of a unit for people and tools. The lines of
-- the engine's components are native (the column `inspect` in src/world/component_table.rs).
local core = ...

local type, next, tostring, ipairs, pcall = type, next, tostring, ipairs, pcall
local format, concat, sort = string.format, table.concat, table.sort
local V3, Q = core.ctypes.Vector3, core.ctypes.Quaternion

local Unit = core.module("Unit")

local data = core.unit_data

-- Maximum depth of nested tables in the output.
local SHOWN_DEPTH = 16

-- Formats a value. A value without its own text is shown by its type, because addresses differ from
-- run to run.
local function plain(value)
  local kind = type(value)
  if kind == "table" or kind == "function" or kind == "thread" or kind == "userdata" then
    return "a " .. kind
  end
  return tostring(value)
end

-- Formats a value, including tables. `within` is the set of tables that contain the value, because
-- a table can contain itself.
local function shown(value, depth, within)
  if type(value) == "string" then return format("%q", value) end
  if type(value) ~= "table" then return plain(value) end
  if within[value] then return " = the table that it is in" end
  if depth > SHOWN_DEPTH then return " = a table with more in it" end
  within[value] = true
  local keys, names, lines = {}, {}, {}
  for key in next, value do
    keys[#keys + 1], names[key] = key, plain(key)
  end
  sort(keys, function(a, b)
    if names[a] ~= names[b] then return names[a] < names[b] end
    return type(a) < type(b)
  end)
  for i, key in ipairs(keys) do
    local item = value[key]
    lines[i] = format("\n%s%s%s%s", ("  "):rep(depth), names[key],
      type(item) == "table" and "" or " = ", shown(item, depth + 1, within))
  end
  within[value] = nil
  return concat(lines)
end

-- Describes the rotation and scale of a node, if they are not the identity.
local function describe_transform(unit, node)
  local rotation, scale = Unit.local_rotation(unit, node), Unit.local_scale(unit, node)
  local text = ""
  if rotation ~= Q(0, 0, 0, 1) then text = " turned " .. tostring(rotation) end
  if scale ~= V3(1, 1, 1) then text = text .. " scale " .. tostring(scale) end
  return text
end

-- Returns what a script component says about a unit, or nil. One failing `inspect` does not hide
-- the other components.
local function script_text(part, unit)
  if type(part.module.inspect) ~= "function" then return nil end
  local ok, text = pcall(part.module.inspect, unit)
  return (ok and "" or "its inspect fails: ") .. tostring(text)
end

---Returns a description of a unit: its nodes with their poses, its components with their fields,
---its data. For people and tools. `Unit.inspect_table` returns it as a table.
---@param unit Unit a unit
---@return string text lines of text
---@node query
function Unit.inspect(unit)
  local native = core.inspect(unit)
  local lines = { format("unit %q (%s)", Unit.debug_name(unit), tostring(unit)), "nodes" }
  for node = 1, Unit.num_nodes(unit) do
    local position, parent = Unit.world_position(unit, node), Unit.scene_graph_parent(unit, node)
    lines[#lines + 1] = format("  %d %q%s local %s world %s%s", node, Unit.node_name(unit, node),
      parent and " on " .. parent or "", tostring(Unit.local_position(unit, node)),
      tostring(position), describe_transform(unit, node))
  end
  for _, part in ipairs(core.script_parts(unit)) do
    lines[#lines + 1] = format("component %q (%s)", part.name, part.component)
    local text = script_text(part, unit)
    if text then lines[#lines + 1] = "  " .. text end
  end
  for _, line in ipairs(native) do lines[#lines + 1] = line end
  if data[unit] then lines[#lines + 1] = "data" .. shown(data[unit], 1, {}) end
  return concat(lines, "\n")
end

---Returns a description of a unit as a table: `unit`, `name` (its resource), `world` and `level`
---(nil without one); `nodes`, a list with `name`, `parent` (an index, or nil), `position`,
---`rotation`, `scale` and `world_position` of each; `components`, a list with `name`, `component`
---(its type), `node` (an index), `fields` (from its file) and, for script components with an
---`inspect`, `text`; `state`, the lines of `Unit.inspect` about components of the engine; `data`, a
---copy of its data.
---@param unit Unit a unit
---@return table description tables and values, which the game can change
function Unit.inspect_table(unit)
  local parts, state = core.unit_parts(unit), core.inspect(unit)
  local nodes, texts = {}, {}
  for node = 1, Unit.num_nodes(unit) do
    nodes[node] = {
      name = Unit.node_name(unit, node), parent = Unit.scene_graph_parent(unit, node),
      position = Unit.local_position(unit, node), rotation = Unit.local_rotation(unit, node),
      scale = Unit.local_scale(unit, node), world_position = Unit.world_position(unit, node),
    }
  end
  for _, part in ipairs(core.script_parts(unit)) do
    texts[part.name] = script_text(part, unit)
  end
  local components = {}
  for i, part in ipairs(parts) do
    components[i] = { name = part[1], component = part[2], node = part[3], fields = part[4],
      text = texts[part[1]] }
  end
  return { unit = unit, name = Unit.debug_name(unit), world = Unit.world(unit),
    level = Unit.level(unit), nodes = nodes, components = components, state = state,
    data = core.copy(data[unit] or {}) }
end
