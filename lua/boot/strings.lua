-- Bounded string and table functions. They replace those functions of the games' `string` and
-- `table` that run inside C for a time that depends on their input, where no watchdog can stop
-- them. This file adds no functions; which functions games can access is decided elsewhere. Native
-- functions, for checked strings and 1-based positions in 1..#s+1:
--
--   core.match(s, pattern, init, budget)  start, end, captures… as string.find; nil; or false and
--                                         the fault of the pattern; or false: budget spent
--   core.match_limit(pattern, steps)      the longest s that takes at most `steps` in C
--   core.find_plain(s, needle, init)      start or nil, in linear time
--
-- The rule: a call that is sure to end within some tenths of a second goes directly to LuaJIT's own
-- function, as a tail call, so that its messages and error positions stay the same. Any other call
-- runs in Lua loops, which the watchdog can stop, around native steps with a budget, or it is
-- rejected.
--
-- tests/bad_input/bounds/table.sjson lists every function that a game can access, with its bounds.
-- A test fails if a function is missing there, and calls each function with extreme arguments.
--
-- Operations that are bounded by allocation (.. in a loop, string.format of giant strings) stop at
-- the memory limit. Not covered: strings constructed to share one hash, which slow down the string
-- table.

local core = ...

-- Maximum bytes of one string that rep, concat and the slow gsub build.
local STRING_BYTES_MAX = 64 * 1024 * 1024
-- Maximum steps of a pattern in LuaJIT's own matcher, which cannot be stopped: about 0.2 s.
local DIRECT_STEPS_MAX = 5e7
-- Steps after which the native matcher stops: 0.3 to 0.6 s.
local BUDGET_STEPS_MAX = 1e8
-- Maximum bytes of text x bytes of needle in a plain search by memchr and memcmp: up to 0.1 s.
local PLAIN_WORK_DIRECT = 2e9
-- Maximum bytes of text in a direct gsub: at most one replacement per byte, 0.15 us at worst.
local GSUB_BYTES_DIRECT = 1e6
-- Maximum bytes of text x bytes of replacement in a direct gsub: a capture costs up to 0.2 us.
local GSUB_WORK_DIRECT = 2e6
-- Maximum number of items that table.concat joins without measuring them first.
local CONCAT_ITEMS_DIRECT = 256
-- Length limit, in bytes, of each of them and of the separator: 32 MiB in total.
local CONCAT_BYTES_DIRECT = 65536
-- Number of items joined at a time if there are more.
local CONCAT_ITEMS_CHUNK = 65536
-- Maximum number of patterns with a cached estimate, and maximum length of such a pattern.
local PATTERNS_CACHED_MAX = 1024
local PATTERN_BYTES_CACHED = 1024

local string, table = core.string, core.table
local raise, has_native_stack = core.raise, core.has_native_stack
local core_match, core_find_plain, core_limit = core.match, core.find_plain, core.match_limit
local type, tostring, tonumber, next, select = type, tostring, tonumber, next, select
local rawget, floor, ceil, min, huge = rawget, math.floor, math.ceil, math.min, math.huge
local string_find, string_match, string_rep = string.find, string.match, string.rep
local string_gmatch, string_gsub, string_sub = string.gmatch, string.gsub, string.sub
local byte, format = string.byte, string.format
local table_concat = table.concat
local new_table = require("table.new")

local CARET = byte("^")

-- Creates a cache for patterns and formats, with its full size allocated from the start. Compiled
-- code embeds the position of a constant key in such a table, and falls back to slower code
-- permanently when the table grows.
local function cache()
  return new_table(0, PATTERNS_CACHED_MAX)
end

-- Error messages

local function with_commas(n)
  local digits, count = format("%.0f", n), 1
  while count > 0 do
    digits, count = string_gsub(digits, "^(-?%d+)(%d%d%d)", "%1,%2")
  end
  return digits
end

local function raise_too_long(name, bytes)
  raise(format("%s: the result would have %s bytes, a string may have %s: build it in parts", name,
    bytes < 1e15 and with_commas(bytes) or "too many", with_commas(STRING_BYTES_MAX)))
end

