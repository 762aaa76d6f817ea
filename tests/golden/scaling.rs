//! Golden images of a game that is made for 160 x 90 units, in a window of another shape, with each
//! scaling: a Gui on the screen, a Gui in the world, and an overlay of the engine.

use super::compare;
use super::games::RenderedGame;

const MAIN: &str = r#"
local gui, world_gui, world
function init()
  world = Application.main_world()
  gui = Application.main_gui()
  local pose = Matrix4x4.from_translation(Vector3(-8, 20, -4.5))
  world_gui = World.create_world_gui(world, pose, 16, 9)
end
function update(dt) World.update(world, dt) end
function render()
  local width, height = Gui.resolution()
  Gui.rect(gui, Vector3(0, 0, 0), Vector2(width, height), Color(160, 40, 60, 110))
  for _, x in ipairs({ 0, 150 }) do
    for _, y in ipairs({ 0, 80 }) do
      Gui.rect(gui, Vector3(x, y, 1), Vector2(10, 10), Color(255, 120, 60))
    end
  end
  Gui.circle(gui, Vector3(80, 45, 1), 30, Color(120, 255, 255, 255), 2)
  Gui.rect(gui, Vector3(-40, 40, 1), Vector2(60, 4), Color(255, 255, 0))
  Gui.push_clip(gui, Vector2(70, 0), Vector2(20, 90))
  Gui.rect(gui, Vector3(0, 60, 1), Vector2(160, 6), Color(0, 255, 128))
  Gui.pop_clip(gui)
  Gui.rect(world_gui, Vector3(0, 0, 0), Vector2(16, 9), Color(200, 200, 60, 200))
  Gui.circle(world_gui, Vector3(8, 4.5, 1), 4, Color(30, 30, 60))
  if DebugUi.begin_window("Tools", { x = 8, y = 4, width = 90, height = 50 }) then
    DebugUi.text("12 px")
  end
  DebugUi.end_window()
  Application.render_world(world)
end
"#;

fn check(scaling: &str) {
    let settings = format!(
        "window = {{ width = 240, height = 200, design = [160, 90], scaling = \"{scaling}\", \
         bar_color = \"#602040\" }}\n"
    );
    let files = [("settings.sjson", settings.into_bytes()), ("main.lua", MAIN.as_bytes().to_vec())];
    let Some(mut game) = RenderedGame::game(&format!("scaling_{scaling}"), &files) else { return };
    game.frame();
    compare(&format!("scaling_{scaling}"), &game.frame());
}

#[test]
fn fitted_picture_has_bars() {
    check("fit");
}

#[test]
fn filling_picture_is_cropped() {
    check("fill");
}

#[test]
fn stretched_picture_covers_the_window() {
    check("stretch");
}

#[test]
fn whole_factors_leave_bars_on_all_sides() {
    check("integer");
}

#[test]
fn expanded_picture_has_more_units() {
    check("expand");
}
