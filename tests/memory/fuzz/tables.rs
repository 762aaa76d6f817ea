//! Compares the fuzzer's tables with the code: file readers and their targets, the crates with
//! coverage instrumentation, and the dependency versions of the fuzzer's build.

use super::targets::readers::{FUZZED, Fuzzed};
use super::targets::{remove_scratch, root, targets};
use engine::foundation::file_access::readers::READERS;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|reason| panic!("{path}: {reason}"))
}

#[test]
fn every_file_reader_has_fuzz_targets_or_a_reason() {
    let names: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
    let fuzzed: Vec<&str> = FUZZED.iter().map(|(name, _)| *name).collect();
    assert_eq!(fuzzed, names, "fuzz/targets/readers.rs has one row for each reader, in that order");
    let all: Vec<String> = targets().into_iter().map(|target| target.name).collect();
    remove_scratch();
    let is_there = |name: &str| match name.ends_with('.') {
        true => all.iter().any(|target| target.starts_with(name)),
        false => all.iter().any(|target| target == name),
    };
    let mut rows = String::new();
    for (reader, (name, fuzzed)) in READERS.iter().zip(FUZZED) {
        match fuzzed {
            Fuzzed::By(targets) => {
                let missing: Vec<_> = targets.iter().filter(|target| !is_there(target)).collect();
                assert!(missing.is_empty() && !targets.is_empty(), "{name}: {missing:?}");
            }
            Fuzzed::Not(reason) => rows += &format!("| {} | {reason} |\n", reader.files),
        }
    }
    let manual = read("docs/security.md");
    assert!(manual.contains(&rows), "docs/security.md, under Fuzzing, needs the rows:\n{rows}");
}

/// Returns the versions of every package in a lock file.
fn versions(lock: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::<String, BTreeSet<String>>::new();
    let text = read(lock);
    for package in text.split("[[package]]").skip(1) {
        let field = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|line| line.split('"').nth(1)).unwrap_or_default().to_string()
        };
        found.entry(field("name = ")).or_default().insert(field("version = "));
    }
    found
}

#[test]
fn instrumented_crates_match_the_engines() {
    let text = read("fuzz/instrument");
    let list = text.split_once("case $name in").and_then(|(_, rest)| rest.split_once(')'));
    let list = list.expect("fuzz/instrument has a list").0;
    let known: Vec<String> =
        versions("Cargo.lock").into_keys().map(|name| name.replace('-', "_")).collect();
    let names = list.split(['|', '\\', '\n']).map(str::trim).filter(|name| !name.is_empty());
    let unknown = |name: &&str| match name.strip_suffix('*') {
        Some(start) => !known.iter().any(|known| known.starts_with(start)),
        None => *name != "engine_fuzz" && !known.iter().any(|known| known == name),
    };
    let unknown: Vec<&str> = names.filter(unknown).collect();
    assert!(unknown.is_empty(), "fuzz/instrument names what is not in Cargo.lock: {unknown:?}");
}

#[test]
fn fuzzer_uses_the_engines_dependency_versions() {
    let (engine, fuzz) = (versions("Cargo.lock"), versions("fuzz/Cargo.lock"));
    let root = read("Cargo.toml");
    let members =
        root.lines().filter_map(|line| line.strip_prefix("    \"src/")?.strip_suffix("\","));
    let members = members.filter(|member| *member != "test_support");
    let manifests: Vec<_> =
        members.map(|member| read(&format!("src/{member}/Cargo.toml"))).collect();
    assert!(manifests.len() > 20, "the manifests of the crates were not found");
    let mut wrong = Vec::new();
    let sections = manifests.iter().flat_map(|manifest| manifest.split("\n["));
    for section in sections.filter(|section| {
        let title = section.split(']').next().unwrap_or_default();
        title.ends_with("dependencies") && title != "dev-dependencies"
    }) {
        let keys = section.lines().skip(1).filter_map(|line| line.split_once(" = "));
        let keys = keys.map(|(key, _)| key.trim_end_matches(".workspace"));
        let keys = keys.filter(|key| engine.contains_key(*key) && !fuzz.contains_key(*key));
        wrong.extend(keys.map(|key| format!("{key} is missing")));
    }
    for (name, of_fuzz) in &fuzz {
        if let Some(own) = engine.get(name)
            && own.is_disjoint(of_fuzz)
        {
            wrong.push(format!("{name} is of version {of_fuzz:?}, and the engine's of {own:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "fuzz/Cargo.lock is old: cd fuzz; cp ../Cargo.lock Cargo.lock; cargo check\n{}",
        wrong.join("\n")
    );
}
