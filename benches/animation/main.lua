-- Characters for benches/animation/world.rs. The arguments are the mode, the number of characters,
-- and the prefix of the names of their ten kinds.
local mode, count, prefix = Application.argv()
count = tonumber(count or 10)
local CALLS = 100
local world, camera
local units, frame = {}, 0
local attack, speed

function init()
  world = mode == "skeletons" and Application.new_world("2d") or Application.new_world()
  camera = mode == "skeletons" and World.main_camera(world) or Application.main_camera()
  for i = 1, count do
    local position = Vector3(i % 32 - 16, math.floor(i / 32), 0)
    local name = mode == "skeletons" and prefix or prefix .. i % 10
    units[i] = World.spawn_unit(world, name, position)
    if mode == "level" then Unit.set_bones_lod(units[i], 1) end
    if mode == "merged" then
      Unit.set_animation_merge_options(units[i], "max_start_time", 0.2, "max_drift", 0.1,
        "clock_fidelity", 0.9)
    end
  end
  if mode == "skeletons" then
    for i = 1, count, 2 do Unit.animation_set_variable(units[i], "speed", 1) end
    return
  end
  Camera.set_local_position(camera, Vector3(0, -4, 2))
  attack = Unit.animation_find_event(units[1], "attack")
  speed = Unit.animation_find_variable(units[1], "speed")
end

-- As the benchmark without a world: a fifth of the characters is in a transition.
local function drive()
  for i = 1, count do
    local unit = units[i]
    Unit.animation_set_variable(unit, speed, 3 + 2.5 * ((i * 37 + frame) % 200) / 200)
    if (i + frame) % 60 == 0 then Unit.animation_event(unit, attack) end
  end
end

local calls = {
  nothing = function(unit) return unit end,
  event = function(unit) Unit.animation_event(unit, attack) end,
  variable = function(unit) Unit.animation_set_variable(unit, speed, 2) end,
}

-- Calls a function for each unit a hundred times, which allocates nothing once it is compiled.
local function repeat_calls(call)
  local before = collectgarbage("count")
  for _ = 1, CALLS do
    for i = 1, count do call(units[i]) end
  end
  local grown = collectgarbage("count") - before
  if frame > 60 and grown > 1 then error("the calls take " .. grown .. " kilobytes") end
end

function update(dt)
  frame = frame + 1
  local call = calls[mode]
  if call then return repeat_calls(call) end
  if mode ~= "skeletons" then drive() end
  World.update(world, dt)
end

function render() Application.render_world(world, camera) end
