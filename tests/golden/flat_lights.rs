//! Golden picture and measured pixels of flat lights, light occluders and normal textures of
//! sprites in 2D worlds, and of palettes.

use super::compare;
use super::games::RenderedGame;
use engine::system::render::RenderedImage;

/// Returns a TGA image whose texels are those of a function of the position, from 0 to 1, with y
/// downwards.
pub fn texture(side: u16, of: impl Fn(f32, f32) -> [f32; 4]) -> Vec<u8> {
    let [low, high] = side.to_le_bytes();
    // The first row is the top one.
    let mut bytes = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, low, high, low, high, 32, 0x28];
    let at = |index: u16| (f32::from(index) + 0.5) / f32::from(side);
    for y in 0..side {
        for x in 0..side {
            let [red, green, blue, alpha] = of(at(x), at(y)).map(|it| (it * 255.0).round() as u8);
            bytes.extend([blue, green, red, alpha]);
        }
    }
    bytes
}

/// Returns the height of stones in rows, from 0 at their edges to 1, and a number of the stone.
fn stones(x: f32, y: f32) -> (f32, f32) {
    let row = (y * 6.0).floor();
    let along = x * 4.0 + if row % 2.0 == 0.0 { 0.0 } else { 0.5 };
    let (u, v) = (along.fract() - 0.5, (y * 6.0).fract() - 0.5);
    let edge = (u.abs() * 1.0).max(v.abs() - 0.03);
    let height = ((0.47 - edge) * 9.0).clamp(0.0, 1.0);
    (height * height * (3.0 - 2.0 * height), (along.floor() % 4.0 * 5.0 + row * 3.0) % 7.0)
}

/// Returns the normal of the stones, as a normal texture has it.
fn stone_normal(x: f32, y: f32) -> [f32; 4] {
    let step = 1.0 / 256.0;
    let slope_x = stones(x + step, y).0 - stones(x - step, y).0;
    let slope_y = stones(x, y + step).0 - stones(x, y - step).0;
    // Green points up.
    let (x, y) = (-slope_x * 1.5, slope_y * 1.5);
    let length = (x * x + y * y + 1.0).sqrt();
    [x / length * 0.5 + 0.5, y / length * 0.5 + 0.5, 0.5 / length + 0.5, 1.0]
}

/// Scene with stones, crates and pillars, a warm lamp and a blue cone of light.
const SCENE: &str = r#"
local world
function init()
  world = Application.new_world("2d")
  local night = Vector3(0.03, 0.035, 0.06)
  World.set_sky(world, { top = night, horizon = night, ground = night, tone_mapping = false })
  for x = -1, 1, 2 do World.spawn_unit(world, "floor", Vector3(2 * x, 0, 0)) end
  for _, at in ipairs { { -1.1, 0.7 }, { 0.9, -0.9 }, { 0.2, 1.2 } } do
    World.spawn_unit(world, "crate", Vector3(at[1], at[2], 0),
      Quaternion.axis_angle(Vector3(0, 0, 1), at[1]))
  end
  for x = -2, 2 do World.spawn_unit(world, "pillar", Vector3(x * 1.2, -0.2, 0)) end
  local wall = Unit.light_occluder(World.spawn_unit(world, "core/units/light_occluder"), 1)
  LightOccluder.set_line(wall, { Vector2(1.7, 1.3), Vector2(1.8, 0.9) })
  World.spawn_unit(world, "lamp", Vector3(-0.5, -0.7, 0))
  World.spawn_unit(world, "torch", Vector3(2.9, 1.5, 0),
    Quaternion.axis_angle(Vector3(0, 0, 1), math.rad(120)))
end
function render() Application.render_world(world) end
"#;

pub fn unit(components: &str) -> Vec<u8> {
    format!("components = {{ {components} }}").into_bytes()
}

pub fn settings(width: u32, height: u32) -> Vec<u8> {
    format!("name = \"Golden\" window = {{ width = {width}, height = {height} }}").into_bytes()
}

