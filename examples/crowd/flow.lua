-- The flow field: for every cell, the distance and the direction to the lamp. One field serves any
-- number of beetles, so finding the way costs the same for 2,000 of them as for one. It is solved
-- again when a tower is built, and a few times a second, because crowded cells cost more: this
-- spreads the crowd over all ways of similar length.
--
-- The distances solve the eikonal equation by fast sweeping: H. Zhao, "A fast sweeping method for
-- Eikonal equations", Mathematics of Computation 74, 2005. Distances are circles, where a search
-- along the grid would give octagons. So beetles walk straight in any direction.
local Map = require "map"

local Flow = {}

local abs, min, sqrt = math.abs, math.min, math.sqrt
local WIDE, TALL = Map.WIDE, Map.TALL
local FAR = 1e9
local CROWDING = 0.12 -- the cost that each beetle adds to its cell; an empty cell costs 1
local solved = Stats.counter("crowd/fields")

---@class Flow
---@field distance number[] of each cell: cells to walk to the lamp, FAR if there is no way
---@field x number[] of each cell: the direction to walk in, of length 1 or 0
---@field y number[]
---@field cost number[] of each cell

---@return Flow
function Flow.new()
  local flow = { distance = {}, x = {}, y = {}, cost = {} }
  for cell = 1, WIDE * TALL do
    flow.distance[cell], flow.x[cell], flow.y[cell], flow.cost[cell] = FAR, 0, 0, 1
  end
  return flow
end

-- Sets a cell's distance to the one that follows from its neighbours, if that is less.
local function relax(distance, closed, cost, cell)
  if closed[cell] then return false end
  local across = min(distance[cell - 1], distance[cell + 1])
  local along = min(distance[cell - WIDE], distance[cell + WIDE])
  local slow, apart = cost[cell], across - along
  local found = min(across, along) + slow
  if abs(apart) < slow then found = (across + along + sqrt(2 * slow * slow - apart * apart)) / 2 end
  if found >= distance[cell] - 1e-6 then return false end
  distance[cell] = found
  return true
end

-- Sweeps over the garden once, in one of four orders. Each finds all ways of one quadrant.
local function sweep(flow, closed, rows, columns)
  local distance, cost, changed = flow.distance, flow.cost, false
  local bottom, top = rows > 0 and 1 or TALL - 2, rows > 0 and TALL - 2 or 1
  local left, right = columns > 0 and 2 or WIDE - 1, columns > 0 and WIDE - 1 or 2
  for row = bottom, top, rows do
    for cell = row * WIDE + left, row * WIDE + right, columns do
      changed = relax(distance, closed, cost, cell) or changed
    end
  end
  return changed
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
---@param flow Flow
---@param map Map
---@param crowd? Crowd the beetles that add to the cost of cells
function Flow.solve(flow, map, crowd)
  local distance, cost = flow.distance, flow.cost
  for cell = 1, WIDE * TALL do
    distance[cell], cost[cell] = FAR, 1
  end
  if crowd then
    for i = 1, crowd.count do
      local cell = Map.cell_at(crowd.x[i], crowd.y[i])
      cost[cell] = cost[cell] + CROWDING
    end
  end
  distance[map.lamp] = 0
  repeat
    local changed = sweep(flow, map.closed, 1, 1)
    changed = sweep(flow, map.closed, 1, -1) or changed
    changed = sweep(flow, map.closed, -1, 1) or changed
    changed = sweep(flow, map.closed, -1, -1) or changed
  until not changed
  point(flow)
  solved.value = solved.value + 1
end

---@return boolean
function Flow.leads(flow, cell)
  return flow.distance[cell] < FAR
end

return Flow
