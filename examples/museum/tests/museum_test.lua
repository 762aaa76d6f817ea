-- The museum: everybody gets to the exhibits, whichever doors are closed, and nobody is stuck or
-- stands for long on its way.
local Doors = require "doors"
local Lift = require "lift"
local Visitors = require "visitors"

local STUCK_MAX = 1 -- seconds without progress
local PLACE = 0.15 -- metres within which somebody stands
local NEAR = 1.5 -- metres from others within which somebody can be in a queue
local QUEUE_MAX = 20 -- seconds for which somebody on its way stands in a queue
local ALONE_MAX = 5 -- seconds for which it stands although nobody is near it: waits for its turn

-- Returns the number of visitors for whom something is true.
local function count(is_true)
  local found = 0
  for _, visitor in ipairs(Visitors.all) do
    if is_true(visitor) then found = found + 1 end
  end
  return found
end

local function at(visitor) return Agent.position(visitor.agent) end
local function has_made_its_round(visitor) return visitor.done >= Visitors.ROUND end

-- Visitors who stand on their way: where, for how long, and for how long with nobody near. The
-- engine's own times say how long they come no nearer; this is only how far they have moved.
local ON_ITS_WAY = { moving = true, waiting = true, blocked = true }
local standing = {}
local longest = { x = 0, y = 0, z = 0, seconds = 0, alone = 0 }
local longest_alone = longest
local blocked -- where somebody was blocked

local function description(of)
  return ("%.1f seconds, %.1f of them alone, at %.1f, %.1f, %.1f"):format(of.seconds, of.alone,
    of.x, of.y, of.z)
end

local function is_alone(visitor, position)
  for _, other in ipairs(Visitors.all) do
    if other ~= visitor and Vector3.distance(at(other), position) < NEAR then return false end
  end
  return true
end

local function watch(seconds)
  for i, visitor in ipairs(Visitors.all) do
    local position, known, state = at(visitor), standing[i], Agent.state(visitor.agent)
    if state == "blocked" then blocked = position end
    if not known or known.agent ~= visitor.agent or not ON_ITS_WAY[state]
      or Vector3.distance(position, Vector3(known.x, known.y, known.z)) > PLACE then
      standing[i] = { agent = visitor.agent, x = position.x, y = position.y, z = position.z,
        seconds = 0, alone = 0 }
    else
      known.seconds = known.seconds + seconds
      known.alone = is_alone(visitor, position) and known.alone + seconds or 0
      if known.seconds > longest.seconds then longest = known end
      -- A copy: it counts from 0 again when somebody comes near.
      if known.alone > longest_alone.alone then
        longest_alone = { x = known.x, y = known.y, z = known.z, seconds = known.seconds,
          alone = known.alone }
      end
    end
  end
end

local function play(seconds)
  for _ = 1, seconds * 10 do
    test.frames(6)
    watch(0.1)
  end
end

-- Plays until something is true, at most so many seconds.
local function play_until(is_true, seconds)
  for _ = 1, seconds do
    if is_true() then return true end
    play(1)
  end
  return is_true()
end

local function nobody_was_stuck()
  assert.is_true(Visitors.stuck <= STUCK_MAX, Visitors.stuck .. " seconds without progress")
  assert.is_nil(blocked)
  assert.is_true(longest.seconds <= QUEUE_MAX, description(longest))
  assert.is_true(longest_alone.alone <= ALONE_MAX, description(longest_alone))
end

describe("the museum", function()
  setup(function() test.boot() end)

  -- One visit, in parts: everybody looks at six exhibits, leaves the museum, and comes in again.
  local upstairs, inside, outside, rides = {}, {}, {}, 0
  for part = 1, 16 do
    it("is visited on both floors, part " .. part, function()
      play_until(function()
        for i, visitor in ipairs(Visitors.all) do
          local position = at(visitor)
          upstairs[i] = upstairs[i] or position.z > 3.5
          inside[i] = inside[i] or position.y > -13.5
          outside[i] = outside[i] or position.y < -14.5
        end
        rides = math.max(rides, NavigationMesh.num_aboard(Lift.platform))
        return count(has_made_its_round) == #Visitors.all
      end, 20)
      assert.equals(300, #Visitors.all)
      nobody_was_stuck()
    end)
  end

  it("lets everybody make its round", function()
    local number = 0
    for i, visitor in ipairs(Visitors.all) do
      assert.is_true(has_made_its_round(visitor), visitor.done .. " errands")
      assert.is_true(visitor.visits >= Visitors.ROUND - 1, visitor.visits .. " exhibits")
      assert.is_true(inside[i] and outside[i])
      number = number + (upstairs[i] and 1 or 0)
    end
    assert.is_true(number > 100, number .. " went upstairs")
    assert.is_true(rides > 0, "nobody took the lift")
  end)

  it("lets nobody in while both entrances are closed, and everybody by one of them", function()
    test.input({ tap = "r" })
    test.frames(2)
    test.input({ { tap = "1" }, { tap = "2" } })
    play(1)
    assert.is_false(Doors.all[1].is_open)
    assert.equals(0, Doors.all[1].open)
    local waits = {}
    for i, visitor in ipairs(Visitors.all) do waits[i] = at(visitor).y < -14.5 end
    local function entered()
      local number = 0
      for i, visitor in ipairs(Visitors.all) do
        if waits[i] and at(visitor).y > -13.5 then number = number + 1 end
      end
      return number
    end
    play(15)
    assert.equals(0, entered())
    test.input({ tap = "2" })
    play(15)
    assert.is_true(entered() > 10, entered() .. " have entered")
    nobody_was_stuck()
  end)

  it("gets crowds through its inner doors after they were closed", function()
    test.input({ tap = "r" })
    play(4)
    test.input({ { tap = "3" }, { tap = "4" } })
    play(8)
    assert.is_false(Doors.all[3].is_open or Doors.all[4].is_open)
    nobody_was_stuck()
    test.input({ { tap = "3" }, { tap = "4" } })
    play(8)
    assert.is_true(Doors.all[3].is_open and Doors.all[4].is_open)
    nobody_was_stuck()
    assert.is_true(Visitors.seen > 50, Visitors.seen .. " exhibits were looked at")
  end)

  it("opens and closes a door by the mouse", function()
    test.input({ tap = "r" })
    test.frames(5)
    local door = Doors.all[4]
    local position = Camera.world_to_screen(Application.main_camera(), door.home + Vector3(0, 0, 1))
    test.input({ axis = "mouse:cursor", x = position.x, y = position.y })
    test.input({ tap = "mouse:left" })
    test.frames(2)
    assert.is_false(door.is_open)
  end)
end)
