-- `require "core/camera_2d"`: a camera for 2D worlds that follows a target, with a dead zone,
-- smoothing, limits, zoom and shake. Its motion depends on time and not on the frame rate. It sets
-- the position and the scale of an ordinary camera, and draws nothing.

local Camera2D = {}
Camera2D.__index = Camera2D

local type, ipairs, pairs, table = type, ipairs, pairs, table
local format = string.format
local exp, log, max, min = math.exp, math.log, math.max, math.min
local floor, ceil = math.floor, math.ceil

-- Vibrations per second of a shake, and the seeds of its noise along x and y.
local SHAKE_FREQUENCY, SEED_X, SEED_Y = 12, 101, 202
local LN_2 = log(2)
-- Length of the parts in which a step is computed, in seconds, and the largest number of parts.
local PART_SECONDS, PARTS_MAX = 1 / 240, 64

-- The options of `Camera2D.new`, and the number of their numbers.
local OPTIONS = { camera = 1, viewport = 1, units_per_metre = 1, height = 1, zoom = 1,
  smoothing = 1, dead_zone = 2, offset = 2, limits = 4, pixel_snap = 0 }

local function is_finite(value)
  return type(value) == "number" and value - value == 0
end

local function refuse(name, message, ...)
  error(format("Camera2D." .. name .. ": " .. message, ...), 3)
end

-- Returns true if a value is a list of finite numbers of this length.
local function is_list(value, count)
  if type(value) ~= "table" or #value ~= count then return false end
  for _, number in ipairs(value) do
    if not is_finite(number) then return false end
  end
  return true
end

-- Returns an error message about limits, or nil.
local function limits_error(list)
  if list[1] <= list[3] and list[2] <= list[4] then return nil end
  return format("the limits must be left, bottom, right and top, got %g, %g, %g and %g",
    list[1], list[2], list[3], list[4])
end

