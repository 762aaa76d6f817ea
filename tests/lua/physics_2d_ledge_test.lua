-- Suite of movers at the corners of ledges: jumps against a wall end on the ledge or on the floor.

-- Tries jumps of a mover with this radius against a wall at x = 1 with its top at y = 0.
local function jumps(radius, unit, is_chain, each)
  local world = Application.new_world("2d")
  local physics = World.physics_world(world)
  PhysicsWorld.spawn_plane(physics, Vector3(0, -5, 0))
  if is_chain then
    local points = { Vector2(1, -4.9), Vector2(1, 0), Vector2(60, 0) }
    PhysicsWorld.spawn_chain(physics, points)
  else
    local ledge = World.spawn_unit(world, "core/units/empty", Vector2(31, -2.5))
    Unit.create_actor(ledge, "ledge", { type = "static", shape = "box", size = { 60, 5 } })
  end
  local hero = World.spawn_unit(world, unit, Vector2(0, 3))
  World.update(world, 1 / 60)
  local mover = Unit.mover(hero)
  local function jump(speed, gravity, x, y)
    local fall, deepest = 8, 0
    Mover.set_position(mover, Vector3(x, y, 0))
    for _ = 1, 100 do
      if Mover.standing_frames(mover) > 0 then fall = 0 end
      if Mover.collides_up(mover) then fall = math.min(fall, 0) end
      fall = math.max(fall - gravity / 60, -18)
      Mover.move(mover, Vector3(speed, fall, 0) / 60, 1 / 60)
      local p = Mover.position(mover)
      if p.y < -radius - 0.05 then deepest = math.max(deepest, p.x - (1 - radius)) end
    end
    each(Mover.position(mover), Mover.standing_frames(mover), deepest,
      ("speed %g, gravity %g, from (%.3f, %.3f)"):format(speed, gravity, x, y))
  end
  for _, speed in ipairs({ 3, 7 }) do
    for _, gravity in ipairs({ 20, 34 }) do
      for i = 0, 60, 2 do jump(speed, gravity, -2.05 + i * 0.045, -2 + (i % 13) * 0.11) end
    end
  end
  Application.release_world(world)
end

describe("a mover that jumps against the corner of a ledge", function()
  local UNITS = { ["units/hero_2d"] = 0.3, ["units/hero_template"] = 0.35 }
  for unit, radius in pairs(UNITS) do
    for _, is_chain in ipairs({ true, false }) do
      local name = unit .. " at " .. (is_chain and "a chain" or "a box")
      it("does not hang in the air or in the wall: " .. name, function()
        local top, count = 0, 0
        jumps(radius, unit, is_chain, function(position, standing, deepest, at)
          count = count + 1
          if position.y > -0.02 then top = top + 1 end
          assert.is_true(position.y > -0.02 or position.y < -4.9, at .. " hangs at " .. position.y)
          assert.is_true(standing > 5, at .. " does not stand")
          assert.is_true(deepest < 0.012, at .. " is " .. deepest .. " in the wall")
        end)
        assert.is_true(top > 10 and top < count, top .. " of " .. count .. " reach the top")
      end)
    end
  end
end)
