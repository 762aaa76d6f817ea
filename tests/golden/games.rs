//! Golden images of games: the scripts of tests/golden/game, played without a display and drawn by
//! the software adapter, from the Lua call to the pixel. Also tests images after their textures and
//! materials are gone.

use super::{compare, options, skip};
use engine::app::resource_kinds::KINDS;
use engine::app::resource_reload::recompile;
use engine::app::{App, Game, GameLaunch};
use engine::engine::PlayerErrorText;
use engine::frame_packet::{CaptureRequest, FramePacket, ViewTarget};
use engine::resource::reload_steps::ChangedResources;
use engine::system::render::{
    RenderedImage, Renderer, RendererEvent, RendererOptions, SurfaceTarget,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A game in a scratch folder, with a renderer that draws it.
pub struct RenderedGame {
    app: App,
    renderer: Renderer,
    packet: FramePacket,
    folder: PathBuf,
}

impl RenderedGame {
    /// Opens the game of tests/golden/game with one of its scripts. Returns `None` if nothing can
    /// be drawn.
    fn of(script: &str) -> Option<RenderedGame> {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/game");
        let mut files = vec![("settings.sjson", from.join("settings.sjson"))];
        let main = format!("{script}.lua");
        files.push(("main.lua", from.join(main)));
        for font in ["fonts/arabic.ttf", "fonts/devanagari.ttf", "fonts/japanese.otf"] {
            files.push((font, from.join(font)));
        }
        let files = files.into_iter().map(|(path, from)| {
            (path, fs::read(&from).unwrap_or_else(|fault| panic!("{}: {fault}", from.display())))
        });
        RenderedGame::game(script, &files.collect::<Vec<_>>())
    }

    /// Opens a game that consists of these files.
    pub fn game(name: &str, files: &[(&str, Vec<u8>)]) -> Option<RenderedGame> {
        // Several tests can play the same game at once.
        static PLAYED: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), PLAYED.fetch_add(1, Ordering::Relaxed));
        let folder = format!("engine-golden-{process}-{number}-{name}");
        let folder = std::env::temp_dir().join(folder);
        // A leftover of an earlier process with the same id.
        let _ = fs::remove_dir_all(&folder);
        for (path, bytes) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
            fs::write(&path, bytes).expect("it can be written");
        }
        let opening = GameLaunch::headless(Game::Folder(folder.clone()));
        let mut app = App::open(opening).unwrap_or_else(|error| panic!("{error}"));
        let engine = app.vm().engine();
        engine.drawing.builder.is_shown = true;
        let (width, height) = engine.devices.window.pixels;
        let output = SurfaceTarget::Offscreen { width, height };
        let renderer = match Renderer::start(RendererOptions { output, ..options(false) }) {
            Ok(renderer) => renderer,
            Err(error) => {
                let message = format!("no pictures can be drawn: {error}");
                skip(&message, "apt install mesa-vulkan-drivers");
                return None;
            }
        };
        app.start().unwrap_or_else(|report| panic!("{report}"));
        Some(RenderedGame { app, renderer, packet: FramePacket::default(), folder })
    }

    /// Plays a frame and returns its image.
    pub fn frame(&mut self) -> RenderedImage {
        self.app.frame(1.0 / 60.0).unwrap_or_else(|report| panic!("{report}"));
        self.show()
    }

    /// Saves a file of the game while it is played.
    pub fn save(&mut self, path: &str, bytes: &[u8]) {
        fs::write(self.folder.join(path), bytes).expect("it can be written");
        let compiled =
            recompile(&self.folder, std::env::consts::OS).unwrap_or_else(|error| panic!("{error}"));
        let engine = self.app.vm().engine();
        engine.assets.store.replace(compiled.index, &compiled.changed);
        engine.reload_textures_and_materials(&ChangedResources::new(&compiled.changed, KINDS));
    }

    /// Returns the number of sources with which Guis have drawn.
    pub fn sources(&mut self) -> usize {
        self.app.vm().engine().drawing.guis.source_count()
    }

    /// Draws the engine's current state and returns the image.
    fn show(&mut self) -> RenderedImage {
        let packet = std::mem::take(&mut self.packet);
        let mut packet = self.app.vm().engine().take_packet(packet);
        packet.captures.push(CaptureRequest { number: 1, of: ViewTarget::Screen });
        self.packet = self.renderer.submit(packet);
        match &mut self.renderer.events()[..] {
            [RendererEvent::Captured { picture, .. }] => picture.clone(),
            other => panic!("{other:?}"),
        }
    }
}

