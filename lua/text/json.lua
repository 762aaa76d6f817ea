-- Json: conversion of JSON text (RFC 8259) to tables and back. File access, and SJSON for
-- resources, are elsewhere.
local core = ...

local type, next, pcall, error = type, next, pcall, error
local tonumber, tostring, setmetatable = tonumber, tostring, setmetatable
local byte, find, format = string.byte, string.find, string.format
local len, rep, sub = string.len, string.rep, string.sub
local concat = table.concat
-- Variants with limits (lua/boot/strings.lua, lua/boot/tables.lua), because there may be many keys
-- and long texts.
local gsub, sort = core.string.gsub, core.table.sort
local floor, huge = math.floor, math.huge
local raise, bad_argument, describe = core.raise, core.bad_argument, core.describe
local check_options, read_long_number = core.check_options, core.read_long_number
local utf8_invalid_at, utf8_encode = core.utf8_invalid_at, core.utf8_encode

local DEPTH_MAX = 512 -- nesting of tables or brackets
local INDENT_MAX = 16 -- spaces per level
local TEXT_BYTES_MAX = 64 * 1024 * 1024 -- of an encoded text
local VALUES_MAX = 2 ^ 22 -- in an encoded text
local PIECES_MAX = 65536 -- pieces of a text before they are joined
local SHOWN_BYTES_MAX = 40 -- of a number in an error message
local EXACT = 2 ^ 53 -- whole numbers up to here are exact
local EXACT_SHOWN = 1e14 -- `tostring` shows whole numbers below this in full
local EXACT_DIGITS = 15 -- whole numbers of this many digits are exact

---@module Json
---@node hidden
---Reads and writes JSON, strictly as in RFC 8259: no comments, no trailing commas. null is
---`Json.null`, so that no key and no element of an array is lost. A table with keys 1 to n is an
---array, and a table with string keys is an object; mixed keys and holes are errors. An empty table
---is an object, unless `Json.array` marked it; an empty array that was read is marked. If a key is
---repeated, the last value is used. Numbers are doubles: whole numbers are exact to 2^53, a number
---beyond 1.8e308 is an error, and a number too near to 0 becomes 0. Keys are written in sorted
---order, so that equal tables give equal text. 512 levels are allowed.
---@example
---   local save = Json.decode('{"level": 3, "items": ["sword", null]}')
---   assert(save.level == 3 and save.items[2] == Json.null)
---   assert(Json.encode({ b = 1, a = Json.array() }) == '{"a":[],"b":1}')
---   local broken, problem = Json.try_decode("[1, 2")
---   print(broken, problem)

---@class Json
---@field null table represents null when reading and writing; compare with `value == Json.null`
local Json = core.module("Json")

local null = setmetatable({}, {
  __tostring = function() return "Json.null" end,
  __index = function(_, key)
    raise("'" .. tostring(key) .. "' is read from Json.null: ask `value == Json.null` first")
  end,
  __newindex = function(_, key)
    raise("'" .. tostring(key) .. "' is set in Json.null: ask `value == Json.null` first")
  end,
  __metatable = "Json.null",
})
Json.null = null

-- Tables marked as arrays. The keys are weak: a mark does not keep its table alive.
local marked = setmetatable({}, { __mode = "k" })

-- Error value for syntax errors. It distinguishes them from all other errors.
local fault = {}

local function fail(text, at, message)
  local line, line_start = 1, 1
  while true do
    local newline = find(text, "\n", line_start, true)
    if not newline or newline >= at then break end
    line, line_start = line + 1, newline + 1
  end
  local column = 1
  for i = line_start, at - 1 do
    local b = byte(text, i)
    if b < 0x80 or b > 0xBF then column = column + 1 end
  end
  fault.message = format("line %d, column %d: %s", line, column, message)
  error(fault, 0)
end

-- Describes the character at a position, for an error message.
local function describe_character(text, at)
  local b = byte(text, at)
  if not b then return "the end of the text" end
  if b < 0x20 or b == 0x7F then return format("the control character 0x%02X", b) end
  if b < 0x80 then return "'" .. sub(text, at, at) .. "'" end
  local last = at
  while (byte(text, last + 1) or 0) >= 0x80 and byte(text, last + 1) < 0xC0 do last = last + 1 end
  return "'" .. sub(text, at, last) .. "'"
end

