-- The hero: runs, jumps, falls through platforms, and gets hurt. Metres and seconds.
---@class Hero
---@field unit Unit
---@field game table game.lua
---@field sprite Sprite
---@field mover Mover
---@field body integer the node of its picture
---@field position Vector3
---@field x_speed number
---@field y_speed number
---@field coyote number seconds in which it may still jump
---@field buffer number seconds in which a pressed jump counts
---@field jumping boolean
---@field grounded boolean
---@field dead boolean
---@field stretch number of its picture, upward
local Hero = {}
Hero.__index = Hero

local RUN, ACCELERATION, AIR_ACCELERATION, BRAKE = 7, 50, 35, 65
local GRAVITY, FALL_GRAVITY, FALL_MAX = 38, 55, 16
local JUMP, BOUNCE = 16.2, 11 -- speeds upward: a jump is about 3.4 metres high
local CUT = 2.5 -- a jump is lower if the button is released: gravity times this
local COYOTE = 0.1 -- a jump shortly after the edge of a platform counts
local BUFFER = 0.12 -- a jump shortly before landing counts

function Hero.new(unit, game)
  local self = setmetatable({ unit = unit, game = game, sprite = Unit.sprite(unit, "picture"),
    mover = Unit.mover(unit), body = Unit.node(unit, "body") }, Hero)
  self:appear(Unit.local_position(unit, 1))
  return self
end

-- Begins at a position.
function Hero:appear(position)
  self.position, self.x_speed, self.y_speed = position, 0, 0
  self.coyote, self.buffer, self.jumping, self.grounded, self.dead = 0, 0, false, true, false
  self.stretch = 0
  Mover.set_position(self.mover, position)
  Unit.set_local_position(self.unit, 1, position)
  Sprite.set_flip(self.sprite, false)
  Sprite.play(self.sprite, "stand")
end

function Hero:is_alive()
  return not self.dead
end

-- Jumps off something: an enemy.
function Hero:bounce()
  self.y_speed, self.jumping, self.coyote, self.stretch = BOUNCE, false, 0, 0.25
end

function Hero:hurt()
  if self.dead then return end
  self.dead, self.x_speed, self.y_speed, self.stretch = true, 0, 12, 0
  self.game.sound("hurt")
  Sprite.play(self.sprite, "hurt")
  Pad1.rumble(0.6, 0.3, 0.2)
end

function Hero:run(dt)
  local wish = Input.value("move") * RUN
  local rate = self.grounded and ACCELERATION or AIR_ACCELERATION
  if wish == 0 or wish * self.x_speed < 0 then rate = self.grounded and BRAKE or rate end
  local change = rate * dt
  self.x_speed = self.x_speed + Math.clamp(wish - self.x_speed, -change, change)
  if wish ~= 0 then Sprite.set_flip(self.sprite, wish < 0) end
end

function Hero:jump(dt)
  self.coyote = self.grounded and COYOTE or self.coyote - dt
  self.buffer = Input.pressed("jump") and BUFFER or self.buffer - dt
  if self.buffer > 0 and self.coyote > 0 then
    self.y_speed, self.buffer, self.coyote, self.jumping = JUMP, 0, 0, true
    self.stretch = 0.3
    self.game.sound("jump")
  end
  local gravity = self.y_speed > 0 and GRAVITY or FALL_GRAVITY
  if self.jumping and self.y_speed > 0 and not Input.down("jump") then gravity = gravity * CUT end
  self.y_speed = math.max(self.y_speed - gravity * dt, -FALL_MAX)
end

-- A mover is slower uphill. Returns the factor with which it is as fast as on level ground.
function Hero:uphill()
  if not self.grounded then return 1 end
  local hit, _, _, normal = PhysicsWorld.raycast(self.game.physics,
    self.position + Vector3(0, 0.4, 0), Vector3(0, -1, 0), 0.8, "closest", "types", "statics")
  return hit and normal.x * self.x_speed < 0 and normal.y > 0.6 and 1 / normal.y or 1
end

function Hero:move(dt)
  local mover, fall, before = self.mover, self.y_speed, self.position
  if self.grounded and Input.pressed("drop") then Mover.drop_through(mover) end
  local x_speed = self.x_speed * self:uphill()
  Mover.move(mover, Vector3(x_speed, self.y_speed, 0) * dt, dt)
  local left, right = self.game.sides()
  local position = Mover.position(mover)
  if position.x < left + 0.4 or position.x > right - 0.4 then
    position = Vector3(Math.clamp(position.x, left + 0.4, right - 0.4), position.y, 0)
    Mover.set_position(mover, position)
    self.x_speed = 0
  end
  self.position = position
  local blocked = math.abs(position.x - before.x) < 0.1 * math.abs(x_speed * dt)
  if blocked and Mover.collides_sides(mover) then self.x_speed = 0 end
  if Mover.collides_up(mover) and self.y_speed > 0 then self.y_speed = 0 end
  local grounded = Mover.standing_frames(mover) > 0 and fall <= 0
  if grounded then
    if not self.grounded and fall < -8 then
      self.stretch = fall / 60
      self.game.sound("land")
    end
    self.y_speed, self.jumping = 0, false
  end
  self.grounded = grounded
end

-- Shows the frames for the movement, stretched in jumps and squashed after landing.
function Hero:show(dt)
  local tag = "stand"
  if not self.grounded then
    tag = self.y_speed > 0 and "jump" or "fall"
  elseif math.abs(self.x_speed) > 0.5 then
    tag = "run"
  end
  Sprite.play(self.sprite, tag)
  self.stretch = self.stretch * math.exp(-8 * dt)
  Unit.set_local_scale(self.unit, self.body, Vector3(1 - self.stretch, 1 + self.stretch, 1))
  Unit.set_local_position(self.unit, 1, self.position)
end

function Hero:update(dt)
  if self.dead then
    -- Up and out of the picture, through everything.
    self.y_speed = self.y_speed - GRAVITY * dt
    self.position = self.position + Vector3(0, self.y_speed * dt, 0)
    Unit.set_local_position(self.unit, 1, self.position)
    return
  end
  self:run(dt)
  self:jump(dt)
  self:move(dt)
  self:show(dt)
end

return Hero