#[test]
fn lamps_and_shadows_on_stones_with_a_normal_texture() {
    let crate_of = |x: f32, y: f32| {
        let is_board = (x - 0.5).abs().max((y - 0.5).abs()) > 0.38 || (x - y).abs() < 0.1;
        if is_board { [0.62, 0.42, 0.22, 1.0] } else { [0.48, 0.31, 0.16, 1.0] }
    };
    let stone = |x, y| {
        let (height, number) = stones(x, y);
        let bright = (0.2 + 0.4 * height) * (0.85 + 0.04 * number);
        [bright, bright * 0.97, bright * 0.92, 1.0]
    };
    let disc = |x: f32, y: f32| {
        let is_inside = (x - 0.5).hypot(y - 0.5) < 0.5;
        if is_inside { [0.75, 0.75, 0.8, 1.0] } else { [0.0; 4] }
    };
    let sprite = |texture: &str, more: &str| {
        format!(
            "picture = {{ component = \"sprite\" texture = \"{texture}\" lit = true \
             pixels_per_metre = 64 {more} }} "
        )
    };
    let occluder = |more: &str| format!("wall = {{ component = \"light_occluder\" {more} }}");
    let light =
        |more: &str| unit(&format!("light = {{ component = \"light\" flat = true {more} }}"));
    let floor = sprite("stones", "normal_texture = \"stones_n\" layer = -5");
    let files = [
        ("settings.sjson", settings(640, 360)),
        ("main.lua", SCENE.as_bytes().to_vec()),
        ("stones.tga", texture(256, stone)),
        ("stones_n.tga", texture(256, stone_normal)),
        ("stones_n.texture", b"data = true".to_vec()),
        ("crate.tga", texture(32, crate_of)),
        ("disc.tga", texture(32, disc)),
        ("floor.unit", unit(&floor)),
        ("crate.unit", unit(&(sprite("crate", "") + &occluder("size = [0.5, 0.5]")))),
        (
            "pillar.unit",
            unit(
                &(sprite("disc", "size = [0.3, 0.3]")
                    + &occluder("shape = \"circle\" radius = 0.15")),
            ),
        ),
        (
            "lamp.unit",
            light("color = \"#ffb060\" intensity = 1.6 falloff_end = 3.6 casts_shadows = true"),
        ),
        (
            "torch.unit",
            light(
                "type = \"spot\" color = \"#6090ff\" intensity = 2 falloff_end = 5 casts_shadows \
                 = true spot_angle_start = 12 spot_angle_end = 32",
            ),
        ),
    ];
    let Some(mut game) = RenderedGame::game("flat_lights", &files) else { return };
    for _ in 0..3 {
        game.frame();
    }
    compare("flat_lights", &game.frame());
}

/// Script that draws a white floor with a lamp at -1, 0 and a box at 0, 0, and changes them.
const MEASURED: &str = r#"
local world, lamp, box, floor, frame = nil, nil, nil, nil, 0
function init()
  world = Application.new_world("2d")
  local none = Vector3(0, 0, 0)
  World.set_sky(world, { top = none, horizon = none, ground = none, tone_mapping = false })
  floor = Unit.sprite(World.spawn_unit(world, "floor"), 1)
  World.spawn_unit(world, "unlit", Vector3(1.5, -0.8, 0))
  lamp = Unit.light(World.spawn_unit(world, "core/units/light", Vector3(-1, 0, 0)), 1)
  Light.set_intensity(lamp, 1)
  Light.set_falloff_end(lamp, 3)
  Light.set_flat(lamp, true)
  Light.set_casts_shadows(lamp, true)
  local unit = World.spawn_unit(world, "core/units/light_occluder")
  box = Unit.light_occluder(unit, 1)
  LightOccluder.set_box(box, Vector2(0.5, 0.5))
end
function render()
  frame = frame + 1
  if frame == 3 then LightOccluder.set_enabled(box, false) end
  if frame == 5 then
    LightOccluder.set_enabled(box, true)
    Unit.set_local_scale(LightOccluder.unit(box), 1, Vector3(-1, 1, 1))
  end
  if frame == 7 then
    World.destroy_unit(world, LightOccluder.unit(box))
    Sprite.set_normal_texture(floor, "right")
  end
  if frame == 9 then Light.set_enabled(lamp, false) end
  Application.render_world(world)
end
"#;

/// Returns the brightness of a white surface at metres from the middle of the picture, as linear
/// light.
fn light_at(picture: &RenderedImage, x: f32, y: f32) -> f32 {
    let (column, row) = ((160.0 + x * 100.0) as u32, (90.0 - y * 100.0) as u32);
    let at = ((row * picture.width + column) * 4) as usize;
    let encoded = f32::from(picture.rgba[at]) / 255.0;
    if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}

/// The light of the lamp at a distance, without shadows.
fn lamp_light(metres: f32) -> f32 {
    (1.0 - (metres / 3.0).powi(4)).powi(2)
}

fn is_near(shown: f32, wanted: f32) -> bool {
    (shown - wanted).abs() < 0.012
}

