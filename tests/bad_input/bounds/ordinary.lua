-- Ordinary arguments of functions, so that calls pass the checks of the arguments that are not
-- extreme; the options of functions; and strings that are valid names.
local fixtures = require("fixtures")

local M = {}

-- Names of the resources in the walk's folder, and of the items in them.
M.words = [[
  units/all units/physics/walker levels/yard levels/shed particles/fire pictures/hero pictures/wave
  textures/ship maps/cave maps/world sounds/step sounds/engine data/note data/menu data/level
  data/set materials/rust modules/worker_jobs core/models/cube
  run lid root body hinge standing crate stone skin space text config all fixed omni path pit night
  force master hero
]]

-- Values of string arguments, by the argument's name.
M.by_name = {
  resource = "units/all", texture = "textures/ship", sheet = "pictures/hero", tag = "run",
  sound = "sounds/step", module = "modules/worker_jobs", slot = "walk", language = "en",
  material = "textures/ship", bus = "master", clock = "walk", group = "skin", layer = "ground",
  projection = "perspective", volume = "pit", spline = "path", easing = "linear", url = "walk:",
  binding = "space", action = "jump", grid = "Ground", title = "walk", label = "label",
}

-- Argument types of the functions of Lua's own library, by name. All other functions are
-- documented.
M.library = [[
  assert any any
  bit.arshift number number
  bit.band number number
  bit.bnot number
  bit.bor number number
  bit.bswap number
  bit.bxor number number
  bit.lshift number number
  bit.rol number number
  bit.ror number number
  bit.rshift number number
  bit.tobit number
  bit.tohex number number
  collectgarbage string number
  coroutine.create function
  coroutine.isyieldable
  coroutine.resume thread any any
  coroutine.running
  coroutine.status thread
  coroutine.wrap function
  coroutine.yield any
  debug.getinfo function|thread string
  debug.traceback string|thread string number
  error any number
  getfenv function
  getmetatable any
  ipairs table
  jit.status
  load string|function string string table
  loadstring string string
  math.abs number
  math.acos number
  math.asin number
  math.atan number
  math.atan2 number number
  math.ceil number
  math.cos number
  math.cosh number
  math.deg number
  math.exp number
  math.floor number
  math.fmod number number
  math.frexp number
  math.ldexp number number
  math.log number number
  math.log10 number
  math.max number number
  math.min number number
  math.modf number
  math.pow number number
  math.rad number
  math.random number number
  math.randomseed number
  math.sin number
  math.sinh number
  math.sqrt number
  math.tan number
  math.tanh number
  next table any
  operators any any any
  os.clock
  os.date string number
  os.difftime number number
  os.getenv string
  os.time table
  pairs table
  pcall function any
  print any any
  rawequal any any
  rawget table any
  rawset table any any
  require string
  select number|string any any
  setfenv function table
  setmetatable table table
  string.byte string number number
  string.char number number
  string.find string string number boolean
  string.format string any any
  string.gmatch string string
  string.gsub string string string|table|function number
  string.len string
  string.lower string
  string.match string string number
  string.rep string number string
  string.reverse string
  string.sub string number number
  string.upper string
  table.concat table string number number
  table.foreach table function
  table.foreachi table function
  table.getn table
  table.insert table number any
  table.maxn table
  table.move table number number number table
  table.remove table number
  table.sort table function
  tonumber string|number number
  tostring any
  type any
  unpack table number number
  xpcall function function any
]]

-- Values by the function's name, then by the argument's name. A value that must be created for each
-- call is a function.
local function particles() return fixtures.get("ParticleEffect") end
local function walker() return fixtures.get("Walker") end

-- The physics of a 2D world, which exists once.
local flat_world
local function flat_physics()
  if not (flat_world and World.alive(flat_world)) then flat_world = Application.new_world("2d") end
  return World.physics_world(flat_world)
end

local function mouse_joint()
  return PhysicsWorld.create_joint(fixtures.get("PhysicsWorld"), "mouse", fixtures.get("Actor"))
end

local function ball_of_broadphase()
  return Broadphase.add(fixtures.get("Broadphase"), 1, Vector3(0, 0, 0), 1)
end

-- Another agent on the mesh of the walk's agent.
local function leader()
  return Agent.create(fixtures.get("NavigationMesh"), Vector3(8, 8, 0))
end

local function flow_field()
  NavigationGrid.set_targets(fixtures.get("NavigationGrid"), "exit", { 1, 1 })
  return "exit"
