-- The effects of an event in a cave: particles, a sound, rising points, and a jolt of the picture
-- and the pads. One row for each kind of event.
local Terrain = require "terrain"
local View = require "view"

local Effects = {}

local TEXT_COLOR = Color(255, 236, 160)
local GEM_TONES = { 0, 2, 4, 7, 9, 12, 14, 16 } -- semitones: a combo climbs a scale

local ROWS = {
  dig = { sound = "sounds/dig", particles = "particles/dust", layer = View.DUST },
  gem = { sound = "sounds/gem", particles = "particles/sparkle", layer = View.GLOW },
  push = { sound = "sounds/push", particles = "particles/dust", layer = View.DUST },
  thud = { sound = "sounds/thud", particles = "particles/thud", layer = View.DUST, shake = 0.7 },
  crush = { sound = "sounds/crush", particles = "particles/crush", layer = View.GLOW, shake = 2,
    rumble = 0.4 },
  open = { sound = "sounds/open", particles = "particles/open", layer = View.GLOW },
  win = { sound = "sounds/open", particles = "particles/open", layer = View.GLOW },
  die = { sound = "sounds/die", particles = "particles/die", layer = View.GLOW, shake = 5,
    rumble = 1 },
}

local rising = {} -- points on their way up

function Effects.clear()
  for _, points in ipairs(rising) do Tween.cancel(points.tween) end
  rising = {}
end

local function let_rise(text, x, y)
  local points = { text = text, x = x, y = y, alpha = 255 }
  points.tween = Tween.to(points, 0.9, { y = y + 18, alpha = 0 }, "quad_in", function()
    for i = #rising, 1, -1 do
      if rising[i] == points then table.remove(rising, i) end
    end
  end)
  rising[#rising + 1] = points
end

---@param event table from the cave's `events`
---@param points integer the points for the event
---@param combo integer the number of gems taken in a row
function Effects.show(view, event, points, combo)
  local row = ROWS[event.kind]
  local x, y = Terrain.middle(event.x, event.y)
  Gui.create_particles(View.gui(), row.particles, Vector3(x, y, row.layer))
  local options = {}
  if event.kind == "gem" then
    options.pitch = 2 ^ (GEM_TONES[math.max(1, combo)] / 12)
  elseif event.kind == "thud" then
    options.parameters = { falls = event.falls }
  end
  Sound.trigger(Application.main_world(), row.sound, options)
  if points > 0 then let_rise("+" .. points, x, y + Terrain.CELL / 2) end
  if row.rumble then
    for _, number in ipairs(Input.pads()) do
      Input.pad(number).rumble(row.rumble, row.rumble / 2, 0.3)
    end
  end
  view.shake = math.max(view.shake, (row.shake or 0) * math.min(3, event.falls or 1))
end

function Effects.draw()
  for _, points in ipairs(rising) do
    Gui.text(View.gui(), points.text, nil, 9, nil, Vector3(points.x, points.y, View.TEXT),
      Color.with_alpha(TEXT_COLOR, points.alpha), { align = "center", outline = 0.6,
      outline_color = Color(points.alpha, 20, 10, 20) })
  end
end

return Effects
