-- The mirror of the wet streets: the town as a camera below the ground sees it, drawn onto a
-- texture that the shader of the streets shows in puddles. Nothing of the town is below the ground,
-- and surfaces are not drawn from behind, so the ground itself does not hide it.
local Eye = require "eye"
local Sky = require "sky"
local Weather = require "weather"

local Mirror = { on = true }

local SHARE = 0.5 -- of the width and height of the screen
-- The texture has no light brighter than white. So the mirror is drawn darker by this factor, and
-- shown brighter.
local RANGE = 0.08

local world, camera, environment ---@type World, Camera, ShadingEnvironment
local viewport ---@type Viewport?
local width, height = 0, 0
local grounds = {}

---@param of World
---@param level Level
function Mirror.begin(of, level)
  world, viewport = of, nil
  camera = Application.create_camera()
  environment = World.create_shading_environment(world)
  local ground = Level.unit(level, "ground")
  grounds = { Mesh.material(Unit.mesh(ground, "Road"), 1),
    Mesh.material(Unit.mesh(ground, "Pavement"), 1) }
end

-- The texture has the shape of the screen, also when the window changes.
local function fit()
  local wide, tall = Application.back_buffer_size()
  wide, tall = math.max(16, math.floor(wide * SHARE)), math.max(16, math.floor(tall * SHARE))
  if viewport and wide == width and tall == height then return end
  if viewport then Application.destroy_viewport(viewport) end
  width, height = wide, tall
  viewport = Application.create_viewport("mirror", width, height)
  for _, material in ipairs(grounds) do Material.set_texture(material, "mirror", "mirror") end
end

-- The camera of the mirror: as far below the ground as the eye is above it, looking up as far as
-- the eye looks down. Its picture is upside down, which the shader corrects.
local function follow_eye()
  local position, rotation = Eye.position, Eye.rotation
  local forward = Quaternion.forward(rotation)
  Camera.set_local_position(camera, Vector3(position.x, position.y, -position.z))
  Camera.set_local_rotation(camera,
    Quaternion.look(Vector3(forward.x, forward.y, -forward.z), Vector3.up()))
  Camera.set_vertical_fov(camera, Camera.vertical_fov(Eye.camera))
end

---Draws the mirror, if a street is wet enough to show it.
function Mirror.render()
  if Input.pressed("mirror") then Mirror.on = not Mirror.on end
  local gain = 0
  if Mirror.on and Weather.wet > 0 then
    fit()
    follow_eye()
    gain = Sky.set_plain(environment, RANGE)
    Application.render_world(world, camera, viewport, environment)
  end
  for _, material in ipairs(grounds) do Material.set_scalar(material, "gain", gain) end
end

return Mirror
