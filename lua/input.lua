-- `Input`, its part in Lua: actions, which are what a game asks for, bound to keys, buttons and
-- axes that the player can change. Devices and events are native.
local core = ...

local type, next, pcall, select, sqrt = type, next, pcall, select, math.sqrt
local format, find, match, gsub = string.format, string.find, string.match, string.gsub
local sort, concat, upper = table.sort, table.concat, string.upper
local raise, bad_argument, describe = core.raise, core.bad_argument, core.describe
local no_reload = core.no_reload
local Vector2, Application = core.module("Vector2"), core.module("Application")
local Input, Keyboard = core.module("Input"), core.module("Keyboard")

local PADS = 8
local ACTIONS_MAX = 1000
local BINDINGS_MAX = 32 -- of one action, or one part of it
local HALF = 0.5 -- from here on an action counts as pressed

-- Devices by the names that bindings and events have.
local devices = {
  key = Keyboard, keyboard = Keyboard, mouse = core.module("Mouse"),
  touch = core.module("TouchPanel"),
}
local pads = {}
for i = 1, PADS do
  pads[i] = core.module("Pad" .. i)
  devices["pad" .. i] = pads[i]
end
local any_pad = { pads[1] } -- the device "pad": all of them; names are the first one's

-- Parts of an action that goes in directions, in their order.
local PARTS = {
  button = { "bindings" },
  axis = { "negative", "positive", "axis" },
  stick = { "left", "right", "up", "down", "stick" },
}
local KIND_OF_PART = {}
for kind, parts in next, PARTS do
  for i = 1, #parts do
    KIND_OF_PART[parts[i]] = kind
  end
end

-- Bindings ----------------------------------------------------------------------------------------

-- What a binding's text means: { devices, button = index } or { devices, axis = index, part = "x",
-- sign = 1 }, with `held`, the keys that must be down besides, and `notches` where it is the wheel;
-- or nil and what is wrong with it.
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
  local prefix, name = match(text, "^(%a+%d*):(.+)$")
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
    local near = core.suggest(prefix, names)
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
      return nil, format("an axis stands in for a button with a direction: '%s+' or '%s-'", text,
        text)
    end
    return { devices = list, axis = axis, part = part, sign = sign == "-" and -1 or 1,
      held = held, notches = list[1] == devices.mouse and axis == list[1].axis_index("wheel") }
  elseif wants == "stick" then
    return nil, format("there is no stick '%s'", name)
  elseif wants == "axis" and not stick then
    return nil, format("'axis' takes one direction of a stick, such as pad:left.x")
  end
  local button = device.button_index(name)
  if not button then
    local _, problem = pcall(device.pressed, name)
    return nil, match(problem, "there is no .*$") or format("there is no axis '%s'", name)
  end
  return { devices = list, button = button, held = held }
end

local function pads_of(binding)
  return binding.devices == any_pad and pads or binding.devices
end

local function are_held(held)
  for i = 1, #held do
    if Keyboard.button(held[i]) == 0 then
      return false
    end
  end
  return true
end

-- How far a binding is down, and whether it was pressed or released in this frame.
local function read(binding)
  if binding.held and not are_held(binding.held) then
    return 0, false, false
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
  return value, pressed, released
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

-- Actions -----------------------------------------------------------------------------------------

-- By name: { kind, parts = { part = texts }, parsed = { part = bindings }, value, down, pressed,
-- released }. `names` has them in order.
local actions, names
local zero = Vector2(0, 0)

local function largest(bindings)
  local value, pressed, released, turned, held = 0, false, false, false, false
  for i = 1, #bindings do
    local one, down, up = read(bindings[i])
    value = one > value and one or value
    pressed, released = pressed or down, released or up
    turned = turned or one >= HALF and bindings[i].notches
    held = held or one >= HALF and not bindings[i].notches
  end
  -- A notch is over with its frame, and the next frame's is another one.
  if turned and not held then pressed, released = true, true end
  return value, pressed, released
end

local function value_of_stick(parsed)
  local x = largest(parsed.right) - largest(parsed.left)
  local y = largest(parsed.up) - largest(parsed.down)
  for i = 1, #parsed.stick do
    local sx, sy = read_stick(parsed.stick[i])
    if sx * sx + sy * sy > x * x + y * y then
      x, y = sx, sy
    end
  end
  local length = sqrt(x * x + y * y)
  if length > 1 then
    x, y, length = x / length, y / length, 1
  end
  return x, y, length
end

