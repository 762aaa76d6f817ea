-- Moves the counters by which the JIT finds what is hot, each by chance by one or none: which
-- branch of a loop is compiled first, and how fast the loop is then, hangs on them. Returns the
-- function that does it, given a seed.

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
