-- Value functions of the test library: deep comparison, deterministic printing, differences with
-- paths. Independent of assertions, suites and output.
local core = ...

local type, tostring, tonumber, next, rawget = type, tostring, tonumber, next, rawget
local rawequal, pcall, select, setmetatable = rawequal, pcall, select, setmetatable
local unpack = unpack
local floor, min, max = math.floor, math.min, math.max
local format, concat, sort = string.format, table.concat, table.sort
local sub, find, gsub, byte, gmatch =
  string.sub, string.find, string.gsub, string.byte, string.gmatch
local getmetatable_raw = core.debug.getmetatable

-- Limits for everything below, so that a failed test on a huge value ends in a short report.
local DIFFERENCES_MAX = 10 -- listed differences
local DEPTH_MAX = 24 -- nested tables that are searched for differences
local INSPECT_CHARS_MAX = 160 -- characters of one printed value
local INSPECT_DEPTH_MAX = 4 -- nested tables in one printed value
local STRING_WINDOW = 40 -- characters kept on each side of the first difference
local LINES_PRODUCT_MAX = 250000 -- cells of the line comparison
local CONTEXT_LINES = 2 -- equal lines shown around changed ones
local LINES_MAX = 40 -- lines of one string difference

local ENGINE_CHUNK = "=[engine]" -- prefix of the engine's own chunk names

local test = core.test or {}
core.test = test
test.modules = test.modules or {}

-- Table shared by the files of this folder; games and suites cannot access it.
local kit = { sources = {} }
test.kit = kit

---Marks a chunk as part of the library, so that its frames are left out of positions and traces.
function kit.own(source)
  kit.sources[source] = true
end
kit.own(core.debug.getinfo(1, "S").source)