impl Drop for RenderedGame {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn check(script: &str) {
    let Some(mut game) = RenderedGame::of(script) else { return };
    for _ in 0..3 {
        game.frame();
    }
    compare(script, &game.frame());
}

#[test]
fn text_from_8_to_200_pixels() {
    check("text_sizes");
}

#[test]
fn text_with_outline_glow_and_shadow() {
    check("text_styles");
}

#[test]
fn text_in_arabic_devanagari_and_japanese() {
    check("text_scripts");
}

#[test]
fn smooth_edges_of_triangles_polygons_and_lines() {
    check("smooth_edges");
}

#[test]
fn immediate_and_retained_guis_look_the_same() {
    check("gui_modes");
}

#[test]
fn new_worlds_show_a_day() {
    check("world_day");
}

#[test]
fn sprites_and_tile_maps_among_meshes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let hero = "components = { body = { component = \"sprite\" sheet = \"pictures/hero\" tag = \
                \"run\" pixels_per_metre = 8 pivot = [0.5, 0] } }";
    let mask = "components = { body = { component = \"sprite\" texture = \"pictures/ring\" alpha \
                = \"mask\" lit = true size = [1.5, 1.5] } }";
    let map = |plane: &str, texels: u32, more: &str| {
        format!(
            "components = {{ map = {{ component = \"tilemap\" map = \"maps/cave\" plane = \
             \"{plane}\" pixels_per_metre = {texels} layer = -9 {more} }} }}"
        )
    };
    let (ground, wall) = (map("flat", 3, "lit = true"), map("upright", 8, ""));
    let read = |path: &str| fs::read(root.join(path)).expect("it is in the repository");
    let settings = "name = \"Golden\" window = { width = 640, height = 360 } textures = { nearest \
                    = true }";
    let files = [
        ("settings.sjson", settings.as_bytes().to_vec()),
        ("main.lua", read("tests/golden/game/world_sprites.lua")),
        ("pictures/hero.png", read("tests/lua/pictures/hero.png")),
        ("pictures/hero.sheet", read("tests/lua/pictures/hero.sheet")),
        ("pictures/ring.tga", ring()),
        ("maps/cave.tmx", read("tests/lua/maps/cave.tmx")),
        ("maps/rock.png", read("tests/lua/maps/rock.png")),
        ("units/hero.unit", hero.as_bytes().to_vec()),
        ("units/mask.unit", mask.as_bytes().to_vec()),
        ("units/ground.unit", ground.into_bytes()),
        ("units/wall.unit", wall.into_bytes()),
    ];
    let Some(mut game) = RenderedGame::game("world_sprites", &files) else { return };
    for _ in 0..20 {
        game.frame();
    }
    compare("world_sprites", &game.frame());
}

/// Returns an image whose left half is blue and whose right half is green.
fn two_tiles() -> Vec<u8> {
    let mut bytes = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 8, 0, 32, 8];
    for at in 0..16 * 8 {
        bytes.extend(if at % 16 < 8 { [255, 0, 0, 255] } else { [0, 255, 0, 255] });
    }
    bytes
}

#[test]
fn tiles_and_parts_do_not_show_their_neighbours() {
    let map = "<map orientation='orthogonal' width='6' height='2' tilewidth='8' tileheight='8'>\
               <tileset firstgid='1' name='a' tilewidth='8' tileheight='8' tilecount='2' \
               columns='2'><image source='two.tga' width='16' height='8'/></tileset>\
               <layer id='1' name='ground' width='6' height='2'><data encoding='csv'>\
               1,1,1,1,1,1,1,1,1,1,1,1</data></layer></map>";
    let text = |text: &str| text.as_bytes().to_vec();
    let files = [
        (
            "settings.sjson",
            text("window = { width = 320, height = 180 } textures = { nearest = true }"),
        ),
        ("main.lua", fs::read("tests/golden/game/tile_edges.lua").expect("it is there")),
        ("two.tga", two_tiles()),
        ("cave.tmx", text(map)),
        (
            "units/map.unit",
            text("components = { tilemap = { map = \"cave\" pixels_per_metre = 8 } }"),
        ),
        (
            "units/part.unit",
            text(
                "components = { sprite = { texture = \"two\" part = [0, 0, 8, 8] \
                 pixels_per_metre = 8 } }",
            ),
        ),
    ];
    let Some(mut game) = RenderedGame::game("tile_edges", &files) else { return };
    for frame in 0..12 {
        let picture = game.frame();
        let pixels = || picture.rgba.chunks_exact(4);
        let blue = pixels().filter(|pixel| pixel[2] > 200).count();
        let green = pixels().map(|pixel| pixel[1]).max();
        assert!(blue > 5000, "frame {frame}: {blue} blue pixels");
        assert!(green < Some(40), "frame {frame}: green {green:?}");
        // Between the tiles there is no line.
        let width = picture.width as usize;
        let row = &picture.rgba[(picture.height as usize - 30) * width * 4..][..width * 4];
        let dark = row.chunks_exact(4).skip(50).take(60).filter(|pixel| pixel[2] < 200).count();
        assert_eq!(dark, 0, "frame {frame}: a line between tiles");
    }
}

