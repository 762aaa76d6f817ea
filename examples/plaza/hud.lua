-- The keys along the bottom, and the number of people who were hit.
local Hud = { hits = 0 }

local INK, PALE, AMBER = Color(255, 246, 232), Color(190, 255, 246, 232), Color(255, 190, 96)
local GROUND = Color(120, 30, 22, 18)
local KEYS = {
  { "W A S D", "walk" }, { "Shift", "run" }, { "Space", "jump" }, { "Right mouse", "aim" },
  { "Left mouse", "throw" }, { "G", "greet" }, { "X", "dive" }, { "Q E", "turn" },
  { "R", "restart" },
}

local function label(gui, text, x, y, size, color)
  Gui.text(gui, text, nil, size, nil, Vector3(x, y, 3), color)
  local _, right_top = Gui.text_extents(gui, text, nil, size)
  return x + right_top.x
end

function Hud.draw()
  local gui = Application.main_gui()
  local width, height = Window.resolution()
  Gui.rect(gui, Vector3(0, 0, 1), Vector2(width, 30), GROUND)
  local x = 14
  for _, key in ipairs(KEYS) do
    x = label(gui, key[1], x, 10, 13, AMBER)
    x = label(gui, key[2], x + 5, 10, 13, PALE) + 16
  end
  if Hud.hits > 0 then label(gui, Hud.hits .. " down", 16, height - 34, 18, INK) end
end

return Hud
