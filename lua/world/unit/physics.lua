-- Physics of units: their actors, movers and joints. Bodies are native (src/script/api/actor/).
local core = ...

local type, next, tostring = type, next, tostring
local format = string.format
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local istype = core.ffi.istype
local V3, Q = core.ctypes.Vector3, core.ctypes.Quaternion

local World, Unit = core.module("World"), core.module("Unit")
local PhysicsWorld = core.module("PhysicsWorld")

local num_actors, actor_at, find_actor = core.num_actors, core.actor, core.find_actor
local create_actor = core.create_actor
local mover_of, set_mover, mover_fits_at = core.mover, core.set_mover, core.mover_fits_at
local num_movers, find_mover = core.num_movers, core.find_mover
local disable_physics, enable_physics = core.disable_physics, core.enable_physics
local joint_of = core.joint

-- Limits for the fields of an actor. A call must not receive more values or deeper tables.
local FIELD_VALUES_MAX, FIELDS_DEPTH_MAX = 2 ^ 21, 16

---Returns an actor of a unit, by its name in the unit's file or by its index there, from 1.
---Returns nil if the actor was destroyed, or in a world without physics.
---@param unit Unit a unit
---@param actor string|integer its name or index
---@return Actor|nil actor the actor
---@node query
function Unit.actor(unit, actor)
  return actor_at(unit, actor)
end

---Returns the index of a unit's actor by its name, from 1, or nil if no actor has that name.
---@param unit Unit a unit
---@param name string the name in the unit's file
---@return integer|nil index for `Unit.actor`
---@node query
function Unit.find_actor(unit, name)
  return find_actor(unit, name)
end

---Returns the number of actors of a unit, including destroyed ones.
---@param unit Unit a unit
---@return integer count the last index
---@node query
function Unit.num_actors(unit)
  return num_actors(unit)
end

-- Converts vectors to lists, so that the fields are plain data, as in a file. `read` counts the
-- values.
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
  local result = {}
  for key, item in next, value do result[key] = plain(item, depth + 1, read) end
  return result
end

---Creates an actor. It is either a destroyed actor of the unit's file, selected by its name or
---index, or a new one with a name and fields as in the file (vectors as Vector3 or lists).
---@param unit Unit a unit
---@param actor string|integer name or index of an actor in the file, or the name of the new one
---@param fields? table the fields of the new actor, as in a unit's file
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

---Destroys an actor of a unit. `Unit.create_actor` creates it again.
---@param unit Unit a unit
---@param actor string|integer its name or index
function Unit.destroy_actor(unit, actor)
  no_reload("Unit.destroy_actor")
  local found = Unit.actor(unit, actor)
  if not found then
    raise(format("Unit.destroy_actor: the actor %s does not exist", tostring(actor)))
  end
  PhysicsWorld.destroy_actor(World.physics_world(Unit.world(unit)), found)
end

-- Moves a node in one step, together with the unit's actors.
local function teleport(name, set, unit, node, value)
  no_reload(name)
  set(unit, node, value)
  core.teleport(unit)
end

---Sets the local position of a node, as `set_local_position`, and moves the unit's actors at once:
---kinematic actors push nothing along the path.
---@param unit Unit a unit
---@param node? integer index of the node; the root if nil
---@param position Vector3 metres, relative to its parent
function Unit.teleport_local_position(unit, node, position)
  teleport("Unit.teleport_local_position", Unit.set_local_position, unit, node, position)
end

---Sets the local rotation of a node and moves the unit's actors at once.
---@param unit Unit a unit
---@param node? integer index of the node; the root if nil
---@param rotation Quaternion relative to its parent
function Unit.teleport_local_rotation(unit, node, rotation)
  teleport("Unit.teleport_local_rotation", Unit.set_local_rotation, unit, node, rotation)
end

---Sets the local pose of a node and moves the unit's actors at once. Actors keep their size.
---@param unit Unit a unit
---@param node? integer index of the node; the root if nil
---@param pose Matrix4x4 relative to its parent
function Unit.teleport_local_pose(unit, node, pose)
  teleport("Unit.teleport_local_pose", Unit.set_local_pose, unit, node, pose)
end

---Removes the actors of a unit, and the actor of its mover, from the simulation: nothing touches
---them, no query finds them, and they do not move. Use it for units that are hidden or pooled.
---@param unit Unit a unit
function Unit.disable_physics(unit)
  no_reload("Unit.disable_physics")
  disable_physics(unit)
end

---Puts the actors of a unit back at the current transforms of its nodes, with their previous
---velocities.
---@param unit Unit a unit
function Unit.enable_physics(unit)
  no_reload("Unit.enable_physics")
  enable_physics(unit)
end

---Returns the number of movers listed in a unit's file. A unit has one mover at a time.
---@param unit Unit a unit
---@return integer count number of movers
---@node query
function Unit.num_movers(unit)
  return num_movers(unit)
end

---Returns the index of a mover in a unit's file by its name, from 1, or nil if no mover has that
---name.
---@param unit Unit a unit
---@param name string the name in the unit's file
---@return integer|nil index from 1
---@node query
function Unit.find_mover(unit, name)
  return find_mover(unit, name)
end

---Returns the mover of a unit, or nil if it has none.
---@param unit Unit a unit
---@return Mover|nil mover the mover
---@node query
function Unit.mover(unit)
  return mover_of(unit)
end

---Replaces the mover of a unit with another one that its file lists under `movers`, at the same
---position, or removes it.
---@param unit Unit a unit
---@param name? string the name in the unit's file; nil removes the mover
---@return Mover|nil mover the new mover
function Unit.set_mover(unit, name)
  no_reload("Unit.set_mover")
  return set_mover(unit, name)
end

---Returns true if another mover of a unit's file would overlap nothing at a position. Use it, for
---example, to test if there is room to stand up.
---@param unit Unit a unit
---@param name string the name of the mover
---@param position Vector3 position of its feet
---@return boolean fits true if it overlaps nothing
---@node query
function Unit.mover_fits_at(unit, name, position)
  return mover_fits_at(unit, name, position)
end

---Returns a joint of a unit's file by its name, or nil if it does not exist or was destroyed.
---@param unit Unit a unit
---@param name string its name
---@return Joint|nil joint the joint
---@node query
function Unit.joint(unit, name)
  return joint_of(unit, name)
end
