//! Tests that filtered tiles never show texels of their neighbors in the tile image, at any scale.

use super::games::RenderedGame;
use image::ImageEncoder;
use image::codecs::png::PngEncoder;

/// Returns an image of three rows of tiles with 8 by 8 texels each: all green except for a red one
/// in the second row and column.
fn picture(columns: u32) -> Vec<u8> {
    let (width, height) = (columns * 8, 24);
    let color = |x: u32, y: u32| match (x / 8, y / 8) {
        (1, 1) => [255, 0, 0, 255],
        _ => [0, 255, 0, 255],
    };
    let texels = (0..height).flat_map(|y| (0..width).flat_map(move |x| color(x, y)));
    let (texels, mut file) = (texels.collect::<Vec<u8>>(), Vec::new());
    let encoder = PngEncoder::new(&mut file);
    encoder.write_image(&texels, width, height, image::ExtendedColorType::Rgba8).unwrap();
    file
}

/// Returns a map of 8 by 6 red tiles.
fn map(columns: u32) -> String {
    let tile = columns + 2;
    let line = format!("{tile},{tile},{tile},{tile},{tile},{tile},{tile},{tile}");
    let lines = [line.as_str(); 6].join(",\n");
    let (width, count) = (columns * 8, columns * 3);
    format!(
        r#"<map version="1.10" orientation="orthogonal" width="8" height="6" tilewidth="8"
          tileheight="8" infinite="0">
         <tileset firstgid="1" name="set" tilewidth="8" tileheight="8" tilecount="{count}"
          columns="{columns}"><image source="set.png" width="{width}" height="24"/></tileset>
         <layer id="1" name="ground" width="8" height="6"><data encoding="csv">
         {lines}</data></layer>
        </map>"#
    )
}

const MAIN: &str = "
local map = Tilemap.new('map')
local world, camera, shown = Application.new_world(), Application.main_camera(), 0
World.set_sky(world, { tone_mapping = false, shown = false })
World.spawn_unit(world, 'wall', Vector3(-4, 0, -3))
Camera.set_local_position(camera, Vector3(0, -4.3, 0.1))
function render()
  shown = shown + 1
  if shown > 4 then
    Application.render_world(world, camera)
  else
    local scale = ({ 1, 1.7, 2.5, 5.3 })[shown]
    Tilemap.draw(map, Application.main_gui(), Vector3(10.4, 20.3, 0), { scale = scale })
    Application.render_world(Application.main_world())
  end
end
";

#[test]
fn tiles_do_not_bleed_into_neighbors() {
    // In the atlas of small textures, and in a separate texture.
    for columns in [3, 40] {
        let wall = "components = { map = { component = \"tilemap\" map = \"map\" \
                    pixels_per_metre = 8 } }";
        let files = [
            ("main.lua", MAIN.as_bytes().to_vec()),
            ("map.tmx", map(columns).into_bytes()),
            ("set.png", picture(columns)),
            ("wall.unit", wall.as_bytes().to_vec()),
        ];
        let Some(mut game) = RenderedGame::game("tiles", &files) else { return };
        for frame in 1..=6 {
            let shown = game.frame();
            let pixels = shown.rgba.chunks_exact(4);
            let count = |of: &dyn Fn(&[u8]) -> bool| pixels.clone().filter(|it| of(it)).count();
            let (red, green) = (count(&|it| it[0] > 200 && it[1] < 20), count(&|it| it[1] > 60));
            assert!(red > 1000 && green == 0, "{columns}, {frame}: {red} red, {green} green");
        }
    }
}

/// Draws the red tile by its texture coordinates, and as a frame of a sheet.
const PARTS: &str = "
local shown = 0
local from, to = Vector2(8 / WIDTH, 8 / 24), Vector2(16 / WIDTH, 16 / 24)
function render()
  shown = shown + 1
  local gui, scale = Application.main_gui(), ({ 8, 13.7, 20.3, 42.1 })[shown]
  local size, turn = Vector2(scale, scale), shown == 3 and 0.4 or nil
  for row = 0, 1 do
    local at = Vector3(100.4, 60.3 + row * 100, 0)
    Gui.bitmap_uv(gui, 'set', from, to, at, size, nil, turn)
    Gui.bitmap(gui, 'sheet/' .. FRAME, at + Vector3(100, 0, 0), size, nil, turn)
    Gui.bitmap_uv(gui, 'set', to, from, at + Vector3(200, 0, 0), size)
    Gui.bitmap_3d_uv(gui, 'set', from, to, Matrix4x4.identity(), at + Vector3(300, 0, 0), 0, size)
  end
  Application.render_world(Application.main_world())
