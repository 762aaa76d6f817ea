-- Suite of fog volumes: fields, limits, errors.

local world

before_each(function() world = Application.new_world() end)
after_each(function() Application.release_world(world) end)

local function error_of(volumes)
  local passed, message = pcall(World.set_fog_volumes, world, volumes)
  assert.is_false(passed)
  return message
end

local function volume(fields)
  local all = { position = Vector3(0, 0, 1), size = Vector3(4, 4, 2) }
  for key, value in pairs(fields or {}) do all[key] = value end
  return all
end

describe("fog volumes", function()
  it("are set as a list, and removed by an empty one", function()
    World.set_fog_volumes(world, {
      volume(),
      volume({ shape = "sphere", rotation = Quaternion(Vector3.up(), 0.5), density = 2,
        color = Color(200, 220, 255), emission = Vector3(0, 3, 0), blend_distance = 0 }),
    })
    Application.render_world(world)
    test.frames()
    World.set_fog_volumes(world, {})
    Application.render_world(world)
    test.frames()
  end)

  it("refuse wrong fields with the number of the volume", function()
    assert.matches("volume 2: 'size' must be a Vector3 with parts from 0 to 1e%+06, got nil",
      error_of({ volume(), { position = Vector3(0, 0, 0) } }))
    assert.matches("volume 1: 'size' must be above 0",
      error_of({ volume({ size = Vector3(1, 0, 1) }) }))
    assert.matches("volume 1: 'position' must be a Vector3",
      error_of({ volume({ position = Vector3(0, 0 / 0, 0) }) }))
    assert.matches("volume 1: 'shape' must be \"box\" or \"sphere\", got string \"cone\"",
      error_of({ volume({ shape = "cone" }) }))
    assert.matches("volume 1: 'density' must be a number from 0 to 10",
      error_of({ volume({ density = -1 }) }))
    assert.matches("volume 1: 'density' must be a number",
      error_of({ volume({ density = 0 / 0 }) }))
    assert.matches("volume 1: 'color' must be a Vector3",
      error_of({ volume({ color = Vector3(2, 0, 0) }) }))
    assert.matches("volume 1: 'emission' must be a Vector3",
      error_of({ volume({ emission = Vector3(0, math.huge, 0) }) }))
    assert.matches("volume 1: 'blend_distance' must be a number from 0",
      error_of({ volume({ blend_distance = math.huge }) }))
    assert.matches("volume 1: 'rotation' must be a Quaternion",
      error_of({ volume({ rotation = 3 }) }))
    assert.matches("unknown option 'desnity'", error_of({ volume({ desnity = 1 }) }))
    assert.matches("volume 1: must be a table", error_of({ 3 }))
    assert.matches("must be table, got number 3", error_of(3))
    local many = {}
    for i = 1, 1025 do many[i] = volume() end
    assert.matches("1025 fog volumes, and 1024 are the most", error_of(many))
  end)
end)
