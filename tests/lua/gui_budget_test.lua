-- Suite of the cost of drawing in a loop that LuaJIT compiles: the calls, and no memory. Vectors
-- stay in registers if no called function is compiled on its own.
describe("a compiled loop that draws", function()
  local COUNT = 1000
  local gui, red = nil, Color(255, 0, 0)

  setup(function()
    gui = World.create_screen_gui(Application.main_world(), "immediate")
  end)

  -- Checks `draw`, which draws COUNT times. An allocated vector takes at least 24 bytes.
  local function makes_none(name, draw)
    it("allocates no vectors in Gui." .. name, function()
      assert.within_budget({ allocated_bytes = 8 * COUNT, warm = 50 }, function()
        draw()
        Gui.reset(gui)
      end)
    end)
  end

  makes_none("rect", function()
    for i = 1, COUNT do Gui.rect(gui, Vector3(i, 10, 1), Vector2(4, 4), red) end
  end)

  makes_none("circle", function()
    for i = 1, COUNT do Gui.circle(gui, Vector3(i, 10, 1), 4, red) end
  end)

  makes_none("arc", function()
    for i = 1, COUNT do Gui.arc(gui, Vector3(i, 10, 1), 4, 0, 2, red) end
  end)

  makes_none("line", function()
    for i = 1, COUNT do Gui.line(gui, Vector3(i, 10, 1), Vector3(i, 30, 1), 2, red) end
  end)

  makes_none("rounded_rect without a colour", function()
    for i = 1, COUNT do Gui.rounded_rect(gui, Vector3(i, 10, 1), Vector2(4, 4), 2) end
  end)

  -- LuaJIT records the 57th iteration of a loop or a later one, which meets a new name here.
  it("allocates no vectors in Gui.bitmap, even if names were used while it was compiled", function()
    for game = 1, 3 do
      local names = {}
      for i = 1, 100 do
        names[i] = "budget " .. game .. "." .. i
        World.create_texture_gui(Application.main_world(), names[i], 4, 4)
      end
      local draw = load([[local gui, names, red = ...
        return function()
          for i = 1, 1000 do
            Gui.bitmap(gui, names[i % 100 + 1], Vector3(i, 10, 1), Vector2(4, 4), red)
          end
        end]])(gui, names, red)
      draw()
      Gui.reset(gui)
      assert.within_budget({ allocated_bytes = 8 * COUNT, warm = 20 }, function()
        draw()
        Gui.reset(gui)
      end)
    end
  end)
end)
