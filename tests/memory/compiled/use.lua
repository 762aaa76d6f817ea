-- Uses one resource of the samples in every possible way. Errors are collected, and the other uses
-- continue: an engine fault ends the test wherever it occurs.
local kind, name = Application.argv()
local world, gui, kept = nil, nil, {}
local problems = {}

local function try(fn, ...)
  local ok, result = pcall(fn, ...)
  if not ok then
    problems[#problems + 1] = tostring(result)
    return nil
  end
  return result
end

local P, SIZE, WHITE = Vector3(100, 100, 1), Vector2(50, 50), Color(255, 255, 255)

-- Uses that happen once, and uses in every frame.
local starts, frames = {}, {}

function frames.texture()
  try(Gui.bitmap, gui, name, P, SIZE)
end

function starts.texture()
  try(Texture.size, name)
  local material = try(Material.new, "pictures/wave")
  if material then try(Material.set_texture, material, "noise", name) end
end

function starts.sheet()
  kept.sprite = try(Sprite.new, name)
  if name == "pictures/hero" then try(World.spawn_unit, world, "units/hero") end
end

function frames.sheet()
  if kept.sprite then
    try(Sprite.update, kept.sprite, 0.1)
    local frame = try(Sprite.frame, kept.sprite)
    if frame then try(Gui.bitmap, gui, frame, P, SIZE) end
  end
end

function frames.font()
  try(Gui.text, gui, "AVA fi \226\134\146 \195\169 \230\188\162\nAV", name, 20, nil, P, WHITE, {
    outline = 1, outline_color = WHITE, width = 90, align = "center",
  })
  try(Gui.text_extents, gui, "AV \226\134\144", name, 12)
end

local meshes = { ["materials/rust"] = "units/chest", ["materials/full"] = "units/full" }

function starts.material()
  if meshes[name] then
    try(World.spawn_unit, world, meshes[name])
  else
    kept.material = try(Material.new, name)
  end
end

function frames.material()
  if not meshes[name] then try(Gui.bitmap, gui, name, P, SIZE, WHITE) end
end

function starts.shader()
  try(Material.new, "pictures/wave")
end

function frames.shader()
  try(Gui.bitmap, gui, "pictures/wave", P, SIZE, WHITE)
end

function starts.particles()
  local flat = name == "effects/whiskers" or name == "particles/rain"
  kept.effect = not flat and try(World.create_particles, world, name, Vector3(0, 2, 0))
  if kept.effect then
    for _, variable in ipairs({ "power", "place" }) do
      local place = pcall(World.find_particles_variable, world, name, variable)
        and World.find_particles_variable(world, name, variable)
      if place then
        try(World.set_particles_variable, world, kept.effect, place, Vector3(2, 1, 0))
      end
    end
  end
  try(Gui.create_particles, gui, name, Vector3(100, 100, 1))
end

function frames.particles()
  if kept.effect and World.are_particles_playing(world, kept.effect) then
    try(World.move_particles, world, kept.effect, Vector3(1, 2, 0))
    try(World.num_particles, world, kept.effect)
  end
end

function starts.sound()
  local options = { position = Vector3(1, 2, 3) }
  if name == "sounds/full" or name == "sounds/step" then
    -- Mutated data may have other parameters.
    for _, floor in ipairs({ "stone", "ice" }) do
      pcall(Sound.trigger, world, name, { parameters = { floor = floor, force = 5 } })
    end
    options.parameters = { floor = "wood", force = 5 }
  end
  kept.voice = try(Sound.trigger, world, name, options)
  pcall(Sound.trigger, world, name)
end

function frames.sound()
  if kept.voice and Sound.is_playing(kept.voice) then
    try(Sound.seconds, kept.voice)
    pcall(Sound.set_parameter, kept.voice, "force", 8)
  end
end

function starts.mixer()
  for _, bus in ipairs({ "near", "music", "effects", "master" }) do
    pcall(Sound.trigger, world, "sounds/tone", { bus = bus })
  end
end

function starts.model()
  local unit = try(World.spawn_unit, world, name, Vector3(0, 5, 0))
  if unit then
    try(Unit.num_nodes, unit)
    kept.unit = unit
  end
end

-- Units with polygons or chains, which only 2D worlds have.
local FLAT = { ["units/physics/hill"] = true }

starts.unit = function()
  if FLAT[name] then world = Application.new_world("2d") end
  kept.unit = try(World.spawn_unit, world, name, Vector3(0, 5, 0))
end

function starts.level()
  local level = try(World.spawn_level, world, name)
  if level then
    for _, volume in ipairs(try(Level.volume_names, level) or {}) do
      try(Level.random_point_inside_volume, level, volume)
      try(Level.is_point_inside_volume, level, volume, Vector3(1, 1, 1))
    end
    for _, spline in ipairs(try(Level.spline_names, level) or {}) do
      try(Level.spline_position, level, spline, 1.5)
    end
    try(Level.units, level)
    kept.level = level
  end
end

function starts.navigation()
  local ground = try(World.spawn_unit, world, "core/units/empty")
  try(Unit.create_actor, ground, "ground", { type = "static", shape = "box", size = { 20, 20, 1 } })
  local level = try(World.spawn_level, world, name)
  kept.level = level
  if not level then return end
  local mesh = try(Level.navigation_mesh, level)
  if mesh then
    try(Level.navigation_edits, level)
    try(NavigationMesh.random_point, mesh)
  end
  local agent = try(Unit.agent, try(Level.unit, level, "walker"))
  if agent then try(Agent.set_destination, agent, Vector3(-5, -5, 0.5)) end
end

function starts.navigation_mesh()
  local level = try(World.spawn_level, world, name)
  kept.level = level
  local mesh = level and try(Level.navigation_mesh, level)
  if not mesh then return end
  try(Level.navigation_edits, level)
  local from, to = try(NavigationMesh.random_point, mesh), try(NavigationMesh.random_point, mesh)
  local agent = from and try(Agent.create, mesh, from)
  if agent and to then try(Agent.set_destination, agent, to) end
end

function starts.tilemap()
  local map = try(Tilemap.new, name)
  kept.map = map
  if not map then return end
  for _, layer in ipairs(try(Tilemap.layer_names, map) or {}) do
    try(Tilemap.tile, map, layer, 1, 1)
    -- A layer of objects has no cells.
    local ok, message = pcall(Tilemap.set_tile, map, layer, 2, 1, 1)
    if not ok and not tostring(message):find("which has 0 and 0", 1, true) then
      problems[#problems + 1] = tostring(message)
    end
    try(Tilemap.set_layer_visible, map, layer, true)
  end
  for tile = 1, 9 do try(Tilemap.tile_properties, map, tile) end
  try(Tilemap.objects, map)
  try(Tilemap.properties, map)
  if name == "maps/cave" then try(World.spawn_unit, world, "units/cave") end
  if name == "maps/full" then try(World.spawn_unit, world, "units/full") end
end

function frames.tilemap()
  if kept.map then try(Tilemap.draw, kept.map, gui, P, { scale = 2 }) end
end

function starts.package()
  local package = try(Application.resource_package, name)
  if package then
    try(ResourcePackage.load, package)
    try(ResourcePackage.flush, package)
    pcall(ResourcePackage.unload, package)
  end
end

function starts.strings()
  local texts = try(Localizer, name)
  if texts then
    for _, key in ipairs({ "hello", "bye", "play", "quit" }) do
      try(Localizer.lookup, texts, key)
    end
  end
end

for _, plain in ipairs({ "config", "text", "binary" }) do
  starts[plain] = function() try(Application.data, plain, name) end
end

function starts.shading_environment()
  local environment = try(World.create_shading_environment, world, name)
  if environment then try(ShadingEnvironment.apply, environment) end
end

function starts.physics_properties()
  for _, unit in ipairs({ "crate", "floor", "door", "shapes" }) do
    try(World.spawn_unit, world, "units/physics/" .. unit, Vector3(0, 0, 5))
  end
end

function starts.render_config()
  -- The game selects no config: the engine's own frame has none of these settings.
  pcall(Application.set_render_setting, "lines", true)
  pcall(Application.set_render_setting, "darkness", 0.75)
end

function starts.lua()
  if name ~= "use" then try(require, name) end
end

function init()
  world = Application.main_world()
  gui = World.create_screen_gui(world, "immediate")
  if starts[kind] then starts[kind]() end
end

function update(dt)
  World.update(world, dt)
end

function render()
  if frames[kind] then frames[kind]() end
  Application.render_world(world)
end

function shutdown()
  if kept.level then try(World.destroy_level, world, kept.level) end
  if kept.unit and Unit.alive(kept.unit) then try(World.destroy_unit, world, kept.unit) end
  if #problems > 0 then error(table.concat(problems, "\n")) end
end
