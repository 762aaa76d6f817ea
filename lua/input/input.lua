-- The Lua part of `Input`: actions that a game queries, bound to keys, buttons and axes that the
-- player can change. Binding strings are parsed in bindings.lua; devices and events are native.
local core = ...

local type, next, pcall, tostring = type, next, pcall, tostring
local sqrt, format, find, match = math.sqrt, string.format, string.find, string.match
local sort, concat = core.table.sort, core.table.concat
local raise, bad_argument, describe = core.raise, core.bad_argument, core.describe
local no_reload = core.no_reload
local Vector2, Application = core.module("Vector2"), core.module("Application")
local Input = core.module("Input")
local parse, parse_any, read = core.bindings.parse, core.bindings.parse_any, core.bindings.read
local read_axis, read_stick = core.bindings.read_axis, core.bindings.read_stick
local overlap = core.bindings.overlap

local ACTIONS_MAX = 1000
local BINDINGS_MAX = 32 -- per action, or per part of an action
-- Hysteresis of an action: it counts as pressed from the first value on, and as released below the
-- second. A device's buttons have the same thresholds, so that a trembling finger on a trigger
-- presses once.
local PRESS_THRESHOLD, RELEASE_THRESHOLD = 0.5, 0.45

-- Parts of an action by kind, in order.
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

-- Actions -----------------------------------------------------------------------------------------

-- Actions by name: { kind, parts = { part = texts }, parsed = { part = bindings }, value, was,
-- down, pressed, released }; `was` is true if the action was down in the last frame. `names` is the
-- sorted list of names.
local actions, names
local zero = Vector2(0, 0)

local function largest(bindings)
  local value, pressed, released, turned, held = 0, false, false, false, false
  for i = 1, #bindings do
    local one, down, up = read(bindings[i])
    value = one > value and one or value
    pressed, released = pressed or down, released or up
    turned = turned or one >= PRESS_THRESHOLD and bindings[i].notches
    held = held or one >= PRESS_THRESHOLD and not bindings[i].notches
  end
  -- A wheel notch lasts one frame; a notch in the next frame is a new press.
  if turned and not held then pressed, released = true, true end
  return value, pressed, released
end

-- Returns the difference of two opposite directions, and true if one of them was only tapped.
local function difference(more, less)
  local a, a_pressed, a_released = largest(more)
  local b, b_pressed, b_released = largest(less)
  return a - b, a_pressed and a_released or b_pressed and b_released
end

-- Returns the strength of an action, its value, and true for pressed and for released in this
-- frame. For an axis or stick, the last two are true only for a tap that began and ended within the
-- frame.
local function evaluate(action)
  local parsed = action.parsed
  if action.kind == "button" then
    local value, pressed, released = largest(parsed.bindings)
    return value, value, pressed, released
  end
  if action.kind == "axis" then
    local value, tapped = difference(parsed.positive, parsed.negative)
    for i = 1, #parsed.axis do
      local one = read_axis(parsed.axis[i])
      value = one * one > value * value and one or value
    end
    value = value < -1 and -1 or value > 1 and 1 or value
    return value < 0 and -value or value, value, tapped, tapped
  end
  local x, tapped = difference(parsed.right, parsed.left)
  local y, tapped_too = difference(parsed.up, parsed.down)
  tapped = tapped or tapped_too
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
  return length, length == 0 and zero or Vector2(x, y), tapped, tapped
end

-- Updates an action from its devices. `was` is true if the action was down in the last frame, or
-- nil for a new action: an input that is already held is no press of a new action.
local function update(action, was)
  local strength, value, pressed, released = evaluate(action)
  if was == nil then
    was = strength >= PRESS_THRESHOLD and not pressed
  end
  local down = strength >= (was and RELEASE_THRESHOLD or PRESS_THRESHOLD)
  -- A tap within the frame counts, and so does a tap between two holds.
  action.pressed = not was and (down or pressed) or was and down and pressed and released
  action.released = was and (not down or pressed and released) or not was and pressed and not down
  action.value, action.was, action.down = value, was, down
