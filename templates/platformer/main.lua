-- A platformer. The engine calls init() once, then update(dt) and render() in every frame. The
-- level is in game.lua, the hero in hero.lua, the enemy in slime.lua, the menus in menu.lua.
local Game = require "game"
local Menu = require "menu"

local menu ---@type table?

local function play()
  menu = nil
  Game.start()
end

local title = Menu.new("game_template", { { "Play", play }, { "Quit", Application.quit } })
local pause = Menu.new("Pause", {
  { "Continue", function() menu = nil end },
  { "Restart", play },
  { "Quit", Application.quit },
})
local won = Menu.new("You made it!", { { "Play again", play }, { "Quit", Application.quit } })
local over = Menu.new("Game over", { { "Try again", play }, { "Quit", Application.quit } })

-- The menu that is open, for the tests.
function open_menu() return menu end

function init()
  Input.set_actions({
    move = { negative = { "left", "a", "pad:d left" }, positive = { "right", "d", "pad:d right" },
      axis = { "pad:left.x" } },
    jump = { "space", "up", "w", "pad:a" },
    drop = { "down", "s", "pad:d down", "pad:left.y-" },
    pause = { "escape", "p", "pad:start" },
    previous = { "up", "w", "pad:d up", "pad:left.y+" },
    following = { "down", "s", "pad:d down", "pad:left.y-" },
    choose = { "enter", "space", "pad:a" },
  })
  Game.start()
  menu = title
end

function update(dt)
  if menu then
    menu:update()
  elseif Input.pressed("pause") then
    menu = pause
  else
    Game.update(dt)
    if Game.state == "won" then menu = won elseif Game.state == "over" then menu = over end
  end
  if menu == title then Game.idle(dt) end
  Application.hash(Game.coins, Game.lives, Game.time) -- compared by replays of a recording
end

function render()
  if menu ~= title then Game.draw(Game.gui) end
  if menu then menu:draw(Game.gui) end
  Game.render()
end
