-- A slime: patrols between walls and edges, hurts the hero, and is flattened from above.
---@class Slime
---@field unit Unit
---@field game table game.lua
---@field sprite Sprite
---@field speed number
---@field direction number 1 to the right, -1 to the left
local Slime = {}
Slime.__index = Slime

local HALF_WIDTH, HEIGHT, HERO_HALF_WIDTH, HERO_HEIGHT = 0.55, 0.6, 0.3, 1.2
local AHEAD, STEP = 0.6, 0.7 -- how far it looks for walls, and up and down for ground
local DOWN = Vector3(0, -1, 0)

function Slime.new(unit, game)
  return setmetatable({ unit = unit, game = game, sprite = Unit.sprite(unit, "picture"),
    speed = Unit.get_data(unit, "speed"), direction = -1 }, Slime)
end

-- Returns the height of the ground at x, near a position, or nil at an edge.
function Slime:ground(x, y)
  local from = Vector3(x, y + STEP, 0)
  local hit, position = PhysicsWorld.raycast(self.game.physics, from, DOWN, 2 * STEP, "closest",
    "types", "statics")
  return hit and position.y or nil
end

function Slime:update(dt)
  local position = Unit.local_position(self.unit, 1)
  local x = position.x + self.direction * self.speed * dt
  local side = Vector3(self.direction, 0, 0)
  local wall, _, _, normal = PhysicsWorld.raycast(self.game.physics,
    position + Vector3(0, 0.3, 0), side, AHEAD, "closest", "types", "statics")
  local blocked = wall and math.abs(normal.x) > 0.9
  local left, right = self.game.sides()
  if blocked or not self:ground(position.x + self.direction * AHEAD, position.y)
    or x < left + AHEAD or x > right - AHEAD then
    self.direction = -self.direction
  else
    Unit.set_local_position(self.unit, 1, Vector3(x, self:ground(x, position.y) or position.y, 0))
  end
  Sprite.set_flip(self.sprite, self.direction < 0)
end

-- Returns "stomped" if the hero lands on it, "hurt" if the hero runs into it, otherwise nil.
function Slime:touch(hero)
  local away = hero.position - Unit.local_position(self.unit, 1)
  local beside = math.abs(away.x) > HALF_WIDTH + HERO_HALF_WIDTH
  if beside or away.y > HEIGHT or away.y < -HERO_HEIGHT then return nil end
  return not hero.grounded and hero.y_speed < 0 and away.y > 0.1 and "stomped" or "hurt"
end

-- Shows it flat for a moment, then destroys it.
function Slime:flatten()
  Sprite.play(self.sprite, "flat")
  local unit, world = self.unit, self.game.world
  Timer.after(0.4, function()
    if Unit.alive(unit) then World.destroy_unit(world, unit) end
  end)
end

return Slime
