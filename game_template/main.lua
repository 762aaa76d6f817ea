-- Keep the balls in the air. The engine calls init() once, then update(dt) and render() in every
-- frame. Balls and their movement are in ball.lua, the evening behind them in backdrop.lua.
local Backdrop = require "backdrop"
local Ball = require "ball"

local BALLS_MAX, TRAIL = 5, 14
local PADDLE, BALL = Color(255, 214, 140), Color(255, 112, 88)
local INK, SHADE = Color(255, 250, 240), Color(120, 16, 8, 30)

local gui, width, height ---@type Gui, number, number
local paddle = { x = 0, y = 60, half_width = 70, squash = 0 }
local wind, mouse = { speed = 0 }, 0
local game = { balls = {}, score = 0, best = 0, over = true, round = 0 }

local function throw(round)
  if game.over or round ~= game.round or #game.balls == BALLS_MAX then return end
  game.balls[#game.balls + 1] = Ball.new(width * (0.2 + 0.6 * Math.random()), height)
  Timer.after(6, throw, round)
end

local function begin()
  game.balls, game.score, game.over, game.round = {}, 0, false, game.round + 1
  throw(game.round)
end

function init()
  gui = Application.main_gui()
  Backdrop.init()
  width, height = Gui.resolution()
  paddle.x, mouse = width / 2, Mouse.axis("cursor").x
  game.best = Application.user_setting("best") or 0
  Input.set_actions({
    start = { "space", "mouse:left", "pad:a", "touch:touch" },
    steer = { negative = { "left", "a" }, positive = { "right", "d" }, axis = { "pad:left.x" } },
  })
  Tween.to(wind, 4, { speed = 60 }, { easing = "sine_in_out", yoyo = true, times = math.huge })
end

local function steer(dt)
  local cursor = Mouse.axis("cursor").x
  if cursor ~= mouse then paddle.x, mouse = cursor, cursor end
  paddle.x = paddle.x + Input.value("steer") * 900 * dt
  paddle.x = Math.clamp(paddle.x, paddle.half_width, width - paddle.half_width)
end

local function lose()
  game.over = true
  if game.score > game.best then
    game.best = game.score
    Application.set_user_setting("best", game.best)
    Application.save_user_settings()
  end
end

-- Remembers where a ball was, for its trail.
local function follow(ball)
  ball.trail = ball.trail or {}
  table.insert(ball.trail, 1, { x = ball.x, y = ball.y })
  ball.trail[TRAIL + 1] = nil
end

function update(dt)
  width, height = Gui.resolution()
  steer(dt)
  Application.hash(game, paddle) -- compared by replays of a recording
  World.update(Application.main_world(), dt) -- moves the particles
  if game.over then
    if Input.pressed("start") then begin() end
    return
  end
  for _, ball in ipairs(game.balls) do
    follow(ball)
    Ball.move(ball, wind.speed, width, dt)
    local speed = Ball.bounce(ball, paddle)
    if speed then
      game.score = game.score + 1
      paddle.squash = 1
      Tween.to(paddle, 0.25, { squash = 0 }, { easing = "quad_out" })
      Gui.create_particles(gui, "particles/hit", Vector3(ball.x, paddle.y, 2))
      Sound.trigger(Application.main_world(), "sounds/bounce", { pitch = 0.8 + speed / 2000 })
    elseif ball.y < -Ball.RADIUS then
      return lose()
    end
  end
end

local function centred(text, y, size, color)
  local style = { align = "center", shadow = Vector2(0, -4), shadow_color = SHADE,
    shadow_softness = 5 }
  Gui.text(gui, text, nil, size, nil, Vector3(width / 2, y, 4), color, style)
end

local function draw_ball(ball)
  for i, at in ipairs(ball.trail or {}) do
    local fade = 1 - i / (TRAIL + 1)
    Gui.circle(gui, Vector3(at.x, at.y, 1), Ball.RADIUS * fade,
      Color.with_alpha(BALL, 70 * fade))
  end
  local radius, color = Ball.RADIUS * (1 + 0.3 * ball.flash), Color.lerp(BALL, INK, ball.flash)
  Gui.circle(gui, Vector3(ball.x, ball.y, 1), radius * 1.7, Color.with_alpha(color, 50))
  Gui.circle(gui, Vector3(ball.x, ball.y, 1), radius, color)
  Gui.circle(gui, Vector3(ball.x - radius * 0.3, ball.y + radius * 0.35, 1), radius * 0.35,
    Color.with_alpha(INK, 150))
end

local function draw_paddle()
  local thick = 20 * (1 - 0.4 * paddle.squash)
  local corner, size = Vector3(paddle.x - paddle.half_width, paddle.y - thick, 3),
    Vector2(2 * paddle.half_width, thick)
  Gui.rounded_rect(gui, corner - Vector3(0, 6, 1), size, thick / 2, SHADE)
  Gui.rounded_rect(gui, corner, size, thick / 2, PADDLE)
  Gui.rounded_rect(gui, corner + Vector3(8, thick * 0.6, 0), Vector2(size.x - 16, thick * 0.2),
    thick * 0.1, Color.with_alpha(INK, 140))
end

function render()
  Backdrop.draw(gui, width, height, 2 * paddle.x / width - 1)
  for _, ball in ipairs(game.balls) do draw_ball(ball) end
  draw_paddle()
  centred(tostring(game.score), height - 110, 80, INK)
  if game.over then
    centred("Keep the balls in the air", height / 2 + 30, 56, INK)
    centred("Click, or press space. Best: " .. game.best, height / 2 - 40, 26, PADDLE)
  end
  Application.render_world(Application.main_world())
end