-- Raises an error about a pattern. `message` is its fault, or nil if the budget was spent.
local function raise_fault(name, s, p, message)
  if message then
    raise(message)
  end
  local shown = string_gsub(string_sub(p, 1, 40), "%c", function(c)
    return format("\\%d", byte(c))
  end)
  raise(format('%s: pattern "%s%s" took more than %s steps on a string of %s bytes: '
    .. "anchor it or make it simpler", name, shown, #p > 40 and "…" or "",
    with_commas(BUDGET_STEPS_MAX), with_commas(#s)))
end

-- Ropes: strings that are built in parts

local function rope(name)
  return { name = name, bytes = 0, count = 0, pieces = {} }
end

local function append(self, text)
  local size = #text
  if size == 0 then
    return
  end
  local count, bytes = self.count + 1, self.bytes + size
  if bytes > STRING_BYTES_MAX then
    raise_too_long(self.name, bytes)
  end
  self[count], self.count, self.bytes = text, count, bytes
  if count == 4096 then
    self.pieces[#self.pieces + 1] = table_concat(self, "", 1, count)
    self.count = 0
  end
end

local function joined(self)
  local pieces = self.pieces
  pieces[#pieces + 1] = table_concat(self, "", 1, self.count)
  return table_concat(pieces)
end

-- Patterns

-- The longest subject, by pattern, for which LuaJIT's own matcher is sure to finish in time.
local direct = cache()
local cached = 0

local function limit_of(p)
  local most = direct[p]
  if not most then
    most = core_limit(p, DIRECT_STEPS_MAX)
    if #p <= PATTERN_BYTES_CACHED then
      if cached == PATTERNS_CACHED_MAX then
        for key in next, direct do
          direct[key] = nil
        end
        cached = 0
      end
      direct[p], cached = most, cached + 1
    end
  end
  return most
end

-- Returns the string for an argument that may be a number, or nil if LuaJIT would raise.
local function text_of(value)
  local kind = type(value)
  if kind == "string" then
    return value
  end
  return kind == "number" and tostring(value) or nil
end

local function is_number(value)
  return value == nil or tonumber(value) ~= nil
end

local function whole_number(value)
  value = tonumber(value)
  return value >= 0 and floor(value) or ceil(value)
end

-- Returns the first position at which a search with this `init` looks.
local function start_of(s, init)
  local start = init == nil and 1 or whole_number(init)
  if start < 0 then
    start = start + #s + 1
  end
  -- NaN fails every comparison and becomes 1.
  return start >= 1 and min(start, #s + 1) or 1
end

local function found(name, s, p, first, ...)
  if first == false then
    raise_fault(name, s, p, (...))
  end
  return first, ...
end

local function find_slow(subject, pattern, init, plain)
  local s, p = text_of(subject), text_of(pattern)
  if not (s and p and is_number(init)) or #s <= limit_of(p) then
    return string_find(subject, pattern, init, plain)
  end
  if plain or not string_find(p, "[%^%$%*%+%?%.%(%[%%%-]") then
    if #s * #p <= PLAIN_WORK_DIRECT then
      return string_find(subject, pattern, init, true)
    end
    local first = core_find_plain(s, p, start_of(s, init))
    if first then
      return first, first + #p - 1
    end
    return nil
  end
  return found("string.find", s, p, core_match(s, p, start_of(s, init), BUDGET_STEPS_MAX))
end

function string.find(s, pattern, init, plain)
  local most = direct[pattern]
  if most and type(s) == "string" and #s <= most then
    return string_find(s, pattern, init, plain)
  end
  return find_slow(s, pattern, init, plain)
end

-- Returns the captures of a match, or the whole match if there are none. The caller handles false.
local function captured(s, first, last, capture, ...)
  if not first then
    return nil
  elseif capture == nil then
    return string_sub(s, first, last)
  end
  return capture, ...
end

local function match_slow(subject, pattern, init)
  local s, p = text_of(subject), text_of(pattern)
  if not (s and p and is_number(init)) or #s <= limit_of(p) then
    return string_match(subject, pattern, init)
  end
  local first = start_of(s, init)
  return captured(s, found("string.match", s, p, core_match(s, p, first, BUDGET_STEPS_MAX)))
end

function string.match(s, pattern, init)
  local most = direct[pattern]
  if most and type(s) == "string" and #s <= most then
    return string_match(s, pattern, init)
  end
  return match_slow(s, pattern, init)
end

local function gmatch_slow(subject, pattern)
  local s, p = text_of(subject), text_of(pattern)
  if not (s and p) then
    return string_gmatch(subject, pattern)
  end
  if byte(p) == CARET then
    -- In gmatch a caret is a literal caret, not an anchor.
    p = "%" .. p
  end
  if #s <= limit_of(p) then
    return string_gmatch(s, p)
  end
  local at, size = 1, #s
  local function advance(first, last, ...)
    if not first then
      at = size + 2
      return
    end
    at = last >= first and last + 1 or last + 2
    return captured(s, first, last, ...)
  end
  return function()
    if at <= size + 1 then
      return advance(found("string.gmatch", s, p, core_match(s, p, at, BUDGET_STEPS_MAX)))
    end
  end
end

function string.gmatch(s, pattern)
  local most = direct[pattern]
  if most and type(s) == "string" and #s <= most and byte(pattern) ~= CARET then
    return string_gmatch(s, pattern)
  end
  return gmatch_slow(s, pattern)
end

-- Splits a replacement into literal strings and capture numbers.
local function replacement_parts(text)
  local parts, count, from = {}, 0, 1
  while true do
    local at = string_find(text, "%", from, true)
    if not at then
      break
    end
    parts[count + 1] = string_sub(text, from, at - 1)
    local code = byte(text, at + 1)
    if code and code >= 48 and code <= 57 then
      parts[count + 2] = code - 48
    else
      -- LuaJIT reads the zero byte after a trailing percent sign; any other byte is a literal.
      parts[count + 2] = code and string_sub(text, at + 1, at + 1) or "\0"
    end
    count, from = count + 2, at + 2
  end
  parts[count + 1] = string_sub(text, from)
  return parts
end

local function append_parts(out, parts, whole, captures)
  for i = 1, #parts do
    local part = parts[i]
    if type(part) == "number" then
      if part == 0 or (part == 1 and captures[1] == nil) then
        part = whole
      else
        part = captures[part]
        if part == nil then
          raise("invalid capture index")
        end
        part = tostring(part)
      end
    end
    append(out, part)
  end
end

local function append_value(out, value, whole)
  if not value then
    append(out, whole)
  elseif type(value) == "string" or type(value) == "number" then
    append(out, tostring(value))
  else
    raise("invalid replacement value (a " .. type(value) .. ")")
  end
end

-- Performs one step of gsub: appends the replacement of a match. Returns the next position to
-- search.
local function substitute(out, s, at, repl, parts, first, last, ...)
  append(out, string_sub(s, at, first - 1))
  local whole = string_sub(s, first, last)
  if parts then
    append_parts(out, parts, whole, { ... })
  elseif type(repl) == "table" then
    append_value(out, repl[(captured(s, first, last, ...))], whole)
  else
    append_value(out, repl(captured(s, first, last, ...)), whole)
  end
  if last < first then
    append(out, string_sub(s, first, first))
    return first + 1
  end
  return last + 1
end

-- Returns the number of replacements that `max` allows, by LuaJIT's own rules for unusual numbers.
local function replacements_max(max)
  local _, one = string_gsub("", "", "", max)
  if one == 0 then
    return 0
  end
  return max == nil and huge or floor(tonumber(max))
end

-- Runs gsub step by step. One difference from LuaJIT: a pattern with an unclosed capture raises
-- here even if the replacement does not use the capture.
local function gsub_steps(s, p, repl, max)
  local text = text_of(repl)
  local parts = text and replacement_parts(text)
  local anchored = byte(p) == CARET
  local out = rope("string.gsub")
  local at, size, count = 1, #s, 0
  local function advance(first, ...)
    if not first then
      return false
    end
    at, count = substitute(out, s, at, repl, parts, first, ...), count + 1
    return not anchored
  end
  while count < max and at <= size + 1 do
    if not advance(found("string.gsub", s, p, core_match(s, p, at, BUDGET_STEPS_MAX))) then
      break
    end
  end
  append(out, string_sub(s, at))
  return joined(out), count
end

local function gsub_slow(subject, pattern, repl, max)
  local s, p, text = text_of(subject), text_of(pattern), text_of(repl)
  if not (s and p and is_number(max)
      and (text or type(repl) == "table" or type(repl) == "function")) then
    return string_gsub(subject, pattern, repl, max)
  end
  if #s <= limit_of(p) and #s <= GSUB_BYTES_DIRECT then
    local work = text and #s * #text or 0
    if work <= GSUB_WORK_DIRECT
        or (work <= STRING_BYTES_MAX and not string_find(text, "%", 1, true)) then
      return string_gsub(subject, pattern, repl, max)
    end
  end
  return gsub_steps(s, p, repl, replacements_max(max))
end

function string.gsub(s, pattern, repl, max)
  -- Each call inside a replacement uses 8 KiB of the native stack, which LuaJIT does not check.
  if type(repl) ~= "string" and not has_native_stack() then
    raise("string.gsub: the replacement calls string.gsub again, too deep: without an end?")
  end
  local most = direct[pattern]
  if most and type(s) == "string" and #s <= most and #s <= GSUB_BYTES_DIRECT
      and (type(repl) ~= "string" or #s * #repl <= GSUB_WORK_DIRECT) then
    return string_gsub(s, pattern, repl, max)
  end
  return gsub_slow(s, pattern, repl, max)
end

-- Formatting

-- Number of arguments, by format, for which `__tostring` can be called: those up to the last %s or
-- %q.
local tostring_counts = cache()
local formats = 0

local function count_tostring_arguments(form)
  local count, last = 0, 0
  if type(form) == "string" then
    for letter in string_gmatch(form, "%%[-+ #0-9.]*(.)") do
      if letter ~= "%" then
        count = count + 1
        last = (letter == "s" or letter == "q") and count or last
      end
    end
    if #form <= PATTERN_BYTES_CACHED then
      if formats == PATTERNS_CACHED_MAX then
        for key in next, tostring_counts do
          tostring_counts[key] = nil
        end
        formats = 0
      end
      tostring_counts[form], formats = last, formats + 1
    end
  end
  return last
end

local function any_table(a, b, c, ...)
  return type(a) == "table" or type(b) == "table" or type(c) == "table"
    or (select("#", ...) > 0 and any_table(...))
end

local function check_format()
  if not has_native_stack() then
    raise("string.format: a __tostring calls string.format again, too deep: without an end?")
  end
end

function string.format(form, ...)
  local count = tostring_counts[form] or count_tostring_arguments(form)
  if count > 0 then
    local a, b = ...
    if type(a) == "table" or (count > 1 and type(b) == "table")
        or (count > 2 and any_table(...)) then
      check_format()
    end
  end
  return format(form, ...)
end

-- Repetition and concatenation

local function rep_slow(subject, n, separator)
  local s, count = text_of(subject), tonumber(n)
  local sep = separator == nil and "" or text_of(separator)
  if s and count and sep then
    -- 0 * inf would be NaN, and an empty text costs nothing for any count.
    local unit = #s + #sep
    local bytes = unit == 0 and 0 or unit * count - #sep
    if bytes > STRING_BYTES_MAX then
      raise_too_long("string.rep", bytes)
    end
  end
  return string_rep(subject, n, separator)
end

function string.rep(s, n, sep)
  if sep == nil and type(s) == "string" and type(n) == "number" and #s * n <= STRING_BYTES_MAX then
    return string_rep(s, n)
  end
  return rep_slow(s, n, sep)
end

-- Returns the bytes of the items from..to joined by `sep` (each number counts as one byte), and the
-- index of the first item that cannot be joined.
local function measure(t, sep, from, to)
  local bytes = (to - from) * #sep
  for k = from, to do
    local value = rawget(t, k)
    if type(value) == "string" then
      bytes = bytes + #value
    elseif type(value) == "number" then
      bytes = bytes + 1
    else
      return bytes, k
    end
  end
  return bytes
end

local function concat_slow(t, separator, i, j)
  local sep = separator == nil and "" or text_of(separator)
  if type(t) ~= "table" or not (sep and is_number(i) and is_number(j)) then
    return table_concat(t, separator, i, j)
  end
  local from, to = i == nil and 1 or whole_number(i), j == nil and #t or whole_number(j)
  local out
  for first = from, to, CONCAT_ITEMS_CHUNK do
    local last = min(first + CONCAT_ITEMS_CHUNK - 1, to)
    local bytes, bad = measure(t, sep, first, last)
    if bytes > STRING_BYTES_MAX then
      raise_too_long("table.concat", bytes)
    elseif bad then
      -- Raises LuaJIT's own message with the index.
      return table_concat(t, separator, bad, bad)
    elseif to - from < CONCAT_ITEMS_CHUNK then
      return table_concat(t, separator, from, to)
    end
    out = out or rope("table.concat")
    if first > from then
      append(out, sep)
    end
    append(out, table_concat(t, separator, first, last))
  end
  return out and joined(out) or ""
end

-- Returns true if the first `count` items are short, so that the joined text is short too.
local function are_short(t, count)
  for k = 1, count do
    local item = rawget(t, k)
    if type(item) == "string" and #item > CONCAT_BYTES_DIRECT then
      return false
    end
  end
  return true
end

function table.concat(t, sep, i, j)
  if i == nil and j == nil and type(t) == "table" then
    local count = #t
    if count <= CONCAT_ITEMS_DIRECT and (type(sep) ~= "string" or #sep <= CONCAT_BYTES_DIRECT)
      and are_short(t, count)
    then
      return table_concat(t, sep)
    end
  end
  return concat_slow(t, sep, i, j)
end

-- The engine's own Lua also formats values of games, whose `__tostring` may call format again.
_G.string.format = string.format

-- Used by tables.lua.
core.with_commas = with_commas
