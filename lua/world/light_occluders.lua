-- Shapes of light occluders that are made of lists of points. Boxes and circles are native
-- (src/script/api/light_occluder.rs).
local core = ...

local LightOccluder = core.module("LightOccluder")
local set_polygon, set_line = core.set_occluder_polygon, core.set_occluder_line
local flat_points = core.flat_points

---Makes a light occluder a polygon. What lies within it is not in its shadow.
---@param light_occluder LightOccluder a light occluder
---@param points table a list of Vector2 or Vector3, relative to its node: 3 to 256 corners
function LightOccluder.set_polygon(light_occluder, points)
  set_polygon(light_occluder, flat_points("LightOccluder.set_polygon", 2, points))
end

---Makes a light occluder a chain of walls without thickness.
---@param light_occluder LightOccluder a light occluder
---@param points table a list of Vector2 or Vector3, relative to its node: 2 to 256 points
function LightOccluder.set_line(light_occluder, points)
  set_line(light_occluder, flat_points("LightOccluder.set_line", 2, points))
end
