//! Tests of the confinement by the operating system, attacked from inside. The attackers are this
//! program, as a child process that confines itself and then tries everything, and games' tests
//! with the whole Lua library and native code, so that no other layer protects the system. Also
//! tests the operations that must still work. If the kernel has no confinement, the tests report
//! this and pass.

mod attacks;
mod broker;
mod commands;
mod games;
mod system_calls;

use engine::platform::confinement::{FileAccessList, forbid_programs, limit_files};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Reports a skipped test directly on the terminal, because the test harness captures normal
/// output.
fn skip(missing: &str) {
    let message =
        format!("SKIPPED: {missing} (to have it: Linux 6.12 or newer, with landlock in lsm=)");
    let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{message}");
    writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
}

/// Returns the kernel's version of Landlock.
fn landlock_version() -> libc::c_long {
    let null = std::ptr::null::<u8>();
    // SAFETY: queries a number, as defined in linux/landlock.h: no record, of no bytes, and a flag.
    unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, null, 0usize, 1) }
}

/// Returns true if the kernel supports everything that is tested, and reports if it does not.
fn is_available() -> bool {
    match landlock_version() {
        6.. => true,
        version @ 0.. => {
            skip(&format!("Landlock {version} is too old to be tested"));
            false
        }
        _ => {
            skip("the kernel has no Landlock, or it is switched off");
            false
        }
    }
}

/// Creates an empty scratch folder, with a game's folder and one for saves. No two tests use the
/// same name.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("confinement").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    for inside in ["game", "saves", "outside/folder"] {
        std::fs::create_dir_all(folder.join(inside)).expect("a scratch folder can be made");
    }
    std::fs::write(folder.join("outside/secret.txt"), "a secret").expect("it can be written");
    folder
}

/// Returns all files and folders in a folder, with the content of the files.
fn folder_content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be read").path();
        match path.is_dir() {
            true => {
                found.push((path.clone(), Vec::new()));
                found.extend(folder_content(&path));
            }
            false => found.push((path.clone(), std::fs::read(&path).expect("it can be read"))),
        }
    }
    found.sort();
    found
}

/// Confines this process, as the engine confines a game's process.
fn confine(folder: &Path) {
    let access = FileAccessList {
        read: vec![folder.join("game")],
        write: vec![folder.join("saves")],
        devices: true,
        ..FileAccessList::default()
    };
    limit_files(&access).expect("it was asked before whether it can");
    forbid_programs(false).expect("a kernel with Landlock has seccomp, too");
}
