-- A new world, as `Application.new_world` makes it: the default sky, and the default sun with
-- shadows, on simple shapes. On the right the same shapes in a world with "no_sky", and below an
-- orthographic view of the first world, which shows no sky.
local function shapes(world)
  local ground = World.spawn_unit(world, "core/units/plane")
  Unit.set_local_scale(ground, 1, Vector3(14, 14, 1))
  World.spawn_unit(world, "core/units/cube", Vector3(-1.4, 0, 0.5))
  World.spawn_unit(world, "core/units/sphere", Vector3(0, 0.5, 0.5))
  local torus = World.spawn_unit(world, "core/units/torus", Vector3(1.5, 0, 0.8))
  Mesh.set_tint(Unit.mesh(torus, 1), Color(255, 150, 60))
  return world
end

local day, plain = shapes(Application.new_world()), shapes(Application.new_world("no_sky"))
local camera, map = Application.main_camera(), Application.create_camera()
local eye = Vector3(0, -5, 2)
for _, one in ipairs({ camera, map }) do
  Camera.set_local_position(one, eye)
  Camera.set_local_rotation(one, Quaternion.look(Vector3(0, 0.5, 0.6) - eye, Vector3.up()))
end
Camera.set_projection_type(map, "orthographic")
Camera.set_orthographic_view(map, -4, 4, -2, 2)

local function part_of_screen(...)
  local viewport = Application.create_viewport()
  Viewport.set_rect(viewport, ...)
  return viewport
end
local left = part_of_screen(0, 0, 0.6, 1)
local right, below = part_of_screen(0.62, 0.52, 0.38, 0.48), part_of_screen(0.62, 0, 0.38, 0.48)

function update(dt)
  World.update(day, dt)
  World.update(plain, dt)
end

function render()
  Application.render_world(day, camera, left)
  Application.render_world(plain, camera, right)
  Application.render_world(day, map, below)
end
