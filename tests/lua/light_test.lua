-- Suite of the lights of units, and of the surroundings of a world.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

local function near(a, b) assert.is_true(Vector3.almost_equal(a, b, 1e-4)) end

describe("a light", function()
  local world, unit, light

  before_each(function()
    world = Application.new_world()
    unit = World.spawn_unit(world, "core/units/light", Vector3(0, 0, 4))
    light = Unit.light(unit, 1)
  end)
  after_each(function() Application.release_world(world) end)

  it("belongs to a node of its unit", function()
    assert.is_true(Light.alive(light))
    assert.equals(unit, Light.unit(light))
    assert.equals(1, Light.node(light))
    assert.equals(light, Unit.light(unit, "light"))
    assert.is_true(Unit.has_light(unit, 1))
    assert.is_false(Unit.has_light(unit, "lamp"))
    assert.equals(1, Unit.num_lights(unit))
    near(Vector3(0, 0, 4), Light.world_position(light))
    Light.set_local_pose(light, Matrix4x4.from_translation(Vector3(1, 0, 0)))
    near(Vector3(1, 0, 0), Matrix4x4.translation(Light.local_pose(light)))
    near(Vector3(1, 0, 4), Matrix4x4.translation(Light.world_pose(light)))
    near(Vector3(0, 1, 0), Quaternion.forward(Light.world_rotation(light)))
    assert.equals("Unit.light: argument #2 'light': unit \"core/units/light\" has the lights 1 to "
      .. "1, got 3", error_of(Unit.light, unit, 3))
  end)

  it("has a colour, an intensity and a range", function()
    Light.set_color(light, Color(255, 0, 0))
    near(Vector3(1, 0, 0), Light.color(light))
    Light.set_color(light, Vector3(2, 1, 0.5))
    near(Vector3(2, 1, 0.5), Light.color(light))
    Light.set_intensity(light, 2)
    assert.equals(2, Light.intensity(light))
    assert.equals(32, Light.falloff_end(light))
    Light.set_falloff_end(light, 7)
    assert.equals(7, Light.falloff_end(light))
    assert.equals("Light.set_color: argument #2 'color' must be Color or Vector3, got number 3 "
      .. "(write Color(r, g, b), with parts from 0 to 255)", error_of(Light.set_color, light, 3))
    assert.equals("Light.set_color: argument #2 'color' must have parts from 0 to 1000000000, got "
      .. "Vector3(-1, 0, 0)", error_of(Light.set_color, light, Vector3(-1, 0, 0)))
    assert.equals("Light.set_intensity: argument #2 'intensity' must be from 0 to 1000000000, got "
      .. "-1", error_of(Light.set_intensity, light, -1))
    assert.has_error(function() Light.set_intensity(light, 1e10) end)
    assert.has_error(function() Light.set_color(light, Vector3(0, 1e10, 0)) end)
    assert.equals("Light.set_falloff_end: argument #2 'distance' must be from 0 to 1000000000, got "
      .. "-2", error_of(Light.set_falloff_end, light, -2))
  end)

  it("has a pose relative to its node", function()
    Light.set_local_position(light, Vector3(0, 2, 1))
    near(Vector3(0, 2, 1), Light.local_position(light))
    near(Vector3(0, 2, 5), Light.world_position(light))
    local down = Quaternion.axis_angle(Vector3(1, 0, 0), -math.pi / 2)
    Light.set_local_rotation(light, down)
    near(Vector3(0, 2, 1), Light.local_position(light))
    near(Vector3(0, 0, -1), Quaternion.forward(Light.local_rotation(light)))
    near(Vector3(0, 0, -1), Quaternion.forward(Light.world_rotation(light)))
    assert.matches("Light.set_local_rotation: argument #2 'rotation' must have length 1, this one "
      .. "has 2", error_of(Light.set_local_rotation, light,
      Quaternion.from_elements(0, 0, 0, 2)), 1, true)
  end)

  it("has a shadow bias", function()
    assert.equals(1, Light.shadow_depth_bias(light))
    Light.set_shadow_depth_bias(light, 2.5)
    assert.equals(2.5, Light.shadow_depth_bias(light))
    assert.equals("Light.set_shadow_depth_bias: argument #2 'bias' must be from 0 to 100, got -1",
      error_of(Light.set_shadow_depth_bias, light, -1))
  end)

  it("has a source with a size", function()
    assert.equals(0, Light.source_radius(light))
    assert.equals(0, Light.source_angle(light))
    Light.set_source_radius(light, 0.25)
    Light.set_source_angle(light, math.rad(2))
    assert.equals(0.25, Light.source_radius(light))
    assert.near(math.rad(2), Light.source_angle(light), 1e-6)
    Light.set_source_angle(light, math.rad(20))
    assert.near(math.rad(20), Light.source_angle(light), 1e-6)
    assert.equals("Light.set_source_radius: argument #2 'radius' must be from 0 to 10, got 10.5",
      error_of(Light.set_source_radius, light, 10.5))
    assert.equals("Light.set_source_radius: argument #2 'radius' must be from 0 to 10, got -1",
      error_of(Light.set_source_radius, light, -1))
    assert.matches("argument #2 'angle' must be from 0 to 0.34906587 radians (20 degrees), got 20",
      error_of(Light.set_source_angle, light, 20), 1, true)
    for _, wrong in ipairs { 0 / 0, 1 / 0, -1 / 0 } do
      assert.matches("must be a finite number", error_of(Light.set_source_radius, light, wrong))
      assert.matches("must be a finite number", error_of(Light.set_source_angle, light, wrong))
    end
    assert.matches("argument #1 'light'", error_of(Light.source_radius, 3))
    assert.matches("argument #1 'light'", error_of(Light.source_angle, 3))
    Light.set_source_radius(light, 0)
    Light.set_source_angle(light, 0)
  end)

  it("can be flat, for 2D games", function()
    assert.is_false(Light.flat(light))
    Light.set_flat(light, true)
    assert.is_true(Light.flat(light))
    assert.equals(1, Light.height(light))
    Light.set_height(light, 2.5)
    assert.equals(2.5, Light.height(light))
    assert.matches(", flat", Unit.inspect(unit))
    assert.equals("Light.set_height: argument #2 'height' must be from 0 to 10000, got -1",
      error_of(Light.set_height, light, -1))
    assert.matches("must be a finite number", error_of(Light.set_height, light, 0 / 0))
    assert.equals("Light.set_type: argument #2 'type': a directional light cannot be flat: only "
      .. "omni and spot lights can", error_of(Light.set_type, light, "directional"))
    Light.set_type(light, "spot")
    Light.set_flat(light, false)
    Light.set_type(light, "disc")
    assert.matches("argument #2 'flat': a disc light cannot be flat",
      error_of(Light.set_flat, light, true))
    assert.matches("argument #2 'flat'", error_of(Light.set_flat, light, 1))
    assert.matches("argument #1 'light'", error_of(Light.flat, 3))
    assert.matches("argument #1 'light'", error_of(Light.height, 3))
  end)

  it("is a rectangle or a disc", function()
    assert.equals(1, Light.source_width(light))
    assert.equals(1, Light.source_height(light))
    for _, kind in ipairs { "rectangle", "disc" } do
      Light.set_type(light, kind)
      assert.equals(kind, Light.type(light))
      Light.set_casts_shadows(light, true)
      Light.set_source_width(light, 2.5)
      Light.set_source_height(light, 0.01)
      assert.equals(2.5, Light.source_width(light))
      assert.near(0.01, Light.source_height(light), 1e-6)
      test.frames(1)
      assert.matches("argument #2 'name': a " .. kind .. " light has no texture",
        error_of(Light.set_texture, light, "pictures/noise"))
    end
    assert.equals("Light.set_source_width: argument #2 'width' must be from 0.01 to 100, got 0",
      error_of(Light.set_source_width, light, 0))
    assert.equals("Light.set_source_height: argument #2 'height' must be from 0.01 to 100, got 101",
      error_of(Light.set_source_height, light, 101))
    for _, wrong in ipairs { 0 / 0, 1 / 0, -1 / 0 } do
      assert.matches("must be a finite number", error_of(Light.set_source_width, light, wrong))
      assert.matches("must be a finite number", error_of(Light.set_source_height, light, wrong))
    end
    assert.matches("argument #1 'light'", error_of(Light.source_width, 3))
    assert.matches("argument #1 'light'", error_of(Light.source_height, 3))
    Light.set_type(light, "omni")
  end)

  it("has light layers", function()
    assert.equals(255, Light.layers(light))
    Light.set_layers(light, 5)
    assert.equals(5, Light.layers(light))
    for _, wrong in ipairs { -1, 256, 0.5 } do
      assert.matches("argument #2 'layers' must be a whole number from 0 to 255",
        error_of(Light.set_layers, light, wrong))
    end
    for _, wrong in ipairs { 0 / 0, 1 / 0 } do
      assert.matches("must be a finite number", error_of(Light.set_layers, light, wrong))
    end
    assert.matches("argument #1 'light'", error_of(Light.layers, 3))
    Light.set_layers(light, 255)
  end)

  it("has a texture", function()
    Light.set_texture(light, "pictures/noise")
    test.frames(1)
    Light.set_texture(light, nil)
    assert.matches("pictures/nois", error_of(Light.set_texture, light, "pictures/nois"))
    Light.set_texture(light, "pictures/noise")
    assert.matches("argument #2 'type': a directional light has no texture",
      error_of(Light.set_type, light, "directional"))
    Light.set_texture(light, nil)
    Light.set_type(light, "directional")
    assert.matches("argument #2 'name': a directional light has no texture",
      error_of(Light.set_texture, light, "pictures/noise"))
    Light.set_texture(light, nil)
    Light.set_type(light, "omni")
  end)

  it("has a type", function()
    assert.equals("omni", Light.type(light))
    Light.set_casts_shadows(light, true)
    assert.is_true(Light.casts_shadows(light))
    Light.set_type(light, "spot")
    Light.set_casts_shadows(light, true)
    assert.is_true(Light.casts_shadows(light))
    Light.set_spot_angle_end(light, 0.25)
    assert.equals(0.25, Light.spot_angle_end(light))
    assert.equals(0.25, Light.spot_angle_start(light))
    Light.set_spot_angle_start(light, 0.5)
    assert.equals(0.5, Light.spot_angle_end(light))
    assert.matches("must be above 0 and at most half of pi radians, got 30",
      error_of(Light.set_spot_angle_end, light, 30))
    assert.has_error(function() Light.set_spot_angle_start(light, -1) end)
    assert.equals("Light.set_type: argument #2 'type' must be \"omni\", \"spot\", "
      .. "\"directional\", \"rectangle\" or \"disc\", got \"spit\", did you mean 'spot'?",
      error_of(Light.set_type, light, "spit"))
  end)

  it("refuses a pose without scale, and has a rotation on a node without scale", function()
    local flat = "Light.set_local_pose: argument #2 'pose' is flat: one of its axes has length "
      .. "0, or lies in the plane of the others"
    local function scaled(scale)
      return Matrix4x4.from_quaternion_position_scale(Quaternion.identity(), Vector3(1, 2, 3),
        scale)
    end
    for _, scale in ipairs({ Vector3(0, 0, 0), Vector3(1, 0, 1), Vector3(0, 1, 1) }) do
      assert.equals(flat, error_of(Light.set_local_pose, light, scaled(scale)))
    end
    local x, z = Vector3(1, 0, 0), Vector3(0, 0, 1)
    assert.equals(flat, error_of(Light.set_local_pose, light, Matrix4x4.from_axes(x, x, z, z)))
    near(Vector3(0, 0, 0), Matrix4x4.translation(Light.local_pose(light)))
    Light.set_local_pose(light, scaled(Vector3(-2, 0.001, 3)))
    near(Vector3(1, 2, 3), Light.local_position(light))
    Unit.set_local_scale(unit, 1, Vector3(0, 0, 0))
    for _, rotation in ipairs({ Light.world_rotation(light), Light.local_rotation(light) }) do
      assert.is_true(math.abs(Quaternion.norm(rotation) - 1) < 1e-4, tostring(rotation))
    end
  end)

  it("is enabled and disabled", function()
    assert.is_true(Light.enabled(light))
    Light.set_enabled(light, false)
    assert.is_false(Light.enabled(light))
    World.destroy_unit(world, unit)
    assert.is_false(Light.alive(light))
    assert.matches("light was destroyed in frame", error_of(Light.color, light))
  end)

  it("refuses other handles", function()
    for name, fn in pairs(Light) do
      if type(fn) == "function" then assert.has_error(function() fn("x") end, nil, name) end
    end
  end)
end)

