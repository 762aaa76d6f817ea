-- Keep the balls in the air. The engine calls init() once, then update(dt) and render() in every
-- frame. Balls and their movement are in ball.lua.
local Ball = require "ball"

local BALLS_MAX = 5
local SKY, PADDLE, BALL = Color(18, 22, 40), Color(240, 200, 90), Color(255, 110, 90)

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

function update(dt)
  width, height = Gui.resolution()
  steer(dt)
  Application.hash(game, paddle) -- compared by replays of a recording
  if game.over then
    if Input.pressed("start") then begin() end
    return
  end
  for _, ball in ipairs(game.balls) do
    Ball.move(ball, wind.speed, width, dt)
    local speed = Ball.bounce(ball, paddle)
    if speed then
      game.score = game.score + 1
      paddle.squash = 1
      Tween.to(paddle, 0.25, { squash = 0 }, { easing = "quad_out" })
      Sound.trigger(Application.main_world(), "sounds/bounce", { pitch = 0.8 + speed / 2000 })
    elseif ball.y < -Ball.RADIUS then
      return lose()
    end
  end
end

local function centred(text, y, size, color)
  Gui.text(gui, text, nil, size, nil, Vector3(width / 2, y, 3), color, { align = "center" })
end

function render()
  Gui.rect(gui, Vector3(0, 0, 0), Vector2(width, height), SKY)
  for _, ball in ipairs(game.balls) do
    local glow = Color.lerp(BALL, Color.white(), ball.flash)
    Gui.circle(gui, Vector3(ball.x, ball.y, 1), Ball.RADIUS * (1 + 0.3 * ball.flash), glow)
    Gui.circle(gui, Vector3(ball.x, 20, 0), Ball.RADIUS * 0.7, Color(60, 0, 0, 0))
  end
  local thick = 16 * (1 - 0.5 * paddle.squash)
  Gui.rounded_rect(gui, Vector3(paddle.x - paddle.half_width, paddle.y - thick, 2),
    Vector2(2 * paddle.half_width, thick), thick / 2, PADDLE)
  centred(tostring(game.score), height - 80, 56, Color(140, 255, 255, 255))
  if game.over then
    centred("Keep the balls in the air", height / 2 + 20, 40, Color.white())
    centred("Click, or press space. Best: " .. game.best, height / 2 - 30, 20, PADDLE)
  end
  Application.render_world(Application.main_world())
end
