-- Suite of paths on navigation grids that are answered later, of floods and of random cells.
-- Searches have their own tests in Rust.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("paths on a navigation grid", function()
  local grid

  before_each(function()
    grid = NavigationGrid.create(9, 5)
    for row = 1, 4 do NavigationGrid.set_cost(grid, 5, row, 0) end
  end)
  after_each(function() if NavigationGrid.alive(grid) then NavigationGrid.destroy(grid) end end)

  it("are answered later, as those that are found at once", function()
    local expected = NavigationGrid.find_path(grid, 1, 1, 9, 1)
    local found, why
    local request = NavigationGrid.find_path_async(grid, 1, 1, 9, 1, function(cells, reason)
      found, why = cells, reason
    end)
    assert.equals(1, request)
    assert.equals(1, NavigationGrid.num_waiting_paths(grid))
    assert.is_nil(found)
    NavigationGrid.update(grid)
    assert.equals(0, NavigationGrid.num_waiting_paths(grid))
    assert.is_nil(why)
    assert.equals(#expected, #found)
    assert.same({ column = 1, row = 1 }, found[1])
    assert.same({ column = 9, row = 1 }, found[#found])
  end)

  it("lead to the nearest cell if there is no way", function()
    NavigationGrid.set_cost(grid, 5, 5, 0)
    local last, why
    NavigationGrid.find_path_async(grid, 1, 1, 9, 1, function(cells, reason)
      last, why = cells[#cells], reason
    end)
    NavigationGrid.update(grid)
    assert.equals("unreachable", why)
    assert.same({ column = 4, row = 1 }, last)
    -- Into a blocked cell.
    NavigationGrid.find_path_async(grid, 1, 1, 5, 3, function(cells, reason)
      last, why = cells[#cells], reason
    end)
    NavigationGrid.update(grid)
    assert.equals("unreachable", why)
    assert.same({ column = 4, row = 3 }, last)
  end)

  it("share the work of updates", function()
    local answers, updates = 0, 0
    for _ = 1, 2000 do
      NavigationGrid.find_path_async(grid, 1, 1, 9, 1, function() answers = answers + 1 end)
    end
    while NavigationGrid.num_waiting_paths(grid) > 0 do
      NavigationGrid.update(grid)
      updates = updates + 1
      assert.is_true(updates < 100, "steady progress")
    end
    assert.equals(2000, answers)
    assert.is_true(updates > 2)
  end)

  it("can be withdrawn, and asked for in a callback", function()
    local calls = {}
    local function ask(name, again)
      return NavigationGrid.find_path_async(grid, 1, 1, 3, 3, function()
        calls[#calls + 1] = name
        if again then again() end
      end)
    end
    local first = ask("a")
    ask("b", function() ask("c") end)
    assert.is_true(NavigationGrid.cancel_path(grid, first))
    assert.is_false(NavigationGrid.cancel_path(grid, first))
    assert.is_false(NavigationGrid.cancel_path(grid, -1))
    NavigationGrid.update(grid)
    assert.same({ "b" }, calls)
    NavigationGrid.update(grid)
    assert.same({ "b", "c" }, calls)
  end)

  it("go on after an error in a callback", function()
    local answered = false
    NavigationGrid.find_path_async(grid, 1, 1, 3, 3, function() error("mine", 0) end)
    NavigationGrid.find_path_async(grid, 1, 1, 3, 3, function() answered = true end)
    assert.equals("mine", error_of(NavigationGrid.update, grid))
    assert.is_false(answered)
    NavigationGrid.update(grid)
    assert.is_true(answered)
  end)

  it("end with the grid", function()
    local count, why
    NavigationGrid.find_path_async(grid, 1, 1, 3, 3, function(cells, reason)
      count, why = #cells, reason
    end)
    NavigationGrid.destroy(grid)
    World.update(Application.main_world(), 0)
    assert.equals(0, count)
    assert.equals("unreachable", why)
    for _, name in ipairs({ "num_waiting_paths", "update", "version" }) do
      assert.matches("NavigationGrid." .. name, error_of(NavigationGrid[name], grid))
    end
    assert.matches("NavigationGrid.cancel_path", error_of(NavigationGrid.cancel_path, grid, 1))
  end)

  it("have a version that changed cells change", function()
    local before = NavigationGrid.version(grid)
    NavigationGrid.set_cost(grid, 1, 1, 1)
    assert.equals(before, NavigationGrid.version(grid))
    NavigationGrid.set_cost(grid, 1, 1, 3)
    assert.are_not.equal(before, NavigationGrid.version(grid))
  end)

  it("lead to the cells of a flood", function()
    local cells, costs = NavigationGrid.flood_fill(grid, 1, 1, 2)
    assert.equals(#cells, #costs)
    assert.same({ column = 1, row = 1 }, cells[1])
    assert.equals(0, costs[1])
    local by_name = {}
    for i, cell in ipairs(cells) do by_name[cell.column .. "," .. cell.row] = costs[i] end
    assert.equals(1, by_name["2,1"])
    assert.equals(2, by_name["3,1"])
    assert.is_true(math.abs(by_name["2,2"] - math.sqrt(2)) < 1e-5)
    assert.is_nil(by_name["3,2"])
    assert.equals(6, #cells)
    NavigationGrid.set_cost(grid, 2, 1, 0)
    NavigationGrid.set_cost(grid, 1, 2, 5)
    assert.equals(1, #NavigationGrid.flood_fill(grid, 1, 1, 2))
  end)

  it("lead to random cells", function()
    for _ = 1, 100 do
      local column, row = NavigationGrid.random_cell(grid)
      assert.is_true(NavigationGrid.cost(grid, column, row) > 0)
    end
    NavigationGrid.set_cost(grid, 5, 5, 0)
    for _ = 1, 100 do
      assert.is_true(NavigationGrid.random_cell(grid, 8, 2) > 5)
      assert.is_true(NavigationGrid.random_cell(grid, 2, 2) < 5)
    end
    for column = 1, 9 do
      for row = 1, 5 do NavigationGrid.set_cost(grid, column, row, 0) end
    end
    assert.is_nil(NavigationGrid.random_cell(grid))
    assert.is_nil(NavigationGrid.random_cell(grid, 2, 2))
  end)

  it("report invalid arguments", function()
    local ask = NavigationGrid.find_path_async
    assert.matches("argument #6 'callback'", error_of(ask, grid, 1, 1, 2, 2))
    assert.matches("column 10 and row 1 are outside of the grid",
      error_of(ask, grid, 1, 1, 10, 1, print))
    assert.matches("outside of the grid", error_of(NavigationGrid.flood_fill, grid, 0, 1, 2))
    assert.matches("argument #4 'cost' must be 0 to",
      error_of(NavigationGrid.flood_fill, grid, 1, 1, -1))
    assert.matches("argument #4 'cost': must be a finite number",
      error_of(NavigationGrid.flood_fill, grid, 1, 1, 0 / 0))
    assert.matches("'column' and #3 'row' belong together",
      error_of(NavigationGrid.random_cell, grid, 4))
    assert.matches("outside of the grid", error_of(NavigationGrid.random_cell, grid, 4, 6))
    local large = NavigationGrid.create(300, 300)
    assert.matches("more than 65536 cells %(FLOOD_CELLS_MAX%)",
      error_of(NavigationGrid.flood_fill, large, 1, 1, 1e6))
    NavigationGrid.destroy(large)
    local message
    for _ = 1, 16385 do
      local ok, result = pcall(ask, grid, 1, 1, 2, 2, print)
      if not ok then message = result end
    end
    assert.matches("16384 paths of the grid wait for an answer %(GRID_REQUESTS_MAX%)", message)
  end)
end)
