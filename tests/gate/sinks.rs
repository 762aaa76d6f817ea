//! Finds the code that passes a text to an interpreter or creates a file, and compares it with the
//! tables of docs/security.md, so that new code of this sort is noticed.

use super::check_findings;
use super::source::{File, code, files, is_build_script, root, without_tests};
use std::collections::BTreeMap;

/// The document, and the heading of the section with the two tables that this test checks.
const DOCUMENT: &str = "docs/security.md";
const SECTION: &str = "## Strings that reach other interpreters";

/// The files that are searched: the prefix of their paths, and their extensions.
const RUST: (&str, &[&str]) = ("src/", &[".rs"]);
const PAGE: (&str, &[&str]) = ("page/", &[".js", ".html"]);

/// Calls that pass a text to an interpreter, or create a file.
const SINKS: &[(&str, (&str, &[&str]))] = &[
    // Programs, libraries, the environment.
    ("Command::new(", RUST),
    ("libloading::", RUST),
    ("libc::dlopen", RUST),
    ("libc::exec", RUST),
    ("libc::popen", RUST),
    ("libc::system", RUST),
    ("snd_pcm_open", RUST),
    ("CString::new(", RUST),
    ("set_var(", RUST),
    ("set_current_dir(", RUST),
    // The desktop.
    (".set_title(", RUST),
    (".with_title(", RUST),
    ("clipboard.set_text(", RUST),
    // The terminal.
    ("println!(", RUST),
    ("print!(", RUST),
    ("io::stdout", RUST),
    ("io::stderr", RUST),
    ("forward_output(", RUST),
    // The browser.
    ("innerHTML", PAGE),
    ("outerHTML", PAGE),
    ("insertAdjacentHTML", PAGE),
    ("document.write", PAGE),
    ("createContextualFragment", PAGE),
    ("srcdoc", PAGE),
    ("eval(", PAGE),
    ("new Function", PAGE),
    ("javascript:", PAGE),
    (".href =", PAGE),
    ("href: ", PAGE),
    ("InlineHtml(", RUST),
    ("Event::Html(", RUST),
    // Files.
    ("File::create", RUST),
    ("OpenOptions::new(", RUST),
    ("fs::write(", RUST),
    ("fs::copy(", RUST),
    ("fs::rename(", RUST),
    ("fs::hard_link(", RUST),
    ("fs::symlink(", RUST),
    ("create_dir", RUST),
    ("write_durably(", RUST),
    ("create_durably(", RUST),
    ("write_whole(", RUST),
    ("atomic_file::write_by(", RUST),
    ("output_file::", RUST),
];

/// The calls that create a file. Only their presence in a file counts, not their number.
const FILE_CREATING_CALLS: &[&str] = &[
    "File::create",
    "OpenOptions::new(",
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "fs::hard_link(",
    "fs::symlink(",
    "create_dir",
    "write_durably(",
    "create_durably(",
    "write_whole(",
    "atomic_file::write_by(",
    "output_file::",
];

/// Modules that only tests use.
const TESTS: &[&str] =
    &["src/foundation/atomic_file/disk_simulation.rs", "src/system/text/test_rasterizer.rs"];

/// The number of occurrences by call and file.
type CallCounts = BTreeMap<(String, String), usize>;

/// Counts the calls in the code of some files, without comments and tests.
fn count_calls(files: &[File]) -> CallCounts {
    let mut counts = CallCounts::new();
    for file in files {
        let is_test = file.path.ends_with("tests.rs") || file.path.contains("/tests/");
        let is_left_out = file.path.starts_with("page/uplot/") || TESTS.contains(&&*file.path);
        if is_test || is_left_out || is_build_script(&file.path) {
            continue;
        }
        let text = match file.ends_with(&[".rs"]) {
            true => {
                let text = file.text.replace("#[cfg(all(test, unix))]", "#[cfg(test)]");
                code(&without_tests(&text), true)
            }
            false => file.text.clone(),
        };
        for (call, (folder, endings)) in SINKS {
            let count = match FILE_CREATING_CALLS.contains(call) {
                true => usize::from(text.contains(call)),
                false => text.matches(call).count(),
            };
            if count > 0 && file.path.starts_with(folder) && file.ends_with(endings) {
                counts.insert((call.to_string(), file.path.clone()), count);
            }
        }
    }
    counts
}

