-- The player's actions, with their keys and buttons. The game only asks for actions, so a pad can
-- do everything that the keyboard does.
local Controls = {}

local ACTIONS = {
  left = { "left", "a", "pad:d left", "pad:left.x-" },
  right = { "right", "d", "pad:d right", "pad:left.x+" },
  up = { "up", "w", "pad:d up", "pad:left.y+" },
  down = { "down", "s", "pad:d down", "pad:left.y-" },
  confirm = { "enter", "space", "pad:a" },
  back = { "escape", "pad:b" },
  pause = { "p", "pad:start" },
}
local STEPS = { left = { -1, 0 }, right = { 1, 0 }, up = { 0, 1 }, down = { 0, -1 } }
local NAMES = { "left", "right", "up", "down" } -- in an order that is the same in every run

local latest ---@type string? the direction that was pressed last
local tapped = false -- true if it was pressed since the last step

function Controls.init()
  Input.set_actions(ACTIONS)
end

---Reads the input of this frame. Call it in each frame.
function Controls.update()
  for _, name in ipairs(NAMES) do
    if Input.pressed(name) then latest, tapped = name, true end
  end
end

---Returns the direction that the player wants to go. If two directions are held, the newer one
---wins. A tap counts even if it ended before the next step.
---@return integer dx
---@return integer dy
function Controls.take_step()
  local wanted = (tapped or latest and Input.down(latest)) and latest or nil
  for _, name in ipairs(NAMES) do
    wanted = wanted or Input.down(name) and name or nil
  end
  tapped = false
  if not wanted then return 0, 0 end
  return STEPS[wanted][1], STEPS[wanted][2]
end

---Forgets taps from another screen.
function Controls.forget()
  latest, tapped = nil, false
end

local function plays_with_pad()
  return Input.last_device():find("pad", 1, true) ~= nil
end

---Returns the label of the key or button for an action, on the device that was used last.
function Controls.label(action)
  local pad = plays_with_pad()
  for _, binding in ipairs(Input.bindings(action)) do
    if (binding:find("pad:", 1, true) ~= nil) == pad then return Input.label(binding) end
  end
  return action
end

---Returns the same for walking: on a keyboard, the letters that are printed on the keys.
function Controls.moves()
  if plays_with_pad() then return Input.label("pad:left") end
  local letters = {}
  for i, key in ipairs({ "w", "a", "s", "d" }) do letters[i] = Input.label(key) end
  return table.concat(letters, " ")
end

return Controls
