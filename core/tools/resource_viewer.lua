-- Shows a unit, a level or a material of a game so that it fills the screen:
-- `engine run GAME --boot core/tools/resource_viewer -- unit units/barrel`. `engine diff --html`
-- draws both versions of a resource with it, and passes the box of the other version, so that both
-- have the same view: its centre and half of its size. The game's own main.lua does not run.

-- A painted material is one without a surface: it is for sprites and Guis.
local KINDS = { unit = true, level = true, material = true, painted = true }

local kind, name, x, y, z, half_x, half_y, half_z = Application.argv()
local world, camera, gui

-- Returns the units of the resource, in the world.
local function spawn()
  if kind == "level" then return Level.units(World.spawn_level(world, name)) end
  if kind == "unit" then return { World.spawn_unit(world, name) } end
  local ball = World.spawn_unit(world, "core/units/sphere")
  local mesh, material = Unit.mesh(ball, 1), Material.new(name)
  for index = 1, Mesh.num_materials(mesh) do Mesh.set_material(mesh, index, material) end
  return { ball }
end

-- Returns the centre of all meshes and sprites, half of their size, and true if none is a mesh.
local function measure(units)
  local pose, half
  local meshes, others = 0, 0
  for _, unit in ipairs(units) do
    local own_pose, own_half = Unit.box(unit)
    if Vector3.length(own_half) > 0 then
      if not pose then
        pose = Matrix4x4.from_translation(Matrix4x4.translation(own_pose))
        half = Vector3(0, 0, 0)
      end
      pose, half = Math.merge_boxes(pose, half, own_pose, own_half)
    end
    meshes = meshes + Unit.num_meshes(unit)
    others = others + Unit.num_sprites(unit) + Unit.num_tilemaps(unit)
  end
  local center = pose and Matrix4x4.translation(pose) or Vector3(0, 0, 0)
  half = pose and half or Vector3(1, 1, 1)
  if half_z then
    local other, reach = Vector3(x, y, z), Vector3(half_x, half_y, half_z)
    local low = Vector3.min(center - half, other - reach)
    local high = Vector3.max(center + half, other + reach)
    -- Exactly the other box if it is large enough: then both views are equal.
    local wider = (high - low) * 0.5 - reach
    if math.max(wider.x, wider.y, wider.z) < 0.0001 * Vector3.length(reach) then
      center, half = other, reach
    else
      center, half = (low + high) * 0.5, (high - low) * 0.5
    end
  end
  return center, half, meshes == 0 and others > 0
end

-- Prints the box that is shown, for the view of another version.
local function print_box(center, half)
  local box = { center.x, center.y, center.z, half.x, half.y, half.z }
  for index, number in ipairs(box) do box[index] = string.format("%.17g", number) end
  print("resource_viewer: box " .. table.concat(box, " "))
end

local function show_flat()
  Application.release_world(world)
  world = Application.new_world("2d")
  local center, half = measure(spawn())
  print_box(center, half)
  local width, height = Gui.resolution()
  camera = World.main_camera(world)
  Camera.set_local_position(camera, Vector3(center.x, center.y, 10))
  local size = 2.2 * math.max(half.y, half.x * height / width)
  if size > 0 then Camera.set_orthographic_size(camera, size) end
end

local function show_solid(center, half)
  print_box(center, half)
  camera = Application.create_camera()
  local angle = math.rad(40)
  local reach = math.max(Vector3.length(half), 0.01)
  local away = Vector3.normalize(Vector3(0.5, -1, 0.55)) * (reach / math.sin(angle / 2))
  Camera.set_vertical_fov(camera, angle)
  Camera.set_local_position(camera, center + away)
  Camera.set_local_rotation(camera, Quaternion.look(-away, Vector3.up()))
  Camera.set_near_range(camera, Vector3.length(away) / 200)
  Camera.set_far_range(camera, Vector3.length(away) * 4)
end

function init()
  assert(KINDS[kind] and name, "pass a kind (unit, level, material, painted) and a name")
  if half_z then
    x, y, z = tonumber(x), tonumber(y), tonumber(z)
    half_x, half_y, half_z = tonumber(half_x), tonumber(half_y), tonumber(half_z)
    assert(x and y and z and half_x and half_y and half_z, "a box has six numbers")
  end
  world = Application.new_world()
  gui = World.create_screen_gui(world, "immediate")
  if kind == "painted" then return end
  local center, half, is_flat = measure(spawn())
  if is_flat then show_flat() else show_solid(center, half) end
end

function update(dt) World.update(world, dt) end

function render()
  if kind == "painted" then
    local width, height = Gui.resolution(gui)
    local size = math.min(width, height) * 0.8
    local corner = Vector3((width - size) / 2, (height - size) / 2, 1)
    Gui.bitmap(gui, name, corner, Vector2(size, size))
  end
  Application.render_world(world, camera)
end
