-- The game that the manual's suites boot: it adds an enemy each second.
enemies = {}

function init()
  Timer.every(1, function() enemies[#enemies + 1] = {} end)
end
