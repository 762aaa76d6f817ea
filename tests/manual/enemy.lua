-- The module that the manual's suites test.
local M = {}

function M.new(health)
  return { health = health }
end

function M.hit(enemy, damage, on_death)
  local lived = enemy.health > 0
  enemy.health = enemy.health - damage
  if lived and enemy.health <= 0 and on_death then on_death() end
end

return M