local function skip_space(text, i)
  local b = byte(text, i)
  while b == 32 or b == 10 or b == 13 or b == 9 do
    i = i + 1
    b = byte(text, i)
  end
  return i, b
end

local ESCAPES = {
  [34] = "\"", [92] = "\\", [47] = "/", [98] = "\b", [102] = "\f", [110] = "\n", [114] = "\r",
  [116] = "\t",
}

local function read_unit(text, at)
  local digits = sub(text, at + 2, at + 5)
  if sub(text, at, at + 1) ~= "\\u" or not find(digits, "^%x%x%x%x$") then
    fail(text, at, "\\u is followed by four hexadecimal digits")
  end
  return tonumber(digits, 16)
end

-- Returns the text of a \u escape at `at`, and the position after it.
local function read_code(text, at)
  local unit = read_unit(text, at)
  if unit >= 0xDC00 and unit <= 0xDFFF then
    fail(text, at, format("\\u%04X is the second half of a pair, but the first is missing", unit))
  end
  if unit < 0xD800 or unit > 0xDBFF then return utf8_encode(unit), at + 6 end
  local second = sub(text, at + 6, at + 7) == "\\u" and read_unit(text, at + 6) or 0
  if second < 0xDC00 or second > 0xDFFF then
    fail(text, at, format("\\u%04X is the first half of a pair, but the second is missing", unit))
  end
  return utf8_encode(0x10000 + (unit - 0xD800) * 0x400 + (second - 0xDC00)), at + 12
end

-- Reads the rest of a string that has an escape or an error at `at`; `from` is the string's start.
local function read_escaped(text, from, at)
  local pieces, size, start = {}, 0, from
  while true do
    local b = byte(text, at)
    if b == 34 then
      pieces[size + 1] = sub(text, start, at - 1)
      return concat(pieces), at + 1
    elseif b == 92 then
      pieces[size + 1] = sub(text, start, at - 1)
      size = size + 2
      local code = byte(text, at + 1)
      if code == 117 then
        pieces[size], at = read_code(text, at)
      elseif ESCAPES[code] then
        pieces[size], at = ESCAPES[code], at + 2
      else
        fail(text, at, "a backslash is followed by one of \" \\ / b f n r t u, got "
          .. describe_character(text, at + 1))
      end
      start = at
    elseif not b then
      fail(text, from - 1, "this string has no closing quote")
    elseif b < 32 then
      local found = describe_character(text, at)
      fail(text, at, found .. format(" must be written as \\u%04X in a string", b))
    else
      at = at + 1
    end
  end
end

-- Reads a string. `i` is the position after the opening quote.
local function read_string(text, i)
  local at = i
  while true do
    local b = byte(text, at)
    if b == 34 then return sub(text, i, at - 1), at + 1 end
    if not b or b == 92 or b < 32 then return read_escaped(text, i, at) end
    at = at + 1
  end
end

-- Returns the position after one or more digits.
local function skip_digits(text, i, message)
  local b = byte(text, i)
  if not b or b < 48 or b > 57 then
    fail(text, i, "a digit is expected " .. message .. ", got " .. describe_character(text, i))
  end
  while b and b >= 48 and b <= 57 do
    i = i + 1
    b = byte(text, i)
  end
  return i, b
end

local function read_number(text, from, b)
  local i, value = from, 0
  if b == 45 then
    i = i + 1
    b = byte(text, i)
  end
  local first = i
  if b == 48 then
    i = i + 1
    b = byte(text, i)
    if b and b >= 48 and b <= 57 then fail(text, i - 1, "a number does not begin with 0") end
  else
    if not b or b < 48 or b > 57 then
      fail(text, i, "a digit is expected after '-', got " .. describe_character(text, i))
    end
    while b and b >= 48 and b <= 57 do
      value = value * 10 + (b - 48)
      i = i + 1
      b = byte(text, i)
    end
  end
  if b ~= 46 and b ~= 101 and b ~= 69 and i - first <= EXACT_DIGITS then
    if first > from then return -value, i end
    return value, i
  end
  if b == 46 then i, b = skip_digits(text, i + 1, "after '.'") end
  if b == 101 or b == 69 then
    b = byte(text, i + 1)
    i = skip_digits(text, (b == 43 or b == 45) and i + 2 or i + 1, "in an exponent")
  end
  local digits = sub(text, from, i - 1)
  value = tonumber(digits) or read_long_number(digits)
  if value == huge or value == -huge then
    if #digits > SHOWN_BYTES_MAX then digits = sub(digits, 1, SHOWN_BYTES_MAX) .. "…" end
    fail(text, from, "the number " .. digits .. " is too large for a double")
  end
  return value, i
