-- Outline, glow and shadow from 8 to 200 pixels.
local STYLES = {
  { outline = 0.05, outline_color = Color(120, 40, 0) },
  { glow = 0.06, glow_color = Color(255, 160, 0) },
  { outline = 0.02, glow = 0.04, glow_color = Color(0, 255, 200) },
  { shadow = Vector2(0.05, -0.05), shadow_softness = 0.05 },
}

-- Returns options for a style whose lengths are fractions of the font size.
local function at(style, size)
  local options = {}
  for key, value in pairs(style) do
    local is_length = type(value) == "number" or key == "shadow"
    options[key] = is_length and value * size or value
  end
  return options
end

function render()
  local gui = Application.main_gui()
  Gui.rect(gui, Vector3(0, 0, 0), Vector2(960, 640), Color(70, 90, 120))
  local y = 640
  for _, size in ipairs({ 8, 12, 16, 24, 36, 48, 64 }) do
    y = y - size * 1.35
    for i, style in ipairs(STYLES) do
      Gui.text(gui, "Agk&8", nil, size, nil, Vector3(16 + 240 * (i - 1), y, 1),
        Color(255, 255, 240), at(style, size))
    end
  end
  for i, style in ipairs(STYLES) do
    Gui.text(gui, "g8", nil, 200, nil, Vector3(6 + 240 * (i - 1), 70, 1), Color(255, 255, 240),
      at(style, 200))
  end
  Application.render_world(Application.main_world())
end
