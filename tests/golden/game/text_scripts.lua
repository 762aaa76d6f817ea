-- Arabic, Devanagari and Japanese from 8 to 200 pixels, with outline and glow.
local SCRIPTS = {
  { font = "fonts/arabic", words = "السلام عليكم ١٢٣", short = "السلام عليكم", large = "لا" },
  { font = "fonts/devanagari", words = "नमस्ते, श्री क्षत्रिय",
    short = "नमस्ते, श्री", large = "श्री" },
  { font = "fonts/japanese", words = "日本語の文章、薔薇「東京」", short = "日本語の森", large = "薔" },
}

local function outlined(size)
  return { outline = size * 0.03, outline_color = Color(30, 30, 60), glow = size * 0.06,
    glow_color = Color(90, 200, 255) }
end

function render()
  local gui = Application.main_gui()
  Gui.rect(gui, Vector3(0, 0, 0), Vector2(960, 640), Color(50, 70, 70))
  for column, script in ipairs(SCRIPTS) do
    local x, y = 16 + 320 * (column - 1), 632
    for _, size in ipairs({ 8, 10, 12, 16, 20, 24 }) do
      y = y - size * 1.6
      Gui.text(gui, script.words, script.font, size, nil, Vector3(x, y, 1))
    end
    y = y - 40
    Gui.text(gui, script.words, script.font, 22, nil, Vector3(x, y, 1), Color(255, 230, 160),
      outlined(22))
    Gui.text(gui, script.short, script.font, 48, nil, Vector3(x, y - 100, 1), Color.white(),
      outlined(48))
    Gui.text(gui, script.large, script.font, 200, nil, Vector3(x, 70, 1), Color(255, 190, 160),
      outlined(200))
  end
  Application.render_world(Application.main_world())
end
