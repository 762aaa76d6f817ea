-- Beetles: they reach the lamp, avoid stones and each other, and do it the same way every time.
-- Nothing is drawn here.
local Crowd = require "crowd"
local Flow = require "flow"
local Map = require "map"

local STEP = 1 / 60

local function garden()
  local map, flow = Map.new(), Flow.new()
  Flow.solve(flow, map)
  return Crowd.new(), flow, map
end

-- Returns a crowd of `count` beetles after some steps.
local function walked(seed, count, steps)
  Math.set_seed(seed)
  local crowd, flow, map = garden()
  while crowd.count < count do
    local x, y = Math.random() * Map.WIDTH, Math.random() * Map.HEIGHT
    if not map.closed[Map.cell_at(x, y)] then Crowd.add(crowd, Math.random(3), x, y) end
  end
  for _ = 1, steps do
    Crowd.move(crowd, flow, map, STEP)
  end
  return crowd, map, flow
end

describe("a beetle", function()
  it("walks from each burrow to the lamp", function()
    local crowd, flow, map = garden()
    local lamp_x, lamp_y = Map.center(map.lamp)
    for _, burrow in ipairs(map.burrows) do
      Crowd.add(crowd, 1, Map.center(burrow))
    end
    for _ = 1, 60 * 30 do
      Crowd.move(crowd, flow, map, STEP)
    end
    for i = 1, 3 do
      assert.near(lamp_x, crowd.x[i], 30)
      assert.near(lamp_y, crowd.y[i], 30)
    end
  end)

  it("moves away from others", function()
    local crowd, flow, map = garden()
    Crowd.add(crowd, 2, 300, 300)
    Crowd.add(crowd, 2, 301, 300)
    for _ = 1, 30 do
      Crowd.move(crowd, flow, map, STEP)
    end
    local apart = math.sqrt((crowd.x[1] - crowd.x[2]) ^ 2 + (crowd.y[1] - crowd.y[2]) ^ 2)
    assert.is_true(apart > 8, apart)
  end)

  it("is slow while it is cold", function()
    local crowd, flow, map = garden()
    Crowd.add(crowd, 1, 200, 80)
    Crowd.add(crowd, 1, 200, 560)
    crowd.cold[1] = 10
    local from_1, from_2 = crowd.x[1], crowd.x[2]
    for _ = 1, 60 do
      Crowd.move(crowd, flow, map, STEP)
    end
    assert.is_true(crowd.x[1] - from_1 < 0.6 * (crowd.x[2] - from_2))
    assert.near(9, crowd.cold[1], 1e-6)
  end)
end)

describe("a crowd", function()
  it("has 2,000 beetles at most", function()
    local crowd = Crowd.new()
    for i = 1, Crowd.MOST do
      assert.is_true(Crowd.add(crowd, 1, 100 + i % 100, 100))
    end
    assert.is_false(Crowd.add(crowd, 1, 100, 100))
    assert.equals(2000, crowd.count)
  end)

  it("moves the last beetle into a gap", function()
    local crowd = Crowd.new()
    for kind = 1, 3 do
      Crowd.add(crowd, kind, 100 * kind, 50)
    end
    Crowd.remove(crowd, 1)
    assert.same({ 2, 3, 300 }, { crowd.count, crowd.kind[1], crowd.x[1] })
    Crowd.remove(crowd, 2)
    assert.same({ 1, 3 }, { crowd.count, crowd.kind[1] })
  end)

  it("never walks into closed cells", function()
    local crowd, map = walked(3, 600, 300)
    for i = 1, crowd.count do
      assert.is_false(map.closed[Map.cell_at(crowd.x[i], crowd.y[i])], "beetle " .. i)
    end
  end)

  it("is identical for the same seed", function()
    local one, other, third = walked(5, 500, 200), walked(5, 500, 200), walked(6, 500, 200)
    assert.equals(one.checksum, other.checksum)
    assert.not_equals(one.checksum, third.checksum)
    for i = 1, one.count do
      assert.equals(one.x[i], other.x[i])
      assert.equals(one.vy[i], other.vy[i])
    end
  end)

  it("allocates nothing and makes no engine calls while 2,000 beetles walk", function()
    local crowd, map, flow = walked(7, 2000, 60)
    assert.within_budget({ engine_calls = 0, allocated_bytes = 2000, warm = 200 }, function()
      Crowd.move(crowd, flow, map, STEP)
    end)
  end)
end)
