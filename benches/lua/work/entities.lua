-- a: 10,000 entities (tables) move, bounce in a square and count down a timer, once a frame.

local SIZE, COUNT, DT = 2000, 10000, 1 / 60
local seed = 12345

local function random()
  seed = seed * 16807 % 2147483647
  return seed / 2147483647
end

local entities = {}
for i = 1, COUNT do
  entities[i] = {
    x = random() * SIZE, y = random() * SIZE,
    vx = random() * 200 - 100, vy = random() * 200 - 100,
    timer = random() * 2, flips = 0,
  }
end

return function()
  local flips = 0
  for i = 1, COUNT do
    local e = entities[i]
    local x, y = e.x + e.vx * DT, e.y + e.vy * DT
    if x < 0 or x > SIZE then
      x = x < 0 and -x or 2 * SIZE - x
      e.vx = -e.vx
    end
    if y < 0 or y > SIZE then
      y = y < 0 and -y or 2 * SIZE - y
      e.vy = -e.vy
    end
    e.x, e.y = x, y
    local timer = e.timer - DT
    if timer <= 0 then
      timer = timer + 1.5
      e.flips = e.flips + 1
    end
    e.timer = timer
    flips = flips + e.flips
  end
  return flips
end
