-- The Lua part of `Camera` and `Viewport`: user data stored with them, and the ray under the mouse
-- cursor. The rest of both modules is native.
local core = ...

local no_reload = core.no_reload
local check, set, get = core.user_data.check, core.user_data.set, core.user_data.get

local screen_to_ray = core.screen_to_ray

---@class Camera
---@field PERSPECTIVE string "perspective", for `Camera.set_projection_type`
---@field ORTHOGRAPHIC string "orthographic", for `Camera.set_projection_type`
local Camera = core.module("Camera")

Camera.PERSPECTIVE = "perspective"
Camera.ORTHOGRAPHIC = "orthographic"

---Stores a value with a camera under one or more keys. The value is removed with the camera.
---@param camera Camera the camera
---@param ... any the keys, then the value; nil removes the value
function Camera.set_data(camera, ...)
  no_reload("Camera.set_data")
  check("Camera.set_data", Camera, camera)
  set("Camera.set_data", camera, ...)
end

---Returns the value stored with a camera under the keys, or nil.
---@param camera Camera the camera
---@param ... string|number the keys
---@return any value the stored value
function Camera.get_data(camera, ...)
  check("Camera.get_data", Camera, camera)
  return get("Camera.get_data", camera, ...)
end

---Returns true if a value is stored with a camera under the keys.
---@param camera Camera the camera
---@param ... string|number the keys
---@return boolean exists true if `get_data` returns a value
function Camera.has_data(camera, ...)
  check("Camera.has_data", Camera, camera)
  return get("Camera.has_data", camera, ...) ~= nil
end

---Returns the ray through a screen position, for example for mouse picking. A position outside the
---view has a ray, too.
---@param camera Camera the camera
---@param position Vector3 x and y in logical screen pixels, as returned by Mouse.axis("cursor")
---@param viewport? Viewport the viewport that shows the camera's view; the whole screen if left out
---@return Vector3 origin of the ray, on the camera's near plane
---@return Vector3 direction of length 1
---@node query
function Camera.screen_to_ray(camera, position, viewport)
  return screen_to_ray(camera, position, viewport)
end

local Viewport = core.module("Viewport")

---Stores a value with a viewport under one or more keys. The value is removed with the viewport.
---@param viewport Viewport the viewport
---@param ... any the keys, then the value; nil removes the value
function Viewport.set_data(viewport, ...)
  no_reload("Viewport.set_data")
  check("Viewport.set_data", Viewport, viewport)
  set("Viewport.set_data", viewport, ...)
end

---Returns the value stored with a viewport under the keys, or nil.
---@param viewport Viewport the viewport
---@param ... string|number the keys
---@return any value the stored value
function Viewport.get_data(viewport, ...)
  check("Viewport.get_data", Viewport, viewport)
  return get("Viewport.get_data", viewport, ...)
end

---Returns true if a value is stored with a viewport under the keys.
---@param viewport Viewport the viewport
---@param ... string|number the keys
---@return boolean exists true if `get_data` returns a value
function Viewport.has_data(viewport, ...)
  check("Viewport.has_data", Viewport, viewport)
  return get("Viewport.has_data", viewport, ...) ~= nil
end
