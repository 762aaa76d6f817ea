-- Suite of gestures on the touch panel. Fingers that touch and lift are in input_test.lua.

local function touch(finger, phase, x, y, age)
  return { touch = finger, phase = phase, x = x, y = y, age = age }
end

local function play(...)
  test.input({ ... })
  test.frames()
end

local function tap(x, y)
  play(touch(1, "began", x, y, 0.01), touch(1, "ended", x, y, 0.005))
end

after_each(function()
  local events = {}
  for finger = 1, 3 do
    events[finger] = touch(finger, "cancelled", 0, 0)
  end
  test.input(events)
  test.frames(60)
end)

describe("a tap", function()
  it("is a finger that touches and lifts near one position, even within one frame", function()
    assert.is_nil(TouchPanel.gesture_tap())
    tap(40, 30)
    assert.equals(Vector2(40, 30), TouchPanel.gesture_tap())
    test.frames()
    assert.is_nil(TouchPanel.gesture_tap())
    play(touch(2, "began", 100, 100))
    test.frames(10)
    play(touch(2, "ended", 108, 100))
    assert.equals(Vector2(108, 100), TouchPanel.gesture_tap())
  end)

  it("is not reported if the finger moves away, stays too long, or is cancelled", function()
    play(touch(1, "began", 100, 100))
    play(touch(1, "ended", 120, 100))
    assert.is_nil(TouchPanel.gesture_tap())
    play(touch(1, "began", 100, 100))
    test.frames(20)
    play(touch(1, "ended", 100, 100))
    assert.is_nil(TouchPanel.gesture_tap())
    play(touch(1, "began", 100, 100))
    play(touch(1, "cancelled", 100, 100))
    assert.is_true(TouchPanel.is_touch_up(1))
    assert.equals("cancelled", Input.events()[1].phase)
    assert.is_nil(TouchPanel.gesture_tap())
  end)

  it("after another one is a double tap", function()
    tap(40, 30)
    assert.equals(1, #TouchPanel.gesture_tap_sequence())
    test.frames(6)
    assert.is_nil(TouchPanel.gesture_tap_sequence())
    tap(44, 30)
    assert.same({ { x = 40, y = 30 }, { x = 44, y = 30 } }, TouchPanel.gesture_tap_sequence())
    tap(300, 30)
    assert.same({ { x = 300, y = 30 } }, TouchPanel.gesture_tap_sequence())
    test.frames(30)
    tap(300, 30)
    assert.equals(1, #TouchPanel.gesture_tap_sequence(), "half a second later")
  end)
end)

describe("a long press", function()
  it("is a finger that rests for half a second, reported once, and not a tap", function()
    play(touch(1, "began", 50, 60))
    test.frames(29)
    assert.is_nil(TouchPanel.gesture_long_press())
    test.frames()
    assert.equals(Vector2(50, 60), TouchPanel.gesture_long_press())
    test.frames()
    assert.is_nil(TouchPanel.gesture_long_press())
    play(touch(1, "ended", 50, 60))
    assert.is_nil(TouchPanel.gesture_tap())
  end)
end)

describe("a swipe", function()
  for direction, move in Script.sorted_pairs({ left = { -60, 5 }, right = { 60, 5 }, up = { 5, 60 },
    down = { 5, -60 } }) do
    it("goes " .. direction, function()
      play(touch(1, "began", 200, 200), touch(1, "moved", 200 + move[1], 200 + move[2]))
      assert.equals(direction, TouchPanel.gesture_swipe())
      play(touch(1, "moved", 200 + 2 * move[1], 200 + 2 * move[2]))
      assert.is_nil(TouchPanel.gesture_swipe(), "once")
    end)
  end

  it("is not reported if it is slow, short, or diagonal", function()
    local function swiped(x, y, frames)
      play(touch(1, "began", 200, 200))
      test.frames(frames)
      play(touch(1, "moved", 200 + x, 200 + y))
      local direction = TouchPanel.gesture_swipe()
      play(touch(1, "ended", 200 + x, 200 + y))
      return direction
    end
    assert.is_nil(swiped(60, 0, 40))
    assert.is_nil(swiped(40, 0, 1))
    assert.is_nil(swiped(60, 45, 1))
  end)
end)

describe("a pinch", function()
  it("returns its scale relative to its start, and reports its end", function()
    play(touch(1, "began", 100, 100), touch(2, "began", 200, 100))
    assert.is_nil(TouchPanel.gesture_pinch())
    play(touch(2, "moved", 332, 100))
    local first = TouchPanel.gesture_pinch()
    assert.same({ true, false, 2, 216, 100 }, { first.began, first.ended, first.scale, first.x,
      first.y })
    assert.near(60, first.scale_per_second, 1e-3)
    play(touch(2, "moved", 158, 100))
    local pinch = TouchPanel.gesture_pinch()
    assert.near(0.5, pinch.scale, 1e-6)
    assert.is_true(pinch.scale_per_second < 0)
    assert.is_false(pinch.began)
    play(touch(2, "ended", 158, 100))
    assert.is_true(TouchPanel.gesture_pinch().ended)
    assert.is_nil(TouchPanel.gesture_tap())
    test.frames()
    assert.is_nil(TouchPanel.gesture_pinch())
  end)
end)

describe("a rotation", function()
  it("returns its angle, counterclockwise, beyond half a turn", function()
    local function around(degrees)
      local angle = math.rad(degrees)
      return 300 + 100 * math.cos(angle), 300 + 100 * math.sin(angle)
    end
    play(touch(1, "began", 300, 300), touch(2, "began", around(0)))
    for step = 1, 20 do
      play(touch(2, "moved", around(step * 10)))
    end
    local rotation = TouchPanel.gesture_rotate()
    assert.near(math.rad(190), rotation.rotation, 1e-3)
    assert.near(math.rad(600), rotation.rotation_per_second, 1e-2)
    assert.is_nil(TouchPanel.gesture_pinch())
    play(touch(1, "ended", 300, 300))
    assert.is_true(TouchPanel.gesture_rotate().ended)
  end)
end)

describe("gestures", function()
  it("accept no arguments, and refuse unknown phases", function()
    for _, call in ipairs({ "gesture_tap", "gesture_tap_sequence", "gesture_long_press",
      "gesture_swipe", "gesture_pinch", "gesture_rotate" }) do
      assert.error_matches(function() TouchPanel[call](1) end, "takes 0 arguments, got 1")
    end
    assert.error_matches(function() test.input(touch(1, "endd")) end,
      "there is no phase 'endd', did you mean 'ended'?")
    assert.error_matches(function() test.input({ touch = 1, phase = "ended", x = 1 }) end,
      "a finger needs 'x' and 'y', in pixels of the window")
  end)
end)
