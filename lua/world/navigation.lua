-- Navigation: functions that return lists of points, and paths that are answered later. All others
-- are native (src/script/api/navigation/).
local core = ...

local type, next, sort, remove = type, next, table.sort, table.remove
local bad_argument, no_reload = core.bad_argument, core.no_reload

local NavigationMesh = core.module("NavigationMesh")
local NavigationGrid = core.module("NavigationGrid")
local Agent = core.module("Agent")
local V3 = core.ctypes.Vector3

-- Reasons by their numbers.
local REASONS = { "unreachable", "budget", "off_mesh" }

-- What waits for paths, by mesh or grid, and these in the order of their first requests.
-- `callbacks` are the functions by the number of the request, `answers` numbers of which those
-- before `at` were passed on, `size` is that of a point or cell in them.
local waiting, meshes = {}, {}

local function points_of(numbers)
  local points = {}
  for i = 1, #numbers, 3 do
    points[#points + 1] = V3(numbers[i], numbers[i + 1], numbers[i + 2])
  end
  return points
end

local function cells_of(numbers, first, last)
  local cells = {}
  for i = first, last, 2 do
    cells[#cells + 1] = { column = numbers[i], row = numbers[i + 1] }
  end
  return cells
end

-- Has a function wait for a path of a mesh or grid.
local function wait_for(mesh, size, request, callback)
  local of = waiting[mesh]
  if not of then
    of = { callbacks = {}, answers = {}, at = 1, size = size }
    waiting[mesh] = of
    meshes[#meshes + 1] = mesh
  end
  of.callbacks[request] = callback
end

---Finds the shortest way between two points on the ground. If the second one cannot be reached, the
---path leads to the nearest point that can. If no ground is at one of them, the list is empty.
---@param mesh NavigationMesh a navigation mesh
---@param from Vector3 a point on the ground, or at most 2 metres away
---@param to Vector3 a point on the ground, or at most 2 metres away
---@param agent? Agent an agent, whose own costs count; without it, those of the mesh
---@return Vector3[] points the corners of the way, with both ends
---@return string? reason nil, or "unreachable", "budget" or "off_mesh" if the path is not complete
---@node query
function NavigationMesh.find_path(mesh, from, to, agent)
  local numbers, reason = core.navigation_path(mesh, from, to, agent)
  return points_of(numbers), reason
end

---Asks for a path that is found in one of the next calls of `NavigationMesh.update`, or of
---`World.update` for the mesh of a level, which calls the callback with the results of `find_path`.
---All requests of a mesh share the work of an update: thousands of them take more updates, not
---longer ones. An error in the callback is an ordinary error of `update`; the next call continues
---with the answers after it. The points are empty, and the reason is "off_mesh", if there is no
---ground where the path begins or ends. If the mesh ends, the points are empty and the reason is
---"unreachable", in the next call of `World.update`.
---@param mesh NavigationMesh a navigation mesh
---@param from Vector3 a point on the ground, or at most 2 metres away
---@param to Vector3 a point on the ground, or at most 2 metres away
---@param callback function function that receives the points and the reason
---@param agent? Agent an agent, whose own costs of now count; without it, those of the mesh
---@return integer request number of the request, for `NavigationMesh.cancel_path`
function NavigationMesh.find_path_async(mesh, from, to, callback, agent)
  if type(callback) ~= "function" then
    bad_argument("NavigationMesh.find_path_async", 4, "callback", "function", callback)
  end
  no_reload("NavigationMesh.find_path_async")
  local request = core.navigation_request(mesh, from, to, nil, agent)
  wait_for(mesh, 3, request, callback)
  return request
end

---Withdraws a request for a path: its function is not called.
---@param mesh NavigationMesh a navigation mesh
---@param request integer the number that `find_path_async` returned
---@return boolean withdrawn false if the request does not wait any more
function NavigationMesh.cancel_path(mesh, request)
  local is_withdrawn = core.navigation_cancel(mesh, request)
  local of = waiting[mesh]
  if is_withdrawn and of then of.callbacks[request] = nil end
  return is_withdrawn
end

-- Adds the answers of a mesh or grid that ended: no path is found any more.
local function answer_all(of)
  local requests = {}
  for request in next, of.callbacks do requests[#requests + 1] = request end
  sort(requests)
  for i = 1, #requests do
    local n = #of.answers
    of.answers[n + 1], of.answers[n + 2], of.answers[n + 3] = requests[i], 1, 0
  end
end

-- Takes the answers of a mesh or grid. Those that an error has left come first.
local function take_answers(mesh, of)
  if of.at > #of.answers then of.answers, of.at = {}, 1 end
  local is_grid = of.size == 2
  if not (is_grid and NavigationGrid or NavigationMesh).alive(mesh) then return answer_all(of) end
  local numbers = is_grid and core.grid_answers(mesh) or core.navigation_answers(mesh)
  local n = #of.answers
  for i = 1, #numbers do of.answers[n + i] = numbers[i] end
end

local function forget(mesh)
  waiting[mesh] = nil
  for i = #meshes, 1, -1 do
    if meshes[i] == mesh then remove(meshes, i) end
  end
end

-- Calls the functions whose paths were found. They may ask for more, and update meshes.
local function run_callbacks(mesh)
  local of = waiting[mesh]
  if not of then return end
  take_answers(mesh, of)
  while of.at <= #of.answers do
    local numbers, i = of.answers, of.at
    local request, reason, count = numbers[i], REASONS[numbers[i + 1]], numbers[i + 2]
    of.at = i + 3 + count * of.size
    local callback = of.callbacks[request]
    if callback then
      local points = {}
      if of.size == 2 then
        points = cells_of(numbers, i + 3, of.at - 1)
      else
        for at = i + 3, of.at - 1, 3 do
          points[#points + 1] = V3(numbers[at], numbers[at + 1], numbers[at + 2])
        end
      end
      of.callbacks[request] = nil
      callback(points, reason)
    end
  end
  if next(of.callbacks) == nil and waiting[mesh] == of then forget(mesh) end
end

---Changes the mesh where volumes were added or removed, in at most 8 tiles, moves its agents, and
---answers requests for paths. Call it once a frame.
---@param mesh NavigationMesh a navigation mesh
---@param dt number seconds, at most 1
function NavigationMesh.update(mesh, dt)
  -- Answers that the update before has left because of an error.
  if waiting[mesh] and NavigationMesh.alive(mesh) then run_callbacks(mesh) end
  core.navigation_update(mesh, dt)
  run_callbacks(mesh)
end

-- Returns the functions and answers that wait for paths on meshes, for a snapshot; nil without any.
function core.kept_requests(of_meshes)
  local kept
  for i = 1, #of_meshes do
    local of = waiting[of_meshes[i]]
    if of then
      local callbacks, answers = {}, {}
      for request, callback in next, of.callbacks do callbacks[request] = callback end
      for at = of.at, #of.answers do answers[#answers + 1] = of.answers[at] end
      kept = kept or {}
      kept[of_meshes[i]] = { callbacks = callbacks, answers = answers }
    end
  end
  return kept
end

-- Has the functions wait again that waited when a snapshot was taken, and no others.
function core.restore_requests(kept, of_meshes)
  for i = 1, #of_meshes do
    local mesh = of_meshes[i]
    local known = kept and kept[mesh]
    local of = waiting[mesh]
    if known and not of then
      of = { size = 3 }
      waiting[mesh] = of
      meshes[#meshes + 1] = mesh
    end
    if of then
      of.callbacks, of.answers, of.at = {}, {}, 1
      if known then
        for request, callback in next, known.callbacks do of.callbacks[request] = callback end
        for at = 1, #known.answers do of.answers[at] = known.answers[at] end
      end
    end
  end
end

-- `World.update` updates the meshes of levels.
core.on("world_update", "navigation", function()
  if #meshes == 0 then return end
  local all = {}
  for i = 1, #meshes do all[i] = meshes[i] end
  for i = 1, #all do run_callbacks(all[i]) end
end)

---Returns the polygons to which a way along the ground leads that is not longer than a distance,
---the nearest ones first.
---@param mesh NavigationMesh a navigation mesh
---@param position Vector3 a point on the ground, or at most 2 metres away
---@param distance number the greatest cost of a way: metres, where areas cost nothing else
---@param agent? Agent an agent, whose own costs count; without it, those of the mesh
---@return integer[] polygons numbers of polygons
---@return number[] costs the cost of the way into each of them
---@return string? reason "off_mesh" if no ground is at the position; then, the lists are empty
---@node query
function NavigationMesh.flood_fill(mesh, position, distance, agent)
  return core.navigation_flood(mesh, position, distance, agent)
end

---Returns positions around a target, for characters that gather there: on a circle, and on larger
---ones if it has no room for all. From each of them, a straight way leads to the target.
---@param mesh NavigationMesh a navigation mesh
---@param target Vector3 a point on the ground, or at most 2 metres away
---@param count integer number of positions, at most 256
---@param distance number radius of the smallest circle, in metres, at most 100
---@param spacing number distance between positions, in metres, 0.05 to 100
---@return Vector3[] positions fewer than `count` if there is not enough ground
---@return string? reason "off_mesh" if no ground is at the target, or nil
---@node query
function NavigationMesh.positions_around(mesh, target, count, distance, spacing)
  local numbers, reason = core.navigation_around(mesh, target, count, distance, spacing)
  return points_of(numbers), reason
end

---Returns positions at walls and edges, at which something of the level is between a character and
---a threat. They can be reached from a position, and the nearest ones come first. What was added to
---the mesh later, and moving things, do not count as cover: check them with `PhysicsWorld.raycast`.
---Options: `height` up to which characters must be hidden (1.5 metres), height of the `eyes` of the
---threat (1.6), `spacing` of positions (1) and `count` (32, at most 256).
---@param mesh NavigationMesh a navigation mesh
---@param position Vector3 a point on the ground, or at most 2 metres away
---@param radius number how far to search, in metres
---@param threat Vector3 the ground on which the threat is
---@param options? table `height`, `eyes`, `spacing`, `count`: see above
---@return Vector3[] positions those that were found
---@return string? reason "off_mesh" if no ground is at the position, or nil
---@node query
function NavigationMesh.cover_points(mesh, position, radius, threat, options)
  local numbers, reason = core.navigation_cover(mesh, position, radius, threat, options)
  return points_of(numbers), reason
end

---Returns the corners of a polygon, counter-clockwise from above.
---@param mesh NavigationMesh a navigation mesh
---@param polygon integer the number of a polygon, from 1
---@return Vector3[] corners three to six points
---@node query
function NavigationMesh.polygon_vertices(mesh, polygon)
  return points_of(core.navigation_vertices(mesh, polygon))
end

---Returns the polygons of a path as a list of numbers. Nil and the reason if it finds none:
---"unreachable" if there is none, "budget" if it has visited as many nodes as it may.
---@param mesh NavigationMesh a navigation mesh
---@param from integer the number of the first polygon
---@param to integer the number of the last polygon
---@param nodes? integer the most nodes that it visits, 1 to 65,536, which is the default
---@param agent? Agent an agent, whose own costs count; without it, those of the mesh
---@return integer[]? polygons their numbers, or nil
---@return string? reason nil, or why there is no path
---@node query
function NavigationMesh.search(mesh, from, to, nodes, agent)
  local polygons, reason = core.navigation_search(mesh, from, to, nodes, agent)
  if reason then return nil, reason end
  return polygons
end

---Returns the polygons of a path. If the last one cannot be reached, they lead to the one that is
---nearest to it.
---@param mesh NavigationMesh a navigation mesh
---@param from integer the number of the first polygon
---@param to integer the number of the polygon to reach
---@param nodes? integer the most nodes that it visits, 1 to 65,536, which is the default
---@param agent? Agent an agent, whose own costs count; without it, those of the mesh
---@return integer[] polygons their numbers, the first one first
---@return string? reason nil, or "unreachable" or "budget" if the path is not complete
---@node query
function NavigationMesh.partial_search(mesh, from, to, nodes, agent)
  return core.navigation_partial_search(mesh, from, to, nodes, agent)
end

---Returns the shortest way through polygons, for example those that `NavigationMesh.search` found.
---@param mesh NavigationMesh a navigation mesh
---@param polygons integer[] numbers of polygons, each a neighbour of the one before
---@param from Vector3 the start, in the first polygon or next to it
---@param to Vector3 the end, in the last polygon or next to it
---@return Vector3[] points the corners of the way, with both ends
---@node query
function NavigationMesh.funnel(mesh, polygons, from, to)
  return points_of(core.navigation_funnel(mesh, polygons, from, to))
end

---Returns the corners of the rest of an agent's path, the end last.
---@param agent Agent an agent
---@return Vector3[] corners an empty list without a path
---@node query
function Agent.path(agent)
  return points_of(core.agent_path(agent))
end

---Finds the cheapest path between two cells. If there is none, it leads to the cell that is nearest
---to the end. A path can begin in a blocked cell; one that ends in a blocked cell is "unreachable".
---@param grid NavigationGrid a navigation grid
---@param from_column integer column of the start, from 1
---@param from_row integer row of the start, from 1
---@param to_column integer column of the end
---@param to_row integer row of the end
---@return table[] cells tables with `column` and `row`, from the start to the end
---@return string? reason nil, or "unreachable" if the path does not reach the end
---@node query
function NavigationGrid.find_path(grid, from_column, from_row, to_column, to_row)
  local numbers, reason = core.grid_path(grid, from_column, from_row, to_column, to_row)
  return cells_of(numbers, 1, #numbers), reason
end

---Asks for a path that is found in one of the next calls of `NavigationGrid.update`, which calls
---the callback with the results of `find_path`. All requests of a grid share the work of an update:
---thousands of them take more updates, not longer ones. An error in the callback is an ordinary
---error of `update`; the next call continues with the answers after it. If the grid ends, the cells
---are empty, and the reason is "unreachable", in the next call of `World.update`. Paths have at
---most 65,536 cells; longer ones end there, with the reason "budget".
---@param grid NavigationGrid a navigation grid
---@param from_column integer column of the start, from 1
---@param from_row integer row of the start, from 1
---@param to_column integer column of the end
---@param to_row integer row of the end
---@param callback function function that receives the cells and the reason
---@return integer request number of the request, for `NavigationGrid.cancel_path`
function NavigationGrid.find_path_async(grid, from_column, from_row, to_column, to_row, callback)
  if type(callback) ~= "function" then
    bad_argument("NavigationGrid.find_path_async", 6, "callback", "function", callback)
  end
  no_reload("NavigationGrid.find_path_async")
  local request = core.grid_request(grid, from_column, from_row, to_column, to_row)
  wait_for(grid, 2, request, callback)
  return request
end

---Withdraws a request for a path: its function is not called.
---@param grid NavigationGrid a navigation grid
---@param request integer the number that `find_path_async` returned
---@return boolean withdrawn false if the request does not wait any more
function NavigationGrid.cancel_path(grid, request)
  local is_withdrawn = core.grid_cancel(grid, request)
  local of = waiting[grid]
  if is_withdrawn and of then of.callbacks[request] = nil end
  return is_withdrawn
end

---Answers requests for paths. Call it once a frame if you use `NavigationGrid.find_path_async`.
---@param grid NavigationGrid a navigation grid
function NavigationGrid.update(grid)
  -- Answers that the update before has left because of an error.
  if waiting[grid] and NavigationGrid.alive(grid) then run_callbacks(grid) end
  core.grid_update(grid)
  run_callbacks(grid)
end

---Returns the cells to which a way leads that is not more expensive than a cost, the cheapest ones
---first, and the cell itself before them: for example where a character of a turn-based game can
---go. The ways begin in the middle of the cell, which can be blocked.
---@param grid NavigationGrid a navigation grid
---@param column integer column of the cell, from 1
---@param row integer row of the cell, from 1
---@param cost number the greatest cost of a way
---@return table[] cells tables with `column` and `row`, at most 65,536
---@return number[] costs the cost of the way into each of them
---@node query
function NavigationGrid.flood_fill(grid, column, row, cost)
  local numbers, costs = core.grid_flood(grid, column, row, cost)
  return cells_of(numbers, 1, #numbers), costs
end
