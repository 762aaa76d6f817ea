-- The ray test against the meshes of units. Lists of a unit's meshes, lights and cameras are native
-- (src/script/api/unit/meshes.rs).
local core = ...

local V3 = core.ctypes.Vector3

local Unit = core.module("Unit")

---Casts a ray against the rendered triangles of a unit's meshes, for example to find the unit
---under the mouse (with `Camera.screen_to_ray`). No physics bodies are needed. With a camera, only
---meshes that are within their `range` for that camera are hit, such as the displayed level of
---detail; without one, meshes of all ranges. Test only few units: those that
---`Broadphase.query_ray` finds, or whose `Unit.box` the ray crosses.
---@param unit Unit a unit
---@param from Vector3 start of the ray
---@param direction Vector3 direction of the ray, of any length but 0
---@param length? number metres; unlimited by default
---@param camera? Camera the camera that shows the unit
---@return number? distance metres from the start; nil if nothing is hit
---@return Vector3? normal of length 1, out of the front of the triangle
---@return Mesh? mesh the mesh that is hit
---@node query
function Unit.mesh_pick_raycast(unit, from, direction, length, camera)
  local found = core.mesh_pick_raycast(unit, from, direction, length, camera)
  if found then return found[1], V3(found[2], found[3], found[4]), found[5] end
end
