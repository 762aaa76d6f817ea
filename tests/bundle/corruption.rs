//! Tests of damaged bundles: cut short, with flipped bytes, of another version, or other files
//! altogether.

use super::{Scratch, contains};
use engine::app::Game;
use engine::app::resource_kinds::KINDS;
use engine::foundation::blob::{BlobWriter, FRAME_BYTES};
use engine::foundation::hash::murmur64a;
use engine::resource::bundle::{Bundle, VERSION};
use std::fs;
use std::path::Path;

const GAME: &[(&str, &str)] = &[
    ("main.lua", "print(require('other'), Application.data('text', 'note'))"),
    ("other.lua", "return 'other'"),
    ("note.txt", "a note that is long enough to have a middle"),
    ("note.fr.txt", "une note"),
    ("set.package", "text = [\"*\"]"),
];

/// Returns the size of header and index, including their frame, in bytes.
fn framed_bytes(bytes: &[u8]) -> usize {
    FRAME_BYTES + u64::from_le_bytes(bytes[8..16].try_into().unwrap()) as usize
}

/// Opens a bundle and reads all of it. Returns the first error.
fn read(path: &Path) -> Result<(), String> {
    let bundle = Bundle::open(path, &KINDS, std::env::consts::OS);
    let bundle = bundle.map_err(|error| error.message)?;
    for part in 0..bundle.parts().len() {
        bundle.read(part).map_err(|error| error.message)?;
    }
    Ok(())
}

fn play(scratch: &Scratch, bytes: &[u8]) -> (i32, String, String) {
    fs::write(scratch.path("bad.bundle"), bytes).unwrap();
    let result = scratch.engine("run bad.bundle --headless --frames 2");
    (result.code, result.out, result.err)
}

#[test]
fn truncated_bundle_is_refused_with_message() {
    let scratch = Scratch::new("cut", GAME);
    let bytes = fs::read(scratch.bundle()).unwrap();
    let path = scratch.path("cut.bundle");
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        let message = read(&path).unwrap_err();
        let expected = match length {
            0 => "the file is empty",
            1..4 => "it is something else: bundles are made with",
            _ => "it is cut short: its end is missing. Copy it again",
        };
        assert!(message.contains(expected), "{length}: {message}");
    }
    for length in (0..bytes.len()).step_by(bytes.len() / 8) {
        let (code, out, err) = play(&scratch, &bytes[..length]);
        assert_eq!((code, &*out), (1, ""), "{length}: {err}");
        let expected = "error: the bundle 'bad.bundle' cannot be played: ";
        assert!(err.starts_with(expected) && err.lines().count() == 1, "{length}: {err}");
    }
}

#[test]
fn flipped_byte_is_refused_or_reported_on_read() {
    let scratch = Scratch::new("flip", GAME);
    let bytes = fs::read(scratch.bundle()).unwrap();
    let path = scratch.path("flip.bundle");
    let framed = framed_bytes(&bytes);
    let mut unnoticed = 0;
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        let opened = Bundle::open(&path, &KINDS, std::env::consts::OS);
        let outside = at < framed || at >= bytes.len() - 24;
        assert_eq!(opened.is_err(), outside, "byte {at}");
        unnoticed += usize::from(read(&path).is_ok());
    }
    // Padding between the index and the data, and after the data of each resource except the last.
    assert!(unnoticed < 16 * 5, "{unnoticed} bytes are in no checksum");
    for at in (0..bytes.len()).step_by(bytes.len() / 12) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let (code, _, err) = play(&scratch, &damaged);
        assert!(code <= 1 && !err.contains("panic"), "byte {at}: {code} {err}");
        assert_eq!(code == 1, err.contains("error: "), "byte {at}: {err}");
    }
}

