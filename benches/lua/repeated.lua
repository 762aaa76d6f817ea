-- Runs a workload's frame several times; the sum of its results shows that two VMs did the same
-- work.

return function(frame, times)
  local sum = 0
  for _ = 1, times do
    sum = sum + frame()
  end
  return sum
end
