//! The state of git: no source file is missing in it, without which a clone would not build, and no
//! merge is unfinished.

use super::check_findings;
use super::source::{files, root};
use std::process::Command;

/// Paths that the build reads, as git writes them.
const SOURCES: &[&str] = &["benches", "core", "lua", "page", "src", "tests/*.rs"];

#[test]
fn every_source_file_is_in_git() {
    let listed = Command::new("git")
        // The clone may belong to another user than the one that tests it.
        .args(["-c", "safe.directory=*", "ls-files", "--others", "--exclude-standard", "-z", "--"])
        .args(SOURCES)
        .current_dir(root())
        .output();
    // Without git or outside of a clone nothing can be committed either.
    let Ok(listed) = listed else { return };
    if !listed.status.success() {
        let reason = String::from_utf8_lossy(&listed.stderr);
        eprintln!("not checked, as git cannot list the files: {reason}");
        return;
    }
    let paths = String::from_utf8_lossy(&listed.stdout);
    let found = paths.split('\0').filter(|path| !path.is_empty());
    let found = found.map(|path| format!("{path}: no clone has it")).collect();
    check_findings(found, "add the file to git (`git add`), or delete it");
}

#[test]
fn no_file_has_marks_of_an_unfinished_merge() {
    let mut found = Vec::new();
    for file in files() {
        for (at, line) in file.text.lines().enumerate() {
            if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
                found.push(format!("{}:{}: {line}", file.path, at + 1));
            }
        }
    }
    check_findings(found, "finish the merge: keep what belongs there, and delete the marks");
}
