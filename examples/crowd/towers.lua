-- Towers: their targets and the effects of their shots. The rules for their places are in game.lua.
-- They find beetles through the bins of the crowd, so that a tower checks only the beetles near
-- it, not all 2,000.
local Crowd = require "crowd"
local Effects = require "effects"

local Towers = {}

Towers.KINDS = {
  { name = "spark", note = "Strikes one, fast", price = 50, range = 112, wait = 0.2, damage = 2 },
  { name = "frost", note = "Slows all around", price = 70, range = 84, wait = 1.2, cold = 1.7,
    damage = 1 },
  { name = "star", note = "Bursts in a crowd", price = 110, range = 176, wait = 1.3, damage = 6,
    blast = 44 },
}

local shots = Stats.counter("crowd/shots")
local BIN, BINS_WIDE, BINS_TALL = Crowd.BIN, Crowd.BINS_WIDE, Crowd.BINS_TALL

---@class Tower
---@field kind integer of Towers.KINDS
---@field x number
---@field y number
---@field wait number seconds to the next shot

-- A star in the air.
---@class Shell
---@field x number where it lands
---@field y number
---@field wait number seconds until then
---@field kind table of Towers.KINDS

-- Calls `visit(i, ...)` for each beetle in a circle.
local function around(crowd, x, y, radius, visit, ...)
  local left = math.max(0, math.floor((x - radius) / BIN))
  local right = math.min(BINS_WIDE - 1, math.floor((x + radius) / BIN))
  local bottom = math.max(0, math.floor((y - radius) / BIN))
  local top = math.min(BINS_TALL - 1, math.floor((y + radius) / BIN))
  for row = bottom, top do
    local bin = row * BINS_WIDE + 1
    for k = crowd.first[bin + left], crowd.first[bin + right + 1] - 1 do
      local i = crowd.order[k]
      local dx, dy = crowd.x[i] - x, crowd.y[i] - y
      if dx * dx + dy * dy < radius * radius then visit(i, ...) end
    end
  end
end

-- Targets the beetle that is nearest to the lamp: `best` is the best one found so far.
local best = { beetle = 0, distance = 0 }

local function choose(i, crowd, distance, cell_at)
  local far = distance[cell_at(crowd.x[i], crowd.y[i])]
  if crowd.life[i] > 0 and far < best.distance then
    best.beetle, best.distance = i, far
  end
end

local function hurt(i, crowd, damage, cold)
  crowd.life[i] = crowd.life[i] - damage
  if cold then crowd.cold[i] = cold end
end

local SHOOT = {}

function SHOOT.spark(game, tower, kind, target)
  hurt(target, game.crowd, kind.damage)
  Effects.add(game.effects, "bolt", tower.x, tower.y + 22, game.crowd.x[target],
    game.crowd.y[target])
end

function SHOOT.frost(game, tower, kind)
  around(game.crowd, tower.x, tower.y, kind.range, hurt, game.crowd, kind.damage, kind.cold)
  Effects.add(game.effects, "chill", tower.x, tower.y, kind.range)
end

-- A star flies for a while, so it is thrown to the point where its target will be.
function SHOOT.star(game, tower, kind, target)
  local crowd, flight = game.crowd, Effects.SECONDS.shell
  local x = crowd.x[target] + crowd.vx[target] * flight
  local y = crowd.y[target] + crowd.vy[target] * flight
  game.shells[#game.shells + 1] = { x = x, y = y, wait = flight, kind = kind }
  Effects.add(game.effects, "shell", tower.x, tower.y + 14, x, y)
end

local function burst(game, shell)
  local kind = shell.kind
  around(game.crowd, shell.x, shell.y, kind.blast, hurt, game.crowd, kind.damage)
  Effects.add(game.effects, "burst", shell.x, shell.y, kind.blast)
  game.heard.burst = true
end

---Updates all towers and their shells. The crowd must have moved first, because its bins are used.
---@param game Game
---@param cell_at function returns the cell of a point
---@param dt number
function Towers.update(game, cell_at, dt)
  local crowd = game.crowd
  for _, tower in ipairs(game.towers) do
    tower.wait = tower.wait - dt
    if tower.wait <= 0 then
      local kind = Towers.KINDS[tower.kind]
      best.beetle, best.distance = 0, math.huge
      around(crowd, tower.x, tower.y, kind.range, choose, crowd, game.flow.distance, cell_at)
      if best.beetle > 0 then
        tower.wait = kind.wait
        SHOOT[kind.name](game, tower, kind, best.beetle)
        game.heard[kind.name] = true
        shots.value = shots.value + 1
      end
    end
  end
  for i = #game.shells, 1, -1 do
    local shell = game.shells[i]
    shell.wait = shell.wait - dt
    if shell.wait <= 0 then
      burst(game, shell)
      table.remove(game.shells, i)
    end
  end
end

return Towers
