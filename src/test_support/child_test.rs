//! The names of tests that start themselves again in a child process.

/// Returns the full name of a test, as its program's option `--exact` takes it. `module` is the
/// test's `module_path!()`, whose first part is the program.
pub fn test_path(module: &str, test: &str) -> String {
    match module.split_once("::") {
        Some((_, modules)) => format!("{modules}::{test}"),
        None => test.to_string(),
    }
}

#[test]
fn a_test_name_has_its_modules_without_the_crate() {
    assert_eq!(test_path("all::window::devices", "a"), "window::devices::a");
    assert_eq!(test_path("gate", "a"), "a");
}
