-- Physics of units: their actors, movers and joints, and what `Unit.inspect` tells of them; joints
-- that scripts make. Questions and lists are in physics.lua; bodies themselves are native
-- (src/script/api/actor.rs and the files beside it).
local core = ...

local type, next, tostring, ipairs = type, next, tostring, ipairs
local format, concat = string.format, table.concat
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local istype = core.ffi.istype
local V3, Q = core.ctypes.Vector3, core.ctypes.Quaternion

local World, Unit = core.module("World"), core.module("Unit")
local PhysicsWorld, Actor = core.module("PhysicsWorld"), core.module("Actor")
local Mover, Joint = core.module("Mover"), core.module("Joint")

local create_joint, joint_of = core.create_joint, core.joint
local num_actors, actor_at, find_actor = core.num_actors, core.actor, core.find_actor
local create_actor = core.create_actor
local mover_of, set_mover, mover_fits_at = core.mover, core.set_mover, core.mover_fits_at
local separate_mover = core.separate_mover
local num_movers, find_mover = core.num_movers, core.find_mover
local disable_physics, enable_physics = core.disable_physics, core.enable_physics
local joint_limits, joint_motor = core.joint_limits, core.joint_motor

local JOINTS = { fixed = true, ball = true, hinge = true, slider = true, rope = true,
  spring = true }
local JOINT_OPTIONS = { position = true, other_position = true, axis = true, limits = true,
  length = true, stiffness = true, damping = true, break_force = true, break_torque = true,
  collides = true }
-- Radians or metres.
local LIMIT_MAX = 1e7
-- What the fields of an actor may be: what is more than this is more than a call may be given.
local FIELD_VALUES_MAX, FIELDS_DEPTH_MAX = 2 ^ 21, 16
local JOINT_NUMBERS = { "length", "stiffness", "damping", "break_force", "break_torque" }

---Holds two actors together, or one and the world: "fixed" altogether, "ball" at a point, "hinge"
---about an axis, "slider" along one, "rope" not farther than a length, "spring" at a length.
---Options: `position` (where it holds the first actor, in the world; its middle if left out),
---`other_position` (where it holds the second, for rope and spring), `axis` (up if left out),
---`limits` (radians of a hinge, metres of a slider: { least, most }), `length`, `stiffness`,
---`damping`, `break_force` (newtons), `break_torque`, `collides` (whether the two still collide).
---@param physics_world PhysicsWorld the physics of a world
---@param kind string "fixed", "ball", "hinge", "slider", "rope" or "spring"
---@param actor_1 Actor the first actor
---@param actor_2? Actor the second; the world if nil
---@param options? table the options
---@return Joint joint the new joint
function PhysicsWorld.create_joint(physics_world, kind, actor_1, actor_2, options)
  local name = "PhysicsWorld.create_joint"
  no_reload(name)
  if not JOINTS[kind] then
    bad_argument(name, 2, "kind", concat(core.names(JOINTS), ", "), kind)
  end
  core.check_options(name, 5, "options", options, JOINT_OPTIONS)
  options = options or {}
  for _, key in ipairs({ "position", "other_position", "axis" }) do
    if options[key] ~= nil and not istype(V3, options[key]) then
      raise(format("%s: option '%s' must be Vector3, got %s", name, key,
        core.describe(options[key])))
    end
  end
  local numbers = { collides = options.collides and true or false }
  for _, key in ipairs(JOINT_NUMBERS) do
    local value = options[key]
    if value ~= nil and (type(value) ~= "number" or not (value >= 0 and value < 1e30)) then
      raise(format("%s: option '%s' must be a number from 0 on, got %s", name, key,
        core.describe(value)))
    end
    numbers[key] = value
  end
  local limits = options.limits
  if limits ~= nil then
    if type(limits) ~= "table" or type(limits[1]) ~= "number" or type(limits[2]) ~= "number"
      or not (limits[1] <= limits[2]) then
      raise(name .. ": option 'limits' must be two numbers, the lesser first")
    elseif limits[1] < -LIMIT_MAX or limits[2] > LIMIT_MAX then
      raise(format("%s: option 'limits' must be at most %d to either side, got %g and %g", name,
        LIMIT_MAX, limits[1], limits[2]))
    end
    numbers.least, numbers.most = limits[1], limits[2]
  end
  return create_joint(physics_world, kind, actor_1, actor_2, options.position,
    options.other_position, options.axis, numbers)
