-- Static objects: ground, ponds, stones, bushes, the lamp, towers. They are in *retained* Guis:
-- they are drawn once, here, and the engine keeps them. They cost nothing in a frame in which
-- nothing is built. (Moving objects are drawn in each frame, in view.lua.)
local Flow = require "flow"
local Map = require "map"
local Towers = require "towers"

local Scenery = {}

local GLOW, LIGHT = "textures/glow", "materials/light"
Scenery.LIGHTS = { Color(60, 220, 255), Color(120, 160, 255), Color(150, 240, 90) }

-- A separate random generator: the garden looks the same in every game, and the random numbers of
-- the game do not depend on its look.
local seed
local function chance(low, high)
  local number
  seed, number = Math.next_random(seed)
  return low + (high - low) * number
end

-- Draws a picture around its middle.
local function put(gui, name, x, y, layer, width, height, color)
  return Gui.bitmap(gui, name, Vector3(x - width / 2, y - height / 2, layer),
    Vector2(width, height), color or Color.white())
end

-- Worn grass along the ways that the beetles take through the empty garden.
local function put_paths(gui, map)
  local flow = Flow.new()
  Flow.solve(flow, map)
  for _, burrow in ipairs(map.burrows) do
    local x, y = Map.center(burrow)
    local cell = burrow
    while flow.distance[cell] > 1 do
      x, y = x + 30 * flow.x[cell], y + 30 * flow.y[cell]
      put(gui, GLOW, x + chance(-9, 9), y + chance(-9, 9), 1, 120, 96, Color(26, 150, 190, 130))
      cell = Map.cell_at(x, y)
    end
  end
end

-- Circles that merge: all of them are drawn three times, each time smaller and in another colour.
local SHORES = {
  { 33, Color(46, 66, 60) }, { 29.5, Color(24, 60, 84) }, { 26, Color(16, 44, 76) },
}

local function put_pond(gui, x, y)
  for layer, shore in ipairs(SHORES) do
    Gui.circle(gui, Vector3(x, y, 1 + layer), shore[1], shore[2])
  end
  if chance(0, 1) < 0.55 then
    local from = Vector3(x + chance(-16, 4), y + chance(-12, 12), 5)
    Gui.line(gui, from, from + Vector3(chance(5, 15), 0, 0), 1.6, Color(70, 160, 215, 240))
  end
  if chance(0, 1) < 0.22 then
    local leaf, spot = chance(4, 6.5), Vector3(x + chance(-10, 10), y + chance(-10, 10), 5)
    Gui.arc(gui, spot, leaf, 0.5 + x, 6.2 + x, Color(58, 120, 84))
  end
end

local function put_growth(gui, x, y)
  local tall = chance(12, 22)
  if chance(0, 1) < 0.5 then
    local green = Color(chance(110, 210), 255, 255, 255)
    put(gui, "textures/tuft", x + chance(-12, 12), y + chance(-12, 12), 5, tall, tall, green)
  end
  if chance(0, 1) < 0.09 then
    local petals = chance(0, 1) < 0.6 and Color(235, 190, 210, 255) or Color(235, 255, 190, 220)
    x, y = x + chance(-12, 12), y + chance(-12, 12)
    put(gui, LIGHT, x, y, 6, 34, 34, petals * 0.12)
    put(gui, "textures/flower", x, y, 6, 9, 9, petals)
  end
end

---Draws the objects below the beetles, into a retained Gui.
function Scenery.ground(gui, map)
  seed = 7
  put(gui, "textures/meadow", Map.WIDTH / 2, Map.HEIGHT / 2, 0, Map.WIDTH, Map.HEIGHT)
  put_paths(gui, map)
  for cell, look in ipairs(map.looks) do
    local x, y = Map.center(cell)
    if look == "~" then
      put_pond(gui, x, y)
    elseif look == "O" then
      put(gui, "textures/burrow", x, y, 6, 68, 58)
    elseif look == "#" then
      local size, name = chance(40, 50), "textures/stone_" .. math.floor(chance(1, 3.99))
      put(gui, GLOW, x + 5, y - 6, 5, 64, 56, Color(150, 0, 6, 14))
      put(gui, name, x + chance(-3, 3), y + chance(-3, 3), 6, size, size)
    elseif look == "b" then
      put(gui, GLOW, x + 6, y - 7, 5, 70, 62, Color(150, 0, 6, 14))
    elseif look == "." then
      put_growth(gui, x, y)
    end
  end
end

-- Objects lower on the screen are nearer, and are drawn over those behind them.
local function depth(y)
  return 10 + math.floor((Map.HEIGHT - y) / 8)
end

---Draws the objects between the beetles, into another retained Gui.
function Scenery.standing(gui, map)
  seed = 11
  for cell, look in ipairs(map.looks) do
    local x, y = Map.center(cell)
    if look == "b" then
      local size, name = chance(46, 58), "textures/bush_" .. math.floor(chance(1, 2.99))
      local edge = math.max(math.abs(x / Map.WIDTH - 0.5), math.abs(y / Map.HEIGHT - 0.5))
      local shade = Color.white() * (1 - 0.35 * Math.smoothstep(0.38, 0.5, edge))
      put(gui, name, x + chance(-4, 4), y + chance(-3, 5), depth(y), size, size, shade)
    end
  end
  local x, y = Map.center(map.lamp)
  put(gui, "textures/lamp", x, y + 34, depth(y), 72, 124)
end

---Draws a new tower: three objects, which exist as long as the Gui.
---@param gui Gui
---@param tower Tower
function Scenery.tower(gui, tower)
  local x, y, layer = tower.x, tower.y, depth(tower.y)
  put(gui, GLOW, x + 4, y - 12, layer, 56, 34, Color(200, 0, 6, 14))
  put(gui, LIGHT, x, y + 14, layer, 84, 84, Scenery.LIGHTS[tower.kind] * 0.5)
  put(gui, "textures/" .. Towers.KINDS[tower.kind].name, x, y + 14, layer + 1, 40, 60)
end

return Scenery
