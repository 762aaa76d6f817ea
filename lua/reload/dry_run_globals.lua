-- The dry run's substitute for the globals, which hides the dry run from the game until it
-- succeeds. The dry run itself is in commit.lua.
local core = ...

-- Compiled code would keep objects of the reload alive, and this code runs too rarely to benefit.
core.jit.off(true, true)

local type, next, rawget, rawset, rawequal = type, next, rawget, rawset, rawequal
local setmetatable = setmetatable
local globals, loaded = core.globals, core.modules
local reload = core.reloader

-- Creates the substitute for the globals. Assignments are stored in it. Other names are read from
-- the real globals, except names that the changed files assigned in their last load.
function reload.make_shadow(box, dry_run_require)
  local shadow, copied, hidden = {}, {}, box.hidden
  local stand_in
  local function read(_, name)
    local value = rawget(stand_in, name)
    if not rawequal(value, copied[name]) then
      return value
    elseif not hidden[name] then
      return globals[name]
    end
  end
  -- Moves a global that the dry run assigns into the shadow.
  local function write(_, name, value)
    rawset(shadow, name, value)
    rawset(stand_in, name, nil)
    copied[name] = nil
  end
  setmetatable(shadow, { __index = read, __newindex = write })
  stand_in = setmetatable({}, {
    __index = shadow,
    __newindex = function(_, name, value)
      shadow[name] = value
    end,
  })
  box.shadow, box.stand_in, box.copied = shadow, stand_in, copied
  reload.state.shadow, reload.state.stand_in = shadow, stand_in
  reload.owners[shadow], reload.owners[stand_in] = "[engine]", "[engine]"
  local function require(name)
    return dry_run_require(box, name)
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
  -- Copies the globals for code that iterates over `_G`.
  for name, value in next, globals do
    if not hidden[name] then
      copied[name] = rawget(shadow, name) or value
      rawset(stand_in, name, copied[name])
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
        result = rawget(loaded, name)
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
