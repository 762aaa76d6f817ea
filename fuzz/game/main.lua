-- The game that fuzz cases are played in. Its arguments choose the script that uses each case; its
-- resources are those of tests/lua, which are copied next to it.

local chosen, argument = Application.argv()
local case = require("fuzz_" .. chosen)

local worlds = {}

-- A world that ends with the case.
function new_world()
  local world = Application.new_world()
  worlds[#worlds + 1] = world
  return world
end

-- Objects of a case are destroyed before the next case begins.
function begin_case()
  for _, world in ipairs(Application.worlds()) do
    if world ~= Application.main_world() then Application.release_world(world) end
  end
  worlds = {}
end

function update(dt)
  case.update(dt, argument)
end

function render()
  for _, world in ipairs(worlds) do
    if World.alive(world) then Application.render_world(world) end
  end
  Application.render_world(Application.main_world())
end