#[test]
fn trailer_with_too_small_size_is_not_a_bundle() {
    let scratch = Scratch::new("short-end", GAME);
    let bytes = fs::read(scratch.bundle()).unwrap();
    let path = scratch.path("short.bundle");
    for count in 0..24u64 {
        let mut forged = bytes.clone();
        let end = forged.len() - 24;
        forged[end + 8..end + 16].copy_from_slice(&count.to_le_bytes());
        let sum = murmur64a(&forged[end..end + 16], VERSION.into());
        forged[end + 16..].copy_from_slice(&sum.to_le_bytes());
        fs::write(&path, &forged).unwrap();
        let message = read(&path).unwrap_err();
        assert!(message.contains("it is cut short: its end is missing"), "{count}: {message}");
    }
}

#[test]
fn bytecode_in_forged_bundle_is_not_run() {
    let scratch = Scratch::new("bytecode", GAME);
    let mut forged = fs::read(scratch.bundle()).unwrap();
    let (text, code) = (b"return 'other'", b"\x1bLJ\x02 bytecode.");
    let at = forged.windows(text.len()).rposition(|window| window == text).unwrap();
    forged[at..at + text.len()].copy_from_slice(code);
    // All checksums are correct, because an attacker can compute them, too.
    let framed = framed_bytes(&forged);
    let sum = murmur64a(text, 0).to_le_bytes();
    let at = forged[..framed].windows(8).position(|window| window == sum).unwrap();
    forged[at..at + 8].copy_from_slice(&murmur64a(code, 0).to_le_bytes());
    let frame = murmur64a(&forged[FRAME_BYTES..framed], VERSION.into());
    forged[16..24].copy_from_slice(&frame.to_le_bytes());
    let path = scratch.path("forged.bundle");
    fs::write(&path, &forged).unwrap();
    let message = "it is damaged: it is a compiled chunk, and scripts are text";
    assert!(read(&path).unwrap_err().starts_with(message));
    let (code, out, err) = play(&scratch, &forged);
    assert!((code, &*out) == (1, "") && err.contains(message), "{code} {out} {err}");
}

/// Flips a byte in the middle of a text in the bundle.
fn damage(bytes: &[u8], text: &str) -> Vec<u8> {
    let at = bytes.windows(text.len()).rposition(|window| window == text.as_bytes()).unwrap();
    let mut damaged = bytes.to_vec();
    damaged[at + text.len() / 2] ^= 1;
    damaged
}

#[test]
fn corrupted_data_is_an_error_with_a_report() {
    let check = |name: &str, main: &str, damaged: &str, message: &str| {
        let scratch = Scratch::new(name, GAME);
        scratch.save("main.lua", main);
        let bytes = fs::read(scratch.bundle()).unwrap();
        let (code, out, err) = play(&scratch, &damage(&bytes, damaged));
        assert_eq!((code, &*out), (1, ""), "{err}");
        assert!(err.contains(message) && err.contains("the report is in"), "{name}: {err}");
        assert!(scratch.reports().contains("the bundle is damaged: get it again"), "{name}");
    };
    let note = "a note that is long enough";
    let message = "Application.data: the data of note.text: the bundle is damaged: get it again";
    check("bad-data", "print(Application.data('text', 'note'))", note, message);
    let message = "require: the data of other.lua: the bundle is damaged: get it again";
    check("bad-module", "print(require('other'))", "return 'other'", message);
    let message = "before its first frame: the data of main.lua: the bundle is damaged";
    check("bad-boot", "print 'not reached'", "print 'not reached'", message);
    let load = "local set = Application.resource_package('set')\nResourcePackage.load(set)\n";
    check("bad-package", load, note, "before its first frame: the data of #");
    let message = "ResourcePackage.flush: the data of #";
    check("bad-flush", &format!("{load}ResourcePackage.flush(set)"), note, message);
}

