-- A test component that logs its updates.
local M = {}

function M.update()
  local log = require("components.health").log
  log[#log + 1] = "log"
end

return M
