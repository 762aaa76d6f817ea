-- Joins, caps and dashes of lines. All are translucent: nothing overlaps.
local gui

function init()
  gui = World.create_screen_gui(Application.main_world(), "immediate")
end

local function zigzag(x, y)
  return { Vector2(x, y), Vector2(x + 20, y + 32), Vector2(x + 40, y), Vector2(x + 70, y + 20) }
end

local WHITE = Color(160, 255, 255, 255)

function render()
  Gui.rect(gui, Vector3(0, 0, 0), Vector2(320, 200), Color(60, 70, 90))
  local joins, caps = { "round", "miter", "bevel" }, { "round", "butt", "square" }
  for i = 1, 3 do
    local x = 104 * i - 90
    Gui.polyline(gui, zigzag(x, 156), 8, 1, WHITE, false, { join = joins[i], cap = caps[i] })
    Gui.polyline(gui, zigzag(x, 110), 1, 1, WHITE, false, { join = joins[i], cap = caps[i] })
    local box = { Vector2(x, 72), Vector2(x + 30, 72), Vector2(x + 30, 98), Vector2(x, 98) }
    Gui.polyline(gui, box, 5, 1, Color(160, 255, 200, 80), true, { join = joins[i] })
    Gui.polyline(gui, { Vector2(x + 44, 72), Vector2(x + 44, 98), Vector2(x + 74, 98) }, 4, 1,
      Color(160, 120, 255, 160), false, { dash = { 8, 6 }, cap = caps[i], join = joins[i] })
    Gui.line(gui, Vector3(x, 56, 1), Vector2(x + 80, 60), 5, WHITE, { cap = caps[i] })
  end
  Gui.line(gui, Vector3(14, 40, 1), Vector2(300, 40), 2, Color.yellow(), { dash = 6 })
  Gui.line(gui, Vector3(14, 30, 1), Vector2(300, 24), 5, Color.cyan(),
    { dash = { 0, 9 }, cap = "round" })
  local circle = {}
  for i = 1, 40 do
    circle[i] = Vector2(290 + 24 * math.cos(i / 20 * math.pi), 85 + 24 * math.sin(i / 20 * math.pi))
  end
  Gui.polyline(gui, circle, 3, 2, Color.magenta(), true,
    { dash = { 10, 4, 2, 4 }, dash_offset = 3 })
  Gui.push(gui)
  Gui.translate(gui, 14, 6)
  Gui.scale(gui, 3, 1)
  Gui.polyline(gui, { Vector2(0, 0), Vector2(20, 10), Vector2(40, 0), Vector2(95, 8) }, 3, 1,
    Color(160, 255, 120, 120), false, { join = "miter" })
  Gui.pop(gui)
  Application.render_world(Application.main_world())
end
