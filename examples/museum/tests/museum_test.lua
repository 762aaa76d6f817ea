-- The museum: everybody gets to the exhibits, whichever doors are closed, and nobody is stuck.
local Doors = require "doors"
local Lift = require "lift"
local Visitors = require "visitors"

local STUCK_MAX = 1 -- second

-- Returns the number of visitors for whom something is true.
local function count(is_true)
  local found = 0
  for _, visitor in ipairs(Visitors.all) do
    if is_true(visitor) then found = found + 1 end
  end
  return found
end

local function at(visitor) return Agent.position(visitor.agent) end
local function has_looked(visitor) return visitor.visits > 0 end

-- Plays until something is true, at most so many seconds.
local function play_until(is_true, seconds)
  for _ = 1, seconds do
    if is_true() then return true end
    test.seconds(1)
  end
  return is_true()
end

describe("the museum", function()
  setup(function() test.boot() end)

  -- One visit, in parts.
  local upstairs, rides = {}, 0
  for part = 1, 4 do
    it("is visited on both floors, part " .. part, function()
      play_until(function()
        for i, visitor in ipairs(Visitors.all) do
          upstairs[i] = upstairs[i] or at(visitor).z > 3.5
        end
        rides = math.max(rides, NavigationMesh.num_aboard(Lift.platform))
        return count(has_looked) == #Visitors.all
      end, 35)
      assert.equals(300, #Visitors.all)
      assert.is_true(Visitors.stuck <= STUCK_MAX, Visitors.stuck .. " seconds without progress")
    end)
  end

  it("has shown something to everybody", function()
    assert.equals(#Visitors.all, count(has_looked))
    local number = 0
    for i = 1, #Visitors.all do number = number + (upstairs[i] and 1 or 0) end
    assert.is_true(number > 100, number .. " went upstairs")
    assert.is_true(rides > 0, "nobody took the lift")
  end)

  it("lets nobody in while both entrances are closed, and everybody by one of them", function()
    test.input({ tap = "r" })
    test.frames(2)
    test.input({ { tap = "1" }, { tap = "2" } })
    test.seconds(1)
    assert.is_false(Doors.all[1].is_open)
    assert.equals(0, Doors.all[1].open)
    local outside = {}
    for i, visitor in ipairs(Visitors.all) do outside[i] = at(visitor).y < -14.5 end
    local function entered()
      local number = 0
      for i, visitor in ipairs(Visitors.all) do
        if outside[i] and at(visitor).y > -13.5 then number = number + 1 end
      end
      return number
    end
    test.seconds(15)
    assert.equals(0, entered())
    test.input({ tap = "2" })
    test.seconds(15)
    assert.is_true(entered() > 10, entered() .. " have entered")
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
