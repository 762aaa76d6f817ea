-- Shows the effects of a game, one at a time: `engine run DIR --boot core/tools/particle_viewer`.
-- It has a world with ground, light and a camera for 3D effects, and a Gui for screen effects.
-- Arrow keys choose, space plays again, the mouse turns and zooms. Saved changes are shown at
-- once. Tools control it by script: `ParticleViewer.show("fx/fire")`. The game's own main.lua
-- does not run.

ParticleViewer = {}

local world, gui, camera, ground
local names, chosen = {}, 1
local playing, flat, paused, speed = nil, false, false, 1
local yaw, pitch, distance, target = 0.6, -0.25, 9, Vector3(0, 0, 1.2)
local ended

-- The lines of Debug.text.
local TEXT_SIZE, MARGIN = 16, 12

local function play()
  if playing then World.destroy_particles(world, playing) end
  playing, ended = nil, nil
  local name = names[chosen]
  if not name then return end
  local ok, result
  Unit.set_unit_visibility(ground, not flat)
  if flat then
    local width, height = Gui.resolution(gui)
    ok, result = pcall(Gui.create_particles, gui, name, Vector3(width / 2, height * 0.4, 10))
  else
    ok, result = pcall(World.create_particles, world, name, Vector3(0, 0, 0))
  end
  if ok then playing = result else ended = tostring(result) end
end

---Shows an effect by its name; `in_gui`: on the screen instead of in the world.
function ParticleViewer.show(name, in_gui)
  for i, known in ipairs(names) do
    if known == name then
      chosen, flat = i, in_gui == true
      play()
      return true
    end
  end
  return false, "there is no effect '" .. tostring(name) .. "' in this game"
end

function ParticleViewer.names() return names end
function ParticleViewer.restart() play() end
function ParticleViewer.pause(on) paused = on ~= false end
function ParticleViewer.set_speed(factor)
  assert(type(factor) == "number" and factor >= 0, "a speed is a number from 0 on")
  speed = factor
end
function ParticleViewer.camera(new_yaw, new_pitch, new_distance)
  yaw, pitch, distance = new_yaw or yaw, new_pitch or pitch, new_distance or distance
end
function ParticleViewer.set_variable(name, x, y, z)
  local variable = World.find_particles_variable(world, names[chosen], name)
  World.set_particles_variable(world, playing, variable, Vector3(x, y or 0, z or 0))
end

local function list()
  names = Application.resource_names("particles") or {}
  chosen = math.max(1, math.min(chosen, #names))
end

function init()
  world = Application.main_world()
  gui = World.create_screen_gui(world, "immediate")
  camera = Application.main_camera()
  local sun = World.spawn_unit(world, "core/units/sun")
  Unit.set_local_rotation(sun, 1, Quaternion(Vector3(1, 0, 0), -1.0))
  ground = World.spawn_unit(world, "core/units/plane")
  Unit.set_local_scale(ground, 1, Vector3(24, 24, 1))
  Mesh.set_tint(Unit.mesh(ground, 1), Color(62, 66, 74))
  Light.set_intensity(Unit.light(sun, 1), 0.7)
  World.set_sky(world, { top = Color(24, 30, 44), horizon = Color(52, 56, 66),
    ground = Color(30, 30, 32), shown = true })
  list()
  local name, target = Application.argv()
  local shown, why = true, nil
  if name then shown, why = ParticleViewer.show(name, target == "gui") end
  if not shown then
    print(why .. ", which has: " .. table.concat(names, ", "))
    return Application.quit(1)
  end
  if not name then play() end
end

-- The engine reloads the effects itself. New and deleted effects change the list.
function on_reload(changed)
  local before = names[chosen]
  list()
  for i, name in ipairs(names) do
    if name == before then chosen = i end
  end
  if names[chosen] ~= before or not playing then play() end
end

local function keys()
  local step = (Keyboard.pressed("right") and 1 or 0) - (Keyboard.pressed("left") and 1 or 0)
  if step ~= 0 and #names > 0 then
    chosen = (chosen - 1 + step) % #names + 1
    play()
  end
  if Keyboard.pressed("space") then play() end
  if Keyboard.pressed("p") then paused = not paused end
  if Keyboard.pressed("g") then
    flat = not flat
    play()
  end
  if Mouse.button("left") > 0 then
    local moved = Mouse.axis("mouse")
    yaw, pitch = yaw - moved.x * 0.008, Math.clamp(pitch - moved.y * 0.008, -1.5, 0.4)
  end
  distance = Math.clamp(distance * (1 - Mouse.axis("wheel").y * 0.1), 1, 100)
end

-- Shows a text over the picture, wrapped to the width of the window.
local function draw_line(text, color)
  local width = math.max(Gui.resolution(gui) - 2 * MARGIN, 100)
  for _, line in ipairs(Gui.word_wrap(gui, text, nil, TEXT_SIZE, width)) do
    Debug.text(line, color)
  end
end

function update(dt)
  keys()
  local turn = Quaternion(Vector3(0, 0, 1), yaw) * Quaternion(Vector3(1, 0, 0), pitch)
  Camera.set_local_rotation(camera, turn)
  Camera.set_local_position(camera, target - Quaternion.forward(turn) * distance)
  for i = flat and 1 or -12, flat and 0 or 12, 2 do
    Debug.line(Vector3(i, -12, 0.01), Vector3(i, 12, 0.01), Color(60, 128, 128, 140))
    Debug.line(Vector3(-12, i, 0.01), Vector3(12, i, 0.01), Color(60, 128, 128, 140))
  end
  World.update(world, paused and 0 or dt * speed)
  local over = playing and not World.are_particles_playing(world, playing)
  if over then
    playing, ended = nil, "the effect has ended: space plays it again"
  end
  local text = names[chosen] or "this game has no .particles"
  draw_line(("%s  (%d of %d%s)  %d particles"):format(text, chosen, #names,
    flat and ", in a Gui" or "", World.num_particles(world)))
  if ended then draw_line(ended, Color(255, 200, 80)) end
  draw_line("left, right: choose · space: again · p: pause · g: Gui or world · mouse: look")
end

function render()
  Application.render_world(world, camera)
end