end

-- Updates an action after its bindings changed. An input that is already held is no press of it.
local function update_rebound(action)
  local strength, value = evaluate(action)
  action.value = value
  action.down = action.down or strength >= PRESS_THRESHOLD
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

-- Creates an action from a game's description of its bindings.
local function make(where, description)
  if type(description) == "string" then
    description = { description }
  elseif type(description) ~= "table" then
    raise(format("%s: must be a list of bindings or a table of directions, got %s", where,
      describe(description)))
  end
  local kind, listed = "button", false
  for key in next, description do
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
    raise(format("%s: has directions and also a list of bindings: it must be one of the "
      .. "two", where))
  end
  local action = { kind = kind, parts = {}, parsed = {}, defaults = {}, down = false,
    was = false, pressed = false, released = false, value = kind == "stick" and zero or 0 }
  for _, part in next, PARTS[kind] do
    local texts = kind == "button" and description or description[part] or {}
    action.parsed[part], action.parts[part] = parse_list(where, part, texts)
    action.defaults[part] = action.parts[part]
  end
  return action
end

-- Replaces the game's bindings of an action with the bindings that the player chose. Invalid
-- bindings are reported, and the game's bindings are used instead.
local function apply_player_bindings(name, action)
  local chosen = Application.user_setting("input", "bindings", name)
  if chosen == nil then
    return
  end
  local where = "the player's bindings of " .. name
  local function warn_unused(problem)
    core.log("warning", format("%s (the game's own are used)", problem))
  end
  if type(chosen) ~= "table" then
    return warn_unused(format("%s: must be a table, got %s", where, describe(chosen)))
  end
  local unknown = {}
  for part in next, chosen do
    if not action.parts[part] then
      unknown[#unknown + 1] = tostring(part)
    end
  end
  if #unknown > 0 then
    sort(unknown)
    warn_unused(format("%s: the action has no part '%s'", where, concat(unknown, "', '")))
  end
  for part in next, action.parts do
    if chosen[part] ~= nil then
      local ok, parsed, copy = pcall(parse_list, where, part, chosen[part])
      if ok then
        action.parsed[part], action.parts[part] = parsed, copy
      else
        -- Cuts off the location of the script that sets the actions: it does not concern a saved
        -- file.
        warn_unused(match(parsed, "the player's bindings of .*$"))
      end
    end
  end
end

local function set(where, descriptions)
  local created, list = {}, {}
  for name, description in next, descriptions do
    if type(name) ~= "string" then
      raise(format("%s: actions must have names, got %s", where, describe(name)))
    elseif name == "" or find(name, "[%c]") then
      raise(format("%s: the name %s cannot be an action's", where, describe(name)))
    end
    created[name] = make(format("%s: action '%s'", where, name), description)
    list[#list + 1] = name
  end
  if #list > ACTIONS_MAX then
    raise(format("%s: at most %d actions", where, ACTIONS_MAX))
  end
  sort(list)
  for i = 1, #list do
    apply_player_bindings(list[i], created[list[i]])
    local before = actions and actions[list[i]]
    update(created[list[i]], before and before.was)
  end
  actions, names = created, list
end

-- Uses the actions of settings.sjson until the game sets its actions.
local function ensure_actions()
  if not actions then
    local descriptions = Application.settings().input.actions
    set("settings.sjson: input.actions", descriptions)
  end
end

local function action_of(where, name)
  if type(name) ~= "string" then
    bad_argument(where, 1, "action", "string", name)
  end
  if not actions then
    ensure_actions()
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

-- Returns true if the game has an action.
function core.has_action(name)
  ensure_actions()
  return actions[name] ~= nil
end

-- Updates all actions. Called once per frame, before any code of the game.
core.on("frame_update", "actions", function()
  if not actions then
    ensure_actions()
    return
  end
  for i = 1, #names do
    update(actions[names[i]], actions[names[i]].down)
  end
end)

---Sets the game's actions and replaces all previous actions. An action is a list of bindings: it is
---down while one of them is down. An action with `negative` and `positive` (and `axis`, such as
---"pad:left.x") has a value from -1 to 1. An action with `left`, `right`, `up` and `down` (and
---`stick`, such as "pad:left") has a Vector2 of at most length 1. A binding is a key ("space",
---"ctrl+s"), "mouse:left", "pad:a" (of any pad), "pad2:a", "touch:touch", or a direction of an axis
---("pad:left.x+", "mouse:wheel.y-"). Bindings that the player set with `Input.rebind` replace the
---game's bindings.
---@param actions table by name, each a list of bindings or a table of directions
---@node hidden
function Input.set_actions(actions)
  no_reload("Input.set_actions")
  if type(actions) ~= "table" then
    bad_argument("Input.set_actions", 1, "actions", "table", actions)
  end
  set("Input.set_actions", actions)
end

---Returns the names of all actions, sorted.
---@return string[] names a new list
---@node query
function Input.actions()
  ensure_actions()
  local list = {}
  for i = 1, #names do
    list[i] = names[i]
  end
  return list
end

---Returns true if an action is down: its value is at least half of the maximum.
---@param action string its name
---@return boolean down true as long as it is held
---@node query
function Input.down(action)
  return action_of("Input.down", action).down
end

---Returns true if an action was pressed in this frame.
---@param action string its name
---@return boolean pressed true in one frame
---@node query
function Input.pressed(action)
  return action_of("Input.pressed", action).pressed
end

---Returns true if an action was released in this frame.
---@param action string its name
---@return boolean released true in one frame
---@node query
function Input.released(action)
  return action_of("Input.released", action).released
end

---Returns the value of an action: 0 to 1, or the notches that a wheel was turned; -1 to 1 for an
---action with negative and positive; a Vector2 for an action with left, right, up and down.
---@param action string its name
---@return number|Vector2 value the current value
---@node query
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

---Returns the current bindings of an action.
---@param action string its name
---@param part? string "left", "positive" and so on; the axis or stick if left out
---@return string[] bindings a new list
---@node query
function Input.bindings(action, part)
  local found = action_of("Input.bindings", action)
  local texts = found.parts[part_of("Input.bindings", found, part)]
  local list = {}
  for i = 1, #texts do
    list[i] = texts[i]
  end
  return list
end

---Changes the bindings of an action to the player's choice. They are stored in a user setting
---("input.bindings"), so `Application.save_user_settings` keeps them for the next run.
---@param action string its name
---@param bindings string|string[]|nil the new bindings; nil restores the game's bindings
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
  update_rebound(found)
  Application.set_user_setting("input", "bindings", action, part,
    bindings ~= nil and found.parts[part] or nil)
end

---Restores the game's bindings of an action, or of all actions.
---@param action? string its name; all actions if left out
function Input.reset_bindings(action)
  no_reload("Input.reset_bindings")
  ensure_actions()
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
      update_rebound(one)
      Application.set_user_setting("input", "bindings", names[i], nil)
    end
  end
end

---Returns the actions that use a binding, sorted, for example to show the player that a key is
---taken. All names of an input match: "pad:a" also finds "pad2:a", and "left shift" also finds
---"shift".
---@param binding string such as "space" or "pad:a"
---@return string[] actions their names
---@node query
function Input.actions_of(binding)
  local wanted = parse_any("Input.actions_of", binding)
  ensure_actions()
  local found = {}
  for i = 1, #names do
    local bound = false
    for _, bindings in next, actions[names[i]].parsed do
      for k = 1, #bindings do
        bound = bound or overlap(wanted, bindings[k])
      end
    end
    if bound then
      found[#found + 1] = names[i]
    end
  end
  return found
end
