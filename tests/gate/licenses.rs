//! Licences of libraries: every library in the engine has its licence in the list that packages of
//! games contain, and the list names no other version of a library than the lock file.

use crate::check_findings;
use crate::source::root;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

const REMEDY: &str = "run packaging/licenses.py, and commit packaging/licenses/libraries.txt";

/// Returns the libraries that the list names: `name 1.2.3: licence`.
fn listed(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| line.split_once(": ")).map(|(name, _)| name);
    let is_name = |name: &&str| {
        name.split_once(' ').is_some_and(|(_, version)| {
            version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' ')
        })
    };
    names.filter(is_name).map(String::from).collect()
}

/// Returns the libraries of `cargo tree`, without the engine's own crates: `name v1.2.3`.
fn linked(text: &str) -> BTreeSet<String> {
    let from_outside = text.lines().filter(|line| !line.contains("(/") && !line.contains(":\\"));
    let names = from_outside.filter_map(|line| {
        let mut parts = line.split_whitespace();
        Some(format!("{} {}", parts.next()?, parts.next()?.strip_prefix('v')?))
    });
    names.collect()
}

/// Returns the libraries of the lock file.
fn locked(text: &str) -> BTreeSet<String> {
    let value = |line: &str, key: &str| {
        line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"').map(String::from)
    };
    let (mut found, mut name) = (BTreeSet::new(), String::new());
    for line in text.lines() {
        if let Some(new) = value(line, "name") {
            name = new;
        } else if let Some(version) = value(line, "version") {
            found.insert(format!("{name} {version}"));
        }
    }
    found
}

#[test]
fn every_library_has_its_licence_in_the_list() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("the file is there");
    let listed = listed(&read("packaging/licenses/libraries.txt"));
    let arguments = ["tree", "--offline", "-e", "normal", "-p", "engine", "--prefix", "none"];
    let mut tree = Command::new(env!("CARGO"));
    tree.args(arguments).args(["--format", "{p}"]).current_dir(root());
    let tree = tree.output().expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let linked = linked(&String::from_utf8_lossy(&tree.stdout));
    assert!(linked.len() > 100, "cargo tree names the libraries: {linked:?}");
    let locked = locked(&read("Cargo.lock"));
    let missing = linked.difference(&listed).map(|it| format!("{it} is not in the list"));
    let stale = listed.difference(&locked).map(|it| format!("{it} is not in Cargo.lock"));
    check_findings(missing.chain(stale).collect(), REMEDY);
}

#[test]
fn libraries_are_read_from_lists_trees_and_lock_files() {
    let of = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();
    let list = "Libraries in the engine: all\na-b 1.2.3: MIT\nc 0.1.0+x: Zlib\nan example: text";
    assert_eq!(listed(list), of(&["a-b 1.2.3", "c 0.1.0+x"]));
    let tree = "engine v0.1.0 (/x)\na-b v1.2.3\nproc v1.0.0 (proc-macro)\na-b v1.2.3 (*)\n";
    assert_eq!(linked(tree), of(&["a-b 1.2.3", "proc 1.0.0"]));
    let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.2.3\"\nsource = \"x\"\n";
    assert_eq!(locked(lock), of(&["a-b 1.2.3"]));
}
