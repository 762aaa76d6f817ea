//! Tests of worlds that are rendered into textures, which Guis and materials then draw with.

use super::games::RenderedGame;
use engine::system::render::RenderedImage;

const MAIN: &str = "
local world, room = Application.new_world('no_sky'), Application.new_world('no_sky')
local camera, eye = Application.create_camera(), Application.create_camera()
local frame = 0
local gui, screen, material, box

function init()
  -- What the texture shows: a green cube before a red ground, and a Gui on the screen, which is
  -- not in it.
  Camera.set_local_position(eye, Vector3(0, -2, 0))
  local cube = World.spawn_unit(world, 'core/units/cube')
  Mesh.set_material(Unit.mesh(cube, 1), 1, Material.new('green'))
  gui = World.create_screen_gui(world, 'immediate')
  screen = Application.create_viewport('screen', 64, 64)
  Viewport.set_background(screen, Color(200, 0, 0))
  -- A cube that has the texture on its sides.
  box = World.spawn_unit(room, 'core/units/cube')
  material = Material.new('green')
  Mesh.set_material(Unit.mesh(box, 1), 1, material)
  Camera.set_local_position(camera, Vector3(0, -1.4, 0))
end

function render()
  frame = frame + 1
  if frame == 1 then
    Material.set_color(material, 'base_color', Color(255, 255, 255))
    Material.set_texture(material, 'base_color_texture', 'screen')
  elseif frame == 3 then
    Application.destroy_viewport(screen)
    screen = Application.create_viewport('screen', 32, 32)
    Viewport.set_background(screen, Color(0, 0, 250))
  end
  Gui.rect(gui, Vector3(0, 0, 1), Vector2(30, 30), Color(250, 250, 0))
  local hud = Application.main_gui()
  if frame == 2 then
    Application.render_world(room, camera)
  else
    Gui.bitmap(hud, 'screen', Vector3(10, 10, 1), Vector2(64, 64))
    Application.render_world(Application.main_world())
  end
  -- Views of textures come first, whenever they are asked for.
  Application.render_world(world, eye, screen)
end
";

fn pixel(picture: &RenderedImage, x: u32, y: u32) -> [u8; 3] {
    let at = ((99 - y) * picture.width + x) as usize * 4;
    [0, 1, 2].map(|i| picture.rgba[at + i])
}

fn is_near(found: [u8; 3], expected: [u8; 3]) -> bool {
    found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 2)
}

#[test]
fn world_texture_is_drawn_by_guis_and_meshes() {
    let files = [
        ("settings.sjson", b"window = { width = 100, height = 100 }\n".to_vec()),
        ("main.lua", MAIN.as_bytes().to_vec()),
        ("green.material", b"surface = { base_color = \"#00c800\", unlit = true }\n".to_vec()),
    ];
    let Some(mut game) = RenderedGame::game("views", &files) else { return };
    let (red, green, blue, yellow) = ([200, 0, 0], [0, 200, 0], [0, 0, 250], [250, 250, 0]);
    let first = game.frame();
    let check = |picture: &RenderedImage, x, y, expected| {
        let found = pixel(picture, x, y);
        assert!(is_near(found, expected), "{found:?} at {x}, {y}, not {expected:?}");
    };
    check(&first, 42, 42, green);
    check(&first, 12, 72, red);
    check(&first, 12, 12, red);
    assert!(!is_near(pixel(&first, 20, 20), yellow), "Guis of the screen are not in the texture");
    check(&first, 5, 5, [0, 0, 0]);
    // The cube's side fills the screen: its middle is the middle of the texture, and the pixel next
    // to it is another one.
    let second = game.frame();
    check(&second, 50, 50, green);
    check(&second, 8, 50, red);
    // Another texture with the same name.
    let third = game.frame();
    check(&third, 42, 42, green);
    check(&third, 12, 72, blue);
}
