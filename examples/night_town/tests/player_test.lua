-- The player: walks, looks, flies, and moves the sliders.
local Clock = require "clock"
local Eye = require "eye"
local Mirror = require "mirror"
local Panel = require "panel"
local Weather = require "weather"

describe("the player", function()
  setup(function()
    test.boot()
    test.frames(5)
  end)

  after_each(function()
    test.input({ { release = "w" }, { release = "a" }, { release = "mouse:left" } })
    test.frames(2)
  end)

  it("walks along the street", function()
    local start = Eye.position
    test.input({ press = "w" })
    test.seconds(2)
    assert.near(4, Eye.position.y - start.y, 0.7)
    assert.near(start.z, Eye.position.z, 0.15)
  end)

  it("does not walk through houses", function()
    test.input({ press = "a" })
    test.seconds(8)
    assert.is_true(Eye.position.x > -4.4 and Eye.position.x < -3.5, Eye.position.x .. " metres")
    assert.near(1.72, Eye.position.z, 0.05) -- on the pavement
  end)

  it("looks around with the mouse, not at its feet and not behind its head", function()
    test.input({ { press = "mouse:right" }, { axis = "mouse:mouse", x = -200, y = 3000 } })
    test.frames(2)
    assert.is_true(Eye.yaw > 0.5)
    assert.equals(1.2, Eye.pitch)
    test.input({ { release = "mouse:right" } })
    Eye.yaw, Eye.pitch = 0, 0
  end)

  it("flies along the path and comes back to its feet", function()
    local feet = Eye.position
    test.input({ tap = "f" })
    test.seconds(20)
    assert.is_true(Eye.position.y > 8, Eye.position.y .. " metres")
    test.input({ tap = "f" })
    test.frames(3)
    assert.near(feet.y, Eye.position.y, 0.2)
  end)

  -- Moves a slider from the share of its track at which it is to another one.
  local function drag(row, share)
    local _, height = Gui.resolution()
    local y = height - 18 - 40 * row + 2
    test.input({ axis = "mouse:cursor", x = 18 + 16 + 50, y = y })
    test.frames(1)
    test.input({ press = "mouse:left" })
    test.frames(2)
    test.input({ axis = "mouse:cursor", x = 18 + 16 + 228 * share, y = y - 80 })
    test.frames(2)
    test.input({ release = "mouse:left" })
    test.frames(2)
  end

  it("sets time, rain and fog with the sliders", function()
    drag(1, 0.5)
    assert.near(12, Clock.hour, 0.1)
    drag(2, 1)
    assert.equals(1, Weather.rain)
    drag(3, 0)
    assert.equals(0, Weather.fog)
  end)

  it("sets them with keys, too", function()
    Clock.set(12)
    test.input({ press = "e" })
    test.seconds(1)
    test.input({ release = "e" })
    assert.near(13.5, Clock.hour, 0.1)
    test.input({ press = "z" })
    test.seconds(3)
    test.input({ release = "z" })
    assert.equals(0, Weather.rain)
  end)

  it("lets time pass, over midnight", function()
    Clock.set(23.9)
    test.input({ tap = "space" })
    test.seconds(2)
    test.input({ tap = "space" })
    assert.near(0.4, Clock.hour, 0.05)
    test.frames(2)
    local hour = Clock.hour
    test.seconds(1)
    assert.equals(hour, Clock.hour)
  end)

  it("hides the panel, and the sliders with it", function()
    test.input({ tap = "tab" })
    test.frames(2)
    assert.is_false(Panel.shown)
    Clock.set(20)
    drag(1, 0.25)
    assert.equals(20, Clock.hour)
    test.input({ tap = "tab" })
    test.frames(2)
    assert.is_true(Panel.shown)
  end)

  it("can do without the mirror of the streets", function()
    Weather.wet = 1
    test.frames(2)
    -- The clock tower is seen once by each view.
    local function views()
      local count = 0
      for _, draw in ipairs(test.draws()) do
        if draw.pass == "solid" and draw.name == "models/tower/Walls" then count = count + 1 end
      end
      return count
    end
    test.input({ tap = "m" })
    test.seconds(1)
    assert.is_false(Mirror.on)
    assert.equals(1, views())
    test.input({ tap = "m" })
    test.seconds(1)
    assert.equals(2, views())
  end)
end)
