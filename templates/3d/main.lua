-- Knock the tower over: click to throw a ball, steer the camera with the arrow keys. The engine
-- calls init() once, then update(dt) and render() in every frame. Metres, z up, y forward. The sun
-- and the sky are those of every new world; the meadow around the tower is in scenery.lua.
local Scenery = require "scenery"

local CENTER, FAR, BALLS_MAX = Vector3(0, 0, 2.4), 14, 20
local HARD = 12 -- hits with a greater impulse are heard, and raise dust
local PANEL, INK, AMBER = Color(170, 20, 26, 34), Color(255, 250, 240), Color(255, 196, 92)

local world, camera ---@type World, Camera
local boxes, balls = {}, {}
local angle, height = 0.5, 5

local function build()
  for _, box in ipairs(boxes) do World.destroy_unit(world, box) end
  boxes = {}
  for level = 0, 5 do
    for x = -1, 1 do
      for y = -1, 1 do
        local position = Vector3(x * 1.02, y * 1.02, 0.5 + level * 1.01)
        local box = World.spawn_unit(world, "units/box", position)
        local shade = Math.random(205, 255) -- no two crates look the same
        Mesh.set_tint(Unit.mesh(box, 1), Color(shade, shade, shade))
        boxes[#boxes + 1] = box
      end
    end
  end
end

function init()
  world, camera = Application.main_world(), Application.main_camera()
  Scenery.spawn(world)
  build()
  Input.set_actions({
    throw = { "mouse:left", "space", "pad:a" },
    build = { "r", "pad:b" },
    turn = { negative = { "left", "a" }, positive = { "right", "d" }, axis = { "pad:left.x" } },
    lift = { negative = { "down", "s" }, positive = { "up", "w" }, axis = { "pad:left.y" } },
  })
end

-- Returns the number of boxes that have left the tower.
function fallen()
  local count = 0
  for _, box in ipairs(boxes) do
    local position = Unit.world_position(box)
    if math.abs(position.x) > 2.5 or math.abs(position.y) > 2.5 then count = count + 1 end
  end
  return count
end

function throw(from, direction)
  if #balls == BALLS_MAX then World.destroy_unit(world, table.remove(balls, 1)) end
  local ball = World.spawn_unit(world, "units/ball", from + direction)
  Actor.set_velocity(Unit.actor(ball, "body"), direction * 25)
  balls[#balls + 1] = ball
end

-- Sounds and dust of the contacts that began in the last step of the world.
local function show_hits()
  for _, hit in ipairs(PhysicsWorld.contacts(World.physics_world(world))) do
    if hit.impulse > HARD then
      local volume = math.min(1, hit.impulse / 150)
      Sound.trigger(world, "sounds/knock", { position = hit.position, volume = volume })
      if hit.impulse > 4 * HARD then
        World.create_particles(world, "particles/dust", hit.position)
      end
    end
  end
end

function update(dt)
  angle = angle + Input.value("turn") * dt * 1.5
  height = Math.clamp(height + Input.value("lift") * dt * 6, 1, 12)
  local eye = Vector3(math.sin(angle) * FAR, -math.cos(angle) * FAR, height)
  local rotation = Quaternion.look(CENTER - eye, Vector3.up())
  Camera.set_local_position(camera, eye)
  Camera.set_local_rotation(camera, rotation)
  SoundWorld.set_listener(World.sound_world(world), eye, rotation)
  if Input.pressed("throw") then
    throw(Camera.screen_to_ray(camera, Mouse.axis("cursor")))
  end
  if Input.pressed("build") then build() end
  World.update(world, dt)
  show_hits()
end

local function panel(gui, text, x, y, size, color)
  local _, right_top = Gui.text_extents(gui, text, nil, size)
  local corner = Vector3(x, y, 0)
  Gui.rounded_rect(gui, corner, Vector2(right_top.x + 36, size * 1.9), 12, PANEL)
  Gui.text(gui, text, nil, size, nil, corner + Vector3(18, size * 0.62, 1), color)
end

function render()
  local gui = Application.main_gui()
  local _, top = Gui.resolution()
  panel(gui, ("%d of %d have fallen"):format(fallen(), #boxes), 24, top - 78, 28, INK)
  panel(gui, "Click throws    Arrows move the camera    R builds again", 24, 24, 20, AMBER)
  Application.render_world(world, camera)
end
