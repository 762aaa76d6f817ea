-- Garbage: 130,000 live small tables; every frame creates 10,000 more, of which 1,000 replace old
-- ones and the others are dropped.

local LIVE, MADE, KEPT = 130000, 10000, 10
local live, place = {}, 0

function init()
  for i = 1, LIVE do
    live[i] = { x = i, y = 0 }
  end
end

function render()
  local last
  for i = 1, MADE do
    local made = { x = i, y = last and last.x or 0 }
    last = made
    if i % KEPT == 0 then
      place = place % LIVE + 1
      live[place] = made
    end
  end
end
