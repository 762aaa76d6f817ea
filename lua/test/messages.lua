-- Messages of the test library: `say` (messages by key) and the formatting of values in a failure.
-- Independent of assertions; assert.lua selects the active formatters.
local core = ...

local type, tostring, error, setmetatable, unpack = type, tostring, error, setmetatable, unpack
local format, rep, gmatch, concat = string.format, string.rep, string.gmatch, table.concat
local max = math.max
local getinfo, getmetatable_raw = core.debug.getinfo, core.debug.getmetatable

local STRING_CHARS_MAX = 600 -- longer strings are cut, around their first difference if any
local TABLE_LINES_MAX = 1000 -- lines of one table; beyond it only the path to the difference

local kit = core.test.kit
local diff = kit.diff
kit.own(getinfo(1, "S").source)

-- say: message strings by namespace ---------------------------------------------------------------

local registry, namespace, fallback = {}, "en", "en"
local say = { _registry = registry }

function say:set_namespace(name)
  namespace = name
  registry[name] = registry[name] or {}
end

function say:set_fallback(name)
  fallback = name
  registry[name] = registry[name] or {}
end

function say:set(key, value)
  registry[namespace][key] = value
end

local function look_up(key)
  local text = registry[namespace][key]
  if text == nil then
    text = registry[fallback][key]
  end
  return text
end

setmetatable(say, {
  __index = function(_, key)
    return registry[key]
  end,
  __call = function(_, key, values)
    if values ~= nil and type(values) ~= "table" then
      error(format("expected parameter table to be a table, got '%s'", type(values)), 2)
    end
    local text = key ~= nil and look_up(key) or nil
    if text == nil then
      return nil
    end
    local texts, count = {}, values and max(values.n or 0, #values) or 0
    for i = 1, count do
      texts[i] = tostring(values[i])
    end
    text = tostring(text)
    return count > 0 and format(text, unpack(texts, 1, count)) or text
  end,
})
say:set_fallback("en")
say:set_namespace("en")
kit.say = say

-- Formatters -----------------------------------------------------------------------------------

local function number_text(n)
  if n ~= n then
    return "NaN"
  elseif n == 1 / 0 then
    return "Inf"
  elseif n == -1 / 0 then
    return "-Inf"
  end
  return format("%.20g", n)
end

local COLORS = { black = 30, red = 31, green = 32, yellow = 33, blue = 34, magenta = 35, cyan = 36,
  white = 37 }

local function highlighted(mark, color)
  for name in gmatch(color or "none", "[^%.]+") do
    if COLORS[name] then
      mark = format("\27[%dm%s\27[0m", COLORS[name], mark)
    end
  end
  return mark
end

local format_table

local function inner_value(value, state, depth, on_path)
  local kind = type(value)
  if kind == "table" then
    if kit.is_matcher(value) then
      return kit.format_value(value)
    end
    return format_table(value, state, depth + 1, on_path)
  elseif kind == "string" then
    return "'" .. diff.shortened(value, 1, STRING_CHARS_MAX) .. "'"
  elseif kind == "number" then
    return number_text(value)
  end
  return tostring(value)
end

format_table = function(t, state, depth, on_path)
  local keys, count = diff.sorted_keys(t)
  if count == 0 then
    return "{ }"
  elseif state.show_cycles and state.open[t] then
    return "{ ... recursive }"
  elseif state.levels >= 0 and depth > state.levels then
    return "{ ... more }"
  end
  state.open[t] = true
  local lines, left_out = { "{" }, 0
  for i = 1, count do
    local key = keys[i]
    local crumbs = state.crumbs
    local marked = on_path and crumbs and #crumbs >= depth and crumbs[#crumbs - depth + 1] == key
    local indent = rep(" ", depth * 2)
    if marked then
      indent = rep(" ", max(0, depth * 2 - #state.mark)) .. highlighted(state.mark, state.color)
    end
    state.lines = state.lines + 1
    if marked or state.lines <= TABLE_LINES_MAX then
      local text = inner_value(t[key], state, depth, marked)
      lines[#lines + 1] = format("%s[%s] = %s", indent, tostring(key), text)
    else
      left_out = left_out + 1
    end
  end
  if left_out > 0 then
    lines[#lines + 1] = format("%s... (%d more)", rep(" ", depth * 2), left_out)
  end
  state.open[t] = nil
  return concat(lines, "\n") .. " }"
end

local function table_text(t, extra)
  local meta = getmetatable_raw(t)
  local name = not (meta and meta.__tostring) and tostring(t) or format("table: %p", t)
  local levels = kit.parameter("TableFormatLevel") or 3
  local state = {
    open = {},
    lines = 0,
    levels = levels,
    show_cycles = levels < 0 or kit.parameter("TableFormatShowRecursion"),
    crumbs = extra and extra.crumbs,
    mark = kit.parameter("TableErrorHighlightCharacter") or "",
    color = kit.parameter("TableErrorHighlightColor"),
  }
  return "(" .. name .. ") " .. format_table(t, state, 1, true)
end

local function matcher_text(matcher)
  if not matcher.name then
    return "(matcher) _ *anything*"
  end
  local texts = {}
  for i = 1, matcher.arguments.n do
    texts[i] = kit.format_value(matcher.arguments[i]) or tostring(matcher.arguments[i])
  end
  local sign = matcher.mod and "is." or "no."
  return format("(matcher) %s%s(%s)", sign, matcher.name, concat(texts, ", "))
end

local function list_text(list)
  local texts = {}
  for i = 1, list.n do
    texts[i] = kit.format_value(list[i]) or tostring(list[i])
  end
  return "(values list) (" .. concat(texts, ", ") .. ")"
end

local function default_text(value, extra)
  local kind = type(value)
  if kind == "string" then
    if extra and extra.window then
      value = diff.shortened(value, extra.window, STRING_CHARS_MAX)
    end
    return "(string) '" .. value .. "'"
  elseif kind == "number" then
    return "(number) " .. number_text(value)
  elseif kind == "boolean" then
    return "(boolean) " .. tostring(value)
  elseif kind == "nil" then
    return "(nil)"
  elseif kind == "table" then
    if kit.is_list(value) then
      return list_text(value)
    elseif kit.is_matcher(value) then
      return matcher_text(value)
    end
    return table_text(value, extra)
  elseif kind == "function" then
    local info = getinfo(value, "S")
    return format("%s @ line %d in %s", tostring(value), info.linedefined, info.source)
  elseif kind == "cdata" then
    return "(cdata) " .. tostring(value)
  end
  return format("(%s) '%s'", kind, tostring(value))
end
kit.default_text = default_text
