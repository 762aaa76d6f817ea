-- 80,000 living particles of sparks.particles, moved and drawn in a Gui.
local world, sparks

function init()
  world = Application.main_world()
  sparks = Gui.create_particles(Application.main_gui(), "sparks", Vector3(400, 300, 1))
end

function update(dt) World.update(world, dt) end

function render() Application.render_world(world) end

function shutdown() print("particles " .. World.num_particles(world, sparks)) end
