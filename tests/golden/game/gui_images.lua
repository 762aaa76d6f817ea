-- Placement of images, blend modes, matrices, gradients, and polygons with images and colours.
local gui

function init()
  gui = World.create_screen_gui(Application.main_world(), "immediate")
end

local function placed_images()
  local size, middle = Vector2(32, 32), Vector2(0.5, 0.5)
  Gui.bitmap(gui, "sign", Vector3(24, 176, 2), size, nil, 0, middle)
  Gui.bitmap(gui, "sign", Vector3(64, 176, 2), size, nil, 0.5, middle)
  Gui.bitmap(gui, "sign", Vector3(104, 176, 2), size, nil, nil, middle, nil, "x")
  Gui.bitmap(gui, "sign", Vector3(144, 176, 2), size, nil, nil, middle, nil, "y")
  Gui.bitmap(gui, "sign", Vector3(184, 176, 2), size, nil, nil, middle, Vector2(1, 0.5), "xy")
  Gui.bitmap(gui, "sign", Vector3(208, 160, 2), size, Color(255, 200, 80), math.pi / 6)
  Gui.bitmap_uv(gui, "sign", Vector2(0, 0), Vector2(0.5, 0.5), Vector3(264, 176, 2), size, nil,
    -0.5, middle, 1.25, "x")
end

local function blend_modes()
  Gui.rect(gui, Vector3(4, 104, 1), Vector2(150, 20), Color(230, 230, 220))
  Gui.rect(gui, Vector3(4, 124, 1), Vector2(150, 20), Color(40, 50, 80))
  local modes = { "alpha", "add", "multiply", "replace", "premultiplied" }
  for i = 1, #modes do
    local x = 30 * i - 22
    Gui.push_blend(gui, modes[i])
    Gui.rect(gui, Vector3(x, 108, 2), Vector2(14, 32), Color(128, 200, 80, 40))
    Gui.circle(gui, Vector3(x + 16, 124, 2), 7, Color(128, 60, 160, 255))
    Gui.pop_blend(gui)
    Gui.bitmap(gui, "sign", Vector3(x, 116, 3), Vector2(16, 16), nil, nil, nil, nil, nil, modes[i])
  end
end

local function matrices()
  Gui.push(gui)
  Gui.translate(gui, 170, 104)
  Gui.shear(gui, 0.5)
  Gui.rounded_rect(gui, Vector3(0, 0, 1), Vector2(40, 40), 8, Color(90, 160, 90))
  Gui.text(gui, "Ab", nil, 20, nil, Vector3(6, 12, 2))
  Gui.pop(gui)
  Gui.push(gui)
  Gui.transform(gui, Vector2(0.8, 0.3), Vector2(-0.2, 0.9), Vector2(250, 100))
  Gui.bitmap(gui, "sign", Vector3(0, 0, 2), Vector2(40, 40))
  Gui.pop(gui)
end

local function gradients()
  local warm, cold = Color(255, 170, 40), Color(60, 40, 140)
  Gui.gradient_rect(gui, Vector3(4, 60, 1), Vector2(50, 36), warm, cold)
  Gui.gradient_rect(gui, Vector3(58, 60, 1), Vector2(50, 36), warm, cold, math.pi / 2, 10)
  Gui.gradient_rect(gui, Vector3(112, 60, 1), Vector2(50, 36), warm, Color(0, 255, 170, 40), 0.7)
  Gui.gradient_ellipse(gui, Vector3(190, 78, 1), Vector2(22, 18), Color.white(), cold)
  Gui.gradient_ellipse(gui, Vector3(240, 78, 1), Vector2(22, 18), warm, Color(0, 255, 170, 40))
  Gui.gradient_ellipse(gui, Vector3(290, 78, 1), Vector2(22, 18), warm, cold, -math.pi / 2)
end

local function polygons()
  local sky = { Vector2(4, 6), Vector2(60, 6), Vector2(60, 52), Vector2(4, 52) }
  Gui.polygon_uv(gui, nil, sky, nil, 1,
    { Color(20, 30, 80), Color(80, 40, 90), Color(255, 160, 90), Color(90, 160, 255) })
  local star, uvs = {}, {}
  for i = 1, 10 do
    local angle, far = i * math.pi / 5, i % 2 == 0 and 24 or 12
    star[i] = Vector2(96 + far * math.sin(angle), 29 + far * math.cos(angle))
    uvs[i] = Vector2(0.5 + far * math.sin(angle) / 48, 0.5 - far * math.cos(angle) / 48)
  end
  Gui.polygon_uv(gui, "sign", star, uvs, 1)
  local moved = {}
  for i = 1, 10 do moved[i] = star[i] + Vector2(56, 0) end
  Gui.polygon_uv(gui, "sign", moved, nil, 1, Color(128, 255, 255, 255))
  Gui.push(gui)
  Gui.translate(gui, 230, 29)
  Gui.rotate(gui, 0.4)
  Gui.polygon_uv(gui, "sign", { Vector2(-40, -20), Vector2(40, -20), Vector2(20, 20),
    Vector2(-20, 20) }, { Vector2(0, 1), Vector2(1, 1), Vector2(1, 0), Vector2(0, 0) }, 1,
    { Color.white(), Color.red(), Color(0, 255, 255, 255), Color.cyan() })
  Gui.pop(gui)
end

function render()
  Gui.rect(gui, Vector3(0, 0, 0), Vector2(320, 200), Color(70, 75, 85))
  placed_images()
  blend_modes()
  matrices()
  gradients()
  polygons()
  Application.render_world(Application.main_world())
end
