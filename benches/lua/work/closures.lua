-- c3: creates 20,000 closures over two variables and calls each once.

local function counter(start, step)
  local value = start
  return function()
    value = value + step
    return value
  end
end

return function()
  local counters, sum = {}, 0
  for i = 1, 20000 do
    counters[i] = counter(i, i % 3)
  end
  for i = 1, #counters do
    sum = sum + counters[i]()
  end
  return sum
end
