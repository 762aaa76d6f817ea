-- One half of a circle.
return require("modules.circle_b")
