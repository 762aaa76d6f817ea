-- Moving objects: beetles, light, shots. They are in *immediate* Guis: they are drawn in each frame
-- and forgotten after it. The game does not have to remember which object on the screen belongs to
-- which beetle. If everything moves, keeping objects would save nothing. (Static objects are kept,
-- in scenery.lua.)
local Crowd = require "crowd"
local Map = require "map"
local Scenery = require "scenery"

local View = {}

local floor, atan2, pi = math.floor, math.atan2, math.pi
local LIGHT = "materials/light"
local HEADINGS = 16

-- For each kind: half of the size that it is drawn in, and the light that it throws on the ground.
-- The last entries are for cold beetles.
local SIZES, COLD = {}, #Crowd.KINDS + 1
local LIGHTS = { Color(66, 255, 170, 60), Color(58, 255, 90, 70), Color(90, 170, 80, 255),
  Color(60, 70, 130, 255) }
local TINTS = { Color.white(), Color.white(), Color.white(), Color(170, 205, 255) }
for i, kind in ipairs(Crowd.KINDS) do
  SIZES[i] = kind.radius * 1.7
end

-- Frames of the sheet by kind, step and heading: names are built once, not 2,000 times a frame.
local FRAMES = {}
for i = 1, 2 * HEADINGS * #Crowd.KINDS do
  FRAMES[i] = "textures/beetles/" .. i
end

---Draws all beetles: their light, then themselves. That is two pictures for each, and two draw
---calls for all of them together.
---@param gui Gui
---@param crowd Crowd
---@param seconds number the time for the animation of their legs
function View.crowd(gui, crowd, seconds)
  local kind, x, y, vx, vy, cold = crowd.kind, crowd.x, crowd.y, crowd.vx, crowd.vy, crowd.cold
  for i = 1, crowd.count do
    local half = SIZES[kind[i]] * 2
    Gui.bitmap(gui, LIGHT, Vector3(x[i] - half, y[i] - half, 1), Vector2(2 * half, 2 * half),
      LIGHTS[cold[i] > 0 and COLD or kind[i]])
  end
  for i = 1, crowd.count do
    local heading = floor(atan2(vy[i], vx[i]) / pi * (HEADINGS / 2) + 0.5) % HEADINGS
    local row = (kind[i] - 1) * 2 + floor(seconds * 9 + i * 0.37) % 2
    local half = SIZES[kind[i]]
    Gui.bitmap(gui, FRAMES[row * HEADINGS + heading + 1], Vector3(x[i] - half, y[i] - half, 2),
      Vector2(2 * half, 2 * half), TINTS[cold[i] > 0 and COLD or kind[i]])
  end
end

local function light(gui, x, y, size, color)
  Gui.bitmap(gui, LIGHT, Vector3(x - size / 2, y - size / 2, 6), Vector2(size, size), color)
end

---Draws the light of the lamp on the ground. It shrinks with the lamp's lives.
function View.lamp(gui, map, share, seconds)
  local x, y = Map.center(map.lamp)
  local size = (240 + 400 * share) * (1 + 0.03 * Math.noise(seconds * 3))
  Gui.bitmap(gui, LIGHT, Vector3(x - size / 2, y - size / 2, 0), Vector2(size, size),
    Color(50 + 40 * share, 255, 214, 130))
  return x, y
end

local DRAW = {}

function DRAW.bolt(gui, x, y, to_x, to_y, age)
  local rest = 1 - age
  Gui.line(gui, Vector3(x, y, 5), Vector3(to_x, to_y, 5), 1 + 2.5 * rest,
    Color(230 * rest, 190, 250, 255))
  light(gui, to_x, to_y, 34, Scenery.LIGHTS[1] * rest)
end

function DRAW.chill(gui, x, y, size, _, age)
  local rest = 1 - age
  Gui.circle(gui, Vector3(x, y, 4), size * (0.3 + 0.7 * age), Color(150 * rest, 170, 205, 255), 3)
  light(gui, x, y, size * 2.2, Scenery.LIGHTS[2] * (0.45 * rest))
end

function DRAW.shell(gui, x, y, to_x, to_y, age)
  local px, py = x + (to_x - x) * age, y + (to_y - y) * age + 260 * age * (1 - age)
  light(gui, px, py, 44, Scenery.LIGHTS[3])
  Gui.circle(gui, Vector3(px, py, 7), 4.5, Color(240, 255, 200))
end

function DRAW.burst(gui, x, y, size, _, age)
  local rest = 1 - age
  light(gui, x, y, size * (1.6 + 1.6 * age), Color(255 * rest, 190, 255, 110))
  local color = Color(200 * rest, 235, 255, 190)
  Gui.circle(gui, Vector3(x, y, 5), size * (0.4 + 0.6 * age), color, 1 + 3 * rest)
end

function DRAW.fall(gui, x, y, of, _, age)
  light(gui, x, y, 26 + 26 * age, Color.with_alpha(LIGHTS[of], 230 * (1 - age)))
end

function DRAW.harm(gui, x, y, _, _, age)
  light(gui, x, y + 40, 120 + 160 * age, Color(120 * (1 - age), 255, 70, 50))
end

---@param gui Gui
---@param effects Effects
function View.effects(gui, effects)
  for i = 1, effects.count do
    DRAW[effects.kind[i]](gui, effects.x[i], effects.y[i], effects.to_x[i], effects.to_y[i],
      effects.age[i])
  end
end

---Draws a message in the middle of the garden, as long as `rest` is above 0.
function View.message(gui, text, rest)
  if rest <= 0 then return end
  local strength = math.min(1, rest * 2)
  Gui.text(gui, text, nil, 34, nil, Vector3(Map.WIDTH / 2, Map.HEIGHT - 120, 20),
    Color(255 * strength, 255, 236, 200), { align = "center", outline = 2,
      outline_color = Color(200 * strength, 10, 14, 24) })
end

---Draws a tower that is not built yet, at the cursor.
---@param kind table of Towers.KINDS
function View.plan(gui, kind, color, cell, free)
  local x, y = Map.center(cell)
  local tint = free and color or Color(255, 80, 70)
  Gui.circle(gui, Vector3(x, y, 3), kind.range, Color.with_alpha(tint, 26))
  Gui.circle(gui, Vector3(x, y, 3), kind.range, Color.with_alpha(tint, 150), 1.5)
  Gui.rounded_rect(gui, Vector3(x - 16, y - 16, 3), Vector2(32, 32), 6, Color.with_alpha(tint, 90))
  Gui.bitmap(gui, "textures/" .. kind.name, Vector3(x - 20, y - 16, 4), Vector2(40, 60),
    Color.with_alpha(free and Color.white() or tint, 170))
end

return View
