-- A game of 2,000 files in the engine: 500 scripts, 1,000 images of 32 x 32 texels, 500 texts of 1
-- KiB. All of them are loaded, and the first frame shows every image. The command line ends the
-- game after that frame (--frames 1).
local scripts, texts, bytes = {}, {}, 0

function init()
  for i = 1, 500 do scripts[i] = require("scripts.s" .. i) end
  for i = 1, 500 do
    texts[i] = Application.data("text", "text/t" .. i)
    bytes = bytes + #texts[i]
  end
  assert(bytes == 500 * 1024 and scripts[7].name == "unit7")
end

function update() end

function render()
  local gui = Application.main_gui()
  for i = 1, 1000 do
    local x, y = (i - 1) % 25 * 32, math.floor((i - 1) / 25) * 15
    Gui.bitmap(gui, "images/i" .. i, Vector3(x, y, 1))
  end
  Application.render_world(Application.main_world())
end
