-- A test component that is updated four times a second and logs its updates.
local M = { rate = 4, log = {} }

function M.update(units, dt)
  M.log[#M.log + 1] = { units = { unpack(units) }, dt = dt }
end

return M
