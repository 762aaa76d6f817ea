-- The evening behind the game: a sky, a sun, and hills that move a little with the paddle. The sky
-- is an image that is painted once, pixel by pixel; the hills are polygons.
local Backdrop = {}

local TOP, MIDDLE, LOW = Color(24, 20, 62), Color(150, 58, 110), Color(255, 164, 92)
local SUN = Color(255, 214, 150)

---@class Hill
---@field height number
---@field rough number
---@field shift number how far it moves
---@field color Color
---@field points? Vector2[] its outline for a screen of the width
---@field width? number

-- From far to near.
---@type Hill[]
local HILLS = {
  { height = 210, rough = 60, shift = 0.02, color = Color(112, 52, 104) },
  { height = 140, rough = 90, shift = 0.05, color = Color(70, 36, 84) },
  { height = 70, rough = 70, shift = 0.1, color = Color(34, 20, 52) },
}
local STEP, MARGIN = 20, 120

-- Returns the outline of a row of hills for a screen of this width.
local function outline(hill, seed, width)
  local points = { Vector2(width + MARGIN, 0), Vector2(-MARGIN, 0) }
  for x = -MARGIN, width + MARGIN, STEP do
    local wave = Math.noise(x * 0.004, seed) + 0.35 * Math.noise(x * 0.016, seed + 50)
    points[#points + 1] = Vector2(x, hill.height + hill.rough * wave)
  end
  return points
end

function Backdrop.init()
  local sky = Image.new(1, 256)
  Image.map(sky, function(_, y)
    local low = y / 255
    if low < 0.55 then return Color.lerp(TOP, MIDDLE, low / 0.55) end
    return Color.lerp(MIDDLE, LOW, (low - 0.55) / 0.45)
  end)
  Image.to_texture(sky, "generated/sky")
end

---Draws the backdrop. `view` is where the player is, from -1 to 1.
function Backdrop.draw(gui, width, height, view)
  Gui.bitmap(gui, "generated/sky", Vector3(0, 0, 0), Vector2(width, height))
  local sun = Vector3(width * 0.66 - 10 * view, 250, 0)
  for glow = 1, 24 do
    Gui.circle(gui, sun, 60 + glow * glow * 0.5, Color.with_alpha(SUN, 5))
  end
  Gui.circle(gui, sun, 60, SUN)
  for i, hill in ipairs(HILLS) do
    if hill.width ~= width then
      hill.points, hill.width = outline(hill, i * 10, width), width
    end
    Gui.push(gui)
    Gui.translate(gui, Vector2(-view * hill.shift * width, 0))
    Gui.polygon(gui, hill.points, 0, hill.color)
    Gui.pop(gui)
  end
end

return Backdrop
