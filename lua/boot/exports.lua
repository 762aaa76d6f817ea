-- Check of debug builds: no file of the prelude replaces what another file or native code declared,
-- in `core` or in a module of the API. Lua's own libraries are exempt, because the prelude replaces
-- functions in them by bounded ones. This file runs before all others, and not in a release. Its
-- function runs after each file of the prelude, and removes itself at the end.
local core = ...

local next, rawget, rawset, rawequal, type = next, rawget, rawset, rawequal, type
local error, format, tostring = error, string.format, tostring
local globals = _G

local standard = {} -- Lua's own libraries
for _, library in next, package.loaded do standard[library] = true end
standard[globals] = nil

-- The declared values of each table, and the file that declared each; native code at first.
local values, owners = {}, {}

local function refuse(name, key, owner, file)
  error(format("lua/%s.lua replaces %s.%s, which %s declares: subscribe to an event "
    .. "(lua/boot/events.lua), or choose another name", file, name, tostring(key),
    owner == "" and "native code" or "lua/" .. owner .. ".lua"), 0)
end

-- Records what a file added to a table. Raises if the file changed or removed a value.
local function visit(name, object, file)
  local known, owner = values[object], owners[object]
  if not known then
    known, owner = {}, {}
    values[object], owners[object] = known, owner
  end
  for key, value in next, known do
    if not rawequal(rawget(object, key), value) then refuse(name, key, owner[key], file) end
  end
  for key, value in next, object do
    if known[key] == nil then known[key], owner[key] = value, file end
  end
end

-- Checks a file that has just run. Without a name, ends the check.
function core.check_exports(file)
  if not file then
    rawset(core, "check_exports", nil)
    return
  end
  visit("core", core, file)
  visit("_G", globals, file)
  for name, module in next, globals do
    local visited = type(module) == "table" and module ~= globals and not standard[module]
    if visited then visit(tostring(name), module, file) end
  end
end

core.check_exports("")