#[test]
fn flat_light_fades_and_is_shadowed_by_occluders() {
    let white = |_, _| [1.0; 4];
    let files = [
        ("settings.sjson", settings(320, 180)),
        ("main.lua", MEASURED.as_bytes().to_vec()),
        ("white.tga", texture(8, white)),
        // Slopes that face to the right, at 45 degrees.
        ("right.tga", texture(8, |_, _| [0.853_553_4, 0.5, 0.853_553_4, 1.0])),
        ("right.texture", b"data = true".to_vec()),
        (
            "floor.unit",
            unit("a = { component = \"sprite\" texture = \"white\" lit = true size = [4, 2] }"),
        ),
        (
            "unlit.unit",
            unit("a = { component = \"sprite\" texture = \"white\" size = [0.1, 0.1] layer = 1 }"),
        ),
    ];
    let Some(mut game) = RenderedGame::game("measured", &files) else { return };
    let mut frames = |count: usize| (0..count).map(|_| game.frame()).last().expect("there is one");
    let (behind, next_to, inside) = ((0.8, 0.0), (0.4, 0.8), (0.0, 0.0));
    let distance = |(x, y): (f32, f32)| (x + 1.0).hypot(y);
    let free = |picture: &RenderedImage, at: (f32, f32)| {
        let (shown, wanted) = (light_at(picture, at.0, at.1), lamp_light(distance(at)));
        assert!(is_near(shown, wanted), "{at:?}: {shown}, not {wanted}");
    };
    let shadowed = frames(2);
    free(&shadowed, (-1.0, 0.0));
    free(&shadowed, next_to);
    free(&shadowed, inside);
    assert_eq!(light_at(&shadowed, behind.0, behind.1), 0.0);
    let open = frames(2);
    [behind, next_to, inside].into_iter().for_each(|at| free(&open, at));
    let mirrored = frames(2);
    free(&mirrored, inside);
    assert_eq!(light_at(&mirrored, behind.0, behind.1), 0.0);
    // The lamp is a metre high: on its left, slopes to the right face it.
    let sloped = frames(2);
    for x in [-1.5f32, -1.2, -0.5, 0.2] {
        let way = [-1.0 - x, 0.0, 1.0];
        let facing = (way[0] + way[2]) * 0.5f32.sqrt() / (way[0] * way[0] + 1.0).sqrt();
        let wanted = lamp_light((x + 1.0).abs()) * facing.clamp(0.0, 1.0);
        let shown = light_at(&sloped, x, 0.0);
        assert!(is_near(shown, wanted), "{x}: {shown}, not {wanted}");
    }
    let dark = frames(2);
    assert_eq!(light_at(&dark, -1.0, 0.0), 0.0);
    for picture in [shadowed, open, mirrored, sloped, dark] {
        assert_eq!(light_at(&picture, 1.5, -0.8), 1.0, "no light affects a sprite that is not lit");
    }
}

/// Script that draws a white floor with a lamp at -1, 0 and a triangle, one side of which is nearly
/// parallel to the light.
const GRAZED: &str = r#"
local world
function init()
  world = Application.new_world("2d")
  local none = Vector3(0, 0, 0)
  World.set_sky(world, { top = none, horizon = none, ground = none, tone_mapping = false })
  World.spawn_unit(world, "floor")
  local lamp = Unit.light(World.spawn_unit(world, "core/units/light", Vector3(-1, 0, 0)), 1)
  Light.set_intensity(lamp, 1)
  Light.set_falloff_end(lamp, 3)
  Light.set_flat(lamp, true)
  Light.set_casts_shadows(lamp, true)
  local wall = Unit.light_occluder(World.spawn_unit(world, "core/units/light_occluder"), 1)
  LightOccluder.set_polygon(wall, { Vector2(0, 0.2), Vector2(0.6, -0.4), Vector2(1, 0.25) })
end
function render() Application.render_world(world) end
"#;

#[test]
fn shadows_begin_along_walls_that_the_light_grazes() {
    let shadows = b"name = \"Golden\" window = { width = 320, height = 180 } \
                    render = { shadow_texels = 1024 }";
    let files = [
        ("settings.sjson", shadows.to_vec()),
        ("main.lua", GRAZED.as_bytes().to_vec()),
        ("white.tga", texture(8, |_, _| [1.0; 4])),
        (
            "floor.unit",
            unit("a = { component = \"sprite\" texture = \"white\" lit = true size = [4, 2] }"),
        ),
    ];
    let Some(mut game) = RenderedGame::game("grazed", &files) else { return };
    game.frame();
    let picture = game.frame();
    // The shadow map has 256 texels over the 2 metres at a metre ahead of the lamp, and the filter
    // is three texels wide.
    for step in 0..20 {
        let x = 0.72 + step as f32 * 0.01;
        let filter = 1.5 * (x + 1.0) * 2.0 / 256.0;
        for offset in [-0.04, -0.02, -0.01, 0.0, 0.01, 0.02, 0.04] {
            let row = (90.0 - (0.2 + 0.05 * x + offset) * 100.0).floor();
            let at = [((x * 100.0).floor() + 0.5) / 100.0, (89.5 - row) / 100.0];
            let outside = (at[1] - (0.2 + 0.05 * at[0])) / 1.0f32.hypot(0.05);
            let wanted = (0.5 - outside / (2.0 * filter)).clamp(0.0, 1.0);
            let free = lamp_light((at[0] + 1.0).hypot(at[1]));
            let shown = light_at(&picture, at[0], at[1]) / free;
            assert!((shown - wanted).abs() < 0.2, "{at:?}, {offset}: {shown}, not {wanted}");
        }
    }
}

