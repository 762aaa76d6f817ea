-- Suite of Gui: placement of images, blend modes, masks, matrices, gradients, polygons with images,
-- styles of lines, textures that keep their content, and texts by name.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

local P, S, RED = Vector3(10, 20, 1), Vector2(30, 40), Color(255, 0, 0)
local SHIP = "textures/ship"

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

  local function show()
    Application.render_world(world)
    test.frames(1)
  end

  -- Returns the bounds of the only object that a call draws.
  local function bounds(draw)
    Gui.reset(now)
    Gui.inspect(now)
    draw()
    local drawn = Gui.inspect(now)
    assert.equals(1, #drawn)
    local one = drawn[1]
    return { one.left, one.bottom, one.right, one.top }
  end

  local function is_near(expected, found)
    for i = 1, 4 do assert.near(expected[i], found[i], 1e-3) end
  end

  describe("places images", function()
    it("rotated and scaled around a point of them", function()
      local function check(expected, rotation, origin, scale)
        local size = Vector2(20, 10)
        is_near(expected, bounds(function()
          Gui.bitmap(now, SHIP, Vector3(100, 50, 1), size, nil, rotation, origin, scale)
        end))
        is_near(expected, bounds(function()
          Gui.bitmap_uv(now, SHIP, Vector2(), Vector2(0.5, 1), Vector3(100, 50, 1), size, RED,
            rotation, origin, scale)
        end))
      end
      check({ 100, 50, 120, 60 })
      check({ 90, 45, 110, 55 }, nil, Vector2(0.5, 0.5))
      check({ 95, 40, 105, 60 }, math.pi / 2, Vector2(0.5, 0.5))
      check({ 90, 50, 100, 70 }, math.pi / 2)
      check({ 80, 40, 120, 60 }, nil, Vector2(0.5, 0.5), 2)
      check({ 100, 50, 140, 55 }, 0, Vector2(), Vector2(2, 0.5))
      check({ 80, 50, 100, 60 }, nil, nil, Vector2(-1, 1))
      check({ 100, 50, 120, 60 }, 2 * math.pi)
    end)

    it("in their own size, if that is left out", function()
      is_near({ 92, 46, 108, 54 }, bounds(function()
        Gui.bitmap(now, SHIP, Vector3(100, 50, 1), nil, nil, nil, Vector2(0.5, 0.5))
      end))
    end)

    it("in retained Guis, and changes them", function()
      local one = Gui.bitmap(kept, SHIP, P, S, RED, 0, Vector2(1, 1), 1, "x", "add")
      Gui.update_bitmap(kept, one, SHIP, P, S, RED, 1, Vector2(1, 1), 1, "y")
      local part = Gui.bitmap_uv(kept, SHIP, Vector2(), Vector2(1, 1), P, S, RED, 0, nil, 2, "xy")
      Gui.update_bitmap_uv(kept, part, SHIP, Vector2(), Vector2(1, 1), P, S, RED, 0, nil, 3)
      Gui.inspect(kept)
      Gui.update_bitmap(kept, one, SHIP, P, S, RED, nil, Vector2(1, 1))
      assert.equals(-20, Gui.inspect(kept)[1].left)
    end)

    it("without a call for each, in one batch", function()
      for i = 1, 100 do
        local flip = i % 2 == 0 and "x" or nil
        Gui.bitmap(now, SHIP, P, S, RED, i, Vector2(0.5, 0.5), 1 + i / 100, flip)
      end
      show()
      assert.equals(1, test.draw_calls())
    end)

    it("only with finite numbers and known words", function()
      assert.matches("must be finite", error_of(Gui.bitmap, now, SHIP, P, S, RED, 0 / 0))
      assert.matches("must be finite", error_of(Gui.bitmap, now, SHIP, P, S, RED, 0, S, 1 / 0))
      assert.equals("Gui.bitmap: argument #9 'flip' must be \"x\", \"y\", \"xy\" or nil, got "
        .. "string \"left\"", error_of(Gui.bitmap, now, SHIP, P, S, RED, 0, S, 1, "left"))
      assert.matches("argument #12 'blend' must be \"alpha\", \"add\"", error_of(Gui.bitmap_uv, now,
        SHIP, S, S, P, S, RED, 0, S, 1, "x", "screen"))
    end)
  end)

  describe("has blend modes", function()
    it("that make a batch each", function()
      for _ = 1, 3 do
        Gui.rect(now, P, S, RED)
        Gui.push_blend(now, "add")
        Gui.rect(now, P, S, RED)
        Gui.push_blend(now, "multiply")
        Gui.circle(now, P, 5, RED)
        Gui.pop_blend(now)
        Gui.text(now, "x", nil, 20, nil, P)
        Gui.pop_blend(now)
        Gui.bitmap(now, SHIP, P, S, nil, nil, nil, nil, nil, "multiply")
      end
      show()
      assert.equals(3, test.draw_calls())
      local draws = test.draws()
      assert.same({ 3, 6, 6 }, { draws[1].count, draws[2].count, draws[3].count })
    end)

    it("that retained objects keep", function()
      Gui.push_blend(kept, "premultiplied")
      local one = Gui.rect(kept, P, S)
      Gui.pop_blend(kept)
      Gui.rect(kept, P, S)
      show()
      assert.equals(2, test.draw_calls())
      Gui.update_rect(kept, one, P, S)
      show()
      assert.equals(1, test.draw_calls())
    end)

    it("with known names, in pairs", function()
      assert.equals("Gui.push_blend: argument #2 'mode' must be \"alpha\", \"add\", \"multiply\", "
        .. "\"replace\" or \"premultiplied\", got string \"ad\", did you mean 'add'?",
        error_of(Gui.push_blend, now, "ad"))
      assert.matches("got nil", error_of(Gui.push_blend, now))
      assert.matches("argument #1 'gui' must be", error_of(Gui.push_blend, nil, "add"))
      assert.equals("Gui.pop_blend: no blend mode is pushed: is there a pop_blend too many?",
        error_of(Gui.pop_blend, now))
      for _ = 1, 64 do Gui.push_blend(now, "replace") end
      assert.matches("64 blend modes are pushed already %(STACK_MAX%)",
        error_of(Gui.push_blend, now, "alpha"))
      Gui.reset(now)
      assert.matches("no blend mode", error_of(Gui.pop_blend, now))
      assert.matches("must be Gui", error_of(Gui.pop_blend))
    end)
  end)

  describe("has masks", function()
    it("that add their shapes to the draw calls, and split batches", function()
      Gui.rect(now, P, S)
      Gui.begin_mask(now)
      Gui.circle(now, P, 5)
      Gui.rect(now, P, S)
      Gui.end_mask(now)
      Gui.rect(now, P, S)
      Gui.rect(now, P, S)
      Gui.pop_mask(now)
      Gui.rect(now, P, S)
      show()
      local counts = {}
      for i, draw in ipairs(test.draws()) do counts[i] = draw.count end
      assert.same({ 2, 2, 2 }, counts)
    end)

    it("within each other, in pairs", function()
      Gui.begin_mask(now)
      assert.equals("Gui.begin_mask: the shape of a mask is being drawn already: is an end_mask "
        .. "missing?", error_of(Gui.begin_mask, now))
      assert.equals("Gui.pop_mask: the shape of a mask is being drawn: call end_mask first",
        error_of(Gui.pop_mask, now))
      Gui.end_mask(now)
      Gui.begin_mask(now)
      Gui.rect(now, P, S)
      Gui.end_mask(now, true)
      Gui.pop_mask(now)
      Gui.pop_mask(now)
      assert.matches("no mask applies: is there a pop_mask too many", error_of(Gui.pop_mask, now))
      assert.matches("no mask is begun", error_of(Gui.end_mask, now))
      assert.matches("'outside' must be boolean", error_of(Gui.end_mask, now, 5))
      for _, name in ipairs({ "begin_mask", "end_mask", "pop_mask" }) do
        assert.matches("must be Gui", error_of(Gui[name]))
      end
    end)

    it("only where they can be drawn, and not too many", function()
      assert.matches("this Gui is retained, and masks last for a frame",
        error_of(Gui.begin_mask, kept))
      local plane = World.create_world_gui(world, Matrix4x4.identity(), 2, 1, "immediate")
      assert.matches("a Gui in the world cannot have masks", error_of(Gui.begin_mask, plane))
      for _ = 1, 64 do
        Gui.begin_mask(now)
        Gui.end_mask(now)
        Gui.pop_mask(now)
      end
      assert.matches("has 64 masks in this frame already %(MASKS_MAX%)",
        error_of(Gui.begin_mask, now))
      show()
      Gui.begin_mask(now)
      Gui.reset(now)
      assert.matches("no mask is begun", error_of(Gui.end_mask, now))
    end)
  end)

  describe("has matrices", function()
    it("that shear and move in any way", function()
      local function check(expected, transform)
        is_near(expected, bounds(function()
          Gui.push(now)
          transform()
          Gui.rect(now, Vector3(0, 0, 1), Vector2(10, 20), RED)
          Gui.pop(now)
        end))
      end
      check({ 0, 0, 20, 20 }, function() Gui.shear(now, 0.5) end)
      check({ 0, 0, 10, 30 }, function() Gui.shear(now, 0, 1) end)
      check({ 0, 0, 20, 25 }, function() Gui.shear(now, Vector2(0.5, 0.5)) end)
      check({ -20, 0, 0, 10 }, function()
        Gui.transform(now, Vector2(0, 1), Vector2(-1, 0))
      end)
      check({ 5, 6, 25, 46 }, function()
        Gui.transform(now, Vector2(2, 0), Vector3(0, 2, 9), Vector2(5, 6))
      end)
    end)

    it("of vectors", function()
      assert.equals("Gui.transform: argument #3 'y_axis' must be Vector2 or Vector3, got number 1 "
        .. "(write Vector3(x, y, z))", error_of(Gui.transform, now, S, 1))
      assert.matches("argument #4 'origin'", error_of(Gui.transform, now, S, S, 1))
      assert.matches("argument #1 'gui'", error_of(Gui.transform, nil, S, S))
      assert.matches("argument #2 'x' must be Vector2, Vector3 or two numbers",
        error_of(Gui.shear, now, "x"))
    end)
  end)

  it("draws gradients, and changes them", function()
    local rect = Gui.gradient_rect(kept, P, S, RED, Color.blue(), 1, 5)
    Gui.update_gradient_rect(kept, rect, P, Vector2(9, 9), RED)
    local round = Gui.gradient_ellipse(kept, P, Vector2(5, 6), RED, Color.blue())
    Gui.update_gradient_ellipse(kept, round, P, Vector2(4, 4), RED, nil, 2)
    show()
    assert.equals(1, test.draw_calls())
    Gui.destroy_rect(kept, rect)
    Gui.destroy_shape(kept, round)
    assert.matches("'radius' must be 0 or more",
      error_of(Gui.gradient_rect, now, P, S, RED, RED, 0, -1))
    assert.matches("must be finite", error_of(Gui.gradient_rect, now, P, S, RED, RED, 1 / 0))
    assert.matches("must be finite",
      error_of(Gui.gradient_ellipse, now, P, Vector2(1, 1), RED, RED, 0 / 0))
    assert.matches("'radii' must be 0 or more",
      error_of(Gui.gradient_ellipse, now, P, Vector2(-1, 1)))
  end)

  describe("draws polygons with images", function()
    local points = { Vector2(0, 0), Vector2(10, 0), Vector2(10, 10), Vector2(0, 10) }
    local uvs = { Vector2(0, 1), Vector2(1, 1), Vector2(1, 0), Vector2(0, 0) }

    it("and colours at their corners", function()
      local object = Gui.polygon_uv(kept, SHIP, points, uvs, 2, RED)
      Gui.update_polygon_uv(kept, object, nil, points, nil, 2, { RED, RED, RED, Color.blue() })
      Gui.polygon_uv(now, SHIP, points)
      Gui.inspect(kept)
      Gui.update_polygon_uv(kept, object, SHIP, points, uvs, 3)
      local drawn = Gui.inspect(kept)[1]
      assert.same({ "shape", 3, SHIP }, { drawn.kind, drawn.layer, drawn.name })
      is_near({ -0.5, -0.5, 10.5, 10.5 }, { drawn.left, drawn.bottom, drawn.right, drawn.top })
      Gui.push(now)
      Gui.translate(now, 100, 0)
      is_near({ 99.5, -0.5, 110.5, 10.5 }, bounds(function()
        Gui.translate(now, 100, 0)
        Gui.polygon_uv(now, nil, points)
      end))
    end)

    it("of matching lists", function()
      local function check(expected, ...)
        assert.matches(expected, error_of(Gui.polygon_uv, now, ...))
      end
      check("there are 3 points of the image for 4 corners", SHIP, points, { S, S, S })
      check("there are 2 colours for 4 corners: give one colour, or one for each", nil, points, nil,
        1, { RED, RED })
      check("'colors': colour 2 must be Color, got number 1", nil, points, nil, 1, { RED, 1 })
      check("'colors' must have 1 to 4096 colours, got 0", nil, points, nil, 1, {})
      check("'uvs': point 4 must be Vector2", SHIP, points, { S, S, S, 5 })
      check("goes beyond 0 to 1, and this texture shares an atlas", SHIP, points, { S, S, S, S })
      check("points must be finite", SHIP, points, { S, S, S, Vector2(0 / 0, 0) })
      check("this polygon has no area", nil, { P, P, P })
      check("there is no texture", "nowhere", points)
    end)
  end)

  describe("draws lines", function()
    local points = { Vector2(0, 0), Vector2(20, 0), Vector2(20, 20) }

    it("with joins, caps and dashes", function()
      for _, join in ipairs({ "round", "miter", "bevel" }) do
        for _, cap in ipairs({ "round", "butt", "square" }) do
          Gui.polyline(now, points, 4, 1, RED, false, { join = join, cap = cap, miter_limit = 2 })
          Gui.line(now, P, Vector2(50, 50), 4, RED,
            { cap = cap, dash = { 4, 2 }, dash_offset = -1 })
        end
      end
      Gui.polyline(now, points, 4, 1, RED, true, { dash = 3 })
      show()
      assert.equals(1, test.draw_calls())
      local left = bounds(function()
        Gui.line(now, P, Vector2(50, 20), 4, RED, { cap = "square" })
      end)
      assert.near(8, left[1], 1e-3)
    end)

    it("that change in retained Guis", function()
      local object = Gui.line(kept, P, Vector2(50, 50), 4)
      Gui.update_line(kept, object, P, Vector2(50, 50), 4, RED, { dash = 4 })
      Gui.update_polyline(kept, object, points, 4, 1, RED, true, { join = "bevel" })
      Gui.update_polyline(kept, object, points, 4)
      Gui.update_polygon(kept, object, points, 1, RED)
      Gui.update_circle(kept, object, P, 5, RED)
      Gui.update_ellipse(kept, object, P, Vector2(5, 3), RED, 1)
      Gui.update_arc(kept, object, P, 5, 0, 1, RED, 2)
      assert.equals("Gui.update_arc: this object of a Gui was destroyed in frame", (error_of(
        function()
          Gui.destroy_shape(kept, object)
          Gui.update_arc(kept, object, P, 5, 0, 1, RED, 2)
        end):match("^(.- frame)")))
      local box = Gui.rect_outline(kept, P, S, 2, RED)
      Gui.update_rect_outline(kept, box, P, S, 3)
      Gui.update_rect(kept, box, P, S)
      Gui.inspect(kept)
      Gui.update_rect_outline(kept, box, P, S, 3)
      assert.equals("rect", Gui.inspect(kept)[1].kind)
    end)

    it("only with known options", function()
      local function check(expected, options)
        assert.matches(expected, error_of(Gui.polyline, now, points, 4, 1, RED, false, options))
      end
      check("'options' has the unknown option 'joint', did you mean 'join'?", { joint = "round" })
      check("'join' must be \"round\", \"miter\" or \"bevel\", got string \"mitre\"",
        { join = "mitre" })
      check("'cap' must be \"butt\", \"round\" or \"square\", got number 1", { cap = 1 })
      check("'dash' must be a length above 0, or a list", { dash = 0 })
      check("'dash' must be a length above 0, or a list", { dash = {} })
      check("'dash' must be a length above 0, or a list", { dash = { 4, -1 } })
      check("'dash' must be a length above 0, or a list", { dash = 0 / 0 })
      check("'dash_offset' must be a finite number", { dash = 4, dash_offset = 1 / 0 })
      check("'dash_offset' must be a finite number of at most 3.4e38, got number 1e%+300",
        { dash = 4, dash_offset = 1e300 })
      check("'miter_limit' must be a number, 1 or more", { miter_limit = 0.5 })
      check("more than 16384 dashes %(DASHES_MAX%)", { dash = 1e-4 })
      assert.matches("DASHES_MAX",
        error_of(Gui.line, now, P, Vector2(1e6, 0), 1, RED, { dash = 0.001 }))
    end)
  end)

  describe("that draws into a texture", function()
    it("can keep its picture, and be drawn with the nearest texels", function()
      local canvas = World.create_texture_gui(world, "tests/kept", 16, 16, "immediate", "keep",
        "nearest")
      Gui.rect(canvas, P, S)
      Gui.clear(canvas, RED)
      show()
      assert.equals(0, test.draw_calls())
      Gui.clear(canvas)
      Gui.rect(canvas, P, S)
      show()
      assert.equals(1, test.draw_calls())
    end)

    it("has more options than others", function()
      assert.equals("World.create_texture_gui: \"keep\" needs \"immediate\": a retained Gui draws "
        .. "all its objects in each frame",
        error_of(World.create_texture_gui, world, "tests/none", 8, 8, "keep"))
      assert.matches("must be \"keep\", \"nearest\", \"immediate\".*did you mean 'nearest'",
        error_of(World.create_texture_gui, world, "tests/none", 8, 8, "nerest"))
      assert.matches("argument #2 must be \"immediate\"",
        error_of(World.create_screen_gui, world, "keep"))
      assert.matches("this Gui is not drawn into a texture, and has no background",
        error_of(Gui.clear, now, RED))
      assert.matches("must be Gui", error_of(Gui.clear))
      assert.matches("'color' must be Color", error_of(Gui.clear, now, 5))
    end)
  end)

  describe("takes texts by name", function()
    local function seen(draw)
      Gui.reset(now)
      Gui.inspect(now)
      draw()
      return Gui.inspect(now)
    end

    it("as well as in order", function()
      local options = { align = "center", shadow = Vector2(2, -2) }
      assert.same(
        seen(function() Gui.text(now, "Hello", nil, 24, nil, P, RED, options) end),
        seen(function()
          Gui.text(now, "Hello", P, { size = 24, color = RED, align = "center",
            shadow = Vector2(2, -2) })
        end))
      assert.same(
        seen(function() Gui.text(now, "Hello", nil, 20, nil, P) end),
        seen(function() Gui.text(now, "Hello", P) end))
      assert.same(
        seen(function() Gui.text(now, "Hello", "core/fonts/default", 20, SHIP, P) end),
        seen(function()
          Gui.text(now, "Hello", P, { font = "core/fonts/default", material = SHIP })
        end))
      local object = Gui.text(kept, "Hello", P, { size = 30 })
      Gui.update_text(kept, object, "There", Vector2(1, 2), { size = 10 })
      Gui.inspect(kept)
      Gui.update_text(kept, object, "There", P)
      assert.equals("There", Gui.inspect(kept)[1].text)
      local _, wide = Gui.text_extents(now, "Hello", { size = 30, width = 1000 })
      local _, same = Gui.text_extents(now, "Hello", nil, 30)
      assert.near(same.x, wide.x, 1e-3)
    end)

    it("with known names and right values", function()
      local function check(expected, options)
        assert.matches(expected, error_of(Gui.text, now, "Hello", P, options))
      end
      check("^Gui.text: argument #4 'options' has the unknown option 'colour', did you mean "
        .. "'color'?", { colour = RED })
      check("argument #4 'options': 'size' must be number, got string \"big\"", { size = "big" })
      check("argument #4 'options': 'align' must be \"left\"", { align = "middle" })
      check("argument #4 'options': 'font' must be string, got number 5", { font = 5 })
      check("argument #4 'options': 'color' must be Color", { color = "red" })
      check("argument #4 'options': 'material' must be string or Material", { material = true })
      check("there is no font", { font = "nowhere" })
      assert.matches("argument #5 'font' must be nil after a table",
        error_of(Gui.text, now, "Hello", P, {}, RED))
      assert.matches("argument #3 'font' must be string or nil, got Vector3",
        error_of(Gui.text, now, "Hello", P, 24))
    end)
  end)
end)
