-- Knock the tower over: click to throw a ball, steer the camera with the arrow keys. The engine
-- calls init() once, then update(dt) and render() in every frame. Metres, z up, y forward.

local CENTER, FAR, BALLS_MAX = Vector3(0, 0, 2), 14, 20

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
        boxes[#boxes + 1] = World.spawn_unit(world, "units/box", position)
      end
    end
  end
end

function init()
  world, camera = Application.main_world(), Application.main_camera()
  World.spawn_unit(world, "units/floor")
  local sun = Quaternion.look(Vector3(0.6, 1, -1.2), Vector3.up())
  World.spawn_unit(world, "core/units/sun", Vector3(0, 0, 10), sun)
  World.set_sky(world, { top = Color(70, 120, 210), horizon = Color(190, 205, 225),
    ground = Color(95, 122, 85), shown = true })
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

function update(dt)
  angle = angle + Input.value("turn") * dt * 1.5
  height = Math.clamp(height + Input.value("lift") * dt * 6, 1, 12)
  local eye = Vector3(math.sin(angle) * FAR, -math.cos(angle) * FAR, height)
  Camera.set_local_position(camera, eye)
  Camera.set_local_rotation(camera, Quaternion.look(CENTER - eye, Vector3.up()))
  if Input.pressed("throw") then
    throw(Camera.screen_to_ray(camera, Mouse.axis("cursor")))
  end
  if Input.pressed("build") then build() end
  World.update(world, dt)
end

function render()
  local gui = Application.main_gui()
  local text = ("%d of %d have fallen    click throws, R builds again"):format(fallen(), #boxes)
  Gui.text(gui, text, nil, 24, nil, Vector3(24, 24, 1))
  Application.render_world(world, camera)
end
