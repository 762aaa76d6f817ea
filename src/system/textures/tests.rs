//! Tests of textures from file to packet, in games of a few files that the tests create.

mod normals;

use super::resource::TEXTURE;
use super::sheet_resource::{PlayDirection, SHEET};
use super::*;
use engine_foundation::log;
use engine_frame_packet::gui::{QuadInstance, paint};
use engine_frame_packet::texture::{
    ATLAS_LEVELS, ATLAS_SIDE, TexelFormat, TextureChange, WrapMode,
};
use engine_resource::compile::{CompileTarget, compile, data_folder};
use engine_resource::image::encode_png;
use engine_resource::reload_steps::ChangedResources;
use engine_resource::resource_kind::ResourceKinds;
use engine_resource::resource_name::ResourceName;
use engine_resource::store::{DataSource, ResourceStore};
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

static KINDS: ResourceKinds =
    ResourceKinds(&[&TEXTURE, &SHEET, &engine_resource::data_resources::CONFIG]);

/// A game's folder, deleted on drop.
struct Game {
    root: PathBuf,
    textures: Textures,
    store: ResourceStore,
    /// Problems reported by the last compile.
    problems: Vec<String>,
}

/// The errors that a test logs. The log is the process's own: one test at a time captures it, and
/// reads only the lines about its texture.
struct CapturedErrors {
    texture: &'static str,
    _turn: MutexGuard<'static, ()>,
}

impl CapturedErrors {
    fn about(texture: &'static str) -> CapturedErrors {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        log::capture_errors();
        CapturedErrors { texture, _turn: turn }
    }

    fn end(self) -> Vec<String> {
        let quoted = format!("'{}'", self.texture);
        log::release_errors().into_iter().filter(|error| error.contains(&quoted)).collect()
    }
}

fn picture(width: u32, height: u32, color: [u8; 4]) -> Vec<u8> {
    encode_png(width, height, &color.repeat((width * height) as usize))
}

