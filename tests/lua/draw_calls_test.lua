-- Suite of the draw calls of worlds in the lists of a frame.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("the draw calls of a world", function()
  local world, camera

  before_each(function()
    world = Application.new_world()
    camera = Application.create_camera()
    Camera.set_local_position(camera, Vector3(0, -10, 0))
  end)
  after_each(function()
    Application.destroy_camera(camera)
    Application.release_world(world)
  end)

  -- Returns the draw calls of a frame, without those of Guis and shadows.
  local function drawn()
    Application.render_world(world, camera)
    test.frames(1)
    local draws = {}
    for _, draw in ipairs(test.draws()) do
      if draw.world and not draw.pass:find("shadow", 1, true) then
        draws[#draws + 1] = draw
      end
    end
    return draws
  end

  it("list mesh, unit, material and instance count", function()
    local first = World.spawn_unit(world, "core/units/cube")
    World.spawn_unit(world, "core/units/cube", Vector3(2, 0, 0))
    local draws = drawn()
    assert.equals(1, #draws)
    local draw = draws[1]
    assert.equals("core/models/cube/cube", draw.name)
    assert.equals("mesh", draw.what)
    assert.equals("core/units/cube", draw.unit)
    assert.equals("solid", draw.pass)
    assert.equals(1, draw.part)
    assert.equals(2, draw.count)
    assert.equals(world, draw.world)
    assert.is_nil(draw.gui)
    Mesh.set_material(Unit.mesh(first, 1), 1, Material.new("materials/rust"))
    draws = drawn()
    local materials, count = {}, 0
    for _, each in ipairs(draws) do
      materials[each.material or "several"], count = true, count + each.count
    end
    assert.equals(2, count)
    assert.is_true(materials["materials/rust"] or materials.several)
    assert.is_true(test.draw_calls() >= #draws)
  end)

  it("include only what the camera sees", function()
    local cube = World.spawn_unit(world, "core/units/cube", Vector3(0, -20, 0))
    assert.same({}, drawn())
    Unit.set_local_position(cube, 1, Vector3(0, 0, 0))
    assert.equals(1, #drawn())
    Unit.set_unit_visibility(cube, false)
    assert.same({}, drawn())
  end)

  it("include no other world", function()
    local other = Application.new_world()
    World.spawn_unit(other, "core/units/cube")
    assert.same({}, drawn())
    Application.release_world(other)
  end)

  it("are queried without arguments", function()
    assert.matches("did you mean 'test.draws'", error_of(function() return test.draw end))
  end)
end)
