-- Suite of reflection probes: fields, limits, errors.

local world

before_each(function() world = Application.new_world() end)
after_each(function() Application.release_world(world) end)

local function error_of(probes)
  local passed, message = pcall(World.set_reflection_probes, world, probes)
  assert.is_false(passed)
  return message
end

local function probe(fields)
  local all = { position = Vector3(0, 0, 1), size = Vector3(4, 4, 2), texture = "pictures/noise" }
  for key, value in pairs(fields or {}) do all[key] = value end
  return all
end

describe("reflection probes", function()
  it("are set as a list, and removed by an empty one", function()
    World.set_reflection_probes(world, {
      probe(),
      probe({ rotation = Quaternion(Vector3.up(), 0.5), center = Vector3(1, 0, 1),
        blend_distance = 0, priority = 2, intensity = 0.5 }),
    })
    Application.render_world(world)
    test.frames()
    World.set_reflection_probes(world, {})
    Application.render_world(world)
    test.frames()
  end)

  it("refuse wrong fields with the number of the probe", function()
    assert.matches("probe 2: 'texture' must be the name of a texture, got nil",
      error_of({ probe(), { position = Vector3(0, 0, 0), size = Vector3(1, 1, 1) } }))
    assert.matches("probe 1: .*no_such", error_of({ probe({ texture = "no_such" }) }))
    assert.matches("probe 1: 'size' must be above 0",
      error_of({ probe({ size = Vector3(1, 0, 1) }) }))
    assert.matches("probe 1: 'position' must be a Vector3",
      error_of({ probe({ position = Vector3(0, 0 / 0, 0) }) }))
    assert.matches("probe 1: 'intensity' must be a number from 0",
      error_of({ probe({ intensity = -1 }) }))
    assert.matches("probe 1: 'rotation' must be a Quaternion",
      error_of({ probe({ rotation = 3 }) }))
    assert.matches("unknown option 'txture'", error_of({ probe({ txture = "a" }) }))
    assert.matches("probe 1: must be a table", error_of({ 3 }))
    local many = {}
    for i = 1, 1025 do many[i] = probe() end
    assert.matches("1025 probes, and 1024 are the most", error_of(many))
  end)
end)