/// Script that draws a white square of a mesh, with the normal of its surface in other roundings,
/// under a flat light at -1, 0.
const ROUNDED: &str = r#"
local world
function init()
  world = Application.new_world("2d")
  local none = Vector3(0, 0, 0)
  World.set_sky(world, { top = none, horizon = none, ground = none, tone_mapping = false })
  local unit = World.spawn_unit(world, "core/units/plane")
  Unit.set_local_scale(unit, 1, Vector3(4, 2, 1))
  Mesh.set_material(Unit.mesh(unit, 1), 1, Material.new("rounded"))
  local lamp = Unit.light(World.spawn_unit(world, "core/units/light", Vector3(-1, 0, 0)), 1)
  Light.set_intensity(lamp, 1)
  Light.set_falloff_end(lamp, 3)
  Light.set_flat(lamp, true)
end
function render() Application.render_world(world) end
"#;

#[test]
fn a_normal_with_other_roundings_is_no_slope() {
    let shader = "fn surface(in: SurfaceIn) -> SurfaceOut {
    var out = in.base;
    out.normal = normalize(in.normal + vec3f(0.00001, -0.00002, 0.3));
    return out;
}
";
    let material = "shader = \"rounded\" surface = { base_color = \"#ffffff\" roughness = 1 }";
    let files = [
        ("settings.sjson", settings(320, 180)),
        ("main.lua", ROUNDED.as_bytes().to_vec()),
        ("rounded.wgsl", shader.as_bytes().to_vec()),
        ("rounded.material", material.as_bytes().to_vec()),
    ];
    let Some(mut game) = RenderedGame::game("rounded", &files) else { return };
    game.frame();
    let picture = game.frame();
    for x in [-1.5f32, -0.5, 0.0, 0.5, 1.0] {
        let (shown, wanted) = (light_at(&picture, x, 0.0), lamp_light((x + 1.0).abs()));
        assert!(is_near(shown, wanted), "{x}: {shown}, not {wanted}");
    }
}

/// Script that draws a white floor with a lamp at -1, 0 and a map of one solid tile at 0, 0, which
/// it removes and sets again.
const TILES: &str = r#"
local world, map, frame = nil, nil, 0
function init()
  world = Application.new_world("2d")
  local none = Vector3(0, 0, 0)
  World.set_sky(world, { top = none, horizon = none, ground = none, tone_mapping = false })
  World.spawn_unit(world, "floor")
  local lamp = Unit.light(World.spawn_unit(world, "core/units/light", Vector3(-1, 0, 0)), 1)
  Light.set_intensity(lamp, 1)
  Light.set_falloff_end(lamp, 3)
  Light.set_flat(lamp, true)
  Light.set_casts_shadows(lamp, true)
  map = Unit.tilemap(World.spawn_unit(world, "rock", Vector3(-0.25, -0.25, 0)), 1)
end
function render()
  frame = frame + 1
  if frame == 3 then Tilemap.set_tile(map, "ground", 1, 1, 0) end
  if frame == 5 then Tilemap.set_tile(map, "ground", 1, 1, 1) end
  Application.render_world(world)
end
"#;

