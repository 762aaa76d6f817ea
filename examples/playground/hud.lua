-- The texts on the screen: the number of standing barrels, the keys, and the load of physics.
local Barrels = require "barrels"
local Pace = require "pace"

local Hud = {}

local INK, PALE, AMBER = Color(255, 246, 232), Color(170, 255, 246, 232), Color(255, 181, 77)
local GROUND = Color(150, 24, 20, 18)
local BAR = 56
local KEYS = {
  { "W A S D", "walk" }, { "Space", "jump" }, { "Mouse", "push, drag" }, { "Right mouse", "look" },
  { "F", "shout" }, { "G", "use" }, { "Tab", "slow motion" }, { "F1", "shapes" },
  { "R", "restart" },
}

local function label(gui, text, x, y, size, color)
  Gui.text(gui, text, nil, size, nil, Vector3(x, y, 3), color)
  local _, right_top = Gui.text_extents(gui, text, nil, size)
  return x + right_top.x
end

-- One line along the bottom, key by key.
local function keys(gui, width)
  Gui.rect(gui, Vector3(0, 0, 1), Vector2(width, 34), GROUND)
  local x = 16
  for _, key in ipairs(KEYS) do
    x = label(gui, key[1], x, 12, 14, AMBER)
    x = label(gui, key[2], x + 6, 12, 14, PALE) + 18
  end
end

-- The current load of physics and sound.
local function show_load(gui, world, y)
  local physics = World.physics_world(world)
  local text = ("%d of %d bodies move, %d voices"):format(PhysicsWorld.num_awake(physics),
    PhysicsWorld.num_actors(physics), Sound.num_voices())
  label(gui, text, 32, y, 16, PALE)
end

-- Bars come in from above and below, as in films: `share` is 1 when time is slowest.
local function bars(gui, width, height, share)
  local bar = Vector2(width, BAR * share)
  Gui.rect(gui, Vector3(0, height - bar.y, 0), bar, Color.black())
  Gui.rect(gui, Vector3(0, 0, 0), bar, Color.black())
  Gui.text(gui, ("time %.1f x"):format(Pace.now), nil, 20, nil,
    Vector3(width - 24, height - 44, 3), AMBER, { align = "right" })
end

---@param world World
---@param shapes boolean true if the shapes of physics are shown
function Hud.draw(world, shapes)
  local gui = Application.main_gui()
  local width, height = Gui.resolution()
  local text = ("%d of %d barrels stand"):format(Barrels.standing(), #Barrels.all)
  Gui.rounded_rect(gui, Vector3(16, height - 58, 1), Vector2(250, 42), 10, GROUND)
  label(gui, text, 32, height - 44, 20, INK)
  keys(gui, width)
  local slowed = (1 - Pace.now) / (1 - Pace.SLOWEST)
  if slowed > 0 then bars(gui, width, height, slowed) end
  if shapes then show_load(gui, world, height - 92) end
end

return Hud
