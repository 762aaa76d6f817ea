-- The game as a player sees it: keys, and their effects. Each test file starts the game once, so
-- each test continues where the one before it ended.
local Cave = require "rules.cave"
local Play = require "screens.play"
local Run = require "rules.run"
local Screen = require "tests.screen"

-- Lets all lamps go out, until the game is over.
local function lose_all_lives()
  local run = Play.state()
  for _ = 1, run.lives do
    run.oil = 0.01
    test.seconds(2)
  end
end

local function sounds_since(count)
  local names = {}
  local history = Sound.history()
  for i = count + 1, #history do names[history[i].sound] = true end
  return names
end

describe("the game", function()
  setup(function()
    test.boot()
    test.frames(2)
    Gui.inspect(require("ui").gui())
    test.frames(1)
  end)

  it("begins with its menu", function()
    assert.is_true(Screen.shows("Play"))
    assert.is_true(Screen.shows("Nobody has come back yet"))
  end)

  it("switches to the next language and back, with its pictures", function()
    local width = Texture.size("pictures/exit")
    Screen.tap("down")
    Screen.tap("right")
    assert.is_true(Screen.shows("Sprache: Deutsch"))
    assert.is_true(Texture.size("pictures/exit") > width)
    assert.equals("de", Application.user_setting("language"))
    Screen.tap("left")
    assert.is_true(Screen.shows("Language: English"))
    Screen.tap("up")
  end)

  it("starts when the player chooses it", function()
    Screen.tap("enter")
    assert.is_true(Screen.shows("Take 12 gems, then find the way out"))
    assert.is_true(Screen.shows("0 / 12"))
  end)

  it("digs in the direction of a key", function()
    local _, cave = Play.state()
    local x, heard = cave.hero.x, #Sound.history()
    Screen.hold("right", 12)
    assert.is_true(cave.hero.x > x)
    assert.is_nil(Cave.at(cave, x, cave.hero.y))
    local names = sounds_since(heard)
    assert.is_true(names["sounds/dig"])
  end)

  it("digs in the direction of a pad's stick or cross", function()
    local _, cave = Play.state()
    test.input({ connect = "pad1" })
    test.frames(1)
    local y = cave.hero.y
    test.input({ axis = "pad1:left", x = 0, y = -1 })
    test.frames(12)
    test.input({ axis = "pad1:left", x = 0, y = 0 })
    test.frames(12)
    assert.is_true(cave.hero.y < y)
    local x = cave.hero.x
    Screen.hold("pad1:d left", 12)
    assert.is_true(cave.hero.x < x)
  end)

  it("counts a tap that ends before the next step", function()
    local _, cave = Play.state()
    local x = cave.hero.x
    test.input({ tap = "right" })
    test.frames(12)
    assert.equals(x + 1, cave.hero.x)
  end)

  it("stops while it is paused, also when the window loses focus", function()
    Screen.tap("p")
    assert.is_true(Screen.shows("Pause"))
    local run = Play.state()
    local oil = run.oil
    test.seconds(1)
    assert.equals(oil, run.oil)
    Screen.tap("p")
    test.input({ focus = false })
    test.frames(2)
    assert.is_true(Screen.shows("Pause"))
    test.input({ focus = true })
    Screen.tap("pad1:a")
    assert.is_false(Screen.shows("Pause"))
  end)

  it("makes at most 500 engine calls in a frame", function()
    assert.within_budget({ frames = 30, warm = 5, engine_calls = 500 })
  end)

  it("continues with the old rules if the saved ones are broken", function()
    local run = Play.state()
    run.score = 70
    assert.is_nil(test.reload("rules/run.lua", "local Run = {}\nreturn Run("))
    test.frames(10)
    assert.equals(70, (Play.state()).score)
    assert.equals(10, Run.take({ score = 0, combo = 0, oil = 1 }, { kind = "gem" }))
  end)

  it("restarts a cave when its map is saved", function()
    local _, before = Play.state()
    on_reload({ "maps/cave_1.tilemap" })
    local run, after = Play.state()
    assert.is_false(before == after)
    assert.equals(70, run.score)
  end)

  it("ends with the last life, and keeps the score", function()
    lose_all_lives()
    test.seconds(2)
    assert.is_true(Screen.shows("Game over"))
    assert.is_true(Screen.shows("Place 1 of the best!"))
    assert.same({ { score = 70, depth = 1 } }, Save.read("scores"))
    Screen.tap("escape")
    assert.is_true(Screen.shows("Play"))
    assert.is_true(Screen.shows("70"))
  end)

  it("goes deeper through the door", function()
    Screen.tap("pad1:a")
    local run, cave = Play.state()
    cave.gems = cave.needed
    -- Next to the door, with nothing between.
    Cave.put(cave, "hero", cave.door.x - 1, cave.door.y)
    Screen.hold("right", 20)
    assert.equals("won", cave.ended)
    assert.is_true(Screen.shows("Deeper!"))
    test.seconds(2)
    assert.equals(2, run.depth)
    assert.equals("maps/cave_2", Run.map(run))
  end)

  it("ends a life when the oil is used up", function()
    local run = Play.state()
    run.oil = 0.01
    test.frames(2)
    assert.is_true(Screen.shows("The lamp went out"))
    assert.equals(2, run.lives)
  end)
end)
