//! Source files that git does not know: the project builds where they were written, and in no
//! clone.

use super::check_findings;
use super::source::root;
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
