-- Calls that exceed the limits of functions, for limits that no extreme argument of the walk
-- exceeds, so that each limit is reached once.
local fixtures = require("fixtures")
local ordinary = require("ordinary")

local M = {}

local ORIGIN, ALONG = Vector3(0, 0, 0), Vector3(1, 0, 0)

-- Numbers of ordinary calls in a row that exceed the limit.
M.times = {
  ["Application.create_camera"] = 1025, ["Application.new_world"] = 65,
  ["Application.resource_package"] = 4097, ["Gui.push"] = 65, ["Gui.push_clip"] = 65,
  ["Gui.push_blend"] = 65,
  ["Material.new"] = 4097, ["PhysicsWorld.snapshot"] = 65, ["Timer.after"] = 100001,
  ["Timer.every"] = 100001, ["Tween.to"] = 100001, wait = 100001, wait_frames = 100001,
  ["Window.open"] = 9, ["Worker.start"] = 17, ["World.create_line_object"] = 1025,
}

-- Functions that destroy the results of such calls, for objects that are not destroyed with a
-- world.
M.enders = {
  ["Application.create_camera"] = Application.destroy_camera,
  ["Application.resource_package"] = Application.release_resource_package,
  ["Material.new"] = Material.destroy, ["Window.open"] = Window.close,
  ["Worker.start"] = Worker.cancel,
  ["World.create_line_object"] = function(object)
    World.destroy_line_object(fixtures.get("World"), object)
  end,
}

-- Combines functions that need the same state to exceed their limits: `make` creates the state once
-- and returns the errors of all functions by name.
local function together(make)
  local problems
  return function(name)
    return function()
      problems = problems or make()
      error(problems[name], 0)
    end
  end
end

local function distinct(count, make)
  return function()
    for i = 1, count do make("walk" .. i, i) end
  end
end

-- Returns a function that creates `count` objects, or as many as fit, then calls `another`, and
-- destroys the objects again.
local function filled(count, make, ender, another)
  return function()
    local made, fine, thing = {}, nil, nil
    for i = 1, count do
      fine, thing = pcall(make, i)
      if not fine then break end
      made[i] = thing
    end
    if another then fine, thing = pcall(another) end
    for i = 1, #made do ender(made[i]) end
    if not fine then error(thing, 0) end
  end
end

-- Some functions drop the excess above their limit without an error. Their calls check the result,
-- and raise an error with the limit's name themselves.
local function left_out(limit, is_so)
  error(is_so and limit .. ": what is above it is left out" or "nothing is left out", 0)
end

local function end_gui(gui) World.destroy_gui(fixtures.get("World"), gui) end

-- 96 MiB of data; the limit is 64 MiB.
local third
local function giant()
  third = third or ("x"):rep(2 ^ 25)
  return { third, third, third }
end
local function long() return ("x"):rep(2 ^ 22 + 1) end
local function categories(count)
  local names = {}
  for i = 1, count do names[i] = "walk" .. i end
  return names
end

local function nested() return ("["):rep(513) end

-- Calls in a world with the maximum number of units.
local populated = together(function()
  local world, places, problems = Application.new_world(), {}, {}
  local empty = "core/units/empty"
  for i = 1, 1024 do places[i] = ORIGIN end
  for _ = 1, 256 do pcall(World.spawn_units, world, empty, places) end
  for _ = 1, 1024 do
    if not pcall(World.spawn_unit, world, empty) then break end
  end
  for name, arguments in pairs({
    spawn_level = { "levels/yard" }, spawn_unit = { empty }, spawn_units = { empty, places },
  }) do
    local _, problem = pcall(World[name], world, unpack(arguments))
    problems[name] = problem
  end
  Application.release_world(world)
  return problems
end)

-- Calls a function with the physics world of 4100 actors in a row, of which each query returns
-- 4096.
local function in_crowd(ask)
  local world = Application.new_world()
  for i = 0, 4 do
    local unit = World.spawn_unit(world, "core/units/empty")
    for k = 1, 820 do
      Unit.create_actor(unit, "walk" .. k, { type = "static", shape = "sphere", radius = 1,
        position = Vector3((i * 820 + k) / 100, 0, 0) })
    end
  end
  World.update(world, 1 / 60)
  local fine, problem = pcall(ask, World.physics_world(world))
  -- Queued queries are answered here.
  World.update(world, 1 / 60)
  Application.release_world(world)
  if not fine then error(problem, 0) end
