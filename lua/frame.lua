-- The order of play, as Lua sees it: what native code calls at the start, in each frame and at the
-- end. The loop around it, devices and time are native.
local core = ...

local type, rawget, error, ipairs = type, rawget, error, ipairs
local World, Application = core.module("World"), core.module("Application")
local resume = coroutine.resume
local globals = core.globals

-- Whether the game has a function of that name. It is called as a field of the globals, so that
-- stacks show its name.
local function has_callback(name)
  local fn = rawget(globals, name)
  if fn ~= nil and type(fn) ~= "function" then
    error("the global '" .. name .. "' is a " .. type(fn) .. ", and should be the function that "
      .. "the engine calls", 0)
  end
  return fn ~= nil
end

-- The callbacks of a game, and what people who come from elsewhere call them.
local CALLBACKS = { "init", "update", "render", "shutdown", "on_close", "on_reload", "on_activate" }
local ELSEWHERE = { draw = "render", load = "init", quit = "shutdown" }

-- A function of the game's that is nearly called like a callback would never be called, and
-- nothing would say so.
local function check_callbacks()
  for _, name in ipairs(core.names(globals)) do
    local fn = rawget(globals, name)
    local meant = ELSEWHERE[name] or core.suggest(name, CALLBACKS)
    if type(fn) == "function" and meant and meant ~= name and rawget(globals, meant) == nil
      and core.debug.getinfo(fn, "S").source:sub(1, 1) == "@" then
      core.log("warning", "the global function '" .. name .. "' is never called by the engine: did "
        .. "you mean '" .. meant .. "'?")
    end
  end
end

function core.init()
  check_callbacks()
  if has_callback("init") then
    globals.init()
  end
end

-- Where the game has no `update`, the world that is there by itself is moved on.
function core.update(dt)
  core.update_console()
  core.update_actions()
  core.tell_changes()
  core.begin_components()
  core.advance_timers(dt)
  core.advance_tweens(dt)
  if has_callback("update") then
    globals.update(dt)
  elseif core.has_main_world() then
    World.update(Application.main_world(), dt)
  end
end

-- Swaps in scripts that changed (`files` has their chunk names and texts) and tells the game the
-- names of all resources that are new. Scripts that cannot be reloaded are not new: they wait.
local waiting = {}

function core.swap(files, names)
  core.forget_units()
  core.components_reloaded()
  core.forget_texts()
  core.forget_sheets()
  local told = {}
  for i = 1, #names do
    told[names[i]] = true
  end
  for i = 1, #waiting do
    told[waiting[i]] = true
  end
  waiting = {}
  names = core.names(told)
  if #files > 0 and not core.reload(files).ok then
    local others = {}
    for i = 1, #names do
      local list = names[i]:sub(-4) == ".lua" and waiting or others
      list[#list + 1] = names[i]
    end
    names = others
  end
  if #names > 0 and has_callback("on_reload") then
    globals.on_reload(names)
  end
end

-- Where the game has no `render`, the world that is there by itself is shown.
function core.render()
  if has_callback("render") then
    globals.render()
  elseif core.has_main_world() then
    Application.render_world(Application.main_world())
  end
  core.draw_console()
end

function core.on_activate(active)
  if has_callback("on_activate") then
    globals.on_activate(active)
  end
end

-- Whether the game lets its window be closed.
function core.on_close()
  return not has_callback("on_close") or globals.on_close() ~= false
end

function core.shutdown()
  if has_callback("shutdown") then
    globals.shutdown()
  end
end

-- Resumes a coroutine of the engine's (timers, tests): what fails in it is raised here, and the
-- report shows the coroutine's own stack.
function core.resume_reporting(thread, ...)
  local ok, problem = resume(thread, ...)
  if not ok then
    core.note_death(thread, problem)
    error(problem, 0)
  end
  return problem
end
