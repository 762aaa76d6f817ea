-- The frame as Lua sees it: the functions that native code calls at startup, in each frame and at
-- shutdown. The main loop around them, devices and time are native.
local core = ...

local type, rawget, error, ipairs, gsub = type, rawget, error, ipairs, string.gsub
local World, Application = core.module("World"), core.module("Application")
local resume_timer = core.resume_timer
local getinfo, sub, concat = core.debug.getinfo, string.sub, table.concat
local gmatch, match = string.gmatch, string.match
local globals = core.globals
local frame_update, frame_render = core.event("frame_update"), core.event("frame_render")
local resources_changed, scripts_reloaded =
  core.event("resources_changed"), core.event("scripts_reloaded")

-- Returns true if the game has a function of that name. Callers call it as a field of the globals,
-- so that stack traces show its name.
local function has_callback(name)
  local fn = rawget(globals, name)
  if fn ~= nil and type(fn) ~= "function" then
    error("the global '" .. name .. "' is a " .. type(fn) .. ", and should be the function that "
      .. "the engine calls", 0)
  end
  return fn ~= nil
end

core.has_callback = has_callback

-- Names of the callbacks of a game.
local CALLBACKS = core.callback_names()

-- Returns true if a value is a function of the game that its own file does not call.
local function is_uncalled(name, value)
  local source = type(value) == "function" and getinfo(value, "S").source or ""
  if sub(source, 1, 1) ~= "@" then return false end
  local calls = 0
  for _ in gmatch(core.source(sub(source, 2)) or "", "%f[%w_]" .. name .. "%s*%(") do
    calls = calls + 1
  end
  -- One of them is its definition.
  return calls <= 1
end

-- Warns of a function whose name is nearly that of a callback, or that of another engine's
-- callback: the engine would never call it, and no error would appear.
local function check_callback(prefix, name, fn)
  local full = prefix .. name
  local callback = core.callback_of_other_engine(full) or core.suggest(name, CALLBACKS)
  if callback and (prefix ~= "" or callback ~= name) and rawget(globals, callback) == nil
    and is_uncalled(name, fn) then
    core.log("warning", "the global function '" .. full .. "' is never called by the engine: did "
      .. "you mean '" .. callback .. "'?")
  end
end

-- Warns of callbacks that are declared as locals in main.lua, if the game has no callback at all.
local function check_local_callbacks()
  for i = 1, #CALLBACKS do
    if rawget(globals, CALLBACKS[i]) ~= nil then return end
  end
  local line = 0
  for text in gmatch(core.source("main.lua") or "", "([^\n]*)\n?") do
    line = line + 1
    local name = match(text, "^local%s+function%s+([%a_][%w_]*)%s*%(")
      or match(text, "^local%s+([%a_][%w_]*)%s*=%s*function%f[%W]")
    for i = 1, #CALLBACKS do
      if name == CALLBACKS[i] then
        core.log("warning", "main.lua:" .. line .. ": the local function '" .. name .. "' is never "
          .. "called by the engine, which calls global functions: leave out `local`")
        return
      end
    end
  end
end

local function check_callbacks()
  for _, name in ipairs(core.names(globals)) do
    check_callback("", name, rawget(globals, name))
  end
  local love = rawget(globals, "love")
  if type(love) == "table" then
    for _, name in ipairs(core.names(love)) do
      check_callback("love.", name, rawget(love, name))
    end
  end
  if core.booted == "main" then check_local_callbacks() end
end

local init_ran = false

function core.init()
  check_callbacks()
  if has_callback("init") then
    globals.init()
  end
  init_ran = true
end

-- Returns the source text of the game's `init`, and its location.
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

-- Reloads scripts. Reports if the reload changed or added `init`: the game has started already, so
-- that has no effect before the next start.
local function reload(files)
  local is_new, before = rawget(globals, "init") == nil, init_text()
  local reloaded = core.reload(files).ok
  local after, location = init_text()
  if reloaded and after and before ~= after and (before or is_new) then
    core.init_changed(location, is_new)
  end
  return reloaded
end

-- Runs the Lua part of a frame's update. If the game has no `update`, the default world is updated.
function core.update(dt)
  frame_update(dt)
  if has_callback("update") then
    globals.update(dt)
  elseif core.has_main_world() then
    World.update(Application.main_world(), dt)
  end
end

-- Swaps in changed scripts (`files` has their chunk names and texts) and passes the names of all
-- new resources to the game's `on_reload`. Names of scripts that cannot be reloaded are held back
-- until a reload succeeds. `deleted` has the chunk names of deleted scripts, `respawned` the names
-- of units that are respawned, `levels` the names of levels that are updated. Returns true if any
-- names are held back.
local waiting = {}

function core.swap(files, names, deleted, respawned, levels)
  resources_changed()
  local name_set, is_script = {}, {}
  for i = 1, #names do
    name_set[names[i]] = true
  end
  local searched, removed = core.changed_searched_files(names)
  for _, chunk in ipairs(removed) do
    deleted[#deleted + 1] = chunk
  end
  for _, file in ipairs(searched) do
    files[#files + 1] = file
    is_script[gsub(file.chunk, "%.[^./]+$", ".text")] = true
  end
  -- A broken file that was deleted no longer holds back files that were saved with it.
  local retries = core.drop_deleted(deleted) or #files > 0
  if retries then
    for i = 1, #waiting do
      name_set[waiting[i]] = true
    end
    waiting = {}
  end
  names = core.names(name_set)
  if retries and not reload(files) then
    local immediate = {}
    for i = 1, #names do
      local held = names[i]:sub(-4) == ".lua" or is_script[names[i]]
      local list = held and waiting or immediate
      list[#list + 1] = names[i]
    end
    names = immediate
  end
  if retries or core.has_nodes_among(deleted) then scripts_reloaded() end
  if #respawned > 0 then core.respawn_units(respawned) end
  if #levels > 0 then core.update_levels(levels) end
  if #names > 0 and has_callback("on_reload") then
    globals.on_reload(names)
  end
  return #waiting > 0
end

-- Runs the Lua part of a frame's rendering. If the game has no `render`, the default world is
-- drawn.
function core.render()
  if has_callback("render") then
    globals.render()
  elseif core.has_main_world() then
    Application.render_world(Application.main_world())
  end
  frame_render()
end

function core.on_activate(active)
  if has_callback("on_activate") then
    globals.on_activate(active)
  end
end

-- Returns true if the game allows a window to be closed; nil is the main window.
function core.on_close(window)
  return not has_callback("on_close") or globals.on_close(window) ~= false
end

function core.shutdown()
  if has_callback("shutdown") then
    globals.shutdown()
  end
end

-- Resumes a timer's coroutine. An error in the coroutine is raised here, and the report shows the
-- coroutine's own stack.
function core.resume_reporting(thread, ...)
  local ok, problem = resume_timer(thread, ...)
  if not ok then
    error(problem, 0)
  end
  return problem
end
