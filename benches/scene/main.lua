-- Worlds with many units, for benches/scene.rs. The first argument selects the world, the second is
-- the number of units.
local mode, count = Application.argv()
mode, count = mode or "still", tonumber(count or 100)
local world, camera
local units, made = {}, {}

local function place(i)
  return Vector3(i % 100 - 50, math.floor(i / 100) % 100, math.floor(i / 10000))
end

local function spawn(name, i) return World.spawn_unit(world, name, place(i)) end

function init()
  world = Application.new_world()
  camera = Application.main_camera()
  Camera.set_local_position(camera, Vector3(0, -20, 20))
  if mode == "memory" or mode == "spawn" then return end
  for i = 1, count do
    units[i] = spawn(mode == "sprites" and "units/sprite" or "units/mesh" .. i % 50, i)
    if mode == "sprites" then Sprite.set_speed(Unit.sprite(units[i], 1), 0.8 + i % 41 / 100) end
  end
end

-- Destroys the units of the last call and spawns the same number: the benchmark measures both.
function respawn()
  for i = 1, #made do World.destroy_unit(world, made[i]) end
  made = {}
end

function populate(name)
  for i = 1, count do made[i] = spawn(name, i) end
end

function update(dt)
  if mode == "moved" then
    for i = 1, #units do
      local unit = units[i]
      Unit.set_local_position(unit, 1, Unit.local_position(unit, 1) + Vector3(0, 0, dt))
    end
  elseif mode == "spawn" then
    if #made == 0 then populate("units/tree") else respawn() end
  elseif mode == "memory" and #made == 0 then
    populate("units/mesh1")
  end
  if mode ~= "spawn" then World.update(world, dt) end
end

function render() Application.render_world(world, camera) end
