-- The callback `on_animation_event` of games and of script components: called at the end of each
-- `World.update`, for each event that the world's characters sent in it, in their order.
local core = ...

local Unit = core.module("Unit")

local alive = Unit.alive
local has_fresh, fresh = core.has_fresh_animation_events, core.fresh_animation_events
local globals = core.globals

local NAME = "on_animation_event"
-- Maximum number of values that wait after errors: 16,384 events. The oldest are dropped.
local VALUES_MAX = 3 * 16384

-- Events whose callbacks have not run: unit, event and layer in turn. An error in a callback, or an
-- update within one, leaves events for the next update.
local queue, first, last = {}, 1, 0

local function add(events)
  for i = 1, #events do queue[last + i] = events[i] end
  last = last + #events
  while last - first >= VALUES_MAX do
    queue[first], queue[first + 1], queue[first + 2] = nil, nil, nil
    first = first + 3
  end
end

core.on("world_update", "animation_events", function()
  if not has_fresh() and first > last then return end
  if not core.has_component_callback(NAME) and not core.has_callback(NAME) then
    queue, first, last = {}, 1, 0
    return
  end
  add(fresh())
  while first <= last do
    local unit, event, layer = queue[first], queue[first + 1], queue[first + 2]
    queue[first], queue[first + 1], queue[first + 2] = nil, nil, nil
    first = first + 3
    -- The callback for an earlier event may have destroyed the unit.
    if alive(unit) then core.notify_components(NAME, unit, event, layer) end
    if alive(unit) and core.has_callback(NAME) then
      globals.on_animation_event(unit, event, layer)
    end
  end
  first, last = 1, 0
end)
