-- What a trial has in place of the globals, so that the game sees nothing of it before it succeeds.
-- What the trial runs is in commit.lua.
local core = ...

-- Compiled code would keep what a reload had in hand alive, and never pays here.
core.jit.off(true, true)

local type, next, rawget, rawset, rawequal = type, next, rawget, rawset, rawequal
local setmetatable = setmetatable
local globals, loaded = core.globals, core.modules
local reload = core.reloader

-- The stand-in for the globals: assignments go into it, and what is not in it is read from the real
-- ones, except what the changed files assigned when they were loaded last.
function reload.make_shadow(box, trial_require)
  local shadow, lent, hidden = {}, {}, box.hidden
  local stand_in
  local function read(_, name)
    local value = rawget(stand_in, name)
    if not rawequal(value, lent[name]) then
      return value
    elseif not hidden[name] then
      return globals[name]
    end
  end
  -- A global that the trial assigns is the shadow's from then on.
  local function write(_, name, value)
    rawset(shadow, name, value)
    rawset(stand_in, name, nil)
    lent[name] = nil
  end
  setmetatable(shadow, { __index = read, __newindex = write })
  stand_in = setmetatable({}, {
    __index = shadow,
    __newindex = function(_, name, value)
      shadow[name] = value
    end,
  })
  box.shadow, box.stand_in, box.lent = shadow, stand_in, lent
  reload.owners[shadow], reload.owners[stand_in] = "[engine]", "[engine]"
  local function require(name)
    return trial_require(box, name)
  end
  local function load(text, name, mode, env)
    return core.load(text, name, mode, env == nil and shadow or env)
  end
  local function loadstring(text, name)
    if type(text) ~= "string" then
      core.bad_argument("loadstring", 1, "text", "string", text)
    end
    return load(text, name)
  end
  for name, value in next, { _G = stand_in, require = require, load = load,
    loadstring = loadstring } do
    rawset(shadow, name, value)
  end
  -- For who walks over `_G`.
  for name, value in next, globals do
    if not hidden[name] then
      lent[name] = rawget(shadow, name) or value
      rawset(stand_in, name, lent[name])
    end
  end
  box.exchange = {
    [shadow] = globals, [stand_in] = globals, [require] = core.require, [load] = core.load,
    [loadstring] = core.loadstring,
  }
  box.world = {
    globals = shadow,
    module = function(name)
      local result = box.results[name]
      if result == nil then
        result = loaded[name]
      end
      return result
    end,
    global = function(name)
      local value = rawget(shadow, name)
      if value == nil and not hidden[name] then
        value = rawget(globals, name)
      end
      return value
    end,
  }
end
