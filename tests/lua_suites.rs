//! Runs the engine's own Lua suites with the built program, as a game's suites run.

use std::process::Command;

#[test]
fn every_lua_suite_passes() {
    let suites = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lua");
    let run = Command::new(env!("CARGO_BIN_EXE_engine")).args(["test", suites]).output().unwrap();
    let out = String::from_utf8_lossy(&run.stdout);
    let err = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{out}\n{err}");
    let last = out.lines().last().unwrap_or_default();
    assert!(last.contains(" passed, 0 failed, "), "{last}");
    // Checks that every file was run, because a suite that is not found would not fail.
    let files = std::fs::read_dir(suites).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with("_test.lua")
    });
    assert_eq!(out.lines().filter(|line| line.starts_with("ok ")).count(), files.count());
}
