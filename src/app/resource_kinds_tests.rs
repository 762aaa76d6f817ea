//! Damage tests for a small sample of every source format: each byte is damaged in every simple
//! way. The compiler of the format reads the sample or returns an error. It never panics, and it
//! never takes long.

use super::*;
use engine_foundation::{Error, panic};
use engine_resource::resource_kind::CompileContext;
use engine_resource::resource_name::ResourceName;
use engine_test_support::aseprite::aseprite;
use engine_test_support::bmfont::binary_font;
use engine_test_support::corruption::corrupted_copies;
use engine_test_support::images::samples as images_of_formats;
use engine_test_support::wav::wav_file;
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// Maximum time for one damaged sample, on a machine that also does other work.
const PATIENCE: Duration = Duration::from_secs(20);

macro_rules! file {
    ($path:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path)).to_vec()
    };
}

const TILED: &str = r#"{ "orientation": "orthogonal", "width": 2, "height": 1, "tilewidth": 8,
 "tileheight": 8, "tilesets": [{ "firstgid": 1, "name": "rock", "image": "rock.png",
 "imagewidth": 16, "imageheight": 16, "tilewidth": 8, "tileheight": 8, "columns": 2,
 "tilecount": 4 }], "layers": [{ "type": "tilelayer", "name": "a", "width": 2, "height": 1,
 "data": [1, 2147483650] }, { "type": "objectgroup", "name": "b", "objects": [{ "id": 1,
 "name": "c", "x": 1, "y": 2, "polygon": [{ "x": 0, "y": 0 }, { "x": 8, "y": 8 }] }] }] }"#;

const WGSL: &str = "struct Variables { a: f32, b: vec4f }
@group(2) @binding(0) var<uniform> own: Variables; // a comment
fn paint(in: Paint) -> vec4f { if in.uv.x < 0.5 { return own.b; } return in.base * own.a; }";

const OUTLINES: &str = "file = \"symbols.ttf\" prewarm = \"abc\" fallback = []";
const SHEET: &str = "texture = \"rock.png\" grid = [8, 8] animations = { a = { frames = [1, 2] } }";
const SOUND: &str = "play = { random = [\"tone.wav\", { file = \"tone.wav\", volume_db = -3 }] } \
                     pitch = [0.9, 1.1] volume_db = -6 bus = \"effects\"";
const UNIT: &str = "inherit = \"other\" nodes = { a = { position = [0, 0, 1], parent = \"b\" } } \
                    data = { x = [1, { y = null }] } components = { light = { type = \"omni\" } }";
const LEVEL: &str = "units = { a = { unit = \"b\", position = [0, 1, 2], data = { x = 1 } } } \
                     object_sets = { c = [\"a\"] }";

const ANIMATION: &str = "source = \"column#Rise\" range = [0.25, 0.75] loop = true \
                         joints = { Head = 0.001 } root_motion = \"all\" beats = [0] \
                         events = [{ name = \"a\" time = 0.1 sound = \"b\" }]";

