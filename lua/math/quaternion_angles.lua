-- Quaternion and angles: axes, looking, yaw, pitch and roll, Euler angles, turning towards a
-- target. The type, its operators and its algebra are in quaternion.lua.
local core = ...

local bad_argument = core.bad_argument
local type = type
local abs, asin, atan2, cos, sin, sqrt =
  math.abs, math.asin, math.atan2, math.cos, math.sin, math.sqrt
local pi, rad, deg = math.pi, math.rad, math.deg
local istype, slerp = core.ffi.istype, core.values.slerp

local Quaternion = core.module("Quaternion")
local Q, V3 = core.ctypes.Quaternion, core.ctypes.Vector3
local IDENTITY = Q(0, 0, 0, 1)
local XYZ = { "x", "y", "z" }
local YAW_PITCH_ROLL = { "yaw", "pitch", "roll" }

local function check(name, q)
  if not istype(Q, q) then bad_argument(name, 1, "q", "Quaternion", q) end
end

local function check_numbers(name, names, a, b, c)
  if type(a) ~= "number" then bad_argument(name, 1, names[1], "number", a) end
  if type(b) ~= "number" then bad_argument(name, 2, names[2], "number", b) end
  if type(c) ~= "number" then bad_argument(name, 3, names[3], "number", c) end
end

---Returns the rotated X axis: the right direction.
---@param q Quaternion the rotation
---@return Vector3 the right direction
function Quaternion.right(q)
  check("Quaternion.right", q)
  local x, y, z, w = q._x, q._y, q._z, q._w
  return V3(1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y))
end

---Returns the rotated Y axis: the forward (viewing) direction.
---@param q Quaternion the rotation
---@return Vector3 the forward direction
function Quaternion.forward(q)
  check("Quaternion.forward", q)
  local x, y, z, w = q._x, q._y, q._z, q._w
  return V3(2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x))
end

---Returns the rotated Z axis: the up direction.
---@param q Quaternion the rotation
---@return Vector3 the up direction
function Quaternion.up(q)
  check("Quaternion.up", q)
  local x, y, z, w = q._x, q._y, q._z, q._w
  return V3(2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y))
end

-- Returns the rotation with these axes, which must be unit vectors at right angles. The largest of
-- the four components is computed first, to avoid a division by a small number. Source: S. W.
-- Shepperd, "Quaternion from rotation matrix", Journal of Guidance and Control 1(3), 1978.
local function from_axes(xx, xy, xz, yx, yy, yz, zx, zy, zz)
  local trace = xx + yy + zz
  if trace > 0 then
    local s = 2 * sqrt(1 + trace)
    return Q((yz - zy) / s, (zx - xz) / s, (xy - yx) / s, s / 4)
  elseif xx >= yy and xx >= zz then
    local s = 2 * sqrt(1 + xx - yy - zz)
    return Q(s / 4, (xy + yx) / s, (zx + xz) / s, (yz - zy) / s)
  elseif yy >= zz then
    local s = 2 * sqrt(1 + yy - xx - zz)
    return Q((xy + yx) / s, s / 4, (yz + zy) / s, (zx - xz) / s)
  end
  local s = 2 * sqrt(1 + zz - xx - yy)
  return Q((zx + xz) / s, (yz + zy) / s, s / 4, (xy - yx) / s)
end

core.values.quaternion_from_axes = from_axes

-- Implements Quaternion.look, with direction and up as separate numbers.
local function look(yx, yy, yz, ux, uy, uz)
  local length = sqrt(yx * yx + yy * yy + yz * yz)
  if length == 0 then return IDENTITY end
  yx, yy, yz = yx / length, yy / length, yz / length
  local xx, xy, xz = yy * uz - yz * uy, yz * ux - yx * uz, yx * uy - yy * ux
  length = sqrt(xx * xx + xy * xy + xz * xz)
  -- Relative to the length of up: below this threshold the cross product is only rounding noise.
  if length <= 1e-6 * sqrt(ux * ux + uy * uy + uz * uz) then
    -- World right, or world forward when looking along world right, minus its component along y.
    local px, py = 1, 0
    if abs(yx) > 0.9 then px, py = 0, 1 end
    local along = px * yx + py * yy
    xx, xy, xz = px - yx * along, py - yy * along, -yz * along
    length = sqrt(xx * xx + xy * xy + xz * xz)
  end
  xx, xy, xz = xx / length, xy / length, xz / length
  local zx, zy, zz = xy * yz - xz * yy, xz * yx - xx * yz, xx * yy - xy * yx
  return from_axes(xx, xy, xz, yx, yy, yz, zx, zy, zz)
end

core.values.look = look