end
";

#[test]
fn parts_and_frames_of_pictures_do_not_bleed_into_neighbors() {
    for columns in [3, 40] {
        let values = [("WIDTH", columns * 8), ("FRAME", columns + 2)];
        let main = values
            .iter()
            .fold(PARTS.to_string(), |text, (name, value)| text.replace(name, &value.to_string()));
        let files = [
            ("main.lua", main.into_bytes()),
            ("set.png", picture(columns)),
            ("sheet.sheet", b"image = \"set.png\" frame = [8, 8]".to_vec()),
        ];
        let Some(mut game) = RenderedGame::game("parts", &files) else { return };
        for frame in 1..=4 {
            let shown = game.frame();
            let pixels = shown.rgba.chunks_exact(4);
            let count = |of: &dyn Fn(&[u8]) -> bool| pixels.clone().filter(|it| of(it)).count();
            let (red, green) = (count(&|it| it[0] > 200 && it[1] < 20), count(&|it| it[1] > 60));
            assert!(red > 300 && green == 0, "{columns}, {frame}: {red} red, {green} green");
        }
    }
}

/// The red tile is on a layer that moves with the camera, and the green one on a layer that moves
/// half as much.
const PARALLAX: &str = r#"<map orientation="orthogonal" width="8" height="6" tilewidth="8"
    tileheight="8" parallaxoriginx="32" parallaxoriginy="24">
    <tileset firstgid="1" tilewidth="8" tileheight="8"><image source="set.png" width="24"
     height="24"/></tileset>
    <layer name="near" width="8" height="6"><data encoding="csv">0,0,0,0,0,0,0,0, 0,0,0,5,0,0,0,0,
     0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0</data></layer>
    <layer name="far" width="8" height="6" parallaxx="0.5"><data encoding="csv">0,0,0,0,0,0,0,0,
     0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0, 0,0,0,0,0,0,0,0, 0,0,0,1,0,0,0,0, 0,0,0,0,0,0,0,0</data>
    </layer></map>"#;

#[test]
fn parallax_moves_layers_of_maps_in_worlds() {
    let main = "
        local world, camera, x = Application.new_world(), Application.main_camera(), 0
        World.set_sky(world, { tone_mapping = false })
        World.spawn_unit(world, 'wall', Vector3(-4, 0, -3))
        Camera.set_projection_type(camera, 'orthographic')
        Camera.set_orthographic_view(camera, -5, 5, -3, 3)
        function render()
          Camera.set_local_position(camera, Vector3(x, -4, 0))
          Application.render_world(world, camera)
          x = 2
        end
    ";
    let wall = "components = { map = { component = \"tilemap\" map = \"map\" \
                pixels_per_metre = 8 } }";
    let files = [
        ("main.lua", main.as_bytes().to_vec()),
        ("map.tmx", PARALLAX.as_bytes().to_vec()),
        ("set.png", picture(3)),
        ("wall.unit", wall.as_bytes().to_vec()),
    ];
    let Some(mut game) = RenderedGame::game("parallax", &files) else { return };
    let mut left_ends = || {
        let shown = game.frame();
        let width = shown.width as usize;
        let first = |channel: usize| {
            let of_color = |at: &usize| {
                let texel = &shown.rgba[at * 4..][..3];
                texel[channel] > 200 && texel[1 - channel] < 60
            };
            let found = (0..shown.rgba.len() / 4).filter(of_color).map(|at| at % width);
            found.min().expect("the tile is visible") as f32
        };
        [first(0), first(1)]
    };
    let before = left_ends();
    assert!((before[0] - before[1]).abs() <= 1.0, "at the origin nothing is moved: {before:?}");
    let after = left_ends();
    let [near, far] = [before[0] - after[0], before[1] - after[1]];
    assert!(near > 20.0 && (near - 2.0 * far).abs() <= 2.0, "{before:?} {after:?}");
}
