-- The shortest program that shows something: a window with one word. The command line ends it after
-- one frame (--frames 1).
function render()
  Gui.text(Application.main_gui(), "hello", nil, 12, nil, Vector3(10, 580, 1))
  Application.render_world(Application.main_world())
end
