-- The keys along the bottom, and numbers about the visitors.
local Hud = {}

local INK, PALE, AMBER = Color(255, 250, 240), Color(200, 255, 250, 240), Color(255, 200, 110)
local GROUND = Color(130, 28, 30, 34)
local KEYS = {
  { "1 2 3 4 or click", "open and close a door" }, { "W A S D", "move" }, { "Q E", "turn" },
  { "Wheel", "nearer" }, { "F1", "navigation mesh" }, { "R", "restart" },
}
local is_shown = false

local function label(gui, text, x, y, size, color)
  Gui.text(gui, text, nil, size, nil, Vector3(x, y, 3), color)
  local _, right_top = Gui.text_extents(gui, text, nil, size)
  return x + right_top.x
end

-- True while the player wants to see the navigation mesh.
function Hud.shows_mesh()
  if Input.pressed("show") then is_shown = not is_shown end
  return is_shown
end

---@param visitors Visitors
---@param doors table
function Hud.draw(visitors, doors)
  local gui = Application.main_gui()
  local width, height = Window.resolution()
  Gui.rect(gui, Vector3(0, 0, 1), Vector2(width, 30), GROUND)
  local x = 14
  for _, key in ipairs(KEYS) do
    x = label(gui, key[1], x, 10, 13, AMBER)
    x = label(gui, key[2], x + 5, 10, 13, PALE) + 16
  end
  local closed = 0
  for _, door in ipairs(doors.all) do closed = closed + (door.is_open and 0 or 1) end
  label(gui, ("%d of %d visitors inside"):format(visitors.inside, #visitors.all), 16, height - 32,
    17, INK)
  label(gui, ("%d visits to exhibits"):format(visitors.seen), 16, height - 54, 15, PALE)
  if closed > 0 then label(gui, closed .. " doors closed", 16, height - 76, 15, AMBER) end
end

return Hud
