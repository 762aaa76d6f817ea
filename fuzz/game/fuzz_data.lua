-- Uses one resource with the data of the case, in every way that its kind can be used. The data may
-- be rejected anywhere with an error. Then two more frames are played with the result.

local use = {}

local RED = Color(255, 0, 0)

local function try(fn, ...)
  local ok, result = pcall(fn, ...)
  if ok then return result end
end

function use.texture(name)
  local gui = Application.main_gui()
  try(Texture.load, name)
  try(Texture.size, name)
  try(Gui.bitmap, gui, name, Vector3(1, 2, 3))
  try(Gui.bitmap_uv, gui, name, Vector2(0, 0), Vector2(2, 0.5), Vector2(3, 4), Vector2(50, 60), RED)
  try(Gui.nine_patch, gui, name, 3, Vector3(5, 5, 1), Vector2(30, 40))
  try(Material.new, name)
  try(Texture.unload, name)
  try(Gui.bitmap, gui, name, Vector3(1, 2, 3))
end

function use.sheet(name)
  local gui = Application.main_gui()
  for _, tag in ipairs(try(Sprite.tags, name) or {}) do
    try(Sprite.seconds, name, tag)
    try(Sprite.frames, name, tag)
    local sprite = try(Sprite.new, name, tag)
    for _ = 1, 5 do
      if sprite then
        try(Sprite.update, sprite, 0.3)
        try(Gui.bitmap, gui, try(Sprite.frame, sprite) or "", Vector3(0, 0, 1))
      end
    end
  end
end

function use.font(name)
  local gui = Application.main_gui()
  local texts = { "Hello", "office {#color(255,0,0)}red{#reset()} \208\144", "\216\167\217\132",
    "a\nb" }
  for _, text in ipairs(texts) do
    try(Gui.text, gui, text, name, 20, nil, Vector3(1, 2, 3), RED)
    try(Gui.text_extents, gui, text, name, 7)
    try(Gui.word_wrap, gui, text, name, 12, 30)
    try(Gui.has_all_glyphs, gui, text, name)
  end
end

function use.material(name)
  local gui = Application.main_gui()
  local material = try(Material.new, name)
  if not material then return end
  try(Material.set_scalar, material, "speed", 2)
  try(Material.set_texture, material, "texture", "pictures/noise")
  try(Gui.bitmap, gui, material, Vector3(0, 0, 1), Vector2(8, 8), RED)
  local unit = try(World.spawn_unit, new_world(), "models/chest")
  if unit then try(Unit.set_material, unit, "Wood", name) end
end

function use.shader()
  use.material("pictures/wave")
end

function use.particles(name)
  local world = new_world()
  local id = try(World.create_particles, world, name, Vector3(1, 2, 3))
  local turned = Quaternion.identity()
  try(World.create_particles, world, name, Vector3(0, 0, 0), turned, Vector3(2, 0, 1))
  try(Gui.create_particles, Application.main_gui(), name, Vector2(3, 4))
  try(World.update, world, 0.1)
  try(World.update, world, 3)
  if id then
    try(World.move_particles, world, id, Vector3(9, 9, 9))
    try(World.stop_spawning_particles, world, id)
    try(World.num_particles, world, id)
  end
end

function use.sound(name)
  local world = new_world()
  try(Sound.preload, name)
  local voice = try(Sound.trigger, world, name)
  try(Sound.trigger, world, name, { position = Vector3(1, 2, 3), volume = 0.5 })
  if voice then
    try(Sound.set_pitch, voice, 2)
    try(Sound.seconds, voice)
    try(Sound.seek, voice, 0.5)
    try(Sound.true_peak)
  end
end

function use.mixer()
  use.sound("sounds/engine")
  use.sound("sounds/streamed")
  try(Sound.set_bus_volume, "music", 0.5)
end

local function look_at_unit(world, unit)
  local meshes = try(Unit.num_meshes, unit) or 0
  for i = 1, math.min(meshes, 8) do
    local mesh = try(Unit.mesh, unit, i)
    if mesh then
      try(Mesh.box, mesh)
      try(Mesh.bounding_volume, mesh)
      try(Mesh.num_triangles, mesh)
      try(Mesh.set_material, mesh, 1, nil)
    end
  end
  try(Unit.box, unit)
  try(Unit.mesh_pick_raycast, unit, Vector3(0, -10, 0.5), Vector3(0, 1, 0))
  for i = 1, math.min(try(Unit.num_nodes, unit) or 0, 16) do
    try(Unit.node_name, unit, i)
    try(Unit.world_pose, unit, i)
    try(Unit.scene_graph_parent, unit, i)
  end
  for i = 1, math.min(try(Unit.num_lights, unit) or 0, 4) do try(Unit.light, unit, i) end
  for i = 1, math.min(try(Unit.num_cameras, unit) or 0, 4) do try(Unit.camera, unit, i) end
  for i = 1, math.min(try(Unit.num_actors, unit) or 0, 4) do try(Unit.actor, unit, i) end
  try(Unit.get_data, unit, "material")
  try(Unit.inspect, unit)
  try(World.update, world, 0.05)