end

---An actor of a unit, by its name in the unit's file or by its place there, from 1. Nil where it
---ended, or in a world without physics.
---@param unit Unit a unit
---@param actor string|integer its name or place
---@return Actor|nil actor the actor
function Unit.actor(unit, actor)
  return actor_at(unit, actor)
end

---The place of a unit's actor by its name, from 1; nil where there is none of that name.
---@param unit Unit a unit
---@param name string the name in the unit's file
---@return integer|nil place for `Unit.actor`
function Unit.find_actor(unit, name)
  return find_actor(unit, name)
end

---How many actors a unit has, those that ended among them.
---@param unit Unit a unit
---@return integer count the last place
function Unit.num_actors(unit)
  return num_actors(unit)
end

-- Vectors as lists, so that the fields are plain data, as in a file. `read` counts the values.
local function plain(value, depth, read)
  read.count = read.count + 1
  if read.count > FIELD_VALUES_MAX then
    raise("Unit.create_actor: argument #3 'fields' has more than " .. FIELD_VALUES_MAX
      .. " values (FIELD_VALUES_MAX; a table that is reached twice counts twice)")
  elseif istype(V3, value) then
    return { value._x, value._y, value._z }
  elseif istype(Q, value) then
    return { value._x, value._y, value._z, value._w }
  elseif type(value) ~= "table" then
    return value
  elseif depth > FIELDS_DEPTH_MAX then
    raise("Unit.create_actor: argument #3 'fields' is nested more than " .. FIELDS_DEPTH_MAX
      .. " deep (or in a circle)")
  end
  local made = {}
  for key, item in next, value do made[key] = plain(item, depth + 1, read) end
  return made
end

---Makes an actor: one of the unit's file that ended, by its name or place, or a new one of fields
---as the file has them (with vectors as Vector3 or lists), and a name.
---@param unit Unit a unit
---@param actor string|integer which of the file's actors, or the name of the new one
---@param fields? table what the new one is, as in a unit's file
---@return Actor actor the actor
function Unit.create_actor(unit, actor, fields)
  no_reload("Unit.create_actor")
  if fields ~= nil then
    if type(fields) ~= "table" then
      bad_argument("Unit.create_actor", 3, "fields", "table or nil", fields)
    end
    return create_actor(unit, actor, plain(fields, 1, { count = 0 }))
  end
  return create_actor(unit, actor, nil)
end

---Ends an actor of a unit. `Unit.create_actor` makes it again.
---@param unit Unit a unit
---@param actor string|integer its name or place
function Unit.destroy_actor(unit, actor)
  no_reload("Unit.destroy_actor")
  local found = Unit.actor(unit, actor)
  if not found then
    raise(format("Unit.destroy_actor: the actor %s is not there", tostring(actor)))
  end
  PhysicsWorld.destroy_actor(World.physics_world(Unit.world(unit)), found)
end

-- Moves a node in one go, and the unit's actors with it.
local function teleport(name, set, unit, node, value)
  no_reload(name)
  set(unit, node, value)
  core.teleport(unit)
end

---Moves a node as `set_local_position` does, and puts the unit's actors there at once: kinematic
---ones push nothing on the way.
---@param unit Unit a unit
---@param node? integer which of its nodes; the root if nil
---@param position Vector3 metres from its parent
function Unit.teleport_local_position(unit, node, position)
  teleport("Unit.teleport_local_position", Unit.set_local_position, unit, node, position)
end

---The same for how a node is turned.
---@param unit Unit a unit
---@param node? integer which of its nodes; the root if nil
---@param rotation Quaternion relative to its parent
function Unit.teleport_local_rotation(unit, node, rotation)
  teleport("Unit.teleport_local_rotation", Unit.set_local_rotation, unit, node, rotation)
end

---Both at once, and its size; actors keep the size that they have.
---@param unit Unit a unit
---@param node? integer which of its nodes; the root if nil
---@param pose Matrix4x4 relative to its parent
function Unit.teleport_local_pose(unit, node, pose)
  teleport("Unit.teleport_local_pose", Unit.set_local_pose, unit, node, pose)
end

---Takes the actors of a unit, and that of its mover, out of physics: nothing touches them, no
---question finds them, and they stay where they are. For what is hidden, or kept for later.
---@param unit Unit a unit
function Unit.disable_physics(unit)
  no_reload("Unit.disable_physics")
  disable_physics(unit)
