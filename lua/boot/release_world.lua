-- `Application.release_world`: the release of a world, which several files take part in.
local core = ...

local type = type

local Application, World = core.module("Application"), core.module("World")

local world_release, world_released = core.event("world_release"), core.event("world_released")

---Destroys a world and everything in it. Its handle is stale afterwards.
---@param world World the world to release
function Application.release_world(...)
  local world = ...
  -- The native function refuses any other argument.
  if type(world) == "number" and World.alive(world) then
    world_release(world)
  end
  core.release_world(...)
  world_released(world)
end