---Returns true for frames of the library, which are not relevant to the reader of a failure.
function kit.is_library(source)
  return kit.sources[source] or sub(source, 1, #ENGINE_CHUNK) == ENGINE_CHUNK
end

local diff = {}
kit.diff = diff

-- Compares with ==. Comparing different cdata types raises, which counts as unequal.
local function plain_equal(a, b)
  if type(a) == "cdata" or type(b) == "cdata" then
    local ok, equal = pcall(function()
      return a == b
    end)
    return ok and equal
  end
  return a == b
end

-- Reads a field as a program would. A key for which a table raises counts as missing.
local function field(t, key)
  local value = rawget(t, key)
  if value ~= nil or getmetatable_raw(t) == nil then
    return value
  end
  local ok, found = pcall(function()
    return t[key]
  end)
  if ok then
    return found
  end
  return nil
end

local function has_equality(a, b)
  local meta = getmetatable_raw(a)
  return meta and meta == getmetatable_raw(b) and rawget(meta, "__eq") ~= nil
end

-- Returns true if one of the pairs of values is known to differ. Pairs of tables to compare are
-- added to the list, which replaces recursion, because tables may be nested deeper than Lua's
-- stack.
local function differ(a, b, ignore_eq, pairs_left)
  if type(a) ~= "table" or type(b) ~= "table" then
    return not plain_equal(a, b)
  elseif rawequal(a, b) then
    return false
  elseif not ignore_eq and has_equality(a, b) then
    return not (a == b)
  end
  local count = pairs_left.count
  pairs_left[count + 1], pairs_left[count + 2] = a, b
  pairs_left.count = count + 2
  return false
end

-- Returns true if two tables differ in a key, or in a value that is not a table.
local function differ_inside(a, b, pairs_left)
  for key, value in next, a do
    local other = field(b, key)
    if type(other) == "nil" or differ(value, other, false, pairs_left) then
      return true
    end
  end
  for key in next, b do
    if type(field(a, key)) == "nil" then
      return true
    end
  end
  return false
end

-- A pair that is already being compared counts as equal: two cyclic values differ only where a walk
-- over both finds a difference, and the first difference ends the comparison.
local function compare(a, b, ignore_eq)
  if type(a) ~= "table" or type(b) ~= "table" then
    return plain_equal(a, b)
  end
  local pairs_left, visited = { count = 0 }, {}
  if differ(a, b, ignore_eq, pairs_left) then
    return false
  end
  while pairs_left.count > 0 do
    local count = pairs_left.count
    local left, right = pairs_left[count - 1], pairs_left[count]
    pairs_left.count = count - 2
    local partners = visited[left]
    if not partners then
      partners = {}
      visited[left] = partners
    end
    if not partners[right] then
      partners[right] = true
      if differ_inside(left, right, pairs_left) then
        return false
      end
    end
  end
  return true
end

---Returns true if both values have the same contents. Metatables are only considered through a
---common `__eq`, and not even that for the two values themselves if `ignore_eq` is set.
function diff.equal(a, b, ignore_eq)
  return compare(a, b, ignore_eq)
end

local RANK = { number = 1, boolean = 2, string = 3, table = 4, ["function"] = 5, userdata = 6,
  thread = 7 }

local function is_index(key, length)
  return type(key) == "number" and key >= 1 and key <= length and floor(key) == key
end

local function inspect_key(key)
  if type(key) == "table" or type(key) == "cdata" or type(key) == "function" then
    return diff.inspect(key, { depth = 1, chars = 60 })
  end
  return tostring(key)
end

---Returns the keys of a table in an order that is the same in every run: list part, numbers,
---booleans, strings, then the others by their printed form.
function diff.sorted_keys(t)
  local keys, count, length = {}, 0, #t
  local rank, texts = {}, {}
  -- A plain list is already in order.
  for key in next, t do
    count = count + 1
    if not is_index(key, length) then
      count = -1
      break
    end
  end
  if count == length then
    for i = 1, length do
      keys[i] = i
    end
    return keys, length
  end
  count = 0
  for key in next, t do
    count = count + 1
    keys[count] = key
    local kind = type(key)
    rank[key] = is_index(key, length) and 0 or RANK[kind] or 8
    if kind ~= "number" and kind ~= "string" then
      texts[key] = kind == "boolean" and (key and "0" or "1") or inspect_key(key)
    end
  end
  sort(keys, function(a, b)
    local ra, rb = rank[a], rank[b]
    if ra ~= rb then
      return ra < rb
    end
    local wa, wb = texts[a], texts[b]
    if wa then
      return wa < wb
    end
    return a < b
  end)
  return keys, count
end

local function number_text(n)
  if n ~= n then
    return "nan"
  elseif n == 1 / 0 then
    return "inf"
  elseif n == -1 / 0 then
    return "-inf"
  end
  local short = format("%.14g", n)
  return tonumber(short) == n and short or format("%.17g", n)
end

local ESCAPES = { ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ['"'] = '\\"', ["\\"] = "\\\\" }

local function quoted(s)
  return '"' .. gsub(gsub(s, '[\n\t\r"\\]', ESCAPES), "[%z\1-\31\127]", function(c)
    return format("\\%03d", byte(c))
  end) .. '"'
end

---Removes memory addresses from a text, because they differ from run to run.
function diff.without_addresses(text)
  -- Matches only at the start of a word, so that a long word is not scanned again from each letter.
  text = gsub(text, "%f[%a](%a+): 0x%x+", "%1")
  return (gsub(text, "%f[%a](%a+): builtin#%d+", "%1"))
end

local function function_text(f)
  local info = core.debug.getinfo(f, "S")
  if info.what == "C" then
    return "function (native)"
  end
  return "function at " .. gsub(info.source, "^[@=]", "") .. ":" .. info.linedefined
end

local function is_name(key)
  return type(key) == "string" and find(key, "^[%a_][%w_]*$") ~= nil
end

local inspect_value

local function inspect_table(t, state, depth, path)
  if state.seen[t] then
    return "<cycle: " .. state.seen[t] .. ">"
  end
  local meta = getmetatable_raw(t)
  if next(t) == nil and not meta then
    return "{}"
  elseif depth <= 0 then
    return "{ ... }"
  end
  state.seen[t] = path
  local parts, length, chars = {}, #t, 0
  for _, key in next, (diff.sorted_keys(t)) do
    local text = inspect_value(rawget(t, key), state, depth - 1, path .. diff.path_step(key))
    if is_name(key) then
      text = key .. " = " .. text
    elseif not is_index(key, length) then
      text = "[" .. inspect_value(key, state, 1, path) .. "] = " .. text
    end
    parts[#parts + 1] = text
    chars = chars + #text
    if chars > state.chars then
      parts[#parts + 1] = "..."
      break
    end
  end
  state.seen[t] = nil
  return #parts == 0 and "{}" or "{ " .. concat(parts, ", ") .. " }"
end

inspect_value = function(value, state, depth, path)
  local kind = type(value)
  if kind == "string" then
    if #value > state.chars then
      return quoted(sub(value, 1, state.chars)) .. "..."
    end
    return quoted(value)
  elseif kind == "number" then
    return state.handles and core.handle_text(value) or number_text(value)
  elseif kind == "table" then
    return inspect_table(value, state, depth, path)
  elseif kind == "function" then
    return function_text(value)
  elseif kind == "nil" or kind == "boolean" then
    return tostring(value)
  end
  local ok, text = pcall(tostring, value)
  return ok and diff.without_addresses(text) or kind
end

---Formats any value on one line: sorted keys, named cycles, limited depth and length, no
---addresses. With the option `handles`, a number that is a handle says which object it is.
function diff.inspect(value, options)
  local state = { seen = {}, chars = options and options.chars or INSPECT_CHARS_MAX,
    handles = options and options.handles }
  local text = inspect_value(value, state, options and options.depth or INSPECT_DEPTH_MAX, "it")
  if #text > state.chars * 2 then
    text = gsub(sub(text, 1, state.chars * 2), "%.+$", "") .. "..."
  end
  return text
end

---Formats a key as a path step: `.name`, `[3]`, `["a b"]`.
function diff.path_step(key)
  if is_name(key) then
    return "." .. key
  end
  return "[" .. diff.inspect(key, { depth = 1, chars = 60 }) .. "]"
end

-- Strings ------------------------------------------------------------------------------------

local function first_difference(a, b)
  local length = min(#a, #b)
  for i = 1, length do
    if byte(a, i) ~= byte(b, i) then
      return i
    end
  end
  return length + 1
end
diff.first_difference = first_difference

local function window(s, at)
  local from, to = max(1, at - STRING_WINDOW), min(#s, at + STRING_WINDOW)
  return (from > 1 and "..." or "") .. quoted(sub(s, from, to)) .. (to < #s and "..." or "")
end

---Shortens a long string to the surroundings of position `at`.
function diff.shortened(s, at, chars)
  if #s <= chars then
    return s
  end
  local from = max(1, min(at - floor(chars / 2), #s - chars + 1))
  local to = min(#s, from + chars - 1)
  return (from > 1 and format("...(%d characters) ", from - 1) or "") .. sub(s, from, to)
    .. (to < #s and format(" (%d more characters)...", #s - to) or "")
end

local function split_lines(s)
  local lines = {}
  for line in gmatch(s .. "\n", "(.-)\n") do
    lines[#lines + 1] = line
  end
  return lines
end

-- Computes the longest common subsequence table between common head and tail; nil if too large.
local function common_table(a, b, head, tail)
  local rows, columns = #a - head - tail, #b - head - tail
  if rows * columns > LINES_PRODUCT_MAX then
    return nil
  end
  local cells = {}
  for i = rows + 1, 1, -1 do
    cells[i] = {}
    for j = columns + 1, 1, -1 do
      if i > rows or j > columns then
        cells[i][j] = 0
      elseif a[head + i] == b[head + j] then
        cells[i][j] = cells[i + 1][j + 1] + 1
      else
        cells[i][j] = max(cells[i + 1][j], cells[i][j + 1])
      end
    end
  end
  return cells
end

local function line_script(a, b)
  local head, tail, shorter = 0, 0, min(#a, #b)
  while head < shorter and a[head + 1] == b[head + 1] do
    head = head + 1
  end
  while tail < shorter - head and a[#a - tail] == b[#b - tail] do
    tail = tail + 1
  end
  local script, cells = {}, common_table(a, b, head, tail)
  local function add(mark, line)
    script[#script + 1] = { mark = mark, line = line }
  end
  for i = 1, head do
    add(" ", a[i])
  end
  local i, j, rows, columns = 1, 1, #a - head - tail, #b - head - tail
  while i <= rows or j <= columns do
    if cells and i <= rows and j <= columns and a[head + i] == b[head + j] then
      add(" ", a[head + i])
      i, j = i + 1, j + 1
    elseif i <= rows and (not cells or j > columns or cells[i + 1][j] >= cells[i][j + 1]) then
      add("-", a[head + i])
      i = i + 1
    else
      add("+", b[head + j])
      j = j + 1
    end
  end
  for k = #a - tail + 1, #a do
    add(" ", a[k])
  end
  return script
end

local function add_line_difference(out, indent, expected, actual)
  local script = line_script(split_lines(expected), split_lines(actual))
  local near, changed = {}, 0
  for i = 1, #script do
    if script[i].mark ~= " " then
      changed = changed + 1
      for k = i - CONTEXT_LINES, i + CONTEXT_LINES do
        near[k] = true
      end
    end
  end
  local shown, gap = 0, false
  for i = 1, #script do
    if not near[i] then
      gap = true
    elseif shown < LINES_MAX then
      if gap then
        out[#out + 1] = indent .. "  ..."
        gap = false
      end
      shown = shown + 1
      out[#out + 1] = indent .. script[i].mark .. " " .. script[i].line
    end
  end
  if shown == LINES_MAX then
    out[#out + 1] = format("%s  ... (%d changed lines in all)", indent, changed)
  end
end

-- Tables -------------------------------------------------------------------------------------

local Report = {}
Report.__index = Report

function Report:add_difference(path, expected, actual)
  self.count = self.count + 1
  if self.count == 1 then
    self.first = { unpack(self.chain) }
  end
  if self.count > DIFFERENCES_MAX then
    return
  end
  local out = self.out
  local both_strings = type(expected) == "string" and type(actual) == "string"
  out[#out + 1] = "  at " .. (path == "" and "the value itself" or path)
  if both_strings and (find(expected, "\n") or find(actual, "\n")) then
    add_line_difference(out, "    ", expected, actual)
  elseif both_strings and max(#expected, #actual) > STRING_WINDOW * 2 then
    local at = first_difference(expected, actual)
    out[#out] = out[#out] .. format(" (first difference at character %d)", at)
    out[#out + 1] = "    - " .. window(expected, at)
    out[#out + 1] = "    + " .. window(actual, at)
  else
    local missing, extra = type(actual) == "nil", type(expected) == "nil"
    if not extra or path == "" then
      out[#out + 1] = "    - " .. diff.inspect(expected) .. (missing and "   (missing)" or "")
    end
    if not missing or path == "" then
      out[#out + 1] = "    + " .. diff.inspect(actual) .. (extra and "   (not expected)" or "")
    end
  end
end

-- Reports a list that gained or lost elements in only one position. Returns true in that case.
function Report:list_shift(path, expected, actual)
  local long, short = #expected, #actual
  if long == short or long == 0 or short == 0 then
    return false
  end
  local head, tail, shorter = 0, 0, min(long, short)
  while head < shorter and diff.equal(rawget(expected, head + 1), rawget(actual, head + 1)) do
    head = head + 1
  end
  while tail < shorter - head
    and diff.equal(rawget(expected, long - tail), rawget(actual, short - tail)) do
    tail = tail + 1
  end
  if head + tail < shorter then
    return false
  end
  local source = long > short and expected or actual
  for i = head + 1, #source - tail do
    local step = path .. "[" .. i .. "]"
    self.chain[#self.chain + 1] = i
    if long > short then
      self:add_difference(step, rawget(source, i), nil)
    else
      self:add_difference(step, nil, rawget(source, i))
    end
    self.chain[#self.chain] = nil
  end
  return true
end

local function union_keys(a, b)
  local both = {}
  for key in next, a do
    both[key] = true
  end
  for key in next, b do
    both[key] = true
  end
  return (diff.sorted_keys(both))
end

function Report:walk(path, expected, actual, ignore_eq)
  local tables = type(expected) == "table" and type(actual) == "table"
  local partners = tables and self.seen[expected] or nil
  if partners and partners[actual] then
    return
  elseif not tables or (not ignore_eq and has_equality(expected, actual))
    or #self.chain >= DEPTH_MAX then
    return self:add_difference(path, expected, actual)
  end
  self.seen[expected] = partners or {}
  self.seen[expected][actual] = true
  local length = max(#expected, #actual)
  local shifted = self:list_shift(path, expected, actual)
  for _, key in next, union_keys(expected, actual) do
    local e, a = field(expected, key), field(actual, key)
    if not (shifted and is_index(key, length)) and not diff.equal(e, a) then
      self.chain[#self.chain + 1] = key
      self:walk(path .. diff.path_step(key), e, a)
      self.chain[#self.chain] = nil
    end
  end
end

---Returns the differences between two values as lines (`-` expected, `+` passed in), or nil if
---they are plain values that are short enough to compare at a glance. The second result is the
---list of keys that lead to the first difference.
function diff.difference(expected, actual)
  local report = setmetatable({ out = {}, count = 0, seen = {}, chain = {} }, Report)
  local plain = type(expected) ~= "table" or type(actual) ~= "table"
  if plain then
    local strings = type(expected) == "string" and type(actual) == "string"
    if not strings then
      return nil
    elseif max(#expected, #actual) <= STRING_WINDOW * 2 and not find(expected .. actual, "\n") then
      return nil
    end
    report:add_difference("", expected, actual)
  else
    report:walk("", expected, actual, true)
  end
  if report.count == 0 then
    return nil, report.first
  end
  if report.count > DIFFERENCES_MAX then
    report.out[#report.out + 1] = format("  ... and %d more", report.count - DIFFERENCES_MAX)
  end
  return "Difference (- expected, + passed in):\n" .. concat(report.out, "\n"), report.first
end

---Returns the keys that lead to the first difference, deepest first (as luassert's crumbs).
function diff.crumbs(expected, actual)
  local _, first = diff.difference(expected, actual)
  local crumbs = {}
  for i = first and #first or 0, 1, -1 do
    crumbs[#crumbs + 1] = first[i]
  end
  return crumbs
end

-- Argument lists with nils -------------------------------------------------------------------

local list_meta = {}

---Creates a list with an explicit length `n`, including nils.
function kit.list(...)
  return setmetatable({ n = select("#", ...), ... }, list_meta)
end

function kit.is_list(value)
  return type(value) == "table" and getmetatable_raw(value) == list_meta
end

function kit.callable(value)
  if type(value) == "function" then
    return true
  end
  local meta = getmetatable_raw(value)
  return type(meta) == "table" and type(rawget(meta, "__call")) == "function"
end

function kit.has_tostring(value)
  if type(value) == "string" then
    return true
  end
  local meta = getmetatable_raw(value)
  return type(meta) == "table" and type(rawget(meta, "__tostring")) == "function"
end
