//! Measured pixels of normals that belong to pictures: of sprites, of frames of
//! sheets, of tiles and of skeletons, turned and mirrored, around a lamp.

use super::compare;
use super::flat_lights::{settings, texture, unit};
use super::games::RenderedGame;
use engine::system::render::RenderedImage;

/// Scene with spheres painted onto sprites, tiles and parts of a skeleton, around a lamp.
const SCENE: &str = r#"
local world
local function sprite(x, y, degrees)
  local turn = Quaternion.axis_angle(Vector3(0, 0, 1), math.rad(degrees or 0))
  return Unit.sprite(World.spawn_unit(world, "ball", Vector3(x, y, 0), turn), 1)
end
function init()
  world = Application.new_world("2d")
  local night = Vector3(0.03, 0.035, 0.06)
  World.set_sky(world, { top = night, horizon = night, ground = night, tone_mapping = false })
  local lamp = Unit.light(World.spawn_unit(world, "core/units/light"), 1)
  Light.set_flat(lamp, true)
  Light.set_intensity(lamp, 1.4)
  Light.set_falloff_end(lamp, 6)
  World.spawn_unit(world, "tiles", Vector3(-3, 0.5, 0))
  sprite(-1.5, -0.3)
  sprite(-0.75, -0.5, 140)
  Sprite.set_flip(sprite(0.75, -0.5), true, false)
  Sprite.set_flip(sprite(1.5, -0.3), true, true)
  for i = 0, 3 do
    local frame = sprite(0.5 + 0.6 * i, 1)
    Sprite.set_sheet(frame, "balls")
    Sprite.set_speed(frame, 0.1 + i)
    Sprite.set_flip(frame, i == 1, i == 2)
  end
  World.spawn_unit(world, "chain", Vector3(-1.8, -1.2, 0))
end
function update(dt) World.update(world, dt) end
function render() Application.render_world(world) end
"#;

/// A map of tiles with all combinations of flips.
const MAP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<map version="1.10" orientation="orthogonal" renderorder="right-down" width="4" height="2"
 tilewidth="32" tileheight="32" infinite="0">
 <tileset firstgid="1" name="balls" tilewidth="32" tileheight="32" tilecount="1" columns="1">
  <image source="ball.tga" width="32" height="32"/>
 </tileset>
 <layer id="1" name="ground" width="4" height="2">
  <data encoding="csv">1,2147483649,1073741825,3221225473,
536870913,2684354561,1610612737,3758096385</data>
 </layer>
</map>"#;

/// Parts at turned and mirrored bones, and one that bones bend.
const SKELETON: &str = r#"
pixels_per_metre = 64
bones = {
  body = { position = [0, 0] rotation = 30 }
  side = { parent = "body" position = [40, -23] rotation = 60 }
  last = { parent = "side" position = [0, -90] rotation = 45 }
}
slots = {
  body = { texture = "ball" }
  side = { texture = "balls/2" size = [32, 32] rotation = 120 scale = [-1, 1] }
  mirrored = { bone = "side" texture = "ball" position = [0, -40] scale = [1, -1] }
  bent = {
    bone = "last" texture = "ball" size = [32, 32] rotation = 200 scale = [-1, 1]
    mesh = { grid = [4, 4] bones = ["side" "last"] }
  }
  listed = {
    bone = "last" texture = "ball"
    mesh = {
      vertices = [ [30 -46 1 1] [62 -46 1 0] [62 -14 0 0] [30 -14 0 1] ]
      triangles = [ [1 2 3] [1 3 4] ]
      weights = [ { last = 1 } { last = 1 } { last = 1 } { last = 1 } ]
    }
  }
}
"#;

/// Returns the normal of a sphere in the middle of a square, as a normal texture has it.
fn sphere(x: f32, y: f32) -> [f32; 4] {
    // Green points up.
    let (x, y) = ((x - 0.5) * 2.1, (0.5 - y) * 2.1);
    let square = x * x + y * y;
    if square >= 1.0 {
        return [0.5, 0.5, 1.0, 1.0];
    }
    [x * 0.5 + 0.5, y * 0.5 + 0.5, (1.0 - square).sqrt() * 0.5 + 0.5, 1.0]
}

fn disc(x: f32, y: f32) -> f32 {
    if (x - 0.5).hypot(y - 0.5) < 0.476 { 1.0 } else { 0.0 }
}

