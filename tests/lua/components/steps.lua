-- A test component that logs the events of its units, and runs a function that a test sets.
local Steps = { log = {}, doing = nil }

function Steps.on_animation_event(unit, event, layer)
  Steps.log[#Steps.log + 1] = { unit = unit, event = event, layer = layer }
  if Steps.doing then Steps.doing(unit, event) end
end

return Steps
