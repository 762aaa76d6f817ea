-- Particles in Guis: what takes positions as the drawing functions of `Gui` do. Those in a world
-- are native rows of `World`.
local core = ...

local check, place_of = core.draw.check, core.draw.place_of
local create_particles, move_particles = core.create_particles, core.move_particles

local Gui = core.module("Gui")

local CREATE = { "gui", "Gui", "name", "string", "position", "Vector3 or Vector2", "angle",
  "number or nil", "scale", "number or nil" }
local MOVE = { "gui", "Gui", "id", "number", "position", "Vector2 or Vector3", "angle",
  "number or nil", "scale", "number or nil" }

---@module ParticleEffect
---An effect that plays, in a world (`World.create_particles`) or in a Gui (`Gui.create_particles`):
---a number, as every handle. It ends by itself when its last particle is gone.
---@example
---   local world = Application.new_world()
---   assert(World.num_particles(world) == 0) -- particles of every ParticleEffect in it
---   Application.release_world(world)

---Plays an effect in a Gui. The Gui's world moves it on, and it is drawn in each frame until it
---ends. `World.destroy_particles`, `World.stop_spawning_particles` and the other functions for
---particles take its handle, too.
---@param gui Gui where it plays; immediate or retained makes no difference
---@param name string the name of a `.particles`
---@param position Vector3|Vector2 where, in the Gui's pixels; z is the layer
---@param angle? number radians that it is turned by, against the clock; 0 if none
---@param scale? number how large it is; 1 if none
---@return ParticleEffect id the playing effect
function Gui.create_particles(gui, name, position, angle, scale)
  check("Gui.create_particles", CREATE, gui, name, position, angle, scale)
  local x, y, layer = place_of(position)
  return create_particles(gui, name, x, y, layer, angle or 0, scale or 1)
end

---Moves an effect in its Gui; it stays on its layer. What it spawns on its way is spread over it.
---@param gui Gui where it plays
---@param id ParticleEffect what `Gui.create_particles` returned
---@param position Vector2|Vector3 where, in the Gui's pixels
---@param angle? number radians that it is turned by, against the clock; 0 if none
---@param scale? number how large it is; 1 if none
function Gui.move_particles(gui, id, position, angle, scale)
  check("Gui.move_particles", MOVE, gui, id, position, angle, scale)
  local x, y = place_of(position)
  move_particles(gui, id, x, y, angle or 0, scale or 1)
end
