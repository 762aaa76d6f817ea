-- Vectors as values: p = p + v * dt, n times a frame. Arguments: the case, n.

local name, n = Application.argv()
n = tonumber(n)

local dt = 1 / 60
local positions, velocities = {}, {}
for i = 1, 10000 do
  positions[i] = Vector3(i, 0, 1)
  velocities[i] = Vector3(1, i % 7, 0.5)
end

local cases = {
  -- The position is in a local variable, as in a function that moves one object in small steps.
  ["local"] = function(count)
    local p, v = Vector3(0, 0, 0), Vector3(1, 2, 3)
    for _ = 1, count do
      p = p + v * dt
    end
    return p.x
  end,
  -- 10,000 positions in a table, each replaced by a new one.
  stored = function(count)
    for _ = 1, count / #positions do
      for i = 1, #positions do
        positions[i] = positions[i] + velocities[i] * dt
      end
    end
    return positions[1].x
  end,
}

local case = assert(cases[name], "no such case")

function init()
  case(n)
end

function render()
  case(n)
end
