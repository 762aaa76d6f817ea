-- The whole game, played by a script instead of a player: mouse, keys and the screen.
local Map = require "map"
local Panel = require "panel"

local function click(x, y)
  test.input({ { axis = "mouse:cursor", x = x, y = y }, { tap = "mouse:left" } })
  test.frames(2)
end

-- Clicks into the garden, by column and row.
local function click_cell(column, row)
  local x, y = Map.center((row - 1) * Map.WIDE + column)
  click(x, y + Panel.HEIGHT)
end

describe("the game", function()
  setup(function()
    test.boot()
    test.frames(2)
  end)

  it("builds a tower where the player clicks", function()
    click_cell(20, 10)
    assert.equals(1, #game.towers)
    assert.equals(1, game.towers[1].kind)
    assert.equals(270, game.money)
  end)

  it("builds the tower that was chosen, by its card or by its number", function()
    click(420 + 188 * 2 + 20, 40)
    click_cell(22, 12)
    assert.equals(3, game.towers[2].kind)
    test.input({ tap = "2" })
    test.frames(1)
    click_cell(24, 12)
    assert.equals(2, game.towers[3].kind)
    assert.equals(90, game.money)
  end)

  it("reports why nothing is built", function()
    click_cell(1, 1)
    assert.equals(3, #game.towers)
    game.money = 10
    click_cell(28, 12)
    assert.equals(3, #game.towers)
    local heard = Sound.history()
    assert.equals("sounds/refuse", heard[#heard].sound)
  end)

  it("switches the pages of its statistics by a key", function()
    local before = test.draw_calls()
    local function turned()
      test.input({ tap = "g" })
      test.frames(20)
      return test.draw_calls() - before
    end
    assert.is_true(turned() > 0)
    assert.is_true(turned() > 0)
    assert.equals(0, turned())
  end)

  it("starts a wave by the button", function()
    click(1100, 40)
    assert.equals("wave", game.phase)
    test.seconds(4)
    assert.is_true(game.crowd.count > 8)
    assert.is_true(Stats.value("crowd/alive") == game.crowd.count)
  end)

  it("plays sounds of shots", function()
    local sparks = 0
    test.until_(function() return #game.shells > 0 end, 3000)
    test.seconds(2)
    for _, one in ipairs(Sound.history()) do
      if one.sound == "sounds/spark" then sparks = sparks + 1 end
    end
    assert.is_true(sparks > 0)
  end)

  it("fits any window", function()
    test.input({ resize = { 640, 600 } })
    test.frames(2)
    game.money = 500
    -- Half as large, 120 pixels from the bottom.
    local x, y = Map.center(9 * Map.WIDE + 30)
    local count = #game.towers
    click(x / 2, (y + Panel.HEIGHT) / 2 + 120)
    assert.equals(count + 1, #game.towers)
    assert.equals(x, game.towers[count + 1].x)
    test.input({ resize = { 1280, 720 } })
    test.frames(2)
  end)

  it("draws a full garden in few draw calls", function()
    test.input({ tap = "t" })
    test.seconds(11)
    assert.is_true(game.crowd.count > 1200, game.crowd.count)
    assert.is_true(test.draw_calls() < 60, test.draw_calls())
  end)
end)
