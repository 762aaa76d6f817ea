-- The clock of the tower: its hands show the time of the game, and its bell strikes each hour.
local Clock = require "clock"

local Bells = {}

local TURN = 2 * math.pi
local HEIGHT = Vector3(0, 0, 16) -- above the foot of the tower
local world, tower ---@type World, Unit
local hour ---@type integer

local function turn(node, share)
  Unit.set_local_rotation(tower, Unit.node(tower, node), Quaternion(Vector3(0, 1, 0), share * TURN))
end

---@param of World
---@param level Level
function Bells.begin(of, level)
  world, tower = of, Level.unit(level, "tower")
  hour = math.floor(Clock.hour)
  Bells.update()
end

function Bells.update()
  turn("Hour", Clock.hour / 12)
  turn("Minute", Clock.hour % 1)
  local now = math.floor(Clock.hour)
  if now == hour then return end
  hour = now
  Sound.trigger(world, "sounds/bell", { position = Unit.world_position(tower, 1) + HEIGHT })
end

return Bells
