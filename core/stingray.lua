-- `require "stingray"`: a porting layer for games of the Bitsquid family. It adds the names,
-- constants and argument orders of that family that can be mapped to functions of this engine, and
-- a global `stingray`. docs/coming_from_stingray.md lists them. The sound part is in
-- stingray_sound.lua.

local Stingray = {}

local format = string.format

-- Adds functions to a module, which is created if the engine does not have it.
local function add(name, functions)
  local module = rawget(_G, name)
  if module == nil then
    module = {}
    rawset(_G, name, module)
  end
  for key, value in pairs(functions) do module[key] = value end
  return module
end

local function nothing() end

local function no()
  return false
end

local reported = {}

-- Warns of a call that has no effect, with the line of the game that made it.
local function warn_once(key, message)
  if reported[key] then return end
  reported[key] = true
  Script.warn(message, 3)
end

rawset(_G, "stingray", setmetatable({}, { __index = _G }))

-- Flow -------------------------------------------------------------------------------------------

local flow_handler
local unit_flow_event, level_trigger_event = Unit.flow_event, Level.trigger_event

---Sets the function that receives the events of `Unit.flow_event` and `Level.trigger_event`,
---for objects without a graph: `function(object, event)`. Without one, each event is reported once.
---@param handler fun(object: Unit|Level, event: string)|nil
function Stingray.on_flow_event(handler)
  flow_handler = handler
end

local has_graph = Flow.has_graph

local function flow_event(object, event)
  if has_graph(object) then
    (Unit.alive(object) and unit_flow_event or level_trigger_event)(object, event)
  elseif flow_handler then
    flow_handler(object, event)
  else
    warn_once(event, format("the flow event '%s' reaches nothing: Stingray.on_flow_event sets the "
      .. "function that receives it", tostring(event)))
  end
end

-- Application ------------------------------------------------------------------------------------

local new_world = Application.new_world
local create_viewport, destroy_viewport = Application.create_viewport, Application.destroy_viewport

-- Flags without an equivalent: cloth and replays do not exist here.
local NO_FLAG = ""

