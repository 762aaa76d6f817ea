-- Converts a map from Tiled into a cave of the rules, and chooses the tiles of the ground so that
-- their edges fit their neighbours. The classes and properties of the tile set say what a tile is.
local Cave = require "rules.cave"

local Terrain = {}

Terrain.CELL = 16 -- texels
local TILES = 64 -- of the tile set
local UP, RIGHT, DOWN, LEFT = 1, 2, 4, 8

local function is_ground(entity)
  return entity ~= nil and (entity.kind == "earth" or entity.kind == "rock")
end

-- The tiles of each kind of ground, by the sides on which there is more ground.
local function read_tiles(map)
  local tiles = { earth = {}, rock = {} }
  for tile = 1, TILES do
    local properties = Tilemap.tile_properties(map, tile)
    if properties.closed then tiles[properties.type][properties.closed] = tile end
  end
  return tiles
end

local function fit(terrain, x, y)
  local cave = terrain.cave
  if not Cave.is_inside(cave, x, y) then return end
  local entity, tile = Cave.at(cave, x, y), 0
  if entity and is_ground(entity) then
    local closed = (is_ground(Cave.at(cave, x, y + 1)) and UP or 0)
      + (is_ground(Cave.at(cave, x + 1, y)) and RIGHT or 0)
      + (is_ground(Cave.at(cave, x, y - 1)) and DOWN or 0)
      + (is_ground(Cave.at(cave, x - 1, y)) and LEFT or 0)
    tile = terrain.tiles[entity.kind][closed]
  end
  Tilemap.set_tile(terrain.map, "ground", x, y, tile)
end

---@class Terrain
---@field name string the map's
---@field map Tilemap
---@field cave Cave
---@field tiles table<string, integer[]> of each kind of ground, by its closed sides
---@field seconds number how long the oil lasts
---@field color Color

---Creates a cave from a map. Each terrain has its own copy of the map, so digging changes only it.
---@param name string for example "maps/cave_1"
---@return Terrain
function Terrain.load(name)
  local map = Tilemap.new(name)
  local properties = Tilemap.properties(map)
  local columns, rows = Tilemap.size(map)
  local cave = Cave.new(columns, rows, properties.gems)
  for _, layer in ipairs({ "ground", "things" }) do
    for y = 1, rows do
      for x = 1, columns do
        local tile = Tilemap.tile(map, layer, x, y)
        if tile > 0 then Cave.put(cave, Tilemap.tile_properties(map, tile).type, x, y) end
      end
    end
  end
  Tilemap.set_layer_visible(map, "things", false)
  local terrain = { name = name, map = map, cave = cave, tiles = read_tiles(map),
    seconds = properties.seconds, color = Color.from_hex(properties.color) }
  for y = 1, rows do
    for x = 1, columns do fit(terrain, x, y) end
  end
  return terrain
end

---Updates the tiles of a cell that was dug out, and of its four neighbours.
function Terrain.dig(terrain, x, y)
  fit(terrain, x, y)
  fit(terrain, x + 1, y)
  fit(terrain, x - 1, y)
  fit(terrain, x, y + 1)
  fit(terrain, x, y - 1)
end

function Terrain.release(terrain)
  Tilemap.destroy(terrain.map)
end

---The middle of a cell, in texels.
function Terrain.middle(x, y)
  return (x - 0.5) * Terrain.CELL, (y - 0.5) * Terrain.CELL
end

return Terrain
