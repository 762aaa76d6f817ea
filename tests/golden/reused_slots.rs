//! Tests of materials whose textures are unloaded, or loaded later: they never show the texture
//! that took the slot.

use super::games::RenderedGame;
use engine::system::render::RenderedImage;

/// Returns a TGA image of one color that is too large for the shared atlas.
fn plain_texture([red, green, blue]: [u8; 3]) -> Vec<u8> {
    const SIDE: u16 = 300;
    let [low, high] = SIDE.to_le_bytes();
    let mut bytes = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, low, high, low, high, 24, 0];
    bytes.extend([blue, green, red].repeat(usize::from(SIDE) * usize::from(SIDE)));
    bytes
}

const SHADER: &str = "@group(2) @binding(1) var noise: texture_2d<f32>;
@group(2) @binding(2) var noise_sampler: sampler;
fn paint(in: Paint) -> vec4f { return textureSample(noise, noise_sampler, in.uv); }";

/// Script that draws with the material at the left, and with a separate texture at the right.
const MAIN: &str = "
local gui = Application.main_gui()
local frame, map = 0
function init()
  map = World.create_texture_gui(Application.main_world(), 'map', 300, 300, 'immediate')
end
function render()
  frame = frame + 1
  local material = Gui.material(gui, 'painted')
  if frame == 2 then Texture.unload('blue') end
  if frame == 4 then Material.set_texture(material, 'noise', 'map') end
  if frame == 6 then World.destroy_gui(Application.main_world(), map) end
  if frame >= 4 and frame < 6 then
    Gui.rect(map, Vector3(0, 0, 0), Vector2(300, 300), Color(0, 0, 255))
  end
  if frame > 2 then Gui.bitmap(gui, 'green', Vector3(160, 0, 0), Vector2(160, 180)) end
  if frame > 6 then Gui.bitmap(gui, 'other', Vector3(160, 0, 0), Vector2(160, 180)) end
  Gui.bitmap(gui, 'painted', Vector3(0, 0, 0), Vector2(160, 180))
  Application.render_world(Application.main_world())
end
";

/// Returns the amount of red, green and blue in the left half of an image, from 0 to 100 each.
fn left_color(picture: &RenderedImage) -> [u64; 3] {
    let mut sums = [0; 3];
    let mut count = 0;
    for row in picture.rgba.chunks(picture.width as usize * 4) {
        for pixel in row[..row.len() / 2].chunks(4) {
            (0..3).for_each(|part| sums[part] += u64::from(pixel[part]));
            count += 255;
        }
    }
    sums.map(|sum| sum * 100 / count)
}

#[test]
fn unloaded_texture_is_a_checkerboard_in_materials() {
    let settings = "name = \"Golden\" window = { width = 320, height = 180 }";
    let files = [
        ("settings.sjson", settings.as_bytes().to_vec()),
        ("main.lua", MAIN.as_bytes().to_vec()),
        ("painted.wgsl", SHADER.as_bytes().to_vec()),
        ("painted.material", b"shader = \"painted\"\ntextures = { noise = \"blue\" }".to_vec()),
        ("blue.tga", plain_texture([0, 0, 255])),
        ("green.tga", plain_texture([0, 255, 0])),
        ("other.tga", plain_texture([0, 255, 0])),
    ];
    let Some(mut game) = RenderedGame::game("slots", &files) else { return };
    let blue = [0, 0, 100];
    assert_eq!(left_color(&game.frame()), blue);
    let checkerboard = left_color(&game.frame());
    assert!(checkerboard != blue && checkerboard != [0, 100, 0], "{checkerboard:?}");
    assert_eq!(left_color(&game.frame()), checkerboard, "green has its slot now");
    assert_eq!(left_color(&game.frame()), blue, "of what is drawn into");
    assert_eq!(left_color(&game.frame()), blue);
    assert_eq!(left_color(&game.frame()), checkerboard, "the Gui that drew into it has ended");
    assert_eq!(left_color(&game.frame()), checkerboard, "another has its slot");
}
