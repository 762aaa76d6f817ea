-- Suite of the arguments of Gui's drawing functions: every wrong argument of every function, in
-- loops that LuaJIT compiles, and the different forms of right ones.

local POSE, P3, P2, S = Matrix4x4.identity(), Vector3(10, 20, 1), Vector2(1, 2), Vector2(30, 40)
local RED, SHIP = Color(255, 0, 0), "textures/ship"
local FONT, POINTS = "core/fonts/default", { Vector2(0, 0), Vector2(9, 0), Vector2(0, 9) }

local POSITION = { "position", "Vector3 or Vector2", P3, P2 }
local CENTER = { "center", "Vector3 or Vector2", P3, P2 }
local SIZE = { "size", "Vector2 or Vector3", S, P3 }
local COLOR = { "color", "Color or nil", RED, nil, optional = true }
local MATERIAL = { "material", "string or Material", SHIP }
local PLANE, LAYER = { "pose", "Matrix4x4", POSE }, { "layer", "number", 3 }
local OPTIONAL_LAYER = { "layer", "number or nil", 3, optional = true }
local UV00, UV11 = { "uv00", "Vector2", Vector2() }, { "uv11", "Vector2", Vector2(1, 1) }
local RADIUS, THICKNESS = { "radius", "number", 5 }, { "thickness", "number", 1 }
local OUTLINE = { "outline", "number or nil", 1, optional = true }
local BORDERS = { "borders", "number or table", 2, { 1, 2, 3, 4 } }
local TEXT, FACE = { "text", "string", "x" }, { "font", "string or nil", FONT, optional = true }
local PIXELS = { "size", "number", 12 }
local TEXT_MATERIAL = { "material", "string, Material or nil", SHIP, optional = true }
local OPTIONS = { "options", "table or nil", { align = "left" }, optional = true }
local P = { "Vector2 or Vector3", P2, P3 }
local ROTATION = { "rotation", "number or nil", 0.5, optional = true }
local ORIGIN = { "origin", "Vector2, Vector3 or nil", P2, optional = true }
local SCALE = { "scale", "number, Vector2, Vector3 or nil", 2, optional = true }
local FLIP = { "flip", '"x", "y", "xy" or nil', "xy", optional = true }
local BLEND = { "blend", '"alpha", "add", "multiply", "replace", "premultiplied" or nil', "add",
  optional = true }
local LINE_OPTIONS = { "options", "table or nil", { dash = 4 }, optional = true }
local TO_COLOR = { "to_color", "Color or nil", RED, optional = true }
local ANGLE = { "angle", "number or nil", 1, optional = true }
local OPTIONAL_MATERIAL = { "material", "string, Material or nil", SHIP, optional = true }
local UVS = { "uvs", "table or nil", { Vector2(), Vector2(1, 0), Vector2(0, 1) }, optional = true }
local COLORS = { "colors", "Color, table or nil", { RED, RED, RED }, optional = true }
local P1, CORNER = { "p1", P[1], P2, P3 }, { "p2", P[1], S, P3 }
local LAST = { "p3", P[1], Vector2(), P3 }

-- Arguments of each function after the Gui: name, legal types in messages, right values.
local FUNCTIONS = {
  rect = { POSITION, SIZE, COLOR },
  rect_3d = { PLANE, POSITION, LAYER, SIZE, COLOR },
  rect_outline = { POSITION, SIZE, THICKNESS, COLOR },
  rounded_rect = { POSITION, SIZE, RADIUS, COLOR, OUTLINE },
  bitmap = { MATERIAL, POSITION, { "size", "Vector2, Vector3 or nil", S, P3, optional = true },
    COLOR, ROTATION, ORIGIN, SCALE, FLIP, BLEND },
  bitmap_3d = { MATERIAL, PLANE, POSITION, LAYER, SIZE, COLOR },
  bitmap_uv = { MATERIAL, UV00, UV11, POSITION, SIZE, COLOR, ROTATION, ORIGIN, SCALE, FLIP, BLEND },
  bitmap_3d_uv = { MATERIAL, UV00, UV11, PLANE, POSITION, LAYER, SIZE, COLOR },
  nine_patch = { MATERIAL, BORDERS, POSITION, SIZE, COLOR },
  triangle = { P1, CORNER, LAST, OPTIONAL_LAYER, COLOR },
  line = { { "from", "Vector3 or Vector2", P3, P2 }, { "to", "Vector3 or Vector2", P3, P2 },
    THICKNESS, COLOR, LINE_OPTIONS },
  polyline = { { "points", "table", POINTS }, THICKNESS, OPTIONAL_LAYER, COLOR,
    { "closed", "boolean or nil", true, optional = true }, LINE_OPTIONS },
  polygon = { { "points", "table", POINTS }, OPTIONAL_LAYER, COLOR },
  polygon_uv = { OPTIONAL_MATERIAL, { "points", "table", POINTS }, UVS, OPTIONAL_LAYER, COLORS },
  gradient_rect = { POSITION, SIZE, COLOR, TO_COLOR, ANGLE,
    { "radius", "number or nil", 2, optional = true } },
  gradient_ellipse = { CENTER, { "radii", "Vector2 or Vector3", S, P3 }, COLOR, TO_COLOR, ANGLE },
  circle = { CENTER, RADIUS, COLOR, OUTLINE },
  ellipse = { CENTER, { "radii", "Vector2 or Vector3", S, P3 }, COLOR, OUTLINE },
  arc = { CENTER, RADIUS, { "from", "number", 0 }, { "to", "number", 2 }, COLOR,
    { "thickness", "number or nil", 1, optional = true } },
  text = { TEXT, FACE, PIXELS, TEXT_MATERIAL, POSITION, COLOR, OPTIONS },
  text_3d = { TEXT, FACE, PIXELS, TEXT_MATERIAL, PLANE, POSITION, LAYER, COLOR, OPTIONS },
  text_extents = { TEXT, FACE, PIXELS, OPTIONS },
  has_all_glyphs = { TEXT, FACE },
  texture_size = { MATERIAL },
}
-- Functions that have no form that changes an object.
local UNCHANGED = { text_extents = true, has_all_glyphs = true, texture_size = true }

