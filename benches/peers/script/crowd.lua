-- A crowd of tables that calls no function of either engine, so both play this file. 10,000
-- creatures of two teams are in a world of 2000 x 2000, divided into cells of 40. In each frame,
-- each creature moves by its velocity and bounces off the edges; its clock runs down, and every
-- second time turns the creature by a right angle; the creature is added to the list of its cell.
-- Then each creature searches the cells around it for the nearest creature of the other team and
-- steers towards it, at a speed of at most 120 per second.
local floor, sqrt = math.floor, math.sqrt

local SIDE, CELL = 2000, 40
local CELLS = SIDE / CELL
local SPEED_MAX, PULL = 120, 20

local crowd = {}
local creatures, cells, filled = {}, {}, {}

local seed
local function random()
  seed = seed * 16807 % 2147483647
  return seed / 2147483647
end

function crowd.gather(count)
  seed = 12345
  for i = 1, count do
    local creature = { team = i % 2, awake = false, turns = 0, bumps = 0 }
    creature.period = 0.5 + i % 4 * 0.5
    creature.x, creature.y = random() * SIDE, random() * SIDE
    creature.speed_x = random() * 200 - 100
    creature.speed_y = random() * 200 - 100
    creature.clock = random() * 2
    creatures[i] = creature
  end
  for at = 1, CELLS * CELLS do cells[at], filled[at] = {}, 0 end
end

local function cell_along(coordinate)
  local cell = floor(coordinate / CELL)
  if cell < 0 then return 0 end
  return cell < CELLS and cell or CELLS - 1
end

-- Reflects a coordinate and its speed at the edges of the world. Also returns the number of
-- reflections.
local function between_edges(at, speed)
  if at < 0 then return -at, -speed, 1 end
  if at > SIDE then return 2 * SIDE - at, -speed, 1 end
  return at, speed, 0
end

local function walk(creature, dt)
  local bumped_x, bumped_y
  creature.x, creature.speed_x, bumped_x =
    between_edges(creature.x + creature.speed_x * dt, creature.speed_x)
  creature.y, creature.speed_y, bumped_y =
    between_edges(creature.y + creature.speed_y * dt, creature.speed_y)
  creature.bumps = creature.bumps + bumped_x + bumped_y
  creature.clock = creature.clock - dt
  if creature.clock <= 0 then
    creature.clock = creature.clock + creature.period
    creature.awake = not creature.awake
    creature.turns = creature.turns + 1
    if creature.awake then
      creature.speed_x, creature.speed_y = -creature.speed_y, creature.speed_x
    end
  end
end

-- Returns the nearest creature of the other team, and the square of its distance.
local function find_foe(creature)
  local x, y, team = creature.x, creature.y, creature.team
  local column, row = cell_along(x), cell_along(y)
  local foe, least = nil, math.huge
  for r = math.max(row - 1, 0), math.min(row + 1, CELLS - 1) do
    for c = math.max(column - 1, 0), math.min(column + 1, CELLS - 1) do
      local at = r * CELLS + c + 1
      local cell = cells[at]
      for k = 1, filled[at] do
        local other = cell[k]
        if other.team ~= team then
          local dx, dy = other.x - x, other.y - y
          local square = dx * dx + dy * dy
          if square < least then foe, least = other, square end
        end
      end
    end
  end
  return foe, least
end

local function steer(creature, dt)
  local foe, square = find_foe(creature)
  creature.foe = foe
  if not foe or square <= 1 then return end
  local distance = sqrt(square)
  local speed_x = creature.speed_x + (foe.x - creature.x) / distance * PULL * dt
  local speed_y = creature.speed_y + (foe.y - creature.y) / distance * PULL * dt
  local speed = speed_x * speed_x + speed_y * speed_y
  if speed > SPEED_MAX * SPEED_MAX then
    local less = SPEED_MAX / sqrt(speed)
    speed_x, speed_y = speed_x * less, speed_y * less
  end
  creature.speed_x, creature.speed_y = speed_x, speed_y
end

function crowd.step(dt)
  for at = 1, #filled do filled[at] = 0 end
  for i = 1, #creatures do
    local creature = creatures[i]
    walk(creature, dt)
    local at = cell_along(creature.y) * CELLS + cell_along(creature.x) + 1
    filled[at] = filled[at] + 1
    cells[at][filled[at]] = creature
  end
  for i = 1, #creatures do steer(creatures[i], dt) end
end

-- Returns how often creatures met an edge and how often clocks ran down: the same in both engines.
function crowd.sums()
  local bumps, turns = 0, 0
  for i = 1, #creatures do
    bumps, turns = bumps + creatures[i].bumps, turns + creatures[i].turns
  end
  return bumps, turns
end

return crowd
