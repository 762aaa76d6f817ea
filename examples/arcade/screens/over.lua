-- The end of a game: the score, its place among the best, and a menu.
local Scores = require "rules.scores"
local Backdrop = require "backdrop"
local Controls = require "controls"
local Texts = require "texts"
local Ui = require "ui"

local Over = {}

local COUNT_SECONDS = 1.2

local run, rank
local counted = { score = 0 } -- the score, on its way up

function Over.enter(ended_run)
  Backdrop.enter()
  run = ended_run
  rank = Scores.add(run.score, run.depth)
  counted.score = 0
  Tween.to(counted, COUNT_SECONDS, { score = run.score }, "quad_out")
end

function Over.leave()
  Backdrop.leave()
end

---@return string? screen that comes next
function Over.update(dt)
  Backdrop.update(dt)
  if Input.pressed("confirm") then return "play" end
  if Input.pressed("back") or Input.pressed("pause") then return "title" end
end

function Over.draw()
  Backdrop.draw()
  local middle = Ui.height / 2
  Ui.panel(Ui.width / 2 - 420, middle - 290, 840, 580)
  Ui.centred(Texts.get("over"), middle + 196, 56, Ui.WHITE)
  Ui.centred(tostring(math.floor(counted.score)), middle + 100, 76, Ui.GOLD)
  Ui.centred(Texts.get("reached", { depth = run.depth }), middle + 54, 26, Ui.DIM)
  if rank then Ui.centred(Texts.get("place", { place = rank }), middle + 14, 30, Ui.GOLD) end
  Ui.scores(Texts.get("best"), Texts.get("best_none"), Scores.list(), middle - 40, rank)
  Ui.centred(Texts.get("again", { key = Controls.label("confirm"),
    back = Controls.label("back") }), middle - 268, 22)
  if Scores.problem then
    Ui.centred(Texts.get("unsaved", { problem = Scores.problem }), 24, 20, Ui.GOLD)
  end
end

return Over