end

local function mesh_field()
  NavigationMesh.set_targets(fixtures.get("NavigationMesh"), "exit", { 10, 10, 0 })
  return "exit"
end

local function lit_sprite() return Unit.sprite(fixtures.get("Unit"), "stone") end

local function map_of_unit() return Unit.tilemap(fixtures.get("Unit"), 1) end

local function package()
  pcall(ResourcePackage.load, fixtures.get("ResourcePackage"))
  return fixtures.get("ResourcePackage")
end

local function triangle() return { positions = { 0, 0, 0, 1, 0, 0, 0, 1, 0 } } end

local rumble = { attack = 0.1, sustain = 0.5 }
local square = { Vector2(0, 0), Vector2(1, 0), Vector2(1, 1) }

M.arguments = {
  ["Application.console_command"] = { command = "help" },
  ["Application.console_send"] = { message = { type = "walk" } },
  ["Application.create_viewport"] = { texture = "made" },
  ["Application.data"] = { type = "text", name = "data/note" },
  ["Application.can_get"] = { type = "unit", name = "units/all" },
  ["Application.resource_names"] = { type = "unit" },
  ["Application.resource_package"] = { name = "data/set" },
  ["Application.set_time_step_policy"] = { rest_1 = "throttle", rest_2 = 30 },
  ["Application.set_user_setting"] = { rest_1 = "walk", rest_2 = 1 },
  ["Application.new_world"] = { rest_1 = "2d", rest_2 = "no_sound" },
  ["Broadphase.move"] = { id = ball_of_broadphase },
  ["Broadphase.remove"] = { id = ball_of_broadphase },
  ["Camera.set_frustum"] = { left = -1, bottom = -1 },
  ["Camera.set_frustum_half_angles"] = { left = -0.1, right = 0.1, bottom = -0.1, top = 0.1 },
  ["Camera.set_orthographic_view"] = { min_x = -1, min_z = -1 },
  ["Color.from_hex"] = { hex = "#ff8000" },
  ["DebugUi.begin_window"] = { title = "another" },
  ["DebugUi.combo"] = { items = { "a", "b" } },
  ["Float32Array()"] = { size = 3 },
  ["Float32Array.interleave"] = { sources = function() return { Float32Array(3), 1 } end },
  ["Gui.create_particles"] = { name = "particles/fire" },
  ["Gui.move_particles"] = { id = function()
    return Gui.create_particles(fixtures.get("Gui"), "particles/fire", Vector3(0, 0, 0))
  end },
  ["Gui.polygon"] = { points = square }, ["Gui.update_polygon"] = { points = square },
  ["Gui.polygon_uv"] = { points = square }, ["Gui.update_polygon_uv"] = { points = square },
  ["Gui.push_blend"] = { mode = "add" },
  ["Gui.word_wrap"] = { text = "one two three" },
  ["IdString32.from_hex"] = { hex = "01234567" },
  ["IdString64.from_hex"] = { hex = "0123456789abcdef" },
  ["Image.from_bytes"] = { width = 1, height = 1, bytes = "abcd" },
  ["Image.load"] = { name = "pictures/hero" },
  ["Image.map"] = { f = function() return function(_, _, color) return color end end },
  ["Image.new"] = { width = 3, height = 2 }, ["Image.resize"] = { width = 3, height = 2 },
  ["Image.copy"] = { x = 0, y = 0, width = 1, height = 1 },
  ["Image.fill"] = { x = 0, y = 0, width = 1, height = 1 },
  ["Image.to_texture"] = { name = "made/image" }, ["Image.save"] = { name = "walk" },
  ["Json.decode"] = { text = "[1]" }, ["Json.try_decode"] = { text = "[1]" },
  ["Level.object_set"] = { name = "night" }, ["Level.spline"] = { name = "path" },
  ["Level.unit"] = { name = "lamp" },
  ["Decal.set_texture"] = { channel = "color", name = "textures/ship" },
  ["Decal.set_angle_fade"] = { begin = 0.5, finish = 1 },
  ["Decal.set_distance_fade"] = { begin = 5, finish = 9 },
  ["LightOccluder.set_polygon"] = { points = square },
  ["LightOccluder.set_line"] = { points = square },
  ["Sprite.set_normal_texture"] = { sprite = lit_sprite, name = "textures/ship" },
  ["Light.set_texture"] = { name = "textures/ship" },
  ["Light.set_type"] = { type = "omni" },
  ["Localizer()"] = { name = "data/menu" }, ["Localizer.lookup"] = { key = "play" },
  ["Localizer.fill"] = { text = "{a} {b}", values = { a = 1 } },
  ["Material.new"] = { name = "pictures/wave" },
  ["Material.set_scalar"] = { name = "speed" }, ["Material.set_color"] = { name = "tint" },
  ["Material.set_vector2"] = { name = "place" }, ["Material.set_vector3"] = { name = "wind" },
  ["Material.set_vector4"] = { name = "tint" }, ["Material.set_matrix4x4"] = { name = "turn" },
  ["Material.set_texture"] = { name = "noise" },
  ["Memory.changes"] = { before = function() return Memory.snapshot() end },
  ["Mesh.new"] = { source = function()
    return { positions = { 0, 0, 0, 1, 0, 0, 0, 1, 0 }, uvs = { 0, 0, 1, 0, 0, 1 } }
  end },
  ["Mesh.material"] = { which = 1 },
  ["Mesh.rebuild"] = {
    mesh = function() return Mesh.new(fixtures.get("Unit"), triangle()) end, source = triangle,
  },
  ["Joint.set_target"] = { joint = mouse_joint },
  ["Agent.create"] = { position = Vector3(10, 10, 0), options = { speed = 2 } },
  ["Agent.area_cost"] = { area = 2 },
  ["Agent.set_area_cost"] = { area = 2, cost = 3 },
  ["Agent.set_link_cost"] = { name = "door", cost = 3 },
  ["Agent.set_position"] = { position = Vector3(10, 10, 0) },
  ["Agent.update_position"] = { position = Vector3(10, 10, 0) },
  ["Agent.follow"] = { leader = leader },
  ["Agent.follow_path"] = { points = { 10, 10, 0, 12, 10, 0 } },
  ["Agent.form"] = { followers = {}, formation = "wedge", spacing = 2 },
  ["NavigationGrid.create"] = { options = { neighbors = 4 } },
  ["NavigationGrid.distance"] = { name = flow_field },
  ["NavigationGrid.draw"] = { size = 1, name = flow_field },
  ["NavigationGrid.flow"] = { name = flow_field },
  ["NavigationGrid.set_flee"] = { name = "away", threats = flow_field },
  ["NavigationGrid.set_targets"] = { targets = { 1, 1 } },
  ["NavigationMesh.add_jump_links"] = { options = { distance = 2 } },
  ["NavigationMesh.cover_points"] = {
    position = Vector3(10, 10, 0), threat = Vector3(2, 10, 0), options = { count = 4 },
  },
  ["NavigationMesh.create"] = { options = { radius = 0.5 } },
  ["NavigationMesh.create_from_triangles"] = {
    points = { 0, 0, 0, 20, 0, 0, 20, 20, 0 }, triangles = { 1, 2, 3 }, options = { radius = 0.5 },
  },
  ["NavigationMesh.can_go"] = { from = Vector3(10, 10, 0), radius = 0.5 },
  ["NavigationMesh.disc_cast"] = { from = Vector3(10, 10, 0), radius = 0.5 },
  ["NavigationMesh.distance_to_edge"] = { position = Vector3(10, 10, 0) },
  ["NavigationMesh.distance"] = { name = mesh_field, position = Vector3(10, 10, 0) },
  ["NavigationMesh.draw"] = { name = mesh_field },
  ["NavigationMesh.flow"] = { name = mesh_field, position = Vector3(10, 10, 0) },
  ["NavigationMesh.set_flee"] = { name = "away", threats = mesh_field },
  ["NavigationMesh.set_targets"] = { targets = { 10, 10, 0 } },
  ["NavigationMesh.find_path"] = { from = Vector3(10, 10, 0), to = Vector3(12, 10, 0) },
  ["NavigationMesh.find_path_async"] = { from = Vector3(10, 10, 0), to = Vector3(12, 10, 0) },
  ["NavigationMesh.flood_fill"] = { position = Vector3(10, 10, 0) },
  ["NavigationMesh.add_stop"] = {
    platform = fixtures.fresh_platform, name = "walk", ashore = Vector3(19, 10, 0),
    aboard = Vector3(-1, 0, 0.5), distance = 2,
  },
  ["NavigationMesh.create_platform"] = { unit = fixtures.platform_unit, options = { cost = 2 } },
  ["NavigationMesh.is_path_valid"] = { points = { 10, 10, 0, 12, 10, 0 }, first = 1 },
  ["NavigationMesh.is_stop_open"] = { platform = fixtures.platform, stop = "quay" },
  ["NavigationMesh.is_platform_usable"] = { platform = fixtures.platform },
  ["NavigationMesh.num_aboard"] = { platform = fixtures.platform },
  ["NavigationMesh.set_platform_usable"] = { platform = fixtures.platform, usable = true },
  ["NavigationMesh.set_stop_open"] = { platform = fixtures.platform, stop = "quay" },
  ["NavigationMesh.stop_counts"] = { platform = fixtures.platform, stop = "quay" },
  ["NavigationMesh.partial_search"] = { nodes = 100 },
  ["NavigationMesh.search"] = { nodes = 100 },
  ["NavigationMesh.positions_around"] = { target = Vector3(10, 10, 0), spacing = 1 },
  ["NavigationMesh.random_point"] = { from = Vector3(10, 10, 0), distance = 5 },
  ["NavigationMesh.raycast"] = { from = Vector3(10, 10, 0) },
  ["PhysicsWorld.create_joint"] = { kind = "ball" },
  ["PhysicsWorld.spawn_chain"] = { physics_world = flat_physics, points = square },
  ["PhysicsWorld.spawn_polygon"] = { physics_world = flat_physics, points = square },
  ["PhysicsWorld.immediate_overlap"] = { rest_1 = "pose", rest_2 = Matrix4x4() },
  ["PhysicsWorld.overlap"] = { rest_1 = "pose", rest_2 = Matrix4x4() },
  ["PhysicsWorld.immediate_raycast"] = { mode = "closest" },
  ["PhysicsWorld.make_raycast"] = { mode = "closest" },
  ["PhysicsWorld.queue_raycast"] = { mode = "closest" },
  ["PhysicsWorld.raycast"] = { mode = "all" },
  ["ResourcePackage.flush"] = { package = package },
  ["ResourcePackage.has_loaded"] = { package = package },
  ["ResourcePackage.unload"] = { package = package },
  ["Save.progress"] = { request = function() return Save.read_async("walk") end },
  ["Save.status"] = { request = function() return Save.read_async("walk") end },
  ["Script.context"] = { fn = function() return function() end end },
  ["SoundBuffer.generate"] = { f = function() return function() return 0 end end },
  ["SoundBuffer.new"] = { channels = 1, sample_rate = 8000, frames = 9 },
  ["SoundBuffer.to_sound"] = { name = "made/sound" },
  ["Sound.set_loop"] = { loop = true, start_seconds = 0, end_seconds = 1 },
  ["Sound.preload"] = { sound = "sounds/tone" },
  ["Sprite.update"] = { sprite = function() return Sprite.new("pictures/hero", "run") end },
  ["Stats.alarm"] = { name = "walk/counter" }, ["Stats.counter"] = { name = "walk/counter" },
  ["Stats.history"] = { name = "frame" }, ["Stats.watch"] = { name = "walk/counter" },
  ["Texture.load"] = { name = "textures/ship" }, ["Texture.size"] = { name = "textures/ship" },
  ["Tilemap.cell_at_position"] = { tilemap = map_of_unit },
  ["Tilemap.material"] = { tilemap = map_of_unit },
  ["Tilemap.set_material"] = { tilemap = map_of_unit },
  ["Tilemap.objects"] = { layer = "things" },
  ["Tween.to"] = {
    target = function() return { x = 1 } end, values = { x = 2 }, easing = "linear",
  },
  ["Tween.ease"] = { share = 0.5 },
  ["Unit.actor"] = { actor = "body" }, ["Unit.joint"] = { name = "hinge" },
  ["Unit.camera"] = { camera = 1 }, ["Unit.light"] = { light = 1 }, ["Unit.mesh"] = { mesh = 1 },
  ["Unit.sprite"] = { sprite = 1 }, ["Unit.tilemap"] = { tilemap = 1 },
  ["Unit.voice"] = { sound = 1 }, ["Unit.particles"] = { particles = 1 },
  ["Unit.has_component"] = { component = "light" },
  ["World.units_with"] = { component = "light" },
  ["Unit.set_mesh_visibility"] = { mesh = 1 },
  ["Unit.node"] = { name = "lid" }, ["Unit.has_node"] = { name = "lid" },
  ["Unit.create_actor"] = {
    actor = "new", fields = { shape = "sphere", radius = 1, type = "static" },
  },
  ["Unit.mover_fits_at"] = { unit = walker, name = "standing" },
  ["Unit.set_mover"] = { unit = walker, name = "standing" },
  ["Utf8.find"] = { s = "a text", text = "x" },
  ["Window.set_cursor"] = { shape = "arrow" }, ["Window.set_cursor_mode"] = { mode = "free" },
  ["Window.set_fullscreen"] = { mode = "off" }, ["Window.set_vsync"] = { mode = "on" },
  ["World.are_particles_playing"] = { id = particles },
  ["World.create_particles"] = { name = "particles/fire" },
  ["World.create_texture_gui"] = { texture = "drawn", rest_1 = "immediate", rest_2 = "immediate" },
  ["World.destroy_particles"] = { id = particles },
  ["World.find_particles_variable"] = { name = "particles/fire" },
  ["World.link_unit"] = { parent = walker },
  ["World.num_particles"] = { id = particles },
  ["World.stop_spawning_particles"] = { id = particles },
  ["World.unit_by_name"] = { name = "lamp" },
  ["World.update"] = { delta = 1 / 60 },
  ["class.extend"] = { base = function() return class() end },
  ["class.is_a"] = { klass = function() return class() end },
  ["class.name"] = { klass = function() return class() end },
  ["class.set_name"] = { klass = function() return class() end },
  ["class()"] = { existing = function() end, super = function() return class() end },
  require = { argument_1 = "ordinary" },
}
-- Objects of a Gui, of the type that a function changes or destroys.
M.drawn = {
  bitmap = { "textures/ship", Vector3(0, 0, 0), Vector2(1, 1) },
  bitmap_3d = { "textures/ship", Matrix4x4(), Vector3(0, 0, 0), 1, Vector2(1, 1) },
  bitmap_3d_uv = { "textures/ship", Vector2(0, 0), Vector2(1, 1), Matrix4x4(), Vector3(0, 0, 0), 1,
    Vector2(1, 1) },
  bitmap_uv = { "textures/ship", Vector2(0, 0), Vector2(1, 1), Vector3(0, 0, 0), Vector2(1, 1) },
  circle = { Vector3(0, 0, 0), 1 },
  nine_patch = { "textures/ship", 1, Vector3(0, 0, 0), Vector2(9, 9) },
  rect_3d = { Matrix4x4(), Vector3(0, 0, 0), 1, Vector2(1, 1) },
  text = { "a", nil, 16, nil, Vector3(0, 0, 0) },
  text_3d = { "a", nil, 16, nil, Matrix4x4(), Vector3(0, 0, 0), 1 },
  triangle = { Vector2(0, 0), Vector2(1, 0), Vector2(0, 1) },
}
for name, arguments in pairs(M.drawn) do
  local function object() return Gui[name](fixtures.get("Gui"), unpack(arguments, 1, 8)) end
  local ender = name == "circle" and "shape" or name
  for _, path in ipairs({ "Gui.update_" .. name, "Gui.destroy_" .. ender }) do
    M.arguments[path] = { object = object, font = "core/fonts/default", borders = 1 }
  end