add("Application", {
  DISABLE_PHYSICS = "no_physics",
  DISABLE_SOUND = "no_sound",
  DISABLE_RENDERING = "no_rendering",
  DISABLE_APEX_CLOTH = NO_FLAG,
  ENABLE_REPLAY = NO_FLAG,
  new_world = function(...)
    local flags = {}
    for i = 1, select("#", ...) do
      local flag = (select(i, ...))
      if flag ~= NO_FLAG then flags[#flags + 1] = flag end
    end
    return new_world(unpack(flags))
  end,
  -- In the family, a viewport belongs to a world and has a template.
  create_viewport = function(world, ...)
    if type(world) == "number" then return create_viewport() end
    return create_viewport(world, ...)
  end,
  destroy_viewport = function(world, viewport)
    destroy_viewport(viewport or world)
  end,
  resolution = Window.resolution,
  flow_callback_context_entity = nothing,
  flow_callback_context_level = nothing,
  flow_callback_context_unit = nothing,
  flow_callback_context_world = nothing,
})

-- Worlds and levels ------------------------------------------------------------------------------

local create_particles, create_line_object = World.create_particles, World.create_line_object
local create_environment = World.create_shading_environment
local set_environment = World.set_shading_environment

add("World", {
  -- Groups of effects do not exist here.
  create_particles = function(world, name, position, rotation, scale)
    return create_particles(world, name, position, rotation, scale)
  end,
  -- In the family, a flag says whether objects hide the lines.
  create_line_object = function(world, _)
    return create_line_object(world)
  end,
  spawn_unit_ex = function(world, resource, _, position, rotation)
    return World.spawn_unit(world, resource, position, rotation)
  end,
  load_level = function(world, resource, position, rotation)
    return World.spawn_level(world, resource, position, rotation)
  end,
  load_level_with_object_sets = function(world, resource, sets, position, rotation)
    return World.spawn_level(world, resource, position, rotation, { object_sets = sets })
  end,
  num_level = function(world)
    return #World.levels(world)
  end,
  get_gui_by_id = function(_, id)
    return id
  end,
  -- Poses are brought up to date when they are read.
  update_unit = nothing,
  update_unit_and_children = nothing,
  update_animations = nothing,
  update_animations_with_callback = function()
    warn_once("World.update_animations_with_callback", "World.update_animations_with_callback "
      .. "calls nothing: World.update moves the animations, and calls on_animation_event")
  end,
  update_scene = function(world, delta)
    World.update(world, delta)
  end,
  -- Resources that the game lacks have the values of the world.
  create_shading_environment = function(world, name)
    if name and not Application.can_get("shading_environment", name) then name = nil end
    return create_environment(world, name)
  end,
  set_shading_environment = function(world, environment, name)
    if name and Application.can_get("shading_environment", name) then
      set_environment(world, environment, name)
    end
  end,
})

add("Level", {
  trigger_event = flow_event,
  trigger_level_loaded = nothing,
  trigger_level_shutdown = nothing,
  trigger_level_update = nothing,
  -- All units of a level are spawned with it.
  spawn_background = nothing,
  flow_variable = function(level, name)
    return Level.get_data(level, "flow_variables", name)
  end,
  set_flow_variable = function(level, name, value)
    Level.set_data(level, "flow_variables", name, value)
  end,
})

-- Values of environments that this engine lacks, by environment and name. They have no effect.
local other_values = {}
local values

local function is_value(name)
  if not values then
    values = {}
    for _, known in ipairs(ShadingEnvironment.names()) do values[known] = true end
  end
  return values[name]
end

local blend_environments = ShadingEnvironment.blend

-- Returns functions that read and write a value of the engine, or one that it lacks.
local function accessors(read, write)
  local function get(environment, name)
    if is_value(name) then return read(environment, name) end
    local others = other_values[environment]
    return others and others[name]
  end
  local function set(environment, name, value)
    if is_value(name) then return write(environment, name, value) end
    local others = other_values[environment] or {}
    others[name] = value
    other_values[environment] = others
  end
  return get, set
end

local scalar, set_scalar = accessors(ShadingEnvironment.scalar, ShadingEnvironment.set_scalar)
local vector2, set_vector2 = accessors(ShadingEnvironment.vector2, ShadingEnvironment.set_vector2)
local vector3, set_vector3 = accessors(ShadingEnvironment.vector3, ShadingEnvironment.set_vector3)

add("ShadingEnvironment", {
  scalar = scalar, set_scalar = set_scalar,
  vector2 = vector2, set_vector2 = set_vector2,
  vector3 = vector3, set_vector3 = set_vector3,
  -- Resources that the game lacks are left out.
  blend = function(environment, resources)
    local known = {}
    for i = 1, #resources - 1, 2 do
      local name, weight = resources[i], resources[i + 1]
      if weight > 0 and Application.can_get("shading_environment", name) then
        known[#known + 1] = name
        known[#known + 1] = weight
      end
    end
    if #known > 0 then blend_environments(environment, known) end
  end,
})

-- Morph targets ----------------------------------------------------------------------------------

local blend_weight, set_blend_weight = BlendShape.blend_weight, BlendShape.set_blend_weight

add("BlendShape", {
  -- In the family, a target belongs to a mesh; here, a name means the targets of all meshes.
  blend_weight = function(unit, mesh, target)
    return blend_weight(unit, target or mesh)
  end,
  set_blend_weight = function(unit, mesh, target, weight)
    if weight == nil then return set_blend_weight(unit, mesh, target) end
    set_blend_weight(unit, target, weight)
  end,
  channel_blend_weight = blend_weight,
  set_channel_blend_weight = set_blend_weight,
  -- Weights take effect in the next frame, however many there are.
  set_vertex_anim_gpu_transfer_available_time = nothing,
})

-- Units ------------------------------------------------------------------------------------------

-- Materials of single meshes, by mesh and index: those of models are shared by all units.
local own_materials = {}

local function destroy_unused_materials()
  for mesh, materials in pairs(own_materials) do
    if not Mesh.alive(mesh) then
      for _, material in pairs(materials) do
        if Material.alive(material) then Material.destroy(material) end
      end
      own_materials[mesh] = nil
    end
  end
end

-- Returns the material of one mesh alone. Returns nil for a mesh that is plain white.
local function own_material(mesh, index)
  local materials = own_materials[mesh]
  if materials and materials[index] then return materials[index] end
  local shared = Mesh.material(mesh, index)
  if not shared then return nil end
  if not materials then
    destroy_unused_materials()
    materials = {}
    own_materials[mesh] = materials
  end
  materials[index] = Material.new(Material.name(shared))
  Mesh.set_material(mesh, index, materials[index])
  return materials[index]
end

-- Sets a variable of a unit's materials: those of a slot, or all that have the variable.
local function set_variable(set, unit, slot, name, value)
  for i = 1, Unit.num_meshes(unit) do
    local mesh = Unit.mesh(unit, i)
    for index = 1, Mesh.num_materials(mesh) do
      if slot == nil or Mesh.material_slot_name(mesh, index) == slot then
        local material = own_material(mesh, index)
        if material and slot == nil then
          -- The family skips materials without the variable.
          pcall(set, material, name, value)
        elseif material then
          set(material, name, value)
        end
      end
    end
  end
end

local functions = {
  flow_event = flow_event,
  flow_variable = function(unit, name)
    return Unit.get_data(unit, "flow_variables", name)
  end,
  set_flow_variable = function(unit, name, value)
    Unit.set_data(unit, "flow_variables", name, value)
  end,
  num_scene_graph_items = Unit.num_nodes,
  name_hash = function(unit)
    return IdString64(Unit.debug_name(unit))
  end,
  teleport_local_scale = Unit.set_local_scale,
  set_moving = nothing,
  apply_initial_actor_velocities = nothing,
  has_lod_object = no,
  has_terrain = no,
  num_lod_objects = function() return 0 end,
  num_cloths = function() return 0 end,
  num_terrains = function() return 0 end,
}
for kind, set in pairs({ scalar = Material.set_scalar, vector2 = Material.set_vector2,
  vector3 = Material.set_vector3, vector4 = Material.set_vector4, color = Material.set_color }) do
  functions["set_" .. kind .. "_for_material"] = function(unit, slot, name, value)
    set_variable(set, unit, slot, name, value)
  end
  functions["set_" .. kind .. "_for_materials"] = function(unit, name, value)
    set_variable(set, unit, nil, name, value)
  end
end
add("Unit", functions)

-- Cameras ----------------------------------------------------------------------------------------

-- In the family, the unit of the camera is the second argument. Here a camera knows its unit.
for _, name in ipairs({ "local_pose", "local_position", "local_rotation", "set_local_pose",
  "set_local_position", "set_local_rotation" }) do
  local call = Camera[name]
  Camera[name] = function(camera, first, ...)
    if type(first) == "number" and Unit.alive(first) then return call(camera, ...) end
    return call(camera, first, ...)
  end
end

-- Joints -----------------------------------------------------------------------------------------

add("Joint", {
  revolute_angle = Joint.value,
  revolute_velocity = Joint.velocity,
  prismatic_position = Joint.value,
  prismatic_velocity = Joint.velocity,
  distance_distance = Joint.value,
})

-- Input ------------------------------------------------------------------------------------------

-- In the family, the keys among the typed characters are numbers, so that `type` tells them apart.
local number_of = {}
for constant, key in pairs(Keyboard) do
  if type(constant) == "string" and type(key) == "string" and constant:upper() == constant then
    number_of[key] = Keyboard.button_index(key)
    Keyboard[constant] = number_of[key]
  end
end

local keystrokes = Keyboard.keystrokes

function Keyboard.keystrokes(into)
  local strokes = keystrokes(into)
  for i, stroke in ipairs(strokes) do strokes[i] = number_of[stroke] or stroke end
  return strokes
end

-- In the family, y of the mouse's movement points down, and a mode and a size of a dead zone can
-- follow the axis, which a mouse does not need.
local axis, movement = Mouse.axis, Mouse.axis_index("mouse")

add("Mouse", {
  RAW = "raw", CROSS = "independent", CIRCLE = "circular",
  axis = function(id)
    local value = axis(id)
    if id ~= "mouse" and id ~= movement then return value end
    return Vector3(value.x, -value.y, value.z)
  end,
})

-- In the family, a mode and a size of the dead zone can follow the axis of a pad. They hold for
-- this call.
for i = 1, 8 do
  local pad = rawget(_G, "Pad" .. i)
  local pad_axis, dead_zone, set_dead_zone = pad.axis, pad.dead_zone, pad.set_dead_zone
  pad.RAW, pad.CROSS, pad.CIRCLE = "raw", "independent", "circular"

  function pad.axis(id, mode, size)
    if mode == nil then return pad_axis(id) end
    local kept, kept_size = dead_zone(id)
    set_dead_zone(id, mode, size)
    local value = pad_axis(id)
    set_dead_zone(id, kept, kept_size)
    return value
  end
end

rawset(_G, "SwipeDirection", { LEFT = "left", RIGHT = "right", UP = "up", DOWN = "down" })

-- Windows ----------------------------------------------------------------------------------------

-- In the family, a window is the first argument; here it is the last one, after this many others.
local WINDOW_AFTER = { set_clip_cursor = 1, set_cursor = 1, set_ime_enabled = 1, set_rect = 4,
  set_resizable = 1, set_resolution = 2, set_show_cursor = 1, set_title = 1 }

for name, count in pairs(WINDOW_AFTER) do
  local call = Window[name]
  Window[name] = function(first, ...)
    local is_window = type(first) == "number" and Window.alive(first)
    if select("#", ...) == 0 or not is_window then return call(first, ...) end
    local arguments = { ... }
    arguments[count + 1] = first
    return call(unpack(arguments, 1, count + 1))
  end
end

-- Debug windows ----------------------------------------------------------------------------------

rawset(_G, "Imgui", setmetatable({
  text_colored = function(text, red, green, blue, alpha)
    if type(red) ~= "number" then return DebugUi.text_colored(text, red) end
    return DebugUi.text_colored(text, Color(alpha or 255, red, green, blue))
  end,
}, { __index = DebugUi }))

require("stingray_sound")

return Stingray
