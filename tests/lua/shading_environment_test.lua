-- Suite of shading environments: values, resources, blending, views. Errors of values and names.

local world
local create = World.create_shading_environment

before_each(function() world = Application.new_world() end)
after_each(function() Application.release_world(world) end)

local function error_of(call, ...)
  local passed, message = pcall(call, ...)
  assert.is_false(passed)
  return message
end

describe("a shading environment", function()
  it("begins with the values of its world", function()
    World.set_sky(world, { exposure = 3, top = Vector3(1, 2, 3) })
    local environment = create(world)
    assert.equals(3, ShadingEnvironment.scalar(environment, "exposure"))
    assert.equals(Vector3(1, 2, 3), ShadingEnvironment.vector3(environment, "sky_top"))
    World.set_sky(world, { exposure = 4 })
    assert.equals(4, ShadingEnvironment.scalar(environment, "exposure"))
    ShadingEnvironment.set_scalar(environment, "exposure", 0.5)
    World.set_sky(world, { exposure = 5 })
    assert.equals(0.5, ShadingEnvironment.scalar(environment, "exposure"))
    assert.equals(5, World.sky(world).exposure)
  end)

  it("has the values of a resource, and of several by weight", function()
    local environment = create(world, "environments/noon")
    assert.equals(2, ShadingEnvironment.scalar(environment, "exposure"))
    assert.equals(0, ShadingEnvironment.scalar(environment, "fog_density"))
    World.set_shading_environment(world, environment, "environments/mist")
    assert.equals(1, ShadingEnvironment.scalar(environment, "exposure"))
    assert.equals(0.5, ShadingEnvironment.scalar(environment, "fog_density"))
    ShadingEnvironment.blend(environment, { "environments/noon", 3, "environments/mist", 1 })
    assert.equals(1.75, ShadingEnvironment.scalar(environment, "exposure"))
    assert.equals(0.125, ShadingEnvironment.scalar(environment, "fog_density"))
    ShadingEnvironment.set_scalar(environment, "exposure", 7)
    ShadingEnvironment.blend(environment, { "environments/noon", 1 })
    assert.equals(2, ShadingEnvironment.scalar(environment, "exposure"))
  end)

  it("takes colours as colours and as linear light", function()
    local environment = create(world)
    ShadingEnvironment.set_color(environment, "fog_color", Color(255, 0, 255))
    assert.equals(Vector3(1, 0, 1), ShadingEnvironment.vector3(environment, "fog_color"))
    ShadingEnvironment.set_vector3(environment, "fog_color", Vector3(4, 5, 6))
    assert.equals(Vector3(4, 5, 6), ShadingEnvironment.vector3(environment, "fog_color"))
  end)

  it("is shown by its name, or by all views of its world", function()
    local environment = create(world, "environments/noon")
    assert.is_nil(World.shading_environment(world))
    ShadingEnvironment.apply(environment)
    assert.equals(environment, World.shading_environment(world))
    local other = create(world)
    Application.render_world(world, nil, nil, other)
    Application.render_world(world)
    World.destroy_shading_environment(world, environment)
    assert.is_nil(World.shading_environment(world))
    assert.is_false(ShadingEnvironment.alive(environment))
    Application.render_world(world)
  end)

  it("ends with its world", function()
    local short = Application.new_world()
    local environment = create(short)
    ShadingEnvironment.apply(environment)
    Application.release_world(short)
    assert.is_false(ShadingEnvironment.alive(environment))
    assert.matches("was destroyed in frame", error_of(ShadingEnvironment.apply, environment))
  end)

  it("refuses names, types and numbers that it does not have", function()
    local environment = create(world)
    assert.matches("argument #2 'name': there is no value 'exposre', did you mean 'exposure'",
      error_of(ShadingEnvironment.set_scalar, environment, "exposre", 1))
    assert.matches("'fog_color' is a colour: use set_color, or vector3",
      error_of(ShadingEnvironment.set_scalar, environment, "fog_color", 1))
    assert.matches("'exposure' is a number: use scalar and set_scalar",
      error_of(ShadingEnvironment.vector3, environment, "exposure"))
    assert.matches("'exposure' is a number: use scalar and set_scalar",
      error_of(ShadingEnvironment.set_vector4, environment, "exposure", Vector4(1, 2, 3, 4)))
    assert.matches("'exposure' must be a number from 0",
      error_of(ShadingEnvironment.set_scalar, environment, "exposure", -1))
    for _, number in ipairs({ 0 / 0, math.huge }) do
      assert.matches("must be a finite number",
        error_of(ShadingEnvironment.set_scalar, environment, "exposure", number))
    end
    assert.matches("no_such", error_of(create, world, "environments/no_such"))
    local function blend(list) return error_of(ShadingEnvironment.blend, environment, list) end
    local list = "must be a list of names, each followed by its weight"
    assert.matches(list, blend({}))
    assert.matches(list, blend({ "environments/noon" }))
    assert.matches(list, blend({ "environments/noon", -1 }))
    assert.matches(list, blend({ 1, "environments/noon" }))
    assert.matches("must be above 0", blend({ "environments/noon", 0 }))
    local many = {}
    for i = 1, 33 do many[2 * i - 1], many[2 * i] = "environments/noon", 1 end
    assert.matches("33 names, and 32 are the most", blend(many))
  end)

  it("refuses arguments of the wrong type", function()
    local environment = create(world)
    assert.has_error(function() ShadingEnvironment.alive({}) end)
    assert.has_error(function()
      ShadingEnvironment.set_choice(environment, "tone_mapper", "acse")
    end)
    assert.has_error(function()
      ShadingEnvironment.set_color(environment, "exposure", Color(1, 2, 3))
    end)
    assert.has_error(function()
      ShadingEnvironment.set_vector2(environment, "exposure", Vector2(1, 2))
    end)
    assert.has_error(function()
      ShadingEnvironment.set_vector3(environment, "exposure", Vector3(1, 2, 3))
    end)
    assert.has_error(function() World.set_shading_environment(world, environment, "no_such") end)
    assert.has_error(function() World.shading_environment(3) end)
  end)

  it("belongs to one world", function()
    local other = Application.new_world()
    local environment = create(world)
    assert.matches("belongs to another world",
      error_of(Application.render_world, other, nil, nil, environment))
    assert.matches("belongs to another world",
      error_of(World.destroy_shading_environment, other, environment))
    Application.release_world(other)
  end)

  it("has a function for each type of value", function()
    local environment = create(world)
    local names = ShadingEnvironment.names()
    assert.is_true(#names > 6)
    local reads = { "scalar", "vector2", "vector3", "vector4", "choice" }
    for _, name in ipairs(names) do
      local found = 0
      for _, read in ipairs(reads) do
        local passed, value = pcall(ShadingEnvironment[read], environment, name)
        if passed then
          found = found + 1
          ShadingEnvironment["set_" .. read](environment, name, value)
        end
      end
      assert.equals(1, found, name)
    end
  end)

  it("has textures by name", function()
    local environment = create(world)
    assert.is_nil(ShadingEnvironment.texture(environment, "sky_texture"))
    ShadingEnvironment.set_texture(environment, "sky_texture", "pictures/noise")
    assert.equals("pictures/noise", ShadingEnvironment.texture(environment, "sky_texture"))
    Application.render_world(world, nil, nil, environment)
    ShadingEnvironment.set_texture(environment, "sky_texture", nil)
    assert.is_nil(ShadingEnvironment.texture(environment, "sky_texture"))
    assert.matches("no texture 'sky_textur', did you mean 'sky_texture'?",
      error_of(ShadingEnvironment.texture, environment, "sky_textur"))
    assert.matches("argument #3 'texture': .*no_such",
      error_of(ShadingEnvironment.set_texture, environment, "color_table", "no_such"))
  end)

  it("is limited in number, and can be created again", function()
    local all = {}
    while true do
      local passed, environment = pcall(create, world)
      if not passed then
        assert.matches("SHADING_ENVIRONMENTS_MAX", environment)
        break
      end
      all[#all + 1] = environment
    end
    assert.equals(1024, #all)
    for _, environment in ipairs(all) do World.destroy_shading_environment(world, environment) end
    assert.is_true(ShadingEnvironment.alive(create(world)))
  end)
end)
