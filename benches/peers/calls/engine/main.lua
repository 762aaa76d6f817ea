-- The cost of one call of the engine: each frame makes COUNT calls of the function CASE in a loop
-- and uses the results. The arguments are `CASE COUNT`. LÖVE's game has the same cases with the
-- same names.
local case, count = Application.argv()
count = tonumber(count)

local gui, actor, transform
local sum = 0

local function plus_one(number) return number + 1 end

local cases = {
  loop = function()
    for i = 1, count do sum = sum + i end
  end,
  lua = function()
    for _ = 1, count do sum = plus_one(sum) end
  end,
  random = function()
    for _ = 1, count do sum = sum + Math.random() end
  end,
  noise = function()
    for i = 1, count do sum = sum + Math.noise(i * 0.01, 0.5) end
  end,
  body_position = function()
    for _ = 1, count do
      local position = Actor.position(actor)
      sum = sum + position.x + position.y
    end
  end,
  body_velocity = function()
    for i = 1, count do Actor.set_velocity(actor, Vector3(i % 100, 2, 0)) end
  end,
  key = function()
    for _ = 1, count do
      if Keyboard.button("space") > 0 then sum = 0 end
    end
  end,
  cursor = function()
    for _ = 1, count do
      local cursor = Mouse.axis("cursor")
      sum = sum + cursor.x + cursor.y
    end
  end,
  clock = function()
    for _ = 1, count do sum = sum + Application.time_since_launch() end
  end,
  window_size = function()
    for _ = 1, count do
      local width, height = Window.resolution()
      sum = sum + width + height
    end
  end,
  image_size = function()
    for _ = 1, count do
      local width, height = Gui.texture_size(gui, "sprite1")
      sum = sum + width + height
    end
  end,
  transform = function()
    for i = 1, count do
      local point = Matrix4x4.transform(transform, Vector3(i, 2, 0))
      sum = sum + point.x + point.y
    end
  end,
  push_pop = function()
    for i = 1, count do
      Gui.push(gui)
      Gui.translate(gui, Vector2(i, -i))
      Gui.pop(gui)
    end
  end,
}

function init()
  gui = Application.main_gui()
  local world = Application.new_world()
  actor = PhysicsWorld.spawn_sphere(World.physics_world(world), Vector3(10, 20, 0), 0.5)
  transform = Matrix4x4.from_translation(Vector3(1, 2, 0))
end

function update() end

function render() cases[case]() end