-- Brings an action up to date with its devices.
local function update(action)
  local parsed, was = action.parsed, action.down
  local pressed, released, down = false, false, false
  if action.kind == "button" then
    action.value, pressed, released = largest(parsed.bindings)
    down = action.value >= HALF
  elseif action.kind == "axis" then
    local value = largest(parsed.positive) - largest(parsed.negative)
    for i = 1, #parsed.axis do
      local one = read_axis(parsed.axis[i])
      value = one * one > value * value and one or value
    end
    action.value = value < -1 and -1 or value > 1 and 1 or value
    down = value >= HALF or value <= -HALF
  else
    local x, y, length = value_of_stick(parsed)
    action.value = length == 0 and zero or Vector2(x, y)
    down = length >= HALF
  end
  -- A tap that was over within the frame counts, and so does one between two holds.
  action.pressed = not was and (down or pressed) or was and down and pressed and released
  action.released = was and (not down or pressed and released) or not was and pressed and not down
  action.down = down
end

local function parse_list(where, part, texts)
  if type(texts) == "string" then
    texts = { texts }
  elseif type(texts) ~= "table" then
    raise(format("%s: bindings must be a list of strings, got %s", where, describe(texts)))
  end
  local count = 0
  for _ in next, texts do
    count = count + 1
  end
  if count > BINDINGS_MAX then
    raise(format("%s: at most %d bindings", where, BINDINGS_MAX))
  end
  local parsed, copy = {}, {}
  for i = 1, count do
    local text = texts[i]
    if text == nil then
      raise(format("%s: bindings must be a list without holes, and there is no #%d", where, i))
    end
    if type(text) ~= "string" then
      raise(format("%s: binding #%d must be string, got %s", where, i, describe(text)))
    end
    local binding, problem = parse(text, part)
    if not binding then
      raise(format("%s: binding '%s': %s", where, text, problem))
    end
    parsed[i], copy[i] = binding, text
  end
  return parsed, copy
end

-- Makes an action of what a game wrote.
local function make(where, given)
  if type(given) == "string" then
    given = { given }
  elseif type(given) ~= "table" then
    raise(format("%s: must be a list of bindings or a table of directions, got %s", where,
      describe(given)))
  end
  local kind, listed = "button", false
  for key in next, given do
    if type(key) ~= "string" then
      listed = true
    else
      local known = KIND_OF_PART[key]
      if not known or known == "button" then
        local near = core.suggest(key, core.names(KIND_OF_PART))
        raise(format("%s: there is no direction '%s'%s", where, key,
          near and ", did you mean '" .. near .. "'?" or ""))
      elseif kind ~= "button" and kind ~= known then
        raise(format("%s: has directions of an axis (negative, positive, axis) and of a stick "
          .. "(left, right, up, down, stick): it must be one of the two", where))
      end
      kind = known
    end
  end
  if listed and kind ~= "button" then
    raise(format("%s: has directions and, beside them, a list of bindings: it must be one of the "
      .. "two", where))
  end
  local action = { kind = kind, parts = {}, parsed = {}, defaults = {}, down = false,
    pressed = false, released = false, value = kind == "stick" and zero or 0 }
  for _, part in next, PARTS[kind] do
    local texts = kind == "button" and given or given[part] or {}
    action.parsed[part], action.parts[part] = parse_list(where, part, texts)
    action.defaults[part] = action.parts[part]
  end
  return action
end

-- Puts what the player chose in the place of the game's bindings.
local function take_chosen(name, action)
  local chosen = Application.user_setting("input", "bindings", name)
  if type(chosen) ~= "table" then
    return
  end
  for part in next, action.parts do
    local texts = action.kind == "button" and chosen.bindings or chosen[part]
    if texts ~= nil then
      local fine, parsed, copy = pcall(parse_list, "the player's bindings of " .. name, part, texts)
      if fine then
        action.parsed[part], action.parts[part] = parsed, copy
      else
        core.log("warning", format("%s (the game's own are used)", parsed))
      end
    end
  end
end