end

local function crowded(ask)
  return function()
    local count
    in_crowd(function(physics) ask(physics, function(_, number) count = number end) end)
    left_out("HITS_MAX", count == 4096)
  end
end

-- Requests the maximum number of hits, then one more, which is refused.
local function swept(sweep)
  return function()
    in_crowd(function(physics)
      left_out("HITS_MAX", #sweep(physics, 4096) == 4096 and not pcall(sweep, physics, 4097))
    end)
  end
end

-- Creates a body with one point too many.
local function long_chain(spawn)
  return function()
    local points, point = {}, Vector2(0, 0)
    for i = 1, 2 ^ 20 + 1 do points[i] = point end
    spawn(fixtures.get("PhysicsWorld"), points)
  end
end

-- Draws with one point too many.
local function pointed(draw, of)
  return function()
    local points = {}
    for i = 1, 4097 do points[i] = Vector2(i, i % 2) end
    draw(fixtures.get(of or "Gui"), points)
  end
end

-- A value that is not a number is an error among the first 4096 values, and is ignored after them.
local function plotted(plot)
  return function()
    local values = {}
    for i = 1, 4096 do values[i] = i end
    values[4097] = "walk"
    plot("walk", values)
    values[4096] = "walk"
    left_out("POINTS_MAX", not pcall(plot, "walk", values))
  end
end

-- Endless matching steps: each letter can be part of any of the repetitions.
local function searched(search)
  return function() search(("a"):rep(2000), ("a*"):rep(8) .. "b") end
end

-- Calls with the maximum number of sound parameters.
local parametrized = together(function()
  local voice, problems = Sound.trigger(fixtures.get("World"), "sounds/engine"), {}
  for i = 1, 16385 do
    if not pcall(Sound.set_global_parameter, "walk" .. i, 1) then break end
  end
  for name, arguments in pairs({
    set_bus_parameter = { "master", "walk", 1 }, set_global_parameter = { "walk", 1 },
    set_parameter = { voice, "speed", 1 },
  }) do
    local _, problem = pcall(Sound[name], unpack(arguments))
    problems[name] = problem
  end
  return problems
end)

-- Calls in a prism that fills a very small part of its bounding rectangle.
local function thin(draw)
  return function()
    local level = World.spawn_level(fixtures.get("World"), "levels/thin")
    local one, other = draw(level, 1), draw(level, 2)
    left_out("TRIES_MAX", one.x == other.x and one.y == other.y)
  end
end

-- The calls that exceed a limit, by function.
M.calls = {
  ["Application.console_send"] = function()
    Application.console_send({ type = "walk", text = long() })
  end,
  ["Application.set_time_step_policy"] = function()
    Application.set_time_step_policy("smoothing", 257, 0, 1)
  end,
  -- The limits of spheres and of categories.
  ["Broadphase.add"] = function()
    local broadphase = Broadphase.new(1)
    local _, balls = pcall(function()
      for i = 1, 2 ^ 20 + 1 do Broadphase.add(broadphase, i, ORIGIN, 1) end
    end)
    Broadphase.destroy(broadphase)
    broadphase = Broadphase.new(1)
    local _, names = pcall(Broadphase.add, broadphase, 1, ORIGIN, 1, unpack(categories(33)))
    Broadphase.destroy(broadphase)
    error(balls .. "; " .. names, 0)
  end,
  ["Broadphase()"] = filled(257, function() return Broadphase(1) end, Broadphase.destroy),
  ["Broadphase.new"] = filled(257, function() return Broadphase.new(1) end, Broadphase.destroy),
  ["Agent.create"] = filled(16385, function()
    return Agent.create(fixtures.get("NavigationMesh"), Vector3(10, 10, 0))
  end, Agent.destroy),
  ["Agent.set_area_cost"] = filled(17, function(i)
    local agent = Agent.create(fixtures.get("NavigationMesh"), Vector3(10, 10, 0))
    return Agent.set_area_cost(agent, 2, i) or agent
  end, Agent.destroy),
  ["NavigationGrid.create"] = function()
    local _, size = pcall(NavigationGrid.create, 2049, 1)
    local _, count = pcall(filled(257, function() return NavigationGrid.create(1, 1) end,
      NavigationGrid.destroy))
    error(tostring(size) .. "; " .. tostring(count), 0)
  end,
  ["NavigationGrid.find_path_async"] = filled(16385, function()
    return NavigationGrid.find_path_async(fixtures.get("NavigationGrid"), 1, 1, 8, 8, print)
  end, function(path) NavigationGrid.cancel_path(fixtures.get("NavigationGrid"), path) end),
  ["NavigationMesh.add_box"] = filled(4097, function()
    return NavigationMesh.add_box(fixtures.get("NavigationMesh"), 0, Vector3(99, 0, 0),
      Vector3(1, 1, 1))
  end, function(volume) NavigationMesh.remove_volume(fixtures.get("NavigationMesh"), volume) end),
  ["NavigationMesh.add_convex"] = filled(4097, function()
    return NavigationMesh.add_convex(fixtures.get("NavigationMesh"), 0,
      { 99, 0, 0, 100, 0, 0, 99, 1, 0 }, 1)
  end, function(volume) NavigationMesh.remove_volume(fixtures.get("NavigationMesh"), volume) end),
  ["NavigationMesh.add_cylinder"] = filled(4097, function()
    return NavigationMesh.add_cylinder(fixtures.get("NavigationMesh"), 0, Vector3(99, 0, 0), 1, 1)
  end, function(volume) NavigationMesh.remove_volume(fixtures.get("NavigationMesh"), volume) end),
  ["NavigationMesh.add_link"] = filled(4097, function()
    return NavigationMesh.add_link(fixtures.get("NavigationMesh"), ORIGIN, ALONG)
  end, function(link) NavigationMesh.remove_link(fixtures.get("NavigationMesh"), link) end),
  ["NavigationMesh.create_from_triangles"] = filled(65, function()
    return NavigationMesh.create_from_triangles({ 0, 0, 0, 1, 0, 0, 0, 1, 0 }, { 1, 2, 3 })
  end, NavigationMesh.destroy),
  ["NavigationMesh.find_path_async"] = filled(16385, function()
    local position = Vector3(10, 10, 0)
    return NavigationMesh.find_path_async(fixtures.get("NavigationMesh"), position, position, print)
  end, function(path) NavigationMesh.cancel_path(fixtures.get("NavigationMesh"), path) end),
  ["Tilemap.new"] = filled(1025, function() return Tilemap.new("maps/cave") end, Tilemap.destroy),
  ["World.create_screen_gui"] = filled(1025, function()
    return World.create_screen_gui(fixtures.get("World"))
  end, end_gui),
  ["World.create_world_gui"] = filled(1025, function()
    return World.create_world_gui(fixtures.get("World"), Matrix4x4(), 1, 1)
  end, end_gui),
  ["Application.hash"] = function() Application.hash(giant()) end,
  ["Application.open_url_in_browser"] = function()
    Application.open_url_in_browser("https://a.b/" .. long())
  end,
  ["Application.set_property_preference_order"] = function()
    Application.set_property_preference_order(unpack(categories(100)))
  end,
  ["DebugUi.plot_histogram"] = plotted(DebugUi.plot_histogram),
  ["DebugUi.plot_lines"] = plotted(DebugUi.plot_lines),
  ["Float32Array.interleave"] = function()
    local sources, array = {}, Float32Array(1024)
    for i = 1, 2 ^ 16 + 1 do sources[i] = array end
    Float32Array.interleave(sources)
  end,
  ["Float32Array.push"] = function() Float32Array.push(Float32Array(2 ^ 26), 1) end,
  ["Gui.material"] = filled(4097, function() return Material.new("pictures/wave") end,
    Material.destroy, function() Gui.material(fixtures.get("Gui"), "textures/packed") end),
  ["Gui.polygon"] = pointed(Gui.polygon),
  ["Gui.polyline"] = pointed(function(gui, points) Gui.polyline(gui, points, 1) end),
  ["Gui.polygon_uv"] = pointed(function(gui, points) Gui.polygon_uv(gui, nil, points) end),
  ["Gui.update_polygon"] = pointed(function(gui, points) Gui.update_polygon(gui, 1, points) end),
  ["Gui.update_polygon_uv"] = pointed(function(gui, points)
    Gui.update_polygon_uv(gui, 1, nil, points)
  end),
  ["Gui.update_polyline"] = pointed(function(gui, points)
    Gui.update_polyline(gui, 1, points, 1)
  end),
  ["Gui.begin_mask"] = function()
    local gui = World.create_screen_gui(fixtures.get("World"), "immediate")
    local _, problem = pcall(function()
      for _ = 1, 65 do
        Gui.begin_mask(gui)
        Gui.end_mask(gui)
        Gui.pop_mask(gui)
      end
    end)
    end_gui(gui)
    error(problem, 0)
  end,
  ["Gui.create_particles"] = filled(16384, function()
    return World.create_particles(fixtures.get("World"), "particles/puff")
  end, function(id) World.destroy_particles(fixtures.get("World"), id) end, function()
    Gui.create_particles(fixtures.get("Gui"), "particles/puff", ORIGIN)
  end),
  ["World.create_particles"] = filled(16385, function()
    return World.create_particles(fixtures.get("World"), "particles/puff")
  end, function(id) World.destroy_particles(fixtures.get("World"), id) end),
  -- No random point hits the prism, so both results are its middle.
  ["Level.next_random_point_inside_volume"] = thin(function(level, seed)
    local _, point = Level.next_random_point_inside_volume(level, seed, "thin")
    return point
  end),
  ["Level.random_point_inside_volume"] = thin(function(level)
    return Level.random_point_inside_volume(level, "thin")
  end),
  ["Window.set_cursor_picture"] = function() Window.set_cursor_picture("textures/wide") end,
  ["Window.set_icon"] = function() Window.set_icon("textures/wide") end,
  ["Image.new"] = function() Image.new(16384, 16384) end,
  ["Image.resize"] = function() Image.resize(Image.new(1, 1), 16384, 16384) end,
  ["SoundBuffer.new"] = function() SoundBuffer.new(1, 8000, 2 ^ 24 + 1) end,
  ["SoundBuffer.to_sound"] = distinct(4097, function(name)
    SoundBuffer.to_sound(SoundBuffer.new(1, 8000, 1), "made/" .. name)
  end),
  ["Json.decode"] = function() Json.decode(nested()) end,
  ["Json.encode"] = function() Json.encode(giant()) end,
  ["Json.try_decode"] = function()
    local _, problem = Json.try_decode(nested())
    error(problem, 0)
  end,
  ["PhysicsWorld.create_joint"] = function()
    local physics, actor = fixtures.get("PhysicsWorld"), fixtures.get("Actor")
    for _ = 1, 2 ^ 14 + 1 do PhysicsWorld.create_joint(physics, "ball", actor) end
  end,
  ["PhysicsWorld.immediate_overlap"] = crowded(function(physics, answer)
    answer(PhysicsWorld.immediate_overlap(physics, "position", ORIGIN, "size", 100))
  end),
  ["PhysicsWorld.immediate_raycast"] = crowded(function(physics, answer)
    answer(PhysicsWorld.immediate_raycast(physics, -2 * ALONG, ALONG, 100, "all"))
  end),
  ["PhysicsWorld.linear_capsule_sweep"] = swept(function(physics, most)
    return PhysicsWorld.linear_capsule_sweep(physics, -9 * ALONG, 99 * ALONG, Vector3(1, 1, 4), nil,
      most)
  end),
  ["PhysicsWorld.linear_obb_sweep"] = swept(function(physics, most)
    return PhysicsWorld.linear_obb_sweep(physics, -9 * ALONG, 99 * ALONG, Vector3(1, 1, 1), nil,
      most)
  end),
  ["PhysicsWorld.linear_sphere_sweep"] = swept(function(physics, most)
    return PhysicsWorld.linear_sphere_sweep(physics, -9 * ALONG, 99 * ALONG, 1, most)
  end),
  ["PhysicsWorld.overlap"] = crowded(function(physics, answer)
    answer(PhysicsWorld.overlap(physics, "position", ORIGIN, "size", 100))
  end),
  ["PhysicsWorld.queue_raycast"] = crowded(function(physics, answer)
    PhysicsWorld.queue_raycast(physics, answer, -2 * ALONG, ALONG, 100, "all")
  end),
  ["PhysicsWorld.raycast"] = crowded(function(physics, answer)
    answer(PhysicsWorld.raycast(physics, -2 * ALONG, ALONG, 100, "all"))
  end),
  ["PhysicsWorld.spawn_chain"] = long_chain(function(physics, points)
    PhysicsWorld.spawn_chain(physics, points)
  end),
  ["PhysicsWorld.spawn_polygon"] = long_chain(function(physics, points)
    PhysicsWorld.spawn_polygon(physics, ORIGIN, points)
  end),
  ["LightOccluder.set_line"] = pointed(LightOccluder.set_line, "LightOccluder"),
  ["LightOccluder.set_polygon"] = pointed(LightOccluder.set_polygon, "LightOccluder"),
  ["World.main_camera"] = function()
    local world = Application.new_world("2d")
    local problem = select(2, pcall(filled(1024, Application.create_camera,
      Application.destroy_camera, function() World.main_camera(world) end)))
    Application.release_world(world)
    error(problem, 0)
  end,
  ["Profiler.record_statistics"] = distinct(2 ^ 14 + 1, function(name)
    Profiler.record_statistics(name, 1)
  end),
  ["Profiler.start"] = distinct(4097, function(name)
    Profiler.start(name)
    Profiler.stop(name)
  end),
  ["Raycast.cast"] = crowded(function(physics, answer)
    local ray = PhysicsWorld.make_raycast(physics, answer, "all")
    Raycast.cast(ray, -2 * ALONG, ALONG, 100)
  end),
  ["Sound.set_bus_parameter"] = parametrized("set_bus_parameter"),
  ["Sound.set_global_parameter"] = parametrized("set_global_parameter"),
  ["Sound.set_parameter"] = parametrized("set_parameter"),
  -- A voice with the same priority replaces another voice; a voice with a lower priority does not
  -- start.
  ["Sound.trigger"] = function()
    local world = fixtures.get("World")
    for _ = 1, 1025 do Sound.trigger(world, "sounds/tone", { priority = 90 }) end
    local lesser = Sound.trigger(world, "sounds/tone", { priority = 10 })
    left_out("VOICES_MAX", Sound.num_voices() == 1024 and lesser == nil)
  end,
  ["Stats.alarm"] = filled(257, function(i)
    Stats.alarm("walk" .. i, 1)
    return "walk" .. i
  end, Stats.remove_alarm),
  ["Stats.counter"] = distinct(2 ^ 14 + 1, function(name) Stats.counter(name) end),
  -- Each name of a render target keeps its number, even if the render target does not fit: two of
  -- these take 2 GiB, which exceeds the engine's memory limit.
  ["Texture.load"] = function()
    local viewport = Application.create_viewport("walk", 16384, 16384)
    for i = 1, 2 ^ 16 do pcall(Application.create_viewport, "other" .. i, 16384, 16384) end
    Application.destroy_viewport(viewport)
    Texture.load("textures/dot")
  end,
  ["World.spawn_level"] = populated("spawn_level"),
  ["World.spawn_unit"] = populated("spawn_unit"),
  ["World.spawn_units"] = populated("spawn_units"),
  -- The speed after falling for eight steps of 1/60 s.
  ["World.update"] = function()
    local world = Application.new_world()
    local unit = World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 1000))
    World.update(world, 60)
    local speed = -Actor.velocity(Unit.actor(unit, 1)).z
    Application.release_world(world)
    left_out("STEPS_MAX", speed > 1.3 and speed < 1.32)
  end,
  ["Sound.start_clock"] = distinct(17, function(name) Sound.start_clock(name, 120) end),
  ["Stats.watch"] = distinct(1025, function(name)
    Stats.counter(name)
    Stats.watch(name)
  end),
  ["Unit.crossfade_animation"] = function()
    local unit = World.spawn_unit(fixtures.get("World"), "models/chest")
    for _ = 1, 17 do
      Unit.crossfade_animation(unit, "Open", 1, 60)
    end
  end,
  ["Unit.start_ragdoll"] = function()
    local unit, bones = World.spawn_unit(fixtures.get("World"), "models/chest"), {}
    for i = 1, 65 do bones[i] = "bone" .. i end
    Unit.start_ragdoll(unit, { bones = bones })
  end,
  ["Unit.create_actor"] = distinct(1025, function(name)
    Unit.create_actor(fixtures.get("Unit"), name, { shape = "sphere", radius = 1, type = "static" })
  end),
  ["Input.rebind"] = function() Input.rebind("jump", categories(40)) end,
  ["Input.set_actions"] = function()
    local actions = {}
    for i = 1, 1001 do actions["walk" .. i] = { "space" } end
    Input.set_actions(actions)
  end,
  ["Save.write"] = function() Save.write("walk", giant()) end,
  ["Save.write_async"] = function() Save.write_async("walk", giant()) end,
  ["Window.set_clipboard"] = function() Window.set_clipboard(("x"):rep(2 ^ 24 + 1)) end,
  ["Worker.send"] = function() Worker.send(fixtures.get("Worker"), giant()) end,
  ["World.create_texture_gui"] = distinct(1025, function(name)
    World.create_texture_gui(fixtures.get("World"), name, 1, 1)
  end),
  ["string.find"] = searched(string.find), ["string.match"] = searched(string.match),
  ["string.gmatch"] = searched(function(s, pattern) string.gmatch(s, pattern)() end),
  ["string.gsub"] = searched(function(s, pattern) string.gsub(s, pattern, "") end),
  ["string.rep"] = function() string.rep("x", 2 ^ 26 + 1) end,
  ["table.concat"] = function() table.concat(giant()) end,
  load = function() assert(load(("x"):rep(2 ^ 24 + 1))) end,
  loadstring = function() assert(loadstring(("x"):rep(2 ^ 24 + 1))) end,
}
M.calls["Application.set_resource_property_preference_order"] = function()
  Application.set_resource_property_preference_order(unpack(categories(100)))
