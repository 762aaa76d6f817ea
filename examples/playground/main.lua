-- A hall full of barrels, and what physics does to them. The engine calls init() once, then
-- update(dt) and render() in every frame. Each module below has one task; this file calls them in
-- order. Metres and kilograms, z up, y forward.
local Barrels = require "barrels"
local Eye = require "eye"
local Hand = require "hand"
local Hud = require "hud"
local Impacts = require "impacts"
local Pace = require "pace"
local Walker = require "walker"

local world, level ---@type World, Level
local shapes = false

-- Restarts everything: a level ends together with its units.
local function restart()
  if level then World.destroy_level(world, level) end
  level = World.spawn_level(world, "levels/hall")
  Barrels.spawn(world, level)
  Walker.begin(Level.unit(level, "walker"))
  Eye.begin(world)
end

function init()
  world = Application.main_world()
  World.set_sky(world, { top = Color(74, 112, 172), horizon = Color(156, 170, 196),
    ground = Color(104, 84, 66), shown = true })
  restart()
end

function update(dt)
  if Input.pressed("restart") then restart() end
  if Input.pressed("slow") then Pace.toggle() end
  if Input.pressed("shapes") then
    shapes = not shapes
    PhysicsWorld.set_debug_draw(World.physics_world(world), shapes)
  end
  -- The eye and the hand belong to the player and run in real time; the world may be slower.
  local step = Pace.step(dt)
  Walker.update(step, Eye.yaw)
  Hand.update(dt, world, Eye.camera)
  World.update(world, step)
  Eye.update(dt, Walker.position())
  Impacts.update(world)
  Barrels.fetch()
  if not Level.is_point_inside_volume(level, "inside", Walker.position()) then restart() end
end

function render()
  Hud.draw(world, shapes)
  Application.render_world(world, Eye.camera)
end