end

function use.unit(name)
  local world = new_world()
  local unit = try(World.spawn_unit, world, name, Vector3(1, 2, 3))
  try(World.spawn_units, world, name, { Vector3(0, 0, 0), Vector3(1, 0, 0) })
  if unit then look_at_unit(world, unit) end
  try(World.update, world, 0.1)
end

use.model = use.unit

function use.physics_properties()
  use.unit("units/physics/shapes")
  use.unit("units/physics/door")
end

function use.shading_environment(name)
  local world = new_world()
  local environment = try(World.create_shading_environment, world, name)
  if environment then try(Application.render_world, world, nil, nil, environment) end
end

function use.level(name)
  local world = new_world()
  local level = try(World.spawn_level, world, name)
  local slowly = { units_per_frame = 1, scale = 2 }
  local later = try(World.spawn_level, world, name, Vector3(5, 5, 5), nil, slowly)
  try(World.update, world, 0.1)
  for _, level in pairs({ level, later }) do
    for _, volume in ipairs(try(Level.volume_names, level) or {}) do
      try(Level.is_point_inside_volume, level, volume, Vector3(0, 0, 0))
      try(Level.random_point_inside_volume, level, volume)
    end
    for _, spline in ipairs(try(Level.spline_names, level) or {}) do
      try(Level.spline, level, spline)
      try(Level.spline_length, level, spline)
      try(Level.spline_position, level, spline, 1)
    end
    for _, set in ipairs(try(Level.object_set_names, level) or {}) do
      try(Level.object_set, level, set)
    end
    try(Level.units, level)
    try(Level.pose, level)
  end
  if level then try(World.destroy_level, world, level) end
end

function use.navigation(name)
  local world = new_world()
  local ground = try(World.spawn_unit, world, "core/units/empty")
  try(Unit.create_actor, ground, "ground", { type = "static", shape = "box", size = { 20, 20, 1 } })
  local level = try(World.spawn_level, world, name)
  if not level then return end
  try(Level.navigation_mesh, level)
  try(Level.navigation_edits, level)
  try(World.update, world, 0.1)
  try(World.destroy_level, world, level)
end

use.navigation_mesh = use.level

function use.tilemap(name)
  local gui = Application.main_gui()
  for _, level in ipairs(try(Tilemap.level_names, name) or {}) do
    local map = try(Tilemap.new, name, level)
    if map then
      try(Tilemap.draw, map, gui, Vector3(1, 2, 3))
      try(Tilemap.draw, map, gui, Vector3(1, 2, 3), { scale = 0.1 })
      try(Tilemap.outlines, map)
      for _, layer in ipairs(try(Tilemap.layer_names, map) or {}) do
        try(Tilemap.tile, map, layer, 1, 1)
        try(Tilemap.set_tile, map, layer, 2, 2, 1)
      end
      for _, grid in ipairs(try(Tilemap.grid_names, map) or {}) do
        try(Tilemap.grid_value, map, grid, 1, 1)
      end
      try(Tilemap.objects, map)
      try(Tilemap.properties, map)
      try(Tilemap.tile_properties, map, 1)
      try(Tilemap.cell_at, map, 3, 4)
      try(Tilemap.destroy, map)
    end
  end
  use.unit("units/cave")
end

function use.strings(name)
  local menu = try(Localizer, name)
  if menu then
    try(Localizer.lookup, menu, "play")
    try(Localizer.set_language, menu, "sv")
    try(Localizer.lookup, menu, "quit")
  end
end

function use.config(name)
  try(Application.data, "config", name)
end

function use.package(name)
  local package = try(Application.resource_package, name)
  if not package then return end
  try(ResourcePackage.load, package)
  try(ResourcePackage.flush, package)
  try(ResourcePackage.has_loaded, package)
  try(ResourcePackage.unload, package)
  try(Application.release_resource_package, package)
end

function use.lua(name)
  try(require, (name:gsub("/", ".")))
end

local frames = 0

return {
  update = function(_, argument)
    frames = frames + 1
    if frames % 2 == 0 then return end
    begin_case()
    local kind, name = argument:match("^(.-):(.*)$")
    use[kind](name)
  end,
}
