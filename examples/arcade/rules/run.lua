-- One game, from the first cave to the last lamp: points, lives, oil and depth. Caves have their
-- own rules (rules/cave.lua); this module gives points for their events.
local Run = {}

local LIVES = 3
local CAVES = 3 -- after the last map comes the first one again, faster
local COMBO_SECONDS = 2.5 -- the next gem must follow within this time
local COMBO_MAX = 8
local POINTS = { gem = 10, crush = 50, win = 100 }
local POINTS_A_SECOND = 5 -- for oil that is left at the door
local STEP_SECONDS, STEP_SECONDS_LEAST, FASTER = 0.15, 0.09, 0.94

function Run.new()
  return { score = 0, lives = LIVES, depth = 1, oil = 0, oil_full = 1, combo = 0, combo_left = 0 }
end

---Returns the map of the current cave.
function Run.map(run)
  return "maps/cave_" .. (run.depth - 1) % CAVES + 1
end

---Returns the seconds between two steps of a cave. Deeper caves are faster.
function Run.step_seconds(run)
  return math.max(STEP_SECONDS_LEAST, STEP_SECONDS * FASTER ^ (run.depth - 1))
end

---Fills the lamp for a cave.
function Run.enter(run, seconds)
  run.oil, run.oil_full, run.combo, run.combo_left = seconds, seconds, 0, 0
end

---Burns oil.
---@return boolean out true if the lamp went out in this call
function Run.burn(run, dt)
  run.combo_left = run.combo_left - dt
  if run.combo_left <= 0 then run.combo = 0 end
  local before = run.oil
  run.oil = math.max(0, before - dt)
  return before > 0 and run.oil == 0
end

---Returns the points for an event of a cave. Gems that are taken in quick succession count more.
---@return integer points
function Run.take(run, event)
  local points = POINTS[event.kind] or 0
  if event.kind == "gem" then
    run.combo, run.combo_left = math.min(run.combo + 1, COMBO_MAX), COMBO_SECONDS
    points = points * run.combo
  elseif event.kind == "win" then
    points = points + math.floor(run.oil) * POINTS_A_SECOND
    run.depth = run.depth + 1
  elseif event.kind == "die" then
    run.lives = run.lives - 1
  end
  run.score = run.score + points
  return points
end

function Run.is_over(run)
  return run.lives == 0
end

return Run
