-- Suite of tile maps: drawing, queries, changes. Reading of files is tested in Rust.

local function error_of(fn, ...)
  local ok, message = pcall(fn, ...)
  assert.is_false(ok)
  return (message:gsub("^[%w_/.]+:%d+: ", ""))
end

describe("a tile map", function()
  local map

  before_each(function() map = Tilemap.new("maps/cave") end)
  after_each(function() if Tilemap.alive(map) then Tilemap.destroy(map) end end)

  it("returns its size, layers and tiles", function()
    assert.same({ 4, 3 }, { Tilemap.size(map) })
    assert.same({ 8, 8 }, { Tilemap.tile_size(map) })
    assert.same({ "" }, Tilemap.level_names("maps/cave"))
    assert.same({ "ground", "roof" }, Tilemap.layer_names(map))
    assert.equals(1, Tilemap.tile(map, "ground", 1, 1))
    assert.equals(2, Tilemap.tile(map, "ground", 4, 3))
    assert.equals(0, Tilemap.tile(map, "roof", 1, 1))
    assert.equals(0, Tilemap.tile(map, "ground", 5, 1))
    assert.same({ 2, 3 }, { Tilemap.cell_at(map, 8, 23.9) })
    assert.same({ title = "Cave" }, Tilemap.properties(map))
    assert.is_true(Tilemap.tile_properties(map, 2).solid)
    assert.equals("wall", Tilemap.tile_properties(map, 2).type)
    assert.same({}, Tilemap.tile_properties(map, 99))
  end)

  it("is drawn by layers where it is visible", function()
    local gui = Application.main_gui()
    local count = Tilemap.draw(map, gui, Vector3(10, 20, 5))
    assert.equals(13, count)
    Application.render_world(Application.main_world())
    test.frames(1)
    assert.equals(4, Tilemap.draw(map, gui, Vector2(0, 0), { layers = { "roof" }, scale = 2 }) * 4)
    assert.equals(0, Tilemap.draw(map, gui, Vector3(-5000, 0, 0)))
    Tilemap.set_layer_visible(map, "ground", false)
    assert.is_false(Tilemap.is_layer_visible(map, "ground"))
    assert.equals(1, Tilemap.draw(map, gui))
    Gui.push(gui)
    Gui.translate(gui, Vector2(-5000, 0))
    assert.equals(0, Tilemap.draw(map, gui))
    Gui.pop(gui)
  end)

  it("is drawn where a moved Gui shows it", function()
    local gui = World.create_screen_gui(Application.main_world(), "immediate")
    local function moved_to(x, size)
      Gui.move(gui, Matrix4x4.from_quaternion_position_scale(Quaternion.identity(),
        Vector3(x, 0, 0), Vector3(size, 1, size)))
      return Tilemap.draw(map, gui)
    end
    assert.equals(13, moved_to(0, 1))
    assert.equals(0, moved_to(-64, 1))
    assert.equals(0, moved_to(1400, 1))
    assert.is_true(moved_to(0, 100) < 13)
    Gui.move(gui, Matrix4x4.from_translation(Vector3(-5000, 0, 0)))
    assert.equals(13, Tilemap.draw(map, gui, Vector3(5000, 0, 0)))
    World.destroy_gui(Application.main_world(), gui)
  end)

  it("returns the middle of a cell", function()
    assert.same({ 12, 20 }, { Tilemap.cell_position(map, 2, 3) })
    assert.same({ -4, -4 }, { Tilemap.cell_position(map, 0, 0) })
    assert.same({ 2, 3 }, { Tilemap.cell_at(map, Tilemap.cell_position(map, 2, 3)) })
  end)

  it("shows objects with tiles on request", function()
    local island = Tilemap.new("maps/island")
    assert.same({ "ground", "trees" }, Tilemap.layer_names(island))
    assert.is_false(Tilemap.is_layer_visible(island, "trees"))
    local gui = Application.main_gui()
    assert.equals(4, Tilemap.draw(island, gui))
    Tilemap.set_layer_visible(island, "trees", true)
    assert.equals(6, Tilemap.draw(island, gui))
    assert.equals(0, Tilemap.tile(island, "trees", 1, 1))
    assert.matches("outside of the layer, which has 0 and 0",
      error_of(Tilemap.set_tile, island, "trees", 1, 1, 1))
    local tree = Tilemap.objects(island, "trees")[1]
    assert.same({ "tree", "plant", 8, 16 }, { tree.name, tree.type, tree.width, tree.height })
    assert.is_true(tree.properties.tall)
    Tilemap.destroy(island)
  end)

  it("has positions of isometric cells", function()
    local island = Tilemap.new("maps/island")
    assert.same({ 2, 2 }, { Tilemap.size(island) })
    -- The topmost diamond is the first column of the upper row.
    assert.same({ 16, 12 }, { Tilemap.cell_position(island, 1, 2) })
    assert.same({ 8, 8 }, { Tilemap.cell_position(island, 1, 1) })
    for column = 1, 2 do
      for row = 1, 2 do
        local x, y = Tilemap.cell_position(island, column, row)
        assert.same({ column, row }, { Tilemap.cell_at(island, x, y) })
      end
    end
    assert.same({ 1, 2 }, { Tilemap.cell_at(island, 16, 9) })
    assert.same({ 2, 1 }, { Tilemap.cell_at(island, 16, 7) })
    Tilemap.destroy(island)
  end)

  it("is changed without changing others", function()
    Tilemap.set_tile(map, "ground", 1, 1, 2)
    assert.equals(2, Tilemap.tile(map, "ground", 1, 1))
    local other = Tilemap.new("maps/cave")
    assert.equals(1, Tilemap.tile(other, "ground", 1, 1))
    Tilemap.destroy(other)
    assert.is_false(Tilemap.alive(other))
  end)

  it("lists its objects", function()
    local door = Tilemap.objects(map, "things")[1]
    assert.equals("door", door.name)
    assert.equals("exit", door.type)
    assert.same({ 8, 12 }, { door.x, door.y })
    assert.equals("cellar", door.properties.leads_to)
    assert.equals(1, #Tilemap.objects(map))
    assert.equals("Tilemap.objects: argument #2 'layer': the tile map 'maps/cave' has no objects "
      .. "in a layer 'thing', did you mean 'things'?", error_of(Tilemap.objects, map, "thing"))
  end)

  it("reads levels and grids of LDtk", function()
    assert.same({ "Entry", "Exit" }, Tilemap.level_names("maps/world"))
    local entry = Tilemap.new("maps/world", "Entry")
    assert.same({ "Ground" }, Tilemap.grid_names(entry))
    assert.equals(2, Tilemap.grid_value(entry, "Ground", 3, 1))
    assert.equals(0, Tilemap.grid_value(entry, "Ground", 9, 9))
    assert.matches("has no grid 'Grund', did you mean 'Ground'",
      error_of(Tilemap.grid_value, entry, "Grund", 1, 1))
    Tilemap.destroy(entry)
    assert.equals("Tilemap.new: argument #2 'level': the tile map 'maps/world' has no level 'Entri'"
      .. ", did you mean 'Entry'?", error_of(Tilemap.new, "maps/world", "Entri"))
  end)

  it("refuses invalid arguments", function()
    local gui = Application.main_gui()
    assert.matches("has no layer 'grund', did you mean 'ground'",
      error_of(Tilemap.tile, map, "grund", 1, 1))
    assert.equals("Tilemap.set_tile: argument #5 'tile': the map's tile sets have no tile with the "
      .. "number 50", error_of(Tilemap.set_tile, map, "ground", 1, 1, 50))
    assert.equals("Tilemap.set_tile: column 5 and row 1 are outside of the layer, which has 4 "
      .. "and 3",
      error_of(Tilemap.set_tile, map, "ground", 5, 1, 1))
    assert.equals("Tilemap.draw: argument #4 'options' has the unknown option 'layer', did you "
      .. "mean 'layers'?",
      error_of(Tilemap.draw, map, gui, nil, { layer = 3 }))
    assert.equals("Tilemap.draw: option 'scale' must be above 0, got 0",
      error_of(Tilemap.draw, map, gui, nil, { scale = 0 }))
    local retained = World.create_screen_gui(Application.main_world())
    assert.matches("tile maps are drawn in immediate Guis", error_of(Tilemap.draw, map, retained))
    assert.matches("must be Vector3", error_of(Tilemap.draw, map, gui, 5))
    for _, name in ipairs({ "size", "tile_size", "layer_names", "properties", "grid_names",
      "destroy", "objects" }) do
      assert.matches("must be", error_of(Tilemap[name], "x"))
    end
    assert.matches("must be", error_of(Tilemap.alive, "x"))
    assert.matches("must be", error_of(Tilemap.cell_at, map, "x", 1))
    assert.matches("must be", error_of(Tilemap.cell_position, map, "x", 1))
    assert.matches("must be", error_of(Tilemap.tile_properties, map, "x"))
    assert.matches("has no layer", error_of(Tilemap.is_layer_visible, map, "x"))
    assert.matches("has no layer", error_of(Tilemap.set_layer_visible, map, "x", true))
    assert.matches("there is no tilemap 'maps/none'", error_of(Tilemap.level_names, "maps/none"))
    Tilemap.destroy(map)
    assert.matches("was destroyed", error_of(Tilemap.size, map))
  end)
end)
