-- c2: sorts 5,000 tables with a comparison function.

local seed = 99

local function random()
  seed = seed * 16807 % 2147483647
  return seed / 2147483647
end

local keys = {}
for i = 1, 5000 do
  keys[i] = random()
end

return function()
  local list = {}
  for i = 1, #keys do
    list[i] = { key = keys[i], index = i }
  end
  table.sort(list, function(a, b)
    return a.key < b.key
  end)
  return list[1].index + list[#list].index
end
