-- The order in which the script components and the native steps of a world are updated.
local core = ...

local type, ipairs, next = type, ipairs, next
local concat, format = table.concat, string.format
local raise = core.raise

-- Returns the names that a module lists under `after` or `before`. A single string is a list of
-- one.
local function listed_names(kind, key)
  local list = kind.module[key]
  if list == nil then return {} end
  if type(list) == "string" then return { list } end
  if type(list) ~= "table" then
    raise(format("components/%s.lua: '%s' must be a list of components, got %s", kind.name, key,
      core.describe(list)))
  end
  return list
end

-- Returns a dependency cycle among the unfinished names as a message, beginning with its first name
-- in alphabetical order. Every unfinished name waits for an unfinished name, so the search always
-- returns to a name that it has visited.
local function find_cycle(before, done, name)
  local path, visited = {}, {}
  while not visited[name] do
    path[#path + 1] = name
    visited[name] = #path
    for _, other in ipairs(core.names(before[name])) do
      if not done[other] then
        name = other
        break
      end
    end
  end
  local cycle, least = {}, 1
  for i = visited[name], #path do
    cycle[#cycle + 1] = path[i]
    if path[i] < cycle[least] then least = #cycle end
  end
  local names = {}
  for i = 0, #cycle do names[i + 1] = cycle[(least + i - 1) % #cycle + 1] end
  return concat(names, " → ")
end

-- Returns the names of native steps and script types, sorted by `after` and `before`; the order is
-- alphabetical where neither decides. `native` are the names of the steps in their order, `types`
-- the script types by name. `check(kind, key, other)` raises if no component is named `other`.
function core.component_order(native, types, check)
  local before = {} -- name -> set of names that run earlier
  for i, name in ipairs(native) do
    before[name] = {}
    if i > 1 then before[name][native[i - 1]] = true end
  end
  local names = core.names(types)
  for _, name in ipairs(names) do before[name] = {} end
  for _, name in ipairs(names) do
    local kind, first = types[name], true
    for _, other in ipairs(listed_names(kind, "after")) do
      if before[other] then
        before[name][other] = true
        first = false
      else
        check(kind, "after", other)
      end
    end
    for _, other in ipairs(listed_names(kind, "before")) do
      if before[other] then
        before[other][name] = true
      else
        check(kind, "before", other)
      end
    end
    if first then before[native[1]][name] = true end
  end
  local all, done, result = core.names(before), {}, {}
  while #result < #all do
    local found
    for _, name in ipairs(all) do
      if not done[name] then
        local ready = true
        for other in next, before[name] do ready = ready and done[other] end
        if ready then
          found = name
          break
        end
      end
    end
    if not found then
      local first
      for _, name in ipairs(all) do
        if not first and not done[name] then first = name end
      end
      raise("components wait for each other in a circle (after, before): "
        .. find_cycle(before, done, first) .. ": leave one of these out")
    end
    done[found] = true
    result[#result + 1] = found
  end
  return result
end
