//! Tests of images on screen whose textures move, are unloaded and loaded again, and of materials
//! that end.

use super::games::RenderedGame;
use engine::system::render::RenderedImage;

/// Returns a TGA image of one color. Its bytes are in the order blue, green, red.
fn tga(side: u8, color: [u8; 3]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, side, 0, side, 0, 24, 0];
    for _ in 0..u32::from(side) * u32::from(side) {
        bytes.extend([color[2], color[1], color[0]]);
    }
    bytes
}

const RED: [u8; 3] = [250, 20, 30];
const GREEN: [u8; 3] = [20, 240, 60];
const BLUE: [u8; 3] = [40, 60, 230];

/// Opens a game whose retained Gui shows a red image at 20, 20 and a blue one at 120, 20, both 64
/// by 64. In each frame the game runs one of the functions in `steps`.
fn game(name: &str, steps: &str) -> Option<RenderedGame> {
    let main = format!(
        "{GAME_PRELUDE}
local steps = {{ {steps} }}
local frame = 0
function update()
  frame = frame + 1
  if steps[frame] then steps[frame]() end
end
"
    );
    let settings = b"window = { width = 220, height = 100 }\n".to_vec();
    let files = [
        ("settings.sjson", settings),
        ("main.lua", main.into_bytes()),
        ("red.tga", tga(16, RED)),
        ("blue.tga", tga(16, BLUE)),
        ("green.tga", tga(16, GREEN)),
        ("tinted.material", b"texture = \"red\"\n".to_vec()),
        ("lost.material", b"texture = \"nowhere\"\n".to_vec()),
    ];
    RenderedGame::game(name, &files)
}

const GAME_PRELUDE: &str = "
local world = Application.main_world()
local hud = World.create_screen_gui(world)
local size, there, beside = Vector2(64, 64), Vector3(20, 20, 1), Vector3(120, 20, 1)
";

fn pixel(picture: &RenderedImage, x: u32, y: u32) -> [u8; 3] {
    let at = ((99 - y) * picture.width + x) as usize * 4;
    [0, 1, 2].map(|i| picture.rgba[at + i])
}

/// Returns the pixels in the middle of the left image and of the right one.
fn middle_pixels(picture: &RenderedImage) -> [[u8; 3]; 2] {
    [pixel(picture, 52, 52), pixel(picture, 152, 52)]
}

#[test]
fn retained_object_follows_its_reloaded_texture() {
    let steps = "
function() Gui.bitmap(hud, 'red', there, size) Gui.bitmap(hud, 'blue', beside, size) end,
function() Texture.unload('red') Texture.load('green') end,
function() Texture.load('red') end,
function() Gui.bitmap(hud, 'green', beside, size) end,
function() Texture.unload('red') Texture.unload('green') Texture.load('red') end,
";
    let Some(mut game) = game("moves", steps) else { return };
    assert_eq!(middle_pixels(&game.frame()), [RED, BLUE]);
    // The green image takes the slot of the red one, which is now drawn as a checkerboard.
    let [left, right] = middle_pixels(&game.frame());
    assert!(left != RED && left != GREEN && right == BLUE, "{left:?} {right:?}");
    assert_eq!(middle_pixels(&game.frame()), [RED, BLUE]);
    assert_eq!(middle_pixels(&game.frame()), [RED, GREEN]);
    let [left, right] = middle_pixels(&game.frame());
    assert!(left == RED && right != GREEN && right != RED, "{left:?} {right:?}");
}

#[test]
fn retained_object_of_destroyed_material_is_white() {
    let steps = "
function()
  for i = 1, 100 do
    local material = Material.new('tinted')
    objects = objects or Gui.bitmap(hud, material, there, size)
    Gui.destroy_bitmap(hud, Gui.bitmap(hud, material, beside, size))
    Gui.destroy_text(hud, Gui.text(hud, 'a', nil, 20, material, beside))
    Material.destroy(material)
  end
  last = Material.new('tinted')
  Gui.bitmap(hud, last, beside, size)
end,
function() Material.set_texture(last, 'texture', 'green') end,
";
    let Some(mut game) = game("materials", steps) else { return };
    let before = game.sources();
    assert_eq!(middle_pixels(&game.frame()), [[255; 3], RED]);
    assert_eq!(middle_pixels(&game.frame()), [[255; 3], GREEN]);
    assert_eq!(game.sources(), before + 1);
}

#[test]
fn new_material_replaces_texture_of_the_same_name() {
    let steps = "function() Gui.bitmap(hud, 'red', there, size) end,
        function() end, function() Gui.bitmap(hud, 'red', beside, size) end,";
    let Some(mut game) = game("names", steps) else { return };
    let [left, empty] = middle_pixels(&game.frame());
    assert_eq!(left, RED);
    game.save("red.material", b"texture = \"green\"\n");
    assert_eq!(middle_pixels(&game.frame()), [GREEN, empty]);
    assert_eq!(middle_pixels(&game.frame()), [GREEN, GREEN]);
}

#[test]
fn material_shows_its_texture_while_loaded() {
    let steps = "
function()
  local drawn, words = pcall(Gui.bitmap, hud, 'lost', there, size)
  assert(not drawn and words:find(\"the material 'lost': there is no texture 'nowhere'\", 1, true))
  Gui.bitmap(hud, 'tinted', there, size)
end,
function() Texture.unload('red') Texture.load('green') end,
function() Texture.load('red') end,
";
    let Some(mut game) = game("tinted", steps) else { return };
    let [left, _] = middle_pixels(&game.frame());
    assert_eq!(left, RED);
    let [left, _] = middle_pixels(&game.frame());
    assert!(left != RED && left != GREEN, "{left:?}");
    let [left, _] = middle_pixels(&game.frame());
    assert_eq!(left, RED);
}
