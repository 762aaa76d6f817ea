-- A level: its world, map, camera, coins and enemies, and the state of the game.
local Camera2D = require "core/camera_2d"
local Hero = require "hero"
local Slime = require "slime"

local Game = { state = "playing", coins = 0, lives = 3 }

local LEVEL, LIVES = "units/level_1", 3
local COIN_REACH, GOAL_REACH = 1, 1
local UNITS = { coin = "units/coin", slime = "units/slime", goal = "units/goal" }

local world, physics, camera, map ---@type World, PhysicsWorld, table, Tilemap
local start ---@type Vector3
local coins, slimes, goal = {}, {}, nil ---@type Unit[], table[], Unit

local function sound(name)
  Sound.trigger(world, "sounds/" .. name, { pitch = 0.95 + 0.1 * Math.random() })
end

-- Shows the frames of a spark once.
local function sparkle(position)
  local unit = World.spawn_unit(world, "units/spark", position)
  Timer.after(0.24, function()
    if Unit.alive(unit) then World.destroy_unit(world, unit) end
  end)
end

function Game.start()
  if world then Application.release_world(world) end
  world = Application.new_world("2d")
  physics = World.physics_world(world)
  World.set_sky(world, { tone_mapping = false }) -- the colours of the pictures, unchanged
  Game.world, Game.physics, Game.sound = world, physics, sound
  Game.gui = World.create_screen_gui(world, "immediate")
  Game.state, Game.coins, Game.lives, Game.time = "playing", 0, LIVES, 0
  local level = World.spawn_unit(world, LEVEL)
  map = Unit.tilemap(level, 1)
  coins, slimes = {}, {}
  Game.slimes = slimes
  for _, unit in ipairs(Tilemap.spawn_units(map, UNITS)) do
    local kind = Unit.get_data(unit, "object").type
    if kind == "coin" then
      coins[#coins + 1] = unit
    elseif kind == "slime" then
      slimes[#slimes + 1] = Slime.new(unit, Game)
    else
      goal = unit
    end
  end
  Game.coins_of_level = #coins
  for _, object in ipairs(Tilemap.objects(map)) do
    if object.type == "player" then start = Tilemap.world_position(map, object.x, object.y) end
  end
  Game.hero = Hero.new(World.spawn_unit(world, "units/hero", start), Game)
  local width, height = Tilemap.size(map) -- a tile is a metre: 16 texels, as in the unit's file
  camera = Camera2D.new(world, { height = 15, smoothing = 0.1, dead_zone = { 2, 1.5 },
    offset = { 0, 1.5 }, limits = { 0, 0, width, height }, pixel_snap = true })
  camera:follow(Game.hero.unit)
  camera:snap()
end

-- Returns true if a point is in water or spikes, or below the level.
function Game.is_deadly(position)
  if position.y < -1 then return true end
  local column, row = Tilemap.cell_at_position(map, position)
  local tile = Tilemap.tile(map, "ground", column, row)
  return tile ~= 0 and Tilemap.tile_properties(map, tile).type == "hazard"
end

-- Returns left and right of the level in metres.
function Game.sides()
  return 0, (Tilemap.size(map))
end

local function collect(hero)
  local middle = hero.position + Vector3(0, 0.6, 0)
  for i = #coins, 1, -1 do
    local position = Unit.local_position(coins[i], 1)
    if Vector3.distance(position, middle) < COIN_REACH then
      World.destroy_unit(world, coins[i])
      table.remove(coins, i)
      Game.coins = Game.coins + 1
      sound("coin")
      sparkle(position)
    end
  end
end

local function fight(hero)
  for i = #slimes, 1, -1 do
    local slime = slimes[i]
    local hit = slime:touch(hero)
    if hit == "stomped" then
      hero:bounce()
      sound("stomp")
      camera:shake(0.12, 0.2)
      slime:flatten()
      table.remove(slimes, i)
    elseif hit == "hurt" then
      hero:hurt()
    end
  end
end

-- The hero fell out of the view: another life, or the end.
local function lose_life(hero)
  Game.lives = Game.lives - 1
  if Game.lives == 0 then
    Game.state = "over"
  else
    hero:appear(start)
    camera:snap()
  end
end

function Game.update(dt)
  local hero = Game.hero
  Game.time = Game.time + dt
  hero:update(dt)
  for _, slime in ipairs(slimes) do slime:update(dt) end
  if hero:is_alive() then
    collect(hero)
    fight(hero)
    if Game.is_deadly(hero.position + Vector3(0, 0.3, 0)) then hero:hurt() end
    if Vector3.distance(Unit.local_position(goal, 1), hero.position) < GOAL_REACH then
      Game.state = "won"
      sound("win")
    end
  elseif hero.position.y < -3 then
    lose_life(hero)
  end
  World.update(world, dt)
  camera:update(hero:is_alive() and dt or 0)
end

-- Behind the title, only pictures move.
function Game.idle(dt)
  World.update(world, dt)
end

-- Draws the hearts and the number of coins.
function Game.draw(gui)
  local _, height = Gui.resolution()
  for i = 1, LIVES do
    local frame = i <= Game.lives and "textures/heart/1" or "textures/heart/2"
    Gui.bitmap(gui, frame, Vector3(16 + (i - 1) * 44, height - 64, 5), Vector2(48, 48))
  end
  Gui.bitmap(gui, "textures/coin/1", Vector3(164, height - 64, 5), Vector2(48, 48))
  Gui.text(gui, ("%d / %d"):format(Game.coins, Game.coins_of_level), nil, 32, nil,
    Vector3(216, height - 51, 5), Color(255, 247, 232),
    { shadow = Vector2(2, -2), shadow_color = Color(43, 36, 64) })
end

function Game.render()
  Application.render_world(world, camera.camera)
end

return Game
