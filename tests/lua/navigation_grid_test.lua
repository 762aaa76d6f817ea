-- Suite of NavigationGrid: costs, paths and flow fields. Searches have their own tests in Rust.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a navigation grid", function()
  local grid

  before_each(function()
    grid = NavigationGrid.create(9, 5)
    for row = 1, 4 do NavigationGrid.set_cost(grid, 5, row, 0) end
  end)
  after_each(function() if NavigationGrid.alive(grid) then NavigationGrid.destroy(grid) end end)

  it("finds paths around blocked cells", function()
    local cells, reason = NavigationGrid.find_path(grid, 1, 1, 9, 1)
    assert.is_nil(reason)
    assert.same({ column = 1, row = 1 }, cells[1])
    assert.same({ column = 9, row = 1 }, cells[#cells])
    local passes = false
    for _, cell in ipairs(cells) do passes = passes or (cell.column == 5 and cell.row == 5) end
    assert.is_true(passes)
    NavigationGrid.set_cost(grid, 5, 5, 0)
    cells, reason = NavigationGrid.find_path(grid, 1, 1, 9, 1)
    assert.equals("unreachable", reason)
    assert.equals(4, cells[#cells].column)
  end)

  it("prefers cheap cells", function()
    local open = NavigationGrid.create(5, 3, { neighbors = 4 })
    for column = 2, 4 do NavigationGrid.set_cost(open, column, 1, 10) end
    assert.equals(10, NavigationGrid.cost(open, 3, 1))
    local cells = NavigationGrid.find_path(open, 1, 1, 5, 1)
    assert.equals(7, #cells)
    assert.equals(2, cells[4].row)
    NavigationGrid.destroy(open)
  end)

  it("leads everyone along flow fields", function()
    NavigationGrid.set_targets(grid, "exit", { 9, 1 })
    local column, row = 1, 1
    for _ = 1, 30 do column, row = NavigationGrid.flow(grid, "exit", column, row) end
    assert.equals(9, column)
    assert.equals(1, row)
    local far = NavigationGrid.distance(grid, "exit", 1, 1)
    NavigationGrid.set_cost(grid, 5, 1, 1)
    assert.is_true(NavigationGrid.distance(grid, "exit", 1, 1) < far)
    for at = 1, 5 do NavigationGrid.set_cost(grid, 5, at, 0) end
    assert.is_nil(NavigationGrid.flow(grid, "exit", 1, 1))
    assert.is_nil(NavigationGrid.distance(grid, "exit", 1, 1))
    NavigationGrid.set_targets(grid, "exit", {})
    assert.matches("the grid has no flow field 'exit'",
      error_of(NavigationGrid.flow, grid, "exit", 1, 1))
    NavigationGrid.set_targets(grid, "exit", { 1, 1 })
    assert.matches("no flow field 'exi', did you mean 'exit'?",
      error_of(NavigationGrid.distance, grid, "exi", 1, 1))
  end)

  it("has hexagons", function()
    local hexagons = NavigationGrid.create(6, 6, { neighbors = 6 })
    assert.equals(6, #NavigationGrid.find_path(hexagons, 1, 1, 6, 1))
    assert.equals(6, #NavigationGrid.find_path(hexagons, 1, 1, 3, 6))
    NavigationGrid.destroy(hexagons)
  end)

  it("refuses cells, costs and sizes out of range", function()
    local columns, rows = NavigationGrid.size(grid)
    assert.equals(9, columns)
    assert.equals(5, rows)
    local outside = "column 10 and row 1 are outside of the grid, which has 9 and 5"
    assert.matches(outside, error_of(NavigationGrid.cost, grid, 10, 1))
    assert.matches(outside, error_of(NavigationGrid.set_cost, grid, 10, 1, 1))
    assert.matches(outside, error_of(NavigationGrid.find_path, grid, 10, 1, 1, 1))
    assert.matches(outside, error_of(NavigationGrid.set_targets, grid, "exit", { 10, 1 }))
    assert.matches("must be 0, or 0.01 to 1000, got %-1",
      error_of(NavigationGrid.set_cost, grid, 1, 1, -1))
    assert.matches("'columns' must be 1 to 2048", error_of(NavigationGrid.create, 0, 1))
    assert.matches("'neighbors' must be 4, 6 or 8, got 5",
      error_of(NavigationGrid.create, 2, 2, { neighbors = 5 }))
    assert.matches("a column and a row for each",
      error_of(NavigationGrid.set_targets, grid, "exit", { 1 }))
    assert.matches("1.5 is no whole number",
      error_of(NavigationGrid.set_targets, grid, "exit", { 1.5, 1 }))
    local many = {}
    for i = 1, 65537 * 2 do many[i] = 1 end
    assert.matches("at most 65536 targets %(GRID_TARGETS_MAX%), got 65537",
      error_of(NavigationGrid.set_targets, grid, "exit", many))
    for i = 1, 64 do NavigationGrid.set_targets(grid, "field" .. i, { 1, 1 }) end
    assert.matches("FLOW_FIELDS_MAX", error_of(NavigationGrid.set_targets, grid, "more", { 1, 1 }))
    assert.matches("must be", error_of(NavigationGrid.size))
  end)

  it("is stale after it was destroyed", function()
    NavigationGrid.destroy(grid)
    assert.is_false(NavigationGrid.alive(grid))
    assert.matches("destroyed", error_of(NavigationGrid.destroy, grid))
    assert.matches("must be", error_of(NavigationGrid.alive, {}))
  end)
end)

describe("a grid of a tile map", function()
  local map, grid

  before_each(function()
    map = Tilemap.new("maps/yard")
    grid = NavigationGrid.create_from_tilemap(map)
  end)
  after_each(function()
    if NavigationGrid.alive(grid) then NavigationGrid.destroy(grid) end
    if Tilemap.alive(map) then Tilemap.destroy(map) end
  end)

  it("blocks solid tiles, and leaves one-way platforms open", function()
    local columns, rows = NavigationGrid.size(grid)
    assert.equals(12, columns)
    assert.equals(6, rows)
    assert.equals(0, NavigationGrid.cost(grid, 3, 1))
    assert.equals(0, NavigationGrid.cost(grid, 8, 2))
    assert.equals(0, NavigationGrid.cost(grid, 7, 2)) -- a tile with a shape
    assert.equals(1, NavigationGrid.cost(grid, 10, 4)) -- one-way
    assert.equals(1, NavigationGrid.cost(grid, 1, 2))
  end)

  it("follows changes of tiles at once", function()
    NavigationGrid.set_targets(grid, "exit", { 11, 2 })
    assert.is_truthy(NavigationGrid.flow(grid, "exit", 1, 2))
    for row = 2, 6 do Tilemap.set_tile(map, "ground", 9, row, 1) end
    assert.equals(0, NavigationGrid.cost(grid, 9, 4))
    assert.is_nil((NavigationGrid.flow(grid, "exit", 1, 2)))
    Tilemap.set_tile(map, "ground", 9, 4, 3)
    assert.equals(1, NavigationGrid.cost(grid, 9, 4))
    assert.is_truthy(NavigationGrid.flow(grid, "exit", 1, 2))
    Tilemap.set_tile(map, "ground", 9, 4, 0)
    assert.equals(1, NavigationGrid.cost(grid, 9, 4))
  end)

  it("has costs by name", function()
    local other = NavigationGrid.create_from_tilemap(map, {
      neighbors = 4, solid = { "stone" }, layers = { "ground" }, costs = { solid = 5, one_way = 2,
        water = 0 },
    })
    assert.equals(5, NavigationGrid.cost(other, 3, 1))
    assert.equals(2, NavigationGrid.cost(other, 10, 4))
    Tilemap.set_tile(map, "ground", 2, 5, 4)
    assert.equals(0, NavigationGrid.cost(other, 2, 5))
    assert.equals(1, NavigationGrid.cost(grid, 2, 5))
    NavigationGrid.destroy(other)
    -- What is solid by default need not be in the map.
    local none = NavigationGrid.create_from_tilemap(map, { solid = { "one_way" } })
    assert.equals(1, NavigationGrid.cost(none, 3, 1))
    NavigationGrid.destroy(none)
  end)

  it("reads the values of LDtk's grids", function()
    local world = Tilemap.new("maps/world")
    local names = NavigationGrid.create_from_tilemap(world, { costs = {} })
    local columns = NavigationGrid.size(names)
    assert.is_true(columns >= 3)
    NavigationGrid.destroy(names)
    Tilemap.destroy(world)
  end)

  it("stays when its map ends", function()
    Tilemap.destroy(map)
    assert.equals(0, NavigationGrid.cost(grid, 3, 1))
    local second = Tilemap.new("maps/cave")
    Tilemap.set_tile(second, "ground", 1, 1, 2)
    Tilemap.destroy(second)
  end)

  it("is changed by hand, too", function()
    NavigationGrid.set_cost(grid, 5, 5, 9)
    Tilemap.set_tile(map, "ground", 4, 5, 1)
    assert.equals(9, NavigationGrid.cost(grid, 5, 5))
    assert.equals(0, NavigationGrid.cost(grid, 4, 5))
  end)

  it("refuses wrong options", function()
    local create = NavigationGrid.create_from_tilemap
    assert.matches("unknown option 'neighbours', did you mean 'neighbors'",
      error_of(create, map, { neighbours = 4 }))
    assert.matches("option 'neighbors' must be 4, 6 or 8", error_of(create, map, { neighbors = 5 }))
    assert.matches("must be 4 or 8: the map is not hexagonal",
      error_of(create, map, { neighbors = 6 }))
    assert.matches("option 'solid' must be a list", error_of(create, map, { solid = "wall" }))
    assert.matches("'mud' in option 'costs' must be 0, or 0.01 to 1000",
      error_of(create, map, { costs = { mud = -1 } }))
    assert.matches("option 'costs' names 'watr', and the map \"maps/yard\" has nothing with that "
      .. "class, tag, true property or value, did you mean 'water'", error_of(create, map,
      { costs = { watr = 3 } }))
    assert.matches("option 'layers' names 'grond', and the map \"maps/yard\" has no such layer or "
      .. "grid, did you mean 'ground'", error_of(create, map, { layers = { "grond" } }))
    assert.matches("option 'solid' names 'one_wy'.*did you mean 'one_way'",
      error_of(create, map, { solid = { "solid", "one_wy" } }))
    assert.matches("argument #2 'options' must be a table", error_of(create, map, 4))
  end)
end)
