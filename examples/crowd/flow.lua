-- The flow field: for every cell, how far it is to the lamp and which way leads there. One field
-- serves any number of beetles, so 2,000 of them cost no more thought than one. It is solved anew
-- when a tower is built, and a few times a second, for a way costs more where many walk on it:
-- so the crowd spreads over all ways that are about as long.
--
-- The distances solve the eikonal equation by fast sweeping: H. Zhao, "A fast sweeping method for
-- Eikonal equations", Mathematics of Computation 74, 2005. They are round where a search along the
-- grid would give octagons, and so beetles walk straight in any direction.
local Map = require "map"

local Flow = {}

local abs, min, sqrt = math.abs, math.min, math.sqrt
local WIDE, TALL = Map.WIDE, Map.TALL
local FAR = 1e9
local CROWDING = 0.12 -- what each beetle in a cell adds to the cost of walking there, which is 1
local solved = Stats.counter("crowd/fields")

---@class Flow
---@field distance number[] of each cell: cells to walk to the lamp, FAR where no way leads there
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

-- Gives a cell the distance that follows from its neighbours, where that is less than it had.
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

-- Goes over the garden once, in one of four orders: each finds all ways of one quarter at once.
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

-- The way down, from the neighbours that are nearer to the lamp. From a closed cell, too: who
-- stands where a tower was built walks out of it.
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
---@param crowd? Crowd whose beetles make ways cost more
function Flow.solve(flow, map, crowd)
  local distance, cost = flow.distance, flow.cost
  for cell = 1, WIDE * TALL do
    distance[cell], cost[cell] = FAR, 1
  end
  for i = 1, crowd and crowd.count or 0 do
    local cell = Map.cell_at(crowd.x[i], crowd.y[i])
    cost[cell] = cost[cell] + CROWDING
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
