-- The callback `on_animation_event` of games and of script components: called at the end of each
-- `World.update`, for each event that the world's characters sent in it, in their order.
local core = ...

local Unit = core.module("Unit")

local alive = Unit.alive
local has_fresh, fresh = core.has_fresh_animation_events, core.fresh_animation_events
local globals = core.globals

local NAME = "on_animation_event"

core.on("world_update", "animation_events", function()
  if not has_fresh() then return end
  if not core.has_component_callback(NAME) and not core.has_callback(NAME) then return end
  local events = fresh()
  for i = 1, #events, 3 do
    local unit, event, layer = events[i], events[i + 1], events[i + 2]
    -- The callback for an earlier event may have destroyed the unit.
    if alive(unit) then core.notify_components(NAME, unit, event, layer) end
    if alive(unit) and core.has_callback(NAME) then
      globals.on_animation_event(unit, event, layer)
    end
  end
end)
