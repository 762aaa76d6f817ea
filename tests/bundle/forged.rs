//! Tests of forged bundles: correct checksums, and numbers that no source can have.

use super::Scratch;
use engine::app::resource_kinds::KINDS;
use engine::foundation::blob::FRAME_BYTES;
use engine::foundation::hash::murmur64a;
use engine::resource::bundle::{Bundle, VERSION};
use engine::resource::image::encode_png;
use engine::resource::index::{FILE, ResourceIndex};
use engine::system::particles::data::EffectData;
use std::fs;

const REMEDY: &str = "the bundle is damaged or was made by other software: make it again with \
                      `engine compile --bundle`";
/// Offset of the number of mip levels in a texture's data.
const LEVELS_AT: usize = 16;

/// A game that shows an image, plays an effect and runs a module.
const GAME: &[(&str, &str)] = &[
    (
        "main.lua",
        r#"
local world
function init()
  world = Application.main_world()
  local what = Application.argv()
  if what == "texture" then print(Texture.size("picture")) end
  if what == "particles" then World.create_particles(world, "effect") end
  if what == "lua" then print(require("part")) end
  if what == "package" then
    local package = Application.resource_package("all")
    ResourcePackage.load(package)
    ResourcePackage.flush(package)
    print("loaded")
  end
end
function update(dt) World.update(world, dt) end
"#,
    ),
    ("part.lua", "return 'part'"),
    (
        "effect.particles",
        "emitters = { a = { rate = 5 bursts = [{ every = 0.5 count = [1, 3] }] } }",
    ),
    ("all.package", "texture = [\"*\"]\nparticles = [\"effect\"]"),
];

fn game(name: &str) -> Scratch {
    let scratch = Scratch::new(name, GAME);
    let png = encode_png(16, 16, &[200; 16 * 16 * 4]);
    fs::write(scratch.path("game/picture.png"), png).unwrap();
    scratch
}

/// Returns a bundle in which the data of a kind is replaced by data of the same length, with
/// correct checksums.
fn forge(bytes: &[u8], bundle: &Bundle, kind: &str, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let part = (0..bundle.parts().len()).find(|part| {
        let is_main = bundle.parts()[*part].path == "main.lua";
        bundle.kind(*part).name == kind && !is_main
    });
    let data = bundle.read(part.unwrap()).unwrap().to_vec();
    let mut other = data.clone();
    change(&mut other);
    assert!(other.len() == data.len() && other != data);
    let mut forged = bytes.to_vec();
    let replace = |forged: &mut Vec<u8>, end: usize, from: &[u8], to: &[u8]| {
        let at = forged[..end].windows(from.len()).position(|window| window == from).unwrap();
        forged[at..at + to.len()].copy_from_slice(to);
    };
    replace(&mut forged, bytes.len(), &data, &other);
    let framed = FRAME_BYTES + u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize;
    let sum = |data: &[u8]| murmur64a(data, 0).to_le_bytes();
    replace(&mut forged, framed, &sum(&data), &sum(&other));
    let frame = murmur64a(&forged[FRAME_BYTES..framed], VERSION.into());
    forged[16..24].copy_from_slice(&frame.to_le_bytes());
    forged
}

/// Changes a number in the texture's header.
#[allow(clippy::ptr_arg, reason = "a row of a table, as others that replace the whole")]
fn set_level_count(data: &mut Vec<u8>) {
    data[LEVELS_AT..LEVELS_AT + 4].copy_from_slice(&(1u32 << 31).to_le_bytes());
}

/// Changes a number in the effect's first burst, and corrects the checksum of its own frame.
fn set_burst_interval(data: &mut Vec<u8>) {
    let mut effect = EffectData::read(data).unwrap();
    effect.emitters[0].numbers.bursts[0].every = 1e-9;
    *data = effect.write();
}

/// Replaces the second member by a copy of the first. A byte and their count precede the members.
#[allow(clippy::ptr_arg, reason = "a row of a table, as others that replace the whole")]
fn duplicate_member(data: &mut Vec<u8>) {
    assert_eq!(data.len(), 5 + 2 * 8);
    data.copy_within(5..13, 13);
}

const LEVELS_ERROR: &str = "the file is damaged: it says it has 2147483648 levels, and 16 x 16 \
                            texels have 1 to 5";
const INTERVAL_ERROR: &str =
    "emitter 'a': it is damaged: 'every' must be 0.001 to 3600, got 0.000000001";

#[test]
fn forged_numbers_that_cause_long_work_are_refused() {
    let scratch = game("numbers");
    let bytes = fs::read(scratch.bundle()).unwrap();
    let bundle = scratch.path("game.bundle");
    let bundle = Bundle::open(&bundle, &KINDS, std::env::consts::OS).unwrap();
    let check = |kind: &str, argument: &str, change: fn(&mut Vec<u8>), expected: &str| {
        fs::write(scratch.path("forged.bundle"), forge(&bytes, &bundle, kind, change)).unwrap();
        let run = format!("run forged.bundle --headless --frames 3 -- {argument}");
        let result = scratch.engine(&run);
        assert_eq!((result.code, &*result.out), (1, ""), "{}", result.err);
        assert!(result.err.contains(&format!("{expected}: {REMEDY}")), "{}", result.err);
        // A game that does not use the resource plays on.
        scratch.engine("run forged.bundle --headless --frames 3 -- nothing").check(0, "", "");
    };
    check(
        "texture",
        "texture",
        set_level_count,
        &format!("the data of picture.texture: {LEVELS_ERROR}"),
    );
    check("texture", "package", set_level_count, LEVELS_ERROR);
    check(
        "particles",
        "particles",
        set_burst_interval,
        &format!("the data of effect.particles: {INTERVAL_ERROR}"),
    );
    let bytecode = |data: &mut Vec<u8>| data[..4].copy_from_slice(b"\x1bLJ\x02");
    let message =
        "the data of part.lua: it is damaged: it is a compiled chunk, and scripts are text";
    check("lua", "lua", bytecode, message);
    // All members of a package are read and checked: a million times, if it names one a million
    // times.
    let message = "the data of all.package: it is damaged: its members are out of order, or repeat";
    check("package", "package", duplicate_member, message);
}

