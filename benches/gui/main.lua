-- The workloads of benches/gui.rs, one for each run: `MODE N` on the command line. They equal those
-- of the LÖVE games that they are compared with: the same numbers, positions and counts.
local mode, count = Application.argv()
count = tonumber(count)

local seed = 12345
local function rnd()
  seed = seed * 16807 % 2147483647
  return seed / 2147483647
end

local names = {}
for i = 1, 8 do names[i] = "sprite" .. i end
local gui, sprites, labels = nil, {}, {}
local frame = 0
local floor = math.floor
local white = Color(255, 255, 255)

local function make_sprites()
  for i = 1, count do
    sprites[i] = {
      x = floor(rnd() * 800), y = floor(rnd() * 600), vx = rnd() * 2 - 1, name = names[i % 8 + 1],
    }
  end
end

local FONT = "core/fonts/default"

local modes = {
  nothing = function() end,
  -- One texture, with a new position vector for each sprite.
  one = function()
    for i = 1, #sprites do
      local s = sprites[i]
      Gui.bitmap(gui, "sprite1", Vector3(s.x, s.y, 1), Vector2(16, 16), white)
    end
  end,
  -- The same with a new colour for each sprite.
  colors = function()
    for i = 1, #sprites do
      local s = sprites[i]
      Gui.bitmap(gui, "sprite1", Vector3(s.x, s.y, 1), Vector2(16, 16), Color(255, i % 256, 0))
    end
  end,
  -- The simplest calls, as in first games: no colour, positions without a layer.
  plain = function()
    for i = 1, #sprites do
      local s = sprites[i]
      Gui.bitmap(gui, "sprite1", Vector2(s.x, s.y), Vector2(16, 16))
    end
  end,
  -- Parts of an image.
  parts = function()
    for i = 1, #sprites do
      local s = sprites[i]
      Gui.bitmap_uv(gui, "sprite1", Vector2(0, 0), Vector2(0.5, 0.5), Vector3(s.x, s.y, 1),
        Vector2(16, 16))
    end
  end,
  eight = function()
    for i = 1, #sprites do
      local s = sprites[i]
      Gui.bitmap(gui, s.name, Vector3(s.x, s.y, 1), Vector2(16, 16), white)
    end
  end,
  kept = function() end,
  moved = function()
    for i = 1, #sprites do
      local s = sprites[i]
      s.y = s.y + s.vx
      Gui.update_bitmap(gui, s.object, s.name, Vector3(s.x, s.y, 1), Vector2(16, 16), white)
    end
  end,
  strings = function()
    for i = 1, count do
      local x, y = (i - 1) % 20 * 40, floor((i - 1) / 20) * 6
      Gui.text(gui, "HP " .. (frame + i) % 1000, FONT, 12, nil, Vector3(x, y, 1), white)
    end
  end,
  same_strings = function()
    for i = 1, count do
      local x, y = (i - 1) % 20 * 40, floor((i - 1) / 20) * 6
      Gui.text(gui, labels[i], FONT, 12, nil, Vector3(x, y, 1), white)
    end
  end,
  -- Strings of about 95 letters, each new in every frame, which differ in a few letters in the
  -- middle.
  long_strings = function()
    for i = 1, count do
      local x, y = (i - 1) % 2 * 400, floor((i - 1) / 2) * 4
      local text = "The caravan " .. i .. " left the harbour on day " .. frame
        .. " with salt, wool and 40 barrels of oil for the north"
      Gui.text(gui, text, FONT, 12, nil, Vector3(x, y, 1), white)
    end
  end,
  rects = function()
    for i = 1, count do
      local x, y = (i - 1) % 50 * 16, floor((i - 1) / 50) * 6
      Gui.rect(gui, Vector3(x, y, 1), Vector2(14, 5), Color(51, 77, i % 7 == 0 and 230 or 102))
    end
  end,
  widgets = function()
    for i = 1, count do
      local x, y = (i - 1) % 50 * 16, floor((i - 1) / 50) * 6
      local size = Vector2(14, 5)
      Gui.rect(gui, Vector3(x, y, 1), size, Color(51, 77, i % 7 == 0 and 230 or 102))
      Gui.rect_outline(gui, Vector3(x, y, 1), size, 1, Color(204, 204, 204))
      Gui.text(gui, labels[i], FONT, 12, nil, Vector3(x, y, 1), white)
    end
  end,
}

function init()
  local world = Application.main_world()
  for i = 1, count do labels[i] = "Btn " .. i end
  if mode == "kept" or mode == "moved" then
    make_sprites()
    gui = World.create_screen_gui(world)
    for i = 1, count do
      local s = sprites[i]
      s.object = Gui.bitmap(gui, s.name, Vector3(s.x, s.y, 1), Vector2(16, 16), white)
    end
  else
    make_sprites()
    gui = World.create_screen_gui(world, "immediate")
  end
end

function update() end

function render()
  frame = frame + 1
  modes[mode]()
  Application.render_world(Application.main_world())
end
