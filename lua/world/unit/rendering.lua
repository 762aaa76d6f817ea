-- The rendered components of units: the ray test against meshes, and their lines in `Unit.inspect`.
-- Lists of a unit's meshes, lights and cameras are native (src/script/api/mesh/of_unit.rs).
local core = ...

local ipairs, tostring, format = ipairs, tostring, string.format
local V3 = core.ctypes.Vector3

local Unit, Mesh = core.module("Unit"), core.module("Mesh")
local Light, Camera = core.module("Light"), core.module("Camera")

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
function Unit.mesh_pick_raycast(unit, from, direction, length, camera)
  local found = core.mesh_pick_raycast(unit, from, direction, length, camera)
  if found then return found[1], V3(found[2], found[3], found[4]), found[5] end
end

local function number(value) return format("%.6g", value) end

-- Appends descriptions of a unit's meshes, lights and cameras.
local function inspect_spatial(unit, lines)
  for i = 1, Unit.num_meshes(unit) do
    local mesh = Unit.mesh(unit, i)
    lines[#lines + 1] = format("mesh %d %q at node %d, %d triangles%s%s", i, Mesh.debug_name(mesh),
      Mesh.node(mesh), Mesh.num_triangles(mesh), Mesh.visibility(mesh) and "" or ", hidden",
      Mesh.casts_shadows(mesh) and "" or ", without shadow")
  end
  for i = 1, Unit.num_lights(unit) do
    local light = Unit.light(unit, i)
    lines[#lines + 1] = format("light %d %s at node %d, colour %s, intensity %s, to %s m%s%s", i,
      Light.type(light), Light.node(light), tostring(Light.color(light)),
      number(Light.intensity(light)), number(Light.falloff_end(light)),
      Light.casts_shadows(light) and ", with shadows" or "",
      Light.enabled(light) and "" or ", off")
  end
  for i = 1, Unit.num_cameras(unit) do
    local camera = Unit.camera(unit, i)
    lines[#lines + 1] = format("camera %d %s at %s, from %s to %s m", i,
      Camera.projection_type(camera), tostring(Camera.world_position(camera)),
      number(Camera.near_range(camera)), number(Camera.far_range(camera)))
  end
end

core.on("unit_inspect", "rendering", function(unit, lines)
  inspect_spatial(unit, lines)
  for _, line in ipairs(core.inspect_flat(unit)) do lines[#lines + 1] = line end
end)
