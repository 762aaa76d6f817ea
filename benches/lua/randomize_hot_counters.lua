-- Randomizes the hot counters of the JIT: increments each of them by 0 or 1. These counters decide
-- which branch of a loop is compiled first, and therefore how fast the loop is. Returns a function
-- that does this for a seed.

return function(seed)
  for i = 1, 256 do
    local code = "local function f() local a" .. (", a"):rep(i % 61) .. " end "
    local fn = loadstring(code .. "return f")()
    seed = (seed * 16807) % 2147483647
    if seed % 2 == 0 then
      fn()
    end
  end
end
