-- Agents together, and agents that move characters: formations, movers, units and root motion, and
-- the links of a navigation mesh. Built on the native functions of `Agent`.
local core = ...

local type, ipairs, next, tostring, remove = type, ipairs, next, tostring, table.remove
local running, status, getinfo = coroutine.running, coroutine.status, core.debug.getinfo
local format = string.format
local max, min, ceil, sin, cos, pi = math.max, math.min, math.ceil, math.sin, math.cos, math.pi
local raise, bad_argument, no_reload = core.raise, core.bad_argument, core.no_reload
local V3 = core.ctypes.Vector3

local Agent, NavigationMesh = core.module("Agent"), core.module("NavigationMesh")
local Mover, Unit = core.module("Mover"), core.module("Unit")
local Matrix4x4, Quaternion = core.module("Matrix4x4"), core.module("Quaternion")

-- Distance between agents of a formation, in metres, and the largest one.
local SPACING, SPACING_MAX = 1.5, 100
-- Highest speed of an agent, in metres per second.
local SPEED_MAX = 1000

-- The column of a follower on the right (above 0) or the left, and its number on that side.
local function side_of(i)
  local number = ceil(i / 2)
  return i % 2 == 1 and number or -number, number
end

-- Positions of followers around a leader, by the name of a formation.
local FORMATIONS = {
  line = function(i, _, spacing)
    return V3(side_of(i) * spacing, 0, 0)
  end,
  column = function(i, _, spacing)
    return V3(0, -i * spacing, 0)
  end,
  wedge = function(i, _, spacing)
    local column, number = side_of(i)
    return V3(column * spacing, -number * spacing, 0)
  end,
  circle = function(i, count, spacing)
    local angle = (i - 1) / count * 2 * pi
    local radius = max(spacing, spacing * count / (2 * pi))
    return V3(sin(angle) * radius, cos(angle) * radius, 0)
  end,
}

