-- `require "strict"`: from then on reading a global variable that was never assigned is an error.
-- Lua itself answers nil, which hides misspelt names. The callbacks that the engine looks for may
-- be missing.

setmetatable(_G, {
  __index = function(_, name)
    error("strict: there is no global variable '" .. tostring(name) .. "'", 2)
  end,
})
