-- Suite of Sprite: the frame that is shown at each time. The sheet pictures/hero has four frames of
-- a quarter of a second each.

local HERO = "pictures/hero"

-- Returns the last part of the frame's name at each of `count` steps of a quarter second.
local function shown(tag, count)
  local sprite = Sprite.new(HERO, tag)
  local names = {}
  for i = 1, count do
    names[i] = Sprite.frame(sprite):match("[^/]+$")
    Sprite.update(sprite, 0.25)
  end
  return table.concat(names, " ")
end

describe("A sprite", function()
  it("loops its tag in every direction", function()
    assert.equals("1 2 3 1 2 3 1", shown("run", 7))
    assert.equals("3 2 1 3 2 1 3", shown("back", 7))
    assert.equals("1 2 3 2 1 2 3", shown("sway", 7))
    assert.equals("3 2 1 2 3 2 1", shown("yaws", 7))
    assert.equals("1 2 3 4 1", shown(nil, 5))
  end)

  it("stays on its last frame after its loops", function()
    assert.equals("3 4 4 4", shown("fall", 4))
    local sprite = Sprite.new(HERO, "fall")
    assert.is_false(Sprite.finished(sprite))
    Sprite.update(sprite, 0.5)
    assert.is_true(Sprite.finished(sprite))
    Sprite.play(sprite, "fall")
    assert.is_false(Sprite.finished(sprite))
  end)

  it("returns names that can be drawn", function()
    assert.is_true(Texture.exists(Sprite.frame(Sprite.new(HERO, "run"))))
  end)

  it("continues when its tag is played again, and restarts with another one", function()
    local sprite = Sprite.new(HERO, "run")
    Sprite.update(sprite, 0.3)
    Sprite.play(sprite, "run")
    assert.equals(HERO .. "/2", Sprite.frame(sprite))
    Sprite.play(sprite, "back")
    assert.equals(HERO .. "/3", Sprite.frame(sprite))
    Sprite.play(sprite)
    assert.equals(HERO .. "/1", Sprite.frame(sprite))
  end)

  it("has a speed", function()
    local sprite = Sprite.new(HERO, "run")
    Sprite.set_speed(sprite, 0)
    Sprite.update(sprite, 100)
    assert.equals(HERO .. "/1", Sprite.frame(sprite))
    Sprite.set_speed(sprite, 2)
    Sprite.update(sprite, 0.25)
    assert.equals(HERO .. "/3", Sprite.frame(sprite))
  end)

  it("is plain data", function()
    assert.same({ sheet = HERO, tag = "run", time = 0, speed = 1 }, Sprite.new(HERO, "run"))
  end)
end)

describe("A sheet", function()
  it("returns its tags with their frames and durations", function()
    assert.same({ "run", "back", "sway", "yaws", "fall" }, Sprite.tags(HERO))
    assert.same({ HERO .. "/3", HERO .. "/4" }, Sprite.frames(HERO, "fall"))
    assert.equals(1, Sprite.seconds(HERO))
    assert.equals(0.75, Sprite.seconds(HERO, "run"))
  end)

  it("of a grid can have a duration for each frame", function()
    assert.near(1.25, Sprite.seconds("pictures/blink"), 1e-9)
    local sprite = Sprite.new("pictures/blink")
    Sprite.update(sprite, 0.95)
    assert.equals("pictures/blink/1", Sprite.frame(sprite))
    Sprite.update(sprite, 0.1)
    assert.equals("pictures/blink/2", Sprite.frame(sprite))
  end)
end)

describe("invalid use of sprites", function()
  it("reports invalid arguments", function()
    local sprite = Sprite.new(HERO, "run")
    local function check(message, fn, ...)
      local arguments, count = { ... }, select("#", ...)
      assert.error_matches(function() fn(unpack(arguments, 1, count)) end, message)
    end
    check("Sprite.new: argument #2 'tag': the sheet 'pictures/hero' has no tag 'rum', "
      .. "did you mean 'run'%?", Sprite.new, HERO, "rum")
    check("Sprite.new: argument #1 'sheet': there is no sheet 'pictures/here', "
      .. "did you mean 'pictures/hero'%?", Sprite.new, "pictures/here")
    check("argument #1 'sheet' must be string, got nil", Sprite.new)
    check("argument #2 'tag' must be string or nil, got number 1", Sprite.new, HERO, 1)
    check("argument #2 'delta' must be a number of at least 0, got %-1", Sprite.update, sprite, -1)
    check("argument #2 'delta' must be number, got nil", Sprite.update, sprite)
    check("argument #1 'sprite' must be Sprite, got nil", Sprite.update)
    check("argument #2 'speed' must be a number of at least 0", Sprite.set_speed, sprite, -2)
    check("has no tag 'jump'", Sprite.play, sprite, "jump")
    check("argument #1 'sprite' must be Sprite", Sprite.frame, {})
    check("argument #1 'sprite': must be a Sprite, and the number 7 never was one",
      Sprite.finished, 7)
    check("there is no sheet 'x'", Sprite.tags, "x")
    check("has no tag 'x'", Sprite.frames, HERO, "x")
    check("has no tag 'x'", Sprite.seconds, HERO, "x")
  end)
end)
