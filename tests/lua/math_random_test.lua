-- Suite of Math: random numbers and noise. Geometry is in math_geometry_test.lua.

local function error_of(fn, ...)
  local ok, raised = pcall(fn, ...)
  assert.is_false(ok)
  return (raised:gsub("^[%w_%.]+:%d+: ", ""))
end

local function many(fn)
  local values = {}
  for i = 1, 200 do
    values[i] = fn()
  end
  return values
end

describe("Math.random", function()
  it("repeats its numbers for a seed", function()
    Math.set_seed(11)
    local first = many(Math.random)
    Math.set_seed(11)
    assert.same(first, many(Math.random))
    Math.set_seed(12)
    assert.are_not.same(first, many(Math.random))
  end)

  it("is in [0, 1), or a whole number between two bounds, inclusive", function()
    for _, value in ipairs(many(Math.random)) do
      assert.is_true(value >= 0 and value < 1)
    end
    local numbers = {}
    for _, value in ipairs(many(function() return Math.random(-1, 1) end)) do
      numbers[value] = true
    end
    assert.same({ [-1] = true, [0] = true, [1] = true }, numbers)
    for _, value in ipairs(many(function() return Math.random(3) end)) do
      assert.is_true(value == 1 or value == 2 or value == 3)
    end
  end)

  it("refuses bounds without a number between them", function()
    assert.equals("Math.random: there is no whole number from 1 to 0", error_of(Math.random, 0))
    assert.equals("Math.random: there is no whole number from 3 to 2", error_of(Math.random, 3, 2))
    assert.matches("^Math.random: argument #1 'min'", error_of(Math.random, 1.5))
    assert.equals("Math.random: 'max' was given without 'min': give both, or one alone",
      error_of(Math.random, nil, 2))
  end)

  it("is used by math.random", function()
    math.randomseed(5)
    local first = math.random()
    Math.set_seed(5)
    assert.equals(first, Math.random())
    assert.is_true(math.random(6) <= 6)
    assert.equals(4, math.random(4, 4))
    assert.equals("math.random: argument #1 'm' must be number, got nil",
      error_of(math.random, nil, 5))
  end)

  it("accepts whole seeds from 0", function()
    assert.matches("^Math.set_seed: argument #1 'seed' must be 0 to ", error_of(Math.set_seed, -1))
    assert.matches("^Math.set_seed: argument #1 'seed'", error_of(Math.set_seed, 0.5))
  end)
end)

describe("Math.next_random", function()
  it("computes a number and the next seed only from a seed", function()
    local seed, value = Math.next_random(42)
    assert.is_true(value >= 0 and value < 1)
    local again, same = Math.next_random(42)
    assert.equals(seed, again)
    assert.equals(value, same)
    local _, die = Math.next_random(seed, 1, 6)
    assert.is_true(die >= 1 and die <= 6 and die % 1 == 0)
  end)

  it("refuses a seed of more than 32 bits", function()
    assert.equals("Math.next_random: argument #1 'seed' must be 0 to 4294967295, got 4294967296",
      error_of(Math.next_random, 2 ^ 32))
  end)
end)

describe("random vectors", function()
  it("have length 1 as directions, and point in all directions", function()
    local sum = Vector3(0, 0, 0)
    for _ = 1, 500 do
      local direction = Math.random_direction()
      assert.is_true(math.abs(Vector3.length(direction) - 1) < 1e-5)
      sum = sum + direction
    end
    assert.is_true(Vector3.length(sum) < 100)
  end)

  it("are inside their box", function()
    local low, high = Vector3(-1, 0, 2), Vector3(1, 0, 4)
    for _ = 1, 200 do
      local p = Math.random_in_box(low, high)
      assert.is_true(p.x >= -1 and p.x <= 1 and p.y == 0 and p.z >= 2 and p.z <= 4)
    end
  end)

  it("are uniform in a box that is wider than the largest float", function()
    local most = 3.4e38
    local below = 0
    for _ = 1, 200 do
      local p = Math.random_in_box(Vector3(-most, 0, 0), Vector3(most, 0, 0))
      assert.is_true(p.x > -most and p.x < most)
      below = below + (p.x < 0 and 1 or 0)
    end
    assert.is_true(below > 50 and below < 150)
  end)

  it("need the corners in order", function()
    assert.matches("^Math.random_in_box: 'min' .* must not be above 'max' .* in any coordinate",
      error_of(Math.random_in_box, Vector3(1, 0, 0), Vector3(0, 1, 1)))
    assert.matches("^Math.random_in_box: argument #2 'max' must be Vector3, got nil",
      error_of(Math.random_in_box, Vector3(1, 0, 0)))
  end)
end)

describe("Math.noise", function()
  it("is smooth, within [-1, 1], and 0 at whole coordinates", function()
    local last = Math.noise(0)
    for i = 1, 1000 do
      local value = Math.noise(i / 100, 0.3)
      if i > 1 then
        assert.is_true(math.abs(value - last) < 0.1)
      end
      assert.is_true(value >= -1 and value <= 1)
      last = value
    end
    assert.equals(0, Math.noise(3, 4, 5))
  end)

  it("depends on the seed, and accepts positions or coordinates", function()
    assert.are_not.equals(Math.noise(0.5, 0.25, 0.125), Math.noise(0.5, 0.25, 0.125, 1))
    assert.equals(Math.noise(0.5, 0.25, 0.125, 7), Math.noise_at(Vector3(0.5, 0.25, 0.125), 7))
  end)

  it("requires its coordinates in order", function()
    assert.equals("Math.noise: 'z' was given without 'y'", error_of(Math.noise, 1, nil, 2))
    assert.equals("Math.noise: argument #1 'x' must be number, got nil", error_of(Math.noise))
    assert.equals("Math.noise_at: argument #1 'position' must be Vector3, got number 1 "
      .. "(write Vector3(x, y, z))", error_of(Math.noise_at, 1))
  end)
end)
