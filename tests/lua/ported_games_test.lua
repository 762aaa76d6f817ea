-- Suite of idioms of games that were written for the Bitsquid family: calls as these games make
-- them. The porting layer has its own suite (ported_layer_test.lua).

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (tostring(message):gsub("^[%w_/.]+:%d+: ", ""))
end

describe("alive", function()
  it("is false for nil, false and numbers that are no handle", function()
    for _, name in ipairs({ "Unit", "Actor", "World", "Mover", "Camera", "Decal", "Light", "Mesh",
      "Level", "Gui", "GuiObject", "Joint", "Material", "Sprite", "Tilemap", "Viewport", "Voice",
      "Window" })
    do
      local alive = _G[name].alive
      assert.is_false(alive(nil), name)
      assert.is_false(alive(false), name)
      assert.is_false(alive(), name)
      assert.is_false(alive(12), name)
      assert.matches("must be number|false or nil, got boolean true", error_of(alive, true), 1,
        true)
      assert.matches("got table", error_of(alive, {}), 1, true)
    end
  end)

  it("guards variables that are empty or stale, in a loop, too", function()
    local world = Application.new_world()
    local unit = World.spawn_unit(world, "core/units/empty")
    local slots = { unit, false, unit }
    local count = 0
    for round = 1, 100 do
      for i = 1, 4 do
        if Unit.alive(slots[i]) then count = count + 1 end
      end
    end
    assert.equals(200, count)
    World.destroy_unit(world, unit)
    assert.is_false(Unit.alive(unit))
    assert.is_true(World.alive(world))
    Application.release_world(world)
    assert.is_false(World.alive(world))
  end)
end)

describe("World.link_unit with nodes of both units", function()
  local world, body, coat

  before_each(function()
    world = Application.new_world()
    body = World.spawn_unit(world, "units/barrel", Vector3(10, 0, 0))
    coat = World.spawn_unit(world, "units/barrel")
  end)
  after_each(function() Application.release_world(world) end)

  it("links the root by its index", function()
    World.link_unit(world, coat, 1, body, Unit.node(body, "lid"))
    assert.equals(Unit.world_position(body, Unit.node(body, "lid")), Unit.world_position(coat, 1))
  end)

  it("links inner nodes, which follow the parent", function()
    local lid, handle = Unit.node(coat, "lid"), Unit.node(coat, "handle")
    local offset = Unit.local_position(coat, lid)
    World.link_unit(world, coat, 1, body, 1)
    World.link_unit(world, coat, lid, body, lid)
    Unit.set_local_position(body, lid, Vector3(0, 0, 5))
    local expected = Unit.world_position(body, lid) + offset
    assert.equals(expected, Unit.world_position(coat, lid))
    assert.equals(expected + Unit.local_position(coat, handle), Unit.world_position(coat, handle))
    World.update(world, 0.1)
    assert.equals(expected, Unit.world_position(coat, lid))
    World.unlink_unit(world, coat)
    assert.equals(expected, Unit.world_position(coat, lid))
    Unit.set_local_position(body, 1, Vector3(0, 0, 0))
    assert.equals(expected, Unit.world_position(coat, lid))
    assert.equals(1, Unit.scene_graph_parent(coat, lid))
  end)

  it("refuses nodes that do not exist, and a second parent for other nodes", function()
    local other = World.spawn_unit(world, "units/barrel")
    assert.matches("has the nodes 1 to 3, got 0",
      error_of(World.link_unit, world, coat, 0, body, 1))
    assert.matches("has the nodes 1 to 3, got 9",
      error_of(World.link_unit, world, coat, 1, body, 9))
    World.link_unit(world, coat, 2, body, 2)
    assert.matches("World.unlink_unit first", error_of(World.link_unit, world, coat, 1, other, 1))
    assert.matches("must be Unit", error_of(World.link_unit, world, coat, "body"))
    assert.matches("must be Unit", error_of(World.link_unit, world, coat))
  end)
end)

