-- 500 modules that are saved while the game is played: the engine reloads them automatically. When
-- a new version of a module has run, its number is printed.
local FILES = 500
local modules, newest = {}, 0

function init()
  for i = 1, FILES do modules[i] = require("mods.m" .. i) end
  print("ran 0")
end

function update()
  for i = 1, FILES do
    local told = modules[i].tell()
    if told > newest then
      newest = told
      print("ran " .. newest)
    end
  end
end

function render()
  Gui.text(Application.main_gui(), tostring(newest), nil, 12, nil, Vector3(10, 580, 1))
  Application.render_world(Application.main_world())
end
