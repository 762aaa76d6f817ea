//! The definitions for editors: the language servers that are installed have nothing to say about
//! the templates, the examples and the manual (tests/editors.py). Those of test suites are written
//! by hand, and have all functions.

use super::source::root;
use std::io::Write;
use std::process::Command;

/// Servers, each of which is enough.
const SERVERS: [&str; 2] = ["lua-language-server", "emmylua_check"];

#[test]
fn installed_language_servers_give_no_diagnostics() {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let has =
        |program: &str| std::env::split_paths(&paths).any(|folder| folder.join(program).is_file());
    if !SERVERS.into_iter().any(has) || !has("python3") {
        // No distribution has them, so that a machine for all tests may lack them, too.
        let message = "SKIPPED: no language server checks the definitions (CONTRIBUTING.md)";
        writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
        return;
    }
    let mut check = Command::new("python3");
    check.arg("tests/editors.py").arg(env!("CARGO_BIN_EXE_engine")).current_dir(root());
    let output = check.output().expect("it is installed");
    let text = String::from_utf8_lossy(&output.stdout);
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "change the row or the comment that it is from:\n{text}{problems}"
    );
}

/// Returns the names of the functions of a module in a Lua file. `start` is how their lines begin.
fn functions<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter_map(move |line| line.strip_prefix(start)?.split('(').next())
}

#[test]
fn definitions_of_suites_have_all_functions() {
    let definitions = include_str!("../../lua/test/definitions.lua");
    let defined: Vec<&str> = functions(definitions, "function test.").collect();
    let mut count = 0;
    for entry in std::fs::read_dir(root().join("lua/test")).expect("it is there") {
        let path = entry.expect("it can be read").path();
        let text = std::fs::read_to_string(&path).expect("it is text");
        for function in functions(&text, "function engine_test.") {
            count += 1;
            assert!(
                defined.contains(&function),
                "{}: define test.{function} in lua/test/definitions.lua",
                path.display()
            );
        }
    }
    assert_eq!(count, defined.len(), "a function that is defined is no more: {defined:?}");
}
