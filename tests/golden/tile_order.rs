//! Tests of overlapping tiles with large textures, which cannot share a draw call: each is drawn
//! over the tiles before it, in Guis and in worlds.

use super::games::RenderedGame;
use engine::system::render::RenderedImage;
use image::ImageEncoder;
use image::codecs::png::PngEncoder;

/// Returns an image of one color that is too large for the shared atlas.
fn picture(color: [u8; 4]) -> Vec<u8> {
    let (texels, mut file) = (color.repeat(300 * 300), Vec::new());
    let encoder = PngEncoder::new(&mut file);
    encoder.write_image(&texels, 300, 300, image::ExtendedColorType::Rgba8).unwrap();
    file
}

/// A picture below the tiles, and a red, a green and a red tile that are much wider than their
/// cells.
const MAP: &str = "<map orientation=\"orthogonal\" width=\"3\" height=\"1\" tilewidth=\"32\" \
    tileheight=\"32\"><tileset firstgid=\"1\" tilewidth=\"300\" tileheight=\"300\"><tile id=\"0\">\
    <image source=\"red.png\" width=\"300\" height=\"300\"/></tile><tile id=\"1\"><image \
    source=\"green.png\" width=\"300\" height=\"300\"/></tile></tileset>\
    <imagelayer name=\"sky\" offsetx=\"-32\" offsety=\"-268\"><image source=\"green.png\" \
    width=\"300\" height=\"300\"/></imagelayer><layer name=\"tiles\" width=\"3\" height=\"1\">\
    <data encoding=\"csv\">1,2,1</data></layer></map>";

const MAIN: &str = "
local map = Tilemap.new('map')
local world, camera, shown = Application.new_world(), Application.main_camera(), 0
World.set_sky(world, { tone_mapping = false })
World.spawn_unit(world, 'wall', Vector3(-2.8, 0, -2.3))
Camera.set_local_position(camera, Vector3(0, -9, 0))
function render()
  shown = shown + 1
  if shown > 1 then
    Application.render_world(world, camera)
  else
    Tilemap.draw(map, Application.main_gui(), Vector3(100, 100, 0))
    Application.render_world(Application.main_world())
  end
end
";

/// Returns the colors along the row of pixels in the middle, without repetitions: 'r' and 'g'.
fn colors(shown: &RenderedImage) -> String {
    let start = (shown.height / 2 * shown.width * 4) as usize;
    let row = shown.rgba[start..start + shown.width as usize * 4].chunks_exact(4);
    let name = |pixel: &[u8]| match pixel {
        [200..=255, 0..60, 0..60, _] => Some('r'),
        [0..60, 200..=255, 0..60, _] => Some('g'),
        _ => None,
    };
    let mut found: Vec<char> = row.filter_map(name).collect();
    found.dedup();
    found.into_iter().collect()
}

#[test]
fn overlapping_tiles_of_large_textures_keep_their_order() {
    let wall = "components = { map = { component = \"tilemap\" map = \"map\" pixels_per_metre = 64 \
                } }";
    let files = [
        ("settings.sjson", b"window = { width = 640, height = 360 }".to_vec()),
        ("main.lua", MAIN.as_bytes().to_vec()),
        ("map.tmx", MAP.as_bytes().to_vec()),
        ("red.png", picture([255, 0, 0, 255])),
        ("green.png", picture([0, 255, 0, 255])),
        ("wall.unit", wall.as_bytes().to_vec()),
    ];
    let Some(mut game) = RenderedGame::game("tile_order", &files) else { return };
    assert_eq!(colors(&game.frame()), "grgr", "in a Gui");
    for _ in 0..4 {
        game.frame();
    }
    assert_eq!(colors(&game.frame()), "grgr", "in a world");
}
