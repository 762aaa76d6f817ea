-- The order of play, as Lua sees it: what native code calls at the start, in each frame and at the
-- end. The loop around it, devices and time are native.
local core = ...

local type, rawget, error, ipairs = type, rawget, error, ipairs
local World, Application = core.module("World"), core.module("Application")
local resume_timer = core.resume_timer
local getinfo, sub, gmatch, concat = core.debug.getinfo, string.sub, string.gmatch, table.concat
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

local init_ran = false

function core.init()
  check_callbacks()
  if has_callback("init") then
    globals.init()
  end
  init_ran = true
end

-- The lines of the game's `init`, as they are written, and where they begin.
local function init_text()
  local fn = rawget(globals, "init")
  local info = init_ran and type(fn) == "function" and getinfo(fn, "S")
  local text = info and core.source(sub(info.source, 2))
  if not text then
    return nil
  end
  local lines, line = {}, 0
  for content in gmatch(text, "([^\n]*)\n?") do
    line = line + 1
    if line > info.lastlinedefined then
      break
    elseif line >= info.linedefined then
      lines[#lines + 1] = content
    end
  end
  return concat(lines, "\n"), sub(info.source, 2) .. ":" .. info.linedefined
end

-- Reloads scripts. An `init` that is another one afterwards has run already, which is told: whoever
-- edited it waits for something to happen.
local function reload(files)
  local before = init_text()
  local reloaded = core.reload(files).ok
  local after, place = init_text()
  if reloaded and before and after and before ~= after then
    core.log("warning", place .. ": `init` has run already, and is not called again by a reload: "
      .. "what was changed in it acts at the next start (on_reload can do it now)")
  end
  return reloaded
end

-- Where the game has no `update`, the world that is there by itself is moved on.
function core.update(dt)
  core.update_console()
  core.update_actions()
  core.tell_changes()
  core.tell_alarms()
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
-- `gone` has the chunk names of scripts that are not there any more. Gives whether any waits.
local waiting = {}

function core.swap(files, names, gone)
  core.forget_units()
  core.forget_physics()
  core.forget_texts()
  core.forget_sheets()
  local told = {}
  for i = 1, #names do
    told[names[i]] = true
  end
  -- What was saved with a broken file that is gone now need not wait any longer.
  local tries = core.forget_waiting(gone) or #files > 0
  if tries then
    for i = 1, #waiting do
      told[waiting[i]] = true
    end
    waiting = {}
  end
  names = core.names(told)
  if tries and not reload(files) then
    local others = {}
    for i = 1, #names do
      local list = names[i]:sub(-4) == ".lua" and waiting or others
      list[#list + 1] = names[i]
    end
    names = others
  end
  if tries then core.components_reloaded() end
  if #names > 0 and has_callback("on_reload") then
    globals.on_reload(names)
  end
  return #waiting > 0
end

-- Where the game has no `render`, the world that is there by itself is shown.
function core.render()
  if has_callback("render") then
    globals.render()
  elseif core.has_main_world() then
    Application.render_world(Application.main_world())
  end
  core.draw_graphs()
  core.draw_console()
end

function core.on_activate(active)
  if has_callback("on_activate") then
    globals.on_activate(active)
  end
end

-- Whether the game lets a window be closed; none is its main one.
function core.on_close(window)
  return not has_callback("on_close") or globals.on_close(window) ~= false
end

function core.shutdown()
  if has_callback("shutdown") then
    globals.shutdown()
  end
end

-- Resumes a timer's coroutine: what fails in it is raised here, and the report shows the
-- coroutine's own stack.
function core.resume_reporting(thread, ...)
  local ok, problem = resume_timer(thread, ...)
  if not ok then
    error(problem, 0)
  end
  return problem
end
