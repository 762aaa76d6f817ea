-- The other half of a circle.
return require("modules.circle_a")
