-- A test component that counts down, and destroys its unit at zero.
local M = { after = { "z_log" }, log = {} }

function M.spawned(units)
  for _, unit in ipairs(units) do
    Unit.set_data(unit, "health", "left", Unit.get_data(unit, "health", "max"))
    M.log[#M.log + 1] = "spawned"
  end
end

function M.update(units, dt)
  M.log[#M.log + 1] = "health " .. dt
  for _, unit in ipairs(units) do
    local left = Unit.get_data(unit, "health", "left") - 1
    Unit.set_data(unit, "health", "left", left)
    if left == 0 then World.destroy_unit(Unit.world(unit), unit) end
  end
end

function M.unspawned(units)
  M.log[#M.log + 1] = "unspawned " .. #units
end

function M.inspect(unit)
  return Unit.get_data(unit, "health", "left") .. " left"
end

return M
