-- Unit sprites and tile maps among lit meshes: a map on the ground and one as a wall behind,
-- sprites in front of a cube and behind it, tinted, flipped, cropped, translucent, with alpha masks
-- that cast shadows, and higher layers over lower ones.
local world = Application.new_world()
local camera = Application.main_camera()

World.set_sky(world, { top = Color(70, 110, 190), horizon = Color(180, 190, 200), shown = true })
World.spawn_unit(world, "core/units/sun", Vector3(0, 0, 10),
  Quaternion.look(Vector3(0.5, 1, -1), Vector3.up()))
Camera.set_local_position(camera, Vector3(0, -7, 3.4))
Camera.set_local_rotation(camera, Quaternion.look(Vector3(0, 1, -0.32), Vector3.up()))

-- Twelve by nine metres of ground, four by three metres of wall.
World.spawn_unit(world, "units/ground", Vector3(-6, -4, 0))
World.spawn_unit(world, "units/wall", Vector3(-2, 5, 0))
World.spawn_unit(world, "core/units/cube", Vector3(-1, 0, 0.5))

local function hero(x, y)
  return Unit.sprite(World.spawn_unit(world, "units/hero", Vector3(x, y, 0)), 1)
end

-- In front of the cube and behind it: solid objects hide the sprites behind them.
hero(-1.6, -2)
Sprite.set_tint(hero(-0.5, 1.5), Color(255, 255, 120))
-- The same sheet at different times.
for i = 1, 3 do
  local sprite = hero(i, -1)
  Sprite.set_sheet(sprite, "pictures/hero")
  Sprite.set_speed(sprite, i)
end
-- Four sprites: unchanged, flipped in each direction, and the right half only.
for i = 1, 4 do
  local sprite = hero(i * 0.7 - 0.6, -3)
  Sprite.set_texture(sprite, "maps/rock")
  Sprite.set_size(sprite, i < 4 and 0.6 or 0.3, 0.6)
  Sprite.set_flip(sprite, i == 2, i == 3)
  if i == 4 then Sprite.set_part(sprite, 8, 0, 8, 16) end
end
-- A translucent one, and the lower half of one.
Sprite.set_tint(hero(-3, -1), Color(128, 255, 255, 255))
Sprite.set_part(hero(-4, -1), 0, 4, 8, 4)
-- The nearer one is on a lower layer.
Sprite.set_layer(hero(2.6, 1.4), 9)
Sprite.set_tint(hero(2.9, 1), Color(120, 255, 120))
-- Upright above the ground, rotated about z, lit, with a hole that light falls through.
World.spawn_unit(world, "units/mask", Vector3(4, 1, 1.2),
  Quaternion.axis_angle(Vector3(0, 0, 1), 0.5))

function update(dt)
  World.update(world, dt)
end

function render()
  Application.render_world(world, camera)
end