#[test]
fn solid_tiles_cast_shadows_of_flat_lights() {
    let map = r#"<?xml version="1.0" encoding="UTF-8"?>
<map version="1.10" orientation="orthogonal" renderorder="right-down" width="1" height="1"
 tilewidth="8" tileheight="8" infinite="0">
 <tileset firstgid="1" name="rock" tilewidth="8" tileheight="8" tilecount="1" columns="1">
  <image source="clear.tga" width="8" height="8"/>
  <tile id="0"><properties><property name="solid" type="bool" value="true"/></properties></tile>
 </tileset>
 <layer id="1" name="ground" width="1" height="1">
  <data encoding="csv">1</data>
 </layer>
</map>"#;
    let rock = "a = { component = \"tilemap\" map = \"rock\" pixels_per_metre = 16 \
                occludes_light = true }";
    let files = [
        ("settings.sjson", settings(320, 180)),
        ("main.lua", TILES.as_bytes().to_vec()),
        ("white.tga", texture(8, |_, _| [1.0; 4])),
        ("clear.tga", texture(8, |_, _| [0.0; 4])),
        ("rock.tmx", map.as_bytes().to_vec()),
        ("rock.unit", unit(rock)),
        (
            "floor.unit",
            unit("a = { component = \"sprite\" texture = \"white\" lit = true size = [4, 2] }"),
        ),
    ];
    let Some(mut game) = RenderedGame::game("tiles", &files) else { return };
    let mut frames = |count: usize| (0..count).map(|_| game.frame()).last().expect("there is one");
    for is_solid in [true, false, true] {
        let picture = frames(2);
        let behind = if is_solid { 0.0 } else { lamp_light(1.8) };
        assert!(is_near(light_at(&picture, 0.8, 0.0), behind), "solid: {is_solid}");
        assert!(is_near(light_at(&picture, 0.0, 0.0), lamp_light(1.0)), "solid: {is_solid}");
    }
}

/// Script that draws a picture with the palette, in rows 0 and 1 and between them, with a tint.
const PALETTE: &str = r#"
local gui = Application.main_gui()
local rows, materials = { 0, 1, 0.5, 9 }, {}
function init()
  for i, row in ipairs(rows) do
    materials[i] = Material.new("swap")
    Material.set_scalar(materials[i], "row", row)
  end
end
function render()
  for i, material in ipairs(materials) do
    Gui.bitmap(gui, material, Vector3(80 * (i - 1), 90, 0), Vector2(80, 90))
    Gui.bitmap(gui, material, Vector3(80 * (i - 1), 0, 0), Vector2(80, 90), Color(255, 128, 0))
  end
  Application.render_world(Application.main_world())
end
"#;

#[test]
fn palette_replaces_the_colors_of_a_picture() {
    // Four columns of brightness, and a palette whose first row differs from the others.
    let picture = |x: f32, _| {
        let grey = (x * 4.0).floor() / 3.0;
        [grey, grey, grey, 1.0]
    };
    let colors = [
        [[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0], [1.0; 4]],
        [[0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]],
    ];
    let palette = |x: f32, y: f32| colors[if y < 0.25 { 0 } else { 1 }][(x * 4.0) as usize];
    let material = "shader = \"core/materials/palette\" texture = \"picture\" \
                    textures = { palette = \"palette\" }";
    let files = [
        ("settings.sjson", settings(320, 180)),
        ("main.lua", PALETTE.as_bytes().to_vec()),
        ("picture.tga", texture(4, picture)),
        ("picture.texture", b"filter = \"nearest\"".to_vec()),
        ("palette.tga", texture(4, palette)),
        ("palette.texture", b"mips = false".to_vec()),
        ("swap.material", material.as_bytes().to_vec()),
    ];
    let Some(mut game) = RenderedGame::game("palette", &files) else { return };
    game.frame();
    let shown = game.frame();
    let pixel = |x: u32, y: u32| {
        let at = ((y * shown.width + x) * 4) as usize;
        [shown.rgba[at], shown.rgba[at + 1], shown.rgba[at + 2]]
    };
    let bytes = |color: [f32; 4]| [color[0], color[1], color[2]].map(|it| (it * 255.0) as u8);
    for column in 0..4 {
        let x = column * 20 + 10;
        let [first, second] = colors.map(|row| row[column as usize]);
        assert_eq!(pixel(x, 45), bytes(first), "column {column}");
        assert_eq!(pixel(x + 80, 45), bytes(second), "column {column}");
        assert_eq!(pixel(x + 240, 45), bytes(second), "rows end with the last one");
        // Half of the light of each row.
        let half = |at: usize| ((first[at] + second[at]) * 0.5, pixel(x + 160, 45)[at]);
        for (light, shown) in [half(0), half(1), half(2)] {
            let wanted = if light == 0.5 { 188 } else { (light * 255.0) as u8 };
            assert!(shown.abs_diff(wanted) <= 1, "column {column}: {shown}, not {wanted}");
        }
        let [red, green, _] = bytes(first);
        let tinted = [red, if green > 0 { 128 } else { 0 }, 0];
        let shown = pixel(x, 135);
        let off = shown.iter().zip(tinted).map(|(a, b)| a.abs_diff(b)).max();
        assert!(off <= Some(1), "column {column}: {shown:?}, not {tinted:?}");
    }
}
