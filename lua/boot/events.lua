-- Events that several files of the prelude handle, and the order of their handlers. A file never
-- replaces a function of another file: it subscribes to an event, and the owner of the event runs
-- the handlers. An event with one handler is an ordinary function.
local core, options = ...

local ipairs, pairs, error, format = ipairs, pairs, error, string.format

-- The handlers of each event, in the order in which they run. The arguments are in parentheses.
local ORDERS = {
  -- (dt) In each frame, before the game's `update`.
  frame_update = {
    "flow", "console", "actions", "user_settings", "alarms", "respawns", "components", "levels",
    "timers", "tweens",
  },
  -- () In each frame, after the game's `render`, so that it is drawn on top.
  frame_render = { "debug_ui", "graphs", "console" },
  -- (world, dt) The steps of `World.update`. "components" is the native update with the script
  -- components in it. "animation_events" calls the callbacks for events, "navigation" those for
  -- paths that were found.
  world_update = { "levels", "components", "animation_events", "navigation", "flow" },
  -- (world) `Application.release_world` was called for an existing world. "update_check" raises if
  -- the world cannot be released now.
  world_release = { "update_check", "flow", "units", "components" },
  -- (world) The world was released: its handle is stale.
  world_released = { "physics_queries", "levels" },
  -- (world, unit) A unit is being destroyed. Its components are notified.
  unit_end = { "components", "flow", "data" },
  -- (world, unit) A unit is being destroyed whose components cannot be notified, after an error.
  unit_abandoned = { "components", "flow", "data" },
  -- () Resources were replaced by newer versions.
  resources_changed = { "units", "collision_filters", "localizers", "sprites", "flow" },
  -- () Scripts were reloaded, or a reload was tried.
  scripts_reloaded = { "components", "flow", "text_versions", "debugger" },
  -- (script) The text of a module was found. Test suites replace it.
  module_read = { "suites" },
  -- (tables) Collects the tables that hold globals of the game.
  global_tables = { "suites" },
}

-- Handlers of the test library, which is loaded only for tests.
local TESTS_ONLY = { suites = true }

local handlers, positions, sealed = {}, {}, false
for event, order in pairs(ORDERS) do
  handlers[event], positions[event] = {}, {}
  for position, name in ipairs(order) do positions[event][name] = position end
end

local function check_event(event)
  if not ORDERS[event] then error(format("there is no event '%s'", event), 3) end
end

-- Subscribes to an event. `name` determines the position among the event's handlers.
function core.on(event, name, handler)
  check_event(event)
  local position = positions[event][name]
  if sealed then
    error(format("'%s' subscribes to '%s' after the start", name, event), 2)
  elseif not position then
    error(format("the order of the event '%s' has no '%s'", event, name), 2)
  elseif handlers[event][position] then
    error(format("'%s' subscribes to '%s' twice", name, event), 2)
  end
  handlers[event][position] = handler
end

-- Returns the function that runs the handlers of an event. An error ends it: the handlers that
-- follow do not run. It must not be called before the prelude is complete.
function core.event(event)
  check_event(event)
  local list = handlers[event]
  if #ORDERS[event] == 2 then
    -- Units end by the thousand. In a loop, compiled code would expect one and the same handler.
    return function(...)
      list[1](...)
      list[2](...)
    end
  end
  return function(...)
    for i = 1, #list do list[i](...) end
  end
end

-- Completes the events: raises if a handler is missing. Called once, when all files have run.
function core.seal_events()
  for event, order in pairs(ORDERS) do
    local list, count = handlers[event], 0
    for position, name in ipairs(order) do
      local handler = list[position]
      list[position] = nil
      if handler then
        count = count + 1
        list[count] = handler
      elseif options.tests or not TESTS_ONLY[name] then
        error(format("'%s' does not subscribe to the event '%s'", name, event), 0)
      end
    end
  end
  sealed = true
end
