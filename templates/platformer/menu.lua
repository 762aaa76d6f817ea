-- A title and a list of choices, for the keyboard and pads.
---@class Menu
---@field title string
---@field choices table each a name and a function
---@field at integer the choice that is marked
local Menu = {}
Menu.__index = Menu

local CHOSEN, OTHER, DARK = Color(255, 215, 94), Color(255, 247, 232), Color(43, 36, 64)

---@param title string
---@param choices table each a name and a function
function Menu.new(title, choices)
  return setmetatable({ title = title, choices = choices, at = 1 }, Menu)
end

function Menu:update()
  local count = #self.choices
  local step = (Input.pressed("following") and 1 or 0) - (Input.pressed("previous") and 1 or 0)
  if step ~= 0 then
    self.at = (self.at - 1 + step) % count + 1
    Sound.trigger(Application.main_world(), "sounds/select")
  end
  if Input.pressed("choose") then
    local choose = self.choices[self.at][2]
    self.at = 1
    choose()
  end
end

function Menu:draw(gui)
  local width, height = Gui.resolution()
  local function centred(text, y, size, color)
    Gui.text(gui, text, nil, size, nil, Vector3(width / 2, y, 12), color,
      { align = "center", shadow = Vector2(3, -3), shadow_color = DARK })
  end
  Gui.rect(gui, Vector3(0, 0, 10), Vector2(width, height), Color(110, 43, 36, 64))
  centred(self.title, height * 0.62, 88, OTHER)
  for i, choice in ipairs(self.choices) do
    local chosen = i == self.at
    local text = chosen and "› " .. choice[1] .. " ‹" or choice[1]
    centred(text, height * 0.62 - 60 - i * 56, 40, chosen and CHOSEN or OTHER)
  end
end

return Menu
