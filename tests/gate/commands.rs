//! Commands in documents and comments: the test programs, packages and benchmarks that they name
//! must exist.

use super::check_findings;
use super::source::{File, files};

/// The names that a command may use.
struct Names {
    tests: Vec<String>,
    packages: Vec<String>,
    benchmarks: Vec<String>,
}

/// Returns the values of `name = "…"` after each line that is `header`.
fn names_after<'a>(manifest: &'a str, header: &'a str) -> impl Iterator<Item = String> + 'a {
    let sections = manifest.split("\n[").filter_map(move |part| part.strip_prefix(header));
    sections.filter_map(|section| {
        let line = section.lines().find_map(|line| line.strip_prefix("name = \""))?;
        Some(line.trim_end_matches('"').to_string())
    })
}

fn known_names(files: &[File]) -> Names {
    let manifests = files.iter().filter(|file| file.ends_with(&["Cargo.toml"]));
    let mut names = Names { tests: Vec::new(), packages: Vec::new(), benchmarks: Vec::new() };
    for manifest in manifests.filter(|file| !file.path.starts_with("fuzz/")) {
        let text = format!("\n{}", manifest.text);
        names.tests.extend(names_after(&text, "[test]]"));
        names.packages.extend(names_after(&text, "package]"));
    }
    let subjects = files.iter().find(|file| file.path == "benches/main.rs");
    let subjects = subjects.expect("benches/main.rs has the table of subjects");
    let rows = subjects.text.lines().filter_map(|line| line.trim().strip_prefix("(\""));
    names.benchmarks.extend(rows.filter_map(|row| Some(row.split_once('"')?.0.to_string())));
    names.benchmarks.push("all".to_string());
    names
}

/// Returns the words of each `cargo COMMAND` in a line, up to the end of its quotation.
fn commands<'a>(line: &'a str, command: &'a str) -> impl Iterator<Item = Vec<&'a str>> {
    line.match_indices(command)
        .map(move |(at, _)| {
            let rest = &line[at + command.len()..];
            rest.split(['`', '"', '|', ';', ',', ')']).next().unwrap_or_default().split_whitespace()
        })
        .map(Iterator::collect)
}

/// Returns the commands of a file that name what does not exist.
fn wrong_commands(file: &File, names: &Names) -> Vec<String> {
    let mut found = Vec::new();
    for (line, text) in file.lines() {
        let mut check = |kind: &str, name: &str, known: &[String]| {
            let is_placeholder = name.chars().all(|c| c.is_uppercase());
            if !is_placeholder && !known.iter().any(|known| known == name) {
                let known = known.join(", ");
                found.push(format!("{}:{line}: there is no {kind} {name}: {known}", file.path));
            }
        };
        for arguments in commands(text, "cargo test").chain(commands(text, "cargo bench")) {
            for pair in arguments.windows(2) {
                match pair[0] {
                    "--test" => check("test program", pair[1], &names.tests),
                    "-p" => check("package", pair[1], &names.packages),
                    _ => {}
                }
            }
        }
        for arguments in commands(text, "cargo bench") {
            if let ["--", subject, ..] = arguments[..] {
                check("benchmark", subject, &names.benchmarks);
            }
        }
    }
    found
}

#[test]
fn commands_name_existing_tests_packages_and_benchmarks() {
    let files = files();
    let names = known_names(&files);
    let checked = files.iter().filter(|file| file.path != "tests/gate/commands.rs");
    let found = checked.flat_map(|file| wrong_commands(file, &names)).collect();
    check_findings(found, "name the test program, package or benchmark that exists today");
}

#[test]
fn wrong_commands_are_found() {
    let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    let names = Names {
        tests: list(&["all"]),
        packages: list(&["engine_gui"]),
        benchmarks: list(&["spine"]),
    };
    let check = |text: &str, wanted: &[&str]| {
        let file = File { path: "a.md".into(), text: text.into() };
        assert_eq!(wrong_commands(&file, &names), wanted);
    };
    check("`cargo test --test all golden::` and `cargo test -p engine_gui`", &[]);
    check("    cargo bench -- spine calls", &[]);
    check("`cargo test --test NAME`", &[]);
    check("x\n`cargo test --test golden`", &["a.md:2: there is no test program golden: all"]);
    check("cargo test -p engine_gut", &["a.md:1: there is no package engine_gut: engine_gui"]);
    check("cargo bench -- spin", &["a.md:1: there is no benchmark spin: spine"]);
}
