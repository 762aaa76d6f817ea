-- The panel below the garden: money and lives, the towers to choose from, the button for the next
-- wave. It is a retained Gui of about thirty objects: only objects that change are updated, the
-- others stay as they are.
local Game = require "game"
local Map = require "map"
local Scenery = require "scenery"
local Towers = require "towers"

local Panel = {}

Panel.HEIGHT = 80
local BOARD, CARD, EDGE = Color(14, 20, 30), Color(30, 42, 56), Color(70, 92, 112)
local TEXT, FAINT, GOLD = Color(232, 238, 242), Color(150, 168, 182), Color(255, 208, 110)
local CARDS, CARD_WIDE, CARD_TALL = 420, 176, 60
local WAVE = { x = 1030, wide = 230 }
local TOP = 10 -- the edge around cards and button

local function write(gui, text, x, y, size, color, options)
  return Gui.text(gui, text, nil, size, nil, Vector3(x, y, 3), color, options)
end

local function put_edge(gui, x, wide)
  return Gui.rounded_rect(gui, Vector3(x, TOP, 2), Vector2(wide, CARD_TALL), 8, EDGE, 1)
end

local function change_edge(gui, edge, x, wide, color, thick)
  Gui.update_rounded_rect(gui, edge, Vector3(x, TOP, 2), Vector2(wide, CARD_TALL), 8, color, thick)
end

-- The left of a tower's card.
local function card(i)
  return CARDS + (i - 1) * (CARD_WIDE + 12)
end

---@return table panel
function Panel.new(gui)
  local panel = { gui = gui, edges = {}, prices = {}, shown = {} }
  Gui.rect(gui, Vector3(0, 0, 0), Vector2(Map.WIDTH, Panel.HEIGHT), BOARD)
  Gui.rect(gui, Vector3(0, Panel.HEIGHT - 2, 1), Vector2(Map.WIDTH, 2), EDGE)
  Gui.bitmap(gui, "textures/lamp", Vector3(22, 8, 2), Vector2(38, 65))
  Gui.circle(gui, Vector3(188, 40, 2), 13, Color(190, 130, 40))
  Gui.circle(gui, Vector3(188, 40, 2), 10.5, GOLD)
  panel.lives = write(gui, "", 70, 29, 32, TEXT)
  panel.money = write(gui, "", 210, 29, 32, TEXT)
  panel.wave = write(gui, "", 310, 31, 22, FAINT)
  for i, kind in ipairs(Towers.KINDS) do
    local x = card(i)
    Gui.rounded_rect(gui, Vector3(x, TOP, 1), Vector2(CARD_WIDE, CARD_TALL), 8, CARD)
    panel.edges[i] = put_edge(gui, x, CARD_WIDE)
    Gui.bitmap(gui, "textures/" .. kind.name, Vector3(x + 8, TOP + 5, 2), Vector2(34, 51))
    write(gui, i .. "  " .. kind.name, x + 50, TOP + 36, 18, TEXT)
    write(gui, kind.note, x + 50, TOP + 12, 12.5, FAINT)
    panel.prices[i] = write(gui, "", x + CARD_WIDE - 10, TOP + 36, 18, GOLD, { align = "right" })
  end
  local button = Vector2(WAVE.wide, CARD_TALL)
  Gui.rounded_rect(gui, Vector3(WAVE.x, TOP, 1), button, 8, Color(58, 44, 30))
  panel.edge = put_edge(gui, WAVE.x, WAVE.wide)
  panel.call = write(gui, "", WAVE.x + WAVE.wide / 2, TOP + 22, 21, TEXT, { align = "center" })
  return panel
end

-- Returns true if a value differs from the one shown: only then are its objects updated.
local function is_new(panel, name, value)
  if panel.shown[name] == value then return false end
  panel.shown[name] = value
  return true
end

local CALLS = {
  build = "Next wave  (space)", wave = "They are coming …", won = "The lamp burns!  (R)",
  lost = "It went dark …  (R)",
}

---Shows the game's numbers and the chosen tower.
---@param panel table
---@param game Game
---@param chosen integer of Towers.KINDS
function Panel.update(panel, game, chosen)
  local gui = panel.gui
  if is_new(panel, "lives", game.lives) then
    local color = game.lives > 30 and TEXT or Color(255, 110, 90)
    Gui.update_text(gui, panel.lives, tostring(game.lives), nil, 32, nil, Vector3(70, 29, 3), color)
  end
  if is_new(panel, "money", game.money) then
    local text = tostring(game.money)
    Gui.update_text(gui, panel.money, text, nil, 32, nil, Vector3(210, 29, 3), TEXT)
    for i, kind in ipairs(Towers.KINDS) do
      if is_new(panel, "price" .. i, game.money >= kind.price) then
        local position = Vector3(card(i) + CARD_WIDE - 10, TOP + 36, 3)
        Gui.update_text(gui, panel.prices[i], tostring(kind.price), nil, 18, nil, position,
          game.money >= kind.price and GOLD or Color(120, 100, 80), { align = "right" })
      end
    end
  end
  local wave = game.tide and "Tide" or "Wave " .. game.wave .. "/" .. #Game.WAVES
  if is_new(panel, "wave", wave) then
    Gui.update_text(gui, panel.wave, wave, nil, 22, nil, Vector3(310, 31, 3), FAINT)
  end
  if is_new(panel, "call", game.phase) then
    local position = Vector3(WAVE.x + WAVE.wide / 2, TOP + 22, 3)
    local ready = game.phase ~= "wave"
    Gui.update_text(gui, panel.call, CALLS[game.phase], nil, 21, nil, position,
      ready and TEXT or FAINT, { align = "center" })
    change_edge(gui, panel.edge, WAVE.x, WAVE.wide, ready and GOLD or EDGE, ready and 2 or 1)
  end
  if is_new(panel, "chosen", chosen) then
    for i, edge in ipairs(panel.edges) do
      local is_chosen = i == chosen
      change_edge(gui, edge, card(i), CARD_WIDE, is_chosen and Scenery.LIGHTS[i] or EDGE,
        is_chosen and 2.5 or 1)
    end
  end
end

---Returns the item at a point of the panel: "wave", the number of a tower's kind, or nil.
---@return string|integer|nil
function Panel.at(x, y)
  if y < TOP or y > TOP + CARD_TALL then return nil end
  if x >= WAVE.x and x <= WAVE.x + WAVE.wide then return "wave" end
  for i in ipairs(Towers.KINDS) do
    if x >= card(i) and x <= card(i) + CARD_WIDE then return i end
  end
end

return Panel
