-- c2: lists: 20,000 pushes and pops at the end, 1,000 inserts and removes at the front of a list of
-- up to 2,000.

return function()
  local list = {}
  for i = 1, 20000 do
    table.insert(list, i)
  end
  local sum = 0
  for _ = 1, 20000 do
    sum = sum + table.remove(list)
  end
  local queue = {}
  for i = 1, 1000 do
    queue[i] = i
  end
  for i = 1, 1000 do
    table.insert(queue, 1, i)
  end
  for _ = 1, 1000 do
    sum = sum + table.remove(queue, 1)
  end
  return sum + #queue
end