end

for i = 1, 8 do
  M.arguments["Pad" .. i .. ".rumble_effect"] = { parameters = rumble }
  M.arguments["Pad" .. i .. ".set_dead_zone"] = { mode = "circular", size = 0.5 }
end
for name in ([[
  num_units unit_name unit_resource unit_position unit_rotation unit_data unit_indices data
  object_set_names unit_indices_in_object_set
]]):gmatch("%S+") do
  M.arguments["LevelResource." .. name] = { resource = "levels/yard", unit = "core/units/empty",
    object_set = "night" }
end

-- Returns the options of a table argument at index `at`: each is tried with all values of its type.
local function options(at, text, base)
  local list = {}
  for name, kind in text:gmatch("(%S+):(%S+)") do
    list[#list + 1] = { at = at, name = name, type = kind, base = base }
  end
  return list
end

local text = "align:string width:number outline:table glow:table shadow:table markup:boolean "
  .. "spans:table"
local joint = "position:Vector3 other_position:Vector3 axis:Vector3 limits:table length:number "
  .. "stiffness:number damping:number frequency:number damping_ratio:number max_force:number "
  .. "break_force:number break_torque:number collides:boolean ground_position:Vector3 "
  .. "other_ground_position:Vector3 ratio:number"
local lists = "positions:number[]|table normals:number[] uvs:number[] colors:number[] "
  .. "indices:number[]"
local effect = "attack:number decay:number sustain:number release:number attack_level:number "
  .. "sustain_level:number frequency:number period:number offset:number"

local function ball() return { type = "dynamic", shape = "sphere", radius = 1 } end
local function hull()
  return { type = "dynamic", shape = "convex",
    points = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } }
end

M.options = {
  ["DebugUi.begin_window"] = options(2, "x:number y:number width:number height:number "
    .. "collapsed:boolean closable:boolean"),
  ["Gui.text"] = options(8, text), ["Gui.text_extents"] = options(5, text),
  ["Image.blit"] = options(5, "part:number[] blend:string"),
  ["Image.to_texture"] = options(3, "filter:string wrap:string mips:boolean data:boolean"),
  ["Input.set_actions"] = options(1, "jump:table|string[]"),
  ["Json.encode"] = options(2, "indent:number sort:boolean"),
  ["Mesh.new"] = options(2, lists, triangle), ["Mesh.rebuild"] = options(2, lists, triangle),
  ["Pad1.rumble_effect"] = options(2, effect),
  ["PhysicsWorld.create_joint"] = options(5, joint),
  ["PhysicsWorld.spawn_chain"] = options(3, "closed:boolean one_way:boolean friction:number "
    .. "restitution:number collision_filter:string"),
  ["PhysicsWorld.spawn_polygon"] = options(4, "friction:number restitution:number density:number "
    .. "collision_filter:string"),
  ["Save.read"] = options(2, "newer:boolean"),
  ["Sound.trigger"] = options(3, "parameters:table position:Vector3 unit:Unit node:number "
    .. "volume:number pitch:number pan:number fade_in:number delay:number bus:string "
    .. "priority:number "
    .. "occlusion:number loop:boolean clock:string on:string"),
  ["Sprite.update"] = options(1, "time:number speed:number", function()
    return Sprite.new("pictures/hero", "run")
  end),
  ["Sprite.frame"] = options(1, "time:number speed:number tag:string", function()
    return Sprite.new("pictures/hero", "run")
  end),
  ["Tilemap.draw"] = options(4, "scale:number color:Color layers:string[]"),
  ["Tween.to"] = options(4, "easing:string|function delay:number times:number yoyo:boolean"),
  ["Unit.create_actor"] = options(3, "radius:number mass:number density:number friction:number "
    .. "restitution:number linear_damping:number angular_damping:number gravity:number "
    .. "size:number[] height:number position:Vector3 rotation:Vector3 shapes:table "
    .. "locked_rotation:string[]", ball),
  ["Window.open"] = options(1, "title:string width:number height:number x:number y:number "
    .. "visible:boolean resizable:boolean fullscreen:string"),
  ["Worker.start"] = options(3, "seconds:number frames:number"),
  ["World.set_sky"] = options(2, "top:Color horizon:Vector3 ground:Vector3 shown:boolean "
    .. "exposure:number fog_density:number fog_color:Color tone_mapping:boolean sun:boolean"),
  ["World.spawn_level"] = options(5, "scale:number object_sets:string[] units_per_frame:number"),
  ["os.time"] = options(1, "year:number month:number day:number hour:number min:number sec:number",
    function() return { year = 2000, month = 1, day = 1 } end),
}
for _, option in ipairs(options(3, "points:Vector3[]", hull)) do
  table.insert(M.options["Unit.create_actor"], option)
end

-- Functions that receive endless data: lists that contain each other. All functions that take data
-- read it in one of these ways, and each call takes tenths of a second until the limit is reached.
M.sharing = {}
for name in ([[
  Application.console_send Application.hash Application.set_data Application.set_user_setting
  Broadphase.query Input.set_actions Json.encode Localizer.fill Mesh.new Pad1.rumble_effect
  PhysicsWorld.create_joint Script.sorted_pairs Sound.trigger Timer.after Tween.to
  Unit.create_actor Unit.set_data Window.open Worker.send World.set_sky World.spawn_level
  operators print table.concat table.sort tostring
]]):gmatch("%S+") do
  M.sharing[name] = true
end

-- Functions that destroy the result of a call, for objects of which few can exist.
M.afterwards = { ["Worker.start"] = Worker.cancel, ["Window.open"] = Window.close }

return M