impl Game {
    fn new(name: &str, files: &[(&str, &[u8])]) -> Game {
        let root = std::env::temp_dir().join(format!("engine-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let textures = Textures::new(false);
        let mut game =
            Game { root, textures, store: ResourceStore::default(), problems: Vec::new() };
        for (path, bytes) in files {
            game.save(path, bytes);
        }
        game.compile();
        game.changes();
        game
    }

    fn save(&self, path: &str, bytes: &[u8]) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Compiles, and reloads the changed textures.
    fn compile(&mut self) {
        let data = data_folder(&self.root, "linux");
        fs::create_dir_all(&data).unwrap();
        let target = CompileTarget {
            root: &self.root,
            data: data.clone(),
            kinds: KINDS,
            source_platform: "linux",
            release: false,
            exclude: &[],
            threads: 1,
        };
        let compiled = compile(&target, &|_, _| {}).unwrap();
        self.problems = compiled.problems.clone();
        self.store = ResourceStore::new(compiled.index, DataSource::Folder(data, KINDS));
        let changed = [compiled.changed, compiled.removed].concat();
        self.textures.reload(&mut self.store, &ChangedResources::new(&changed, KINDS));
    }

    fn find(&mut self, name: &str) -> TextureNumber {
        self.textures.find(&mut self.store, name).unwrap_or_else(|fault| panic!("{fault}"))
    }

    fn entry(&mut self, name: &str) -> TextureEntry {
        let number = self.find(name);
        *self.textures.entry(number)
    }

    fn refused(&mut self, name: &str) -> String {
        self.textures.find(&mut self.store, name).unwrap_err().message
    }

    fn changes(&mut self) -> Vec<TextureChange> {
        let mut out = Vec::new();
        self.textures.flush(&mut out);
        out
    }
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

const RED: [u8; 4] = [255, 0, 0, 255];

#[test]
fn a_small_image_is_in_the_atlas_and_uploaded_once() {
    let mut game = Game::new("small", &[("ship.png", &picture(30, 20, RED))]);
    let entry = game.entry("ship");
    assert_eq!((entry.slot, entry.width, entry.height), (TextureSlot::SHARED, 30, 20));
    assert_eq!(entry.paint & 15, paint::ATLAS);
    let [left, bottom, right, top] = entry.uv.map(|part| part * ATLAS_SIDE as f32);
    assert_eq!((right - left, bottom - top), (30.0, 20.0));
    let changes = game.changes();
    let [TextureChange::Atlas { x, y, texels, .. }] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((x % 8, y % 8, texels.width, texels.height), (0, 0, 40, 32));
    assert_eq!((left, top), ((x + 4) as f32, (y + 4) as f32));
    assert_eq!(texels.bytes[texels.start..][..4], RED);
    game.find("ship");
    assert!(game.changes().is_empty());
}

#[test]
fn many_small_images_share_one_layer() {
    let files: Vec<(String, Vec<u8>)> =
        (0..50).map(|i| (format!("t{i}.png"), picture(64, 64, [i, 0, 0, 255]))).collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(n, b)| (&n[..], &b[..])).collect();
    let mut game = Game::new("many", &files);
    for i in 0..50 {
        assert_eq!(game.entry(&format!("t{i}")).slot, TextureSlot::SHARED);
    }
    let stats = game.textures.statistics();
    assert_eq!((stats.textures, stats.slots, stats.atlas_layers), (50, 0, 1));
}

#[test]
fn a_large_image_has_a_slot_with_every_mipmap() {
    let mut game = Game::new("large", &[("sky.png", &picture(300, 100, RED))]);
    let entry = game.entry("sky");
    assert_eq!((entry.slot, entry.paint & 15), (TextureSlot(1), paint::TEXTURE));
    let changes = game.changes();
    let [TextureChange::Set { slot, texels }] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((*slot, texels.levels, texels.format), (TextureSlot(1), 9, TexelFormat::Rgba8Srgb));
    let bytes = mipmaps::chain_bytes(texels.format, 300, 100, 9);
    assert_eq!(texels.bytes.len() - texels.start, bytes);
}

#[test]
fn settings_next_to_an_image_are_applied() {
    let mut game = Game::new(
        "settings",
        &[
            ("wall.png", &picture(16, 16, [255, 255, 255, 128])),
            ("wall.texture", b"wrap = \"repeat\"\nfilter = \"nearest\"\nmips = false\ndata = true"),
            ("icon.png", &picture(64, 32, RED)),
            ("icon.texture", b"max_size = 16\natlas = false"),
            ("other.texture", b"source = \"icon.png\"\nfilter = \"nearest\""),
        ],
    );
    assert_eq!(game.problems, [""; 0]);
    let wall = game.entry("wall");
    assert_eq!((wall.sampling.nearest, wall.sampling.wrap), (true, WrapMode::Repeat));
    let changes = game.changes();
    let [TextureChange::Set { texels, .. }] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((texels.format, texels.levels), (TexelFormat::Rgba8, 1));
    assert_eq!(texels.bytes[texels.start..texels.start + 4], [255, 255, 255, 128]);
    let icon = game.entry("icon");
    assert_eq!((icon.width, icon.height), (64, 32), "it is drawn as large as its picture");
    let changes = game.changes();
    let [TextureChange::Set { texels, .. }] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((texels.width, texels.height), (16, 8));
    assert_ne!(game.entry("other").paint & QuadInstance::NEAREST, 0);
}

#[test]
fn invalid_settings_are_refused_with_location_and_reason() {
    let cases: [(&str, &str); 8] = [
        ("fitler = \"nearest\"", "t.texture:1: unknown setting 'fitler', did you mean 'filter'?"),
        (
            "filter = \"soft\"",
            "t.texture:1: 'filter' must be \"linear\" or \"nearest\", got \"soft\"",
        ),
        (
            "wrap = \"tile\"",
            "t.texture:1: 'wrap' must be \"clamp\", \"repeat\" or \"mirror\", got \"tile\"",
        ),
        ("\nmips = 1", "t.texture:2: 'mips' must be true or false, got number"),
        ("max_size = 0.5", "t.texture:1: 'max_size' must be a whole number from 1 to 16384"),
        (
            "atlas = true\nwrap = \"repeat\"",
            "t.texture: it cannot share the atlas (atlas = true), because it repeats (wrap): \
            change either",
        ),
        ("source = \"u.png\"", "t.texture: 'u.png' cannot be read: there is no such file"),
        ("filter = [", "t.texture:1:10: list is not closed: add ']'"),
    ];
    for (text, message) in cases {
        let files: [(&str, &[u8]); 2] =
            [("t.png", &picture(4, 4, RED)), ("t.texture", text.as_bytes())];
        assert_eq!(Game::new("wrong", &files).problems, [message]);
    }
    let alone = Game::new("alone", &[("t.texture", b"mips = true")]);
    assert_eq!(
        alone.problems,
        ["t.texture: there is no picture of the same name next to it: add one, or name it by \
          source = \"path/of/picture.png\""]
    );
    let broken =
        Game::new("broken", &[("a.png", b"not a picture"), ("b.jpg", &picture(2, 2, RED))]);
    assert_eq!(broken.problems.len(), 2, "every one is told: {:?}", broken.problems);
    assert_eq!(
        broken.problems[1],
        "b.jpg: the file is a PNG picture, not .jpg: rename it to end in .png"
    );
}

#[test]
fn a_missing_texture_is_reported_with_existing_names() {
    let mut game =
        Game::new("missing", &[("ship.png", &picture(4, 4, RED)), ("x/run.json", b"frames = {}")]);
    assert_eq!(game.refused("shipp"), "there is no texture 'shipp', did you mean 'ship'?");
    assert_eq!(
        game.refused("x/run/1"),
        "there is no texture 'x/run/1' (its file would end in .texture, .png, .jpg, .jpeg, .tga, \
         .bmp, .qoi, .webp, .hdr, .ktx2, .dds, .cube or .ies, and its name has no ending); if \
         'x/run' is a sheet, its file must end in .sheet: rename it"
    );
    assert!(!game.textures.entry(TextureNumber::MISSING).loaded);
}

#[test]
fn a_saved_texture_is_reloaded_into_its_slot() {
    let mut game = Game::new("reload", &[("ship.png", &picture(30, 20, RED))]);
    let number = game.find("ship");
    let (before, version) = (*game.textures.entry(number), game.textures.version());
    game.changes();
    game.save("ship.png", &picture(30, 20, [0, 255, 0, 255]));
    game.compile();
    assert_eq!(*game.textures.entry(number), before, "the same size keeps its place");
    assert!(game.textures.version() > version);
    let changes = game.changes();
    let [TextureChange::Atlas { texels, .. }] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!(texels.bytes[texels.start..][..4], [0, 255, 0, 255]);
    game.save("ship.png", &picture(400, 20, RED));
    game.compile();
    assert_eq!(game.textures.entry(number).slot, TextureSlot(1), "it has outgrown the atlas");
    game.save("ship.png", &picture(30, 20, RED));
    game.compile();
    assert_eq!(game.textures.entry(number).slot, TextureSlot::SHARED);
    let ended = |change: &TextureChange| matches!(change, TextureChange::End { .. });
    assert!(game.changes().iter().any(ended), "its slot is given back");
    assert_eq!(game.textures.statistics().slots, 0);
}

#[test]
fn broken_images_keep_old_texels_and_removed_ones_do_not() {
    let errors = CapturedErrors::about("kept");
    let mut game = Game::new("keep", &[("kept.png", &picture(30, 20, RED))]);
    let number = game.find("kept");
    let before = *game.textures.entry(number);
    game.save("kept.png", b"broken");
    game.compile();
    assert_eq!(*game.textures.entry(number), before);
    fs::remove_file(game.root.join("kept.png")).unwrap();
    game.compile();
    let missing = *game.textures.entry(TextureNumber::MISSING);
    assert_eq!(*game.textures.entry(number), missing);
    assert!(game.refused("kept").starts_with("there is no texture 'kept'"));
    game.save("kept.png", &picture(30, 20, RED));
    game.compile();
    assert!(game.textures.entry(number).loaded, "it is back, and nobody had to ask for it");
    assert_eq!(game.find("kept"), number, "a texture keeps its number");
    let logged = errors.end();
    assert_eq!(logged.len(), 1);
    assert_eq!(
        logged[0],
        "the file of the texture 'kept' was deleted: it is shown as a checkerboard until its file \
         is back"
    );
}

#[test]
fn unloading_frees_all_slots() {
    let mut game =
        Game::new("unload", &[("a.png", &picture(30, 20, RED)), ("b.png", &picture(300, 20, RED))]);
    let (a, b) = (game.find("a"), game.find("b"));
    let extra = game.textures.slot(&mut game.store, a).unwrap();
    assert_eq!(extra, TextureSlot(2), "materials get a slot of what is in the atlas");
    let before = game.textures.statistics();
    assert_eq!((before.textures, before.slots), (2, 2));
    game.textures.unload(a);
    game.textures.unload(b);
    game.textures.unload(b);
    let after = game.textures.statistics();
    assert_eq!((after.textures, after.slots), (0, 0));
    assert!(!game.textures.entry(a).loaded);
    assert_eq!(game.find("a"), a);
    assert!(game.textures.entry(a).loaded);
}

#[test]
fn a_texture_beyond_the_adapter_limit_is_scaled_down() {
    let mut game = Game::new(
        "limit",
        &[
            ("huge.png", &picture(1000, 10, RED)),
            ("flat.png", &picture(1000, 10, RED)),
            ("flat.texture", b"mips = false"),
        ],
    );
    game.textures.set_caps(&mut game.store, TextureCaps { side_max: 256, blocks: true });
    for name in ["huge", "flat"] {
        game.changes();
        let entry = game.entry(name);
        assert_eq!((entry.width, entry.height), (1000, 10));
        let changes = game.changes();
        let [TextureChange::Set { texels, .. }] = &changes[..] else { panic!("{changes:?}") };
        assert_eq!((texels.width, texels.height), (250, 2));
        let bytes = mipmaps::chain_bytes(texels.format, 250, 2, texels.levels);
        assert_eq!(texels.bytes.len() - texels.start, bytes, "{name}");
    }
    assert!(game.textures.add_target("a", 512, 512, false).is_err());
    let target = game.textures.add_target("a", 64, 32, false).unwrap();
    assert_eq!(game.textures.entry(target).width, 64);
    // A name with a living texture keeps its number; the number of an ended texture is reused.
    let other = game.textures.add_target("b", 64, 32, false).unwrap();
    assert_ne!(target, other);
    assert_eq!((game.textures.name(target), game.textures.name(other)), ("a", "b"));
    game.textures.unload(target);
    assert!(!game.textures.entry(target).loaded);
    assert_eq!(game.textures.name(target), "");
    for _ in 0..70_000 {
        let again = game.textures.add_target("a", 32, 16, false).unwrap();
        assert_eq!((again, game.textures.entry(again).width), (target, 32));
        game.textures.unload(again);
    }
}

/// Returns a sheet of two 8 x 8 frames next to each other, red and green.
fn two_frames() -> Vec<u8> {
    let row = [RED.repeat(8), [0, 255, 0, 255].repeat(8)].concat();
    encode_png(16, 8, &row.repeat(8))
}

const EXPORTED: &str = r#"{ "frames": {
  "run_01.png": { "frame": {"x":0,"y":0,"w":8,"h":8}, "rotated": false, "duration": 50 },
  "run_02.png": { "frame": {"x":8,"y":0,"w":4,"h":8}, "rotated": true, "trimmed": true,
    "spriteSourceSize": {"x":2,"y":1,"w":4,"h":8}, "sourceSize": {"w":10,"h":10} },
  "run_03.png": { "frame": {"x":0,"y":0,"w":8,"h":8} } },
  "meta": { "image": "hero.png", "frameTags": [
    { "name": "run", "from": 0, "to": 1, "direction": "pingpong", "repeat": "3" } ] } }"#;

