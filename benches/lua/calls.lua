-- Engine calls: loops of n calls in one function. Each result is used, and module names are looked
-- up in every iteration, as in games. The loop's own cost is included. Arguments: the case, n.

local name, n = Application.argv()
n = tonumber(n)

local world = Application.new_world()
local low, high = Vector3(-1, -2, -3), Vector3(1, 2, 3)

local function successor(a)
  return a + 1
end

local cases = {
  empty_loop = function(count)
    local sum = 0
    for i = 1, count do
      sum = sum + i
    end
    return sum
  end,
  lua_function = function(count)
    local sum = 0
    for _ = 1, count do
      sum = successor(sum)
    end
    return sum
  end,
  world_time = function(count)
    local sum = 0
    for _ = 1, count do
      sum = sum + World.time(world)
    end
    return sum
  end,
  world_delta_time = function(count)
    local sum = 0
    for _ = 1, count do
      sum = sum + World.delta_time(world)
    end
    return sum
  end,
  world_alive = function(count)
    local sum = 0
    for _ = 1, count do
      if World.alive(world) then
        sum = sum + 1
      end
    end
    return sum
  end,
  frame_index = function(count)
    local sum = 0
    for _ = 1, count do
      sum = sum + Application.frame_index()
    end
    return sum
  end,
  delta_time = function(count)
    local sum = 0
    for _ = 1, count do
      sum = sum + Application.delta_time()
    end
    return sum
  end,
  random = function(count)
    local sum = 0
    for _ = 1, count do
      sum = sum + Math.random()
    end
    return sum
  end,
  random_range = function(count)
    local sum = 0
    for _ = 1, count do
      sum = sum + Math.random(1, 6)
    end
    return sum
  end,
  noise = function(count)
    local sum = 0
    for i = 1, count do
      sum = sum + Math.noise(i * 0.01, 0.5)
    end
    return sum
  end,
  noise_at = function(count)
    local sum = 0
    for _ = 1, count do
      sum = sum + Math.noise_at(high)
    end
    return sum
  end,
  random_in_box = function(count)
    local sum = 0
    for _ = 1, count do
      sum = sum + Math.random_in_box(low, high).x
    end
    return sum
  end,
  world_update = function(count)
    for _ = 1, count do
      World.update(world, 0.001)
    end
    return World.time(world)
  end,
  num_nodes = function(count)
    local unit = World.spawn_unit(world, "core/units/empty")
    local sum = 0
    for _ = 1, count do
      sum = sum + Unit.num_nodes(unit)
    end
    return sum
  end,
  next_random = function(count)
    local seed, value = 1, 0
    for _ = 1, count do
      seed, value = Math.next_random(seed, 1, 6)
    end
    return seed + value
  end,
  next_random_real = function(count)
    local seed, value = 1, 0
    for _ = 1, count do
      seed, value = Math.next_random(seed)
    end
    return seed + value
  end,
}

local case = assert(cases[name], "no such case")

function init()
  case(n / 10)
end

function render()
  case(n)
end
