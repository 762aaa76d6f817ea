-- The meadow around the tower: ground, hills and trees. Nothing of it moves.
local Scenery = {}

local GROUND, TILE = 200, 8 -- half the size of the ground, and the size of its texture in metres
local TREES, NEAREST, FARTHEST = 90, 16, 70
local HAZE = Color(166, 190, 214)

-- Adds a large square to the ground, on which the texture of the grass repeats.
local function add_ground(unit)
  local g, uv = GROUND, GROUND / TILE
  Mesh.new(unit, {
    positions = { Vector3(-g, -g, 0), Vector3(g, -g, 0), Vector3(g, g, 0), Vector3(-g, g, 0) },
    uvs = { -uv, uv, uv, uv, uv, -uv, -uv, -uv },
    indices = { 1, 2, 3, 1, 3, 4 },
    material = "materials/grass",
  })
end

-- Returns a random point on the ground, and its distance from the tower.
local function random_point(nearest, farthest)
  local way, distance = Math.random() * 2 * math.pi, nearest + Math.random() * (farthest - nearest)
  return Vector3(math.cos(way) * distance, math.sin(way) * distance, 0)
end

local function scaled(unit, scale, turn)
  Unit.set_local_scale(unit, 1, scale)
  Unit.set_local_rotation(unit, 1, Quaternion(Vector3.up(), turn))
end

function Scenery.spawn(world)
  World.set_sky(world, { fog_density = 0.003, fog_color = HAZE, exposure = 1.25 })
  add_ground(World.spawn_unit(world, "units/floor"))
  for _ = 1, 24 do
    local hill = World.spawn_unit(world, "units/hill", random_point(90, 150))
    local wide = 30 + 40 * Math.random()
    scaled(hill, Vector3(wide, wide, 10 + 16 * Math.random()), 0)
  end
  for _ = 1, TREES do
    local tree = World.spawn_unit(world, "units/tree", random_point(NEAREST, FARTHEST))
    local size = 0.8 + 0.7 * Math.random()
    scaled(tree, Vector3(size, size, size * (0.9 + 0.4 * Math.random())), 6 * Math.random())
    local light = Math.random(190, 255)
    for i = 2, 4 do
      Mesh.set_tint(Unit.mesh(tree, i), Color(light, light, light * 0.9))
    end
  end
end

return Scenery
