-- The entries of a table in pages, for the debugger: the items of its list in their order, then its
-- named fields, sorted, and its metatable.
local core = ...

core.jit.off(true, true)

local next, type, rawget, min, max = next, type, rawget, math.min, math.max
local sub = string.sub
local getinfo, getmetatable = core.debug.getinfo, core.debug.getmetatable
local globals = core.globals
local key_text, named_keys = core.value_text.key_text, core.value_text.named_keys

local LONG_ITEMS = 100 -- a tool gets the number of items of longer lists, to ask for pages
local NAMED_COUNTED = 100 -- named fields that are counted for the same

local pages = {}
core.table_pages = pages

-- Returns the number of items of a long list, and about how many named fields it has, at least 1;
-- nil for other tables, which are shown whole.
function pages.counts(value)
  value = core.protected[value] or value
  local count = #value
  if count <= LONG_ITEMS then return nil end
  local named = 1
  for _ in next, value, count do
    if named >= NAMED_COUNTED then break end
    named = named + 1
  end
  return count, named
end

-- Returns a page of entries, and how many follow at least. `page` has `first`, which counts from 1,
-- `most`, and `filter`: "indexed" for the items of the list, "named" for all others. `entry(name,
-- value)` makes an entry.
function pages.entries(value, page, entry)
  value = core.protected[value] or value
  local first, most, filter = page.first, page.most, page.filter
  local count = #value
  local items = filter == "named" and 0 or count
  local list, last = {}, first + most - 1
  for i = first, min(items, last) do list[#list + 1] = entry("[" .. i .. "]", rawget(value, i)) end
  local meta = filter ~= "indexed" and getmetatable(value)
  local metas = type(meta) == "table" and 1 or 0
  if filter == "indexed" or last < items then
    -- A page of a long list needs no other fields.
    local follow = filter ~= "indexed" and (next(value, count) ~= nil and 1 or metas) or 0
    return list, max(0, items - last) + follow
  end
  local keys, missing = named_keys(value, count)
  local from = max(first - items, 1)
  for i = from, min(#keys, last - items) do
    list[#list + 1] = entry(key_text(keys[i]), rawget(value, keys[i]))
  end
  local total = #keys
  if metas == 1 then
    total = total + 1
    if from <= total and #list < most then list[#list + 1] = entry("(metatable)", meta) end
  end
  local follow = max(0, total - (last - items))
  if missing and follow == 0 and #list < most then
    list[#list + 1] = { name = "…", value = missing, kind = "", reference = 0 }
  end
  return list, follow
end

-- Returns the globals of the game, without those of the engine and of Lua.
function pages.game_globals()
  local found = {}
  for name, value in next, globals do
    local is_native = type(value) == "function" and sub(getinfo(value, "S").source, 1, 1) ~= "@"
    if type(name) == "string" and not is_native and core.api[name] == nil
      and not (type(value) == "table" and core.protected[value]) and value ~= globals
      and name ~= "_VERSION" then
      found[name] = value
    end
  end
  return found
end
