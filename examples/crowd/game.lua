-- The rules: waves, money, lives, and where a tower may stand. This module has no screen and no
-- input, so that tests can play it in a few lines, a hundred times faster than a player.
local Crowd = require "crowd"
local Effects = require "effects"
local Flow = require "flow"
local Map = require "map"
local Towers = require "towers"

local Game = {}

Game.LIVES, Game.MONEY = 100, 320
local SOLVE_SECONDS = 0.25 -- the interval at which the field is solved for the current crowd
local TIDE_MONEY = 1500
local REACH = 30 -- how near a beetle must come to the lamp

-- The number of beetles of each kind, and the seconds over which they come.
Game.WAVES = {
  { 0, 60, 0, seconds = 14 },
  { 60, 120, 0, seconds = 16 },
  { 80, 200, 5, seconds = 18 },
  { 320, 160, 10, seconds = 20 },
  { 160, 520, 20, seconds = 22 },
  { 400, 700, 40, seconds = 24 },
  { 730, 1200, 70, seconds = 26 },
}

local fallen = Stats.counter("crowd/fallen")

---@class Game
---@field map Map
---@field flow FlowField
---@field crowd Crowd
---@field effects Effects
---@field towers Tower[]
---@field tower_at table<integer, Tower> by cell
---@field shells Shell[] stars in the air
---@field lives integer
---@field money integer
---@field wave integer of Game.WAVES; 0 before the first one
---@field phase string "build", "wave", "won" or "lost"
---@field tide boolean
---@field coming integer[] the beetles of each kind that still come
---@field rate number beetles a second
---@field due number beetles that are due, with a fraction
---@field solve_in number seconds until the field is solved again
---@field heard table<string, boolean> the names of the sounds of this step

---@return Game
function Game.new()
  local game = {
    map = Map.new(), flow = Flow.new(), crowd = Crowd.new(), effects = Effects.new(),
    towers = {}, shells = {}, tower_at = {}, heard = {},
    lives = Game.LIVES, money = Game.MONEY, wave = 0, phase = "build", tide = false,
    coming = { 0, 0, 0 }, rate = 0, due = 0, solve_in = 0,
  }
  Flow.solve(game.flow, game.map)
  return game
end

---Returns true if a cell is free. Money and blocked ways are not checked.
---@return boolean
function Game.has_room(game, cell)
  return game.map.looks[cell] == "." and not game.map.closed[cell]
end

---Returns the reason why a tower cannot stand on a cell, or nil if it can.
---@return string|nil words
function Game.refusal(game, kind, cell)
  local map = game.map
  if game.phase == "won" or game.phase == "lost" then return "The night is over" end
  if not Game.has_room(game, cell) then return "There is no room" end
  if Towers.KINDS[kind].price > game.money then return "There is not enough money" end
  -- To find out if the tower would block all ways, close the cell and solve the field.
  map.closed[cell] = true
  Flow.solve(game.flow, map, game.crowd)
  local cut_off = false
  for _, burrow in ipairs(map.burrows) do
    cut_off = cut_off or not Flow.leads(game.flow, burrow)
  end
  for i = 1, game.crowd.count do
    local at = Map.cell_at(game.crowd.x[i], game.crowd.y[i])
    cut_off = cut_off or not (map.closed[at] or Flow.leads(game.flow, at))
  end
  map.closed[cell] = false
  Flow.solve(game.flow, map, game.crowd)
  return cut_off and "A way to the lamp must stay open" or nil
end

---@return Tower|nil tower
---@return string|nil words why there is none
function Game.build(game, kind, cell)
  local reason = Game.refusal(game, kind, cell)
  if reason then return nil, reason end
  local x, y = Map.center(cell)
  local tower = { kind = kind, x = x, y = y, wait = 0 }
  game.towers[#game.towers + 1], game.tower_at[cell] = tower, tower
  game.money = game.money - Towers.KINDS[kind].price
  game.map.closed[cell] = true
  Flow.solve(game.flow, game.map, game.crowd)
  game.heard.build = true
  return tower
end

---Starts the next wave.
---@return boolean called
function Game.call(game)
  if game.phase ~= "build" then return false end
  game.phase, game.wave, game.heard.wave = "wave", game.wave + 1, true
  local wave = Game.WAVES[game.wave]
  game.coming = { wave[1], wave[2], wave[3] }
  game.rate, game.due = (wave[1] + wave[2] + wave[3]) / wave.seconds, 0
  return true
end

---Begins or ends a tide: the maximum number of beetles, a lamp that takes no damage, and money for
---a row of towers. A tide is not part of a normal game. It is for demonstration and measurement.
function Game.turn_tide(game)
  if game.phase == "won" or game.phase == "lost" then return end
  game.phase, game.tide, game.heard.wave = "wave", not game.tide, true
  game.coming, game.money = { 0, 0, 0 }, game.money + (game.tide and TIDE_MONEY or 0)
end

-- Spawns a beetle of a random remaining kind at a random burrow.
local function emerge(game)
  local coming = game.coming
  local left = coming[1] + coming[2] + coming[3]
  if left == 0 then return false end
  local number, kind = Math.random(left), 1
  while number > coming[kind] do
    number, kind = number - coming[kind], kind + 1
  end
  local x, y = Map.center(game.map.burrows[Math.random(#game.map.burrows)])
  x, y = x + 22 * (Math.random() - 0.5), y + 22 * (Math.random() - 0.5)
  if not Crowd.add(game.crowd, kind, x, y) then return false end
  coming[kind] = coming[kind] - 1
  return true
end

-- Removes beetles that fell or reached the lamp.
local function settle(game)
  local crowd, lamp_x, lamp_y = game.crowd, Map.center(game.map.lamp)
  for i = crowd.count, 1, -1 do
    local kind, dx, dy = Crowd.KINDS[crowd.kind[i]], crowd.x[i] - lamp_x, crowd.y[i] - lamp_y
    if crowd.life[i] <= 0 then
      game.money, fallen.value = game.money + kind.pay, fallen.value + 1
      Effects.add(game.effects, "fall", crowd.x[i], crowd.y[i], crowd.kind[i])
      game.heard.pop = true
      Crowd.remove(crowd, i)
    elseif dx * dx + dy * dy < REACH * REACH then
      if not game.tide then game.lives = math.max(0, game.lives - kind.harm) end
      Effects.add(game.effects, "harm", lamp_x, lamp_y)
      game.heard.hurt = true
      Crowd.remove(crowd, i)
    end
  end
end

---@param game Game
---@param dt number
function Game.update(game, dt)
  if game.tide then
    game.coming, game.rate = { 700, 800, 50 }, 180
  end
  game.due = game.due + game.rate * dt
  while game.due >= 1 do
    game.due = emerge(game) and game.due - 1 or 0
  end
  game.solve_in = game.solve_in - dt
  if game.solve_in <= 0 then
    Flow.solve(game.flow, game.map, game.crowd)
    game.solve_in = SOLVE_SECONDS
  end
  Crowd.move(game.crowd, game.flow, game.map, dt)
  Towers.update(game, Map.cell_at, dt)
  settle(game)
  Effects.update(game.effects, dt)
  if game.phase ~= "wave" then return end
  local coming = game.coming[1] + game.coming[2] + game.coming[3]
  if game.lives == 0 then
    game.phase = "lost"
  elseif coming + game.crowd.count == 0 then
    game.phase = game.wave == #Game.WAVES and "won" or "build"
    game.money = game.money + 40 + 20 * game.wave
  end
end

return Game
