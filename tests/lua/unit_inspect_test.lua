-- Suite of `Unit.inspect`: its lines about components of the engine. They show what the functions
-- for scripts return, formatted as scripts format it.

local format = string.format

local function number(value) return format("%.6g", value) end

local function mesh_line(unit, i)
  local mesh = Unit.mesh(unit, i)
  return format("mesh %d %q at node %d, %d triangles%s%s", i, Mesh.debug_name(mesh),
    Mesh.node(mesh), Mesh.num_triangles(mesh), Mesh.visibility(mesh) and "" or ", hidden",
    Mesh.casts_shadows(mesh) and "" or ", without shadow")
end

local function light_line(unit, i)
  local light = Unit.light(unit, i)
  return format("light %d %s at node %d, colour %s, intensity %s, to %s m%s%s", i,
    Light.type(light), Light.node(light), tostring(Light.color(light)),
    number(Light.intensity(light)), number(Light.falloff_end(light)),
    Light.casts_shadows(light) and ", with shadows" or "", Light.enabled(light) and "" or ", off")
end

local function camera_line(unit, i)
  local camera = Unit.camera(unit, i)
  return format("camera %d %s at %s, from %s to %s m", i, Camera.projection_type(camera),
    tostring(Camera.world_position(camera)), number(Camera.near_range(camera)),
    number(Camera.far_range(camera)))
end

local function actor_line(unit, i)
  local actor = Unit.actor(unit, i)
  if not actor then return format("actor %d ended", i) end
  local kind = Actor.is_trigger(actor) and "trigger" or Actor.is_static(actor) and "static"
    or Actor.is_kinematic(actor) and "kinematic" or "dynamic"
  return format("actor %d %q %s on node %d at %s, %g kg, velocity %s%s", i,
    Actor.debug_name(actor), kind, Actor.node(actor), tostring(Actor.position(actor)),
    Actor.mass(actor), tostring(Actor.velocity(actor)),
    Actor.is_sleeping(actor) and ", asleep" or "")
end

local function mover_line(unit)
  local mover = Unit.mover(unit)
  return format("mover %q at %s%s", Mover.debug_name(mover), tostring(Mover.position(mover)),
    Mover.standing_frames(mover) > 0 and ", on the ground" or "")
end

-- Returns the lines that do not describe nodes or data.
local function component_lines(unit)
  local lines = {}
  for line in Unit.inspect(unit):match("\n(component .*)\ndata\n"):gmatch("[^\n]+") do
    lines[#lines + 1] = line
  end
  return lines
end

describe("the description of a unit", function()
  local world, unit

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "units/varied", Vector3(0.1, -2 / 3, 1e-7))
  end)
  after_each(function() Application.release_world(world) end)

  it("has script components, then meshes, lights, cameras, sprites, tile maps, physics", function()
    Unit.set_local_position(unit, 2, Vector3(0.7, 0, 250000.125))
    assert.same({
      'component "health" (health)',
      "  10 left",
      mesh_line(unit, 1),
      light_line(unit, 1),
      light_line(unit, 2),
      camera_line(unit, 1),
      camera_line(unit, 2),
      'sprite 1 "pictures/hero/1" at node 1, 0.12 x 3.00 m, layer 0',
      'tilemap 1 "maps/cave" at node 1, 4 x 3 cells, layer -2, hidden',
      actor_line(unit, 1),
      actor_line(unit, 2),
      actor_line(unit, 3),
      actor_line(unit, 4),
      mover_line(unit),
    }, component_lines(unit))
  end)

  it("shows each type of component with its values", function()
    local text = Unit.inspect(unit)
    for _, line in ipairs({
      'mesh 1 "core/models/cube/cube" at node 2, 12 triangles, hidden, without shadow\n',
      "light 1 spot at node 1, colour Vector3(0.1, 0.33333334, 2e-07), intensity 1000.12, to 1e+06 "
        .. "m, with shadows\n",
      "light 2 directional at node 2, colour Vector3(1, 1, 1), intensity 1, to 16 m, off\n",
      "camera 1 orthographic at Vector3(0.1, -0.6666667, 1e-07), from 0.1 to 1000 m\n",
      "camera 2 perspective at Vector3(0.2, -0.6666667, 1000000.5), from 0.3 to 123457 m\n",
      'actor 1 "body" dynamic on node 1 at Vector3(0.1, -0.6666667, 1e-07), 1000.12 kg, '
        .. "velocity Vector3(0, 0, 0)\n",
      'actor 2 "base" static on node 1 at Vector3(0.1, -0.6666667, 1e-07), 0 kg, '
        .. "velocity Vector3(0, 0, 0)\n",
      'actor 3 "hand" kinematic on node 1',
      'actor 4 "zone" trigger on node 1',
      'mover "foot" at Vector3(0.1, -0.6666667, 1e-07)\n',
    }) do
      assert.matches(line, text, 1, true)
    end
  end)

  it("follows what scripts change", function()
    Mesh.set_visibility(Unit.mesh(unit, 1), true)
    Light.set_intensity(Unit.light(unit, 1), 1 / 3)
    Light.set_enabled(Unit.light(unit, 2), true)
    Camera.set_local_position(Unit.camera(unit, 2), Vector3(1, 2, 3))
    Actor.set_velocity(Unit.actor(unit, 1), Vector3(1e-5, 2.5, -1e6 / 1024))
    Actor.put_to_sleep(Unit.actor(unit, 1))
    Unit.destroy_actor(unit, 2)
    Unit.create_actor(unit, 'the "lid"\\\n\0017', { type = "static", shape = "sphere", radius = 1 })
    local text = Unit.inspect(unit)
    for _, line in ipairs({
      mesh_line(unit, 1), light_line(unit, 1), light_line(unit, 2), camera_line(unit, 2),
      actor_line(unit, 1), actor_line(unit, 2), actor_line(unit, 5),
    }) do
      assert.matches(line .. "\n", text, 1, true)
    end
    Application.destroy_camera(Unit.camera(unit, 1))
    Unit.set_mover(unit, nil)
    Unit.set_unit_visibility(unit, false)
    text = Unit.inspect(unit)
    assert.is_nil(text:find("mover", 1, true))
    assert.matches("camera 1 ended\n", text, 1, true)
    assert.matches("layer 0, hidden\n", text, 1, true)
    assert.matches("12 triangles, without shadow\n", text, 1, true)
  end)

  it("names the textures that sprites show, also those that are drawn into", function()
    local gui = World.create_texture_gui(world, "inspected", 8, 8)
    Sprite.set_texture(Unit.sprite(unit, 1), "inspected")
    assert.matches('sprite 1 "inspected" at node 1', Unit.inspect(unit), 1, true)
    World.destroy_gui(world, gui)
    test.frames(1)
    assert.matches('sprite 1 "" at node 1', Unit.inspect(unit), 1, true)
  end)
end)