/// Returns the position within a quarter of a square, and the number of the quarter.
fn quarter(x: f32, y: f32) -> (f32, f32, usize) {
    let number = (x * 2.0) as usize + 2 * (y * 2.0) as usize;
    ((x * 2.0).fract(), (y * 2.0).fract(), number)
}

/// Returns the mean brightness around a point, in metres from the middle of the picture.
fn brightness(picture: &RenderedImage, x: f32, y: f32) -> f32 {
    let (column, row) = ((320.0 + x * 100.0) as u32, (180.0 - y * 100.0) as u32);
    let pixel = |index: u32| {
        let at = ((row + index / 3 - 1) * picture.width + column + index % 3 - 1) as usize * 4;
        picture.rgba[at..at + 3].iter().map(|part| f32::from(*part)).sum::<f32>()
    };
    (0..9).map(pixel).sum::<f32>() / 9.0
}

#[test]
fn normals_of_pictures_face_the_lamp_however_they_are_turned() {
    let colors = [[0.9, 0.5, 0.4], [0.5, 0.9, 0.4], [0.4, 0.6, 0.9], [0.9, 0.8, 0.4]];
    let ball = |x, y| [0.8, 0.8, 0.85, 1.0].map(|part| part * disc(x, y));
    let balls = |x, y| {
        let (x, y, number) = quarter(x, y);
        let [red, green, blue] = colors[number];
        [red, green, blue, 1.0].map(|part| part * disc(x, y))
    };
    let normals = |x, y| {
        let (x, y, _) = quarter(x, y);
        sphere(x, y)
    };
    let sprite =
        "a = { component = \"sprite\" texture = \"ball\" lit = true pixels_per_metre = 64 }";
    let tiles = "a = { component = \"tilemap\" map = \"tiles\" lit = true pixels_per_metre = 64 }";
    let sheet = "image = \"balls.tga\" frame = [32, 32] normal_image = \"balls_n.tga\"";
    let chain = "model = \"bones\" components = { skeleton = { lit = true } }";
    let files = [
        ("settings.sjson", settings(640, 360)),
        ("main.lua", SCENE.as_bytes().to_vec()),
        ("ball.tga", texture(32, ball)),
        ("ball_n.tga", texture(64, sphere)),
        ("ball.texture", b"normal_image = \"ball_n.tga\"".to_vec()),
        ("balls.tga", texture(64, balls)),
        ("balls_n.tga", texture(64, normals)),
        ("balls.sheet", sheet.as_bytes().to_vec()),
        ("ball.unit", unit(sprite)),
        ("tiles.tmx", MAP.as_bytes().to_vec()),
        ("tiles.unit", unit(tiles)),
        ("bones.skeleton", SKELETON.as_bytes().to_vec()),
        ("chain.unit", chain.as_bytes().to_vec()),
    ];
    let Some(mut game) = RenderedGame::game("sprite_normals", &files) else { return };
    for _ in 0..9 {
        game.frame();
    }
    let picture = game.frame();
    let tiles =
        (0..8).map(|cell| (-2.75 + 0.5 * (cell % 4) as f32, 1.25 - 0.5 * (cell / 4) as f32));
    let sprites = [(-1.5, -0.3), (-0.75, -0.5), (0.75, -0.5), (1.5, -0.3)];
    let frames = (0..4).map(|frame| (0.5 + 0.6 * frame as f32, 1.0));
    let parts = [(-1.8, -1.2), (-1.08, -1.2), (-0.45, -1.2)];
    for (x, y) in tiles.chain(sprites).chain(frames).chain(parts) {
        let length = f32::hypot(x, y);
        let (across, up) = (-x / length * 0.15, -y / length * 0.15);
        let towards = brightness(&picture, x + across, y + up);
        let away = brightness(&picture, x - across, y - up);
        let [left, right] =
            [1.0, -1.0].map(|side| brightness(&picture, x - up * side, y + across * side));
        assert!(towards > 1.5 * away, "{x}, {y}: {towards} towards the lamp, {away} away from it");
        let middle = (towards + away) * 0.5;
        assert!((left - right).abs() < 0.15 * middle, "{x}, {y}: {left} and {right} at its sides");
    }
    compare("sprite_normals", &picture);
}
