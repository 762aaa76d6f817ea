-- The maps: the entities that each of them must have, and tiles that fit.
local Cave = require "rules.cave"
local Terrain = require "terrain"

local MAPS = { "maps/cave_1", "maps/cave_2", "maps/cave_3" }

local function count(cave, kind)
  local found = 0
  for _, entity in pairs(cave.cells) do found = found + (entity.kind == kind and 1 or 0) end
  return found
end

describe("every cave", function()
  for _, name in ipairs(MAPS) do
    it("can be played: " .. name, function()
      local terrain = Terrain.load(name)
      finally(function() Terrain.release(terrain) end)
      local cave = terrain.cave
      assert.equals(1, count(cave, "hero"))
      assert.equals(1, count(cave, "door"))
      assert.is_true(count(cave, "gem") >= cave.needed)
      assert.is_true(terrain.seconds > 0)
      for x = 1, cave.columns do
        assert.equals("rock", Cave.at(cave, x, 1).kind)
        assert.equals("rock", Cave.at(cave, x, cave.rows).kind)
      end
    end)

    it("does not move before the hero digs: " .. name, function()
      local terrain = Terrain.load(name)
      finally(function() Terrain.release(terrain) end)
      for _ = 1, 100 do
        Cave.step(terrain.cave, 0, 0)
        assert.same({}, terrain.cave.events)
      end
    end)
  end
end)

describe("the ground", function()
  it("has edges around dug cells", function()
    local terrain = Terrain.load("maps/cave_1")
    finally(function() Terrain.release(terrain) end)
    local hero = terrain.cave.hero
    local x, y = hero.x + 2, hero.y
    local before = Tilemap.tile(terrain.map, "ground", x, y)
    Cave.step(terrain.cave, 1, 0)
    Terrain.dig(terrain, hero.x, hero.y)
    assert.equals(0, Tilemap.tile(terrain.map, "ground", hero.x, hero.y))
    local after = Tilemap.tile(terrain.map, "ground", x, y)
    assert.not_equals(before, after)
    local properties = Tilemap.tile_properties(terrain.map, after)
    assert.equals("earth", properties.type)
  end)
end)
