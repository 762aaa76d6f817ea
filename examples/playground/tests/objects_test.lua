-- The objects with graphs: everything that they do is in units/*.unit and levels/hall.level, so
-- this suite only walks, throws and pulls, and looks at the result.
local Barrels = require "barrels"
local Eye = require "eye"
local Walker = require "walker"

local world, level ---@type World, Level

local function put(position)
  Mover.set_position(Unit.mover(Walker.unit), position)
  test.frames(12)
end

local function visible(unit, mesh)
  return Mesh.visibility(Unit.mesh(unit, mesh))
end

local function count(resource)
  local found = 0
  for _, unit in ipairs(World.units(world)) do
    if Unit.is_a(unit, resource) then found = found + 1 end
  end
  return found
end

-- Steps on plates in an order, such as "231".
local function step_on(order)
  for number in order:gmatch("%d") do
    put(Unit.world_position(Level.unit(level, "plate_" .. number)))
    put(Vector3(-4.6, -7, 0))
  end
end

describe("objects with graphs", function()
  setup(function() test.boot() end)

  before_each(function()
    test.input({ tap = "r" })
    test.frames(5)
    world = Application.main_world()
    level = World.levels(world)[1]
    Eye.yaw = 0
  end)

  after_each(function()
    assert.equals("", Flow.inspect(level).error)
  end)

  describe("a lamp", function()
    local lamp

    before_each(function() lamp = Level.unit(level, "lamp_1") end)

    -- Throws a barrel against the post.
    local function throw(speed)
      local body = Unit.actor(Barrels.all[1], "body")
      Actor.teleport_position(body, Unit.world_position(lamp) + Vector3(1, 0, 1))
      Actor.set_velocity(body, Vector3(-speed, 0, 1))
      test.seconds(0.3)
    end

    it("shines until it is hit hard", function()
      assert.is_true(visible(lamp, "Glass"))
      assert.is_false(visible(lamp, "Splinters"))
      assert.is_true(Light.enabled(Unit.light(lamp, "Light")))
      throw(1)
      assert.is_true(visible(lamp, "Glass"), "a weak hit does nothing")
      throw(9)
      assert.is_false(visible(lamp, "Glass"))
      assert.is_true(visible(lamp, "Splinters"))
      test.seconds(0.6)
      assert.is_false(Light.enabled(Unit.light(lamp, "Light")))
      assert.equals(1, Level.flow_variable(level, "broken_lamps"))
    end)

    it("breaks once, and alone", function()
      throw(9)
      throw(9)
      assert.equals(1, Level.flow_variable(level, "broken_lamps"))
      assert.is_true(visible(Level.unit(level, "lamp_2"), "Glass"))
    end)
  end)

  describe("the lever", function()
    local function height()
      local lift = Level.unit(level, "lift")
      return Unit.world_position(lift, Unit.node(lift, "Platform")).z
    end

    it("does nothing from far away", function()
      test.input({ tap = "g" })
      test.seconds(1)
      assert.near(0.12, height(), 0.001)
    end)

    it("lifts the walker to the gallery, and brings the lift back", function()
      put(Vector3(3.3, 4.9, 0.2))
      assert.is_true(Unit.flow_variable(Level.unit(level, "lever"), "near"))
      test.input({ tap = "g" })
      test.seconds(1.8)
      assert.is_true(height() > 0.5 and height() < 2.3, tostring(height()))
      test.seconds(2.2)
      assert.near(2.4, height(), 0.001)
      assert.near(2.4, Walker.position().z, 0.05)
      test.input({ press = "w" })
      test.seconds(0.5)
      test.input({ release = "w" })
      test.frames(10)
      assert.is_true(Walker.position().y > 6.2, tostring(Walker.position()))
      assert.near(2.4, Walker.position().z, 0.05)
      put(Vector3(4.3, 3.6, 0))
      test.input({ tap = "g" })
      test.seconds(4)
      assert.near(0.12, height(), 0.001)
    end)
  end)

  describe("the door", function()
    local function shift()
      local door = Level.unit(level, "door")
      return Unit.local_position(door, Unit.node(door, "Slab")).y
    end

    it("opens for the plates in the order of the marks beside it", function()
      step_on("23")
      assert.equals("23", Level.flow_variable(level, "entered"))
      assert.equals(0, shift())
      step_on("1")
      test.seconds(1.6)
      assert.near(-1.62, shift(), 0.001)
      for number = 1, 3 do assert.is_true(visible(Level.unit(level, "plate_" .. number), "Rim")) end
      step_on("3")
      assert.equals("231", Level.flow_variable(level, "entered"), "nothing is left to solve")
      put(Vector3(-7.5, -7.5, 0))
      Eye.yaw = math.pi / 2
      test.input({ press = "w" })
      test.seconds(0.8)
      test.input({ release = "w" })
      test.frames(10)
      assert.is_nil(Level.unit(level, "trophy"))
      assert.is_true(Level.flow_variable(level, "won"))
    end)

    it("stays shut for another order, which springs the trap", function()
      step_on("123")
      assert.equals("", Level.flow_variable(level, "entered"))
      assert.equals(0, shift())
      local trap, crates = Level.unit(level, "trap"), count("units/crate")
      test.seconds(0.1)
      assert.is_true(Light.enabled(Unit.light(trap, "Warning")))
      while count("units/crate") == crates do test.frames(1) end
      assert.equals(crates + 3, count("units/crate"))
      test.seconds(1.2)
      assert.is_false(Light.enabled(Unit.light(trap, "Warning")))
      assert.equals(crates, count("units/crate"), "they broke on the floor")
      assert.equals(12, count("units/plank"))
      test.seconds(6)
      assert.equals(0, count("units/plank"))
      step_on("231")
      test.seconds(1.6)
      assert.near(-1.62, shift(), 0.001)
    end)
  end)

  describe("a crate", function()
    it("stands a push, and breaks at a hard hit", function()
      local crate = Level.unit(level, "crate_1")
      local body = Unit.actor(crate, "body")
      Actor.set_velocity(body, Vector3(-1.5, 0, 0))
      test.seconds(0.5)
      assert.is_true(Unit.alive(crate))
      Actor.teleport_position(body, Vector3(9, -7.5, 3))
      Actor.set_velocity(body, Vector3(0, 0, -6))
      test.seconds(0.6)
      assert.is_false(Unit.alive(crate))
      assert.equals(4, count("units/plank"))
    end)
  end)
end)
