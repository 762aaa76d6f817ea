//! Tests of AppImages, with a runtime of headers only.

use super::super::licenses::LicenseTexts;
use super::super::settings::tests::read;
use super::*;
use std::fs;

const RUNTIME_BYTES: usize = 200;

/// Returns the headers of a runtime for a processor, as ELF numbers it.
pub fn runtime(machine: u8) -> Vec<u8> {
    let mut elf = vec![0; RUNTIME_BYTES];
    elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
    elf[MARK_AT..MARK_AT + 3].copy_from_slice(MARK);
    elf[18] = machine;
    // One segment behind the header: the whole file.
    elf[32] = 64;
    elf[54] = 56;
    elf[56] = 1;
    elf[96] = RUNTIME_BYTES as u8;
    elf
}

fn read_runtime(name: &str, bytes: &[u8]) -> Result<AppImageRuntime, String> {
    let name = format!("engine-{}-runtime-{name}", std::process::id());
    let path = std::env::temp_dir().join(name);
    fs::write(&path, bytes).unwrap();
    let found = AppImageRuntime::read(&path);
    fs::remove_file(&path).unwrap();
    found.map_err(|error| error.message.replace(&path.display().to_string(), "FILE"))
}

#[test]
fn only_whole_runtimes_of_type_two_are_used() {
    let good = read_runtime("good", &runtime(62)).unwrap();
    assert_eq!(good.architecture, "x86_64");
    assert!(good.check_architecture("x86_64").is_ok());
    let message = good.check_architecture("aarch64").unwrap_err().message;
    let wanted = "is for x86_64, and the engine is for aarch64: download the runtime for aarch64";
    assert!(message.ends_with(wanted), "{message}");
    let refused = |name: &str, bytes: &[u8], wanted: &str| {
        let message = read_runtime(name, bytes).map(|_| ()).unwrap_err();
        assert!(message.starts_with(wanted), "{name}: {message}");
    };
    let no_runtime = "'FILE' is no runtime of AppImages: download a file such as runtime-x86_64";
    let mut other = runtime(62);
    other[10] = 1;
    refused("type1", &other, no_runtime);
    refused("text", b"#!/bin/sh\n", no_runtime);
    refused("empty", b"", no_runtime);
    let more = [runtime(62), b"hsqs".to_vec()].concat();
    refused("whole", &more, "the runtime 'FILE' has more behind its program, as a complete");
    for end in [RUNTIME_BYTES - 1, 119] {
        refused("short", &runtime(62)[..end], "the runtime 'FILE' is cut short: download");
    }
    let missing = AppImageRuntime::read(Path::new("/no/runtime")).map(|_| ()).unwrap_err();
    assert!(missing.message.starts_with("the runtime '/no/runtime' cannot be read: "));
}

#[test]
fn images_begin_with_the_runtime_and_have_links_to_the_game() {
    let settings = "package = { id = \"com.example.Yard\", title = \"Yard\" }";
    let game = GameFiles {
        settings: read(settings, "linux").unwrap(),
        licenses: LicenseTexts::default(),
        icon_pictures: vec![(128, vec![1]), (256, vec![2]), (512, vec![3])],
        program: Content::bytes("program"),
    };
    let runtime = read_runtime("image", &runtime(62)).unwrap();
    let mut bytes = Vec::new();
    image(&runtime, &game).unwrap().write_to(&mut bytes).unwrap();
    assert!(bytes.starts_with(&runtime.bytes) && bytes[RUNTIME_BYTES..].starts_with(b"hsqs"));
    let (files, links) = files(&game);
    let paths: Vec<&str> = files.files().map(|(path, _)| path).collect();
    // Each link leads to a file, or to another link.
    for (path, target) in &links {
        let is_link = links.iter().any(|(other, _)| other == target && other != path);
        assert!(is_link || paths.contains(&target.as_str()), "{path} leads to {target}");
    }
    let names: Vec<&str> = links.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(names, ["AppRun", "com.example.Yard.desktop", "com.example.Yard.png", ".DirIcon"]);
    assert_eq!(links[2].1, "usr/share/icons/hicolor/256x256/apps/com.example.Yard.png");
    let game = GameFiles { icon_pictures: Vec::new(), ..game };
    assert_eq!(super::files(&game).1.len(), 2, "no icon, no links to it");
}
