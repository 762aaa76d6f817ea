-- Suite of tweens and easings. Each test moves time itself, with Tween.advance.

describe("Tween", function()
  local function near(wanted, got)
    assert.is_true(math.abs(wanted - got) < 1e-9, "wanted " .. wanted .. ", got " .. got)
  end

  before_each(function() Tween.cancel_all() end)

  it("moves a field linearly and ends exactly at its target", function()
    local box = { x = 1 }
    local id = Tween.to(box, 2, { x = 0.3 })
    Tween.advance(1)
    near(0.65, box.x)
    assert.is_true(Tween.is_active(id))
    Tween.advance(1.5)
    assert.equals(0.3, box.x)
    assert.is_false(Tween.is_active(id))
    assert.equals(0, Tween.count())
  end)

  it("ends in the right frame when many small steps add up", function()
    local box, frames = { x = 0 }, 0
    local id = Tween.to(box, 10, { x = 1 })
    while Tween.is_active(id) do
      Tween.advance(1 / 60)
      frames = frames + 1
    end
    assert.equals(600, frames)
  end)

  it("moves several fields, also of arrays", function()
    local box = { 10, 20, name = "box", x = 0 }
    Tween.to(box, 1, { 20, 40, x = 1 })
    Tween.advance(0.5)
    assert.same({ 15, 30, name = "box", x = 0.5 }, box)
  end)

  it("moves values with -, * and +", function()
    local pair = {}
    pair.__index = pair
    local function new(a, b) return setmetatable({ a = a, b = b }, pair) end
    pair.__add = function(p, q) return new(p.a + q.a, p.b + q.b) end
    pair.__sub = function(p, q) return new(p.a - q.a, p.b - q.b) end
    pair.__mul = function(p, k) return new(p.a * k, p.b * k) end
    local goal = new(4, 8)
    local box = { position = new(0, 4) }
    Tween.to(box, 1, { position = goal })
    Tween.advance(0.25)
    assert.same({ 1, 5 }, { box.position.a, box.position.b })
    Tween.advance(0.75)
    assert.equals(goal, box.position)
  end)

  it("calls on_done once, with the table, after the final values are set", function()
    local calls = {}
    local box = { x = 0 }
    Tween.to(box, 1, { x = 5 }, nil, function(target) calls[#calls + 1] = target.x end)
    Tween.to(box, 1, { x = 7 }, { on_done = function(target) calls[#calls + 1] = target.x end })
    Tween.advance(3)
    Tween.advance(3)
    assert.same({ 7 }, calls)
  end)

  it("waits for its delay and reads its start when it begins", function()
    local box = { x = 0 }
    Tween.to(box, 1, { x = 10 }, { delay = 1 })
    Tween.advance(0.5)
    assert.equals(0, box.x)
    box.x = 4
    Tween.advance(1)
    near(7, box.x)
  end)

  it("ends with a message if a field no longer exists after the delay", function()
    local box = { x = 0 }
    local id = Tween.to(box, 1, { x = 10 }, { delay = 1 })
    box.x = nil
    assert.error_matches(function() Tween.advance(1) end,
      "Tween.to: field 'x' of the target is nil: set a start value")
    assert.is_false(Tween.is_active(id))
    assert.equals(0, Tween.count())
    Tween.advance(1)
  end)

  it("runs several times", function()
    local box = { x = 0 }
    local id = Tween.to(box, 1, { x = 10 }, { times = 3 })
    Tween.advance(0.25)
    near(2.5, box.x)
    Tween.advance(1.5)
    near(7.5, box.x)
    Tween.advance(1.25)
    assert.equals(10, box.x)
    assert.is_false(Tween.is_active(id))
  end)

  it("moves back and forth with yoyo, and ends exactly at the start", function()
    local box = { x = 0.1 }
    local id = Tween.to(box, 1, { x = 10.1 }, { times = 2, yoyo = true, easing = "quad_in" })
    Tween.advance(0.5)
    near(2.6, box.x)
    Tween.advance(1)
    near(2.6, box.x)
    Tween.advance(0.5)
    assert.equals(0.1, box.x)
    assert.is_false(Tween.is_active(id))
  end)

  it("runs endlessly", function()
    local box = { x = 0 }
    local id = Tween.to(box, 1, { x = 1 }, { times = math.huge, yoyo = true })
    Tween.advance(1001.25)
    near(0.75, box.x)
    assert.is_true(Tween.is_active(id))
    assert.is_true(Tween.cancel(id))
  end)

  it("sets the values in the next frame with 0 seconds", function()
    local box = { x = 0 }
    Tween.to(box, 0, { x = 3 })
    assert.equals(0, box.x)
    Tween.advance(0)
    assert.equals(3, box.x)
  end)

  it("lets the later tween take over a field", function()
    local box, done = { x = 0, y = 0 }, false
    local first = Tween.to(box, 2, { x = 10, y = 10 }, nil, function() done = true end)
    Tween.advance(1)
    local second = Tween.to(box, 1, { x = 0 })
    Tween.advance(0.5)
    near(2.5, box.x)
    near(7.5, box.y)
    Tween.advance(0.5)
    assert.is_true(done)
    assert.same({ x = 0, y = 10 }, box)
    assert.is_false(Tween.is_active(first))
    assert.is_false(Tween.is_active(second))
  end)

  it("ends a tween that lost all its fields, without on_done", function()
    local box, done = { x = 0 }, false
    local first = Tween.to(box, 1, { x = 10 }, nil, function() done = true end)
    Tween.to(box, 3, { x = 3 })
    assert.is_false(Tween.is_active(first))
    Tween.advance(2)
    near(2, box.x)
    assert.is_false(done)
  end)

  it("takes a field over when its delay ends, not before", function()
    local box = { x = 0 }
    Tween.to(box, 1, { x = 10 })
    Tween.to(box, 1, { x = 0 }, { delay = 1 })
    Tween.advance(0.5)
    near(5, box.x)
    Tween.advance(0.5)
    assert.equals(10, box.x)
    Tween.advance(0.5)
    near(5, box.x)
  end)

  it("stops at its current values when cancelled", function()
    local box = { x = 0 }
    local id = Tween.to(box, 1, { x = 10 })
    Tween.advance(0.5)
    assert.is_true(Tween.cancel(id))
    assert.is_false(Tween.cancel(id))
    Tween.advance(0.5)
    near(5, box.x)
    Tween.to(box, 1, { x = 10 })
    Tween.to({ x = 0 }, 1, { x = 10 })
    assert.equals(2, Tween.count())
    Tween.cancel_all()
    assert.equals(0, Tween.count())
  end)

  it("lets on_done create and cancel tweens", function()
    local box, other = { x = 0 }, { x = 0 }
    local id
    Tween.to(box, 1, { x = 1 }, nil, function()
      Tween.cancel(id)
      Tween.to(box, 1, { x = 2 })
    end)
    id = Tween.to(other, 2, { x = 2 })
    Tween.advance(1)
    assert.equals(0, other.x)
    Tween.advance(0.5)
    near(1.5, box.x)
    assert.equals(0, other.x)
  end)

  it("keeps the other tweens correct after an error in on_done", function()
    local box, other = { x = 0 }, { x = 0 }
    Tween.to(box, 1, { x = 1 }, nil, function() error("broken on_done", 0) end)
    Tween.to(other, 2, { x = 2 })
    assert.error_matches(function() Tween.advance(1) end, "broken on_done")
    Tween.advance(0.5)
    near(1.5, other.x)
  end)

  it("accepts a function as an easing", function()
    local box = { x = 0 }
    Tween.to(box, 1, { x = 10 }, function(t) return t * t * t end)
    Tween.advance(0.5)
    near(1.25, box.x)
    Tween.to(box, 1, { x = 10 }, function() return "fast" end)
    assert.error_matches(function() Tween.advance(0.1) end,
      "Tween.to: the easing function must return a number, got string")
    assert.equals(0, Tween.count())
  end)

  it("reports wrong arguments", function()
    local box = { x = 0, name = "box", list = {}, broken = 0 / 0 }
    local cases = {
      { { 3, 1, { x = 1 } }, "Tween.to: argument #1 'target' must be a table, got number 3" },
      { { box, -1, { x = 1 } }, "Tween.to: argument #2 'seconds' must be a number of seconds" },
      { { box, 0 / 0, { x = 1 } }, "Tween.to: argument #2 'seconds'" },
      { { box, 1, 5 }, "Tween.to: argument #3 'values' must be a table of fields" },
      { { box, 1, {} }, "Tween.to: argument #3 'values' names no field to move" },
      { { box, 1, { y = 1 } }, "Tween.to: field 'y' of the target is nil: set a start value" },
      { { box, 1, { [3] = 1 } }, "Tween.to: field %[3%] of the target is nil" },
      { { box, 1, { [true] = 1 } }, "Tween.to: a field's name must be a string or a number" },
      { { box, 1, { name = 1 } }, "Tween.to: field 'name' is string .* cannot move to number 1" },
      { { box, 1, { list = {} } }, "Tween.to: field 'list' cannot move from table to table: " },
      { { box, 1, { x = math.huge } }, "Tween.to: field 'x' cannot move to inf" },
      { { box, 1, { broken = 1 } }, "Tween.to: field 'broken' starts at %-?nan, which is not" },
      { { box, 1, { x = 1 }, "quad_ot" }, "Tween.to: unknown easing 'quad_ot', did you mean 'q" },
      { { box, 1, { x = 1 }, 3 }, "Tween.to: 'easing' must be the name of an easing or a" },
      { { box, 1, { x = 1 }, "linear", 3 }, "Tween.to: argument #5 'on_done' must be a function" },
      { { box, 1, { x = 1 }, { dela = 1 } }, "Tween.to: argument #4 'easing' has the unknown "
        .. "option 'dela', did you mean 'delay'%?" },
      { { box, 1, { x = 1 }, { "linear" } }, "has the unknown option number 1" },
      { { box, 1, { x = 1 }, { delay = -1 } }, "Tween.to: option 'delay' must be a number of" },
      { { box, 1, { x = 1 }, { times = 0 } }, "Tween.to: option 'times' must be a whole" },
      { { box, 1, { x = 1 }, { yoyo = 1 } }, "Tween.to: option 'yoyo' must be a boolean" },
      { { box, 0, { x = 1 }, { times = math.huge } }, "Tween.to: an endless tween needs" },
      { { box, 1, { x = 1 }, { on_done = print }, print }, "Tween.to: 'on_done' is given as" },
    }
    for _, case in ipairs(cases) do
      assert.error_matches(function() Tween.to(unpack(case[1], 1, 5)) end, case[2])
    end
    assert.equals(0, Tween.count())
    assert.error_matches(function() Tween.cancel() end, "Tween.cancel: argument #1 'id'")
    assert.error_matches(function() Tween.is_active("a") end, "Tween.is_active: argument #1 'id'")
    assert.error_matches(function() Tween.advance(-1) end, "Tween.advance: argument #1 'seconds'")
    assert.error_matches(function() Tween.ease("linear", 2) end,
      "Tween.ease: argument #2 'share' must be a number from 0 to 1, got number 2")
    assert.error_matches(function() Tween.ease("linea", 0) end,
      "Tween.ease: unknown easing 'linea', did you mean 'linear'")
  end)

  it("refuses more than 100000 tweens", function()
    for _ = 1, 100000 do Tween.to({ x = 0 }, 1, { x = 1 }) end
    assert.error_matches(function() Tween.to({ x = 0 }, 1, { x = 1 }) end,
      "Tween.to: 100000 tweens are moving and no more are allowed; is one made in every frame%?")
    Tween.cancel_all()
    Tween.advance(0)
  end)
end)

describe("easings", function()
  local function near(wanted, got)
    assert.is_true(math.abs(wanted - got) < 1e-6, "wanted " .. wanted .. ", got " .. got)
  end

  it("start at 0 and end at 1", function()
    local names = Tween.easings()
    assert.equals(31, #names)
    for _, name in ipairs(names) do
      assert.is_true(math.abs(Tween.ease(name, 0)) < 1e-3, name)
      assert.is_true(math.abs(Tween.ease(name, 1) - 1) < 1e-3, name)
    end
  end)

  it("mirror in and out, and meet in the middle of in_out", function()
    for _, name in ipairs(Tween.easings()) do
      local curve = name:match("^(%a+)_in$")
      if curve then
        for i = 0, 10 do
          near(1 - Tween.ease(name, 1 - i / 10), Tween.ease(curve .. "_out", i / 10))
          local both = curve .. "_in_out"
          near(1 - Tween.ease(both, 1 - i / 10), Tween.ease(both, i / 10))
        end
        near(0.5, Tween.ease(curve .. "_in_out", 0.5))
      end
    end
  end)

  it("have the values of Penner's curves", function()
    near(0.25, Tween.ease("linear", 0.25))
    near(0.0625, Tween.ease("quad_in", 0.25))
    near(0.4375, Tween.ease("quad_out", 0.25))
    near(0.125, Tween.ease("quad_in_out", 0.25))
    near(0.015625, Tween.ease("cubic_in", 0.25))
    near(0.00390625, Tween.ease("quart_in", 0.25))
    near(0.0009765625, Tween.ease("quint_in", 0.25))
    near(0.0761204675, Tween.ease("sine_in", 0.25))
    near(0.0055242717, Tween.ease("expo_in", 0.25))
    near(0.0317541634, Tween.ease("circ_in", 0.25))
    near(-0.0641365625, Tween.ease("back_in", 0.25))
    near(-0.0996818437, Tween.ease("back_in_out", 0.25))
    near(0.02734375, Tween.ease("bounce_in", 0.25))
    near(0.47265625, Tween.ease("bounce_out", 0.25))
    near(-0.0055242717, Tween.ease("elastic_in", 0.25))
    near(0.0119694444, Tween.ease("elastic_in_out", 0.25))
  end)

  it("call a function passed as an easing", function()
    assert.equals(0.5, Tween.ease(function(t) return t * 2 end, 0.25))
  end)
end)
