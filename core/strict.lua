-- `require "strict"`: after it, reading a global variable that was never assigned is an error.
-- Lua itself returns nil, which hides misspelt names. The callbacks that the engine looks for may
-- be missing.

setmetatable(_G, {
  __index = function(_, name)
    error("strict: there is no global variable '" .. tostring(name) .. "'", 2)
  end,
})
