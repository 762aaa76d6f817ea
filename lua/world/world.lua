-- `World` as a whole: its update, and the data that games store with it. Functions for what a world
-- contains are next to it, in the files of this folder and in lua/gui/gui.lua.
local core = ...

local no_reload = core.no_reload
local check, set, get = core.user_data.check, core.user_data.set, core.user_data.get

local World = core.module("World")

local world_update = core.event("world_update")

---Advances everything in the world by a time step. Call it once in `update(dt)`.
---@param world World the world to advance
---@param delta number seconds, zero or more
---@node hidden
function World.update(...)
  world_update(...)
end

---Stores a value with a world under one or more keys. The value is removed with the world.
---@param world World the world
---@param ... any the keys, then the value; nil removes the value
function World.set_data(world, ...)
  no_reload("World.set_data")
  check("World.set_data", World, world)
  set("World.set_data", world, ...)
end

---Returns the value stored with a world under the keys, or nil.
---@param world World the world
---@param ... string|number the keys
---@return any value the stored value
function World.get_data(world, ...)
  check("World.get_data", World, world)
  return get("World.get_data", world, ...)
end

---Returns true if a value is stored with a world under the keys.
---@param world World the world
---@param ... string|number the keys
---@return boolean exists true if `get_data` returns a value
function World.has_data(world, ...)
  check("World.has_data", World, world)
  return get("World.has_data", world, ...) ~= nil
end
