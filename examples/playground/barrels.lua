-- A hundred barrels: their first positions, the number that still stand, and the return of those
-- that leave the hall. All of a kind share one mesh, so that each kind is drawn at once.
local Barrels = { all = {}, homes = {} }

-- A barrel is 0.9 high and 0.71 wide. The distances are larger, so that no two barrels overlap.
local SPACING, HEIGHT = 0.78, 0.905
local PAINTS = { Color(38, 120, 128), Color(196, 62, 42), Color(226, 168, 48) }

-- The number of barrels across and along each layer, around the middle of the stack.
local STACKS = {
  { unit = "units/barrel", at = Vector3(-3.6, 0.4, 0),
    layers = { { 4, 4 }, { 3, 3 }, { 2, 2 }, { 1, 1 } } },
  { unit = "units/drum", at = Vector3(6.9, -3.3, 0.4),
    layers = { { 5, 1 }, { 5, 1 }, { 4, 1 }, { 4, 1 }, { 3, 1 }, { 3, 1 } } },
  { unit = "units/drum", at = Vector3(2.4, 2.6, 0),
    layers = { { 2, 2 }, { 2, 2 }, { 2, 2 }, { 2, 2 }, { 2, 2 } } },
  { unit = "units/barrel", at = Vector3(8.4, 2.2, 0), layers = { { 3, 3 }, { 2, 2 }, { 1, 1 } } },
  { unit = "units/barrel", at = Vector3(-3.4, 6.7, 2.4), layers = { { 12, 1 } } },
}

local function spawn(world, stack, position)
  local turn = Quaternion(Vector3.up(), Math.random() * 2 * math.pi)
  local barrel = World.spawn_unit(world, stack.unit, position, turn)
  if stack.unit == "units/drum" then
    Mesh.set_tint(Unit.mesh(barrel, 1), PAINTS[Math.random(#PAINTS)])
  end
  Barrels.all[#Barrels.all + 1] = barrel
  Barrels.homes[barrel] = position
end

---Builds all stacks and replaces the old ones.
---@param world World
---@param level Level
function Barrels.spawn(world, level)
  for _, barrel in ipairs(Barrels.all) do World.destroy_unit(world, barrel) end
  Barrels.all, Barrels.homes, Barrels.level = {}, {}, level
  for _, stack in ipairs(STACKS) do
    for layer, size in ipairs(stack.layers) do
      for x = 1, size[1] do
        for y = 1, size[2] do
          local aside = Vector3(x - (size[1] + 1) / 2, y - (size[2] + 1) / 2, 0) * SPACING
          local up = Vector3.up() * ((layer - 0.5) * HEIGHT)
          spawn(world, stack, stack.at + aside + up)
        end
      end
    end
  end
end

---Returns the number of barrels that stand upright at their first positions.
---@return integer
function Barrels.standing()
  local count = 0
  for _, barrel in ipairs(Barrels.all) do
    local away = Vector3.distance(Unit.world_position(barrel), Barrels.homes[barrel])
    local upright = Quaternion.up(Unit.world_rotation(barrel)).z > 0.8
    if upright and away < 0.5 then count = count + 1 end
  end
  return count
end

---Brings back barrels that were thrown over the walls: they fall from above their first positions.
function Barrels.fetch()
  for _, barrel in ipairs(Barrels.all) do
    local body = Unit.actor(barrel, "body")
    if not Level.is_point_inside_volume(Barrels.level, "inside", Actor.position(body)) then
      Actor.teleport_position(body, Barrels.homes[barrel] + Vector3(0, 0, 4))
      Actor.set_velocity(body, Vector3.zero())
    end
  end
end

return Barrels
