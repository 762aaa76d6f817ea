-- Name lookup for lines of Lua that a person types into a running game. A line sees the globals,
-- and the locals at the top of the files that contain the engine's callbacks, because small games
-- keep all their state there. A local that no function uses cannot be found.
local core = ...

local rawget, type, setmetatable, ipairs = rawget, type, setmetatable, ipairs
local getupvalue, setupvalue = core.debug.getupvalue, core.debug.setupvalue
local getinfo, flush = core.debug.getinfo, core.jit.flush
local globals = core.globals

-- Callbacks in the order in which their locals are searched: those of every frame come first.
local CALLBACKS = { "update", "render" }
for _, name in ipairs(core.callback_names()) do
  if name ~= "update" and name ~= "render" then CALLBACKS[#CALLBACKS + 1] = name end
end
local FUNCTIONS_MAX = 2000 -- functions searched for one name

-- Calls `visit(name, value, fn, i)` for the upvalues of the callbacks, then for those of the
-- functions among them, until it returns true. Functions of the engine are left out.
local function each_local(visit)
  local found, visited = {}, {}
  local function add(fn)
    if type(fn) ~= "function" or visited[fn] or #found == FUNCTIONS_MAX then return end
    visited[fn] = true
    local info = getinfo(fn, "S")
    if info.what ~= "C" and info.source:sub(1, 9) ~= "=[engine]" then found[#found + 1] = fn end
  end
  for i = 1, #CALLBACKS do add(rawget(globals, CALLBACKS[i])) end
  local at = 1
  while found[at] do
    local fn, i = found[at], 1
    local name, value = getupvalue(fn, 1)
    while name do
      if visit(name, value, fn, i) then return end
      add(value)
      i = i + 1
      name, value = getupvalue(fn, i)
    end
    at = at + 1
  end
end

-- Returns the function that has a local with this name, the index of its upvalue, and its value.
local function find(wanted)
  local fn, index, value
  each_local(function(name, current, holder, i)
    if name ~= wanted then return false end
    fn, index, value = holder, i, current
    return true
  end)
  return fn, index, value
end

-- Returns the value of a local, for completion.
function core.line_local(name)
  local _, _, value = find(name)
  return value
end

-- Adds the names of all locals that begin with `start` to a set.
function core.line_locals(start, names)
  each_local(function(name)
    if name:sub(1, #start) == start then names[name] = true end
    return false
  end)
end

-- Environment of a typed line. A global takes precedence over a local of the same name.
core.line_env = setmetatable({}, {
  __index = function(_, name)
    if rawget(globals, name) == nil then
      local fn, _, value = find(name)
      if fn then return value end
    end
    return globals[name]
  end,
  __newindex = function(_, name, value)
    if rawget(globals, name) == nil then
      local fn, index = find(name)
      if fn then
        setupvalue(fn, index, value)
        -- Compiled code embeds the values of locals that no code changes, so it must be discarded.
        flush()
        return
      end
    end
    globals[name] = value
  end,
  __metatable = "protected",
})
