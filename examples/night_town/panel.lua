-- The panel with the sliders, and the keys below it. A slider is moved with the mouse; the same
-- values have keys and buttons of a pad.
local Clock = require "clock"
local Weather = require "weather"

local Panel = { shown = true }

local INK, FAINT = Color(255, 244, 226), Color(165, 214, 208, 200)
local GROUND, TRACK, AMBER = Color(150, 12, 14, 22), Color(70, 255, 244, 226), Color(255, 184, 92)
local WIDTH, ROW, EDGE, RADIUS = 260, 40, 18, 8

local function percent(value)
  return ("%.0f %%"):format(100 * value)
end

local SLIDERS = {
  {
    name = "Time", keys = "Q E", high = 24, get = function() return Clock.hour end,
    set = function(value) Clock.set(math.min(value, 23.99)) end, text = Clock.text,
  },
  {
    name = "Rain", keys = "Z X", high = 1, get = function() return Weather.rain end,
    set = function(value) Weather.rain = value end,
    text = function() return percent(Weather.rain) end,
  },
  {
    name = "Fog", keys = "C V", high = 1, get = function() return Weather.fog end,
    set = function(value) Weather.fog = value end,
    text = function() return percent(Weather.fog) end,
  },
}
local HINT = "W A S D walk   right mouse look   F fly   Space let time pass   M mirror   Tab panel"

local held ---@type table?

-- The left and the middle of a slider's track on the screen.
local function track(i)
  local _, height = Gui.resolution()
  return EDGE + 16, height - EDGE - ROW * i + 2
end

-- The mouse takes the slider below it, until its button is released.
local function drag()
  if Mouse.released("left") then held = nil end
  local cursor = Mouse.axis("cursor")
  if Mouse.pressed("left") then
    for i, slider in ipairs(SLIDERS) do
      local left, middle = track(i)
      local inside = cursor.x > left - RADIUS and cursor.x < left + WIDTH - 32 + RADIUS
      if inside and math.abs(cursor.y - middle) < ROW / 2 then held = { slider, left } end
    end
  end
  if held then
    local share = Math.clamp((cursor.x - held[2]) / (WIDTH - 32), 0, 1)
    held[1].set(share * held[1].high)
  end
end

local function draw_slider(gui, i, slider)
  local left, middle = track(i)
  local long = WIDTH - 32
  local share = slider.get() / slider.high
  Gui.rounded_rect(gui, Vector3(left, middle - 2, 2), Vector2(long, 4), 2, TRACK)
  local done = math.max(4, long * share)
  Gui.rounded_rect(gui, Vector3(left, middle - 2, 3), Vector2(done, 4), 2, AMBER)
  Gui.circle(gui, Vector3(left + long * share, middle, 4), RADIUS, AMBER)
  Gui.text(gui, slider.name, nil, 15, nil, Vector3(left, middle + 11, 4), INK)
  Gui.text(gui, slider.keys, nil, 12, nil, Vector3(left + 46, middle + 11, 4), FAINT)
  Gui.text(gui, slider.text(), nil, 15, nil, Vector3(left + long, middle + 11, 4), INK,
    { align = "right" })
end

---Moves the sliders and draws the panel.
function Panel.draw()
  if Input.pressed("panel") then Panel.shown = not Panel.shown end
  if not Panel.shown then
    held = nil
    return
  end
  drag()
  local gui = Application.main_gui()
  local _, height = Gui.resolution()
  local tall = ROW * #SLIDERS + 22
  Gui.rounded_rect(gui, Vector3(EDGE, height - EDGE - tall, 1), Vector2(WIDTH, tall), 12, GROUND)
  for i, slider in ipairs(SLIDERS) do draw_slider(gui, i, slider) end
  Gui.text(gui, HINT, nil, 12.5, nil, Vector3(EDGE + 2, EDGE, 4), FAINT)
end

return Panel