local function set(where, given)
  local made, list = {}, {}
  for name, one in next, given do
    if type(name) ~= "string" then
      raise(format("%s: actions must have names, got %s", where, describe(name)))
    elseif name == "" or find(name, "[%c]") then
      raise(format("%s: the name %s cannot be an action's", where, describe(name)))
    end
    made[name] = make(format("%s: action '%s'", where, name), one)
    list[#list + 1] = name
  end
  if #list > ACTIONS_MAX then
    raise(format("%s: at most %d actions", where, ACTIONS_MAX))
  end
  sort(list)
  for i = 1, #list do
    take_chosen(list[i], made[list[i]])
    local before = actions and actions[list[i]]
    made[list[i]].down = before and before.down or false
  end
  actions, names = made, list
end

-- The actions of settings.sjson hold until the game sets its own.
local function ensure()
  if not actions then
    local given = Application.settings().input.actions
    set("settings.sjson: input.actions", given)
  end
end

local function action_of(where, name)
  if type(name) ~= "string" then
    bad_argument(where, 1, "action", "string", name)
  end
  if not actions then
    ensure()
  end
  local action = actions[name]
  if not action then
    local near = core.suggest(name, names)
    raise(format("%s: there is no action '%s'%s", where, name,
      near and ", did you mean '" .. near .. "'?"
        or #names == 0 and " (Input.set_actions sets them)" or ""))
  end
  return action
end

-- Called once in each frame, before anything of the game's.
function core.update_actions()
  if not actions then
    ensure()
  end
  for i = 1, #names do
    update(actions[names[i]])
  end
end

---Sets the game's actions, in the place of those before. An action is a list of bindings: it is
---down while one of them is. One with `negative` and `positive` (and `axis`, such as "pad:left.x")
---goes from -1 to 1. One with `left`, `right`, `up` and `down` (and `stick`, such as "pad:left") is
---a Vector2 of at most length 1. A binding is a key ("space", "ctrl+s"), "mouse:left", "pad:a" (of
---any pad), "pad2:a", "touch:touch", or a direction of an axis ("pad:left.x+", "mouse:wheel.y-").
---What the player bound with `Input.rebind` stands in the place of the game's bindings.
---@param actions table by name, each a list of bindings or a table of directions
function Input.set_actions(actions)
  no_reload("Input.set_actions")
  if type(actions) ~= "table" then
    bad_argument("Input.set_actions", 1, "actions", "table", actions)
  end
  set("Input.set_actions", actions)
  core.update_actions()
end

---The names of all actions, sorted.
---@return string[] names a new list
function Input.actions(...)
  if select("#", ...) > 0 then
    raise("Input.actions: takes no arguments")
  end
  ensure()
  local list = {}
  for i = 1, #names do
    list[i] = names[i]
  end
  return list
end

---Whether an action is down: at least half of the way.
---@param action string its name
---@return boolean down true as long as it is held
function Input.down(action)
  return action_of("Input.down", action).down
end

---Whether an action went down in this frame.
---@param action string its name
---@return boolean pressed true in one frame
function Input.pressed(action)
  return action_of("Input.pressed", action).pressed
end

---Whether an action was let go of in this frame.
---@param action string its name
---@return boolean released true in one frame
function Input.released(action)
  return action_of("Input.released", action).released
end

---How far an action is down: 0 to 1; -1 to 1 for one that is negative and positive; a Vector2 for
---one with left, right, up and down.
---@param action string its name
---@return number|Vector2 value where it stands
function Input.value(action)
  return action_of("Input.value", action).value
end

local function part_of(where, action, part)
  if part == nil then
    if action.kind == "button" then
      return "bindings"
    end
    part = PARTS[action.kind][#PARTS[action.kind]]
  elseif type(part) ~= "string" then
    bad_argument(where, 2, "part", "string or nil", part)
  elseif not action.parts[part] or action.kind == "button" then
    raise(format("%s: the action has no part '%s' (there are %s)", where, part,
      action.kind == "button" and "none" or concat(PARTS[action.kind], ", ")))
  end
  return part
end

---What an action is bound to now.
---@param action string its name
---@param part? string "left", "positive" and so on; the axis or stick if left out
---@return string[] bindings a new list
function Input.bindings(action, part)
  local found = action_of("Input.bindings", action)
  local texts = found.parts[part_of("Input.bindings", found, part)]
  local list = {}
  for i = 1, #texts do
    list[i] = texts[i]
  end
  return list
end

---Binds an action as the player wants it. It is a user setting ("input.bindings"), so
---`Application.save_user_settings` keeps it for the next run.
---@param action string its name
---@param bindings string|string[]|nil what it is bound to from now on; nil: as the game has it
---@param part? string "left", "positive" and so on; the axis or stick if left out
function Input.rebind(action, bindings, part)
  no_reload("Input.rebind")
  local found = action_of("Input.rebind", action)
  part = part_of("Input.rebind", found, part)
  local texts = bindings
  if bindings == nil then
    texts = found.defaults[part]
  end
  found.parsed[part], found.parts[part] = parse_list("Input.rebind", part, texts)
  Application.set_user_setting("input", "bindings", action, part,
    bindings ~= nil and found.parts[part] or nil)
end

---Gives an action, or all, the bindings that the game has for it.
---@param action? string its name; all of them if left out
function Input.reset_bindings(action)
  no_reload("Input.reset_bindings")
  ensure()
  if action ~= nil then
    action_of("Input.reset_bindings", action)
  end
  for i = 1, #names do
    if action == nil or names[i] == action then
      local one = actions[names[i]]
      for part in next, one.parts do
        one.parsed[part], one.parts[part] = parse_list("Input.reset_bindings", part,
          one.defaults[part])
      end
      Application.set_user_setting("input", "bindings", names[i], nil)
    end
  end
end

---The actions that a binding is bound to, sorted: for telling the player that a key is taken.
---@param binding string such as "space" or "pad:a"
---@return string[] actions their names
function Input.actions_of(binding)
  if type(binding) ~= "string" then
    bad_argument("Input.actions_of", 1, "binding", "string", binding)
  end
  ensure()
  local found = {}
  for i = 1, #names do
    local bound = false
    for _, texts in next, actions[names[i]].parts do
      for k = 1, #texts do
        bound = bound or texts[k] == binding
      end
    end
    if bound then
      found[#found + 1] = names[i]
    end
  end
  return found
end

---What the player pressed in this frame, as a binding: for a menu in which actions are bound.
---@return string|nil binding such as "space", "mouse:left", "pad:a" or "pad:left.x+"
function Input.any_pressed(...)
  if select("#", ...) > 0 then
    raise("Input.any_pressed: takes no arguments")
  end
  for _, event in next, Input.events() do
    local prefix = match(event.device, "^%a+")
    if event.type == "button" and event.value >= HALF and not event.repeated
      and devices[event.device].pressed(event.button) then
      return prefix == "keyboard" and event.button or prefix .. ":" .. event.button
    elseif event.type == "axis" and prefix == "pad" then
      local x, y = event.x, event.y
      if x * x >= HALF and x * x >= y * y then
        return format("pad:%s.x%s", event.axis, x > 0 and "+" or "-")
      elseif y * y >= HALF then
        return format("pad:%s.y%s", event.axis, y > 0 and "+" or "-")
      end
    elseif event.type == "motion" and event.axis == "wheel" and event.y ~= 0 then
      return event.y > 0 and "mouse:wheel.y+" or "mouse:wheel.y-"
    end
  end
end

---Words for a binding, to be shown to the player: keys are called as on the player's own keyboard,
---as far as they were pressed before.
---@param binding string such as "space" or "pad:a"
---@return string label such as "Space" or "A"
function Input.label(binding)
  if type(binding) ~= "string" then
    bad_argument("Input.label", 1, "binding", "string", binding)
  end
  local parsed, problem = parse(binding, "axis")
  if not parsed then
    parsed, problem = parse(binding, "bindings")
  end
  if not parsed then
    raise(format("Input.label: binding '%s': %s", binding, problem))
  end
  local device = parsed.devices[1]
  local words = {}
  for i = 1, #(parsed.held or words) do
    words[i] = Keyboard.button_locale_name(parsed.held[i])
  end
  local own
  if parsed.button then
    own = device.button_locale_name(parsed.button)
    own = device.type() == "mouse" and own .. " mouse button" or own
  else
    local prefix = device.type() == "mouse" and "mouse " or ""
    local direction = parsed.part and " " .. parsed.part .. (match(binding, "[+-]$") or "") or ""
    own = prefix .. device.axis_name(parsed.axis) .. (prefix == "" and " stick" or "") .. direction
  end
  words[#words + 1] = own
  for i = 1, #words do
    words[i] = gsub(words[i], "^%l", upper)
  end
  return concat(words, "+")
end

---The pad with a number: the table that `Pad1` and its like are, too.
---@param number integer 1 to 8
---@return table pad its functions are those of `Pad1`
function Input.pad(number)
  local pad = pads[number]
  if type(number) ~= "number" then
    bad_argument("Input.pad", 1, "number", "integer", number)
  elseif not pad then
    raise(format("Input.pad: argument #1 'number' must be 1 to %d, got %.14g", PADS, number))
  end
  return pad
end

---The numbers of the pads that are there, in order.
---@return integer[] numbers a new list
function Input.pads(...)
  if select("#", ...) > 0 then
    raise("Input.pads: takes no arguments")
  end
  local there = {}
  for i = 1, PADS do
    if pads[i].active() then
      there[#there + 1] = i
    end
  end
  return there
end