#[test]
fn frames_of_a_sheet_are_textures() {
    let files: [(&str, &[u8]); 2] =
        [("s/hero.sheet", EXPORTED.as_bytes()), ("s/hero.png", &two_frames())];
    let mut game = Game::new("sheet", &files);
    assert_eq!(game.problems, [""; 0]);
    let (one, two) = (game.entry("s/hero/run_01"), game.entry("s/hero/run_02"));
    assert_eq!((one.width, two.width, two.height), (8, 10, 10), "trimmed borders are back");
    assert_eq!(game.entry("s/hero/run_03"), one, "what looks the same is there once");
    let changes = game.changes();
    let [TextureChange::Atlas { .. }, TextureChange::Atlas { texels, picture, .. }] = &changes[..]
    else {
        panic!("{changes:?}")
    };
    // The frame is 4 x 8 from (2, 1) on; the renderer builds the cell around it.
    assert_eq!((*picture, texels.width, texels.height), (Some((10, 10)), 24, 24));
    let texel = |x: usize, y: usize| &texels.bytes[texels.start + (y * 10 + x) * 4..];
    assert_eq!((texel(2, 1)[1], texel(5, 8)[1], texel(1, 1)[3], texel(6, 1)[3]), (255, 255, 0, 0));
    let sheet = game.textures.sheet(&mut game.store, "s/hero").unwrap();
    assert_eq!((sheet.frames[0].milliseconds, sheet.frames[1].milliseconds), (50.0, 100.0));
    let tag = &sheet.tags[0];
    assert_eq!((tag.direction, tag.repeat, tag.to), (PlayDirection::PingPong, 3, 1));
    assert_eq!(
        game.refused("s/hero/run_1"),
        "the sheet 's/hero' has no frame 'run_1', did you mean 'run_01'?"
    );
    assert_eq!(game.textures.statistics().textures, 2);
    game.textures.unload(TextureNumber(1));
    assert_eq!(game.textures.statistics().textures, 0);
    assert!(game.entry("s/hero/run_02").loaded);
}

