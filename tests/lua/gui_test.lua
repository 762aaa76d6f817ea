-- Suite of Gui: rectangles, bitmaps, triangles, shapes, the two modes, batches, transforms and
-- clips. Texts are in gui_text_test.lua.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

local P, S, RED = Vector3(10, 20, 1), Vector2(30, 40), Color(255, 0, 0)

describe("Gui", function()
  local world, now, kept

  before_each(function()
    world = Application.new_world()
    now = World.create_screen_gui(world, "immediate")
    kept = World.create_screen_gui(world)
  end)

  after_each(function()
    Application.release_world(world)
  end)

  local function shown(gui)
    Gui.inspect(gui)
    test.frames(1)
    return Gui.inspect(gui)
  end

  -- Plays a frame that shows the world.
  local function show()
    Application.render_world(world)
    test.frames(1)
  end

  describe("of a world", function()
    it("exists until it is destroyed or its world is released", function()
      assert.is_true(Gui.alive(now))
      World.destroy_gui(world, now)
      assert.is_false(Gui.alive(now))
      assert.is_false(Gui.alive(1.5))
      assert.matches("must be number", error_of(Gui.alive, "x"))
      assert.matches("^Gui.rect: argument #1 'gui': Gui was destroyed in frame %d+ at gui_test",
        error_of(Gui.rect, now, P, S, RED))
      local other = Application.new_world()
      local gui = World.create_screen_gui(other)
      Application.release_world(other)
      assert.is_false(Gui.alive(gui))
    end)

    it("is created only with known flags", function()
      World.create_screen_gui(world, "material", "textures/ship", "immediate")
      assert.equals("World.create_screen_gui: argument #2 must be \"immediate\", \"retained\" or "
        .. "\"material\" and a name, got string \"imediate\", did you mean 'immediate'?",
        error_of(World.create_screen_gui, world, "imediate"))
      assert.matches("there is no texture 'nowhere'",
        error_of(World.create_screen_gui, world, "material", "nowhere"))
      assert.matches("must be World, got nil", error_of(World.create_screen_gui))
    end)

    it("can be on a plane in the world", function()
      local gui = World.create_world_gui(world, Matrix4x4.identity(), 2, 1, "immediate")
      local width, height = Gui.resolution(gui)
      assert.same({ 2, 1 }, { width, height })
      assert.matches("must be above 0",
        error_of(World.create_world_gui, world, Matrix4x4.identity(), 0, 1))
      assert.matches("argument #2 'pose' must be Matrix4x4",
        error_of(World.create_world_gui, world, nil, 1, 1))
      assert.matches("cannot be clipped", error_of(Gui.push_clip, gui, Vector2(), Vector2(1, 1)))
    end)

    it("can be drawn into a texture, which other Guis can show", function()
      local gui = World.create_texture_gui(world, "tests/map", 64, 32, "immediate")
      assert.same({ 64, 32 }, { Gui.texture_size(now, "tests/map") })
      Gui.rect(gui, P, S, RED)
      Gui.bitmap(now, "tests/map", P)
      show()
      assert.equals(2, test.draw_calls())
      assert.matches("the texture 'tests/map' already exists",
        error_of(World.create_texture_gui, world, "tests/map", 8, 8))
      World.destroy_gui(world, gui)
      show()
      World.create_texture_gui(world, "tests/map", 16, 16)
      assert.same({ 16, 16 }, { Gui.texture_size(now, "tests/map") })
      local before = Texture.statistics().slots
      for _ = 1, 3 do
        World.destroy_gui(world, World.create_texture_gui(world, "tests/short", 8, 8))
      end
      show()
      assert.equals(before, Texture.statistics().slots)
      assert.matches("1 to %d+ texels a side",
        error_of(World.create_texture_gui, world, "tests/none", 1e6, 8))
      for _, width in ipairs({ 0, -1, 1.5 }) do
        assert.equals("World.create_texture_gui: width and height must be whole numbers above 0, "
          .. "got " .. width .. " and 8",
          error_of(World.create_texture_gui, world, "tests/none", width, 8))
      end
      assert.matches("needs a name", error_of(World.create_texture_gui, world, "", 8, 8))
    end)

    it("belongs to that world", function()
      local other = Application.new_world()
      assert.equals("World.destroy_gui: this Gui belongs to another world",
        error_of(World.destroy_gui, other, now))
      assert.matches("argument #2 'gui' must be Gui, got nil", error_of(World.destroy_gui, world))
      Application.release_world(other)
    end)

    it("is as large as the screen", function()
      local width, height = Gui.resolution()
      assert.is_true(width > 0 and height > 0)
      assert.same({ width, height }, { Gui.resolution(now) })
      assert.matches("must be Gui", error_of(Gui.resolution, "x"))
    end)
  end)

  describe("that is immediate", function()
    it("shows what is drawn for one frame", function()
      Gui.inspect(now)
      assert.is_nil(Gui.rect(now, P, S, RED))
      Application.render_world(world)
      test.frames(1)
      assert.equals(1, test.draw_calls())
      local drawn = Gui.inspect(now)
      assert.equals(1, #drawn)
      assert.same({ "rect", 1, 10, 20, 40, 60, 255, 0 }, { drawn[1].kind, drawn[1].layer,
        drawn[1].left, drawn[1].bottom, drawn[1].right, drawn[1].top, drawn[1].red,
        drawn[1].green })
      show()
      assert.equals(0, test.draw_calls())
    end)

    it("batches objects of one kind, in the order of the first of each", function()
      for layer = 2, 1, -1 do
        for _ = 1, 10 do
          Gui.rect(now, Vector3(0, 0, layer), S, RED)
          Gui.bitmap(now, "textures/ship", Vector3(0, 0, layer), S, RED)
          Gui.bitmap(now, "textures/dot", Vector3(0, 0, layer), S, RED)
        end
      end
      show()
      assert.equals(2, test.draw_calls())
      local draws = test.draws()
      assert.same({ 1, 2, 30 }, { draws[1].layer, draws[2].layer, draws[1].count })
    end)

    it("rounds layers down", function()
      Gui.rect(now, Vector3(0, 0, -0.5), S, RED)
      Gui.rect(now, Vector3(0, 0, 0.5), S, RED)
      show()
      assert.equals(-1, test.draws()[1].layer)
      assert.equals(0, test.draws()[2].layer)
      Gui.rect(now, Vector3(0, 0, -1e30), S, RED)
      show()
      assert.equals(-2 ^ 31, test.draws()[1].layer)
    end)

    it("keeps no objects", function()
      assert.matches("this Gui is immediate: it keeps no objects",
        error_of(Gui.update_rect, now, 5, P, S, RED))
      assert.matches("this Gui is immediate: what it shows ends with the frame",
        error_of(Gui.destroy_rect, now, 5))
    end)
  end)

  describe("that is retained", function()
    it("shows objects until they are destroyed", function()
      local object = Gui.rect(kept, P, S, RED)
      assert.is_number(object)
      assert.equals(object, shown(kept)[1].object)
      Gui.update_rect(kept, object, Vector3(0, 0, 7), S)
      local drawn = shown(kept)
      assert.same({ 1, 7, 0, 255 }, { #drawn, drawn[1].layer, drawn[1].left, drawn[1].green })
      assert.is_true(GuiObject.alive(object))
      Gui.destroy_rect(kept, object)
      assert.is_false(GuiObject.alive(object))
      assert.matches("^GuiObject.alive: argument #1 'object' must be number",
        error_of(GuiObject.alive, "x"))
      assert.equals(0, #shown(kept))
      assert.matches("^Gui.destroy_rect: this object of a Gui was destroyed in frame",
        error_of(Gui.destroy_rect, kept, object))
      assert.matches("^Gui.update_rect: this object of a Gui was destroyed in frame",
        error_of(Gui.update_rect, kept, object, P, S, RED))
    end)

    it("refuses objects of another Gui or another kind", function()
      local object = Gui.rect(kept, P, S, RED)
      local other = World.create_screen_gui(world)
      assert.equals("Gui.update_rect: this object belongs to another Gui",
        error_of(Gui.update_rect, other, object, P, S, RED))
      assert.equals("Gui.update_bitmap: this object is a rect, not a bitmap",
        error_of(Gui.update_bitmap, kept, object, "textures/ship", P, S, RED))
      assert.matches("is not an object of a Gui", error_of(Gui.update_rect, kept, 3, P, S, RED))
      for _, never in ipairs({ 0, -1, 0 / 0, 1e300 }) do
        assert.equals("Gui.update_rect: this is not an object of a Gui: retained Guis return their "
          .. "numbers", error_of(Gui.update_rect, kept, never, P, S, RED))
      end
      assert.matches("'object' must be the number of an object, got nil",
        error_of(Gui.update_rect, kept, nil, P, S, RED))
    end)

    it("draws as many times as there are distinct keys", function()
      for i = 1, 20 do
        Gui.bitmap(kept, i % 2 == 0 and "textures/ship" or "textures/dot", P, S, RED)
      end
      show()
      assert.equals(1, test.draw_calls())
      show()
      assert.equals(1, test.draw_calls())
      Gui.reset(kept)
      show()
      assert.equals(0, test.draw_calls())
      assert.matches("must be Gui", error_of(Gui.reset))
    end)

    it("has a destroy function for every kind of object", function()
      local pose = Matrix4x4.identity()
      Gui.destroy_bitmap(kept, Gui.bitmap(kept, "textures/ship", P, S, RED))
      Gui.destroy_triangle(kept, Gui.triangle(kept, P, S, Vector2(), 1, RED))
      Gui.destroy_shape(kept, Gui.circle(kept, P, 5))
      Gui.destroy_rect_3d(kept, Gui.rect_3d(kept, pose, P, 1, S))
      Gui.destroy_bitmap_3d(kept, Gui.bitmap_3d(kept, "textures/ship", pose, P, 1, S))
      assert.equals(0, #shown(kept))
      for _, name in ipairs({ "bitmap", "triangle", "shape", "rect_3d", "bitmap_3d", "text",
        "text_3d" }) do
        assert.matches("is not an object of a Gui", error_of(Gui["destroy_" .. name], kept, 3))
      end
    end)
  end)

  describe("draws", function()
    it("bitmaps in the size of their image", function()
      local object = Gui.bitmap(kept, "textures/ship", Vector2(1, 2))
      local drawn = shown(kept)[1]
      assert.same({ "bitmap", "textures/ship", 1, 2, 17, 10 },
        { drawn.kind, drawn.name, drawn.left, drawn.bottom, drawn.right, drawn.top })
      Gui.update_bitmap(kept, object, "textures/dot", P, S, RED)
      Gui.update_bitmap(kept, object, "textures/dot", P)
      assert.equals("textures/dot", shown(kept)[1].name)
      assert.matches("there is no texture 'textures/shop'.*did you mean 'textures/ship'",
        error_of(Gui.bitmap, kept, "textures/shop", P))
      assert.matches("argument #2 'material' must be string or Material, got nil",
        error_of(Gui.bitmap, kept, nil, P))
      assert.matches("argument #3 'material' must be", error_of(Gui.update_bitmap, kept, object))
      assert.same({ 16, 8 }, { Gui.texture_size(kept, "textures/ship") })
      assert.matches("there is no texture", error_of(Gui.texture_size, kept, "nowhere"))
      assert.equals("Gui.texture_size: argument #2 'material' is not valid UTF-8",
        error_of(Gui.texture_size, kept, "ship\255"))
      World.destroy_gui(world, kept)
      assert.matches("^Gui.texture_size: argument #1 'gui': Gui was destroyed",
        error_of(Gui.texture_size, kept, "textures/ship"))
    end)

    it("parts of bitmaps", function()
      local object = Gui.bitmap_uv(kept, "textures/ship", Vector2(0, 0), Vector2(0.5, 1), P, S)
      Gui.update_bitmap_uv(kept, object, "textures/ship", Vector2(), Vector2(1, 1), P, S, RED)
      assert.equals(1, #shown(kept))
      assert.matches("goes beyond 0 to 1, and this texture shares an atlas",
        error_of(Gui.bitmap_uv, kept, "textures/ship", Vector2(), Vector2(2, 1), P, S))
      assert.matches("goes beyond 0 to 1", error_of(Gui.update_bitmap_uv, kept, object,
        "textures/ship", Vector2(), Vector2(2, 1), P, S))
    end)

    it("triangles", function()
      local object = Gui.triangle(kept, Vector2(0, 0), Vector3(4, 0, 9), Vector2(0, 4), 3, RED)
      local drawn = shown(kept)[1]
      assert.same({ "triangle", 3 }, { drawn.kind, drawn.layer })
      assert.near(4, drawn.right, 1e-4)
      Gui.update_triangle(kept, object, Vector2(0, 0), Vector2(8, 0), Vector2(0, 4))
      assert.near(8, shown(kept)[1].right, 1e-4)
      assert.matches("'p2' must be Vector2 or Vector3, got number 4",
        error_of(Gui.triangle, kept, P, 4))
      assert.matches("'p1' must be", error_of(Gui.update_triangle, kept, object))
    end)

    it("outlines and rounded corners", function()
      Gui.rect_outline(now, P, S, 2, RED)
      Gui.rect_outline(now, Vector2(1, 1), S, 2)
      local object = Gui.rounded_rect(kept, P, S, 8, RED)
      Gui.update_rounded_rect(kept, object, P, S, 8, RED, 2)
      Gui.update_rect(kept, object, P, S)
      assert.equals(1, #shown(kept))
      assert.matches("'thickness' must be number, got nil", error_of(Gui.rect_outline, now, P, S))
      assert.matches("'radius' must be number", error_of(Gui.rounded_rect, now, P, S, "8"))
      assert.matches("'radius' must be number",
        error_of(Gui.update_rounded_rect, kept, object, P, S))
    end)

    it("nine-patches", function()
      local object = Gui.nine_patch(kept, "textures/ship", 2, P, S)
      Gui.update_nine_patch(kept, object, "textures/ship", { 1, 2, 3, 4 }, P, S, RED)
      local drawn = shown(kept)[1]
      assert.same({ 10, 60 }, { drawn.left, drawn.top })
      assert.matches("'borders' must be a number or four of them",
        error_of(Gui.nine_patch, kept, "textures/ship", { 1, 2 }, P, S))
      assert.matches("'borders' must be number or table",
        error_of(Gui.update_nine_patch, kept, object, "textures/ship"))
    end)

    it("lines and polygons", function()
      Gui.line(now, Vector3(0, 0, 2), Vector2(10, 0), 4, RED)
      Gui.polyline(now, { Vector2(0, 0), Vector2(5, 5), Vector2(9, 0) }, 2, 1, RED, true)
      Gui.polygon(now, { Vector2(0, 0), Vector2(5, 0), Vector2(5, 5), Vector2(0, 5) })
      show()
      assert.equals(3, test.draw_calls())
      assert.equals(6, test.draws()[1].count, "two triangles, and a fringe at each edge")
      assert.matches("'thickness' must be number", error_of(Gui.line, now, P, P))
      assert.matches("'points' must have 2 to 4096 points, got 1",
        error_of(Gui.polyline, now, { P }, 2))
      assert.matches("point 2 must be Vector2 or Vector3, got number 5",
        error_of(Gui.polygon, now, { P, 5, P }))
      assert.matches("this polygon has no area", error_of(Gui.polygon, now, { P, P, P }))
    end)

    it("circles, ellipses and arcs", function()
      Gui.circle(now, P, 5, RED)
      Gui.ellipse(now, P, Vector2(5, 3), RED, 1)
      Gui.arc(now, P, 5, 0, math.pi, RED)
      Gui.arc(now, Vector2(3, 3), 5, 0, math.pi, nil, 2)
      assert.matches("'radius' must be 0 or more, got %-5", error_of(Gui.circle, now, P, -5))
      for argument, call in pairs({
        radii = function() Gui.ellipse(now, P, Vector2(5, -1)) end,
        radius = function() Gui.rounded_rect(now, P, S, -1) end,
        outline = function() Gui.rounded_rect(now, P, S, 1, RED, -1) end,
        borders = function() Gui.nine_patch(now, "textures/ship", { 1, 1, -1, 1 }, P, S) end,
      }) do
        assert.matches("'" .. argument .. "' must be 0 or more, got %-1", error_of(call))
      end
      for _, call in ipairs({
        function() Gui.rect_outline(now, P, S, -2, RED) end,
        function() Gui.line(now, P, S, -2) end,
        function() Gui.polyline(now, { P, S }, -2) end,
        function() Gui.arc(now, P, 5, 0, 1, RED, -2) end,
      }) do
        assert.matches("'thickness' must be 0 or more, got %-2", error_of(call))
      end
      assert.matches("must be finite", error_of(Gui.arc, now, P, 5, 0, 1, RED, 0 / 0))
      assert.matches("'radii' must be Vector2 or Vector3", error_of(Gui.ellipse, now, P, 5))
      assert.matches("'from' must be number", error_of(Gui.arc, now, P, 5))
    end)

    it("on given planes", function()
      local pose = Matrix4x4.from_translation(Vector3(5, 0, 6))
      local rect = Gui.rect_3d(kept, pose, Vector3(1, 0, 1), 4, S, RED)
      Gui.update_rect_3d(kept, rect, pose, Vector3(), 4, S, RED)
      local bitmap = Gui.bitmap_3d(kept, "textures/ship", pose, Vector3(), 4, S)
      Gui.update_bitmap_3d(kept, bitmap, "textures/ship", pose, Vector3(), 5, S)
      Gui.bitmap_3d_uv(now, "textures/ship", Vector2(), Vector2(1, 1), pose, Vector3(), 4, S)
      assert.equals(2, #shown(kept))
      local half, whole = Vector2(0.5, 0.5), Vector2(1, 1)
      local part = Gui.bitmap_3d_uv(kept, "textures/ship", half, whole, pose, Vector3(), 4, S)
      Gui.update_bitmap_3d_uv(kept, part, "textures/ship", Vector2(), half, pose, P, 7, S, RED)
      assert.equals(7, shown(kept)[3].layer)
      assert.matches("'uv11' must be Vector2",
        error_of(Gui.update_bitmap_3d_uv, kept, part, "textures/ship", half, 1))
      assert.matches("'pose' must be Matrix4x4", error_of(Gui.rect_3d, kept, P))
      assert.matches("'pose' must be Matrix4x4", error_of(Gui.update_rect_3d, kept, rect, P))
      assert.matches("'pose' must be", error_of(Gui.bitmap_3d, kept, "textures/ship", P))
      assert.matches("'pose' must be",
        error_of(Gui.update_bitmap_3d, kept, bitmap, "textures/ship"))
      assert.matches("'pose' must be", error_of(Gui.bitmap_3d_uv, kept, "textures/ship", S, S, P))
    end)

    it("nothing for numbers that are not finite", function()
      local lost = Matrix4x4.from_translation(Vector3(0 / 0, 0, 0))
      for name, call in pairs({
        rect_3d = function() Gui.rect_3d(now, lost, P, 1, Vector2(1, 1)) end,
        bitmap_3d = function() Gui.bitmap_3d(now, "textures/ship", lost, P, 1, Vector2(1, 1)) end,
        text_3d = function() Gui.text_3d(now, "x", nil, 9, nil, lost, P, 1) end,
      }) do
        assert.matches("^Gui." .. name .. ": a pose must be finite", error_of(call))
      end
      assert.matches("^Gui.rect: positions, sizes and layers must be finite numbers",
        error_of(Gui.rect, now, Vector3(0 / 0, 0, 0), S, RED))
      assert.matches("must be finite", error_of(Gui.rect, now, P, Vector2(1 / 0, 1), RED))
      assert.matches("points must be finite",
        error_of(Gui.polyline, now, { Vector2(0 / 0, 0), Vector2(1, 1) }, 1))
    end)

    it("nothing for arguments of the wrong type", function()
      assert.equals("Gui.rect: argument #2 'position' must be Vector3 or Vector2, got number 5 "
        .. "(write Vector3(x, y, z))", error_of(Gui.rect, now, 5, S))
      assert.equals("Gui.rect: argument #4 'color' must be Color or nil, got string \"red\" "
        .. "(write Color.red(), or Color.from_hex(\"#ff8000\"))",
        error_of(Gui.rect, now, P, S, "red"))
      assert.equals("Gui.rect: argument #1 'gui' must be Gui, got nil", error_of(Gui.rect))
      assert.matches("must be a Gui, and the number 7 never was one",
        error_of(Gui.rect, 7, P, S, RED))
    end)
  end)

  describe("has a transform stack", function()
    it("that translates, rotates and scales later draws", function()
      Gui.inspect(now)
      Gui.push(now)
      Gui.translate(now, Vector2(100, 0))
      Gui.push(now)
      Gui.rotate(now, math.pi / 2)
      Gui.scale(now, Vector2(2, 1))
      Gui.rect(now, Vector3(0, 0, 1), Vector2(10, 10), RED)
      Gui.pop(now)
      Gui.rect(now, Vector3(0, 0, 2), Vector2(10, 10), RED)
      Gui.pop(now)
      Gui.rect(now, Vector3(0, 0, 3), Vector2(10, 10), RED)
      local drawn = Gui.inspect(now)
      assert.is_true(math.abs(drawn[1].left - 90) < 0.001 and math.abs(drawn[1].top - 20) < 0.001)
      assert.equals(100, drawn[2].left)
      assert.equals(0, drawn[3].left)
    end)

    it("that takes vectors, or the numbers alone", function()
      local function corners(transform)
        Gui.reset(now)
        Gui.inspect(now)
        Gui.push(now)
        transform()
        Gui.rect(now, Vector3(1, 2, 1), Vector2(3, 4), RED)
        Gui.pop(now)
        local drawn = Gui.inspect(now)[1]
        return { drawn.left, drawn.bottom, drawn.right, drawn.top }
      end
      local moved = { 6, 9, 9, 13 }
      assert.same(moved, corners(function() Gui.translate(now, 5, 7) end))
      assert.same(moved, corners(function() Gui.translate(now, Vector2(5, 7)) end))
      assert.same(moved, corners(function() Gui.translate(now, Vector3(5, 7, 9)) end))
      local scaled = { 2, 6, 8, 18 }
      assert.same(scaled, corners(function() Gui.scale(now, 2, 3) end))
      assert.same(scaled, corners(function() Gui.scale(now, Vector2(2, 3)) end))
      assert.same(scaled, corners(function() Gui.scale(now, Vector3(2, 3, 1)) end))
      assert.same({ 2, 4, 8, 12 }, corners(function() Gui.scale(now, 2) end))
    end)

    it("whose pushes and pops must match", function()
      assert.matches("no transform is pushed", error_of(Gui.pop, now))
      assert.matches("no clip is pushed", error_of(Gui.pop_clip, now))
      for _ = 1, 64 do Gui.push(now) end
      assert.matches("64 transforms are pushed already", error_of(Gui.push, now))
      for _ = 1, 64 do Gui.pop(now) end
    end)

    it("that clips to a rectangle, in a separate batch", function()
      Gui.rect(now, P, S, RED)
      Gui.push_clip(now, Vector2(0, 0), Vector2(20, 20))
      Gui.rect(now, P, S, RED)
      Gui.rect(now, P, S, RED)
      Gui.pop_clip(now)
      Gui.push_clip(now, 0, 0, 20, 20)
      Gui.rect(now, P, S, RED)
      Gui.pop_clip(now)
      Gui.rect(now, P, S, RED)
      show()
      assert.equals(2, test.draw_calls())
    end)

    it("that refuses stale Guis and invalid values", function()
      for _, name in ipairs({ "push", "pop", "pop_clip" }) do
        assert.matches("must be Gui", error_of(Gui[name], "x"))
      end
      assert.equals("Gui.translate: argument #3 'y' must be number, got nil",
        error_of(Gui.translate, now, 5))
      assert.equals("Gui.translate: argument #2 'x' must be Vector2, Vector3 or two numbers, got "
        .. 'string "5"', error_of(Gui.translate, now, "5", 1))
      assert.equals("Gui.translate: argument #3 'y' must be nil after a vector, got number 5",
        error_of(Gui.translate, now, Vector2(1, 1), 5))
      assert.matches("^Gui.translate: argument #1 'gui' must be Gui",
        error_of(Gui.translate, "x", 1, 2))
      assert.matches("must be number", error_of(Gui.rotate, now))
      assert.matches("argument #2 'x' must be Vector2, Vector3", error_of(Gui.scale, now))
      assert.matches("argument #3 'y' must be number", error_of(Gui.push_clip, now, 2))
      assert.equals("Gui.push_clip: argument #5 'height' must be number, got nil",
        error_of(Gui.push_clip, now, 0, 0, 2))
      assert.matches("argument #3 'size' must be Vector2", error_of(Gui.push_clip, now, Vector2()))
    end)
  end)

  it("moves as a whole", function()
    Gui.move(kept, Matrix4x4.from_translation(Vector3(5, 0, 5)))
    assert.matches("must be Matrix4x4", error_of(Gui.move, kept, Vector2(1, 1)))
  end)

  it("can be inspected", function()
    assert.same({}, Gui.inspect(kept))
    assert.matches("must be Gui", error_of(Gui.inspect))
  end)

  it("of the main world exists without being created", function()
    local gui = Application.main_gui()
    assert.equals(gui, Application.main_gui())
    Gui.rect(gui, P, S, RED)
    test.frames(1)
    assert.equals(1, test.draw_calls())
  end)
end)