end

local HINTS = {
  [35] = "JSON has no comments", [39] = "strings are in double quotes",
  [43] = "numbers have no '+'", [46] = "write a 0 before the point",
  [47] = "JSON has no comments", [61] = "a ':' is between key and value",
}

local function fail_due(text, i, due)
  local hint = HINTS[byte(text, i)]
  local found = describe_character(text, i)
  fail(text, i, due .. " is expected, got " .. found .. (hint and ": " .. hint or ""))
end

local read_value

local function read_array(text, i, depth)
  local array, size, b = {}, 0, nil
  i, b = skip_space(text, i)
  if b == 93 then
    marked[array] = true
    return array, i + 1
  end
  while true do
    size = size + 1
    array[size], i = read_value(text, i, b, depth)
    i, b = skip_space(text, i)
    if b == 93 then return array, i + 1 end
    if b ~= 44 then fail_due(text, i, "',' or ']'") end
    i, b = skip_space(text, i + 1)
    if b == 93 then
      fail(text, i, "a value is expected after ',', got ']': JSON has no trailing commas")
    end
  end
end

local function read_object(text, i, depth)
  local object, key, b = {}, nil, nil
  i, b = skip_space(text, i)
  if b == 125 then return object, i + 1 end
  while true do
    if b ~= 34 then
      if b == 125 then
        fail(text, i, "a key is expected after ',', got '}': JSON has no trailing commas")
      end
      fail_due(text, i, "a key in double quotes")
    end
    key, i = read_string(text, i + 1)
    i, b = skip_space(text, i)
    if b ~= 58 then fail_due(text, i, "':'") end
    i, b = skip_space(text, i + 1)
    object[key], i = read_value(text, i, b, depth)
    i, b = skip_space(text, i)
    if b == 125 then return object, i + 1 end
    if b ~= 44 then fail_due(text, i, "',' or '}'") end
    i, b = skip_space(text, i + 1)
  end
end

-- Reads a value. `b` is the byte at `i`; `depth` is the number of tables around the value.
function read_value(text, i, b, depth)
  if b == 34 then return read_string(text, i + 1) end
  if b == 123 or b == 91 then
    if depth >= DEPTH_MAX then
      fail(text, i, "more than " .. DEPTH_MAX .. " arrays and objects inside each other")
    end
    if b == 123 then return read_object(text, i + 1, depth + 1) end
    return read_array(text, i + 1, depth + 1)
  end
  if b == 45 or (b and b >= 48 and b <= 57) then return read_number(text, i, b) end
  if b == 116 and sub(text, i, i + 3) == "true" then return true, i + 4 end
  if b == 102 and sub(text, i, i + 4) == "false" then return false, i + 5 end
  if b == 110 and sub(text, i, i + 3) == "null" then return null, i + 4 end
  fail_due(text, i, "a value")
end

local function read_text(text)
  if sub(text, 1, 3) == "\239\187\191" then
    fail(text, 1, "the text begins with a byte order mark: save it without one")
  end
  local invalid = utf8_invalid_at(text)
  if invalid then
    fail(text, invalid, format("byte 0x%02X is not valid UTF-8: save the text as UTF-8",
      byte(text, invalid)))
  end
  local i, b = skip_space(text, 1)
  local value
  value, i = read_value(text, i, b, 0)
  i, b = skip_space(text, i)
  if b then
    fail(text, i, "the text continues after its value with " .. describe_character(text, i))
  end
  return value
end

local function decode(text)
  local ok, value = pcall(read_text, text)
  if ok then return value end
  if value == fault then return nil, fault.message end
  error(value, 0)
end

---Reads a JSON text. Raises an error with line and column if the text is invalid. Use
---`Json.try_decode` if errors are to be expected, for example in text from players or servers.
---@param text string the whole text
---@return any a table, string, number, boolean or `Json.null`
function Json.decode(text)
  if type(text) ~= "string" then bad_argument("Json.decode", 1, "text", "string", text) end
  local value, problem = decode(text)
  if value == nil then raise("Json.decode: " .. problem) end
  return value
end

