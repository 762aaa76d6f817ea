-- Two-dimensional skeletons in a flat world: a cape that bones deform, blended animations, skins,
-- parts, tints, layers, and frames of a sheet; the drawing order of overlapping characters.
local world = Application.new_world("2d")
local camera = World.main_camera(world)

Camera.set_orthographic_size(camera, 5.4)
Camera.set_local_position(camera, Vector3(0, 2.6, 0))
World.set_sky(world, { top = Color(150, 190, 214), ground = Color(150, 190, 214),
  horizon = Color(150, 190, 214), shown = true, tone_mapping = false })

local function puppet(x, y)
  return World.spawn_unit(world, "units/puppet", Vector3(x, y, 0))
end

-- A walk at six times, every second one as a knight.
for i = 1, 6 do
  local unit = World.spawn_unit(world, "units/puppet_body", Vector3(-4.6 + i * 1.3, 2.9, 0))
  local walk = Unit.crossfade_animation(unit, "walk")
  Unit.crossfade_animation_set_speed(unit, walk, 0)
  Unit.crossfade_animation_set_time(unit, walk, i * 0.13)
  Unit.set_skeleton_skin(unit, i % 2 == 0 and "knight" or nil)
end
-- Two that overlap: all of the second one is in front of the first.
puppet(-3.4, 0.2)
Unit.set_skeleton_part(puppet(-2.9, 0.1), "weapon", "axe")
-- A strike, mirrored; a jump; a tinted and a translucent one; one that looks up.
local striker, jumper = puppet(-1, 0.2), puppet(0.4, 0.3)
Unit.set_local_scale(striker, 1, Vector3(-1, 1, 1))
local red, ghost, gazer = puppet(1.7, 0.2), puppet(2.8, 0.2), puppet(3.9, 0.2)
Unit.set_skeleton_tint(red, Color(255, 150, 140))
Unit.set_skeleton_part_tint(red, "cape", Color(90, 220, 90))
Unit.set_skeleton_tint(ghost, Color(110, 255, 255, 255))
Unit.animation_set_constraint_target(gazer, "look", Vector3(5, 4, 0))
World.spawn_unit(world, "units/torch", Vector3(-4.3, -0.2, 0))
World.spawn_unit(world, "units/torch", Vector3(2.2, -0.2, 0))

local frame = 0
function update(dt)
  frame = frame + 1
  if frame == 20 then Unit.animation_event(jumper, "jump") end
  if frame == 28 then Unit.animation_event(striker, "strike") end
  World.update(world, dt)
end

function render()
  Application.render_world(world)
end
