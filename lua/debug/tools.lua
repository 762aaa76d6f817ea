-- Requests of tools to a running game: evaluation of a line of Lua, completion of a name,
-- description of a unit. The connection and its messages are native (src/app/remote).
local core = ...

local type, tostring, pcall, select, next = type, tostring, pcall, select, next
local rawget, getmetatable = rawget, core.debug.getmetatable
local sub, format, rep, match = string.sub, string.format, string.rep, string.match
local find, lower = string.find, string.lower
local concat, sort = table.concat, table.sort
local globals = core.globals
local Unit = core.module("Unit")
local valid = core.module("Utf8").valid

local TEXT_BYTES_MAX = 16384 -- bytes of one displayed value
local ITEMS_MAX = 60 -- items of one displayed table
local DEPTH_MAX = 4
local COMPLETIONS_MAX = 200 -- candidates of one completion

-- Compares two keys. Every key type has a rank, so that any two keys can be compared.
local function key_order(a, b)
  local kind_a, kind_b = type(a), type(b)
  if kind_a ~= kind_b then return kind_a < kind_b end
  if kind_a == "number" or kind_a == "string" then return a < b end
  return tostring(a) < tostring(b)
end

local function plain(value)
  if type(value) == "number" then
    return core.handle_text(value) or tostring(value)
  elseif type(value) ~= "string" then
    local ok, text = pcall(tostring, value)
    return ok and type(text) == "string" and text or type(value)
  end
  return (format("%q", value):gsub("\\\n", "\\n"):gsub("\r", "\\r"))
end

local function shown_key(key)
  if type(key) == "string" then
    return match(key, "^[%a_][%w_]*$") or "[" .. plain(key) .. "]"
  end
  return "[" .. plain(key) .. "]"
end