---Lets agents follow another one in a formation: "line" (next to it), "column" (behind it), "wedge"
---or "circle" (around it).
---@param leader Agent an agent
---@param followers Agent[] other agents of the same mesh
---@param formation string "line", "column", "wedge" or "circle"
---@param spacing? number the distance between two of them, above 0 to 100 metres; 1.5 by default
---@return integer count the number of those that follow; lost agents do not
function Agent.form(leader, followers, formation, spacing)
  no_reload("Agent.form")
  if type(followers) ~= "table" then
    bad_argument("Agent.form", 2, "followers", "table", followers)
  end
  local position = type(formation) == "string" and FORMATIONS[formation]
  if not position then
    raise(format("Agent.form: argument #3 'formation' must be \"line\", \"column\", \"wedge\" or "
      .. "\"circle\", got %s", core.describe(formation)))
  end
  spacing = spacing == nil and SPACING or spacing
  if type(spacing) ~= "number" or not (spacing > 0 and spacing <= SPACING_MAX) then
    raise(format("Agent.form: argument #4 'spacing' must be above 0, at most %g metres, got %s",
      SPACING_MAX, core.describe(spacing)))
  end
  local count = 0
  for i, follower in ipairs(followers) do
    if core.agent_form(leader, follower, position(i, #followers, spacing)) then
      count = count + 1
    end
  end
  return count
end

---Moves a mover with the velocity of an agent, and the agent to the ground below the mover. If
---physics leads the character away from the ground of the agent, for example because a crate is in
---its way, both differ: the agent stays with its character.
---@param agent Agent an agent
---@param mover Mover the mover of its character
---@param dt number seconds since the last call
---@param fall? number velocity downwards that your game adds, in metres per second; 0 by default
---@return number? distance between the mover and the ground of the agent, nil if it has none there
function Agent.move_mover(agent, mover, dt, fall)
  no_reload("Agent.move_mover")
  if type(dt) ~= "number" then bad_argument("Agent.move_mover", 3, "dt", "number", dt) end
  if fall ~= nil and type(fall) ~= "number" then
    bad_argument("Agent.move_mover", 4, "fall", "number or nil", fall)
  end
  core.agent_move_mover(agent, mover)
  Mover.move(mover, (Agent.velocity(agent) - V3(0, 0, fall or 0)) * dt, dt)
  return Agent.update_position(agent, Mover.position(mover))
end

---Puts a unit where an agent is, and turns it into the direction of the agent.
---@param agent Agent an agent
---@param unit Unit the unit of its character
function Agent.move_unit(agent, unit)
  no_reload("Agent.move_unit")
  core.agent_move_unit(agent, unit)
  Unit.set_local_position(unit, 1, Agent.position(agent))
  Unit.set_local_rotation(unit, 1, Quaternion.look(Agent.forward(agent), V3(0, 0, 1)))
end

---Gives an agent the speed of the root motion of its character, whose mode must be `ignore`. Call
---it after `World.update`.
---@param agent Agent an agent
---@param unit Unit the unit of its character
---@param dt number seconds of the last `World.update`
---@return number speed in metres per second
function Agent.use_root_motion(agent, unit, dt)
  no_reload("Agent.use_root_motion")
  if type(dt) ~= "number" or not (dt > 0) then
    bad_argument("Agent.use_root_motion", 3, "dt", "number above 0", dt)
  end
  core.agent_use_root_motion(agent, unit)
  local way = Matrix4x4.translation(Unit.animation_wanted_root_pose(unit))
    - Unit.world_position(unit, 1)
  local speed = min((way.x * way.x + way.y * way.y) ^ 0.5 / dt, SPEED_MAX)
  Agent.set_speed(agent, speed)
  return speed
end

-- Returns a key that is no name, or else the first name, in alphabetical order, whose value is no
-- function.
local function not_a_function(handlers)
  local wrong
  for name, handler in next, handlers do
    if type(handler) ~= "function" then
      if type(name) ~= "string" then return name end
      if wrong == nil or name < wrong then wrong = name end
    end
  end
  return wrong
end

-- Calls of functions for agents on links that have not ended, by mesh: those that still run, and
-- those that an error has ended. Each has its agents in order, the number `at` of the one whose
-- function was called last, the links of the agents up to that, and its coroutine and function, by
-- which it is found on the stack.
local unfinished = {}

-- Returns true if a call still runs: its function is on the stack of its coroutine. The stack of
-- the main thread cannot be read in a coroutine: there, its calls count as running.
local function still_runs(call)
  local thread, current = call.thread, running()
  if thread and status(thread) == "dead" then return false end
  if not thread and current then return true end
  local level, info = 0
  repeat
    if thread then info = getinfo(thread, level, "f") else info = getinfo(level, "f") end
    level = level + 1
  until not info or info.func == call.fn
  return info ~= nil
end

-- Adds the agents that an error has left to a list. The one whose function raised it gives up its
-- link. Notes all agents of the call whose turn on their link was, or comes in that call.
local function take_agents(call, agents, known)
  local runs = still_runs(call)
  for i, agent in ipairs(call.agents) do
    if i > call.at then
      known[agent] = true
      if not runs then agents[#agents + 1] = agent end
    elseif Agent.alive(agent) and (Agent.link(agent) or false) == call.links[i] then
      known[agent] = true
      if i == call.at and not runs then core.agent_give_up_link(agent) end
    end
  end
  return runs
end

-- Returns the agents of a mesh that have entered a link, beginning with those that an error has
-- left, without those of calls that still run.
local function take_entering(mesh)
  local entering, agents, known = NavigationMesh.linking_agents(mesh), {}, {}
  local before, kept = unfinished[mesh]
  for _, call in ipairs(before or {}) do
    if take_agents(call, agents, known) then
      kept = kept or {}
      kept[#kept + 1] = call
    end
  end
  unfinished[mesh] = kept
  for _, agent in ipairs(entering) do
    if not known[agent] then agents[#agents + 1] = agent end
  end
  return agents
end

-- Forgets a call that has ended without an error.
local function finish(mesh, call)
  local calls = unfinished[mesh]
  for i, known in ipairs(calls or {}) do
    if known == call then remove(calls, i) break end
  end
  if calls and #calls == 0 then unfinished[mesh] = nil end
end

-- Warns about a manual link on which an agent waits, and for which there is no function.
local function warn_of_link(name, handlers)
  local near = name and core.suggest(name, core.names(handlers))
  core.warn_at(1, format("NavigationMesh.handle_links: no function is for the manual link %s: its "
    .. "agents wait until Agent.finish_link is called%s",
    name and "'" .. name .. "'" or "without a name, which is 'default'",
    near and ", did you mean '" .. near .. "'?" or ""))
end

-- Calls the functions for the agents of a call. Returns their number.
local function call_handlers(call, handlers)
  local count, links = 0, call.links
  for i, agent in ipairs(call.agents) do
    -- The function for an earlier agent may have destroyed this one, or finished its link.
    local link, name
    if Agent.alive(agent) then link, name = Agent.link(agent) end
    local handler = link and (handlers[name or "default"] or handlers.default)
    call.at, links[i] = i, link or false
    if handler then
      count = count + 1
      handler(agent, link)
      -- Without a link, it may enter the same one again.
      links[i] = Agent.alive(agent) and Agent.link(agent) or false
    elseif link and core.agent_waits_on_link(agent) then
      warn_of_link(name, handlers)
    end
  end
  return count
end

---Calls a function for each agent that has entered a link in the last `NavigationMesh.update`: the
---one with the name of the link, or `default`. It gets the agent and the number of the link. For a
---link that is `manual`, it can begin an animation at whose end you call `Agent.finish_link`. A
---warning names a manual link on which an agent waits, and for which there is no function. While a
---function runs, or waits in a coroutine, other calls leave out the agents of its call. An error in
---a function is an error of this call. The next call goes on with the agents after it; the agent of
---the function does not use a manual link for 10 seconds then, and takes another way.
---@param mesh NavigationMesh a navigation mesh
---@param handlers table<string, function> functions by the name of the link
---@return integer count number of agents for which a function was called
function NavigationMesh.handle_links(mesh, handlers)
  no_reload("NavigationMesh.handle_links")
  if type(handlers) ~= "table" then
    bad_argument("NavigationMesh.handle_links", 2, "handlers", "table", handlers)
  end
  local wrong = not_a_function(handlers)
  if wrong ~= nil then
    raise(format("NavigationMesh.handle_links: argument #2 'handlers' must have a function for the "
      .. "link '%s', got %s", tostring(wrong), core.describe(handlers[wrong])))
  end
  local agents = take_entering(mesh)
  if #agents == 0 then return 0 end
  local call = { agents = agents, links = {}, at = 0, thread = running() }
  call.fn = function()
    -- Not a tail call: this stack frame shows that the call still runs.
    local count = call_handlers(call, handlers)
    return count
  end
  local calls = unfinished[mesh] or {}
  unfinished[mesh], calls[#calls + 1] = calls, call
  local count = call.fn()
  finish(mesh, call)
  return count
end
