-- Image: copying images onto others, and resizing them. Colors are combined in linear light, as
-- everywhere in the engine.
local core = ...

local raise, bad_argument, describe = core.raise, core.bad_argument, core.describe
local type = type
local floor, ceil, min, max, abs = math.floor, math.ceil, math.min, math.max, math.abs
local format = string.format
local typeof, copy = core.ffi.typeof, core.ffi.copy
local check, Pixels = core.images.check, core.images.Pixels

local Image = core.module("Image")

-- Linear light of each byte, and the byte of each step of linear light (IEC 61966-2-1). The steps
-- are fine enough for dark colors.
local STEPS = 16384
local light_of, byte_of = typeof("float[256]")(), typeof("uint8_t[?]")(STEPS + 1)
for byte = 0, 255 do
  local part = byte / 255
  light_of[byte] = part <= 0.04045 and part / 12.92 or ((part + 0.055) / 1.055) ^ 2.4
end
for step = 0, STEPS do
  local light = step / STEPS
  local part = light <= 0.0031308 and light * 12.92 or 1.055 * light ^ (1 / 2.4) - 0.055
  byte_of[step] = floor(part * 255 + 0.5)
end

local function encoded(light)
  return byte_of[floor(min(light, 1) * STEPS + 0.5)]
end

-- How the parts of two pixels are combined. Each function writes the pixel `to` of `target`.
local function cover(target, to, source, from)
  local alpha = source[from + 3]
  if alpha == 0 then return end
  local under = target[to + 3]
  if alpha == 255 or under == 0 then
    for part = 0, 3 do target[to + part] = source[from + part] end
    return
  end
  alpha, under = alpha / 255, under / 255
  local sum = alpha + under * (1 - alpha)
  for part = 0, 2 do
    local light = light_of[source[from + part]] * alpha
      + light_of[target[to + part]] * under * (1 - alpha)
    target[to + part] = encoded(light / sum)
  end
  target[to + 3] = floor(sum * 255 + 0.5)
end

local function add_light(target, to, source, from)
  local alpha = source[from + 3] / 255
  for part = 0, 2 do
    target[to + part] =
      encoded(light_of[target[to + part]] + light_of[source[from + part]] * alpha)
  end
end

local function darken(target, to, source, from)
  local alpha = source[from + 3] / 255
  for part = 0, 2 do
    local factor = 1 - alpha + light_of[source[from + part]] * alpha
    target[to + part] = encoded(light_of[target[to + part]] * factor)
  end
end

local BLENDS = { alpha = cover, add = add_light, multiply = darken }

local function blend_rows(blend, target, to, target_stride, source, from, source_stride, wide, tall)
  for row = 0, tall - 1 do
    local at, of = to + 4 * row * target_stride, from + 4 * row * source_stride
    for column = 0, wide - 1 do
      blend(target, at + 4 * column, source, of + 4 * column)
    end
  end
end

local function copy_rows(target, to, target_stride, source, from, source_stride, wide, tall)
  for row = 0, tall - 1 do
    copy(target + to + 4 * row * target_stride, source + from + 4 * row * source_stride, 4 * wide)
  end
end

-- Returns left, top, width and height of the part of an image that the options name.
local function part_of(storage, part)
  if part == nil then return 0, 0, storage.width, storage.height end
  if type(part) ~= "table" or #part ~= 4 then
    raise("Image.blit: 'part' must be a list of left, top, width and height, got "
      .. describe(part))
  end
  for i = 1, 4 do
    if type(part[i]) ~= "number" or part[i] ~= floor(part[i]) or abs(part[i]) > 65536 then
      raise(format("Image.blit: 'part' must have whole numbers, got %s", describe(part[i])))
    end
  end
  local left, top, wide, tall = part[1], part[2], part[3], part[4]
  if left < 0 or top < 0 or wide < 1 or tall < 1 or left + wide > storage.width
    or top + tall > storage.height
  then
    raise(format("Image.blit: the part %d, %d with %d x %d pixels is not in the source, which has "
      .. "%d x %d", left, top, wide, tall, storage.width, storage.height))
  end
  return left, top, wide, tall
end

local KEYS = { part = true, blend = true }

local function check_options(options)
  core.check_options("Image.blit", 5, "options", options, KEYS)
  local blend = options.blend
  if blend ~= nil and blend ~= "replace" and not (type(blend) == "string" and BLENDS[blend]) then
    raise("Image.blit: 'blend' must be \"alpha\", \"add\", \"multiply\" or \"replace\", got "
      .. describe(blend))
  end
end

local function check_position(i, argument, value)
  if type(value) ~= "number" or value ~= floor(value) or abs(value) > 65536 then
    bad_argument("Image.blit", i, argument, "a whole number from -65536 to 65536", value)
  end
end

