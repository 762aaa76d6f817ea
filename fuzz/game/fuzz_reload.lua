-- Loads a module with the text of the case: two versions, one after the other.

local held

return {
  update = function()
    local ok, module = pcall(require, "fuzz_held")
    held = ok and module or held
    if type(held) == "table" and type(held.step) == "function" then pcall(held.step) end
  end,
}
