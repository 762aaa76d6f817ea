-- COUNT boxes of half a metre that fall into a bin in columns, as in LÖVE's game: each is a unit
-- with one actor in a two-dimensional world, and the unit's node follows the actor.
local count = tonumber((Application.argv()))
local columns = count >= 5000 and 100 or 50
local GAP = 18 / 32

local world, physics

function init()
  world = Application.new_world("2d")
  physics = World.physics_world(world)
  local half = columns * GAP / 2 + 20 / 32
  PhysicsWorld.spawn_plane(physics, Vector3(0, 0, 0), Vector3(0, 1, 0))
  PhysicsWorld.spawn_plane(physics, Vector3(-half, 0, 0), Vector3(1, 0, 0))
  PhysicsWorld.spawn_plane(physics, Vector3(half, 0, 0), Vector3(-1, 0, 0))
  for i = 0, count - 1 do
    local column, row = i % columns, math.floor(i / columns)
    local jitter = (i * 7919 % 1000 / 1000 - 0.5) * 4 / 32
    local x = (column - (columns - 1) / 2) * GAP + jitter
    World.spawn_unit(world, "crate", Vector3(x, 20 / 32 + row * GAP, 0))
  end
end

function update(dt) World.update(world, dt) end

function render() end

function shutdown() print("awake " .. PhysicsWorld.num_awake(physics)) end
