-- The background of the menus: a dark cave through which a light wanders. Its bats fly and its
-- gems glint as in the game, but nobody digs.
local Cave = require "rules.cave"
local Terrain = require "terrain"
local View = require "view"

local Backdrop = {}

local MAP, STEP_SECONDS = "maps/cave_2", 0.15

local terrain, view ---@type Terrain, table
local waited = 0

function Backdrop.enter()
  terrain, waited = Terrain.load(MAP), 0
  view = View.new(terrain)
  view.oil = 0.5
  Tween.to(view, 1.5, { iris = 1 }, "cubic_out")
end

function Backdrop.leave()
  Terrain.release(terrain)
end

function Backdrop.update(dt)
  waited = waited + dt
  if waited >= STEP_SECONDS then
    waited = waited - STEP_SECONDS
    Cave.step(terrain.cave, 0, 0)
  end
  View.update(view, dt, waited / STEP_SECONDS)
  local width, height = terrain.cave.columns * Terrain.CELL, terrain.cave.rows * Terrain.CELL
  view.light_x = width * (0.5 + 0.34 * math.sin(view.time * 0.31))
  view.light_y = height * (0.5 + 0.3 * math.sin(view.time * 0.47 + 1))
  view.eye_x, view.eye_y = view.light_x, view.light_y
end

function Backdrop.draw()
  View.draw(view)
end

return Backdrop
