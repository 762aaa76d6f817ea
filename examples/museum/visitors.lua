-- Three hundred visitors. Each has a round of errands: some exhibits on both floors, then out of
-- the museum, and in again. The agents of the navigation mesh find the ways and walk around each
-- other.
---@class Visitors
---@field all Visitor[]
---@field seen integer exhibits that were looked at
---@field inside integer visitors who are in the museum
---@field stuck number the longest time that somebody had no progress, in seconds
---@field ROUND integer errands of a round
local Visitors = { all = {}, seen = 0, inside = 0, stuck = 0, ROUND = 7 }

local COUNT = 300
local COATS = { "rust", "teal", "plum", "sand", "navy", "moss", "rose", "slate" }
local HAIR = { "brown", "black", "fair", "grey" }
local ERRANDS = Visitors.ROUND - 1 -- exhibits in a round: the last errand is in the yard
local STAY = 0.7 -- how often the next exhibit is on the same floor
local LOOK = { 2, 6 } -- seconds at an exhibit
local ASK = 0.5 -- seconds until somebody before a closed door looks for a way again
local UPPER = 3.6
local OUTSIDE = -14.2 -- y: the yard is south of it

---@class Visitor
---@field agent Agent
---@field unit Unit
---@field heading Quaternion
---@field errand integer number of the errand in its round
---@field pause number? seconds that it stands still
---@field goal Vector3
---@field looks_at Vector3?
---@field visits integer exhibits that it has looked at
---@field done integer errands that it has done

-- The exhibits: on the ground, in the rooms behind the hall, and on the gallery, as in
-- make_assets.py.
local function exhibits()
  local all = {}
  local function rows(xs, ys, z)
    for _, y in ipairs(ys) do
      for _, x in ipairs(xs) do all[#all + 1] = Vector3(x, y, z) end
    end
  end
  rows({ -12, -4, 4, 12 }, { -10.5, -7 }, 0)
  rows({ -17.5, -10, -3.5, 3.5, 10, 17.5 }, { 5.5, 10.5 }, 0)
  rows({ -11.5, -4.2, 4.2, 11.5 }, { 6, 10.8 }, UPPER)
  rows({ -18, 18 }, { -10, -4, 2, 8 }, UPPER)
  return all
end

local EXHIBITS = exhibits()

-- A point in the yard.
local function outside()
  return Vector3(Math.random(-20, 20), -17 - Math.random() * 7, 0)
end

-- A point around an exhibit.
local function near(exhibit)
  local angle = Math.random() * 2 * math.pi
  return exhibit + Vector3(math.cos(angle), math.sin(angle), 0) * 1.5
end

-- An exhibit, most often on the floor with this height.
local function next_exhibit(z)
  local stays = Math.random() < STAY
  while true do
    local exhibit = EXHIBITS[Math.random(1, #EXHIBITS)]
    if not stays or (exhibit.z > UPPER / 2) == (z > UPPER / 2) then return exhibit end
  end
end

local function next_errand(visitor)
  visitor.errand = visitor.errand % (ERRANDS + 1) + 1
  visitor.pause = nil
  if visitor.errand > ERRANDS then
    visitor.looks_at, visitor.goal = nil, outside()
  else
    visitor.looks_at = next_exhibit(Agent.position(visitor.agent).z)
    visitor.goal = near(visitor.looks_at)
  end
  Agent.set_destination(visitor.agent, visitor.goal)
end

function Visitors.remove_all()
  for _, visitor in ipairs(Visitors.all) do
    if Agent.alive(visitor.agent) then Agent.destroy(visitor.agent) end
    if Unit.alive(visitor.unit) then World.destroy_unit(Unit.world(visitor.unit), visitor.unit) end
  end
  Visitors.all = {}
end

---@param world World
---@param mesh NavigationMesh
function Visitors.begin(world, mesh)
  Visitors.seen, Visitors.inside, Visitors.stuck = 0, 0, 0
  for i = 1, COUNT do
    -- Most of them are inside already.
    local at = Math.random() < 0.3 and outside() or near(EXHIBITS[Math.random(1, #EXHIBITS)])
    local unit = World.spawn_unit(world, "units/visitor", at)
    Unit.set_material(unit, "Coat", "materials/coat_" .. COATS[i % #COATS + 1])
    Unit.set_material(unit, "Hair", "materials/hair_" .. HAIR[i % #HAIR + 1])
    local agent = Agent.create(mesh, at, { speed = 1.3 + 0.6 * Math.random(), acceleration = 8 })
    local visitor = { agent = agent, unit = unit, heading = Quaternion.identity(), errand = 0,
      goal = at, visits = 0, done = 0 }
    Visitors.all[i] = visitor
    visitor.errand, visitor.pause = Math.random(0, ERRANDS), Math.random() * 10
  end
end

local function stands(visitor, dt)
  visitor.pause = visitor.pause - dt
  if visitor.pause <= 0 then next_errand(visitor) end
end

local function arrives(visitor)
  visitor.done = visitor.done + 1
  if visitor.looks_at then
    visitor.visits = visitor.visits + 1
    Visitors.seen = Visitors.seen + 1
  end
  visitor.pause = LOOK[1] + Math.random() * (LOOK[2] - LOOK[1])
end

-- What somebody does in each state of its agent.
local STATES = {
  arrived = arrives,
  -- A door is closed: it waits, and asks again.
  partial = function(visitor)
    visitor.wait = (visitor.wait or 0) + 1
    if visitor.wait >= ASK * 60 then
      visitor.wait = 0
      Agent.set_destination(visitor.agent, visitor.goal)
    end
  end,
}

---@param dt number
function Visitors.update(dt)
  Visitors.inside = 0
  for _, visitor in ipairs(Visitors.all) do
    local state = Agent.state(visitor.agent)
    if visitor.pause then
      stands(visitor, dt)
    elseif STATES[state] then
      STATES[state](visitor)
    end
    Visitors.stuck = math.max(Visitors.stuck, Agent.stuck_seconds(visitor.agent))
    if Agent.position(visitor.agent).y > OUTSIDE then Visitors.inside = Visitors.inside + 1 end
  end
end

-- Puts the units where the agents are, and turns them where they walk or look.
function Visitors.show()
  for _, visitor in ipairs(Visitors.all) do
    local at = Agent.position(visitor.agent)
    local way = Agent.velocity(visitor.agent)
    if visitor.pause and visitor.looks_at then way = visitor.looks_at - at end
    way = Vector3.with_z(way, 0)
    if Vector3.length(way) > 0.3 then
      local wanted = Quaternion.look(way, Vector3.up())
      visitor.heading = Quaternion.lerp(visitor.heading, wanted, 0.15)
    end
    Unit.set_local_position(visitor.unit, 1, at)
    Unit.set_local_rotation(visitor.unit, 1, visitor.heading)
  end
end

return Visitors
