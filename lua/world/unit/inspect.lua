-- `Unit.inspect`: a description of a unit for people and tools. Other files add the lines of their
-- components (the event `unit_inspect`).
local core = ...

local type, next, tostring, ipairs = type, next, tostring, ipairs
local format, concat, sort = string.format, table.concat, table.sort
local V3, Q = core.ctypes.Vector3, core.ctypes.Quaternion

local Unit = core.module("Unit")

local data, unit_inspect = core.unit_data, core.event("unit_inspect")

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

---Returns a description of a unit: its nodes with their poses, its components with their fields,
---its data. For people and tools.
---@param unit Unit a unit
---@return string text lines of text
function Unit.inspect(unit)
  core.inspect(unit)
  local lines = { format("unit %q (%s)", Unit.debug_name(unit), tostring(unit)), "nodes" }
  for node = 1, Unit.num_nodes(unit) do
    local position, parent = Unit.world_position(unit, node), Unit.scene_graph_parent(unit, node)
    lines[#lines + 1] = format("  %d %q%s local %s world %s%s", node, Unit.node_name(unit, node),
      parent and " on " .. parent or "", tostring(Unit.local_position(unit, node)),
      tostring(position), describe_transform(unit, node))
  end
  unit_inspect(unit, lines)
  if data[unit] then lines[#lines + 1] = "data" .. shown(data[unit], 1, {}) end
  return concat(lines, "\n")
end
