-- The garden and the flow field: every way leads to the lamp, straight if possible, around
-- obstacles, and around crowded cells.
local Crowd = require "crowd"
local Flow = require "flow"
local Map = require "map"

describe("the garden", function()
  it("has a closed rim, three burrows and a lamp", function()
    local map = Map.new()
    for cell = 1, Map.WIDE * Map.TALL do
      local column, row = (cell - 1) % Map.WIDE, math.floor((cell - 1) / Map.WIDE)
      if column == 0 or row == 0 or column == Map.WIDE - 1 or row == Map.TALL - 1 then
        assert.is_true(map.closed[cell], "cell " .. cell)
      end
    end
    assert.equals(3, #map.burrows)
    assert.is_false(map.closed[map.lamp])
  end)

  it("converts positions to cells and cells to positions", function()
    assert.equals(1, Map.cell_at(0, 0))
    assert.equals(Map.WIDE + 2, Map.cell_at(33, 33))
    for _, cell in ipairs({ 1, 40, 41, 777, 800 }) do
      assert.equals(cell, Map.cell_at(Map.center(cell)))
    end
    assert.is_true(Map.has(0, 0))
    assert.is_false(Map.has(Map.WIDTH, 0))
    assert.is_false(Map.has(10, -1))
  end)
end)

describe("the flow field", function()
  local map, flow ---@type Map, FlowField

  before_each(function()
    map, flow = Map.new(), Flow.new()
    Flow.solve(flow, map)
  end)

  it("leads from every open cell to the lamp, and nearer with each step", function()
    for cell = 1, Map.WIDE * Map.TALL do
      if not map.closed[cell] and cell ~= map.lamp then
        local x, y = Map.center(cell)
        local there = Map.cell_at(x + 23 * flow.x[cell], y + 23 * flow.y[cell])
        assert.is_true(Flow.leads(flow, cell), "cell " .. cell)
        assert.is_false(map.closed[there], "from cell " .. cell)
        local last = cell
        for _ = 1, 400 do
          local at = Map.cell_at(x, y)
          if at == map.lamp then break end
          assert.is_true(flow.distance[at] <= flow.distance[last] + 1.5)
          x, y, last = x + 8 * flow.x[at], y + 8 * flow.y[at], at
        end
        assert.equals(map.lamp, Map.cell_at(x, y), "from cell " .. cell)
      end
    end
  end)

  it("measures straight distances if nothing is in the way", function()
    assert.near(4, flow.distance[map.lamp + 4 * Map.WIDE], 1e-6)
    -- A diagonal way is slightly too long, because the method is of first order.
    assert.near(math.sqrt(18), flow.distance[map.lamp - 3 + 3 * Map.WIDE], 0.8)
  end)

  it("has no distance for unreachable cells", function()
    local cell = map.burrows[2]
    for _, by in ipairs({ -1, 1, -Map.WIDE, Map.WIDE }) do
      map.closed[cell + by] = true
    end
    Flow.solve(flow, map)
    assert.is_false(Flow.leads(flow, cell))
    assert.is_true(Flow.leads(flow, map.burrows[1]))
  end)

  it("leads out of a cell that was closed under a beetle", function()
    local cell = map.lamp - 3
    map.closed[cell] = true
    Flow.solve(flow, map)
    assert.is_true(flow.x[cell] > 0)
  end)

  it("costs more in crowded cells", function()
    local crowd, cell = Crowd.new(), map.lamp + 2 * Map.WIDE
    local x, y = Map.center(cell)
    for i = 1, 40 do
      Crowd.add(crowd, 1, x + i % 7, y + i % 5)
    end
    local behind = cell + 2 * Map.WIDE
    local before = flow.distance[behind]
    Flow.solve(flow, map, crowd)
    assert.is_true(flow.distance[behind] > before)
  end)
end)
