-- The town itself: a level, whose houses get their own paint.
local Town = {}

local HOUSES = { "units/eaves", "units/gable", "units/shop", "units/narrow" }

-- The shader of windows takes from the tint which rooms are lit, so it differs for each house.
local function paint(house)
  local color = Color(Unit.get_data(house, "paint"))
  Mesh.set_tint(Unit.mesh(house, "Walls"), color)
  Mesh.set_tint(Unit.mesh(house, "Windows"),
    Color(Math.random(20, 255), Math.random(20, 255), Math.random(20, 255)))
end

---Spawns the town.
---@param world World
---@return Level
function Town.begin(world)
  local level = World.spawn_level(world, "levels/town")
  for _, kind in ipairs(HOUSES) do
    for _, house in ipairs(World.units_by_resource(world, kind)) do paint(house) end
  end
  Mesh.set_tint(Unit.mesh(Level.unit(level, "tower"), "Walls"), Color("#cdbfa6"))
  return level
end

return Town