#[test]
fn a_grid_is_a_sheet_and_reloads_when_changed() {
    let errors = CapturedErrors::about("grid");
    let grid = b"image = \"hero.png\"\nframe = [8, 8]\nduration = 80\nfilter = \"nearest\"\n\
                 tags = [{ name = \"run\", from = 1, to = 2 }]";
    let files: [(&str, &[u8]); 2] = [("grid.sheet", grid), ("hero.png", &two_frames())];
    let mut game = Game::new("grid", &files);
    assert_eq!(game.problems, [""; 0]);
    let (first, second) = (game.find("grid/1"), game.find("grid/2"));
    assert_ne!(game.textures.entry(second).paint & QuadInstance::NEAREST, 0);
    assert_eq!(
        game.refused("grid/3"),
        "the sheet 'grid' has no frame '3': it has 2 frames, '1' to '2'"
    );
    game.save("hero.png", &picture(8, 8, RED));
    game.save("grid.sheet", b"image = \"hero.png\"\nframe = [8, 8]");
    game.compile();
    assert!(game.textures.entry(first).loaded && !game.textures.entry(second).loaded);
    let logged = errors.end();
    assert_eq!(
        logged,
        ["the sheet 'grid' has no frame '2' any more: it is shown as a checkerboard"]
    );
}

