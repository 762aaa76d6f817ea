-- A tile map and parts of a texture whose edges are between pixels. The camera moves by parts of a
-- pixel in each frame.
local world = Application.new_world("2d")
local camera = World.main_camera(world)

World.set_sky(world, { tone_mapping = false })
-- 20 pixels a metre.
Camera.set_orthographic_size(camera, 9)
World.spawn_unit(world, "units/map", Vector3(-6, -4.5, 0))
for i = 0, 4 do
  World.spawn_unit(world, "units/part", Vector3(-4 + i * 1.013, 2 + i * 0.007, 0))
end

local frames = 0

function update(dt)
  frames = frames + 1
  Camera.set_local_position(camera, Vector3(frames * 0.1 / 20, frames * 0.07 / 20, 0))
  World.update(world, dt)
end

function render() Application.render_world(world) end
