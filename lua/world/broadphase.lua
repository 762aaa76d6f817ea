-- Broadphases: the spatial queries, which write their results into a table that the game reuses.
-- Adding and moving are native (src/script/api/broadphase.rs).
local core = ...

local type = type
local bad_argument = core.bad_argument

---@class Broadphase
---@overload fun(cell_size: number, count?: integer, categories?: string[]): Broadphase
local Broadphase = core.module("Broadphase")

core.values.callable(Broadphase, function(_, ...) return Broadphase.new(...) end)

-- Copies a list into the game's table and removes all entries after it. Returns the length.
local function fill(name, argument, results, list)
  if type(results) ~= "table" then bad_argument(name, argument, "results", "table", results) end
  local count = #list
  for i = 1, count do results[i] = list[i] end
  for i = #results, count + 1, -1 do results[i] = nil end
  return count
end

---Finds every owner in the broadphase.
---@param broadphase Broadphase a broadphase
---@param results table is filled with the owners, in the order in which they were added
---@return integer count the number of owners
function Broadphase.all(broadphase, results)
  return fill("Broadphase.all", 2, results, core.broadphase_all(broadphase))
end

---Finds the owners of all entries that overlap a sphere.
---@param broadphase Broadphase a broadphase
---@param position Vector3 the sphere's center
---@param radius number metres
---@param results table is filled with the owners, in the order in which they were added
---@param ... string|string[] categories to search, or a table of them; all entries by default
---@return integer count the number of owners
function Broadphase.query(broadphase, position, radius, results, ...)
  local list = core.broadphase_query(broadphase, position, radius, ...)
  return fill("Broadphase.query", 4, results, list)
end

---Finds the owners of all entries that overlap a box.
---@param broadphase Broadphase a broadphase
---@param pose Matrix4x4 the box's center and axes
---@param half Vector3 the box's half extents
---@param results table is filled with the owners, in the order in which they were added
---@param ... string|string[] categories to search, or a table of them; all entries by default
---@return integer count the number of owners
function Broadphase.query_box(broadphase, pose, half, results, ...)
  return fill("Broadphase.query_box", 4, results, core.broadphase_box(broadphase, pose, half, ...))
end

---Finds the owners of all entries that may be visible to a camera.
---@param broadphase Broadphase a broadphase
---@param camera Camera a camera
---@param results table is filled with the owners, in the order in which they were added
---@param ... string|string[] categories to search, or a table of them; all entries by default
---@return integer count the number of owners
function Broadphase.query_frustum(broadphase, camera, results, ...)
  return fill("Broadphase.query_frustum", 3, results,
    core.broadphase_frustum(broadphase, camera, ...))
end

---Finds the owners of all entries that a ray hits, nearest first. Use it with
---`Camera.screen_to_ray` for mouse picking.
---@param broadphase Broadphase a broadphase
---@param from Vector3 the ray's origin
---@param direction Vector3 the ray's direction
---@param length number metres
---@param results table is filled with the owners
---@param ... string|string[] categories to search, or a table of them; all entries by default
---@return integer count the number of owners
---@return number? distance metres to the first hit
function Broadphase.query_ray(broadphase, from, direction, length, results, ...)
  local list = core.broadphase_ray(broadphase, from, direction, length, ...)
  local owners = {}
  for i = 1, #list, 2 do owners[#owners + 1] = list[i] end
  return fill("Broadphase.query_ray", 5, results, owners), list[2]
end
