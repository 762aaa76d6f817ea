-- Masks by shapes, pictures and text, one within the other; and textures that keep their picture.
local gui, canvas, pixels, frame

function init()
  local world = Application.main_world()
  gui = World.create_screen_gui(world, "immediate")
  canvas = World.create_texture_gui(world, "canvas", 64, 64, "immediate", "keep")
  pixels = World.create_texture_gui(world, "pixels", 8, 8, "immediate", "nearest")
  frame = 0
end

local function stripes(x, y, width, height)
  for i = 0, width / 4 - 1 do
    local color = i % 2 == 0 and Color(250, 200, 60) or Color(60, 90, 200)
    Gui.rect(gui, Vector3(x + 4 * i, y, 1), Vector2(4, height), color)
  end
end

local function masks()
  Gui.begin_mask(gui)
  Gui.circle(gui, Vector3(50, 150, 1), 40)
  Gui.end_mask(gui)
  stripes(8, 106, 84, 88)
  -- A mask in the mask: outside of a rotated square.
  Gui.begin_mask(gui)
  Gui.push(gui)
  Gui.translate(gui, 50, 150)
  Gui.rotate(gui, 0.5)
  Gui.rect(gui, Vector3(-14, -14, 1), Vector2(28, 28))
  Gui.pop(gui)
  Gui.end_mask(gui, true)
  Gui.rect(gui, Vector3(8, 150, 3), Vector2(84, 44), Color(150, 220, 40, 40))
  Gui.pop_mask(gui)
  Gui.pop_mask(gui)

  Gui.begin_mask(gui)
  Gui.text(gui, "MASK", nil, 40, nil, Vector3(106, 140, 1))
  Gui.end_mask(gui)
  stripes(100, 130, 120, 50)
  Gui.pop_mask(gui)

  Gui.begin_mask(gui)
  Gui.bitmap(gui, "sign", Vector3(230, 116, 1), Vector2(72, 72), Color(200, 255, 255, 255))
  Gui.end_mask(gui, true)
  stripes(230, 116, 72, 72)
  Gui.push_blend(gui, "replace")
  Gui.rect(gui, Vector3(230, 116, 2), Vector2(36, 36), Color(40, 120, 60))
  Gui.pop_blend(gui)
  Gui.pop_mask(gui)

  -- A mask without a shape hides everything, and what follows it is shown.
  Gui.begin_mask(gui)
  Gui.end_mask(gui)
  stripes(0, 0, 320, 200)
  Gui.pop_mask(gui)
  Gui.push_clip(gui, Vector2(110, 104), Vector2(40, 30))
  Gui.begin_mask(gui)
  Gui.gradient_ellipse(gui, Vector3(130, 114, 1), Vector2(24, 10), Color.white(), Color(0, 0, 0, 0))
  Gui.end_mask(gui)
  Gui.rect(gui, Vector3(100, 100, 1), Vector2(60, 30), Color.magenta())
  Gui.pop_mask(gui)
  Gui.pop_clip(gui)
end

local function canvases()
  -- One dot in each frame, after a first one that is cleared away.
  Gui.circle(canvas, Vector3(8 + 16 * frame, 32, 1), 7, Color.cyan())
  if frame == 1 then
    Gui.clear(canvas, Color(100, 0, 0, 0))
    Gui.circle(canvas, Vector3(32, 56, 1), 6, Color.yellow())
  end
  Gui.bitmap(gui, "canvas", Vector3(10, 20, 2), Vector2(64, 64))
  Gui.rect(pixels, Vector3(2, 2, 1), Vector2(4, 4), Color.orange())
  Gui.rect(pixels, Vector3(4, 4, 2), Vector2(1, 1), Color.black())
  Gui.bitmap(gui, "pixels", Vector3(90, 20, 2), Vector2(64, 64))
end

function render()
  frame = frame + 1
  Gui.rect(gui, Vector3(0, 0, 0), Vector2(320, 200), Color(70, 75, 85))
  masks()
  canvases()
  Application.render_world(Application.main_world())
end
