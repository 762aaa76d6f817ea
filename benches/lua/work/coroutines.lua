-- c5: creates ten coroutines and resumes each 1,000 times.

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