#[test]
fn data_of_wrong_kind_is_refused() {
    let scratch = game("kinds");
    let bytes = fs::read(scratch.bundle()).unwrap();
    let bundle = scratch.path("game.bundle");
    let bundle = Bundle::open(&bundle, &KINDS, std::env::consts::OS).unwrap();
    let texture = (0..bundle.parts().len()).find(|part| bundle.kind(*part).name == "texture");
    let part = &bundle.parts()[texture.unwrap()];
    // The kind follows the id and empty properties. Each byte yields a valid text or an unknown
    // kind.
    let framed = FRAME_BYTES + u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize;
    let id = [&part.id.0.to_le_bytes()[..], &[0; 4]].concat();
    let at = bytes[..framed].windows(12).position(|window| window == id).unwrap() + 12;
    let check = |kind: u8, expected: &str| {
        let mut forged = bytes.clone();
        forged[at] = kind;
        let frame = murmur64a(&forged[FRAME_BYTES..framed], VERSION.into());
        forged[16..24].copy_from_slice(&frame.to_le_bytes());
        fs::write(scratch.path("forged.bundle"), forged).unwrap();
        let result = scratch.engine("run forged.bundle --headless --frames 3 -- texture");
        assert_eq!((result.code, &*result.out), (1, ""), "{}", result.err);
        assert!(result.err.contains(expected), "{}", result.err);
    };
    let binary = KINDS.index_of("binary").unwrap() as u8;
    let message = format!("the data of picture.texture: it is of type binary: {REMEDY}");
    check(binary, &message);
    check(200, "it is damaged: its index leads out of it");
}

#[test]
fn overlapping_parts_are_refused() {
    let scratch = game("overlap");
    let bytes = fs::read(scratch.bundle()).unwrap();
    let bundle = scratch.path("game.bundle");
    let bundle = Bundle::open(&bundle, &KINDS, std::env::consts::OS).unwrap();
    let framed = FRAME_BYTES + u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize;
    let check = |part: usize, start: fn(u64) -> u64| {
        // Kind and start follow the id and empty properties.
        let id = [&bundle.parts()[part].id.0.to_le_bytes()[..], &[0; 4]].concat();
        let at = bytes[..framed].windows(12).position(|window| window == id).unwrap() + 13;
        let mut forged = bytes.clone();
        let now = u64::from_le_bytes(forged[at..at + 8].try_into().unwrap());
        forged[at..at + 8].copy_from_slice(&start(now).to_le_bytes());
        let frame = murmur64a(&forged[FRAME_BYTES..framed], VERSION.into());
        forged[16..24].copy_from_slice(&frame.to_le_bytes());
        fs::write(scratch.path("forged.bundle"), forged).unwrap();
        let result = scratch.engine("run forged.bundle --headless --frames 3 -- nothing");
        assert_eq!((result.code, &*result.out), (1, ""), "{}", result.err);
        let expected = "it is damaged: its parts overlap, or have gaps between them";
        assert!(result.err.contains(expected), "{}", result.err);
    };
    check(1, |_| 0);
    check(bundle.parts().len() - 1, |_| 0);
    check(1, |start| start - 16);
}

#[test]
fn forged_compiled_data_is_refused_and_recompiled() {
    let scratch = game("folder");
    let run = "run game --headless --frames 1 --no-watch -- texture";
    scratch.engine(run).check(0, "16\t16\n", "");
    let poison = |folder: &str| {
        let data = scratch.path("game/.engine").join(folder).join(std::env::consts::OS);
        let mut index = ResourceIndex::from_bytes(&fs::read(data.join(FILE)).unwrap()).unwrap();
        let entry = index.entries.iter_mut().find(|entry| entry.resource.kind == "texture");
        let entry = entry.unwrap();
        let mut bytes = fs::read(data.join(&entry.data)).unwrap();
        set_level_count(&mut bytes);
        fs::write(data.join(&entry.data), &bytes).unwrap();
        entry.data_content = murmur64a(&bytes, 0);
        fs::write(data.join(FILE), index.to_bytes()).unwrap();
    };
    poison("data");
    let result = scratch.engine(run);
    assert_eq!((result.code, &*result.out), (1, ""), "{}", result.err);
    let expected = format!(
        "the compiled data of picture.texture was damaged ({LEVELS_ERROR}): start again, and it is \
         compiled again"
    );
    assert!(result.err.contains(&expected), "{}", result.err);
    scratch.engine(run).check(0, "16\t16\n", "");
    // No poisoned data enters a bundle.
    scratch.bundle();
    poison("release");
    let compiled = scratch.engine("compile game --bundle --out game.bundle");
    assert_eq!(compiled.code, 1, "{}", compiled.out);
    let expected =
        format!("the compiled data of picture.texture cannot be used ({LEVELS_ERROR}): try again");
    assert!(
        compiled.err.contains(&expected) || compiled.out.contains(&expected),
        "{}{}",
        compiled.out,
        compiled.err
    );
    scratch.bundle();
    let played = scratch.engine("run game.bundle --headless --frames 1 -- texture");
    played.check(0, "16\t16\n", "");
}
