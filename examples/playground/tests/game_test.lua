-- The whole game: a hundred barrels that stand until somebody comes.
local Barrels = require "barrels"
local Eye = require "eye"
local Walker = require "walker"

describe("the playground", function()
  setup(function()
    test.boot()
    test.seconds(2)
  end)

  it("has a hundred barrels, which stand and sleep", function()
    assert.equals(100, #Barrels.all)
    assert.equals(100, Barrels.standing())
    test.seconds(3)
    assert.equals(0, PhysicsWorld.num_awake(World.physics_world(Application.main_world())))
  end)

  it("draws them with two meshes", function()
    local meshes, count = {}, 0
    for _, barrel in ipairs(Barrels.all) do meshes[Mesh.debug_name(Unit.mesh(barrel, 1))] = true end
    for _ in pairs(meshes) do count = count + 1 end
    assert.equals(2, count)
  end)

  it("is lit by a sun and by the lamps of its model", function()
    local hall = Level.unit(World.levels(Application.main_world())[1], "hall")
    assert.equals(4, Unit.num_lights(hall))
    assert.equals("omni", Light.type(Unit.light(hall, "Lamp 1")))
  end)

  it("restarts by a key, after a shout has knocked some over", function()
    Mover.set_position(Unit.mover(Walker.unit), Vector3(-3.5, -3, 0))
    test.frames(20)
    test.input({ tap = "f" })
    test.seconds(3)
    assert.is_true(Barrels.standing() < 95, Barrels.standing() .. " stand")
    test.input({ tap = "r" })
    test.seconds(2)
    assert.equals(100, Barrels.standing())
    assert.equals(1, #World.levels(Application.main_world()))
  end)

  it("brings back barrels that fly over the walls", function()
    local body = Unit.actor(Barrels.all[1], "body")
    Actor.teleport_position(body, Vector3(0, 20, 3))
    test.frames(3)
    assert.is_true(Actor.position(body).y < 9)
  end)

  it("restarts if the walker leaves the hall", function()
    Mover.set_position(Unit.mover(Walker.unit), Vector3(0, 0, -9))
    test.frames(2)
    assert.near(-6, Walker.position().y, 0.1)
  end)

  it("keeps the camera inside the walls", function()
    Mover.set_position(Unit.mover(Walker.unit), Vector3(0, -8.4, 0))
    Eye.yaw, Eye.distance = 0, 12
    test.seconds(1)
    assert.is_true(Camera.world_position(Eye.camera).y > -9)
  end)

  it("shows the load of physics by a key", function()
    local function shown()
      for _, object in ipairs(Gui.inspect(Application.main_gui())) do
        if object.text and object.text:find("bodies move", 1, true) then return true end
      end
      return false
    end
    shown()
    test.input({ tap = "f1" })
    test.frames(2)
    assert.is_true(shown())
    test.input({ tap = "f1" })
    test.frames(2)
    assert.is_false(shown())
  end)
end)
