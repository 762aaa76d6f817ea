-- What goes beyond the limits of functions where no extreme argument of the walk does, by their names.
local fixtures = require("fixtures")

local M = {}

return M