describe("a broadphase", function()
  it("is created by a call, with a count and a table of categories", function()
    local near = Broadphase(50, 127, { "enemy", "player" })
    local one = Broadphase.add(near, 1, Vector3(0, 0, 0), 1, { "enemy" })
    Broadphase.add(near, 2, Vector3(1, 0, 0), 1, { "player", "boss" })
    Broadphase.add(near, 3, Vector3(2, 0, 0), 1, "player")
    local found = {}
    assert.equals(3, Broadphase.query(near, Vector3(0, 0, 0), 10, found))
    assert.equals(2, Broadphase.query(near, Vector3(0, 0, 0), 10, found, { "player" }))
    assert.same({ 2, 3 }, found)
    assert.equals(2, Broadphase.query(near, Vector3(0, 0, 0), 10, found, { "enemy", "boss" }))
    assert.equals(3, Broadphase.query(near, Vector3(0, 0, 0), 10, found, {}))
    assert.equals(1, Broadphase.query(near, Vector3(0, 0, 0), 10, found, "boss", nil))
    Broadphase.remove(near, one)
    Broadphase.destroy(near)
    Broadphase.destroy(Broadphase(5))
  end)

  it("refuses a wrong count and wrong categories", function()
    assert.matches("'count' must be 0 to 1048576", error_of(Broadphase.new, 5, -1))
    assert.matches("'count' must be 0 to 1048576", error_of(Broadphase.new, 5, 2 ^ 30))
    assert.matches("#3 'categories' must be names", error_of(Broadphase.new, 5, 10, { 1 }))
    local many = {}
    for i = 1, 33 do many[i] = "c" .. i end
    assert.matches("CATEGORIES_MAX", error_of(Broadphase.new, 5, 10, many))
    local near = Broadphase(5)
    assert.matches("#5 'categories' must be names",
      error_of(Broadphase.add, near, 1, Vector3(0, 0, 0), 1, nil, "x"))
    Broadphase.destroy(near)
  end)
end)

