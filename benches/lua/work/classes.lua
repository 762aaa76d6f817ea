-- d: classes built from metatables: 20,000 calls of inherited methods, and 20,000 calls through
-- operators and an __index function.

local Animal = {}
Animal.__index = Animal

function Animal.new(class, weight)
  return setmetatable({ weight = weight, energy = 0 }, class)
end

function Animal:eat(amount)
  self.energy = self.energy + amount
  return self:burn(amount)
end

function Animal:burn(amount)
  return amount * 0.5
end

local Dog = setmetatable({}, { __index = Animal })
Dog.__index = Dog

function Dog:burn(amount)
  return amount * 0.25 + self.weight
end

local Pair = {}
Pair.__index = function(pair, key)
  if key == "sum" then
    return pair.a + pair.b
  end
end
Pair.__add = function(p, q)
  return setmetatable({ a = p.a + q.a, b = p.b + q.b }, Pair)
end

local animals = {}
for i = 1, 100 do
  animals[i] = Animal.new(i % 2 == 0 and Dog or Animal, i)
end

return function()
  local burnt = 0
  for i = 1, 20000 do
    burnt = burnt + animals[i % 100 + 1]:eat(2)
  end
  local total, one = setmetatable({ a = 0, b = 0 }, Pair), setmetatable({ a = 1, b = 2 }, Pair)
  for _ = 1, 10000 do
    total = total + one
    burnt = burnt + total.sum % 3
  end
  return burnt
end
