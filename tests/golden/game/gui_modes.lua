-- The same content drawn by an immediate Gui on the left and by a retained one on the right, whose
-- objects were created, changed and destroyed in several frames.
local world = Application.main_world()
local immediate = World.create_screen_gui(world, "immediate")
local retained = World.create_screen_gui(world)
local badge = World.create_texture_gui(world, "badge", 64, 64)
local frame, objects = 0, {}

local function draw_badge()
  Gui.circle(badge, Vector3(32, 32, 1), 30, Color(80, 160, 80))
  Gui.polygon(badge, { Vector2(14, 20), Vector2(50, 20), Vector2(32, 54) }, 2, Color(240, 240, 120))
end

local function words(gui, title)
  Gui.text(gui, title, nil, 28, nil, Vector3(24, 590, 3), Color(255, 230, 160))
end

local function health(part)
  return Vector3(24, 540, 2), Vector2(400 * part, 20), Color(220, 70, 60)
end

local function label(text)
  return text, nil, 20, nil, Vector3(32, 543, 3), Color.white(), { outline = 1.5 }
end

local function shapes(gui)
  Gui.rounded_rect(gui, Vector3(24, 430, 1), Vector2(400, 80), 16, Color(40, 60, 90))
  Gui.rect_outline(gui, Vector3(24, 430, 2), Vector2(400, 80), 3, Color(120, 180, 255))
  Gui.nine_patch(gui, "badge", 24, Vector3(24, 320, 2), Vector2(200, 90))
  Gui.bitmap(gui, "badge", Vector3(250, 330, 2), Vector2(64, 64))
  Gui.bitmap_uv(gui, "badge", Vector2(0, 0), Vector2(0.5, 1), Vector3(330, 330, 2), Vector2(32, 64))
  Gui.circle(gui, Vector3(60, 240, 2), 36, Color(255, 150, 60), 8)
  Gui.arc(gui, Vector3(150, 240, 2), 36, 0, 4, Color.cyan(), 10)
  Gui.triangle(gui, Vector2(210, 205), Vector2(280, 205), Vector2(240, 275), 2, Color.magenta())
  Gui.line(gui, Vector3(300, 200, 2), Vector2(430, 280), 6, Color.green())
  Gui.push_clip(gui, Vector2(24, 90), Vector2(180, 80))
  Gui.rect(gui, Vector3(0, 60, 2), Vector2(500, 80), Color(90, 90, 200))
  Gui.text(gui, "cut off at the edge", nil, 30, nil, Vector3(40, 110, 3))
  Gui.pop_clip(gui)
  local turn = Quaternion.axis_angle(Vector3(0, 1, 0), -0.4)
  local pose = Matrix4x4.from_quaternion_position(turn, Vector3(300, 0, 90))
  Gui.rect_3d(gui, pose, Vector3(), 2, Vector2(100, 60), Color(160, 255, 255, 255))
  Gui.bitmap_3d(gui, "badge", pose, Vector3(10, 0, 10), 3, Vector2(40, 40))
end

function init()
  draw_badge()
  Gui.move(retained, Matrix4x4.from_translation(Vector3(480, 0, 0)))
end

function update()
  frame = frame + 1
  if frame == 1 then
    objects.ended = Gui.rect(retained, Vector3(0, 0, 9), Vector2(480, 640), Color.red())
    objects.bar = Gui.rect(retained, health(1))
    objects.label = Gui.text(retained, label("before"))
    shapes(retained)
  elseif frame == 2 then
    Gui.destroy_rect(retained, objects.ended)
    Gui.update_rect(retained, objects.bar, health(0.6))
    Gui.update_text(retained, objects.label, label("60 of 100"))
    words(retained, "retained")
  end
end

function render()
  words(immediate, "immediate")
  Gui.rect(immediate, health(0.6))
  Gui.text(immediate, label("60 of 100"))
  shapes(immediate)
  Application.render_world(world)
end