end
for _, name in ipairs({ "text_extents", "has_all_glyphs", "word_wrap", "text", "text_3d" }) do
  M.calls["Gui." .. name] = function()
    local gui = fixtures.get("Gui")
    if name == "text" then
      Gui.text(gui, long(), nil, 16, nil, Vector3(0, 0, 0))
    elseif name == "text_3d" then
      Gui.text_3d(gui, long(), nil, 16, nil, Matrix4x4(), Vector3(0, 0, 0), 1)
    elseif name == "word_wrap" then
      Gui.word_wrap(gui, long(), nil, 16, 100)
    else
      Gui[name](gui, long(), nil, 16)
    end
  end
end

for name, place in pairs({ update_text = {}, update_text_3d = { Matrix4x4() } }) do
  M.calls["Gui." .. name] = function()
    local gui = World.create_screen_gui(fixtures.get("World"), "retained")
    local draw, update = Gui[name:sub(8)], Gui[name]
    local arguments = { nil, 16, nil, place[1] or ORIGIN, place[1] and ORIGIN, place[1] and 1 }
    local object = draw(gui, "x", unpack(arguments, 1, 6))
    local fine, problem = pcall(update, gui, object, long(), unpack(arguments, 1, 6))
    end_gui(gui)
    if not fine then error(problem, 0) end
  end
