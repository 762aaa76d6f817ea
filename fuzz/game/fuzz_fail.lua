-- A game that fails in its second frame, for recordings that end so.

local frames = 0

return {
  update = function()
    frames = frames + 1
    if frames == 2 then error("this game fails") end
  end,
}
