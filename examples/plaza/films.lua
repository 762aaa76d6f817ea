-- Short scenes for film strips, which show the movements of a figure from the side. film.sh
-- plays them:
--
--     engine run . --boot films --headless --frames 180 --film run.png@60-130 -- run
--
-- The argument is the name of a scene. Frames have 1/60 second.
local Figure = require "figure"

local WALK, RUN, AIMING, JUMP = 1.6, 4.4, 1.4, 5.2
local PUSH = Vector3(2.6, -0.4, 1) -- of somebody who falls: metres a second
local START = Vector3(-9, -9.5, 0) -- figures move along x

local world, figure, scene ---@type World, Figure, table
local camera ---@type Camera
local frame = 0

-- Each scene has the camera's position and the point that it looks at, as seen from the figure's
-- feet, and a function that moves the figure in a frame.
---@type table<string, table?>
local SCENES = {}

SCENES.run = {
  eye = Vector3(0.5, -3.2, 1.2), at = Vector3(0.1, 0, 0.95),
  play = function(dt) figure:update(dt, Vector3(frame < 70 and WALK or RUN, 0, 0)) end,
}

SCENES.jump = {
  eye = Vector3(0.6, -4, 1.3), at = Vector3(0.1, 0, 1.05),
  play = function(dt)
    if frame == 70 then figure:jump(JUMP) end
    figure:update(dt, Vector3(RUN, 0, 0))
  end,
}

-- Walks sideways, and looks at a point that moves up and to the other side.
SCENES.aim = {
  start = Vector3(-9, -12.2, 0),
  eye = Vector3(-0.9, 3.4, 1.4), at = Vector3(0, 0, 1),
  play = function(dt)
    local part = Math.clamp((frame - 40) / 120, 0, 1)
    local point = figure:position() + Vector3(-3 + 6 * part, 5, 0.6 + 2.4 * part)
    Unit.animation_set_constraint_target(figure.unit, "point", frame > 30 and point or nil)
    if frame == 120 then figure:send("throw") end
    figure:update(dt, Vector3(frame > 30 and AIMING or 0, 0, 0), 0)
  end,
}

-- Is pushed over from behind while it walks, lies, and gets up.
SCENES.fall = {
  eye = Vector3(0.4, -3.6, 1.5), at = Vector3(0.2, 0, 0.6),
  play = function(dt)
    if frame == 60 then figure:knock(PUSH) end
    if frame == 200 then figure:send("get_up") end
    figure:update(dt, Vector3(frame < 60 and WALK or 0, 0, 0))
  end,
}

function init()
  world, camera = Application.main_world(), Application.main_camera()
  World.set_sky(world, { top = Color(84, 126, 190), horizon = Color(214, 196, 180),
    ground = Color(128, 112, 92), shown = true })
  local level = World.spawn_level(world, "levels/square")
  figure = Figure.new(Level.unit(level, "hero"))
  local name = Application.argv() or "run"
  scene = assert(SCENES[name], "there is no scene '" .. name .. "': run, jump, aim, fall")
  Mover.set_position(figure.mover, scene.start or START)
  Camera.set_vertical_fov(camera, math.rad(40))
end

function update(dt)
  frame = frame + 1
  scene.play(dt)
  World.update(world, dt)
  -- While it lies, its unit stays where it fell: the camera follows the hips.
  local feet = Unit.world_position(figure.unit, Unit.node(figure.unit, "hips"))
  feet = Vector3.with_z(feet, figure:position().z * 0.5)
  Camera.set_local_position(camera, feet + scene.eye)
  Camera.set_local_rotation(camera, Quaternion.look(scene.at - scene.eye))
end

function on_animation_event(unit, event)
  if unit == figure.unit then figure:on_event(event) end
end

function render() Application.render_world(world, camera) end