end

---Puts the actors of a unit back where its nodes are now, with the velocities that they had.
---@param unit Unit a unit
function Unit.enable_physics(unit)
  no_reload("Unit.enable_physics")
  enable_physics(unit)
end

---How many movers a unit's file lists; it has one of them at a time.
---@param unit Unit a unit
---@return integer count how many
function Unit.num_movers(unit)
  return num_movers(unit)
end

---The place of a mover in a unit's file by its name, from 1; nil where there
---is none of that name.
---@param unit Unit a unit
---@param name string the name in the unit's file
---@return integer|nil place from 1
function Unit.find_mover(unit, name)
  return find_mover(unit, name)
end

---The mover of a unit; nil where it has none.
---@param unit Unit a unit
---@return Mover|nil mover the mover
function Unit.mover(unit)
  return mover_of(unit)
end

---Changes the mover of a unit: to one that its file lists under `movers`, in the same place, or to
---none.
---@param unit Unit a unit
---@param name? string the name in the unit's file; nil: it has none from now on
---@return Mover|nil mover the new mover
function Unit.set_mover(unit, name)
  no_reload("Unit.set_mover")
  return set_mover(unit, name)
end

---Whether another mover of a unit's file would touch nothing at a place: whether there is room to
---stand up, say.
---@param unit Unit a unit
---@param name string the name of the mover
---@param position Vector3 where its feet would be
---@return boolean fits whether it touches nothing
function Unit.mover_fits_at(unit, name, position)
  return mover_fits_at(unit, name, position)
end

---The way of a mover out of what it overlaps: where something was put into it, or it somewhere. It
---stays where it is: give the new position to `Mover.set_position`. Where there is none it is
---wedged in, between a lift and a ceiling, say.
---@param mover Mover a mover
---@param distance? number metres that it may go at most; its height if left out
---@return boolean overlaps whether it overlaps anything
---@return Actor|nil actor what it overlaps most
---@return Vector3|nil way out of it
---@return Vector3|nil position where it would overlap nothing; nil if that is too far
function Mover.separate(mover, distance)
  local list = separate_mover(mover, distance)
  local actor = list[1]
  if not actor then return false end
  local way = V3(list[2], list[3], list[4])
  return true, actor, way, list[5] and Mover.position(mover) + way or nil
end

---How far a hinge turns or a slider moves, in radians or metres; nil where nothing limits it.
---@param joint Joint a joint
---@return number|nil least the lesser
---@return number|nil most the greater
function Joint.limits(joint)
  local list = joint_limits(joint)
  return list[1], list[2]
end

---How a hinge or a slider is driven, as `Joint.set_motor` was told; nil where it moves freely.
---@param joint Joint a joint
---@return number|nil speed radians or metres a second
---@return number|nil max_force newton metres or newtons that it has for that
function Joint.motor(joint)
  local list = joint_motor(joint)
  return list[1], list[2]
end

---A joint of a unit's file, by its name; nil where there is none, or it was destroyed.
---@param unit Unit a unit
---@param name string its name
---@return Joint|nil joint the joint
function Unit.joint(unit, name)
  return joint_of(unit, name)
end

local inspect = core.inspect_components

-- What `Unit.inspect` tells of actors and movers.
function core.inspect_components(unit)
  local lines = inspect(unit)
  for place = 1, num_actors(unit) do
    local actor = actor_at(unit, place)
    if not actor then
      lines[#lines + 1] = format("actor %d ended", place)
    else
      local kind = Actor.is_trigger(actor) and "trigger" or Actor.is_static(actor) and "static"
        or Actor.is_kinematic(actor) and "kinematic" or "dynamic"
      lines[#lines + 1] = format("actor %d %q %s on node %d at %s, %g kg, velocity %s%s", place,
        Actor.debug_name(actor), kind, Actor.node(actor), tostring(Actor.position(actor)),
        Actor.mass(actor), tostring(Actor.velocity(actor)),
        Actor.is_sleeping(actor) and ", asleep" or "")
    end
  end
  local mover = mover_of(unit)
  if mover then
    lines[#lines + 1] = format("mover %q at %s%s", Mover.debug_name(mover),
      tostring(Mover.position(mover)), Mover.standing_frames(mover) > 0 and ", on the ground" or "")
  end
  return lines
end
