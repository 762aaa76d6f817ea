-- The user interface around the cave: texts, pictures, menus. The screen is at least 1280 by
-- 720 units here, whatever the window's size; texts that would not fit are written smaller.
local Ui = {}

Ui.WHITE, Ui.GOLD, Ui.DIM = Color(244, 240, 255), Color(255, 208, 96), Color(170, 160, 200)
Ui.width, Ui.height = 1280, 720

Ui.SCORE_LINE = 32 -- height of a line of Ui.scores

local MARGIN, MENU_LINE = 40, 54
local SHADOW = Color(230, 8, 4, 20)
local PANEL, FRAME = Color(205, 14, 10, 30), Color(120, 96, 190)
local PICTURES, TEXTS = 2, 3 -- layers

local gui ---@type Gui

function Ui.init(world)
  gui = World.create_screen_gui(world, "immediate")
end

---Measures the window. Call it in each frame, before anything is drawn.
function Ui.begin()
  local width, height = Gui.resolution()
  local scale = math.min(width / 1280, height / 720)
  Ui.width, Ui.height = width / scale, height / scale
  Gui.move(gui, Matrix4x4.from_quaternion_position_scale(Quaternion.identity(),
    Vector3(0, 0, 0), Vector3(scale, 1, scale)))
end

function Ui.gui()
  return gui
end

---Draws a line of text. `align` is the point at `x`: "left" (the default), "center" or "right".
function Ui.text(text, x, y, size, color, align)
  local room = Ui.width - 2 * MARGIN
  local _, right_top = Gui.text_extents(gui, text, nil, size)
  if right_top.x > room then size = size * room / right_top.x end
  Gui.text(gui, text, nil, size, nil, Vector3(x, y, TEXTS), color or Ui.WHITE, {
    align = align, outline = size / 16, outline_color = SHADOW,
    shadow = Vector2(size / 18, -size / 18), shadow_color = SHADOW,
  })
end

function Ui.centred(text, y, size, color)
  Ui.text(text, Ui.width / 2, y, size, color, "center")
end

---Draws a picture with `scale` units per texel, from its bottom left corner.
function Ui.picture(name, x, y, scale)
  local size = Vector2(Gui.texture_size(gui, name))
  Gui.bitmap(gui, name, Vector3(x, y, PICTURES), size * scale)
  return size.x * scale
end

function Ui.panel(x, y, width, height)
  Gui.rounded_rect(gui, Vector3(x, y, 0), Vector2(width, height), 18, PANEL)
  Gui.rounded_rect(gui, Vector3(x, y, 1), Vector2(width, height), 18, FRAME, 2)
end

---Draws a bar that is filled to a share of 0 to 1.
function Ui.bar(x, y, width, height, share, color)
  Gui.rounded_rect(gui, Vector3(x - 4, y - 4, 0), Vector2(width + 8, height + 8), height / 2 + 4,
    PANEL)
  Gui.push_clip(gui, Vector2(x, y), Vector2(width * share, height))
  Gui.rounded_rect(gui, Vector3(x, y, 1), Vector2(width, height), height / 2, color)
  Gui.pop_clip(gui)
end

---Draws the lines of a menu from `y` downward, the chosen one between two gems.
function Ui.menu(lines, chosen, y)
  for i, line in ipairs(lines) do
    local is_chosen = i == chosen
    local bottom = y - (i - 1) * MENU_LINE
    Ui.centred(line, bottom, 40, is_chosen and Ui.GOLD or Ui.WHITE)
    if is_chosen then
      local _, right_top = Gui.text_extents(gui, line, nil, 40)
      local off = right_top.x / 2 + 28
      Ui.picture("sheets/gem/1", Ui.width / 2 - off - 32, bottom - 2, 2)
      Ui.picture("sheets/gem/1", Ui.width / 2 + off, bottom - 2, 2)
    end
  end
end

---Draws the best scores below a headline; `marked` is the place of the newest.
function Ui.scores(title, none, list, y, marked)
  Ui.centred(title, y, 28, Ui.DIM)
  if #list == 0 then return Ui.centred(none, y - 40, 24, Ui.DIM) end
  for i, entry in ipairs(list) do
    local line, color = y - 6 - i * Ui.SCORE_LINE, i == marked and Ui.GOLD or Ui.WHITE
    Ui.text(i .. ".", Ui.width / 2 - 150, line, 26, color, "right")
    Ui.text(tostring(entry.score), Ui.width / 2 + 40, line, 26, color, "right")
    Ui.picture("sheets/door/2", Ui.width / 2 + 92, line - 5, 2)
    Ui.text(tostring(entry.depth), Ui.width / 2 + 166, line, 26, color, "right")
  end
end

return Ui
