-- `Camera` and `Viewport`: the data that games keep with them, and the ray below the mouse. The
-- rest of both is native.
local core = ...

local no_reload = core.no_reload
local check, set, get = core.kept.check, core.kept.set, core.kept.get

local screen_to_ray = core.screen_to_ray

local Camera = core.module("Camera")

---Keeps a value with a camera under one or more keys; it is gone with the camera.
---@param camera Camera the camera
---@param ... any the keys, then the value; nil removes it
function Camera.set_data(camera, ...)
  no_reload("Camera.set_data")
  check("Camera.set_data", Camera, camera)
  set("Camera.set_data", camera, ...)
end

---The value that a camera keeps under the keys, or nil.
---@param camera Camera the camera
---@param ... string|number the keys
---@return any value what was set
function Camera.get_data(camera, ...)
  check("Camera.get_data", Camera, camera)
  return get("Camera.get_data", camera, ...)
end

---Whether a camera keeps a value under the keys.
---@param camera Camera the camera
---@param ... string|number the keys
---@return boolean there true where get_data gives something
function Camera.has_data(camera, ...)
  check("Camera.has_data", Camera, camera)
  return get("Camera.has_data", camera, ...) ~= nil
end

---The line of sight below a place of the screen: for picking with the mouse. A place
---outside of the picture has one, too.
---@param camera Camera the camera
---@param position Vector3 x and y in logical pixels of the screen, as Mouse.axis("cursor") has it
---@param viewport? Viewport where the camera's picture is; the whole screen if left out
---@return Vector3 from the point at the camera's near range
---@return Vector3 direction of length 1
function Camera.screen_to_ray(camera, position, viewport)
  return screen_to_ray(camera, position, viewport)
end

local Viewport = core.module("Viewport")

---Keeps a value with a viewport under one or more keys; it is gone with the viewport.
---@param viewport Viewport the viewport
---@param ... any the keys, then the value; nil removes it
function Viewport.set_data(viewport, ...)
  no_reload("Viewport.set_data")
  check("Viewport.set_data", Viewport, viewport)
  set("Viewport.set_data", viewport, ...)
end

---The value that a viewport keeps under the keys, or nil.
---@param viewport Viewport the viewport
---@param ... string|number the keys
---@return any value what was set
function Viewport.get_data(viewport, ...)
  check("Viewport.get_data", Viewport, viewport)
  return get("Viewport.get_data", viewport, ...)
end

---Whether a viewport keeps a value under the keys.
---@param viewport Viewport the viewport
---@param ... string|number the keys
---@return boolean there true where get_data gives something
function Viewport.has_data(viewport, ...)
  check("Viewport.has_data", Viewport, viewport)
  return get("Viewport.has_data", viewport, ...) ~= nil
end