/// Returns an image of a ring: red, green, blue and alpha.
fn ring() -> Vec<u8> {
    const SIDE: i32 = 32;
    let mut bytes = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, SIDE as u8, 0, SIDE as u8, 0, 32, 8];
    for at in 0..SIDE * SIDE {
        let (x, y) = (2 * (at % SIDE) + 1 - SIDE, 2 * (at / SIDE) + 1 - SIDE);
        let there = (100..=900).contains(&(x * x + y * y));
        bytes.extend(if there { [60, 200, 250, 255] } else { [0; 4] });
    }
    bytes
}

/// A report like that of a game's error.
const REPORT: &str = "\
When calling: update
Error: attempt to call field 'updte' (a nil value): World has no function 'updte', did you mean \
'update'?
    In enemy/boss.lua:9
        8 | local speed = 3 * dt
        9 | World.updte(world, speed)
       10 | end
Lua stack, innermost first:
  enemy/boss.lua:9 in function 'move'
          local dt = 0.016666666666667
          local speed = 0.05
          upvalue world = 1099515822080
  main.lua:31 in function 'update'
          local boss = { name = \"Umbra\", health = 60, position = Vector3(1, 2, 0) }";

#[test]
fn error_overlay_over_the_last_frame() {
    let Some(mut game) = RenderedGame::of("gui_modes") else { return };
    for _ in 0..3 {
        game.frame();
    }
    // The failed frame had drawn something already, which is not shown.
    game.app.vm().engine().drawing.show_error(&[REPORT.to_string()], Some("F5"));
    let picture = game.show();
    compare("error_overlay", &picture);
    assert!(picture == game.show(), "it stands still");
    let drawing = &mut game.app.vm().engine().drawing;
    drawing.show_player_error(&PlayerErrorText {
        title: "Yard has stopped",
        text: "An error has stopped the game. Please send this report to the people who made it:",
        detail: "share/engine/games/yard/crash-1700000000-1234.txt",
        address: "",
        hint: "Press Escape, or close the window, to end the game.",
    });
    compare("player_error", &game.frame());
    game.app.vm().engine().drawing.hide_error();
    let refused = "settings.sjson:2: unknown setting 'nmae', did you mean 'name'?".to_string();
    game.app.vm().engine().drawing.show_refusals(&[refused], true);
    compare("reload_overlay", &game.frame());
}

#[test]
fn error_overlay_scales_with_the_display() {
    let Some(mut game) = RenderedGame::of("gui_modes") else { return };
    game.frame();
    let engine = game.app.vm().engine();
    (engine.devices.window.scale, engine.devices.window.pixels) = (2.0, (1920, 1280));
    engine.drawing.show_error(&[REPORT.to_string()], Some("F5"));
    game.renderer.resize(1920, 1280);
    game.show();
    let fine = game.show();
    // Every second pixel in both directions is close to the image of a display without scaling.
    let Some(mut plain) = RenderedGame::of("gui_modes") else { return };
    plain.frame();
    plain.app.vm().engine().drawing.show_error(&[REPORT.to_string()], Some("F5"));
    plain.show();
    let plain = plain.show();
    let lit =
        |picture: &RenderedImage| picture.rgba.chunks(4).filter(|pixel| pixel[0] > 128).count();
    let (plain, fine) = (lit(&plain) as f64, lit(&fine) as f64);
    assert!((fine / plain / 4.0 - 1.0).abs() < 0.15, "{plain} bright pixels, and {fine}");
}