---Returns the rotation whose forward axis (Y) points in a direction and whose up axis (Z) is as
---near as possible to `up`. A zero direction results in the identity. If `up` is parallel to the
---direction, the right axis is kept as near as possible to world right.
---@param direction Vector3 viewing direction; its length does not matter
---@param up? Vector3 up direction; world up (0, 0, 1) by default
---@return Quaternion the rotation
function Quaternion.look(direction, up)
  if not istype(V3, direction) then
    bad_argument("Quaternion.look", 1, "direction", "Vector3", direction)
  end
  if up == nil then return look(direction._x, direction._y, direction._z, 0, 0, 1) end
  if not istype(V3, up) then bad_argument("Quaternion.look", 2, "up", "Vector3", up) end
  return look(direction._x, direction._y, direction._z, up._x, up._y, up._z)
end

local function axis_and_angle(q)
  local x, y, z, w = q._x, q._y, q._z, q._w
  if w < 0 then x, y, z, w = -x, -y, -z, -w end
  local length = sqrt(x * x + y * y + z * z)
  if length == 0 then return 0, 0, 1, 0 end
  return x / length, y / length, z / length, 2 * atan2(length, w)
end

---Returns the angle of a rotation along the shortest arc.
---@param q Quaternion the rotation
---@return number radians from 0 to pi
function Quaternion.angle(q)
  check("Quaternion.angle", q)
  local _, _, _, angle = axis_and_angle(q)
  return angle
end

---Splits a rotation into its axis and its angle, along the shortest arc. The identity results in
---the up axis and 0.
---@param q Quaternion the rotation
---@return Vector3 axis of length 1
---@return number radians from 0 to pi
function Quaternion.decompose(q)
  check("Quaternion.decompose", q)
  local x, y, z, angle = axis_and_angle(q)
  return V3(x, y, z), angle
end

-- Uses the difference and the sum, which are exact for small angles, unlike an arc cosine.
local function angle_between(a, b)
  local sign = a._x * b._x + a._y * b._y + a._z * b._z + a._w * b._w < 0 and -1 or 1
  local bx, by, bz, bw = b._x * sign, b._y * sign, b._z * sign, b._w * sign
  local dx, dy, dz, dw = a._x - bx, a._y - by, a._z - bz, a._w - bw
  local sx, sy, sz, sw = a._x + bx, a._y + by, a._z + bz, a._w + bw
  return 4 * atan2(
    sqrt(dx * dx + dy * dy + dz * dz + dw * dw),
    sqrt(sx * sx + sy * sy + sz * sz + sw * sw)
  )
end

---Returns the angle between two rotations.
---@param a Quaternion the first rotation, of length 1
---@param b Quaternion the second rotation, of length 1
---@return number radians from 0 to pi
function Quaternion.angle_between(a, b)
  if not istype(Q, a) then bad_argument("Quaternion.angle_between", 1, "a", "Quaternion", a) end
  if not istype(Q, b) then bad_argument("Quaternion.angle_between", 2, "b", "Quaternion", b) end
  return angle_between(a, b)
end

---Returns a rotation turned towards a target by at most an angle, without overshooting.
---@param from Quaternion the rotation at the start, of length 1
---@param to Quaternion the target, of length 1
---@param max_angle number radians, 0 or more
---@return Quaternion the new rotation
function Quaternion.rotate_towards(from, to, max_angle)
  if not istype(Q, from) then
    bad_argument("Quaternion.rotate_towards", 1, "from", "Quaternion", from)
  end
  if not istype(Q, to) then bad_argument("Quaternion.rotate_towards", 2, "to", "Quaternion", to) end
  if type(max_angle) ~= "number" or not (max_angle >= 0) then
    bad_argument("Quaternion.rotate_towards", 3, "max_angle", "0 or more", max_angle)
  end
  local angle = angle_between(from, to)
  if angle <= max_angle then return to end
  return slerp(from, to, max_angle / angle)
end

---Returns the shortest rotation that turns one direction into another. Opposite directions rotate
---by pi about some axis perpendicular to them; a zero vector results in the identity.
---@param from Vector3 the start direction; its length does not matter
---@param to Vector3 the target direction; its length does not matter
---@return Quaternion the rotation
function Quaternion.between(from, to)
  if not istype(V3, from) then bad_argument("Quaternion.between", 1, "from", "Vector3", from) end
  if not istype(V3, to) then bad_argument("Quaternion.between", 2, "to", "Vector3", to) end
  local ax, ay, az, bx, by, bz = from._x, from._y, from._z, to._x, to._y, to._z
  local lengths = sqrt((ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz))
  if lengths == 0 then return IDENTITY end
  local x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
  local w = lengths + ax * bx + ay * by + az * bz
  if w < 1e-6 * lengths then
    -- Opposite directions: any perpendicular axis is valid; choosing the larger two components
    -- keeps it well defined.
    if abs(ax) > abs(az) then x, y, z = -ay, ax, 0 else x, y, z = 0, -az, ay end
    w = 0
  end
  local norm = sqrt(x * x + y * y + z * z + w * w)
  return Q(x / norm, y / norm, z / norm, w / norm)
end

