-- A component of the tests: writes down that it was updated.
local M = {}

function M.update()
  local log = require("components.health").log
  log[#log + 1] = "log"
end

return M
