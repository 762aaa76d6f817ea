-- The rules, played without a screen: building, shooting, waves, winning and losing.
local Crowd = require "crowd"
local Game = require "game"
local Map = require "map"
local Towers = require "towers"

local SPARK, FROST, STAR = 1, 2, 3

local function play(game, seconds)
  for _ = 1, seconds * 60 do
    Game.update(game, 1 / 60)
  end
end

-- Returns a cell by its column and row, from 1 at the bottom left.
local function cell(column, row)
  return (row - 1) * Map.WIDE + column
end

describe("building", function()
  local game ---@type Game

  before_each(function()
    Math.set_seed(1)
    game = Game.new()
  end)

  it("costs money and closes the cell", function()
    local tower = assert(Game.build(game, SPARK, cell(20, 10)))
    assert.equals(tower, game.towers[1])
    assert.equals(Game.MONEY - Towers.KINDS[SPARK].price, game.money)
    assert.is_true(game.map.closed[cell(20, 10)])
  end)

  it("is refused without room and without money", function()
    local refused = function(reason, kind, at)
      local tower, why = Game.build(game, kind, at)
      assert.is_nil(tower)
      assert.equals(reason, why)
    end
    refused("There is no room", SPARK, cell(1, 1)) -- a stone
    refused("There is no room", SPARK, game.map.burrows[1])
    refused("There is no room", SPARK, game.map.lamp)
    Game.build(game, SPARK, cell(20, 10))
    refused("There is no room", SPARK, cell(20, 10))
    game.money = Towers.KINDS[STAR].price - 1
    refused("There is not enough money", STAR, cell(22, 9))
    game.phase = "lost"
    refused("The night is over", SPARK, cell(22, 9))
  end)

  it("is refused if it would cut off a burrow, and changes nothing then", function()
    game.money = 9999
    local burrow = game.map.burrows[2]
    for _, by in ipairs({ -1, 1, Map.WIDE }) do
      assert(Game.build(game, SPARK, burrow + by))
    end
    local money, distance = game.money, game.flow.distance[burrow]
    local tower, why = Game.build(game, SPARK, burrow - Map.WIDE)
    assert.is_nil(tower)
    assert.equals("A way to the lamp must stay open", why)
    assert.same({ money, distance }, { game.money, game.flow.distance[burrow] })
    assert.is_false(game.map.closed[burrow - Map.WIDE])
  end)

  it("is refused if it would enclose a beetle", function()
    game.money = 9999
    local middle = cell(20, 10)
    Crowd.add(game.crowd, 1, Map.center(middle))
    for _, by in ipairs({ -1, 1, Map.WIDE }) do
      assert(Game.build(game, SPARK, middle + by))
    end
    local _, why = Game.build(game, SPARK, middle - Map.WIDE)
    assert.equals("A way to the lamp must stay open", why)
  end)

  it("diverts the crowd", function()
    game.money = 9999
    local before = game.flow.distance[game.map.burrows[2]]
    for row = 2, 18 do
      Game.build(game, SPARK, cell(30, row))
    end
    assert.is_true(game.flow.distance[game.map.burrows[2]] > before)
  end)
end)

describe("a tower", function()
  local game ---@type Game

  -- A tower with one walker next to it.
  local function shoots(kind, distance)
    Math.set_seed(1)
    game = Game.new()
    local tower = assert(Game.build(game, kind, cell(30, 10)))
    Crowd.add(game.crowd, 2, tower.x + distance, tower.y)
    Game.update(game, 1 / 60)
    return tower
  end

  it("shoots beetles in range at its rate", function()
    local tower = shoots(SPARK, 60)
    assert.equals(6, game.crowd.life[1])
    assert.is_true(tower.wait > 0)
    assert.is_true(game.heard.spark)
    play(game, 0.9)
    assert.equals(0, game.crowd.count)
    assert.equals(Game.MONEY - 50 + 1, game.money)
  end)

  it("does not shoot beetles out of range", function()
    shoots(SPARK, 140)
    assert.equals(8, game.crowd.life[1])
    assert.is_nil(game.heard.spark)
  end)

  it("of frost slows beetles around it", function()
    shoots(FROST, 60)
    assert.is_true(game.crowd.cold[1] > 1)
    assert.equals(7, game.crowd.life[1])
  end)

  it("of stars hits a crowd at its future position", function()
    game = Game.new()
    local tower = assert(Game.build(game, STAR, cell(30, 10)))
    tower.wait = 1
    for i = 1, 6 do
      Crowd.add(game.crowd, 1, tower.x - 130 + 3 * i, tower.y - 40 + 2 * i)
    end
    play(game, 1.1)
    assert.same({ 1, 6 }, { #game.shells, game.crowd.count })
    play(game, 0.6)
    assert.same({ 0, 0 }, { #game.shells, game.crowd.count })
    assert.is_true(game.heard.burst)
  end)

  it("targets the beetle nearest to the lamp", function()
    shoots(SPARK, -60)
    Crowd.add(game.crowd, 2, game.towers[1].x + 60, game.towers[1].y)
    game.towers[1].wait, game.crowd.life[1] = 0, 8
    Game.update(game, 1 / 60)
    assert.same({ 8, 6 }, { game.crowd.life[1], game.crowd.life[2] })
  end)
end)

describe("a night", function()
  it("has waves, each with a reward at its end", function()
    Math.set_seed(2)
    local game = Game.new()
    game.money = 5000
    for row = 9, 13, 2 do
      assert(Game.build(game, STAR, cell(33, row)))
      assert(Game.build(game, SPARK, cell(34, row)))
    end
    local money = game.money
    assert.is_true(Game.call(game))
    assert.is_false(Game.call(game), "one wave at a time")
    play(game, 5)
    assert.is_true(game.crowd.count > 10)
    play(game, 45)
    assert.same({ "build", 1, 0 }, { game.phase, game.wave, game.crowd.count })
    assert.equals(money + 60 + 60, game.money)
    assert.equals(Game.LIVES, game.lives)
  end)

  it("is lost without towers", function()
    Math.set_seed(3)
    local game = Game.new()
    game.wave = 4
    Game.call(game)
    play(game, 60)
    assert.same({ "lost", 0 }, { game.phase, game.lives })
    assert.is_false(Game.call(game))
  end)

  it("is won after the last wave", function()
    local game = Game.new()
    game.wave = #Game.WAVES - 1
    Game.call(game)
    game.coming = { 0, 0, 0 }
    Game.update(game, 1 / 60)
    assert.equals("won", game.phase)
  end)

  it("fills the garden in a tide, and protects the lamp", function()
    Math.set_seed(4)
    local game = Game.new()
    Game.turn_tide(game)
    play(game, 9)
    assert.is_true(game.crowd.count > 1400, game.crowd.count)
    assert.equals(Game.LIVES, game.lives)
    Game.turn_tide(game)
    local count = game.crowd.count
    play(game, 1)
    assert.equals(count, game.crowd.count)
  end)
end)
