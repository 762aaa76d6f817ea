-- Broadphases: the questions, whose answers go into tables that games use again. Adding and moving
-- are native (src/script/api/broadphase.rs).
local core = ...

local type = type
local bad_argument = core.bad_argument

local Broadphase = core.module("Broadphase")

-- Puts a list into the game's table, and nothing after it.
local function fill(name, argument, results, list)
  if type(results) ~= "table" then bad_argument(name, argument, "results", "table", results) end
  local count = #list
  for i = 1, count do results[i] = list[i] end
  for i = #results, count + 1, -1 do results[i] = nil end
  return count
end

---Every owner in the broadphase.
---@param broadphase Broadphase a broadphase
---@param results table is filled with the owners, in the order in which they were added
---@return integer count how many they are
function Broadphase.all(broadphase, results)
  return fill("Broadphase.all", 2, results, core.broadphase_all(broadphase))
end

---The owners of what touches a ball.
---@param broadphase Broadphase a broadphase
---@param position Vector3 the middle
---@param radius number metres
---@param results table is filled with the owners, in the order in which they were added
---@param ... string categories: only what is in one of them; everything if none
---@return integer count how many they are
function Broadphase.query(broadphase, position, radius, results, ...)
  local list = core.broadphase_query(broadphase, position, radius, ...)
  return fill("Broadphase.query", 4, results, list)
end

---The owners of what touches a box.
---@param broadphase Broadphase a broadphase
---@param pose Matrix4x4 its middle and axes
---@param half Vector3 half its sizes
---@param results table is filled with the owners, in the order in which they were added
---@param ... string categories: only what is in one of them; everything if none
---@return integer count how many they are
function Broadphase.query_box(broadphase, pose, half, results, ...)
  return fill("Broadphase.query_box", 4, results, core.broadphase_box(broadphase, pose, half, ...))
end

---The owners of what a camera may see.
---@param broadphase Broadphase a broadphase
---@param camera Camera a camera
---@param results table is filled with the owners, in the order in which they were added
---@param ... string categories: only what is in one of them; everything if none
---@return integer count how many they are
function Broadphase.query_frustum(broadphase, camera, results, ...)
  return fill("Broadphase.query_frustum", 3, results,
    core.broadphase_frustum(broadphase, camera, ...))
end

---The owners of what a ray meets, the nearest first: for picking with the mouse, with
---`Camera.screen_to_ray`.
---@param broadphase Broadphase a broadphase
---@param from Vector3 where it begins
---@param direction Vector3 where it goes
---@param length number metres
---@param results table is filled with the owners
---@param ... string categories: only what is in one of them; everything if none
---@return integer count how many they are
---@return number? distance metres to the first
function Broadphase.query_ray(broadphase, from, direction, length, results, ...)
  local list = core.broadphase_ray(broadphase, from, direction, length, ...)
  local owners = {}
  for i = 1, #list, 2 do owners[#owners + 1] = list[i] end
  return fill("Broadphase.query_ray", 5, results, owners), list[2]
end
