-- Returns true if a rock hits the ship: `hit.lua` of the first game (docs/first_game.md).
return function(ship, rock)
  local x, y = rock.x - ship.x, rock.y - ship.y - 15
  return x * x + y * y < (rock.size + 15) ^ 2
end