describe("physics queries", function()
  local world, physics, FROM, DOWN

  before_each(function()
    world = Application.new_world()
    physics = World.physics_world(world)
    FROM, DOWN = Vector3(0, 0, 10), Vector3.down()
    for z = 0, 2 do
      PhysicsWorld.spawn_box(physics, Vector3(0, 0, z * 2), Vector3(0.5, 0.5, 0.5))
    end
    World.update(world, 0)
  end)
  after_each(function() Application.release_world(world) end)

  it("take length, mode and options in the family's order, each of them optional", function()
    for _, cast in ipairs({ PhysicsWorld.raycast, PhysicsWorld.immediate_raycast }) do
      local hit, position, distance, normal, actor = cast(physics, FROM, DOWN, 100, "closest")
      assert.is_true(hit)
      assert.near(5.5, distance, 1e-4)
      assert.near(4.5, position.z, 1e-4)
      assert.near(1, normal.z, 1e-4)
      assert.is_true(Actor.alive(actor))
      assert.is_true((cast(physics, FROM, DOWN)))
      assert.is_true((cast(physics, FROM, DOWN, 100)))
      assert.is_true((cast(physics, FROM, DOWN, "any")))
      assert.equals(3, select(2, cast(physics, FROM, DOWN, "all")))
      assert.equals(3, select(2, cast(physics, FROM, DOWN, 100, "all", "types", "both")))
      assert.equals(3, select(2, cast(physics, FROM, DOWN, "all", "types", "both")))
      assert.near(5.5, (select(3, cast(physics, FROM, DOWN, 100, "types", "statics"))) or 5.5, 1e-4)
      assert.near(5.5, (select(3, cast(physics, FROM, DOWN, "types", "both"))), 1e-4)
      assert.equals(3, select(2, cast(physics, FROM, DOWN, 100, "all", "use_global_table")))
      assert.equals(3, select(2, cast(physics, FROM, DOWN, 100, "all", "types", "both",
        "rewind_ms", 0, "use_global_table")))
      local hits, count = cast(physics, FROM, DOWN, 100, "all", "max_hits", 2)
      assert.equals(2, count)
      assert.equals(2, #hits)
      assert.near(5.5, hits[1].distance, 1e-4)
      assert.near(7.5, hits[2][2], 1e-4)
    end
  end)

  it("accept rays of length 0 and of any large length", function()
    for _, mode in ipairs({ "closest", "any" }) do
      assert.is_false((PhysicsWorld.raycast(physics, FROM, DOWN, 0, mode)))
      assert.is_true((PhysicsWorld.raycast(physics, FROM, DOWN, 1e30, mode)))
      assert.is_true((PhysicsWorld.raycast(physics, FROM, DOWN, math.huge, mode)))
    end
    local hits, count = PhysicsWorld.raycast(physics, FROM, DOWN, 0, "all")
    assert.is_nil(hits)
    assert.equals(0, count)
    assert.equals(3, select(2, PhysicsWorld.raycast(physics, FROM, DOWN, math.huge, "all")))
    assert.matches("'length' must be 0 metres or more, got %-1",
      error_of(PhysicsWorld.raycast, physics, FROM, DOWN, -1))
    assert.matches("'length' must be 0 metres or more, got %-1",
      error_of(PhysicsWorld.raycast, physics, FROM, DOWN, -1, "all"))
  end)

  it("answer what they cannot do", function()
    assert.equals("PhysicsWorld.raycast: 'rewind_ms' must be 0, got number 120: no past poses are "
      .. "kept. To compensate for the latency of a network, take snapshots (PhysicsWorld.snapshot) "
      .. "and restore one for the query",
      error_of(PhysicsWorld.raycast, physics, FROM, DOWN, 100, "all", "rewind_ms", 120))
    assert.matches("'max_hits' must be a whole number above 0, got number 0",
      error_of(PhysicsWorld.raycast, physics, FROM, DOWN, 100, "all", "max_hits", 0))
    assert.matches("unknown option 'maxhits', did you mean 'max_hits'?",
      error_of(PhysicsWorld.raycast, physics, FROM, DOWN, 100, "all", "maxhits", 1), 1, true)
    assert.matches("argument #5 'mode' must be", error_of(PhysicsWorld.raycast, physics, FROM, DOWN,
      100, "farthest"))
    assert.matches("did you mean \"types\"", error_of(PhysicsWorld.raycast, physics, FROM, DOWN,
      100, "typs", "both"))
    assert.matches("unknown option 'report_initial_overlap'",
      error_of(PhysicsWorld.immediate_overlap, physics, "position", FROM, "size", 1,
        "report_initial_overlap"))
    assert.matches("'rewind_ms' must be 0", error_of(PhysicsWorld.immediate_overlap, physics,
      "position", FROM, "size", 1, "rewind_ms", 5))
  end)

  it("find overlaps with the family's options", function()
    local actors, count = PhysicsWorld.immediate_overlap(physics, "shape", "sphere", "position",
      Vector3(0, 0, 2), "size", 10, "types", "both", "use_global_table")
    assert.equals(3, count)
    assert.equals(3, #actors)
    actors, count = PhysicsWorld.immediate_overlap(physics, "use_global_table", "position",
      Vector3(0, 0, 2), "size", 10, "max_hits", 1, "rewind_ms", 0)
    assert.equals(1, count)
    assert.equals(1, #actors)
  end)

  it("sweep from inside an actor, with it or without it", function()
    local from, to = Vector3(0, 0, 4), Vector3(0, 0, -5)
    local hits = PhysicsWorld.linear_sphere_sweep(physics, from, to, 0.25, 10,
      "report_initial_overlap")
    assert.equals(3, #hits)
    assert.equals(0, hits[1].distance)
    hits = PhysicsWorld.linear_sphere_sweep(physics, from, to, 0.25, 10, "types", "both",
      "report_initial_overlap", false)
    assert.equals(2, #hits)
    assert.is_true(hits[1].distance > 0)
    hits = PhysicsWorld.linear_sphere_sweep(physics, from, to, 0.25, "max_hits", 2)
    assert.equals(2, #hits)
    hits = PhysicsWorld.linear_obb_sweep(physics, from, to, Vector3(0.1, 0.1, 0.1),
      Quaternion.identity(), 10, "report_initial_overlap", true)
    assert.equals(3, #hits)
  end)

  it("can be queued with the same arguments", function()
    local results = {}
    PhysicsWorld.raycast(physics, function(...) results[1] = { ... } end, FROM, DOWN, "all",
      "max_hits", 2)
    local ray = PhysicsWorld.make_raycast(physics, function(...) results[2] = { ... } end, "types",
      "both")
    Raycast.cast(ray, FROM, DOWN)
    PhysicsWorld.make_raycast(physics, function(...) results[3] = { ... } end, "all", "max_hits", 1)
      :cast(FROM, DOWN, 100)
    World.update(world, 1 / 60)
    assert.equals(2, results[1][2])
    assert.is_true(results[2][1])
    assert.equals(1, results[3][2])
  end)
end)

describe("visibility and boxes of units with linked units", function()
  local world, base, top

  -- Returns the mesh that is seen from above, or nil if none is visible.
  local function top_mesh(unit)
    local from = Unit.world_position(unit, 1) + Vector3(0.1, 0.1, 50)
    return (select(3, Unit.mesh_pick_raycast(unit, from, Vector3.down())))
  end

  before_each(function()
    world = Application.new_world()
    base = World.spawn_unit(world, "core/units/cube")
    top = World.spawn_unit(world, "core/units/cube")
    World.link_unit(world, top, base)
    Unit.set_local_position(top, 1, Vector3(0, 0, 4))
  end)
  after_each(function() Application.release_world(world) end)

  it("hide linked units on request", function()
    local function is_hidden(unit) return top_mesh(unit) == nil end
    Unit.set_unit_visibility(base, false)
    assert.is_false(is_hidden(top))
    Unit.set_unit_visibility(base, false, true)
    assert.is_true(is_hidden(top))
    Unit.set_unit_visibility(base, true, true)
    assert.is_false(is_hidden(top) or is_hidden(base))
    assert.matches("'linked' must be boolean or nil", error_of(Unit.set_unit_visibility, base, true,
      1))
  end)

  it("hide groups of linked units, if they have the group", function()
    local first = World.spawn_unit(world, "units/chest")
    local second = World.spawn_unit(world, "units/chest")
    World.link_unit(world, second, first)
    World.link_unit(world, base, second)
    assert.not_equals(Unit.mesh(second, "Body"), top_mesh(second))
    Unit.set_visibility(first, "top", false, true)
    assert.equals(Unit.mesh(second, "Body"), top_mesh(second), "its lid is hidden")
    assert.is_not_nil(top_mesh(base))
  end)

  it("measure linked units on request", function()
    local _, half = Unit.box(base)
    local pose, whole = Unit.box(base, true)
    assert.near(half.x, whole.x, 1e-4)
    assert.near(half.z + 2, whole.z, 1e-4)
    assert.near(2, Matrix4x4.translation(pose).z, 1e-4)
    assert.equals(half, (select(2, Unit.box(base, false))))
  end)
end)

describe("extra arguments", function()
  it("are refused by functions in Lua as by those in Rust", function()
    assert.equals("Vector3.length: takes 1 argument, got 2",
      error_of(Vector3.length, Vector3(0, 0, 0), 1))
    assert.equals("Unit.num_actors: takes 1 argument, got 3", error_of(Unit.num_actors, 1, 2, 3))
    assert.equals("World.update: takes 2 arguments, got 3", error_of(World.update, 1, 2, 3))
    assert.equals("Script.temp_count: takes 0 arguments, got 1", error_of(Script.temp_count, 1))
    assert.equals("Unit.num_nodes: takes 1 argument, got 2", error_of(Unit.num_nodes, 1, 2))
    assert.equals("Unit.box: takes 2 arguments, got 4", error_of(Unit.box, 1, 2, nil, 3))
  end)

  it("are refused by the functions of Guis", function()
    local gui, at, size = Application.main_gui(), Vector3(0, 0, 0), Vector2(1, 1)
    assert.equals("Gui.rect: takes 4 arguments, got 5",
      error_of(Gui.rect, gui, at, size, Color.red(), 5))
    assert.equals("Gui.rect: takes 4 arguments, got 6",
      error_of(Gui.rect, gui, at, size, nil, nil, 5))
    Gui.rect(gui, at, size, Color.red(), nil)
  end)

  it("are refused by values and by World.link_unit", function()
    assert.equals("Vector2: takes 2 arguments, got 3", error_of(Vector2, 1, 2, 3))
    assert.equals("Vector3: takes 3 arguments, got 4", error_of(Vector3, 1, 2, 3, 4))
    assert.equals("Vector4: takes 4 arguments, got 5", error_of(Vector4, 1, 2, 3, 4, 5))
    assert.equals(Vector3(1, 2, 3), Vector3(1, 2, 3, nil))
    assert.equals("Quaternion: takes 2 arguments, got 3",
      error_of(Quaternion, Vector3(0, 0, 1), 2, 3))
    assert.equals("Vector3Box: takes 3 arguments, got 4", error_of(Vector3Box, 1, 2, 3, 4))
    assert.equals("Vector3Box: takes 1 argument, got 2",
      error_of(Vector3Box, Vector3(1, 2, 3), 2))
    assert.equals("Float32Array: takes 1 argument, got 2", error_of(Float32Array, 3, 2))
    local world = Application.main_world()
    local positions = { Vector3(0, 0, 0), Vector3(1, 0, 0) }
    local units = World.spawn_units(world, "core/units/empty", positions)
    assert.equals("World.link_unit: takes 4 arguments, got 5",
      error_of(World.link_unit, world, units[1], units[2], 1, 3))
    assert.equals("World.link_unit: takes 5 arguments, got 6",
      error_of(World.link_unit, world, units[1], 1, units[2], 1, 3))
    World.destroy_units(world, units)
  end)

  it("are refused by functions that take none", function()
    for module, names in pairs({
      Color = "black blue cyan gray green magenta orange red transparent white yellow",
      DebugUi = "wants_keyboard wants_mouse", Matrix4x4 = "identity zero", Memory = "snapshot",
      Profiler = "render_stats samples", Quaternion = "identity", Script = "callstack memory",
      Timer = "cancel_all count", Tween = "cancel_all count easings", Vector2 = "one zero",
      Vector3 = "backward down forward left one right up zero", Vector4 = "one zero",
    }) do
      for name in names:gmatch("%S+") do
        assert.equals(module .. "." .. name .. ": takes 0 arguments, got 1",
          error_of(_G[module][name], 1))
      end
    end
  end)

  it("are accepted if they are nil", function()
    assert.equals(0, Vector3.length(Vector3(0, 0, 0), nil))
    assert.equals(0, (Script.temp_count(nil)))
  end)

  it("of effects say what groups of effects are here", function()
    local world = Application.new_world()
    local effect = World.create_particles(world, "particles/puff", Vector3(0, 0, 0), nil, nil, nil)
    assert.is_true(World.are_particles_playing(world, effect))
    assert.matches("argument #6 'group' must be nil, because effects have no groups",
      error_of(World.create_particles, world, "particles/puff", Vector3(0, 0, 0), nil, nil, 3))
    Application.release_world(world)
  end)
end)

describe("temporaries", function()
  it("are counted by type and restored, without an effect", function()
    local vectors, quaternions, matrices = Script.temp_count()
    assert.same({ 0, 0, 0 }, { vectors, quaternions, matrices })
    Script.set_temp_count(vectors, quaternions, matrices)
    Script.set_temp_byte_count((Script.temp_byte_count()))
    assert.matches("argument #2 'count' must be number or nil", error_of(Script.set_temp_count, 0,
      "x"))
  end)
end)

describe("constants", function()
  it("name the keys of Keyboard.keystrokes", function()
    assert.equals("backspace", Keyboard.BACKSPACE)
    assert.equals("page down", Keyboard.PAGE_DOWN)
    for _, name in ipairs({ "DELETE", "ENTER", "TAB", "ESCAPE", "INSERT", "LEFT", "RIGHT", "UP",
      "DOWN", "HOME", "END", "PAGE_UP", "F1", "F12" }) do
      assert.is_not_nil(Keyboard.button_index(Keyboard[name]), name)
    end
  end)

  it("name the projections of a camera", function()
    local camera = Application.create_camera()
    Camera.set_projection_type(camera, Camera.ORTHOGRAPHIC)
    assert.equals(Camera.ORTHOGRAPHIC, Camera.projection_type(camera))
    Camera.set_projection_type(camera, Camera.PERSPECTIVE)
    assert.equals("perspective", Camera.projection_type(camera))
    Application.destroy_camera(camera)
  end)
end)

describe("Keyboard.keystrokes with a table", function()
  it("fills it and removes what was in it", function()
    local strokes = { "old", "older" }
    assert.equals(strokes, Keyboard.keystrokes(strokes))
    assert.same({}, strokes)
    test.input({ { text = "hi" }, { tap = "page down" }, { tap = "escape" } })
    test.frames(1)
    assert.same({ "h", "i", Keyboard.PAGE_DOWN, Keyboard.ESCAPE }, Keyboard.keystrokes(strokes))
    assert.matches("'into' must be table or nil", error_of(Keyboard.keystrokes, 1))
  end)
end)

describe("levels", function()
  it("have no unit at an index that is not in the file", function()
    local world = Application.new_world()
    local yard = World.spawn_level(world, "levels/yard")
    for _, index in ipairs({ 0, -1, 99, 2 ^ 40 }) do
      assert.is_nil(Level.unit_by_index(yard, index))
    end
    assert.is_not_nil(Level.unit_by_index(yard, 1))
    Application.release_world(world)
  end)
end)

describe("user settings with whole numbers as keys", function()
  after_each(function() Application.set_user_setting("slots", nil) end)

  it("are read and set by index", function()
    Application.set_user_setting("slots", 3, "name", "Ada")
    assert.equals("Ada", Application.user_setting("slots", 3, "name"))
    assert.is_nil(Application.user_setting("slots", 1))
    Application.set_user_setting("slots", 1, "first")
    assert.equals("first", Application.user_setting("slots", 1))
    assert.is_true(Application.save_user_settings())
    Application.set_user_setting("slots", { [7] = true, name = "x" })
    assert.is_true(Application.user_setting("slots", 7))
    assert.is_true(Application.save_user_settings())
  end)

  it("refuse numbers that cannot be kept", function()
    for _, key in ipairs({ 0, -1, 1.5, 2 ^ 60 }) do
      assert.matches("a name, or a whole number from 1",
        error_of(Application.set_user_setting, "slots", key, true))
      assert.matches("a name, or a whole number from 1",
        error_of(Application.user_setting, "slots", key))
    end
    assert.matches("must be whole and from 1, got number 0",
      error_of(Application.set_user_setting, "slots", { [0] = 1 }))
  end)

  it("tell their listeners", function()
    local reported
    Application.on_user_setting_changed("slots.3", function(name, value)
      reported = { name, value }
    end)
    Application.set_user_setting("slots", { [3] = "x" })
    test.frames(1)
    assert.same({ "slots.3", "x" }, reported)
  end)
end)

describe("vectors of two sizes in one operation", function()
  it("are refused with a remedy", function()
    local two, three, four = Vector2(1, 2), Vector3(1, 2, 3), Vector4(1, 2, 3, 4)
    assert.equals("cannot add Vector3 and Vector2: write Vector3(v.x, v.y, 0) for the Vector2, or "
      .. "take a Vector3 for both", error_of(function() return three + two end))
    assert.matches("write Vector3(v.x, v.y, 0) for the Vector2",
      error_of(function() return two - three end), 1, true)
    assert.matches("write Vector4(v.x, v.y, v.z, 0) for the Vector3",
      error_of(function() return four + three end), 1, true)
    assert.equals("cannot add Vector3 and number 1", error_of(function() return three + 1 end))
  end)
end)
