-- A game with a few objects in its world, which tools inspect, and with user settings.

local world

return {
  update = function()
    if not world then
      world = new_world()
      World.spawn_unit(world, "units/hero")
      World.spawn_unit(world, "units/physics/crate", Vector3(0, 0, 5))
      World.create_particles(world, "particles/torch")
    end
    World.update(world, 1 / 60)
    Gui.text(Application.main_gui(), "standing", nil, 20, nil, Vector3(1, 2, 3))
    Application.user_setting("suite", "volume")
    Application.set_user_setting("suite", "volume", 0.5)
    Application.save_user_settings()
  end,
}
