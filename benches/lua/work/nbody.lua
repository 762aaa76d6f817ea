-- b: five bodies that attract each other, 2,000 steps per frame.

local STEPS, DT = 2000, 0.001

local function body(x, y, z, vx, vy, vz, mass)
  return { x = x, y = y, z = z, vx = vx, vy = vy, vz = vz, mass = mass }
end

local bodies = {
  body(0, 0, 0, 0, 0, 0, 40),
  body(4.8, -1.2, -0.1, 0.6, 2.8, 0, 0.038),
  body(8.3, 4.1, -0.4, -1.0, 1.8, 0.1, 0.011),
  body(12.9, -15.1, -0.2, 1.1, 0.9, 0, 0.0017),
  body(15.4, -25.9, 0.2, 1.0, 0.6, 0, 0.002),
}

local function step(dt)
  local n = #bodies
  for i = 1, n do
    local a = bodies[i]
    local ax, ay, az, mass = a.x, a.y, a.z, a.mass
    local vx, vy, vz = a.vx, a.vy, a.vz
    for j = i + 1, n do
      local b = bodies[j]
      local dx, dy, dz = ax - b.x, ay - b.y, az - b.z
      local square = dx * dx + dy * dy + dz * dz
      local pull = dt / (math.sqrt(square) * square)
      local by_b, by_a = b.mass * pull, mass * pull
      vx, vy, vz = vx - dx * by_b, vy - dy * by_b, vz - dz * by_b
      b.vx, b.vy, b.vz = b.vx + dx * by_a, b.vy + dy * by_a, b.vz + dz * by_a
    end
    a.vx, a.vy, a.vz = vx, vy, vz
    a.x, a.y, a.z = ax + dt * vx, ay + dt * vy, az + dt * vz
  end
end

return function()
  for _ = 1, STEPS do
    step(DT)
  end
  return bodies[2].x
end