local OBJECT = { "object", "the number of an object" }

-- Values of which at least one is wrong for every argument, and their descriptions.
local VALUES = { { 5ULL, "a number of 64 bits" }, { true, "boolean true" }, { "x", 'string "x"' },
  { 7, "number 7" }, { {}, "table" }, { print, "function" }, { Vector4(), "Vector4" },
  { P3, "Vector3" }, { P2, "Vector2" }, { RED, "Color" }, { POSE, "Matrix4x4" } }

-- Returns true if the legal types include the type of a value.
local function is_legal(expected, description)
  if expected == "Gui" or expected == "the number of an object" then expected = "number" end
  local kind = description:match("^%w+")
  if description == "a number of 64 bits" then return false end
  local choice = description:match('"%w+"')
  if choice and expected:find(choice, 1, true) then return true end
  if kind == "number" and expected:find("Material", 1, true) then return true end
  for name in expected:gsub("or nil", ""):gmatch("%w+") do
    if name == kind then return true end
  end
  return false
end

local function message_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

local function sorted(set)
  local names = {}
  for name in pairs(set) do names[#names + 1] = name end
  table.sort(names)
  return names
end

describe("An argument of a drawing function", function()
  local world, now, kept

  before_each(function()
    world = Application.new_world()
    now = World.create_screen_gui(world, "immediate")
    kept = World.create_screen_gui(world)
  end)

  after_each(function()
    Application.release_world(world)
  end)

  -- Returns a function's right arguments, the second form of each where it has one, and the count.
  local function right_arguments(rows, first)
    local usual, other = { unpack(first) }, { unpack(first) }
    for i = 1, #rows do
      local row = rows[i]
      usual[#first + i] = row[3]
      if not row.optional then other[#first + i] = row[4] == nil and row[3] or row[4] end
    end
    return usual, other, #first + #rows
  end

  -- Checks each wrong value at each position, often enough that the calls are compiled.
  local function check_wrong(name, rows, usual, count, before)
    local fn, path = Gui[name], "Gui." .. name
    for at = before, count do
      local row = rows[at - before + 1]
      for _, value in ipairs(VALUES) do
        if not is_legal(row[2], value[2]) then
          local arguments = { unpack(usual, 1, count) }
          arguments[at] = value[1]
          local expected = string.format("%s: argument #%d '%s' must be %s, got %s", path, at,
            row[1], row[2], value[2])
          for _ = 1, 3 do
            -- A remedy may follow.
            local message = message_of(fn, unpack(arguments, 1, count))
            assert.equals(expected, message:sub(1, #expected))
          end
        end
      end
      if not row.optional then
        local arguments = { unpack(usual, 1, count) }
        arguments[at] = nil
        assert.equals(string.format("%s: argument #%d '%s' must be %s, got nil", path, at, row[1],
          row[2]), message_of(fn, unpack(arguments, 1, count)))
      end
    end
  end

  for _, name in ipairs(sorted(FUNCTIONS)) do
    local rows = FUNCTIONS[name]

    it("of Gui." .. name .. " is checked", function()
      local usual, other, count = right_arguments(rows, { now })
      for _ = 1, 100 do
        Gui[name](unpack(usual, 1, count))
        Gui[name](unpack(other, 1, count))
      end
      Gui.reset(now)
      check_wrong(name, { { "gui", "Gui", now }, unpack(rows) }, usual, count, 1)
      Gui[name](unpack(usual, 1, count))
      for _, number in ipairs({ 7, 0 / 0, 1.5, -1 }) do
        usual[1] = number
        assert.matches("^Gui." .. name .. ": argument #1 'gui': must be a Gui, and the number",
          message_of(Gui[name], unpack(usual, 1, count)))
      end
      usual[1] = now
      World.destroy_gui(world, now)
      for _, arguments in ipairs({ usual, other }) do
        assert.matches("^Gui." .. name .. ": argument #1 'gui': Gui was destroyed in frame",
          message_of(Gui[name], unpack(arguments, 1, count)))
      end
    end)

    if not UNCHANGED[name] then
      it("of Gui.update_" .. name .. " is checked", function()
        local update = Gui["update_" .. name]
        local created, _, created_count = right_arguments(rows, { kept })
        local object = Gui[name](unpack(created, 1, created_count))
        local usual, other, count = right_arguments(rows, { kept, object })
        for _ = 1, 100 do
          assert.is_nil(update(unpack(usual, 1, count)))
          assert.is_nil(update(unpack(other, 1, count)))
        end
        check_wrong("update_" .. name, { { "gui", "Gui" }, OBJECT, unpack(rows) }, usual, count, 1)
        for _, never in ipairs({ 0, -1, 0 / 0, 1e300 }) do
          usual[2] = never
          assert.equals("Gui.update_" .. name .. ": this is not an object of a Gui: retained Guis "
            .. "return their numbers", message_of(update, unpack(usual, 1, count)))
        end
      end)
    end
  end

  it("is checked where a compiled loop first meets it", function()
    local function draw(position, color)
      for i = 1, 200 do
        Gui.rect(now, i == 150 and position or P3, S, i == 150 and color or RED)
      end
    end
    draw(P2)
    assert.equals("Gui.rect: argument #2 'position' must be Vector3 or Vector2, got a number of "
      .. "64 bits", message_of(draw, 5ULL))
    assert.equals("Gui.rect: argument #4 'color' must be Color or nil, got string \"red\" "
      .. "(write Color.red(), or Color.from_hex(\"#ff8000\"))", message_of(draw, P2, "red"))
    assert.equals("Gui.rect: positions, sizes and layers must be finite numbers (is something "
      .. "divided by zero?)", message_of(draw, Vector3(0 / 0, 0, 0)))
  end)

  it("that is nil means the same as the default", function()
    local function shown(draw)
      Gui.inspect(kept)
      Gui.reset(kept)
      draw()
      local seen = Gui.inspect(kept)
      for _, one in ipairs(seen) do one.object = nil end
      return seen
    end
    local white, own = Color(255, 255, 255), Vector2(Gui.texture_size(kept, SHIP))
    for _, pair in ipairs({
      { function() Gui.rect(kept, P2, S) end,
        function() Gui.rect(kept, Vector3(1, 2, 0), S, white) end },
      { function() Gui.bitmap(kept, SHIP, P3) end,
        function() Gui.bitmap(kept, SHIP, P3, own, white) end },
      { function() Gui.arc(kept, P3, 5, 0, 1) end,
        function() Gui.arc(kept, P3, 5, 0, 1, white, 9) end },
      { function() Gui.polygon(kept, POINTS) end,
        function() Gui.polygon(kept, POINTS, 0, white) end },
      { function() Gui.text(kept, "x", nil, 12, nil, P2) end,
        function() Gui.text(kept, "x", FONT, 12, nil, Vector3(1, 2, 0), white) end },
      { function() Gui.rect_3d(kept, POSE, Vector3(), 2, S) end,
        function() Gui.rect_3d(kept, POSE, Vector2(), 2, S, white) end },
    }) do
      assert.same(shown(pair[1]), shown(pair[2]))
    end
  end)

  it("that moves an object on its plane moves it along the axes of the pose", function()
    Gui.inspect(kept)
    local turned = Matrix4x4.from_quaternion(Quaternion(Vector3(0, 1, 0), 1))
    local moved = Matrix4x4.from_translation(Vector3(3, 0, 4)) * turned
    Gui.rect_3d(kept, turned, Vector3(3, 0, 4), 1, S)
    Gui.rect_3d(kept, moved, Vector3(), 1, S)
    local seen = Gui.inspect(kept)
    for _, edge in ipairs({ "left", "bottom", "right", "top" }) do
      assert.equals(seen[1][edge], seen[2][edge])
    end
  end)
end)
