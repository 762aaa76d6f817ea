-- A square with twenty people, and a player who walks, runs, jumps, dives, aims and throws balls.
-- The engine calls init() once, then update(dt) and render() each frame. Metres, z up, y forward.
local Balls = require "balls"
local Eye = require "eye"
local Hero = require "hero"
local Hud = require "hud"
local Strollers = require "strollers"

local world, level ---@type World, Level

-- Restarts everything: a level ends together with its units.
local function restart()
  Balls.remove_all()
  Hud.hits = 0
  if level then World.destroy_level(world, level) end
  level = World.spawn_level(world, "levels/square")
  Strollers.spawn(world)
  Hero.begin(Level.unit(level, "hero"))
  Eye.begin(world)
end

function init()
  world = Application.main_world()
  World.set_sky(world, { top = Color(84, 126, 190), horizon = Color(214, 196, 180),
    ground = Color(128, 112, 92), shown = true })
  restart()
end

function update(dt)
  if Input.pressed("restart") then restart() end
  Hero.update(dt, Eye)
  Strollers.update(dt, Hero.figure)
  World.update(world, dt)
  Hud.hits = Hud.hits + Balls.update(world, Strollers)
  Eye.update(dt, Hero.position())
  -- A replay compares these numbers in each frame.
  local hero = Hero.position()
  Application.hash(Hud.hits, #Balls.all, hero.x, hero.y, hero.z)
  if not Level.is_point_inside_volume(level, "inside", Hero.position()) then restart() end
end

-- The engine calls this at the end of World.update.
function on_animation_event(unit, event)
  local person = Strollers.of(unit)
  if person then
    person.figure:on_event(event)
  elseif unit == Hero.figure.unit then
    Hero.on_event(event, Balls)
  end
end

function render()
  Hud.draw()
  Application.render_world(world, Eye.camera)
end
