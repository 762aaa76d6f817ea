-- The first screen: the game's name, a menu, the best scores.
local Scores = require "rules.scores"
local Backdrop = require "backdrop"
local Controls = require "controls"
local Texts = require "texts"
local Ui = require "ui"

local Title = {}

local LOGO_SCALE = 2

local chosen, time = 1, 0

function Title.enter()
  Backdrop.enter()
end

function Title.leave()
  Backdrop.leave()
end

local function blip()
  Sound.trigger(Application.main_world(), "sounds/blip")
end

local ITEMS = {
  { line = function() return Texts.get("play") end, choose = function() return "play" end },
  {
    line = function() return Texts.get("language", { name = Texts.language().name }) end,
    choose = function() Texts.turn(1) end,
    turn = function(by) Texts.turn(by) end,
  },
  { line = function() return Texts.get("quit") end, choose = function() Application.quit() end },
}

---@return string? screen that comes next
function Title.update(dt)
  time = time + dt
  Backdrop.update(dt)
  local item = ITEMS[chosen]
  local turned = (Input.pressed("right") and 1 or 0) - (Input.pressed("left") and 1 or 0)
  local moved = (Input.pressed("down") and 1 or 0) - (Input.pressed("up") and 1 or 0)
  if Input.pressed("confirm") then
    blip()
    return item.choose()
  elseif turned ~= 0 and item.turn then
    blip()
    item.turn(turned)
  elseif moved ~= 0 then
    blip()
    chosen = Math.wrap(chosen + moved, 1, #ITEMS + 1)
  end
end

function Title.draw()
  Backdrop.draw()
  local width = Gui.texture_size(Ui.gui(), "pictures/logo")
  local left = (Ui.width - width * LOGO_SCALE) / 2
  Ui.picture("pictures/logo", left, Ui.height - 176 + 6 * math.sin(time * 1.3), LOGO_SCALE)
  Ui.centred(Texts.get("tagline"), Ui.height - 222, 26)
  local lines, list, middle = {}, Scores.list(), Ui.height / 2
  for i, item in ipairs(ITEMS) do lines[i] = item.line() end
  local height = 252 + Ui.SCORE_LINE * math.max(1, #list)
  Ui.panel(Ui.width / 2 - 330, middle + 112 - height, 660, height)
  Ui.menu(lines, chosen, middle + 52)
  Ui.scores(Texts.get("best"), Texts.get("best_none"), list, middle - 110)
  Ui.centred(Texts.get("help", { move = Controls.moves(), key = Controls.label("confirm") }), 20,
    20)
end

return Title