---Draws an image onto another one. What is beyond the edges of the target is left out. `blend` is
---"alpha" (covers the target by the alpha of the source), "add" (adds light), "multiply" (darkens)
---or "replace" (copies all four parts); "alpha" by default. "add" and "multiply" keep the alpha
---of the target. `part` is a list of left, top, width and height in the source.
---@param target Image the image to draw onto
---@param source Image the image to draw; it may be the target
---@param x integer column of the target for the left edge of the source
---@param y integer row of the target for the top edge of the source
---@param options? table part, blend
function Image.blit(target, source, x, y, options)
  local to = check("Image.blit", 1, "target", target)
  local from = check("Image.blit", 2, "source", source)
  check_position(3, "x", x)
  check_position(4, "y", y)
  if options ~= nil then check_options(options) end
  local left, top, wide, tall = part_of(from, options and options.part)
  -- Clips the part to the target.
  if x < 0 then left, wide, x = left - x, wide + x, 0 end
  if y < 0 then top, tall, y = top - y, tall + y, 0 end
  wide, tall = min(wide, to.width - x), min(tall, to.height - y)
  if wide <= 0 or tall <= 0 then return end
  local pixels, stride = from.pixels, from.width
  if from == to then
    -- The part may overlap the target.
    local size = stride * from.height * 4
    pixels = Pixels(size)
    copy(pixels, from.pixels, size)
  end
  local first, start = 4 * (y * to.width + x), 4 * (top * stride + left)
  local blend = options and options.blend or "alpha"
  if blend == "replace" then
    copy_rows(to.pixels, first, to.width, pixels, start, stride, wide, tall)
  else
    blend_rows(BLENDS[blend], to.pixels, first, to.width, pixels, start, stride, wide, tall)
  end
end

local function nearest(storage, width, height)
  local source, pixels, stride = storage.pixels, Pixels(width * height * 4), storage.width
  for y = 0, height - 1 do
    local row = floor((y + 0.5) * storage.height / height) * stride
    for x = 0, width - 1 do
      local from, to = 4 * (row + floor((x + 0.5) * stride / width)), 4 * (y * width + x)
      for part = 0, 3 do pixels[to + part] = source[from + part] end
    end
  end
  return pixels
end

local Floats = typeof("float[?]")

-- Calls `weigh(i, from, weight)` for each pair of a new pixel and an old one that it is a mean of,
-- along one axis.
local function each_weight(old, new, weigh)
  local scale = old / new
  local reach = max(scale, 1)
  for i = 0, new - 1 do
    local center = (i + 0.5) * scale - 0.5
    local first, last = ceil(center - reach), floor(center + reach)
    local sum = 0
    for from = first, last do sum = sum + max(0, 1 - abs(from - center) / reach) end
    for from = first, last do
      local weight = max(0, 1 - abs(from - center) / reach) / sum
      if weight > 0 then weigh(i, max(0, min(from, old - 1)), weight) end
    end
  end
end

-- Resizes in linear light multiplied by alpha, first along rows and then along columns.
local function linear(storage, width, height)
  local source, old_width, old_height = storage.pixels, storage.width, storage.height
  local wide = Floats(width * old_height * 4)
  each_weight(old_width, width, function(x, column, weight)
    for y = 0, old_height - 1 do
      local from, to = 4 * (y * old_width + column), 4 * (y * width + x)
      local alpha = source[from + 3] / 255 * weight
      for part = 0, 2 do
        wide[to + part] = wide[to + part] + light_of[source[from + part]] * alpha
      end
      wide[to + 3] = wide[to + 3] + alpha
    end
  end)
  local all = Floats(width * height * 4)
  each_weight(old_height, height, function(y, row, weight)
    for i = 0, 4 * width - 1 do
      local to = 4 * y * width + i
      all[to] = all[to] + wide[4 * row * width + i] * weight
    end
  end)
  local pixels = Pixels(width * height * 4)
  for at = 0, 4 * (width * height - 1), 4 do
    local alpha = all[at + 3]
    if alpha > 0 then
      for part = 0, 2 do pixels[at + part] = encoded(all[at + part] / alpha) end
    end
    pixels[at + 3] = floor(min(alpha, 1) * 255 + 0.5)
  end
  return pixels
end

---Changes the size of an image. "linear" blends the pixels that a new pixel covers; "nearest" takes
---one of them, for pixel art.
---@param image Image the image to resize
---@param width integer the new width, 1 to 16384
---@param height integer the new height, 1 to 16384
---@param filter? string "linear" (the default) or "nearest"
function Image.resize(image, width, height, filter)
  local storage = check("Image.resize", 1, "image", image)
  core.images.check_side("Image.resize", 2, "width", width)
  core.images.check_side("Image.resize", 3, "height", height)
  core.images.check_pixels("Image.resize", width, height)
  core.images.check_pixels("Image.resize", width, storage.height)
  if filter ~= nil and filter ~= "linear" and filter ~= "nearest" then
    bad_argument("Image.resize", 4, "filter", "\"linear\" or \"nearest\"", filter)
  end
  local resized = filter == "nearest" and nearest or linear
  core.images.replace(image, width, height, resized(storage, width, height))
end
