-- The rules of a cave: digging, pushing, falling, rolling and flying, in steps. Cells count from 1,
-- from the bottom left. This module has no pictures, sounds or keys: the events of a step are
-- listed in `events`, for the modules that show them.
local Cave = {}

---@class Cave
---@field columns integer
---@field rows integer
---@field needed integer the number of gems that open the door
---@field gems integer those that the hero has
---@field cells table<integer, Entity> row by row, from the bottom left
---@field events table[] of the last step
---@field steps integer
---@field hero Entity
---@field door Entity
---@field ended? string "won" or "lost"

---@class Entity
---@field kind string "hero", "boulder", "gem", "bat", "door", "earth" or "rock"
---@field x integer
---@field y integer
---@field from_x integer where it was one step ago
---@field from_y integer
---@field falls integer the number of cells that it has fallen
---@field face_x integer the direction in which a bat flies or the hero looks
---@field face_y integer
---@field stepped? integer the step in which it last moved

local OUTSIDE = { kind = "rock" } ---@type any
-- Boulders and gems roll off these.
local ROUND = { boulder = true, gem = true }
local PUSHES = 2 -- the number of steps that it takes to move a boulder

---@param needed integer the number of gems that open the door
---@return Cave
function Cave.new(columns, rows, needed)
  return { columns = columns, rows = rows, needed = needed, cells = {}, events = {}, steps = 0,
    gems = 0, hero = nil, door = nil, ended = nil }
end

function Cave.is_inside(cave, x, y)
  return x >= 1 and y >= 1 and x <= cave.columns and y <= cave.rows
end

---@return Entity? entity nil if the cell is empty
function Cave.at(cave, x, y)
  if not Cave.is_inside(cave, x, y) then return OUTSIDE end
  return cave.cells[(y - 1) * cave.columns + x]
end

local function set(cave, x, y, entity)
  cave.cells[(y - 1) * cave.columns + x] = entity
end

---Puts a new entity into a cell.
---@return Entity
function Cave.put(cave, kind, x, y)
  local entity = { kind = kind, x = x, y = y, from_x = x, from_y = y, falls = 0, face_x = 1,
    face_y = 0 }
  set(cave, x, y, entity)
  if kind == "hero" or kind == "door" then cave[kind] = entity end
  return entity
end

function Cave.is_open(cave)
  return cave.gems >= cave.needed
end

local function add_event(cave, kind, x, y, falls)
  cave.events[#cave.events + 1] = { kind = kind, x = x, y = y, falls = falls }
end

local function move(cave, entity, dx, dy)
  set(cave, entity.x, entity.y, nil)
  entity.x, entity.y = entity.x + dx, entity.y + dy
  set(cave, entity.x, entity.y, entity)
end

---Kills the hero. The cause is a stone, a bat or something else.
function Cave.kill_hero(cave)
  local hero = cave.hero
  if cave.ended then return end
  set(cave, hero.x, hero.y, nil)
  cave.ended = "died"
  add_event(cave, "die", hero.x, hero.y)
end

local function push(cave, hero, boulder, dx)
  hero.pushes = (hero.pushes or 0) + 1
  local room = not Cave.at(cave, boulder.x + dx, boulder.y) and boulder.falls == 0
  if not room or hero.pushes < PUSHES then return end
  add_event(cave, "push", boulder.x, boulder.y)
  move(cave, boulder, dx, 0)
  move(cave, hero, dx, 0)
end

local function walk(cave, dx, dy)
  local hero = cave.hero
  if dx ~= 0 then hero.face_x = dx end
  local x, y = hero.x + dx, hero.y + dy
  local there = Cave.at(cave, x, y)
  local kind = there and there.kind
  if kind == "boulder" and dy == 0 then return push(cave, hero, there, dx) end
  hero.pushes = 0
  if kind == "bat" then return Cave.kill_hero(cave) end
  if kind == "earth" then add_event(cave, "dig", x, y) end
  if kind == "gem" then
    cave.gems = cave.gems + 1
    add_event(cave, "gem", x, y)
    if cave.gems == cave.needed then add_event(cave, "open", cave.door.x, cave.door.y) end
  elseif kind == "door" and Cave.is_open(cave) then
    cave.ended = "won"
    add_event(cave, "win", x, y)
  elseif kind and kind ~= "earth" then
    return
  end
  move(cave, hero, dx, dy)
end

-- Boulders and gems. They can rest on the hero's head, but they kill if they fall on it.
local function fall(cave, entity)
  local below = Cave.at(cave, entity.x, entity.y - 1)
  if not below then
    entity.falls = entity.falls + 1
    return move(cave, entity, 0, -1)
  end
  if entity.falls > 0 and below.kind == "hero" then return Cave.kill_hero(cave) end
  if entity.falls > 0 and below.kind == "bat" then
    -- A stone that falls on a bat turns it into a gem, so it pays to lure bats.
    Cave.put(cave, "gem", below.x, below.y).stepped = cave.steps
    add_event(cave, "crush", below.x, below.y)
  end
  if ROUND[below.kind] then
    for dx = -1, 1, 2 do
      if not Cave.at(cave, entity.x + dx, entity.y)
        and not Cave.at(cave, entity.x + dx, entity.y - 1) then
        entity.falls = math.max(1, entity.falls)
        return move(cave, entity, dx, 0)
      end
    end
  end
  if entity.falls > 0 then add_event(cave, "thud", entity.x, entity.y, entity.falls) end
  entity.falls = 0
end

-- Bats follow the wall on their left. They turn back only if no other way is free.
local function fly(cave, bat)
  local x, y = bat.face_x, bat.face_y
  for _, turn in ipairs({ { -y, x }, { x, y }, { y, -x }, { -x, -y } }) do
    local there = Cave.at(cave, bat.x + turn[1], bat.y + turn[2])
    if there and there.kind == "hero" then Cave.kill_hero(cave) end
    if not there or there.kind == "hero" then
      bat.face_x, bat.face_y = turn[1], turn[2]
      return move(cave, bat, turn[1], turn[2])
    end
  end
end

local MOVES = { boulder = fall, gem = fall, bat = fly }

---Advances the cave by one step. The hero walks by (`dx`, `dy`), one of which is 0.
function Cave.step(cave, dx, dy)
  cave.steps = cave.steps + 1
  cave.events = {}
  for _, entity in pairs(cave.cells) do
    entity.from_x, entity.from_y = entity.x, entity.y
  end
  if not cave.ended and (dx ~= 0 or dy ~= 0) then walk(cave, dx, dy) end
  -- From the bottom up, so that entities fall into cells that became free in the same step.
  for y = 1, cave.rows do
    for x = 1, cave.columns do
      local entity = Cave.at(cave, x, y)
      local moves = entity and MOVES[entity.kind]
      if entity and moves and entity.stepped ~= cave.steps then
        entity.stepped = cave.steps
        moves(cave, entity)
      end
    end
  end
end

return Cave
