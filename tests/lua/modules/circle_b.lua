-- The other half of an import cycle.
return require("modules.circle_a")
