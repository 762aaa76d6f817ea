-- Particles in Guis: functions that accept positions in the same form as the drawing functions of
-- `Gui`. Particles in a world are native functions of `World`.
local core = ...

local type, istype, bad_argument = type, core.ffi.istype, core.bad_argument
local V2, V3 = core.ctypes.Vector2, core.ctypes.Vector3
local create_particles, move_particles = core.create_particles, core.move_particles

local Gui = core.module("Gui")

-- Raises if an argument that both functions have is of the wrong type.
local function check(name, gui, expected, position, angle, scale)
  if type(gui) ~= "number" then bad_argument(name, 1, "gui", "Gui", gui) end
  if not (istype(V3, position) or istype(V2, position)) then
    bad_argument(name, 3, "position", expected, position)
  end
  if angle ~= nil and type(angle) ~= "number" then
    bad_argument(name, 4, "angle", "number or nil", angle)
  end
  if scale ~= nil and type(scale) ~= "number" then
    bad_argument(name, 5, "scale", "number or nil", scale)
  end
end

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
  core.no_reload("Gui.create_particles")
  if type(gui) == "number" and type(name) ~= "string" then
    bad_argument("Gui.create_particles", 2, "name", "string", name)
  end
  check("Gui.create_particles", gui, "Vector3 or Vector2", position, angle, scale)
  local layer = istype(V3, position) and position._z or 0
  return create_particles(gui, name, position._x, position._y, layer, angle or 0, scale or 1)
end

---Moves an effect in its Gui without changing its layer. Particles spawned during the move are
---spread along it.
---@param gui Gui Gui in which the effect plays
---@param id ParticleEffect effect returned by `Gui.create_particles`
---@param position Vector2|Vector3 position in the Gui's pixels
---@param angle? number rotation in radians, counterclockwise; 0 by default
---@param scale? number scale; 1 by default
function Gui.move_particles(gui, id, position, angle, scale)
  core.no_reload("Gui.move_particles")
  if type(gui) == "number" and type(id) ~= "number" then
    bad_argument("Gui.move_particles", 2, "id", "number", id)
  end
  check("Gui.move_particles", gui, "Vector2 or Vector3", position, angle, scale)
  move_particles(gui, id, position._x, position._y, angle or 0, scale or 1)
end
