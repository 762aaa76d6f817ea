-- The best scores, saved on disk (docs/save.md). If the save cannot be read or written, the game
-- continues without it, and `problem` has the reason.
local Scores = {}

local SLOT = "scores"
local RANKS = 5

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
  local rank = #list + 1
  while rank > 1 and list[rank - 1].score < score do rank = rank - 1 end
  if rank > RANKS or score == 0 then return nil end
  table.insert(list, rank, { score = score, depth = depth })
  list[RANKS + 1] = nil
  local saved, problem = Save.write(SLOT, list)
  Scores.problem = not saved and problem or nil
  return rank
end

---Forgets the list, as if the game had been restarted.
function Scores.forget()
  best, Scores.problem = nil, nil
end

return Scores
