-- c4: makes 20,000 protected calls, of which one in twenty fails.

local function risky(i)
  if i % 20 == 0 then
    error("failed on purpose")
  end
  return i
end

return function()
  local sum, failed = 0, 0
  for i = 1, 20000 do
    local ok, value = pcall(risky, i)
    if ok then
      sum = sum + value
    else
      failed = failed + 1
    end
  end
  return sum + failed
end
