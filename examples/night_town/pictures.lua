-- The town for pictures: without the panel, at an hour and in a weather from the command line.
--
--   engine run . --boot pictures --headless --renderer software --frames 24 --screenshot shot.png \
--     -- 19.55 0.5 0.18
local Clock = require "clock"
local Panel = require "panel"
local Weather = require "weather"

require "main"

local hour, rain, fog = Application.argv()
Panel.shown = false
Clock.hour = tonumber(hour) or Clock.hour
Weather.rain, Weather.fog = tonumber(rain) or Weather.rain, tonumber(fog) or Weather.fog
Weather.wet = Weather.falling() > 0 and 1 or 0