-- Returns the number of letters between the equal beginnings and the equal ends of two words.
local function difference(one, two)
  local first, last, least = 1, 0, min(#one, #two)
  while first <= least and one:sub(first, first) == two:sub(first, first) do first = first + 1 end
  while last <= least - first and one:byte(-1 - last) == two:byte(-1 - last) do last = last + 1 end
  return max(#one, #two) - (first - 1) - last
end

-- Returns the end of a message about an unknown option.
local function option_hint(key)
  local names, near = {}, nil
  for name in pairs(OPTIONS) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local distance = type(key) == "string" and difference(key, name) or 99
    if distance <= 2 and (not near or distance < difference(key, near)) then near = name end
  end
  if near then return format(", did you mean '%s'?", near) end
  return format(": the options are '%s'", table.concat(names, "', '"))
end

-- Returns an error message about options, or nil.
local function options_error(options)
  for key, value in pairs(options) do
    local count = OPTIONS[key]
    if not count then
      return format("there is no option '%s'%s", tostring(key), option_hint(key))
    elseif count > 1 and not is_list(value, count) then
      return format("option '%s' must be a list of %d numbers", key, count)
    elseif count == 1 and not is_finite(value) then
      return format("option '%s' must be a number", key)
    end
  end
  for _, key in ipairs({ "units_per_metre", "height", "zoom" }) do
    if options[key] and options[key] <= 0 then
      return format("option '%s' must be above 0, got %g", key, options[key])
    end
  end
  if options.units_per_metre and options.height then
    return "'units_per_metre' and 'height' both set the scale: take one of them out"
  elseif (options.smoothing or 0) < 0 then
    return format("option 'smoothing' must be 0 or more seconds, got %g", options.smoothing)
  elseif options.dead_zone and min(options.dead_zone[1], options.dead_zone[2]) < 0 then
    return "option 'dead_zone' must be a width and a height of 0 or more metres"
  end
  return options.limits and limits_error(options.limits)
end

---Creates a camera for a 2D world. Options: `smoothing` (seconds until half of the distance to the
---target is left; 0 follows at once), `dead_zone` ({ width, height } in metres, in which the target
---moves without moving the camera), `offset` ({ x, y } in metres from the target), `limits`
---({ left, bottom, right, top } in metres: the camera shows nothing outside), `zoom` (1),
---`units_per_metre` (the scale at zoom 1: 100) or `height` (metres visible at zoom 1),
---`pixel_snap` (true: moves by whole units of the screen, for pixel art), `camera` (the camera to
---move; the main camera of the world by default), `viewport` (the viewport that shows it).
---@param world World a world created with "2d"
---@param options? table the options
---@return table camera the new camera; its field `camera` is for `Application.render_world`
function Camera2D.new(world, options)
  if options ~= nil and type(options) ~= "table" then
    refuse("new", "the options must be a table")
  end
  options = options or {}
  local message = options_error(options)
  if message then refuse("new", "%s", message) end
  local dead_zone, offset = options.dead_zone or { 0, 0 }, options.offset or { 0, 0 }
  local self = setmetatable({
    camera = options.camera or World.main_camera(world),
    viewport = options.viewport,
    units_per_metre = options.units_per_metre or 100,
    height = options.height,
    smoothing = options.smoothing or 0,
    pixel_snap = options.pixel_snap and true or false,
    half_width = dead_zone[1] / 2,
    half_height = dead_zone[2] / 2,
    offset_x = offset[1],
    offset_y = offset[2],
    limits = options.limits,
    zoom = options.zoom or 1,
    time = 0,
  }, Camera2D)
  local position = Camera.local_position(self.camera)
  self.x, self.y = position.x, position.y
  self:apply()
  return self
end

local function is_vector(value)
  local kind = Script.type_name(value)
  return (kind == "Vector3" or kind == "Vector2") and is_finite(value.x) and is_finite(value.y)
end

-- Returns the position of the target, or nil if there is none.
local function target_position(self)
  local target = self.target
  if type(target) == "function" then target = target() end
  if type(target) == "number" then
    if not Unit.alive(target) then return nil end
    target = Unit.world_position(target, 1)
  end
  if target == nil then return nil end
  if not is_vector(target) then
    refuse("update", "the function to follow must return a unit or a vector of numbers, got %s",
      Script.type_name(target))
  end
  return target.x + self.offset_x, target.y + self.offset_y
end

---Follows a target from the next `update` on. The camera keeps its position; call `snap` to begin
---at the target.
---@param target? Unit|Vector3|Vector2|function a unit, a position, or a function that returns one
---of them; nil stays here
function Camera2D:follow(target)
  local kind = type(target)
  local is_unit = kind == "number" and Unit.alive(target)
  if not (target == nil or kind == "function" or is_unit or is_vector(target)) then
    refuse("follow", "the target must be a living unit, a vector or a function, got %s",
      kind == "number" and "a number that is no living unit" or Script.type_name(target))
  end
  self.target, self.target_x, self.target_y = target, nil, nil
end

---Moves to the target at once, without smoothing and dead zone.
function Camera2D:snap()
  local x, y = target_position(self)
  if x then
    self.x, self.y, self.target_x, self.target_y = x, y, x, y
  end
  self:apply()
end

---Moves to a position at once.
---@param position Vector3|Vector2 the middle of the view, in metres
function Camera2D:set_position(position)
  if not is_vector(position) then refuse("set_position", "the position must be a vector") end
  self.x, self.y = position.x, position.y
  self:apply()
end

---Sets the area outside of which nothing is shown. An area smaller than the view is centered.
---@param left? number metres; nil removes the limits
---@param bottom? number metres
---@param right? number metres
---@param top? number metres
function Camera2D:set_limits(left, bottom, right, top)
  if left == nil then
    self.limits = nil
    return self:apply()
  end
  local limits = { left, bottom, right, top }
  if not is_list(limits, 4) then
    refuse("set_limits", "left, bottom, right and top must be numbers")
  end
  local message = limits_error(limits)
  if message then refuse("set_limits", "%s", message) end
  self.limits = limits
  self:apply()
end

---Changes the zoom: 2 shows everything twice as large.
---@param zoom number above 0
---@param seconds? number duration of the change; 0 by default
function Camera2D:set_zoom(zoom, seconds)
  seconds = seconds or 0
  if not (is_finite(zoom) and zoom > 0 and is_finite(seconds) and seconds >= 0) then
    refuse("set_zoom", "the zoom must be a number above 0, and the seconds 0 or more")
  end
  if seconds > 0 then
    self.zoom_rate, self.zoom_goal, self.zoom_left = log(zoom / self.zoom) / seconds, zoom, seconds
  else
    self.zoom, self.zoom_left = zoom, nil
  end
  self:apply()
end

---Shakes the view. The shake fades out. A weaker shake than the current one is ignored.
---@param strength number largest distance in metres
---@param seconds number duration
function Camera2D:shake(strength, seconds)
  if not (is_finite(strength) and strength >= 0 and is_finite(seconds) and seconds > 0) then
    refuse("shake", "the strength must be 0 or more metres, and the seconds above 0")
  end
  if strength >= self:shake_strength() then
    self.shake_metres, self.shake_seconds, self.shake_left = strength, seconds, seconds
  end
end

---Returns the largest distance of the current shake, in metres.
---@return number metres 0 without a shake
function Camera2D:shake_strength()
  local left = self.shake_left
  return left and self.shake_metres * (left / self.shake_seconds) ^ 2 or 0
end

---Returns the visible area, without the shake.
---@return number left metres
---@return number bottom metres
---@return number width metres
---@return number height metres
function Camera2D:visible_rect()
  local width, height = Camera.orthographic_size(self.camera, self.viewport)
  return self.x - width / 2, self.y - height / 2, width, height
end

-- Returns the coordinate of the camera after a part of a step, in which the target moved from
-- `from` to `to`. The distance beyond the dead zone shrinks exponentially.
local function approach_part(at, from, to, half, rate, seconds)
  local side = to - at > half and 1 or to - at < -half and -1 or 0
  if side == 0 or seconds <= 0 then return at end
  from, to = from - side * half, to - side * half
  if rate == nil then return to end
  if (from - at) * side < 0 then
    -- The target was in the dead zone at the beginning of the step.
    seconds = seconds * (to - at) / (to - from)
    from = at
  end
  local lag = (to - from) / seconds / rate
  return to - lag + (at - from + lag) * exp(-rate * seconds)
end

-- Returns the coordinate of the camera after a step, in which the target moved from `from` to `to`.
local function approach(at, from, to, half, rate, seconds)
  if rate == nil then return approach_part(at, from, to, half, rate, seconds) end
  local parts = max(1, min(PARTS_MAX, ceil(seconds / PART_SECONDS)))
  local way = (to - from) / parts
  for part = 1, parts do
    local begin = from + way * (part - 1)
    at = approach_part(at, begin, begin + way, half, rate, seconds / parts)
  end
  return at
end

local function clamp_view(at, size, low, high)
  if high - low <= size then return (low + high) / 2 end
  return max(low + size / 2, min(high - size / 2, at))
end

---Advances the camera. Call it once in each frame, after the target moved.
---@param dt number seconds since the last update
function Camera2D:update(dt)
  if not (is_finite(dt) and dt >= 0) then
    refuse("update", "the time step must be 0 or more seconds")
  end
  self.time = self.time + dt
  if self.zoom_left then
    self.zoom_left = self.zoom_left - dt
    self.zoom = self.zoom_goal * exp(-self.zoom_rate * max(self.zoom_left, 0))
    if self.zoom_left <= 0 then self.zoom_left = nil end
  end
  if self.shake_left then
    self.shake_left = self.shake_left > dt and self.shake_left - dt or nil
  end
  local x, y = target_position(self)
  if x then
    local rate = self.smoothing > 0 and LN_2 / self.smoothing or nil
    self.x = approach(self.x, self.target_x or x, x, self.half_width, rate, dt)
    self.y = approach(self.y, self.target_y or y, y, self.half_height, rate, dt)
    self.target_x, self.target_y = x, y
  end
  self:apply()
end

---Sets the position and the scale of the engine's camera. The other functions call it.
function Camera2D:apply()
  local camera = self.camera
  if self.height then
    Camera.set_orthographic_size(camera, self.height / self.zoom)
  else
    Camera.set_orthographic_scale(camera, self.units_per_metre * self.zoom)
  end
  local limits = self.limits
  if limits then
    local width, height = Camera.orthographic_size(camera, self.viewport)
    self.x = clamp_view(self.x, width, limits[1], limits[3])
    self.y = clamp_view(self.y, height, limits[2], limits[4])
  end
  local x, y, strength = self.x, self.y, self:shake_strength()
  if strength > 0 then
    local at = self.time * SHAKE_FREQUENCY
    x = x + strength * Math.noise(at, 0, 0, SEED_X)
    y = y + strength * Math.noise(at, 0, 0, SEED_Y)
  end
  if self.pixel_snap then
    local scale = Camera.orthographic_scale(camera, self.viewport)
    x, y = floor(x * scale + 0.5) / scale, floor(y * scale + 0.5) / scale
  end
  Camera.set_local_position(camera, Vector3(x, y, Camera.local_position(camera).z))
end

return Camera2D
