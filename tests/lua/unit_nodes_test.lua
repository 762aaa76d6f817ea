-- Suite of the functions of `Unit` for all nodes of a unit at once.

describe("Unit.copy_scene_graph_local_from", function()
  local world
  before_each(function() world = Application.new_world() end)
  after_each(function() Application.release_world(world) end)

  it("copies the local pose of every node of another unit", function()
    local one = World.spawn_unit(world, "units/barrel", Vector3(1, 2, 3))
    local other = World.spawn_unit(world, "units/barrel")
    local handle = Unit.node(one, "handle")
    Unit.set_local_position(one, handle, Vector3(0, 4, 0))
    Unit.set_local_scale(one, 1, Vector3(2, 2, 2))
    Unit.copy_scene_graph_local_from(other, one)
    for node = 1, Unit.num_nodes(one) do
      assert.equals(Unit.local_pose(one, node), Unit.local_pose(other, node))
      assert.equals(Unit.world_pose(one, node), Unit.world_pose(other, node))
    end
    Unit.set_local_position(one, 1, Vector3(0, 0, 0))
    assert.equals(Vector3(1, 2, 3), Unit.local_position(other, 1))
  end)

  it("requires units with equal numbers of nodes", function()
    local barrel = World.spawn_unit(world, "units/barrel")
    local empty = World.spawn_unit(world, "core/units/empty")
    local ok, message = pcall(Unit.copy_scene_graph_local_from, barrel, empty)
    assert.is_false(ok)
    assert.matches("argument #2 'source': unit \"core/units/empty\" has 1 nodes, and unit "
      .. "\"units/barrel\" has 3: they must be alike", message, 1, true)
    assert.has_error(function() Unit.copy_scene_graph_local_from(barrel) end)
  end)
end)
