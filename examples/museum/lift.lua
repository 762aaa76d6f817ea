-- The lift: a link of the navigation mesh from the hall to the gallery, in each direction. The
-- links are manual: a visitor who takes one waits at its start until the lift has brought them.
local Lift = { height = 0, GROUP = 1 } -- GROUP: those on the lift, whom the others do not avoid

local UPPER, SPEED = 3.6, 1.2 -- metres, and metres a second
local ROOM = 6 -- visitors who fit in
local WAIT = 1.5 -- seconds with open rails
local COST = 5 -- as many metres: for most ways, the stairs are shorter
local BELOW, ABOVE = Vector3(0, -2.2, 0), Vector3(0, 3.4, UPPER)

---@param mesh NavigationMesh
---@param unit Unit its platform
function Lift.begin(mesh, unit)
  Lift.unit, Lift.home = unit, Unit.local_position(unit, 1)
  Lift.height, Lift.goal, Lift.wait = 0, 0, 0
  Lift.riders = {} ---@type Visitor[]
  Lift.queues = { lift_up = {}, lift_down = {} } ---@type table<string, Visitor[]>
  NavigationMesh.add_link(mesh, BELOW, ABOVE,
    { name = "lift_up", one_way = true, manual = true, cost = COST })
  NavigationMesh.add_link(mesh, ABOVE, BELOW,
    { name = "lift_down", one_way = true, manual = true, cost = COST })
  -- Nobody walks under the platform.
  NavigationMesh.add_box(mesh, 0, Lift.home + Vector3(0, 0, 1), Vector3(2.5, 2.5, 2))
end

-- Somebody waits at the door.
---@param visitor Visitor
---@param name string the name of a link
function Lift.call(visitor, name)
  local queue = Lift.queues[name]
  queue[#queue + 1] = visitor
  visitor.rides = true
end

-- Where somebody who waits or rides is shown.
local function shown_position(visitor, i, is_riding)
  if is_riding then
    local column, row = (i - 1) % 2, math.floor((i - 1) / 2)
    return Lift.home + Vector3(column - 0.5, row * 0.7 - 0.7, Lift.height)
  end
  local start = Agent.position(visitor.agent)
  local side = start.z < 1 and -1 or 1
  return start + Vector3(((i - 1) % 4 - 1.5) * 0.6, side * math.floor((i - 1) / 4) * 0.6, 0)
end

local function leave()
  for _, visitor in ipairs(Lift.riders) do
    visitor.rides, visitor.shown_at = false, nil
    Agent.set_group(visitor.agent, 0)
    Agent.finish_link(visitor.agent)
  end
  Lift.riders = {}
end

local function enter()
  local queue = Lift.queues[Lift.goal > 0 and "lift_down" or "lift_up"]
  while #queue > 0 and #Lift.riders < ROOM do
    local visitor = table.remove(queue, 1) ---@type Visitor
    Lift.riders[#Lift.riders + 1] = visitor
    -- The next one can come to the door.
    Agent.set_group(visitor.agent, Lift.GROUP)
  end
end

---@param dt number
function Lift.update(dt)
  local step = SPEED * dt
  Lift.height = Lift.height + Math.clamp(Lift.goal - Lift.height, -step, step)
  if Lift.height == Lift.goal then
    if Lift.wait == 0 then leave() end
    Lift.wait = Lift.wait + dt
    enter()
    local other = Lift.queues[Lift.goal > 0 and "lift_up" or "lift_down"]
    if Lift.wait >= WAIT and (#Lift.riders > 0 or #other > 0) then
      Lift.goal, Lift.wait = UPPER - Lift.goal, 0
    end
  end
  Unit.set_local_position(Lift.unit, 1, Lift.home + Vector3(0, 0, Lift.height))
  for i, visitor in ipairs(Lift.riders) do visitor.shown_at = shown_position(visitor, i, true) end
  for _, queue in pairs(Lift.queues) do
    for i, visitor in ipairs(queue) do visitor.shown_at = shown_position(visitor, i, false) end
  end
end

return Lift