-- Formats a value for people: tables with their fields, sorted, each table once.
local function shown(value, depth, visited)
  local meta = type(value) == "table" and getmetatable(value)
  if type(value) ~= "table" or (type(meta) == "table" and rawget(meta, "__tostring")) then
    return plain(value)
  end
  if visited[value] then return "(the same table)" end
  if next(value) == nil then return "{}" end
  if depth == 0 then return "{ … }" end
  visited[value] = true
  local keys, lines, count = {}, {}, #value
  for key in next, value do
    local listed = type(key) == "number" and key >= 1 and key <= count and key % 1 == 0
    if not listed then keys[#keys + 1] = key end
  end
  sort(keys, key_order)
  local indent = rep("  ", DEPTH_MAX - depth + 1)
  for i = 1, count do
    if #lines >= ITEMS_MAX then break end
    lines[#lines + 1] = indent .. shown(rawget(value, i), depth - 1, visited)
  end
  for i = 1, #keys do
    if #lines >= ITEMS_MAX then break end
    local key, item = keys[i], rawget(value, keys[i])
    lines[#lines + 1] = indent .. shown_key(key) .. " = " .. shown(item, depth - 1, visited)
  end
  local left = count + #keys - #lines
  if left > 0 then lines[#lines + 1] = indent .. format("… (%d more)", left) end
  visited[value] = nil
  local short = concat(lines, ", ")
  if #short < 72 and not short:find("\n", 1, true) then
    return "{ " .. short:gsub("^%s+", ""):gsub(",%s+", ", ") .. " }"
  end
  return "{\n" .. concat(lines, ",\n") .. "\n" .. sub(indent, 3) .. "}"
end

-- Formats a value for people, as UTF-8 text of limited length. Handles say which object they are.
function core.display_text(value)
  local text = shown(value, DEPTH_MAX, {})
  if #text > TEXT_BYTES_MAX then
    text = core.utf8_cut(text, TEXT_BYTES_MAX) .. format("… (%d bytes in all)", #text)
  end
  if not valid(text) then
    text = text:gsub("[\128-\255]", function(byte) return format("\\%d", byte:byte()) end)
  end
  return text
end

-- Words with which statements begin, and no expressions.
local STATEMENTS = { ["break"] = true, ["do"] = true, ["for"] = true, ["goto"] = true,
  ["if"] = true, ["local"] = true, ["repeat"] = true, ["return"] = true, ["while"] = true }

-- Returns the problem of a line from those that it has as an expression and as a statement.
function core.line_problem(text, expression, statement)
  local first = match(text, "^%s*([%a_][%w_]*)")
  if STATEMENTS[first] or find(text, "^%s*function%s+[%a_]") then return statement end
  -- An expression that more follows may be the begin of a statement.
  local is_begin = first and find(expression, "'<eof>' expected", 1, true)
  return is_begin and not find(statement, "'=' expected", 1, true) and statement or expression
end

-- Compiles a line of a tool, as an expression if possible. Returns nil and the problem if it is not
-- Lua.
function core.compile_line(text, env)
  local chunk, as_expression = core.load_chunk("return " .. text, "=eval", env)
  if chunk then return chunk end
  local problem
  chunk, problem = core.load_chunk(text, "=eval", env)
  return chunk, not chunk and core.line_problem(text, as_expression, problem) or nil
end

-- Evaluates a text, as an expression if possible. Returns its values as text, or, if `as_data` is
-- set, its first value unchanged. Errors are raised; for a syntax error the result contains
-- `problem`.
function core.tool_eval(text, as_data)
  -- The output of a console command is in the log.
  if not as_data then
    local is_command, problem = core.try_command(text)
    if is_command then return { values = {}, problem = problem } end
  end
  local function answer(...)
    if as_data then return { data = (...) } end
    local texts = {}
    for i = 1, select("#", ...) do texts[i] = core.display_text((select(i, ...))) end
    return { values = texts }
  end
  -- The expression is passed as an argument, because a tail call would leave no line for its error.
  -- Everything is on one line, which errors then name, unless the text ends in a comment.
  local chunk = core.load_line("return (...)(" .. text .. ")", "eval")
    or core.load_line("return (...)(" .. text .. "\n)", "eval")
  if chunk then
    -- Makes reports show the text that was typed.
    core.note_loaded("eval", text)
    return chunk(answer)
  end
  local _, as_expression = core.load_line("return " .. text, "eval")
  local problem
  chunk, problem = core.load_line(text, "eval")
  if not chunk then
    return { problem = core.line_problem(text, as_expression or problem, problem) }
  end
  return answer(chunk())
end

-- The function of the script of `engine script`.
local visit_content

-- Loads a script of `engine script`, which returns a function. Returns a table with `problem` if it
-- does not.
function core.load_content_script(text, name)
  local chunk, problem = core.load_line(text, name)
  if not chunk then return { problem = problem } end
  visit_content = chunk()
  if type(visit_content) ~= "function" then
    return { problem = name .. ": it must return a function, which gets each resource" }
  end
  return {}
end

local PLAIN = { ["nil"] = true, boolean = true, number = true, string = true }

-- Returns the path and the description of a value that data cannot have, or nil.
local function wrong_value(value, visited, depth)
  local kind = type(value)
  if PLAIN[kind] then return end
  if kind ~= "table" then return "", core.describe(value) end
  -- The conversion reports tables in a circle.
  if visited[value] or depth == 0 then return end
  visited[value] = true
  for key, item in next, value do
    local path, found = wrong_value(item, visited, depth - 1)
    if path then
      local step = type(key) == "string" and "." .. key or "[" .. tostring(key) .. "]"
      return step .. path, found
    end
  end
end

-- Calls the script for a resource, and returns the data that the resource has afterwards, or a
-- table with `problem`.
function core.visit_content(resource)
  visit_content(resource)
  local path, found = wrong_value(resource.data, {}, 100)
  if path then
    return { problem = format("data%s must be plain data (booleans, numbers, strings, tables), "
      .. "got %s", path, found) }
  end
  return { data = resource.data }
end

-- Collects the fields of a value, including those of its metatable, without running game code.
local function gather(value, start, found)
  local depth = 0
  while type(value) == "table" and depth < 8 do
    value = core.protected[value] or value
    for key in next, value do
      if type(key) == "string" and sub(key, 1, #start) == start and match(key, "^[%a_][%w_]*$") then
        found[key] = true
      end
    end
    local meta = getmetatable(value)
    value = type(meta) == "table" and rawget(meta, "__index") or nil
    depth = depth + 1
  end
end

local function field(value, key)
  local depth = 0
  while type(value) == "table" and depth < 8 do
    value = core.protected[value] or value
    local found = rawget(value, key)
    if found ~= nil then return found end
    local meta = getmetatable(value)
    value = type(meta) == "table" and rawget(meta, "__index") or nil
    depth = depth + 1
  end
end

local KEYWORDS = { "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if",
  "in", "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while" }

-- Returns completions for the name at the end of a text: the part of the name that is replaced, and
-- the candidates.
function core.tool_complete(text)
  local path = match(text, "[%a_][%w_%.:]*$") or ""
  local before, start = match(path, "^(.*)[%.:]([%w_]*)$")
  local found, value = {}, globals
  if before then
    for name in before:gmatch("[%w_]+") do
      local field_value = field(value, name)
      -- As in a line: falls back to a local if there is no such global.
      if field_value == nil and value == globals then field_value = core.line_local(name) end
      value = field_value
    end
    gather(value, start, found)
  else
    start = path
    gather(globals, start, found)
    core.line_locals(start, found)
    for i = 1, #KEYWORDS do
      if start ~= "" and sub(KEYWORDS[i], 1, #start) == start then found[KEYWORDS[i]] = true end
    end
  end
  local names = core.names(found)
  for i = #names, COMPLETIONS_MAX + 1, -1 do names[i] = nil end
  return { start = start, words = names }
end

-- Returns completions of `path` inside of a value: fields after the last dot or colon.
function core.tool_complete_in(value, path)
  local before, start = match(path, "^(.*)[%.:]([%w_]*)$")
  local found = {}
  for name in (before or ""):gmatch("[%w_]+") do
    value = field(value, name)
  end
  start = start or path
  gather(value, start, found)
  local names = core.names(found)
  for i = #names, COMPLETIONS_MAX + 1, -1 do names[i] = nil end
  return { start = start, words = names }
end

-- Returns true if a text occurs in the path of a key, or in `path = value`, of nested tables. Each
-- table is searched once, because tables can contain each other.
local function contains(tree, path, text, searched)
  searched[tree] = true
  for key, value in next, tree do
    local name = path .. tostring(key)
    if type(value) ~= "table" then
      local ok, shown_value = pcall(tostring, value)
      if ok then name = name .. " = " .. shown_value end
    end
    if find(lower(name), text, 1, true) then return true end
    if type(value) == "table" and not searched[value]
      and contains(value, name .. ".", text, searched) then
      return true
    end
  end
  return false
end

-- Returns the handles of the units whose data contains a text. Case is ignored.
function core.tool_find_units(text)
  text = lower(text)
  local found = {}
  for unit, tree in next, core.unit_data do
    if contains(tree, "", text, {}) then found[#found + 1] = unit end
  end
  return { units = found }
end

-- Returns a description of a unit, or nil if it is destroyed.
function core.tool_unit(unit)
  if not Unit.alive(unit) then return nil end
  return Unit.inspect(unit)
end
