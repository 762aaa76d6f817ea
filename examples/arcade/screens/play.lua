-- The game screen: connects the rules (rules/), the pictures (view.lua) and the player. The light
-- shows the state of the game: it opens when a cave begins and closes when it ends.
local Cave = require "rules.cave"
local Run = require "rules.run"
local Terrain = require "terrain"
local View = require "view"
local Effects = require "effects"
local Controls = require "controls"
local Texts = require "texts"
local Ui = require "ui"

local Play = {}

local OPEN_SECONDS, CLOSE_SECONDS = 0.7, 1.4
local LOW_OIL = 0.2 -- the bar blinks below this share
local BAR = 300
local STATUS = 24 -- texels above the cave that are reserved for the status line

local run, terrain, view ---@type table, Terrain, table
local waited = 0 -- seconds since the last step of the cave
local paused = false
local banner = { text = "", alpha = 0 } -- text in the middle of the screen

local function show_banner(key, values)
  if banner.tween then Tween.cancel(banner.tween) end
  banner.text, banner.alpha = Texts.get(key, values), 255
  banner.tween = Tween.to(banner, 0.6, { alpha = 0 }, { delay = 2.2 })
end

-- Starts or restarts the current cave.
local function enter_cave()
  if terrain then Terrain.release(terrain) end
  Effects.clear()
  terrain = Terrain.load(Run.map(run))
  view = View.new(terrain)
  view.above = STATUS
  waited = 0
  Run.enter(run, terrain.seconds)
  Tween.to(view, OPEN_SECONDS, { iris = 1 }, "cubic_out")
  show_banner("ready", { gems = terrain.cave.needed })
end

function Play.enter()
  run, paused = Run.new(), false
  Controls.forget()
  enter_cave()
end

function Play.leave()
  Effects.clear()
  Terrain.release(terrain)
  terrain = nil
end

---Returns the current game, for tests and for inspection.
function Play.state()
  return run, terrain.cave
end

local function show_events()
  for _, event in ipairs(terrain.cave.events) do
    local points = Run.take(run, event)
    if event.kind == "dig" then Terrain.dig(terrain, event.x, event.y) end
    if event.kind == "open" then show_banner("open") end
    Effects.show(view, event, points, run.combo)
  end
  terrain.cave.events = {}
end

-- The light closes. Then the next cave begins, or the same one again, or the game ends.
local function close()
  view.closing = true
  show_banner(terrain.cave.ended == "won" and "won" or run.oil == 0 and "dark" or "crushed")
  Tween.to(view, CLOSE_SECONDS, { iris = 0 }, { easing = "cubic_in", on_done = function()
    view.closed = true
  end })
end

local function play_on(dt)
  local cave = terrain.cave
  if not cave.ended and Run.burn(run, dt) then
    Cave.kill_hero(cave)
    show_events()
  end
  waited = waited + dt
  local step = Run.step_seconds(run)
  if waited >= step then
    waited = waited - step
    Cave.step(cave, Controls.take_step())
    show_events()
  end
  if cave.ended and not view.closing then close() end
  view.oil = run.oil / run.oil_full
  View.update(view, dt, math.min(1, waited / step))
end

---@return string? screen that comes next
---@return any argument for it
function Play.update(dt)
  if Input.pressed("pause") or Input.pressed("back") and not paused then
    paused = not paused
  elseif paused and Input.pressed("back") then
    return "title"
  elseif paused and Input.pressed("confirm") then
    paused = false
  end
  if paused then return end
  Controls.update()
  play_on(dt)
  local hero = terrain.cave.hero
  Application.hash(run.score, run.oil, hero.x, hero.y)
  if view.closed and Run.is_over(run) then return "over", run end
  if view.closed then enter_cave() end
end

---The window lost the focus. The player should not die because of that.
function Play.on_activate(active)
  paused = paused or not active
end

---A saved map takes effect at once: its cave restarts.
function Play.on_reload(names)
  for _, name in ipairs(names) do
    if terrain and name == terrain.name .. ".tilemap" then enter_cave() end
  end
end

local function draw_status()
  local top, right = Ui.height - 58, Ui.width - 40
  local cave = terrain.cave
  Ui.picture("sheets/gem/1", 36, top - 10, 2.5)
  Ui.text(cave.gems .. " / " .. cave.needed, 84, top, 32, Cave.is_open(cave) and Ui.GOLD or nil)
  for i = 1, run.lives do Ui.picture("pictures/helmet", 40 + (i - 1) * 42, top - 52, 3) end
  Ui.text(tostring(run.score), right, top, 38, Ui.GOLD, "right")
  Ui.text(Texts.get("cave", { depth = run.depth }), right, top - 40, 24, Ui.DIM, "right")
  local left, blinks = (Ui.width - BAR) / 2, view.oil < LOW_OIL and view.time % 0.5 < 0.25
  Ui.picture("pictures/lamp", left - 50, top - 8, 3)
  local warm = Color.lerp(Color(230, 60, 30), Color(255, 196, 70), math.min(1, view.oil * 2))
  Ui.bar(left, top, BAR, 20, view.oil, blinks and Ui.WHITE or warm)
end

function Play.draw()
  View.draw(view)
  Effects.draw()
  draw_status()
  if banner.alpha > 0 then
    Ui.centred(banner.text, Ui.height * 0.72, 36, Color.with_alpha(Ui.WHITE, banner.alpha))
  end
  if paused then
    Ui.panel(Ui.width / 2 - 400, Ui.height / 2 - 90, 800, 190)
    Ui.centred(Texts.get("paused"), Ui.height / 2 + 20, 52, Ui.GOLD)
    Ui.centred(Texts.get("go_on", { key = Controls.label("confirm"),
      back = Controls.label("back") }), Ui.height / 2 - 50, 24)
  end
end

return Play
