-- The script that `engine explain LEVEL --navigation` runs instead of a game. It spawns a level,
-- whose name is its argument, so that the navigation meshes are baked. The game's main.lua does not
-- run.

function init()
  World.spawn_level(Application.new_world(), Application.argv())
end

function update()
  Application.quit()
end
