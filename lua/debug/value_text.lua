-- Values in one line of text, for the debugger: UTF-8 of limited length. And the order in which
-- the fields of a table are shown.
local core = ...

core.jit.off(true, true)

local type, tostring, next, rawget = type, tostring, next, rawget
local pcall, error = pcall, error
local format, sub, match, gsub = string.format, string.sub, string.match, string.gsub
local concat, sort = table.concat, table.sort
local getinfo, getmetatable = core.debug.getinfo, core.debug.getmetatable
local valid = core.module("Utf8").valid

local PREVIEW_BYTES_MAX = 1000 -- bytes of a value in one line
local TEXT_BYTES_MAX = 500 -- bytes of a text in it, without its size
local ITEMS_SHOWN = 5 -- entries of a table in one line
local KEYS_MAX = 5000 -- named fields of one table that are sorted and listed
local LONG_LIST = 100000 -- items from which on the named fields are searched after the items

-- Returns a text as UTF-8 of limited length.
local function clean(text)
  if #text > PREVIEW_BYTES_MAX then
    text = core.utf8_cut(text, PREVIEW_BYTES_MAX) .. "…"
  end
  if not valid(text) then
    text = gsub(text, "[\128-\255]", function(byte) return format("\\%d", byte:byte()) end)
  end
  return text
end

local function quoted(text)
  local cut = #text > TEXT_BYTES_MAX
  local shown = cut and core.utf8_cut(text, TEXT_BYTES_MAX) or text
  shown = gsub(format("%q", shown), "\\\n", "\\n")
  return cut and format("%s… (%d bytes)", shown, #text) or shown
end

local function function_text(fn)
  local info = getinfo(fn, "S")
  if sub(info.source, 1, 1) ~= "@" then return "engine function" end
  return format("function: %s:%d", sub(info.source, 2), info.linedefined)
end

local preview
-- True while no function of the game may be called.
local is_raw = false

local function key_text(key)
  if type(key) == "string" and match(key, "^[%a_][%w_]*$") then return key end
  return "[" .. preview(key, true) .. "]"
end

local function table_text(value, is_inner)
  if next(value) == nil then return "{}" end
  if is_inner then return "{ … }" end
  local parts, count = {}, #value
  for i = 1, count < ITEMS_SHOWN and count or ITEMS_SHOWN do
    parts[i] = preview(rawget(value, i), true)
  end
  local rest = count > ITEMS_SHOWN
  for key, item in next, value do
    local listed = type(key) == "number" and key >= 1 and key <= count and key % 1 == 0
    if not listed and #parts >= ITEMS_SHOWN then
      rest = true
      break
    elseif not listed then
      parts[#parts + 1] = key_text(key) .. " = " .. preview(item, true)
    end
  end
  return "{ " .. concat(parts, ", ") .. (rest and ", …" or "") .. " }"
end

-- Returns a value in one line. `is_inner` leaves out the entries of tables.
function preview(value, is_inner)
  local kind = type(value)
  if kind == "string" then return quoted(value) end
  if kind == "number" then return core.handle_text(value) or tostring(value) end
  if kind == "function" then return function_text(value) end
  if kind == "table" then
    local real = core.protected[value] or value
    local meta = getmetatable(real)
    if is_raw or type(meta) ~= "table" or not rawget(meta, "__tostring") then
      return table_text(real, is_inner)
    end
  end
  -- `tostring` of vectors and the engine's other values calls functions of the engine.
  if is_raw and kind == "userdata" then return kind end
  local ok, text = pcall(tostring, value)
  return ok and type(text) == "string" and text or kind
end

-- Calls a function that shows values, without calling functions of the game. Returns its results.
local function call_raw(show, ...)
  local before = is_raw
  is_raw = true
  local ok, result, more = pcall(show, ...)
  is_raw = before
  if not ok then error(result, 0) end
  return result, more
end

-- Appends sorted keys to a list. Without a comparison in Lua, thousands take a millisecond.
local function append_sorted(list, keys, compare)
  sort(keys, compare)
  for i = 1, #keys do list[#list + 1] = keys[i] end
end

-- Returns the keys of a table that are not in its list: numbers, texts, all others, each sorted.
-- Of a table with too many, returns some as they are. If keys may be missing, also returns a
-- message.
local function named_keys(value, count)
  local numbers, texts, others, total = {}, {}, {}, 0
  -- The length of a table takes several steps.
  local number_count, text_count, other_count = 0, 0, 0
  local is_cut = false
  -- LuaJIT visits the items of a list first, but the last ones may be among the named fields: then
  -- those before item `count` are not found.
  local is_long = count > LONG_LIST
  for key in next, value, is_long and count or nil do
    local kind = type(key)
    if not (kind == "number" and key >= 1 and key <= count and key % 1 == 0) then
      is_cut = total == KEYS_MAX
      if is_cut then break end
      total = total + 1
      if kind == "number" then
        number_count = number_count + 1
        numbers[number_count] = key
      elseif kind == "string" then
        text_count = text_count + 1
        texts[text_count] = key
      else
        other_count = other_count + 1
        others[other_count] = key
      end
    end
  end
  local keys = {}
  if is_cut then
    local at = 0
    for _, list in next, { numbers, texts, others } do
      for i = 1, #list do
        at = at + 1
        keys[at] = list[i]
      end
    end
    return keys, "more fields"
  end
  append_sorted(keys, numbers)
  append_sorted(keys, texts)
  -- A `__tostring` of the game may have another result each time.
  local text_of = {}
  for i = 1, #others do text_of[others[i]] = preview(others[i], true) end
  append_sorted(keys, others, function(a, b) return text_of[a] < text_of[b] end)
  return keys, is_long and "possibly more fields: the list is long" or nil
end

core.value_text = {
  clean = clean, preview = preview, key_text = key_text, named_keys = named_keys,
  call_raw = call_raw, is_raw = function() return is_raw end,
}
