-- `Camera` and `Viewport`: the data that games keep with them. The rest of both is native.
local core = ...

local type, select, next = type, select, next
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload

-- Nested tables by handle. Handles are never used again, so what is left of one that ended is only
-- room, which is given back when others are added.
local data, count, room = {}, 0, 64

local function check(name, module, handle)
  if type(handle) ~= "number" or not module.alive(handle) then
    local kind = name:match("^%a+")
    bad_argument(name, 1, kind:lower(), kind .. " that is there", handle)
  end
end

local function alive(handle)
  return core.module("Camera").alive(handle) or core.module("Viewport").alive(handle)
end

local function sweep()
  count = 0
  for handle in next, data do
    if alive(handle) then count = count + 1 else data[handle] = nil end
  end
  room = 2 * count + 64
end

local function check_key(name, index, key)
  if type(key) ~= "string" and type(key) ~= "number" then
    bad_argument(name, index, "key", "string or number", key)
  end
end

local function set(name, handle, ...)
  local keys = select("#", ...) - 1
  if keys < 1 then raise(name .. ": give at least one key and a value") end
  local tree = data[handle]
  if not tree then
    if count >= room then sweep() end
    tree = {}
    data[handle], count = tree, count + 1
  end
  for i = 1, keys do
    local key = (select(i, ...))
    check_key(name, i + 1, key)
    if i == keys then
      tree[key] = (select(keys + 1, ...))
    else
      if type(tree[key]) ~= "table" then tree[key] = {} end
      tree = tree[key]
    end
  end
end

local function get(name, handle, ...)
  local tree = data[handle]
  for i = 1, select("#", ...) do
    local key = (select(i, ...))
    check_key(name, i + 1, key)
    if type(tree) ~= "table" then return nil end
    tree = tree[key]
  end
  return tree
end

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