/// Returns the samples: path, content, and the number of leading bytes that are damaged one by one.
fn samples() -> Vec<(String, Vec<u8>, usize)> {
    let mut all: Vec<(&str, Vec<u8>, usize)> = vec![
        ("a.lua", b"local a = { 1, \"x\" } -- b\nreturn function() return a[1] end".to_vec(), 99),
        ("a.package", b"texture = [\"a/*\", \"b\"] \"*\" = [\"**\"]".to_vec(), 99),
        ("a.config", b"{ a = [1, 2.5e3, true] \"b\": null, c = { d = \"e\" } }".to_vec(), 99),
        ("a.json", b"{\"a\":[1,-2.5e-3,true,\"\\u00e4\"],\"b\":{}}".to_vec(), 99),
        ("a.strings", file!("tests/lua/data/menu.strings"), 99),
        ("a.text", b"text".to_vec(), 9),
        ("a.txt", b"text".to_vec(), 9),
        ("a.fnl", b"(fn add [a b] (+ a b))".to_vec(), 99),
        ("a.moon", b"add = (a, b) -> a + b".to_vec(), 99),
        ("a.tl", b"local a: number = 1".to_vec(), 99),
        ("a.md", b"# text".to_vec(), 9),
        ("a.binary", vec![1, 2, 3], 9),
        ("a.bin", vec![1, 2, 3], 9),
        ("a.font", OUTLINES.into(), 99),
        ("symbols.ttf", file!("core/fonts/symbols.ttf"), 60),
        ("a.ttf", file!("tests/golden/game/fonts/arabic.ttf"), 12),
        ("a.otf", file!("tests/golden/game/fonts/japanese.otf"), 20),
        ("a.ttc", file!("core/fonts/symbols.ttf"), 12),
        ("a.fnt", binary_font(), 99),
        (
            "a.cube",
            b"LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1".into(),
            60,
        ),
        ("a.ies", b"TILT=NONE\n1 1000 1 3 1 1 2 0 0 0\n1 1 10\n0 45 90\n0\n100, 50 0".into(), 60),
        ("a.texture", b"file = \"rock.png\" filter = \"nearest\" wrap = \"repeat\"".to_vec(), 99),
        ("rock.png", file!("tests/lua/maps/rock.png"), 60),
        ("a.sheet", SHEET.into(), 99),
        ("a.aseprite", aseprite(32), 60),
        ("a.ase", aseprite(8), 60),
        ("a.shader", WGSL.into(), 3),
        ("a.wgsl", WGSL.into(), 6),
        ("a.material", b"texture = \"rock\" blend = \"add\" variables = {}".to_vec(), 60),
        ("b.material", file!("tests/lua/materials/rust.material"), 99),
        ("a.particles", file!("examples/arcade/particles/die.particles"), 99),
        ("a.sound", SOUND.into(), 99),
        ("tone.wav", wav_file(8000, 2, &[0, 100, -100, 7]), 60),
        ("a.ogg", file!("tests/sound/tone.ogg"), 30),
        ("a.flac", file!("tests/sound/tone.flac"), 30),
        ("a.mp3", file!("tests/sound/tone.mp3"), 30),
        ("a.mixer", file!("examples/arcade/main.mixer"), 99),
        ("a.model", file!("tests/lua/models/big.model"), 69),
        ("a.skeleton", file!("tests/lua/skeletons/puppet.skeleton"), 400),
        ("a.gltf", file!("tests/lua/models/chest.gltf"), 60),
        ("a.glb", file!("examples/playground/models/drum.glb"), 30),
        ("a.animation", ANIMATION.into(), 120),
        ("column.gltf", file!("tests/lua/models/column.gltf"), 9),
        ("a.state_machine", file!("tests/lua/units/column.state_machine"), 99),
        ("a.unit", UNIT.into(), 99),
        ("a.level", LEVEL.into(), 99),
        ("a.flow", file!("tests/lua/graphs/counter.flow"), 99),
        ("a.navigation", file!("tests/lua/levels/navigation/grounds.navigation"), 99),
        ("a.tilemap", b"map = \"cave.tmx\"".to_vec(), 30),
        ("a.tmj", TILED.into(), 99),
        ("a.tmx", file!("tests/lua/maps/cave.tmx"), 99),
        ("a.ldtk", file!("tests/lua/maps/world.ldtk"), 99),
        ("a.physics_properties", file!("tests/lua/global.physics_properties"), 99),
        ("a.shading_environment", file!("tests/lua/environments/noon.shading_environment"), 99),
        ("a.render_config", file!("core/render/full.render_config"), 99),
    ];
    let pictures = images_of_formats();
    all.extend(pictures.iter().map(|(extension, bytes)| (*extension, bytes.clone(), 60)));
    let path = |path: &str| match path.contains('.') {
        true => path.to_string(),
        false => format!("picture.{path}"),
    };
    all.into_iter().map(|(name, bytes, head)| (path(name), bytes, head)).collect()
}

#[test]
fn damaged_sources_never_make_a_compiler_panic_or_hang() {
    let samples = samples();
    let other_files: HashMap<&str, &[u8]> =
        samples.iter().map(|(path, bytes, _)| (&path[..], &bytes[..])).collect();
    let read = |path: &str| match other_files.get(path) {
        Some(bytes) => Ok(bytes.to_vec()),
        None => Err(engine_foundation::error!("{path}: there is no such file")),
    };
    let compile = |path: &str, bytes: Vec<u8>| -> Result<Vec<u8>, Error> {
        let (stem, extension) = path.rsplit_once('.').expect("samples have endings");
        let (kind, form) = KINDS.by_extension(extension).expect("it is one of a kind");
        let name = ResourceName::new(kind.name, stem);
        let mut compiling = CompileContext::new(name, path.to_string(), form, bytes, false, &read);
        compiling.kinds = KINDS;
        (kind.compile)(&mut compiling)
    };
    let (mut visited, mut tried) = (BTreeSet::new(), 0);
    for (path, bytes, head) in &samples {
        visited.insert(path.rsplit_once('.').expect("it has one").1);
        for damaged in std::iter::once(bytes.clone()).chain(corrupted_copies(bytes, *head)) {
            let began = Instant::now();
            let outcome = panic::contain(|| compile(path, damaged.clone()).err());
            let shown = String::from_utf8_lossy(&damaged);
            match outcome {
                Ok(None) => {}
                Ok(Some(error)) => assert!(!error.message.is_empty(), "{path}: no words: {shown}"),
                Err(error) => panic!("{path}: {error}: {shown}"),
            }
            assert!(began.elapsed() < PATIENCE, "{path} took {:?}: {shown}", began.elapsed());
            tried += 1;
        }
    }
    let known = ALL.iter().flat_map(|kind| kind.extensions).map(|(extension, _)| *extension);
    assert_eq!(visited, known.collect(), "every source format has a sample");
    assert!(tried > 20_000, "{tried}");
}
