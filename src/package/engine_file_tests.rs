//! Tests of executables of the engine, with headers written by hand.

use super::*;
use std::fs;

/// Returns the mark of an engine of a version, which follows the headers.
pub fn mark(version: &str) -> Vec<u8> {
    format!("engine executable, version {version};").into_bytes()
}

fn refused(name: &str, bytes: &[u8]) -> String {
    let name = format!("engine-{}-file-{name}", std::process::id());
    let path = std::env::temp_dir().join(name);
    fs::write(&path, bytes).unwrap();
    let message = EngineFile::read(&path).map(|_| ()).unwrap_err().message;
    fs::remove_file(&path).unwrap();
    message.replace(&path.display().to_string(), "FILE")
}

#[test]
fn only_engines_of_this_version_are_used() {
    let mut elf = vec![0; 120];
    elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
    elf[18] = 62;
    let with = |bytes: &[u8], version: &str| [bytes, &mark(version)].concat();
    let wanted = "'FILE' is no executable for Linux, Windows or macOS: name the engine of the \
                  platform with --engine";
    assert_eq!(refused("text", b"#!/bin/sh\n"), wanted);
    assert_eq!(refused("empty", b""), wanted);
    let own = env!("CARGO_PKG_VERSION");
    let wanted = format!("'FILE' is an executable for linux, but not the engine of version {own}");
    assert_eq!(refused("other", &elf), wanted);
    let wanted = format!(
        "'FILE' is version 9.9.9 of the engine, and this is version {own}: a game can only be \
         played by the version that compiled it"
    );
    assert_eq!(refused("newer", &with(&elf, "9.9.9")), wanted);
    elf[18] = 40;
    let wanted = "'FILE' is for linux on arm: the engine runs on x86_64 and aarch64";
    assert_eq!(refused("arm", &with(&elf, own)), wanted);
    let missing = EngineFile::read(Path::new("/no/engine")).map(|_| ()).unwrap_err();
    assert!(missing.message.starts_with("the engine '/no/engine' cannot be read: "));
}

#[test]
fn engines_that_macos_does_not_start_need_a_signing_tool() {
    use super::super::mach_o::tests::{APPLE, INTEL, mach_file, universal};
    let check = |name: &str, bytes: &[u8]| {
        let name = format!("engine-{}-file-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, [bytes, &mark(env!("CARGO_PKG_VERSION"))].concat()).unwrap();
        let engine = EngineFile::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        (engine.architecture.clone(), engine.check_signature().map_err(|error| error.message))
    };
    let (intel, apple) = (mach_file(INTEL, (11, 0), false), mach_file(APPLE, (11, 0), true));
    let both = universal(&[(INTEL, intel.clone()), (APPLE, apple)]);
    assert_eq!(check("universal", &both), ("universal".to_string(), Ok(())));
    assert_eq!(check("intel", &intel), ("x86_64".to_string(), Ok(())));
    let (_, refused) = check("unsigned", &mach_file(APPLE, (11, 0), false));
    let message = refused.unwrap_err();
    assert!(message.contains("' has no signature, without which macOS starts no "), "{message}");
}

#[test]
fn removable_files_stay_in_executables_with_a_signature() {
    use super::super::mach_o::tests::{APPLE, mach_file};
    let page: &[u8] = &[b'p'; 100];
    let cleared = |bytes: &[u8], is_signed_later: bool| {
        let (path, platform, kind) = (PathBuf::new(), "macos", EngineKind::Player);
        let bytes = [bytes, page].concat();
        let architecture = String::new();
        let has_development = true;
        let mut engine = EngineFile { path, bytes, platform, kind, has_development, architecture };
        engine.clear_files(&[page], is_signed_later);
        engine.bytes.ends_with(&[0; 100])
    };
    assert!(cleared(b"\x7fELF", false));
    let signed = mach_file(APPLE, (11, 0), true);
    assert!(!cleared(&signed, false) && cleared(&signed, true));
    assert!(cleared(&mach_file(APPLE, (11, 0), false), false));
}

#[test]
fn missing_engine_message_has_two_remedies() {
    let message = missing_message("windows", EngineKind::Player, Path::new("bin"));
    let wanted = format!(
        "there is no engine for windows: a package needs an executable of version {}. Build it \
         with `cargo build --profile dist --target x86_64-pc-windows-gnu`, and name the file \
         with --engine, or put it as 'engine-windows.exe' into 'bin'",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(message, wanted);
    let message = missing_message("linux", EngineKind::Server, Path::new("bin"));
    assert!(message.starts_with("there is no engine for servers on linux: "), "{message}");
    let wanted = "`packaging/server.sh x86_64-unknown-linux-gnu`, and name the file with --engine, \
                  or put it as 'engine-server-linux' into 'bin'";
    assert!(message.ends_with(wanted), "{message}");
}

#[test]
fn engines_for_servers_are_known_by_their_marks() {
    let is_marked = |reversed: &str, wanted: &[u8]| {
        let mark: String = reversed.chars().rev().collect();
        has_mark(format!("eng\0{mark}\0").as_bytes(), wanted)
    };
    let (servers, bundles) = (SERVER_MARK_REVERSED, BUNDLES_MARK_REVERSED);
    assert!(is_marked(";srevres rof elbatucexe enigne", servers));
    assert!(!is_marked(";srevres rof elbatucexe enigne", bundles));
    assert!(!is_marked(";srevres rof elbatucexe enign", servers));
    assert!(is_marked(";seldnub rof elbatucexe enigne", bundles));
    assert!(!has_mark(b"", servers) && !has_mark(servers, servers));
}