#[test]
fn small_frames_of_a_sheet_share_a_page() {
    let grid = b"image = \"hero.png\"\nframe = [8, 8]";
    let files: [(&str, &[u8]); 2] = [("hero.sheet", grid), ("hero.png", &two_frames())];
    let mut game = Game::new("page", &files);
    let numbers = ["hero/1", "hero/2"].map(|name| game.find(name));
    game.changes();
    let scene_textures = |game: &mut Game| {
        numbers.map(|number| game.textures.scene_texture(&mut game.store, number, false).unwrap())
    };
    let [one, two] = scene_textures(&mut game);
    assert_eq!((one.slot, one.size), (two.slot, [8.0; 2]));
    let changes = game.changes();
    let [TextureChange::Set { slot, texels }] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((*slot, texels.levels), (one.slot, ATLAS_LEVELS));
    let middle = |found: &SceneTexture| {
        let [left, top, width, height] = found.part;
        let x = ((left + width * 0.5) * texels.width as f32) as usize;
        let y = ((top + height * 0.5) * texels.height as f32) as usize;
        let at = (y * texels.width as usize + x) * 4;
        [texels.bytes[at], texels.bytes[at + 1]]
    };
    assert_eq!((middle(&one), middle(&two)), ([255, 0], [0, 255]));
    game.save("hero.png", &picture(16, 8, [0, 0, 255, 255]));
    game.compile();
    let [again, _] = scene_textures(&mut game);
    assert_eq!(again.slot, one.slot, "a saved one is filled anew in its place");
    let filled = |change: &TextureChange| match change {
        TextureChange::Set { slot, .. } => *slot == one.slot,
        _ => false,
    };
    assert!(game.changes().iter().any(filled));
    game.textures.unload(numbers[0]);
    let ended =
        |change: &TextureChange| matches!(change, TextureChange::End { slot } if *slot == one.slot);
    assert!(game.changes().iter().any(ended));
    let [missing, _] = scene_textures(&mut game);
    assert_ne!(missing.slot, TextureSlot::SHARED, "the checkerboard has a slot, too");
}