/// Returns the calls that the document's table lists:
/// ``| `Command::new(` | … | `src/a.rs`, `src/b.rs` 2 |``
fn listed_calls(document: &str) -> CallCounts {
    let section = document.split(SECTION).nth(1).expect("the document has the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut counts = CallCounts::new();
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let call = cells[0].trim_matches('`');
        if !SINKS.iter().any(|(known, _)| *known == call) {
            continue;
        }
        for cell in cells.last().into_iter().flat_map(|cell| cell.split(", ")) {
            let mut parts = cell.split_whitespace();
            let path = parts.next().unwrap_or_default().trim_matches('`').to_string();
            let count = parts.next().map_or(1, |count| count.parse().expect("a number of calls"));
            if path != "nowhere" {
                counts.insert((call.to_string(), path), count);
            }
        }
    }
    counts
}

/// Returns the differences between the code and the document, in both directions.
fn differences(count_calls: &CallCounts, listed_calls: &CallCounts) -> Vec<String> {
    let mut all: Vec<_> = count_calls.keys().chain(listed_calls.keys()).collect();
    all.sort();
    all.dedup();
    let count = |counts: &CallCounts, key: &(String, String)| counts.get(key).copied().unwrap_or(0);
    let differs = all.into_iter().filter(|key| count(count_calls, key) != count(listed_calls, key));
    let describe = |key: &(String, String)| {
        let (of, listed_count) = (count(count_calls, key), count(listed_calls, key));
        format!("{}: `{}` is called {of} times, {DOCUMENT} lists {listed_count}", key.1, key.0)
    };
    differs.map(describe).collect()
}

fn document() -> String {
    std::fs::read_to_string(root().join(DOCUMENT)).expect("the document is there")
}

#[test]
fn every_interpreter_call_is_in_the_manual() {
    let document = document();
    let mut wrong = differences(&count_calls(&files()), &listed_calls(&document));
    for (call, _) in SINKS {
        if !document.contains(&format!("| `{call}` |")) {
            wrong.push(format!("{DOCUMENT}: there is no row for `{call}`"));
        }
    }
    check_findings(
        wrong,
        "look at where the text comes from: one of a game's must be checked before it gets there, \
         with a test. Then bring the tables of docs/security.md up to date.",
    );
}

#[test]
fn planted_interpreter_call_is_found() {
    let (present, listed) = (count_calls(&files()), listed_calls(&document()));
    let plant = |path: &str, text: &str| {
        let planted = [File { path: path.to_string(), text: text.to_string() }];
        let mut all = present.clone();
        all.extend(count_calls(&planted));
        differences(&all, &listed)
    };
    let check = |path: &str, text: &str, call: &str| {
        let expected = format!("{path}: `{call}` is called 1 times, docs/security.md lists 0");
        assert_eq!(plant(path, text), [expected], "{text}");
    };
    check("src/app/new.rs", "fn f(name: &str) { Command::new(name); }", "Command::new(");
    check("src/system/new.rs", "use libloading::Library;", "libloading::");
    check("src/system/new.rs", "libc::execv(name, arguments);", "libc::exec");
    check("src/app/new.rs", "use std::io::stdout; stdout().write_all(name);", "io::stdout");
    check("src/system/new.rs", "window.set_title(name);", ".set_title(");
    check("src/command/new.rs", "println!(\"{name}\");", "println!(");
    check("src/command/new.rs", "fs::write(name, text)?;", "fs::write(");
    check("page/new.js", "row.innerHTML = name;", "innerHTML");
    for (path, text) in [
        ("src/app/new.rs", "// Command::new(name)\n"),
        ("src/app/new_tests.rs", "fn f(name: &str) { Command::new(name); }"),
        ("src/app/new.rs", "#[cfg(test)]\nmod tests {\n    Command::new(\"sh\");\n}\n"),
        ("page/uplot/new.js", "row.innerHTML = name;"),
    ] {
        assert_eq!(plant(path, text), [""; 0], "{text}");
    }
}

#[test]
fn tests_named_in_the_string_table_exist() {
    let document = document();
    let section = document.split(SECTION).nth(1).expect("the document has the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let sources: Vec<File> =
        files().into_iter().filter(|file| file.ends_with(&[".rs", ".lua"])).collect();
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in section.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if cells.len() != 5 || cells[0] == "string" {
            continue;
        }
        rows += 1;
        let tests: Vec<&str> = cells[4].split('`').skip(1).step_by(2).collect();
        if tests.is_empty() {
            wrong.push(format!("{DOCUMENT}: no test is named for: {}", cells[0]));
        }
        for test in tests {
            let named = |file: &&File| {
                file.text.contains(&format!("fn {test}("))
                    || file.text.contains(&format!("\"{test}\""))
            };
            if !sources.iter().any(|file| named(&file)) {
                wrong.push(format!("{DOCUMENT}: there is no test {test}"));
            }
        }
    }
    assert!(rows > 15, "the table of strings has {rows} rows");
    check_findings(wrong, "name the function of the test, or the words of `it`");
}
