-- Joints that scripts create, with their options, and the values of joints and movers that are more
-- than one number. The rest of `Joint` and `Mover` is native.
local core = ...

local type, ipairs = type, ipairs
local format, concat = string.format, table.concat
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local istype, V3 = core.ffi.istype, core.ctypes.Vector3

local PhysicsWorld, Joint = core.module("PhysicsWorld"), core.module("Joint")
local Mover = core.module("Mover")

local create_joint, separate_mover = core.create_joint, core.separate_mover
local joint_limits, joint_motor = core.joint_limits, core.joint_motor
local pulley_lengths = core.pulley_lengths

local JOINTS = { fixed = true, ball = true, hinge = true, slider = true, rope = true,
  spring = true, wheel = true, mouse = true, pulley = true, weld = true }
local JOINT_OPTIONS = { position = true, other_position = true, axis = true, limits = true,
  length = true, stiffness = true, damping = true, frequency = true, damping_ratio = true,
  max_force = true, break_force = true, break_torque = true, collides = true,
  ground_position = true, other_ground_position = true, ratio = true }
local JOINT_POINTS = { "position", "other_position", "axis", "ground_position",
  "other_ground_position" }
-- Least and largest ratio of a pulley (PULLEY_RATIO_MIN, PULLEY_RATIO_MAX).
local RATIO_MIN, RATIO_MAX = 0.001, 1000
-- Largest joint limit, in radians or metres.
local LIMIT_MAX = 1e7
local JOINT_NUMBERS = { "length", "stiffness", "damping", "frequency", "damping_ratio",
  "max_force", "break_force", "break_torque" }
local POSITIVE = { frequency = true, max_force = true }

-- Checks the options of a pulley, and adds them to the numbers for the native function.
local function check_pulley(name, kind, options, numbers)
  local ratio = options.ratio
  if ratio ~= nil and (type(ratio) ~= "number"
    or not (ratio >= RATIO_MIN and ratio <= RATIO_MAX)) then
    raise(format("%s: option 'ratio' must be a number from %g to %g, got %s", name, RATIO_MIN,
      RATIO_MAX, core.describe(ratio)))
  end
  numbers.ratio = ratio
  local point, other = options.ground_position, options.other_ground_position
  if kind == "pulley" and not point then
    raise(name .. ": a pulley needs the option 'ground_position', the point in the world over "
      .. "which its rope runs")
  end
  numbers.ground = point and { point.x, point.y, point.z }
  numbers.other_ground = other and { other.x, other.y, other.z }
end

---Joins two actors, or one actor and the world: "fixed" (also "weld") rigidly, "ball" at a point,
---"hinge" about an axis, "slider" along an axis, "rope" up to a length, "spring" at a length,
---"wheel" (the second actor) turning, with a spring along an axis, "mouse" pulled to a point that
---`Joint.set_target` moves, "pulley" hanging on a rope over two fixed points. Options: `position`
---(anchor on the first actor, in the world; its center by default, for "wheel" that of the second),
---`other_position` (anchor on the second actor, for rope, spring, pulley; the point for "mouse"),
---`axis` (up by default; in 2D worlds, hinges turn about z), `limits` (radians for a hinge, metres
---for a slider or wheel: { least, most }), `length`, `stiffness` and `damping` of a spring (newtons
---per metre, and per metre a second: 1000 and 10);
---for "wheel" and "mouse" instead of them `frequency` (oscillations per second: 4) and
---`damping_ratio` (0.7; 1 does not oscillate), `max_force` (newtons, for "mouse"; 1000 per kilogram
---by default); for "pulley" `ground_position` and `other_ground_position` (points in the world over
---which the rope runs to the first and the second actor; one point if the second is left out),
---`ratio` (1; the second part of the rope counts so many times, 0.001 to 1000), `length` (the first
---part, and the second times the ratio; by default as taut as the actors are apart);
---`break_force` (newtons; of a pulley, the force in the first part of the rope), `break_torque`,
---`collides` (true if the two actors still collide).
---@param physics_world PhysicsWorld the physics of a world
---@param kind string the type: "fixed", "hinge", "rope" or another one of those above
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
  for _, key in ipairs(JOINT_POINTS) do
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
    elseif value == 0 and POSITIVE[key] then
      raise(format("%s: option '%s' must be above 0", name, key))
    end
    numbers[key] = value
  end
  check_pulley(name, kind, options, numbers)
  local limits = options.limits
  if limits ~= nil then
    if type(limits) ~= "table" or type(limits[1]) ~= "number" or type(limits[2]) ~= "number"
      or not (limits[1] <= limits[2]) then
      raise(name .. ": option 'limits' must be two numbers, the smaller first")
    elseif limits[1] < -LIMIT_MAX or limits[2] > LIMIT_MAX then
      raise(format("%s: option 'limits' must be at most %d to either side, got %g and %g", name,
        LIMIT_MAX, limits[1], limits[2]))
    end
    numbers.least, numbers.most = limits[1], limits[2]
  end
  return create_joint(physics_world, kind, actor_1, actor_2, options.position,
    options.other_position, options.axis, numbers)
end

---Returns the limits of a hinge, a slider or a wheel, in radians or metres, or nil if it is
---unlimited.
---@param joint Joint a joint
---@return number|nil least the lower limit
---@return number|nil most the upper limit
---@node query
function Joint.limits(joint)
  local list = joint_limits(joint)
  return list[1], list[2]
end

---Returns the motor of a hinge, a slider or a wheel, as set by `Joint.set_motor`, or nil if it
---moves freely.
---@param joint Joint a joint
---@return number|nil speed radians or metres per second
---@return number|nil max_force maximum torque or force, in newton metres or newtons
---@node query
function Joint.motor(joint)
  local list = joint_motor(joint)
  return list[1], list[2]
end

---Returns the lengths of the two parts of a pulley's rope, from the actors to the fixed points, or
---nil if the joint is no pulley or broken. `Joint.value` is the first one, plus the second one
---times the ratio.
---@param joint Joint a joint
---@return number|nil first metres to the first actor
---@return number|nil second metres to the second actor
---@node query
function Joint.lengths(joint)
  local list = pulley_lengths(joint)
  return list[1], list[2]
end

---Computes how to move a mover out of an overlap, for example after an object was placed inside
---it. The mover is not moved: pass the new position to `Mover.set_position`. If there is no such
---position, the mover is stuck, for example between a lift and a ceiling.
---@param mover Mover a mover
---@param distance? number maximum distance in metres; the mover's height by default
---@return boolean overlaps true if it overlaps anything
---@return Actor|nil actor the actor with the deepest overlap
---@return Vector3|nil offset vector out of the overlap
---@return Vector3|nil position position without overlap; nil if it is too far
function Mover.separate(mover, distance)
  local list = separate_mover(mover, distance)
  local actor = list[1]
  if not actor then return false end
  local way = V3(list[2], list[3], list[4])
  return true, actor, way, list[5] and Mover.position(mover) + way or nil
end
