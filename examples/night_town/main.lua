-- A small town in the rain, at any hour. The engine calls init() once, then update(dt) and render()
-- in every frame. Each module below has one subject; this file calls them in order. Metres, z up,
-- y north.
local Bells = require "bells"
local Clock = require "clock"
local Eye = require "eye"
local Lamps = require "lamps"
local Mirror = require "mirror"
local Panel = require "panel"
local Probe = require "probe"
local Sky = require "sky"
local Town = require "town"
local Weather = require "weather"

local world ---@type World

function init()
  world = Application.main_world()
  local level = Town.begin(world)
  Clock.begin()
  Weather.begin(world, level)
  Sky.begin(world)
  Lamps.begin(world)
  Bells.begin(world, level)
  Mirror.begin(world, level)
  Probe.begin(world)
  Eye.begin(world, level)
end

function update(dt)
  Clock.update(dt)
  Weather.update(dt, Eye.position)
  Lamps.update(dt)
  Bells.update()
  World.update(world, dt)
  Eye.update(dt)
  -- A replay compares these numbers in each frame.
  Application.hash(Clock.hour, Weather.rain, Weather.fog, Weather.wet, Lamps.lit)
end

function render()
  Sky.show()
  Mirror.render()
  Probe.render()
  Panel.draw()
  Application.render_world(world, Eye.camera)
end
