-- A test component whose callbacks run functions that a test sets.

local Frail = { doing = {} }

for _, name in ipairs({ "spawned", "update", "unspawned" }) do
  Frail[name] = function(units, dt)
    local fn = Frail.doing[name]
    if fn then fn(units, dt) end
  end
end

return Frail
