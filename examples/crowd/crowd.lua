-- Beetles, up to 2,000 of them. They have no tables: `x[7]`, `y[7]`, `life[7]` … are the seventh
-- beetle. The loops below run over plain arrays of numbers, which LuaJIT compiles to little more
-- than loads, additions and stores, and which create no garbage. Nothing here draws.
local Map = require "map"

local Crowd = {}

local floor, max, min, sqrt = math.floor, math.max, math.min, math.sqrt
local CELL, WIDE = Map.CELL, Map.WIDE

Crowd.MOST = 2000
Crowd.KINDS = {
  { name = "runner", radius = 4, speed = 74, life = 4, pay = 1, harm = 1 },
  { name = "walker", radius = 5, speed = 50, life = 8, pay = 1, harm = 1 },
  { name = "brute", radius = 8, speed = 34, life = 64, pay = 5, harm = 5 },
}

-- The same by kind, as arrays for the loops.
local RADIUS, SPEED = {}, {}
for i, kind in ipairs(Crowd.KINDS) do
  RADIUS[i], SPEED[i] = kind.radius, kind.speed
end

local PUSH = 190 -- the speed at which overlapping beetles move apart
local TURN = 9 -- how fast they turn to the direction that they want, per second
local LEAP = 10 -- maximum movement in one step, so that no beetle jumps over a stone
local SLOWED = 0.4 -- the part of its speed that a cold beetle keeps

-- Bins for the search of neighbours: beetles that touch are at most one bin apart.
local BIN = 16
local BINS_WIDE, BINS_TALL = Map.WIDTH / BIN, Map.HEIGHT / BIN
Crowd.BIN, Crowd.BINS_WIDE, Crowd.BINS_TALL = BIN, BINS_WIDE, BINS_TALL

local alive, looked_at = Stats.counter("crowd/alive"), Stats.counter("crowd/neighbours")

---@class Crowd
---@field count integer
---@field first integer[] of each bin: the index of its first beetle in `order`
---@field order integer[] all beetles, bin by bin
---@field kind integer[] of Crowd.KINDS
---@field x number[]
---@field y number[]
---@field vx number[] speed, in pixels a second
---@field vy number[]
---@field life number[]
---@field cold number[] seconds in which it stays slow
---@field bin integer[]
---@field checksum number the sum of all positions, which must be the same in a replay

---@return Crowd
function Crowd.new()
  return { count = 0, checksum = 0, kind = {}, x = {}, y = {}, vx = {}, vy = {}, life = {},
    cold = {}, bin = {}, first = {}, order = {} }
end

---@param kind integer of Crowd.KINDS
---@return boolean added false if the maximum number of beetles exists
function Crowd.add(crowd, kind, x, y)
  if crowd.count == Crowd.MOST then return false end
  local i = crowd.count + 1
  crowd.count, crowd.kind[i], crowd.x[i], crowd.y[i] = i, kind, x, y
  crowd.vx[i], crowd.vy[i], crowd.life[i], crowd.cold[i] = 0, 0, Crowd.KINDS[kind].life, 0
  return true
end

---Removes a beetle. The last one takes its place, so loops that remove beetles must run from the
---last to the first.
function Crowd.remove(crowd, i)
  local last = crowd.count
  for _, name in ipairs({ "kind", "x", "y", "vx", "vy", "life", "cold" }) do
    crowd[name][i] = crowd[name][last]
  end
  crowd.count = last - 1
end

-- Sorts the beetles by bins, in three passes over arrays: count, sum, place.
local function sort(crowd)
  local first, order, bins, x, y = crowd.first, crowd.order, crowd.bin, crowd.x, crowd.y
  local last = BINS_WIDE * BINS_TALL + 1
  for bin = 1, last do
    first[bin] = 0
  end
  for i = 1, crowd.count do
    local bin = floor(y[i] / BIN) * BINS_WIDE + floor(x[i] / BIN) + 1
    bins[i], first[bin] = bin, first[bin] + 1
  end
  local before = 1
  for bin = 1, last do
    before = before + first[bin]
    first[bin] = before
  end
  for i = crowd.count, 1, -1 do
    local at = first[bins[i]] - 1
    first[bins[i]], order[at] = at, i
  end
end

-- Returns the direction of the field at a point, interpolated between the middles of four cells.
local function lead(field, x, y)
  local column, row = x / CELL - 0.5, y / CELL - 0.5
  local left, bottom = floor(column), floor(row)
  local across, along = column - left, row - bottom
  local cell = bottom * WIDE + left + 1
  local below = field[cell] + (field[cell + 1] - field[cell]) * across
  local above = field[cell + WIDE] + (field[cell + WIDE + 1] - field[cell + WIDE]) * across
  return below + (above - below) * along
end

---Moves all beetles along the field, away from each other and not into closed cells.
---@param crowd Crowd
---@param flow FlowField
---@param map Map
---@param dt number
function Crowd.move(crowd, flow, map, dt)
  sort(crowd)
  local x, y, vx, vy, kind, cold = crowd.x, crowd.y, crowd.vx, crowd.vy, crowd.kind, crowd.cold
  local first, order, bins, closed = crowd.first, crowd.order, crowd.bin, map.closed
  local turn, looks, sum = min(1, TURN * dt), 0, 0
  for i = 1, crowd.count do
    local px, py, radius, bin = x[i], y[i], RADIUS[kind[i]], bins[i]
    local push_x, push_y = 0, 0
    for row = bin - BINS_WIDE, bin + BINS_WIDE, BINS_WIDE do
      -- The three bins of a row follow each other in `order`.
      local from, to = first[row - 1], first[row + 2] - 1
      looks = looks + to - from + 1
      for k = from, to do
        local j = order[k]
        local dx, dy, near = px - x[j], py - y[j], radius + RADIUS[kind[j]]
        local square = dx * dx + dy * dy
        if square < near * near and square > 0 then
          local share = 1 / sqrt(square) - 1 / near
          push_x, push_y = push_x + dx * share, push_y + dy * share
        end
      end
    end
    local speed = SPEED[kind[i]]
    if cold[i] > 0 then
      speed, cold[i] = speed * SLOWED, cold[i] - dt
    end
    local want_x = lead(flow.x, px, py) * speed + push_x * PUSH
    local want_y = lead(flow.y, px, py) * speed + push_y * PUSH
    vx[i], vy[i] = vx[i] + (want_x - vx[i]) * turn, vy[i] + (want_y - vy[i]) * turn
    -- Each axis separately, so that beetles slide along obstacles.
    local nx = px + max(-LEAP, min(LEAP, vx[i] * dt))
    local ny = py + max(-LEAP, min(LEAP, vy[i] * dt))
    local here = Map.cell_at(px, py)
    local there = Map.cell_at(nx, py)
    if closed[there] and there ~= here then nx, vx[i] = px, 0 end
    there = Map.cell_at(nx, ny)
    if closed[there] and there ~= here then ny, vy[i] = py, 0 end
    x[i], y[i] = nx, ny
    sum = sum + nx * 3 + ny
  end
  crowd.checksum = sum
  alive.value, looked_at.value = crowd.count, looked_at.value + looks
end

return Crowd
