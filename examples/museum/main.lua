-- A museum with two floors and 300 visitors, who walk from exhibit to exhibit. The player
-- opens and closes its doors. The engine calls init() once, then update(dt) and render() in every
-- frame. Metres, z up, y north.
local Doors = require "doors"
local Eye = require "eye"
local Hud = require "hud"
local Lift = require "lift"
local Visitors = require "visitors"

local world, level, mesh ---@type World, Level, NavigationMesh

-- Restarts everything: a level ends together with its units.
local function restart()
  Visitors.remove_all()
  if level then World.destroy_level(world, level) end
  level = World.spawn_level(world, "levels/museum")
  mesh = assert(Level.navigation_mesh(level))
  Doors.begin(mesh, level)
  Lift.begin(level)
  Visitors.begin(world, mesh)
  Eye.begin(world)
end

function init()
  world = Application.main_world()
  World.set_sky(world, { top = Color(96, 140, 196), horizon = Color(206, 210, 206),
    ground = Color(136, 128, 114), shown = true })
  restart()
end

function update(dt)
  if Input.pressed("restart") then restart() end
  Doors.update(dt, Eye.camera)
  Lift.update(dt)
  Visitors.update(dt)
  Visitors.show()
  if Hud.shows_mesh() then NavigationMesh.draw(mesh) end
  World.update(world, dt)
  Eye.update(dt)
  -- A replay compares these numbers in each frame.
  Application.hash(Visitors.seen, Visitors.inside, Lift.height)
end

function render()
  Hud.draw(Visitors, Doors)
  Application.render_world(world, Eye.camera)
end