describe("the sky", function()
  local world
  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("keeps omitted options", function()
    local before = World.sky(world)
    assert.error_matches(function() World.set_sky(world, { colour = 3 }) end,
      "unknown option 'colour': the colors are 'top', 'horizon' and 'ground'")
    World.set_sky(world, { top = Vector3(1, 2, 3), shown = true, exposure = 2, fog_density = 0.5 })
    local sky = World.sky(world)
    near(Vector3(1, 2, 3), sky.top)
    near(before.ground, sky.ground)
    assert.is_true(sky.shown)
    assert.equals(2, sky.exposure)
    assert.equals(0.5, sky.fog_density)
    assert.is_true(sky.tone_mapping)
    World.set_sky(world, { horizon = Color(255, 255, 255), tone_mapping = false })
    assert.is_false(World.sky(world).tone_mapping)
    near(Vector3(1, 1, 1), World.sky(world).horizon)
  end)

  it("is that of a day with a sun, except in flat worlds and with no_sky", function()
    local sky = World.sky(world)
    assert.equals("perspective", sky.shown)
    assert.is_true(sky.sun and sky.top.z > sky.top.x)
    for _, flag in ipairs({ "2d", "no_sky" }) do
      local bare = Application.new_world(flag)
      assert.is_false(World.sky(bare).shown)
      assert.is_false(World.sky(bare).sun)
      assert.is_true(World.sky(bare).top.z < sky.top.z)
      World.set_sky(bare, { sun = true, shown = "perspective" })
      assert.is_true(World.sky(bare).sun)
      assert.equals("perspective", World.sky(bare).shown)
      Application.release_world(bare)
    end
  end)

  it("loses the default sun with colors of its own", function()
    World.set_sky(world, { fog_density = 0.1, exposure = 2 })
    assert.is_true(World.sky(world).sun)
    World.set_sky(world, { top = Color(1, 2, 3), sun = true })
    assert.is_true(World.sky(world).sun)
    World.set_sky(world, { ground = Color(1, 2, 3) })
    assert.is_false(World.sky(world).sun)
    assert.equals("perspective", World.sky(world).shown)
    World.set_sky(world, World.sky(world))
    assert.is_false(World.sky(world).sun)
  end)

  it("reports invalid arguments", function()
    local function check(options, message)
      assert.equals("World.set_sky: " .. message, error_of(World.set_sky, world, options))
    end
    check(3, "argument #2 'options' must be table, got number 3")
    check({ tip = 1 }, "argument #2 'options' has the unknown option 'tip', did you mean 'top'?")
    check({ top = 1 }, "argument #2 'top' must be Color or Vector3, got number 1 (write "
      .. "Color(r, g, b), with parts from 0 to 255)")
    check({ exposure = -1 }, "'exposure' must be a number from 0 to 1e+09, got number -1")
    check({ fog_density = 1e300 },
      "'fog_density' must be a number from 0 to 1e+09, got number 1e+300")
    check({ top = Vector3(0, -1, 0) },
      "'top' must have parts from 0 to 1e+09, got Vector3(0, -1, 0)")
    check({ shown = 1 }, "'shown' must be true, false or \"perspective\", got number 1")
    check({ sun = "yes" }, "'sun' must be true or false, got string \"yes\"")
    assert.has_error(function() World.sky(nil) end)
  end)
end)
