-- The whole game, played by a script with simulated input.
local Game = require "game"

describe("the platformer", function()
  setup(function() test.boot() end)

  -- Begins a level, with the hero at a position.
  local function begin(x, y)
    test.input({})
    Game.start()
    if x then Game.hero:appear(Vector3(x, y, 0)) end
    test.frames(3)
  end

  local function tap(key)
    test.input({ press = key })
    test.frames(2)
    test.input({ release = key })
    test.frames(1)
  end

  it("begins with a menu", function()
    test.frames(2)
    assert.is_not_nil(open_menu())
    tap("enter")
    assert.is_nil(open_menu())
    assert.equals("playing", Game.state)
  end)

  it("has a hero who runs, jumps and lands", function()
    begin()
    local start = Game.hero.position
    test.input({ press = "right" })
    test.frames(20)
    test.input({ release = "right" })
    assert.is_true(Game.hero.position.x > start.x + 1)
    test.seconds(0.5)
    local ground = Game.hero.position.y
    test.input({ press = "space" })
    test.frames(15)
    assert.is_true(Game.hero.position.y > ground + 2)
    test.input({ release = "space" })
    test.seconds(1)
    assert.near(ground, Game.hero.position.y, 0.05)
    assert.is_true(Game.hero.grounded)
  end)

  it("lets the hero jump shortly after an edge", function()
    begin()
    local hero = Game.hero
    hero.grounded, hero.coyote = false, 0.05
    hero:appear(Vector3(24.5, 9, 0)) -- above the water
    hero.coyote, hero.grounded = 0.1, false
    test.input({ press = "space" })
    test.frames(2)
    test.input({ release = "space" })
    assert.is_true(hero.y_speed > 0)
  end)

  it("has slopes and platforms that are open from below", function()
    begin(12, 4)
    test.input({ press = "right" })
    test.frames(45)
    test.input({ release = "right" })
    assert.near(6, Game.hero.position.y, 0.1)
    begin(32.4, 5)
    for i = #Game.slimes, 1, -1 do table.remove(Game.slimes, i) end
    test.input({ press = "space" })
    test.seconds(1.2)
    test.input({ release = "space" })
    assert.near(8, Game.hero.position.y, 0.1)
    tap("down")
    test.seconds(1)
    assert.near(5, Game.hero.position.y, 0.1)
  end)

  it("counts coins", function()
    begin(30.5, 8)
    test.frames(5)
    assert.is_true(Game.coins > 0)
  end)

  it("has slimes that turn at walls and are flattened from above", function()
    begin(40.5, 10)
    local slime = Game.slimes[3]
    local left, right = math.huge, -math.huge
    for _ = 1, 400 do
      test.frames(1)
      local x = Unit.local_position(slime.unit, 1).x
      left, right = math.min(left, x), math.max(right, x)
      Game.hero:appear(Vector3(40.5, 12, 0))
    end
    assert.is_true(right - left > 2 and right - left < 16, left .. " to " .. right)
    local count = #Game.slimes
    Game.hero:appear(Unit.local_position(slime.unit, 1) + Vector3(0, 2, 0))
    test.seconds(0.6)
    assert.equals(count - 1, #Game.slimes)
    assert.is_true(Game.hero:is_alive())
  end)

  it("takes a life in water, and ends without lives", function()
    for life = 3, 1, -1 do
      if life == 3 then begin(24.5, 6) else Game.hero:appear(Vector3(24.5, 6, 0)) end
      assert.equals(life, Game.lives)
      test.seconds(3)
    end
    assert.equals("over", Game.state)
    assert.is_not_nil(open_menu())
    tap("enter")
    assert.equals("playing", Game.state)
  end)

  it("is won at the flag", function()
    begin(110, 5)
    test.input({ press = "right" })
    test.until_(function() return Game.state == "won" end)
    test.input({ release = "right" })
    assert.is_not_nil(open_menu())
    tap("enter")
  end)

  it("pauses", function()
    begin()
    tap("escape")
    local time = Game.time
    test.frames(10)
    assert.equals(time, Game.time)
    tap("enter")
    test.frames(3)
    assert.is_true(Game.time > time)
  end)
end)
