-- Input bindings: the parser of binding strings ("space", "ctrl+s", "pad:left.x+") and the
-- functions that read the current value of a binding. Actions are in input.lua.
local core = ...

local next, pcall, type = next, pcall, type
local format, match, gsub = string.format, string.match, string.gsub
local concat, upper = table.concat, string.upper
local raise, bad_argument = core.raise, core.bad_argument
local Input, Keyboard = core.module("Input"), core.module("Keyboard")

local PADS = 8

-- Devices by the names that bindings and events use.
local devices = {
  key = Keyboard, keyboard = Keyboard, mouse = core.module("Mouse"),
  touch = core.module("TouchPanel"),
}
local pads = {}
for i = 1, PADS do
  pads[i] = core.module("Pad" .. i)
  devices["pad" .. i] = pads[i]
end
local any_pad = { pads[1] } -- the device "pad": all pads; names come from the first

-- Devices of other engines.
local OTHER_DEVICES = { gamepad = "pad", joystick = "pad", controller = "pad", joy = "pad",
  key = "keyboard", button = "pad" }

-- Parses a binding string. Returns { devices, button = index } or { devices, axis = index, part =
-- "x", sign = 1 }, or nil and an error message. Additional fields: `held` lists the modifier keys
-- that must be down, `both` is true if both directions count, `notches` is true for the mouse
-- wheel.
local function parse(text, wants)
  local held
  while true do
    local first, rest = match(text, "^([%w_ ]+)%+(.+)$")
    local key = first and Keyboard.button_index(first)
    if not key then
      break
    end
    held = held or {}
    held[#held + 1] = key
    text = rest
  end
  local prefix, name = match(text, "^(%a+%d*):(.*)$")
  local list
  if not prefix then
    list, name = { Keyboard }, text
  elseif prefix == "pad" then
    list = any_pad
  elseif devices[prefix] then
    list = { devices[prefix] }
  else
    local names = core.names(devices)
    names[#names + 1] = "pad"
    local near = OTHER_DEVICES[prefix:lower()] or core.suggest(prefix, names)
    return nil, format("there is no device '%s'%s", prefix,
      near and ", did you mean '" .. near .. "'?" or "")
  end
  local device = list[1]
  local stick, part, sign = match(name, "^(.-)%.([xy])([+-]?)$")
  local axis = device.axis_index(stick or name)
  if axis and (stick or wants == "stick") then
    if wants == "stick" and stick then
      return nil, "'stick' takes a whole stick, such as pad:left"
    elseif wants == "bindings" and sign == "" then
      local known = format("%s%s.%s", prefix and prefix .. ":" or "", device.axis_name(axis), part)
      return nil, format("an axis stands in for a button with a direction: '%s+' or '%s-'", known,
        known)
    end
    return { devices = list, axis = axis, part = part, sign = sign == "-" and -1 or 1,
      both = sign ~= "+" and sign ~= "-", held = held,
      notches = device == devices.mouse and axis == device.axis_index("wheel") }
  elseif wants == "stick" then
    return nil, format("there is no stick '%s'", name)
  elseif wants == "axis" and not stick then
    return nil, format("'axis' takes one direction of a stick, such as pad:left.x")
  end
  local button = device.button_index(name)
  if not button then
    -- In a combination, the first name is not a valid key.
    local _, problem = pcall(device.pressed, match(name, "^([%w_ ]+)%+.+$") or name)
    return nil, match(problem, "there is no .*$") or format("there is no axis '%s'", name)
  end
  return { devices = list, button = button, held = held }
end

local function pads_of(binding)
  return binding.devices == any_pad and pads or binding.devices
end

-- Returns two flags: true if all modifier keys of a binding are down now, and true if all were down
-- at some time in this frame. The second includes keys that were pressed and released within the
-- frame.
local function are_held(held)
  local now, within = true, true
  for i = 1, #held do
    local down = Keyboard.button(held[i]) > 0
    now = now and down
    within = within and (down or Keyboard.released(held[i]))
  end
  return now, within
end

-- Returns the value of a binding, and true for pressed and for released if that happened in this
-- frame.
local function read(binding)
  local held, within = true, true
  if binding.held then
    held, within = are_held(binding.held)
    if not within then
      return 0, false, false
    end
  end
  local list, value, pressed, released = pads_of(binding), 0, false, false
  for i = 1, #list do
    local device = list[i]
    if binding.button then
      local one = device.button(binding.button)
      value = one > value and one or value
      pressed = pressed or device.pressed(binding.button)
      released = released or device.released(binding.button)
    else
      local one = device.axis(binding.axis)[binding.part] * binding.sign
      value = one > value and one or value
    end
  end
  return held and value or 0, pressed, released
end

local function read_axis(binding)
  local list, value = pads_of(binding), 0
  for i = 1, #list do
    local one = list[i].axis(binding.axis)[binding.part] * binding.sign
    value = one * one > value * value and one or value
  end
  return value
end

local function read_stick(binding)
  local list, x, y = pads_of(binding), 0, 0
  for i = 1, #list do
    local one = list[i].axis(binding.axis)
    if one.x * one.x + one.y * one.y > x * x + y * y then
      x, y = one.x, one.y
    end
  end
  return x, y
end

-- Parses a binding of a button, a direction or a whole stick. Raises if it is invalid.
local function parse_any(where, text)
  if type(text) ~= "string" then
    bad_argument(where, 1, "binding", "string", text)
  end
  local parsed, problem = parse(text, "axis")
  if not parsed then
    parsed, problem = parse(text, "bindings")
  end
  if not parsed then
    parsed = parse(text, "stick")
  end
  if not parsed then
    raise(format("%s: binding '%s': %s", where, text, problem))
  end
  return parsed
end

-- Returns true if two keys are the same, or if one is a left/right pair that contains the
-- other.
local function is_same_key(a, b)
  if a == b then
    return true
  end
  local function either(index)
    local name = Keyboard.button_name(index)
    name = match(name, "^left (%a+)$") or match(name, "^right (%a+)$")
    return name and Keyboard.button_index(name)
  end
  return either(a) == b or either(b) == a
end

-- Returns true if two bindings share at least one input.
local function overlap(a, b)
  local one, other = #(a.held or {}), #(b.held or {})
  if one ~= other then
    return false
  end
  for i = 1, one do
    local found = false
    for k = 1, one do
      found = found or is_same_key(a.held[i], b.held[k])
    end
    if not found then
      return false
    end
  end
  local shared = false
  for _, x in next, pads_of(a) do
    for _, y in next, pads_of(b) do
      shared = shared or x == y
    end
  end
  if not shared or a.axis ~= b.axis then
    return false
  elseif a.button then
    return a.button == b.button
      or a.devices[1] == Keyboard and is_same_key(a.button, b.button)
  end
  local parts = not (a.part and b.part) or a.part == b.part
  return parts and (a.both or b.both or a.sign == b.sign)
end

core.bindings = {
  parse = parse, parse_any = parse_any, read = read, read_axis = read_axis,
  read_stick = read_stick, overlap = overlap,
}

---Returns a label for a binding, to be shown to the player. Keys are named as on the player's own
---keyboard layout, as far as the keys were pressed before.
---@param binding string such as "space" or "pad:a"
---@return string label such as "Space" or "A"
---@node query
function Input.label(binding)
  local parsed = parse_any("Input.label", binding)
  local device = parsed.devices[1]
  local names = {}
  for i = 1, #(parsed.held or names) do
    names[i] = Keyboard.button_locale_name(parsed.held[i])
  end
  local name
  if parsed.button then
    name = device.button_locale_name(parsed.button)
    name = device.type() == "mouse" and name .. " mouse button" or name
  else
    local prefix = device.type() == "mouse" and "mouse " or ""
    local direction = parsed.part and " " .. parsed.part .. (match(binding, "[+-]$") or "") or ""
    name = prefix .. device.axis_name(parsed.axis) .. (prefix == "" and " stick" or "") .. direction
  end
  names[#names + 1] = name
  for i = 1, #names do
    names[i] = gsub(names[i], "^%l", upper)
  end
  return concat(names, "+")
end

---Returns the pad with a number: the same table as `Pad1` to `Pad8`.
---@param number integer 1 to 8
---@return table pad its functions are the functions of `Pad1`
function Input.pad(number)
  local pad = pads[number]
  if type(number) ~= "number" then
    bad_argument("Input.pad", 1, "number", "integer", number)
  elseif not pad then
    raise(format("Input.pad: argument #1 'number' must be 1 to %d, got %.14g", PADS, number))
  end
  return pad
end

---Returns the numbers of the connected pads, in ascending order.
---@return integer[] numbers a new list
---@node query
function Input.pads()
  local there = {}
  for i = 1, PADS do
    if pads[i].active() then
      there[#there + 1] = i
    end
  end
  return there
end
