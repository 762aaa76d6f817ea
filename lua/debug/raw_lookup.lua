-- Looks up a name with fields, such as `self.items[2]`, without calling functions of the game: the
-- debugger shows what the mouse points at.
local core = ...

core.jit.off(true, true)

local type, rawget, tonumber = type, rawget, tonumber
local match, sub = string.match, string.sub
local getmetatable = core.debug.getmetatable

local LEVELS_MAX = 100 -- tables that are searched for a field, each the `__index` of the one before

-- Returns a field of a table, or of the tables from which it inherits.
local function field(value, key)
  for _ = 1, LEVELS_MAX do
    if type(value) ~= "table" then return nil end
    value = core.protected[value] or value
    local found = rawget(value, key)
    if found ~= nil then return found end
    local meta = getmetatable(value)
    value = type(meta) == "table" and rawget(meta, "__index") or nil
  end
end

-- Returns the key at the beginning of a text, and the rest of the text; nil if there is none.
local function next_key(text)
  local name, rest = match(text, "^%.([%a_][%w_]*)(.*)$")
  if name then return name, rest end
  local number
  number, rest = match(text, "^%[(%d+)%](.*)$")
  if number then return tonumber(number), rest end
  name, rest = match(text, '^%["([^"\\]*)"%](.*)$')
  if name then return name, rest end
  return match(text, "^%['([^'\\]*)'%](.*)$")
end

-- Returns the value that a text names. `variable(name)` returns that of a variable. Returns nil and
-- a message for any other text.
function core.raw_lookup(text, variable)
  local name, rest = match(text, "^([%a_][%w_]*)(.*)$")
  if not name then return nil, "only names and fields are shown here" end
  local value = variable(name)
  while rest ~= "" do
    local key
    key, rest = next_key(rest)
    if key == nil then return nil, "only names and fields are shown here" end
    if type(value) ~= "table" then
      return nil, "'" .. sub(text, 1, #text - #rest) .. "' is not there"
    end
    value = field(value, key)
  end
  return value
end
