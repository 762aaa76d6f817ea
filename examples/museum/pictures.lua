-- Views of the museum for the pictures of the manual's page about navigation:
--
--     engine run . --boot pictures --headless --renderer software --frames 900 \
--       --screenshot mesh.png@899 -- mesh
--     engine run . --boot pictures --headless --renderer software --frames 1500 \
--       --film doors.png@660-1500 -- doors
--
-- Frames have 1/60 second.
require "main"
local Doors = require "doors"
local Eye = require "eye"
local Hud = require "hud"

---@type table<string, table?>
local VIEWS = {
  -- The hall and the stairs, with the navigation mesh, and the agents on it.
  mesh = { target = Vector3(-3, -4, 0), yaw = 0.35, distance = 26, mesh = true },
  -- The entrances, one of which closes, and opens again.
  doors = { target = Vector3(0, -15.5, 0), yaw = 0, distance = 21, mesh = true, door = 1,
    closes = 720, opens = 1200 },
}

local begin, step = init, update
local view, frame = nil, 0

function init()
  view = assert(VIEWS[Application.argv()], "the argument is mesh or doors")
  begin()
  Eye.target, Eye.yaw, Eye.distance = view.target, view.yaw, view.distance
  Hud.shows_mesh = function() return view.mesh end
  Hud.draw = function() end
end

function update(dt)
  frame = frame + 1
  if frame == view.closes or frame == view.opens then Doors.toggle(view.door) end
  step(dt)
end
