-- Looks up a name with fields, such as `self.items[2]`, without calling functions of the game: the
-- debugger shows what the mouse points at.
local core = ...

core.jit.off(true, true)

local type, rawget, tonumber, pcall = type, rawget, tonumber, pcall
local match, sub = string.match, string.sub
local getmetatable = core.debug.getmetatable

local NAME_BYTES_MAX = 4096 -- bytes of a name with its fields
local LEVELS_MAX = 100 -- tables that are searched for a field, each the `__index` of the one before

-- Returns a field of a vector or another value of the engine; nil if it has none of this name.
local function engine_field(value, key)
  return value[key]
end

-- Returns a field of a table, or of the tables from which it inherits; or of a value of the engine.
local function field(value, key)
  if type(value) == "cdata" then
    -- The message about any other key could call a function of the game.
    if type(key) ~= "string" and type(key) ~= "number" then return nil end
    local ok, found = pcall(engine_field, value, key)
    return ok and found or nil
  end
  for _ = 1, LEVELS_MAX do
    if type(value) ~= "table" then return nil end
    value = core.protected[value] or value
    local found = rawget(value, key)
    if found ~= nil then return found end
    local meta = getmetatable(value)
    value = type(meta) == "table" and rawget(meta, "__index") or nil
  end
end

core.raw_field = field

-- Returns the key at the beginning of a text, and the rest of the text; nil if there is none.
-- `variable(name)` returns the value of a variable.
local function next_key(text, variable)
  local name, rest = match(text, "^%.([%a_][%w_]*)(.*)$")
  if name then return name, rest end
  local number
  number, rest = match(text, "^%[(%d+)%](.*)$")
  if number then return tonumber(number), rest end
  name, rest = match(text, "^%[([%a_][%w_]*)%](.*)$")
  if name then return variable(name), rest end
  name, rest = match(text, '^%["([^"\\]*)"%](.*)$')
  if name then return name, rest end
  return match(text, "^%['([^'\\]*)'%](.*)$")
end

-- Returns the value that a text names. `variable(name)` returns that of a variable. Returns nil and
-- a message for any other text.
function core.raw_lookup(text, variable)
  if #text > NAME_BYTES_MAX then return nil, "the name is too long (NAME_BYTES_MAX)" end
  local name, rest = match(text, "^([%a_][%w_]*)(.*)$")
  if not name then return nil, "only names and fields are shown here" end
  local value = variable(name)
  while rest ~= "" do
    local key
    key, rest = next_key(rest, variable)
    if key == nil then return nil, "only names and fields are shown here" end
    if type(value) ~= "table" and type(value) ~= "cdata" then
      return nil, "'" .. sub(text, 1, #text - #rest) .. "' is not there"
    end
    value = field(value, key)
  end
  return value
end
