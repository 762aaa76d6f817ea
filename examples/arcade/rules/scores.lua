-- The best scores, saved on disk (docs/save.md). If the save cannot be read or written, the game
-- continues without it, and `problem` has the reason.
local Scores = {}

local SLOT = "scores"
local PLACES = 5

local best ---@type { score: integer, depth: integer }[]?
Scores.problem = nil ---@type string?

---Returns the list, the best first. The first call reads it from disk.
function Scores.list()
  if not best then
    best = {}
    if Save.exists(SLOT) then
      local saved, problem = Save.read(SLOT)
      best, Scores.problem = saved or {}, problem
    end
  end
  return best
end

---Enters a score.
---@return integer? place nil if it is not among the best
function Scores.add(score, depth)
  local list = Scores.list()
  local place = #list + 1
  while place > 1 and list[place - 1].score < score do place = place - 1 end
  if place > PLACES or score == 0 then return nil end
  table.insert(list, place, { score = score, depth = depth })
  list[PLACES + 1] = nil
  local saved, problem = Save.write(SLOT, list)
  Scores.problem = not saved and problem or nil
  return place
end

---Forgets the list, as if the game had been restarted.
function Scores.forget()
  best, Scores.problem = nil, nil
end

return Scores