---Returns the rotation by Euler angles in DEGREES, as in the Bitsquid family: about the fixed X
---axis first, then the fixed Y axis, then the fixed Z axis.
---@param x number degrees about X (pitch)
---@param y number degrees about Y (roll)
---@param z number degrees about Z (yaw)
---@return Quaternion the rotation
function Quaternion.from_euler_angles_xyz(x, y, z)
  check_numbers("Quaternion.from_euler_angles_xyz", XYZ, x, y, z)
  local cx, sx = cos(rad(x) / 2), sin(rad(x) / 2)
  local cy, sy = cos(rad(y) / 2), sin(rad(y) / 2)
  local cz, sz = cos(rad(z) / 2), sin(rad(z) / 2)
  return Q(
    sx * cy * cz - cx * sy * sz,
    cx * sy * cz + sx * cy * sz,
    cx * cy * sz - sx * sy * cz,
    cx * cy * cz + sx * sy * sz
  )
end

---Returns the Euler angles in DEGREES, as accepted by `Quaternion.from_euler_angles_xyz`. If Y is
---90 or -90, the other two rotate about the same axis, and X is returned as 0.
---@param q Quaternion the rotation, of length 1
---@return number x degrees about X, from -180 to 180
---@return number y degrees about Y, from -90 to 90
---@return number z degrees about Z, from -180 to 180
function Quaternion.to_euler_angles_xyz(q)
  check("Quaternion.to_euler_angles_xyz", q)
  local x, y, z, w = q._x, q._y, q._z, q._w
  local sine = 2 * (w * y - x * z)
  if abs(sine) > 0.999999 then
    local roll = sine < 0 and -90 or 90
    return 0, roll, deg(atan2(2 * (w * z - x * y), 1 - 2 * (x * x + z * z)))
  end
  return deg(atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))),
    deg(asin(sine)),
    deg(atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))
end

---Returns the rotation by yaw, pitch and roll in RADIANS. Roll, about the forward axis, is applied
---first; then pitch, about the right axis; then yaw, about world up.
---@param yaw number radians to the left (counterclockwise from above)
---@param pitch number radians upwards
---@param roll number radians; positive values lower the right side
---@return Quaternion the rotation
function Quaternion.from_yaw_pitch_roll(yaw, pitch, roll)
  check_numbers("Quaternion.from_yaw_pitch_roll", YAW_PITCH_ROLL, yaw, pitch, roll)
  local cz, sz = cos(yaw / 2), sin(yaw / 2)
  local cx, sx = cos(pitch / 2), sin(pitch / 2)
  local cy, sy = cos(roll / 2), sin(roll / 2)
  return Q(
    cz * sx * cy - sz * cx * sy,
    cz * cx * sy + sz * sx * cy,
    sz * cx * cy + cz * sx * sy,
    cz * cx * cy - sz * sx * sy
  )
end

local function yaw_pitch_roll(q)
  local x, y, z, w = q._x, q._y, q._z, q._w
  local sine = 2 * (y * z + w * x)
  if abs(sine) > 0.999999 then
    local pitch = sine < 0 and -pi / 2 or pi / 2
    return atan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z)), pitch, 0
  end
  return atan2(2 * (w * z - x * y), 1 - 2 * (x * x + z * z)),
    asin(sine),
    atan2(2 * (w * y - x * z), 1 - 2 * (x * x + y * y))
end

---Returns the yaw, pitch and roll in RADIANS, as accepted by `Quaternion.from_yaw_pitch_roll`.
---When looking straight up or down, yaw and roll rotate about the same axis, and roll is returned
---as 0.
---@param q Quaternion the rotation, of length 1
---@return number yaw, from -pi to pi
---@return number pitch, from -pi / 2 to pi / 2
---@return number roll, from -pi to pi
function Quaternion.to_yaw_pitch_roll(q)
  check("Quaternion.to_yaw_pitch_roll", q)
  return yaw_pitch_roll(q)
end

---Returns the yaw of a rotation: its heading, seen from above.
---@param q Quaternion the rotation, of length 1
---@return number radians to the left, from -pi to pi
function Quaternion.yaw(q)
  check("Quaternion.yaw", q)
  return (yaw_pitch_roll(q))
end

---Returns the pitch of a rotation: its angle above the horizontal plane.
---@param q Quaternion the rotation, of length 1
---@return number radians upwards, from -pi / 2 to pi / 2
function Quaternion.pitch(q)
  check("Quaternion.pitch", q)
  local _, pitch = yaw_pitch_roll(q)
  return pitch
end

---Returns the roll of a rotation: the angle by which its right side is lowered.
---@param q Quaternion the rotation, of length 1
---@return number radians, from -pi to pi
function Quaternion.roll(q)
  check("Quaternion.roll", q)
  local _, _, roll = yaw_pitch_roll(q)
  return roll
end

---Returns the upright rotation with the same heading: no pitch and no roll.
---@param q Quaternion the rotation, of length 1
---@return Quaternion the upright rotation
function Quaternion.flat_no_roll(q)
  check("Quaternion.flat_no_roll", q)
  local yaw = yaw_pitch_roll(q)
  return Q(0, 0, sin(yaw / 2), cos(yaw / 2))
end
