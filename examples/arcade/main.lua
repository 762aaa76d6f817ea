-- Glimmer: dig for gems by the light of a lamp, and beware of the stones. This file starts
-- everything and passes each frame to the current screen. The game itself is screens/play.lua.
local Controls = require "controls"
local Music = require "music"
local Texts = require "texts"
local Ui = require "ui"
local View = require "view"

local SCREENS = {
  title = require "screens.title",
  play = require "screens.play",
  over = require "screens.over",
}

local world ---@type World
local screen

-- A screen returns the next screen from `update`. Screens never call each other.
local function show(name, argument)
  if screen then screen.leave() end
  screen = SCREENS[name]
  screen.enter(argument)
end

function init()
  world = Application.main_world()
  Controls.init()
  Texts.init()
  View.init(world)
  Ui.init(world)
  Music.init(world)
  show("title")
end

function update(dt)
  Music.update()
  local name, argument = screen.update(dt)
  if name then show(name, argument) end
  World.update(world, dt)
end

function render()
  Ui.begin()
  screen.draw()
  Application.render_world(world)
end

function on_activate(active)
  if screen.on_activate then screen.on_activate(active) end
end

function on_reload(names)
  if screen.on_reload then screen.on_reload(names) end
end
