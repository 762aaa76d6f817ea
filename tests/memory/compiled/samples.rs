//! A game with a sample of every resource kind: the files of the Lua suites, and generated files
//! for formats missing there. It is compiled once, and played with the data of one resource
//! replaced.

use super::sample_game;
use engine::app::resource_kinds::KINDS;
use engine::resource::compile::{CompileTarget, compile};
use engine::resource::image::encode_png;
use engine::resource::index::{IndexEntry, ResourceIndex};
use std::fs;
use std::path::{Path, PathBuf};

/// Compiled data of one variant of a resource.
pub struct Sample {
    pub name: String,
    pub kind: String,
    /// Its position in the index.
    pub entry: usize,
    pub data: Vec<u8>,
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "{}.{}", self.name, self.kind)
    }
}

/// The game's folder, removed on drop.
pub struct Samples {
    pub root: PathBuf,
    pub index: ResourceIndex,
    pub all: Vec<Sample>,
}

impl Drop for Samples {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Prefixes of the suites' files that cannot be played: they are invalid on purpose, have script
/// components, which are not copied, or use a file of this list.
const EXCLUDED: &[&str] = &[
    "bad_",
    "circle.",
    "dancer.",
    "enemy.",
    "eye_",
    "far",
    "frail",
    "holey.",
    "lacking.",
    "loop_",
    "lost_",
    "mistaken.",
    "only.",
    "packed",
    "ring",
    "slow.",
    "stepper.",
    "upright_yard.",
    "varied.",
    "walled.",
    "yard.",
];

fn is_excluded(name: &str) -> bool {
    // The image `packed.ktx2` has such a prefix, but can be played.
    !name.ends_with(".ktx2") && EXCLUDED.iter().any(|start| name.starts_with(start))
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if path.is_dir() {
            if name != ".engine" {
                copy(&path, &to.join(name));
            }
        } else if !name.ends_with(".lua") && !is_excluded(&name) {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

impl Samples {
    pub fn new() -> Samples {
        static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("engine-compiled-{}-{count}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&root);
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        copy(&project.join("tests/lua"), &root);
        fs::remove_file(root.join("settings.sjson")).unwrap();
        for (path, text) in TEXTS {
            save(&root, path, text.as_bytes());
        }
        for (path, bytes) in pictures() {
            save(&root, path, &bytes);
        }
        save(&root, "rig/rig.bin", &rig());
        let symbols = fs::read(project.join("core/fonts/symbols.ttf")).unwrap();
        save(&root, "fonts/symbols.ttf", &symbols);
        for ending in ["ogg", "mp3", "flac"] {
            let path = format!("tone.{ending}");
            let bytes = fs::read(project.join("tests/sound").join(&path)).unwrap();
            save(&root, &format!("sounds/{ending}.{ending}"), &bytes);
        }
        let target = CompileTarget {
            root: &root,
            data: root.join(".data"),
            kinds: KINDS,
            source_platform: "linux",
            release: true,
            exclude: &[],
            threads: 1,
        };
        let compiled = compile(&target, &|_, _| {}).unwrap();
        assert_eq!(compiled.problems, [""; 0]);
        let index = compiled.index;
        let sample = |(entry, of): (usize, &IndexEntry)| Sample {
            name: of.resource.name.clone(),
            kind: of.resource.kind.clone(),
            entry,
            data: fs::read(root.join(".data").join(&of.data)).unwrap(),
        };
        // One variant of each, because the game chooses the variant that it uses.
        let base = index.entries.iter().enumerate().filter(|(_, entry)| entry.properties.is_base());
        let all = base.map(sample).collect();
        Samples { root, index, all }
    }

    /// Returns the samples of a kind.
    pub fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Sample> {
        self.all.iter().filter(move |sample| sample.kind == kind)
    }

    /// Plays the game with other data for a sample. Returns an error message, or an empty text.
    pub fn play(&self, sample: &Sample, data: &[u8]) -> String {
        let mut index = self.index.clone();
        sample_game::replace(&self.root, &mut index.entries[sample.entry], data);
        let file = self.root.join(".data").join(&index.entries[sample.entry].data);
        let message = sample_game::run(&self.root, index, sample);
        // The game may have removed unusable data already.
        let _ = fs::remove_file(file);
        message
    }
}

fn save(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Files of formats that the suites lack.
const TEXTS: &[(&str, &str)] = &[
    ("use.lua", include_str!("use.lua")),
    ("part.lua", "local Part = {}\nfunction Part.value() return 'part' end\nreturn Part\n"),
    ("effects/full.particles", include_str!("full.particles")),
    ("effects/whiskers.particles", include_str!("whiskers.particles")),
    ("sounds/full.sound", include_str!("full.sound")),
    ("main.mixer", include_str!("main.mixer")),
    ("maps/full.tmx", include_str!("full.tmx")),
    ("rig/rig.gltf", include_str!("rig.gltf")),
    ("levels/full.level", include_str!("full.level")),
    ("graphs/counter.flow", include_str!("../../lua/graphs/counter.flow")),
    ("levels/walked.navigation", include_str!("walked.navigation")),
    ("levels/walked.level", include_str!("walked.level")),
    ("units/walker.unit", "components = { agent = { speed = 4 priority = 2 } }"),
    ("units/full.unit", include_str!("full.unit")),
    (
        "units/heir.unit",
        "inherit = \"units/full\" nodes = { low = { scale = 2 } } data = { a = 1 }",
    ),
    ("fonts/pages.fnt", PAGES),
    (
        "fonts/both.font",
        "source = \"fonts/symbols.ttf\" fallback = [\"fonts/pages\"] prewarm = \"AV\"",
    ),
    ("textures/wide.texture", "filter = \"nearest\" wrap = \"mirror\" max_size = 160"),
    ("textures/bumps.texture", "data = true wrap = \"repeat\""),
    ("textures/sloped.texture", "normal_image = \"textures/bumps.png\""),
    (
        "textures/slopes.sheet",
        "image = \"textures/sloped.png\" frame = [4, 8] normal_image = \"textures/bumps.png\"",
    ),
    ("materials/full.material", include_str!("full.material")),
    ("deep.config", "a = [1, [2, [3, { b = null c = [true, false, -1.5e300] }]]] d = \"text\""),
    ("words.strings", "hello = { en = \"Hello {name}\", sv = \"Hej {name}\" } bye = \"Bye\""),
    ("words.text", "A text with ä and 漢字.\n"),
    ("all.package", "\"*\" = [\"data/*\", \"words\"]\ntexture = [\"textures/*\"]"),
];

/// A bitmap font of two letters on one page.
const PAGES: &str = "\
info face=\"Pages\" size=16 bold=0 padding=1,1,1,1 spacing=1,1
common lineHeight=20 base=15 scaleW=32 scaleH=16 pages=1 packed=0
page id=0 file=\"page.png\"
chars count=2
char id=65 x=0 y=0 width=12 height=16 xoffset=-1 yoffset=1 xadvance=10 page=0 chnl=15
char id=86 x=16 y=0 width=12 height=16 xoffset=0 yoffset=1 xadvance=11 page=0 chnl=15
kernings count=1
kerning first=65 second=86 amount=-2
";

/// Returns images: small, large, of numbers, with values above white, and compressed with mip
/// levels.
fn pictures() -> Vec<(&'static str, Vec<u8>)> {
    let png = |width: u32, height: u32| {
        let texel = |i: u32| [(i * 7) as u8, (i * 13) as u8, (i / 3) as u8, (i * 31) as u8 | 64];
        encode_png(width, height, &(0..width * height).flat_map(texel).collect::<Vec<u8>>())
    };
    let hdr = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 2\n\x80\x40\x20\x82\x10\x20\x40\x7f";
    vec![
        ("fonts/page.png", png(32, 16)),
        ("textures/wide.png", png(320, 5)),
        ("textures/bumps.png", png(12, 8)),
        ("textures/sloped.png", png(12, 8)),
        ("textures/light.hdr", hdr.to_vec()),
        ("textures/blocks.dds", dds()),
    ]
}

/// Returns a BC1 image with all mip levels: 8 x 8, 4 x 4, 2 x 2, 1 x 1.
fn dds() -> Vec<u8> {
    let mut header = [0u32; 32];
    header[..8].copy_from_slice(&[0x2053_4444, 124, 0x2_1007, 8, 8, 32, 0, 4]);
    (header[19], header[20], header[21]) = (32, 0x4, u32::from_le_bytes(*b"DXT1"));
    header[27] = 0x40_1008;
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend((0..(4 + 1 + 1 + 1) * 8).map(|i| (i * 37) as u8));
    bytes
}

/// Returns the buffer of rig.gltf: a triangle with normals, UVs, joints, weights and a morph
/// target, two matrices, times, and keyframes of translation, rotation, scale and morph weights.
fn rig() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut floats = |floats: &[f32]| {
        bytes.extend(floats.iter().flat_map(|float| float.to_le_bytes()));
    };
    floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]); // 0: positions
    floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]); // 36: normals
    floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]); // 72: uvs
    floats(&[1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]); // 96: weights
    floats(&[0.0, 0.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0]); // 144: the morph target
    let one = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    floats(&one); // 180: matrices
    floats(&one);
    floats(&[0.0, 0.5]); // 308: times
    floats(&[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]); // 316: translations
    floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]); // 340: rotations
    floats(&[0.0; 18]); // 372: scales, each with two tangents
    floats(&[0.0, 1.0]); // 444: morph weights
    bytes.extend([0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0]); // 452: joints
    assert_eq!(bytes.len(), 464);
    bytes
}