#[test]
fn invalid_sheets_are_refused_with_location_and_reason() {
    let cases: [(&str, &str); 9] = [
        (
            "image = \"hero.png\"\nframe = [8, 8]\nduration = [80, 90, 100]",
            "hero.sheet:3: 'duration' has 3 numbers, and the sheet 2 frames: give one for each, or \
             one number for all",
        ),
        (
            "image = \"hero.png\"\nframe = [8, 8]\nduration = [80, -1]",
            "hero.sheet:3: 'duration' must be milliseconds from 0 to 1000000, or a list with those \
             of each frame",
        ),
        (
            "filter = \"nearest\"",
            "hero.sheet: a sheet needs 'frames' (as TexturePacker and Aseprite export them), or \
             'source' (the path of such a file), or 'image' and 'frame' (a grid)",
        ),
        ("imge = \"hero.png\"", "hero.sheet:1: unknown setting 'imge', did you mean 'image'?"),
        (
            "image = \"hero.png\"",
            "hero.sheet:1: a grid needs the size of a frame in texels: frame = [width, height]",
        ),
        (
            "image = \"hero.png\"\nframe = [8, 8]\ntags = [{ name = \"run\", from = 2, to = 9 }]",
            "hero.sheet: tag 'run' is of the frames 2 to 9, counted from 1, and the sheet has 2",
        ),
        ("image = \"hero.png\"\nframe = [64, 64]", "hero.sheet: the sheet has no frames"),
        (
            "{ frames: { a: { frame: {x:12,y:0,w:8,h:8} } }, meta: { image: \"hero.png\" } }",
            "hero.sheet: frame 'a' reaches beyond its picture, which is 16 x 8: export both again",
        ),
        (
            "{ frames: { a: { frame: {x:-1,y:0,w:8,h:8} } }, meta: { image: \"hero.png\" } }",
            "hero.sheet:1: frame 'a': 'x' must be a whole number from 0 to 16384",
        ),
    ];
    for (text, message) in cases {
        let files: [(&str, &[u8]); 2] =
            [("hero.sheet", text.as_bytes()), ("hero.png", &two_frames())];
        assert_eq!(Game::new("wrong_sheet", &files).problems, [message]);
    }
    let many = "{ frames: { a: { frame: {x:0,y:0,w:1,h:1}, spriteSourceSize: {x:0,y:0}, \
    sourceSize: {w:16384,h:16384} } }, meta: { image: \"hero.png\" } }";
    let files: [(&str, &[u8]); 2] = [("hero.sheet", many.as_bytes()), ("hero.png", &two_frames())];
    let problems = Game::new("large_sheet", &files).problems.clone();
    assert!(problems[0].contains("268435456 texels, and 134217728 is the most"), "{problems:?}");
}

#[test]
fn frames_of_an_aseprite_file_are_textures() {
    let bytes = engine_test_support::aseprite::aseprite(32);
    let mut game = Game::new("ase", &[("hero.aseprite", &bytes)]);
    assert_eq!(game.entry("hero/2").width, 2);
}

#[test]
fn resource_names_match_those_of_the_store() {
    let mut game = Game::new("names", &[("ship.png", &picture(4, 4, RED))]);
    let number = game.find("ship");
    assert_eq!(game.textures.name(number), "ship");
    assert_eq!(game.textures.get_loaded("ship"), Some(number));
    assert!(game.store.has(&ResourceName::new("texture", "ship")));
}
