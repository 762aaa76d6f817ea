-- A reflection probe of the square, for windows and wet roofs: six views from its middle become one
-- map of the surroundings. The views are drawn one per frame, whenever the light has changed.
local Clock = require "clock"
local Lamps = require "lamps"
local Sky = require "sky"

local Probe = { captures = 0 }

local SIZE = 64 -- of each view, in pixels
local MIDDLE = Vector3(0, 13, 4)
local BOX = { position = Vector3(0, -6, 8), size = Vector3(27, 76, 22) }
local START = 12 -- frames in which everything else is drawn first
local CHANGE = 0.25 -- hours after which the surroundings are drawn again
local RANGE = 0.08 -- as in mirror.lua
-- The views: their names in the material, forward and up.
local SIDES = {
  { "right", Vector3(1, 0, 0), Vector3(0, 0, 1) }, { "left", Vector3(-1, 0, 0), Vector3(0, 0, 1) },
  { "front", Vector3(0, 1, 0), Vector3(0, 0, 1) }, { "back", Vector3(0, -1, 0), Vector3(0, 0, 1) },
  { "top", Vector3(0, 0, 1), Vector3(0, -1, 0) }, { "bottom", Vector3(0, 0, -1), Vector3(0, 1, 0) },
}

local world, camera, environment, panorama ---@type World, Camera, ShadingEnvironment, Gui
local views = {}
local step, hour, lit ---@type integer, number?, integer?
local gain = 1

---@param of World
function Probe.begin(of)
  world, step, hour, views = of, 0, nil, {}
  camera = Application.create_camera()
  Camera.set_vertical_fov(camera, math.pi / 2)
  Camera.set_local_position(camera, MIDDLE)
  environment = World.create_shading_environment(world)
  panorama = World.create_texture_gui(world, "panorama", 4 * SIZE, 2 * SIZE, "immediate", "keep")
  local material = Gui.material(panorama, "materials/panorama")
  for i, side in ipairs(SIDES) do
    views[i] = Application.create_viewport("probe_" .. side[1], SIZE, SIZE)
    Material.set_texture(material, side[1], "probe_" .. side[1])
  end
end

local function render_side(i)
  gain = Sky.set_plain(environment, RANGE)
  Camera.set_local_rotation(camera, Quaternion.look(SIDES[i][2], SIDES[i][3]))
  Application.render_world(world, camera, views[i], environment)
end

---Draws what is due in this frame.
function Probe.render()
  if Application.frame_index() < START then return end
  if step == 0 then
    local same = hour and math.abs(Clock.hour - hour) < CHANGE and lit == Lamps.lit
    if same then return end
    hour, lit = Clock.hour, Lamps.lit
  end
  step = step + 1
  if step <= #SIDES then
    render_side(step)
  elseif step == #SIDES + 1 then
    Gui.bitmap(panorama, "materials/panorama", Vector3(0, 0, 0), Vector2(4 * SIZE, 2 * SIZE))
  else
    step, Probe.captures = 0, Probe.captures + 1
    World.set_reflection_probes(world, { {
      position = BOX.position, size = BOX.size, center = MIDDLE, texture = "panorama",
      intensity = gain, blend_distance = 2,
    } })
  end
end

return Probe
