-- Objects that calls work on: a live object of each kind, created again after a call ended it, and
-- the handle of an ended one.
local M = {}

local things = {} -- the live object of each kind
local gone = {} -- the handle of an ended object of each kind

local function unit(name, position)
  return World.spawn_unit(M.get("World"), name, position or Vector3(0, 0, 2))
end

-- Returns a part of the unit, which is spawned again if a call removed the part.
local function part(find)
  local fine, found = pcall(find, M.get("Unit"))
  if fine and found then return found end
  World.destroy_unit(M.get("World"), M.get("Unit"))
  return find(M.get("Unit"))
end

local makers = {
  World = function()
    local world = Application.new_world()
    World.spawn_unit(world, "units/physics/floor")
    World.create_particles(world, "particles/fire")
    return world
  end,
  Unit = function() return unit("units/all") end,
  Walker = function() return unit("units/physics/walker") end,
  Level = function() return World.spawn_level(M.get("World"), "levels/yard") end,
  Camera = function() return part(function(unit) return Unit.camera(unit, 1) end) end,
  Decal = function() return part(function(unit) return Unit.decal(unit, 1) end) end,
  Light = function() return part(function(unit) return Unit.light(unit, 1) end) end,
  LightOccluder = function()
    return part(function(unit) return Unit.light_occluder(unit, 1) end)
  end,
  Mesh = function() return part(function(unit) return Unit.mesh(unit, 1) end) end,
  Sprite = function() return part(function(unit) return Unit.sprite(unit, 1) end) end,
  Tilemap = function() return Tilemap.new("maps/cave") end,
  Actor = function() return part(function(unit) return Unit.actor(unit, "body") end) end,
  Joint = function() return part(function(unit) return Unit.joint(unit, "hinge") end) end,
  Mover = function() return Unit.set_mover(M.get("Walker"), "standing") end,
  Gui = function() return World.create_screen_gui(M.get("World")) end,
  GuiObject = function() return Gui.rect(M.get("Gui"), Vector3(0, 0, 0), Vector2(1, 1)) end,
  Material = function() return Material.new("pictures/wave") end,
  Viewport = function() return Application.create_viewport("seen", 64, 64) end,
  Window = function() return Window.open() end,
  LineObject = function() return World.create_line_object(M.get("World")) end,
  ParticleEffect = function() return World.create_particles(M.get("World"), "particles/fire") end,
  Broadphase = function() return Broadphase.new(1) end,
  NavigationMesh = function()
    local points = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0 }
    return NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 })
  end,
  NavigationGrid = function() return NavigationGrid.create(8, 8) end,
  Agent = function() return Agent.create(M.get("NavigationMesh"), Vector3(10, 10, 0)) end,
  PhysicsWorld = function() return World.physics_world(M.get("World")) end,
  SoundWorld = function() return World.sound_world(M.get("World")) end,
  PhysicsSnapshot = function() return PhysicsWorld.snapshot(M.get("PhysicsWorld")) end,
  Raycast = function()
    return PhysicsWorld.make_raycast(M.get("PhysicsWorld"), function() end, "all")
  end,
  ResourcePackage = function() return Application.resource_package("data/set") end,
  Voice = function() return Sound.trigger(M.get("World"), "sounds/engine") end,
  Worker = function()
    return Worker.start("modules/worker_jobs", { job = "echo", value = 1 })
  end,
  Counter = function() return Stats.counter("walk/counter") end,
  Localizer = function() return Localizer("data/menu") end,
}

-- Calls that show that an object exists, for modules without `alive`.
local questions = {
  PhysicsWorld = PhysicsWorld.gravity, SoundWorld = SoundWorld.num_voices,
  LineObject = LineObject.reset, Broadphase = Broadphase.num,
  ResourcePackage = ResourcePackage.name, Worker = Worker.status,
  ParticleEffect = function(effect)
    assert(World.are_particles_playing(M.get("World"), effect))
  end,
  Walker = function(unit) assert(Unit.alive(unit)) end,
  PhysicsSnapshot = function() error("is created again for each call") end,
}

local enders = {
  Agent = Agent.destroy, NavigationGrid = NavigationGrid.destroy,
  NavigationMesh = NavigationMesh.destroy,
  Broadphase = Broadphase.destroy, Tilemap = Tilemap.destroy, Material = Material.destroy,
  Viewport = Application.destroy_viewport, Window = Window.close, Voice = Sound.stop,
  ResourcePackage = Application.release_resource_package, Worker = Worker.cancel,
}

local function alive(kind, thing)
  local module = _G[kind]
  if type(module) == "table" and rawget(module, "alive") then return module.alive(thing) end
  return not questions[kind] or pcall(questions[kind], thing)
end

-- Returns the live object of a kind.
function M.get(kind)
  local thing = things[kind]
  if thing == nil or not alive(kind, thing) then
    thing = makers[kind]()
    things[kind] = thing
  end
  return thing
end

-- Returns the handle of an ended object, or nil.
function M.gone(kind) return gone[kind] end

function M.has(kind) return makers[kind] ~= nil end

-- Ends all objects, including those created by calls.
function M.clear()
  local ended = things
  things = {}
  for kind, ender in pairs(enders) do
    if ended[kind] then pcall(ender, ended[kind]) end
  end
  for _, world in ipairs(Application.worlds()) do
    if world ~= Application.main_world() then Application.release_world(world) end
  end
end

-- Returns a unit on which characters can stand.
function M.platform_unit()
  local unit = World.spawn_unit(M.get("World"), "core/units/empty", Vector3(22, 10, 0))
  Unit.create_actor(unit, "floor", { type = "kinematic", shape = "box", size = { 4, 4, 1 } })
  return unit
end

-- Returns a new platform of the navigation mesh.
function M.new_platform()
  return NavigationMesh.create_platform(M.get("NavigationMesh"), M.platform_unit())
end

local latest

-- Returns a platform without stops, and ends the one before it.
function M.fresh_platform()
  if NavigationMesh.alive(latest) then NavigationMesh.destroy(latest) end
  latest = M.new_platform()
  return latest
end

local platform

-- Returns a platform with a stop, which stays until a call ends it.
function M.platform()
  if not NavigationMesh.alive(platform) then
    platform = M.new_platform()
    NavigationMesh.add_stop(platform, "quay", Vector3(19, 10, 0), Vector3(-1, 0, 0.5))
  end
  return platform
end

-- Sets up the state that lasts for the whole walk.
function M.settle()
  pcall(Sound.start_clock, "walk", 120)
  Input.set_actions({ jump = { "space" } })
  Application.set_time_step_policy("clear_history", "no_throttle", "external_multiplier", 1)
end

function M.start()
  Application.main_world()
  M.settle()
  local kinds = {}
  for kind in pairs(makers) do kinds[#kinds + 1] = kind end
  table.sort(kinds)
  for _, kind in ipairs(kinds) do
    local thing = M.get(kind)
    if type(thing) == "number" then gone[kind] = thing end
  end
  M.clear()
end

return M