end

-- Drawing calls in a retained Gui that already has the maximum number of quadrilaterals of a frame,
-- which take 256 MiB.
local shapes = {
  arc = { ORIGIN, 1, 0, 1 }, gradient_ellipse = { ORIGIN, Vector2(1, 2) },
  gradient_rect = { ORIGIN, Vector2(9, 9) }, ellipse = { ORIGIN, Vector2(1, 2) },
  line = { ORIGIN, ALONG, 1 },
  rect = { ORIGIN, Vector2(1, 1) }, rect_outline = { ORIGIN, Vector2(9, 9), 1 },
  rounded_rect = { ORIGIN, Vector2(9, 9), 1 },
}
for name, arguments in pairs(ordinary.drawn) do
  if not name:find("text", 1, true) then shapes[name] = arguments end
end

local drawn = together(function()
  -- Frees the garbage of other functions, including arrays of 256 MiB, which takes two collections.
  for _ = 1, 2 do collectgarbage() end
  local gui = World.create_screen_gui(fixtures.get("World"), "retained")
  local objects, problems, size = {}, {}, 65536
  for name, arguments in pairs(shapes) do
    objects[name] = Gui[name](gui, unpack(arguments, 1, 8))
  end
  -- Draws shorter and shorter texts, until no text fits.
  for _ = 1, 100 do
    if not pcall(Gui.text, gui, ("x"):rep(size), nil, 16, nil, ORIGIN) then size = size / 2 end
  end
  for name, arguments in pairs(shapes) do
    local update = "update_" .. name
    local _, problem = pcall(Gui[name], gui, unpack(arguments, 1, 8))
    problems[name] = problem
    if Gui[update] then
      _, problem = pcall(Gui[update], gui, objects[name], unpack(arguments, 1, 8))
      problems[update] = problem
    end
  end
  end_gui(gui)
  return problems
end)

