-- Script work inside the engine: runs a file of work/ as a game's module. The same files run in a
-- bare VM, whose first sample gives the expected sum. Arguments: the file's name, frames in a
-- sample, the sum, and the seed that randomize_hot_counters.lua takes.

local name, times, expected, seed = Application.argv()
times, expected, seed = tonumber(times), tonumber(expected), tonumber(seed)

require("randomize_hot_counters")(seed)
local repeated = require("repeated")
local frame = require("work." .. name)

function init()
  local sum = repeated(frame, times)
  assert(sum == expected, "the engine and the bare VM disagree")
end

function render()
  repeated(frame, times)
end