---Reads a JSON text that may be invalid.
---@param text string the whole text
---@return any value the result of `Json.decode`, or nil
---@return string? problem the error with its line and column
function Json.try_decode(text)
  if type(text) ~= "string" then bad_argument("Json.try_decode", 1, "text", "string", text) end
  return decode(text)
end

---Marks a table as an array, so that it is written as [] if it is empty.
---@param values? table the table; a new table if left out
---@return table the same table
function Json.array(values)
  if values == nil then values = {} end
  if type(values) ~= "table" then
    bad_argument("Json.array", 1, "values", "table or nil", values)
  end
  marked[values] = true
  return values
end

-- Returns the path to the current value, for an error message. The state of an encode has the
-- pieces of text and their count, the keys that lead to the value, quoted keys, open tables and the
-- options.
local function path_of(state, depth)
  local path = "$"
  for i = 1, depth do
    local key = state.keys[i]
    if type(key) == "number" then
      path = path .. "[" .. key .. "]"
    elseif find(key, "^[%a_][%w_]*$") then
      path = path .. "." .. key
    else
      path = path .. format("[%q]", key)
    end
  end
  return path
end

local function refuse(state, depth, message)
  raise("Json.encode: " .. path_of(state, depth) .. " " .. message)
end

local function put(state, text)
  local size, bytes = state.size + 1, state.bytes + #text
  if bytes > TEXT_BYTES_MAX then
    raise("Json.encode: the text would have more than 64 MiB (TEXT_BYTES_MAX; a table that is "
      .. "reached twice is written twice): write it in parts")
  end
  state[size] = text
  if size == PIECES_MAX then
    state.parts[#state.parts + 1] = concat(state, "", 1, size)
    size = 0
  end
  state.size, state.bytes = size, bytes
end

local CONTROL = {}
for code = 0, 31 do CONTROL[string.char(code)] = format("\\u%04x", code) end
for code, letter in next, { [8] = "b", [9] = "t", [10] = "n", [12] = "f", [13] = "r" } do
  CONTROL[string.char(code)] = "\\" .. letter
end
CONTROL["\""], CONTROL["\\"] = "\\\"", "\\\\"

local function quoted_slowly(state, text, depth)
  local invalid = utf8_invalid_at(text)
  if invalid then
    refuse(state, depth, format("is not valid UTF-8 at byte %d (0x%02X); Utf8.clean repairs it",
      invalid, byte(text, invalid)))
  end
  return "\"" .. gsub(text, "[%z\1-\31\"\\]", CONTROL) .. "\""
end

-- Most strings are plain. LuaJIT compiles a loop over bytes, but not a pattern search.
local function quoted(state, text, depth)
  for i = 1, len(text) do
    local b = byte(text, i)
    if b < 32 or b == 34 or b == 92 or b > 126 then return quoted_slowly(state, text, depth) end
  end
  return "\"" .. text .. "\""
end

local function put_number(state, value, depth)
  if value ~= value or value == huge or value == -huge then
    local shown = value ~= value and "NaN" or value > 0 and "inf" or "-inf"
    refuse(state, depth, "is " .. shown .. ", which JSON cannot write")
  end
  if value == floor(value) and value <= EXACT and value >= -EXACT then
    if value == 0 and 1 / value < 0 then return put(state, "-0") end
    if value < EXACT_SHOWN and value > -EXACT_SHOWN then return put(state, tostring(value)) end
    return put(state, format("%d", value))
  end
  local text = format("%.14g", value)
  if tonumber(text) ~= value then
    text = format("%.16g", value)
    if tonumber(text) ~= value then text = format("%.17g", value) end
  end
  put(state, text)
end

local function put_line(state, depth)
  if state.indent then
    put(state, "\n")
    put(state, rep(state.indent, depth))
  end
end

-- Returns the size of a table that is an array, or nil for an object. Raises if the table is
-- neither.
local function array_size(state, value, depth)
  local names, elements, top = 0, 0, 0
  for key in next, value do
    if type(key) == "string" then
      names = names + 1
    elseif type(key) == "number" and key >= 1 and key == floor(key) then
      elements = elements + 1
      if key > top then top = key end
    else
      refuse(state, depth, "has the key " .. describe(key)
        .. "; keys are strings, or 1 to n in an array")
    end
  end
  if elements > 0 and names > 0 then
    refuse(state, depth, "has both strings and numbers as keys; JSON has objects or arrays")
  end
  if top > elements then
    refuse(state, depth, "has " .. elements .. " values up to index " .. top
      .. "; an array has no holes, put Json.null in them")
  end
  if marked[value] then
    if names > 0 then refuse(state, depth, "is marked by Json.array, but has strings as keys") end
    return elements
  end
  return elements > 0 and elements or nil
end

local put_value

local function put_array(state, value, size, depth)
  if size == 0 then return put(state, "[]") end
  put(state, "[")
  for i = 1, size do
    if i > 1 then put(state, ",") end
    put_line(state, depth + 1)
    state.keys[depth + 1] = i
    put_value(state, value[i], depth + 1)
  end
  put_line(state, depth)
  put(state, "]")
end

local function put_member(state, key, value, depth)
  put_line(state, depth)
  state.keys[depth] = key
  local text = state.quoted_keys[key]
  if not text then
    text = quoted(state, key, depth) .. (state.indent and ": " or ":")
    state.quoted_keys[key] = text
  end
  put(state, text)
  put_value(state, value, depth)
end

local function put_object(state, value, depth)
  if next(value) == nil then return put(state, "{}") end
  put(state, "{")
  local first = true
  if state.sort then
    local keys, count = {}, 0
    for key in next, value do
      count = count + 1
      keys[count] = key
    end
    sort(keys)
    for i = 1, count do
      if i > 1 then put(state, ",") end
      put_member(state, keys[i], value[keys[i]], depth + 1)
    end
  else
    for key, member in next, value do
      if not first then put(state, ",") end
      first = false
      put_member(state, key, member, depth + 1)
    end
  end
  put_line(state, depth)
  put(state, "}")
end

local function put_table(state, value, depth)
  local open = state.open
  if open[value] then
    refuse(state, depth, "leads back to " .. path_of(state, open[value] - 1)
      .. ": a table cannot hold itself")
  end
  if depth >= DEPTH_MAX then
    raise("Json.encode: more than " .. DEPTH_MAX .. " tables inside each other")
  end
  open[value] = depth + 1
  local size = array_size(state, value, depth)
  if size then put_array(state, value, size, depth) else put_object(state, value, depth) end
  open[value] = nil
end

-- Writes a value. `depth` is the number of keys that lead to the value.
function put_value(state, value, depth)
  local kind, values = type(value), state.values + 1
  if values > VALUES_MAX then
    raise("Json.encode: there are more than " .. VALUES_MAX .. " values (VALUES_MAX; a table that "
      .. "is reached twice counts twice): write them in parts")
  end
  state.values = values
  if kind == "string" then return put(state, quoted(state, value, depth)) end
  if kind == "number" then return put_number(state, value, depth) end
  if kind == "boolean" then return put(state, value and "true" or "false") end
  if value == null then return put(state, "null") end
  if kind == "table" then return put_table(state, value, depth) end
  if kind == "nil" then refuse(state, depth, "is nil; null is Json.null") end
  refuse(state, depth, "is a " .. (kind == "cdata" and describe(value) or kind)
    .. "; JSON has tables, strings, numbers, booleans and Json.null")
end

local OPTIONS = { indent = true, sort = true }

---Writes a value as JSON text. Fields of metatables are ignored. Options: `indent`, the spaces per
---level, from 1 to 16, puts each value on a separate line; `sort = false` writes keys in an
---undefined order, which is faster.
---@param value any a table, string, number, boolean or `Json.null`
---@param options? table indent, sort
---@return string valid UTF-8
function Json.encode(value, options)
  local state = {
    size = 0, bytes = 0, values = 0, parts = {}, keys = {}, quoted_keys = {}, open = {},
    sort = true,
  }
  if options ~= nil then
    check_options("Json.encode", 2, "options", options, OPTIONS)
    local indent, sorted = options.indent, options.sort
    if indent ~= nil then
      if type(indent) ~= "number" or not (indent >= 1 and indent <= INDENT_MAX)
        or indent ~= floor(indent) then
        raise("Json.encode: option 'indent' must be a whole number from 1 to " .. INDENT_MAX
          .. ", got " .. describe(indent))
      end
      state.indent = rep(" ", indent)
    end
    if sorted ~= nil and type(sorted) ~= "boolean" then
      raise("Json.encode: option 'sort' must be a boolean, got " .. describe(sorted))
    end
    state.sort = sorted ~= false
  end
  put_value(state, value, 0)
  local parts = state.parts
  parts[#parts + 1] = concat(state, "", 1, state.size)
  return concat(parts)
end
