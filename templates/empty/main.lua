-- game_template. The engine calls init() once, then update(dt) and render() in every frame.

function init()
end

function update(dt)
  World.update(Application.main_world(), dt)
end

function render()
  local gui = Application.main_gui()
  Gui.text(gui, "Hello", nil, 48, nil, Vector3(40, 40, 1))
  Application.render_world(Application.main_world())
end
