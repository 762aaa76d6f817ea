-- Values of graphs in Lua: reading the inputs of a function, and storing its results one by one, so
-- that a call of a node allocates nothing. The slots are native (src/script/api/flow/mod.rs). The
-- functions are looked up late, because their forms for compiled Lua are installed after this file
-- has run.
local core = ...

local type, pairs, format = type, pairs, string.format
local istype = core.ffi.istype
local V2, V3, Q = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Quaternion
local ColorType = core.ctypes.Color

-- Numbers from here on can be objects where a graph expects no type (src/foundation/handle.rs).
local HANDLE_MIN = 2 ^ 40
local HANDLES = { unit = true, actor = true, level = true, world = true, handle = true }

-- Returns the input with an index from 1.
function core.flow_value(at)
  local tag = core.flow_input_tag(at)
  if tag == 1 or tag == 7 then return core.flow_input_number(at) end
  if tag == 0 then return nil end
  if tag == 2 then return core.flow_input_number(at) ~= 0 end
  if tag == 3 then return core.flow_input_text(at) end
  if tag == 4 then return core.flow_input_vector(at) end
  if tag == 5 then return core.flow_input_rotation(at) end
  if tag == 6 then return core.flow_input_color(at) end
  local before, items = core.flow_open_list(at)
  local list = {}
  for i = 1, items do list[i] = core.flow_value(before + i) end
  core.flow_close_list(before)
  return list
end

-- Completes the message for a text or a list that graphs do not keep.
local function kept(message)
  return message and "cannot be kept: " .. message
end

-- Stores a value as the next result. Returns a message if graphs have no such values.
local function store(value, kind)
  local lua = type(value)
  if lua == "number" then
    if value ~= value or value - value ~= 0 then
      return "must be a finite number, got " .. core.describe(value)
    elseif HANDLES[kind] then
      if not core.flow_result_handle(value) then
        return format("must be a%s %s, got %s", kind == "actor" and "n" or "", kind,
          core.describe(value))
      end
    elseif kind == "number" or value < HANDLE_MIN or not core.flow_result_object(value) then
      core.flow_result_number(value)
    end
  elseif lua == "boolean" then
    core.flow_result_boolean(value)
  elseif lua == "string" then
    return kept(core.flow_result_text(value))
  elseif lua == "nil" then
    core.flow_result_nil()
  elseif lua == "cdata" and istype(V3, value) then
    core.flow_result_vector(value)
  elseif lua == "cdata" and istype(Q, value) then
    core.flow_result_rotation(value)
  elseif lua == "cdata" and istype(ColorType, value) then
    core.flow_result_color(value)
  elseif lua == "cdata" and istype(V2, value) then
    core.flow_result_vector(V3(value.x, value.y, 0))
  else
    return "is no value of a graph, got " .. core.describe(value)
  end
end

-- Stores a value, which can be a list, as the next result. Returns a message for other values.
function core.flow_store(value, kind)
  core.flow_clear_results()
  local message = core.flow_add_result(value, kind)
  if message then core.flow_clear_results() end
  return message
end

-- Adds a value, which can be a list, to the results. Returns a message for other values.
function core.flow_add_result(value, kind)
  if type(value) ~= "table" then return store(value, kind) end
  local count = #value
  local fields = 0
  for _ in pairs(value) do fields = fields + 1 end
  if fields ~= count then return "is no list: it has keys other than 1, 2, 3 …" end
  for i = 1, count do
    local message = type(value[i]) == "table" and "is a list" or store(value[i])
    if message then return format("item %d of the list %s", i, message) end
  end
  return kept(core.flow_result_list(count))
end
