-- Latin, Greek and Cyrillic text from 8 to 200 pixels.
local LINE = "%d: The quick brown fox, 0123456789 & @ gjpqy ÄÖÜ Ωμέγα Жизнь fi ffi"

function render()
  local gui = Application.main_gui()
  local y = 640
  for _, size in ipairs({ 8, 10, 12, 16, 20, 24, 32, 48, 72 }) do
    y = y - size * 1.25
    Gui.text(gui, LINE:format(size), nil, size, nil, Vector3(10, y, 1))
  end
  Gui.text(gui, "Rg&8", nil, 200, nil, Vector3(10, 60, 1), Color(255, 210, 120))
  Gui.text(gui, "Half-way", nil, 24, nil, Vector3(560.5, 120.5, 1))
  Gui.push(gui)
  Gui.translate(gui, Vector2(620, 50))
  Gui.rotate(gui, 0.2)
  Gui.text(gui, "turned by 0.2", nil, 32, nil, Vector3(0, 0, 1), Color(140, 220, 255))
  Gui.pop(gui)
  Application.render_world(Application.main_world())
end
