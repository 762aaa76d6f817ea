-- The flow field: for every cell, the distance and the direction to the lamp. One field serves any
-- number of beetles, so finding the way costs the same for 2,000 of them as for one. It is solved
-- again when a tower is built, and a few times a second, because crowded cells cost more: this
-- spreads the crowd over all ways of similar length.
--
-- A navigation grid computes the distances. Directions follow from how they fall, and are
-- interpolated between cells, so that beetles walk in any direction and not only along the grid.
local Map = require "map"

local Flow = {}

local min, sqrt = math.min, math.sqrt
local WIDE, TALL = Map.WIDE, Map.TALL
local FAR = 1e9
local CROWDING = 0.12 -- the cost that each beetle adds to its cell; an empty cell costs 1
local solved = Stats.counter("crowd/fields")
local grid ---@type NavigationGrid
local lamp ---@type integer

---@class FlowField
---@field distance number[] of each cell: cells to walk to the lamp, FAR if there is no way
---@field x number[] of each cell: the direction to walk in, of length 1 or 0
---@field y number[]
---@field cost number[] of each cell

---@return FlowField
function Flow.new()
  local flow = { distance = {}, x = {}, y = {}, cost = {} }
  for cell = 1, WIDE * TALL do
    flow.distance[cell], flow.x[cell], flow.y[cell], flow.cost[cell] = FAR, 0, 0, 1
  end
  return flow
end

-- The direction towards the neighbours that are nearer to the lamp. Closed cells have one too, so
-- that a beetle in the cell of a new tower walks out of it.
local function point(flow)
  local distance, flow_x, flow_y = flow.distance, flow.x, flow.y
  for cell = WIDE + 2, WIDE * TALL - WIDE - 1 do
    local here = distance[cell]
    local left, right = distance[cell - 1], distance[cell + 1]
    local below, above = distance[cell - WIDE], distance[cell + WIDE]
    local x, y = min(left, right), min(below, above)
    x = x < here and (left < right and x - here or here - x) or 0
    y = y < here and (below < above and y - here or here - y) or 0
    local length = sqrt(x * x + y * y)
    if length > 0 then x, y = x / length, y / length end
    flow_x[cell], flow_y[cell] = x, y
  end
end

---Finds all ways to the lamp.
---@param flow FlowField
---@param map Map
---@param crowd? Crowd the beetles that add to the cost of cells
function Flow.solve(flow, map, crowd)
  local distance, cost = flow.distance, flow.cost
  for cell = 1, WIDE * TALL do
    cost[cell] = 1
  end
  if crowd then
    for i = 1, crowd.count do
      local cell = Map.cell_at(crowd.x[i], crowd.y[i])
      cost[cell] = cost[cell] + CROWDING
    end
  end
  grid = grid or NavigationGrid.create(WIDE, TALL)
  if lamp ~= map.lamp then
    lamp = map.lamp
    NavigationGrid.set_targets(grid, "lamp", { Map.column_and_row(lamp) })
  end
  for cell = 1, WIDE * TALL do
    local column, row = Map.column_and_row(cell)
    NavigationGrid.set_cost(grid, column, row, map.closed[cell] and 0 or cost[cell])
  end
  for cell = 1, WIDE * TALL do
    distance[cell] = NavigationGrid.distance(grid, "lamp", Map.column_and_row(cell)) or FAR
  end
  point(flow)
  solved.value = solved.value + 1
end

---@return boolean
function Flow.leads(flow, cell)
  return flow.distance[cell] < FAR
end

return Flow
