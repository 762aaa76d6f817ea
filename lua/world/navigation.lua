-- Navigation: the functions that return lists of points. All others are native
-- (src/script/api/navigation/).
local core = ...

local NavigationMesh = core.module("NavigationMesh")
local NavigationGrid = core.module("NavigationGrid")
local Agent = core.module("Agent")
local V3 = core.ctypes.Vector3

local function points_of(numbers)
  local points = {}
  for i = 1, #numbers, 3 do
    points[#points + 1] = V3(numbers[i], numbers[i + 1], numbers[i + 2])
  end
  return points
end

---Finds the shortest way between two points on the ground. If the second one cannot be reached, the
---path leads to the nearest point that can.
---@param mesh NavigationMesh a navigation mesh
---@param from Vector3 a point on the ground, or at most 2 metres away
---@param to Vector3 a point on the ground, or at most 2 metres away
---@return Vector3[] points the corners of the way, with both ends
---@return string? reason nil, or "unreachable" or "budget" if the path is not complete
function NavigationMesh.find_path(mesh, from, to)
  local numbers, reason = core.navigation_path(mesh, from, to)
  return points_of(numbers), reason
end

---Returns the corners of a polygon, counter-clockwise from above.
---@param mesh NavigationMesh a navigation mesh
---@param polygon integer the number of a polygon, from 1
---@return Vector3[] corners three to six points
function NavigationMesh.polygon_vertices(mesh, polygon)
  return points_of(core.navigation_vertices(mesh, polygon))
end

---Returns the polygons of a path. If the last one cannot be reached, they lead to the one that is
---nearest to it.
---@param mesh NavigationMesh a navigation mesh
---@param from integer the number of the first polygon
---@param to integer the number of the polygon to reach
---@return integer[] polygons their numbers, the first one first
---@return string? reason nil, or "unreachable" or "budget" if the path is not complete
function NavigationMesh.partial_search(mesh, from, to)
  return core.navigation_partial_search(mesh, from, to)
end

---Returns the shortest way through polygons, for example those that `NavigationMesh.search` found.
---@param mesh NavigationMesh a navigation mesh
---@param polygons integer[] numbers of polygons, each a neighbour of the one before
---@param from Vector3 the start, in the first polygon or next to it
---@param to Vector3 the end, in the last polygon or next to it
---@return Vector3[] points the corners of the way, with both ends
function NavigationMesh.funnel(mesh, polygons, from, to)
  return points_of(core.navigation_funnel(mesh, polygons, from, to))
end

---Returns the corners of the rest of an agent's path, the end last.
---@param agent Agent an agent
---@return Vector3[] corners an empty list without a path
function Agent.path(agent)
  return points_of(core.agent_path(agent))
end

---Finds the cheapest path between two cells. If there is none, it leads to the cell that is nearest
---to the end.
---@param grid NavigationGrid a navigation grid
---@param from_column integer column of the start, from 1
---@param from_row integer row of the start, from 1
---@param to_column integer column of the end
---@param to_row integer row of the end
---@return table[] cells tables with `column` and `row`, from the start to the end
---@return string? reason nil, or "unreachable" if the path does not reach the end
function NavigationGrid.find_path(grid, from_column, from_row, to_column, to_row)
  return core.grid_path(grid, from_column, from_row, to_column, to_row)
end
