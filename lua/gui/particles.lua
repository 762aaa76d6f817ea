-- Particles in Guis: functions that accept positions in the same form as the drawing functions of
-- `Gui`. Particles in a world are native functions of `World`.
local core = ...

local check, place_of = core.draw.check, core.draw.place_of
local create_particles, move_particles = core.create_particles, core.move_particles

local Gui = core.module("Gui")

local CREATE = { "gui", "Gui", "name", "string", "position", "Vector3 or Vector2", "angle",
  "number or nil", "scale", "number or nil" }
local MOVE = { "gui", "Gui", "id", "number", "position", "Vector2 or Vector3", "angle",
  "number or nil", "scale", "number or nil" }

---@module ParticleEffect
---A playing effect, in a world (`World.create_particles`) or in a Gui (`Gui.create_particles`). It
---is a number, like every handle. It ends when its last particle ends.
---@example
---   local world = Application.new_world()
---   assert(World.num_particles(world) == 0) -- particles of every ParticleEffect in it
---   Application.release_world(world)

---Plays an effect in a Gui. The Gui's world updates the effect, and it is drawn in each frame
---until it ends. `World.destroy_particles`, `World.stop_spawning_particles` and the other particle
---functions also accept its handle.
---@param gui Gui Gui in which the effect plays, immediate or retained
---@param name string the name of a `.particles` resource
---@param position Vector3|Vector2 position in the Gui's pixels; z is the layer
---@param angle? number rotation in radians, counterclockwise; 0 by default
---@param scale? number scale; 1 by default
---@return ParticleEffect id the playing effect
function Gui.create_particles(gui, name, position, angle, scale)
  check("Gui.create_particles", CREATE, gui, name, position, angle, scale)
  local x, y, layer = place_of(position)
  return create_particles(gui, name, x, y, layer, angle or 0, scale or 1)
end

---Moves an effect in its Gui without changing its layer. Particles spawned during the move are
---spread along it.
---@param gui Gui Gui in which the effect plays
---@param id ParticleEffect effect returned by `Gui.create_particles`
---@param position Vector2|Vector3 position in the Gui's pixels
---@param angle? number rotation in radians, counterclockwise; 0 by default
---@param scale? number scale; 1 by default
function Gui.move_particles(gui, id, position, angle, scale)
  check("Gui.move_particles", MOVE, gui, id, position, angle, scale)
  local x, y = place_of(position)
  move_particles(gui, id, x, y, angle or 0, scale or 1)
end
