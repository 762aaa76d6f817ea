-- c5: ten coroutines are made, and each is resumed 1,000 times.

local function steps(a)
  while true do
    a = coroutine.yield(a + 1)
  end
end

return function()
  local sum = 0
  for i = 1, 10 do
    local thread = coroutine.create(steps)
    for k = 1, 1000 do
      local _, value = coroutine.resume(thread, k)
      sum = sum + value
    end
    sum = sum + i
  end
  return sum
end