/// Returns a bundle with bytes of its index replaced by others of the same length, and correct
/// checksums.
fn forge(bytes: &[u8], version: u32, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let framed = framed_bytes(bytes);
    let mut body = bytes[FRAME_BYTES..framed].to_vec();
    let at = body.windows(from.len()).position(|window| window == from).unwrap();
    body[at..at + to.len()].copy_from_slice(to);
    let mut writer = BlobWriter::default();
    body.iter().for_each(|byte| writer.u8(*byte));
    let mut forged = writer.into_frame(bytes[..4].try_into().unwrap(), version);
    forged.extend(&bytes[framed..]);
    forged
}

#[test]
fn wrong_version_or_invalid_index_is_refused() {
    let scratch = Scratch::new("forged", GAME);
    let bytes = fs::read(scratch.bundle()).unwrap();
    let check = |version: u32, from: &[u8], to: &[u8], expected: &str| {
        let (code, out, err) = play(&scratch, &forge(&bytes, version, from, to));
        assert_eq!((code, &*out), (1, ""), "{err}");
        let expected = format!("error: the bundle 'bad.bundle' cannot be played: {expected}");
        assert!(err.starts_with(&expected), "{err}");
    };
    let message =
        format!("it is of version {}, and this engine reads version {VERSION}", VERSION + 1);
    check(VERSION + 1, b"main.lua", b"main.lua", &message);
    let version = env!("CARGO_PKG_VERSION").as_bytes();
    let other = [&version[..version.len() - 1], b"x"].concat();
    let message =
        format!("it was made by version {} of the engine", String::from_utf8_lossy(&other));
    check(VERSION, version, &other, &message);
    let astray = "it is damaged: its index leads out of it";
    check(VERSION, b"main.lua", b"../n.lua", astray);
    check(VERSION, b"main.lua", b"/ain.lua", astray);
    check(VERSION, b"other.lua", b"a\\..\\..lua".get(..9).unwrap(), astray);
    let bundle = Bundle::open(&scratch.path("game.bundle"), &KINDS, std::env::consts::OS).unwrap();
    // The parts are in order, so the first id cannot be the last.
    let id = bundle.parts().last().unwrap().id.0.to_le_bytes();
    check(VERSION, &id, &[0; 8], astray);
    // The length of one resource's data. It follows id, empty properties, kind and start.
    let text = GAME[2].1;
    let length = (text.len() as u64).to_le_bytes();
    for wrong in [u64::MAX, 1 << 40, bytes.len() as u64] {
        check(VERSION, &length, &wrong.to_le_bytes(), astray);
    }
    assert!(contains(&bytes, text));
}

#[test]
fn non_bundle_file_is_reported() {
    let scratch = Scratch::new("other", &[("main.lua", "")]);
    let check = |name: &str, bytes: &[u8], expected: &str| {
        fs::write(scratch.path(name), bytes).unwrap();
        let result = scratch.engine(&format!("run {name} --headless"));
        assert_eq!((result.code, &*result.out), (1, ""), "{}", result.err);
        let expected = expected.replace("NAME", name);
        assert!(result.err.starts_with(&expected), "{}", result.err);
    };
    let refused = "error: the bundle 'NAME' cannot be played: ";
    check("empty.bundle", b"", &format!("{refused}the file is empty"));
    let other = format!("{refused}it is something else: bundles are made with `engine compile");
    check("text.bundle", b"not a bundle, but long enough to have an end", &other);
    check("text", b"not a bundle", "error: 'text' is a file: give the folder that it is in");
    fs::create_dir(scratch.path("folder.bundle")).unwrap();
    let result = scratch.engine("run folder.bundle --headless");
    assert_eq!(result.code, 1);
    assert!(result.err.contains("'folder.bundle' has no main.lua"), "{}", result.err);
    assert!(Game::at(&scratch.path("nothing.bundle")).is_ok(), "told when it is opened");
    let result = scratch.engine("run nothing.bundle --headless");
    assert!(result.err.contains("there is no folder 'nothing.bundle'"), "{}", result.err);
}
