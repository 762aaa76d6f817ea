-- The garden: its closed cells, the burrows of the beetles, and the lamp. A cell is a number, from
-- 1 at the bottom left and row by row, so that properties of all cells are plain arrays. The look
-- of the garden is in scenery.lua.
local Map = {}

Map.CELL = 32 -- logical pixels
Map.WIDE, Map.TALL = 40, 20 -- cells
Map.WIDTH, Map.HEIGHT = Map.WIDE * Map.CELL, Map.TALL * Map.CELL

-- `#` stone, `b` bush, `~` water, `O` a burrow, `L` the lamp. The rim is closed all around, so
-- that the neighbours of every open cell exist.
local GARDEN = {
  "bbbbb#bbbbbbbbbbb#bbbbbbbbbbbb##bbbbbbbb",
  "b.....b.......bb........b.........bb...b",
  "b..............b.......................b",
  "#.O...................##...............b",
  "b........##.......b...###......~~~.....#",
  "b........###......bb...##.....~~~~~....b",
  "b.........##.......b...........~~~.....b",
  "##..~~..............................b..b",
  "b..~~~~.......##........~~.............b",
  "b...~~~......####......~~~~............#",
  "b.O..~~......####.....~~~~~............b",
  "b.............##.......~~~.............b",
  "b...................b..........#....L..b",
  "##......bb.........bb.........###......b",
  "b......bbb....##....b..........##....b.b",
  "b.O.....b....###........##.............#",
  "b.............##.......####......bb....b",
  "b.......................##......bbb....b",
  "b....#....b.........b...........b......b",
  "bbb###bbbbbbbbbbb##bbbbbbbbb#bbbbbbbbbbb",
}

local OPEN = { ["."] = true, O = true, L = true }

---@class Map
---@field looks string[] the letter of each cell
---@field closed boolean[] of each cell: true if beetles cannot walk there
---@field burrows integer[] the cells where beetles come out
---@field lamp integer the cell that they walk to

---@return Map
function Map.new()
  local map = { looks = {}, closed = {}, burrows = {}, lamp = 0 }
  for cell = 1, Map.WIDE * Map.TALL do
    local row, column = math.floor((cell - 1) / Map.WIDE), (cell - 1) % Map.WIDE
    local look = GARDEN[Map.TALL - row]:sub(column + 1, column + 1)
    map.looks[cell], map.closed[cell] = look, not OPEN[look]
    if look == "O" then map.burrows[#map.burrows + 1] = cell end
    if look == "L" then map.lamp = cell end
  end
  return map
end

---Returns the cell of a point, which must be in the garden.
---@return integer
function Map.cell_at(x, y)
  return math.floor(y / Map.CELL) * Map.WIDE + math.floor(x / Map.CELL) + 1
end

---@return boolean
function Map.has(x, y)
  return x >= 0 and y >= 0 and x < Map.WIDTH and y < Map.HEIGHT
end

---Returns the column and the row of a cell, which count from 1.
---@return integer column
---@return integer row
function Map.column_and_row(cell)
  return (cell - 1) % Map.WIDE + 1, math.floor((cell - 1) / Map.WIDE) + 1
end

---Returns the middle of a cell.
function Map.center(cell)
  local column, row = Map.column_and_row(cell)
  return (column - 0.5) * Map.CELL, (row - 0.5) * Map.CELL
end

return Map
