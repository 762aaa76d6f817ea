-- 80,000 living particles of LÖVE's own system: lifetimes of 1 to 3 s and 60,000 emitted per
-- second, so that the system is always full; speeds of 50 to 150 in all directions, gravity, two
-- sizes, three colours, spin. The particles are moved and drawn in 240 frames of warm-up and 180
-- measured frames.
local measure = require("measure")
local graphics = love.graphics
local MOST = 80000

local texel = love.image.newImageData(4, 4)
texel:mapPixel(function() return 1, 1, 1, 1 end)
local system = graphics.newParticleSystem(graphics.newImage(texel), MOST)
system:setEmissionRate(60000)
system:setParticleLifetime(1, 3)
system:setSpeed(50, 150)
system:setDirection(-math.pi / 2)
system:setSpread(2 * math.pi)
system:setLinearAcceleration(0, 100)
system:setSizes(1, 0.2)
system:setSpin(0, 3)
system:setColors(1, 1, 1, 1, 1, 0.5, 0, 1, 0.2, 0, 0, 0)
system:emit(MOST)

function love.update(dt) system:update(dt) end

function love.draw() graphics.draw(system, 400, 300) end

measure.frames(240, 180, function() measure.tell("particles", system:getCount()) end)
