-- Triangles, polygons, lines and rotated rectangles with smooth edges and no visible inner seams.
local function star(x, y, points, outer, inner)
  local corners = {}
  for i = 0, 2 * points - 1 do
    local angle, radius = math.pi * i / points, i % 2 == 0 and outer or inner
    corners[i + 1] = Vector2(x + radius * math.cos(angle), y + radius * math.sin(angle))
  end
  return corners
end

local SEEN_THROUGH = Color(160, 255, 200, 90)

function render()
  local gui = Application.main_gui()
  Gui.rect(gui, Vector3(0, 0, 0), Vector2(960, 640), Color(24, 28, 36))
  -- Triangles, from wide ones to slivers.
  for i = 0, 7 do
    local x = 20 + 115 * i
    local high = 100 / 2 ^ i
    Gui.triangle(gui, Vector2(x, 520), Vector2(x + 100, 530), Vector2(x + 40, 530 + high), 1,
      Color(120, 200, 255))
    Gui.triangle(gui, Vector2(x, 500), Vector2(x + 90, 490 - 5 * i), Vector2(x + 95, 480 - 5 * i),
      1, SEEN_THROUGH)
  end
  Gui.polygon(gui, star(100, 330, 5, 90, 35), 1, Color(255, 200, 80))
  Gui.polygon(gui, star(300, 330, 9, 90, 60), 1, SEEN_THROUGH)
  Gui.polygon(gui, star(490, 330, 40, 80, 80), 1, Color(200, 120, 255))
  Gui.polygon(gui, { Vector2(600, 250), Vector2(680, 260), Vector2(670, 400), Vector2(650, 300),
    Vector2(610, 410) }, 1, SEEN_THROUGH)
  -- At integer pixel positions a polygon is as sharp as a rectangle.
  Gui.polygon(gui, { Vector2(720, 250), Vector2(800, 250), Vector2(800, 330), Vector2(720, 330) },
    1, Color(255, 255, 255))
  local sliver = { Vector2(720, 350), Vector2(940, 352), Vector2(940, 352.6), Vector2(720, 350.6) }
  Gui.polygon(gui, sliver, 1, Color(255, 255, 255))
  for i = 0, 9 do
    Gui.line(gui, Vector3(20, 200 - 4 * i, 1), Vector2(220, 220 - 18 * i), 1.5, Color(255, 140, 90))
  end
  Gui.polyline(gui, { Vector2(250, 60), Vector2(300, 200), Vector2(350, 70), Vector2(420, 190) }, 9,
    1, Color(120, 255, 160))
  Gui.push(gui)
  Gui.translate(gui, Vector2(560, 130))
  Gui.rotate(gui, 0.3)
  Gui.rect(gui, Vector3(-80, -40, 1), Vector2(160, 80), Color(255, 90, 110))
  Gui.scale(gui, Vector2(0.1, 0.1))
  Gui.triangle(gui, Vector2(-600, -200), Vector2(600, -200), Vector2(0, 300), 2, Color.white())
  Gui.polygon(gui, star(0, 0, 6, 200, 90), 3, Color(60, 60, 200))
  Gui.pop(gui)
  Application.render_world(Application.main_world())
end