for name in pairs(shapes) do
  M.calls["Gui." .. name], M.calls["Gui.update_" .. name] = drawn(name), drawn("update_" .. name)
end

-- Debug lines of a frame and of a line object, and calls that no longer fit.
local RED = Color(255, 0, 0)
for name, arguments in pairs({
  axes = { Matrix4x4() }, box = { Matrix4x4(), ALONG }, line = { ORIGIN, ALONG },
  sphere = { ORIGIN, 1 },
}) do
  M.calls["Debug." .. name] = function()
    for _ = 1, 100000 do
      if not pcall(Debug.line, ORIGIN, ALONG) then break end
    end
    local fine, problem = pcall(Debug[name], unpack(arguments))
    Debug.clear()
    if not fine then error(problem, 0) end
  end
end
for name, arguments in pairs({
  add_axes = { Matrix4x4() }, add_box = { RED, Matrix4x4(), ALONG },
  add_capsule = { RED, ORIGIN, ALONG, 1 }, add_circle = { RED, ORIGIN, 1 },
  add_cone = { RED, ORIGIN, ALONG, 1 }, add_half_sphere = { RED, ORIGIN, 1 },
  add_line = { RED, ORIGIN, ALONG }, add_sphere = { RED, ORIGIN, 1 },
}) do
  M.calls["LineObject." .. name] = function()
    local object = fixtures.get("LineObject")
    for _ = 1, 1000 do
      if not pcall(LineObject.add_sphere, object, RED, ORIGIN, 1, 256) then break end
    end
    local fine, problem = pcall(LineObject[name], object, unpack(arguments))
    LineObject.reset(object)
    if not fine then error(problem, 0) end
  end
end
for name, say in pairs({
  text = Debug.text, world_text = function(text) Debug.world_text(text, ORIGIN) end,
}) do
  M.calls["Debug." .. name] = function()
    local fine, problem = pcall(function()
      for _ = 1, 1001 do say("walk") end
    end)
    Debug.clear()
    if not fine then error(problem, 0) end
  end
end

-- Functions whose names, numbers and settings stay for the whole run. They come at the end of the
-- walk, because otherwise there would be no room for other calls.
M.late = {}
for name in ([[
  Profiler.record_statistics Profiler.start Sound.set_bus_parameter Sound.set_global_parameter
  Sound.set_parameter Stats.counter Texture.load
]]):gmatch("%S+") do
  M.late[name] = true
end

for name, call in pairs(require("exceeding_views")) do M.calls[name] = call end

return M
