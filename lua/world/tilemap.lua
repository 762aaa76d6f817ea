-- `Tilemap.draw` and `Tilemap.outlines`. The rest of tile maps is native
-- (src/script/api/tilemap.rs).
local core = ...

local type = type
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local istype = core.ffi.istype
local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color

local Tilemap = core.module("Tilemap")
local WHITE, ORIGIN = C(255, 255, 255, 255), V3(0, 0, 0)
local OPTIONS = { scale = true, color = true, layers = true }

---Draws the part of a map that is visible in a Gui: the visible layers of the map, each layer of
---tiles on the next layer of the Gui, and others on that of the tiles below them. Options: `scale`,
---Gui units per texel (1); `color`, multiplied with every tile; `layers`, the names of the layers
---to draw instead of the visible ones.
---@param tilemap Tilemap a tile map
---@param gui Gui an immediate Gui
---@param position? Vector3|Vector2 position of the map's bottom left; z is its lowest layer
---@param options? table `scale`, `color`, `layers`
---@return integer count number of tiles drawn
---@node hidden
function Tilemap.draw(tilemap, gui, position, options)
  no_reload("Tilemap.draw")
  if position == nil then
    position = ORIGIN
  elseif istype(V2, position) then
    position = V3(position.x, position.y, 0)
  elseif not istype(V3, position) then
    bad_argument("Tilemap.draw", 3, "position", "Vector3, Vector2 or nil", position)
  end
  local scale, color, layers = 1, WHITE, nil
  core.check_options("Tilemap.draw", 4, "options", options, OPTIONS)
  if options ~= nil then
    scale, color = options.scale or 1, options.color or WHITE
    layers = options.layers
    if layers ~= nil and type(layers) ~= "table" then
      raise("Tilemap.draw: option 'layers' must be a list of names, got " .. core.describe(layers))
    end
  end
  return core.tilemap_draw(tilemap, gui, position, scale, color, layers)
end

---Returns the outlines of the solid tiles of a map, and those of its one-way tiles, for collision
---in your own code: lists of chains, each with its `points` (`{ x, y }` in texels from the bottom
---left of the map) and `closed`. The solid side is on the left of each chain.
---@param tilemap Tilemap a tile map
---@param collision? table|boolean `solid`, `one_way` and `layers`, as in a unit's file; true if nil
---@return table solid chains of solid tiles
---@return table one_way chains of one-way tiles
function Tilemap.outlines(tilemap, collision)
  if collision == nil then collision = true end
  local chains = core.tilemap_outlines(tilemap, collision)
  return chains[1], chains[2]
end
