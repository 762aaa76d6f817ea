-- Beetles come out of their burrows and walk to the lamp; towers stop them. The rules are in
-- game.lua, the 2,000 beetles in crowd.lua. This file has the input, the picture and the sounds.
local Game = require "game"
local Map = require "map"
local Panel = require "panel"
local Scenery = require "scenery"
local Statistics = require "statistics"
local Towers = require "towers"
local View = require "view"

-- Guis are shown in the order of their creation. Retained Guis have the static objects, immediate
-- Guis the moving ones.
local ground, moving, standing, sky, front ---@type Gui, Gui, Gui, Gui, Gui
local panel ---@type table
local chosen, seconds, message, message_until = 1, 0, "", 0
local width, height, scale, left, bottom

-- Global, so that the console (the key left of 1) and the tests can read and change it:
-- `game.money = 9999`.
game = nil ---@type Game

local function begin()
  game = Game.new()
  Gui.reset(standing)
  Scenery.standing(standing, game.map)
end

function init()
  local world = Application.main_world()
  ground, moving = World.create_screen_gui(world), World.create_screen_gui(world, "immediate")
  standing, sky = World.create_screen_gui(world), World.create_screen_gui(world, "immediate")
  front = World.create_screen_gui(world)
  Input.set_actions({
    spark = { "1" }, frost = { "2" }, star = { "3" }, next_wave = { "space", "enter" },
    act = { "mouse:left" }, tide = { "t" }, again = { "r" }, statistics = { "g" },
  })
  begin()
  Scenery.ground(ground, game.map)
  panel = Panel.new(front)
  if Application.argv() == "tide" then Game.turn_tide(game) end
end

-- The layout is for 1280 x 720. It is moved and scaled to the middle of the window as a whole: the
-- pose of a Gui does that for all its objects.
local function fit()
  local w, h = Gui.resolution()
  if w == width and h == height then return end
  width, height, scale = w, h, math.min(w / Map.WIDTH, h / (Map.HEIGHT + Panel.HEIGHT))
  left, bottom = (w - Map.WIDTH * scale) / 2, (h - (Map.HEIGHT + Panel.HEIGHT) * scale) / 2
  local size, turn = Vector3(scale, scale, scale), Quaternion.identity()
  local function pose(up)
    local position = Vector3(left, 0, bottom + up * scale)
    return Matrix4x4.from_quaternion_position_scale(turn, position, size)
  end
  for _, gui in ipairs({ ground, moving, standing, sky }) do
    Gui.move(gui, pose(Panel.HEIGHT))
  end
  Gui.move(front, pose(0))
end

-- Returns the cursor's position in the garden (y is negative over the panel).
local function cursor()
  local position = Mouse.axis("cursor")
  return (position.x - left) / scale, (position.y - bottom) / scale - Panel.HEIGHT
end

local function show_message(text)
  message, message_until = text, seconds + 2.5
end

local function call()
  if Game.call(game) then show_message("Wave " .. game.wave) end
end

local function click(x, y)
  local under = Panel.at(x, y + Panel.HEIGHT)
  if under == "wave" then
    call()
  elseif type(under) == "number" then
    chosen = under
  elseif Map.has(x, y) then
    local tower, refusal = Game.build(game, chosen, Map.cell_at(x, y))
    if tower then
      Scenery.tower(standing, tower)
    else
      show_message(refusal)
      game.heard.refuse = true
    end
  end
end

local function play()
  for i, kind in ipairs(Towers.KINDS) do
    if Input.pressed(kind.name) then chosen = i end
  end
  if Input.pressed("statistics") then Statistics.turn() end
  if Input.pressed("next_wave") then call() end
  if Input.pressed("tide") then Game.turn_tide(game) end
  if Input.pressed("again") and (game.phase == "won" or game.phase == "lost") then begin() end
  if Input.pressed("act") then click(cursor()) end
end

function update(dt)
  seconds = seconds + dt
  fit()
  play()
  -- Long frames are split into short steps. Below ten frames a second the game slows down.
  local steps = math.ceil(math.min(dt, 0.1) * 30)
  for _ = 1, steps do
    Game.update(game, math.min(dt, 0.1) / steps)
  end
  for sound in Script.sorted_pairs(game.heard) do
    Sound.trigger(Application.main_world(), "sounds/" .. sound)
    game.heard[sound] = nil
  end
  Panel.update(panel, game, chosen)
  -- A replay must have the same sum: it changes if any beetle is elsewhere.
  Application.hash(game.crowd.count, game.crowd.checksum, game.money, game.lives)
end

function render()
  View.lamp(moving, game.map, game.lives / Game.LIVES, seconds)
  View.crowd(moving, game.crowd, seconds)
  View.effects(sky, game.effects)
  local x, y = cursor()
  if Map.has(x, y) and (game.phase == "build" or game.phase == "wave") then
    local cell = Map.cell_at(x, y)
    if Game.has_room(game, cell) then
      View.plan(sky, Towers.KINDS[chosen], Scenery.LIGHTS[chosen], cell,
        game.money >= Towers.KINDS[chosen].price)
    end
  end
  View.message(sky, message, message_until - seconds)
  Application.render_world(Application.main_world())
end
