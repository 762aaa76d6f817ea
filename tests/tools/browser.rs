//! The page in a real browser, where there is one.

use std::io::Write;

/// Says that a test did not run, past the test harness, which would keep it from the terminal.
pub fn skip(what: &str, package: &str) {
    let words = format!("SKIPPED: {what} (to install it: apt-get install {package})");
    let required = std::env::var("ENGINE_TEST_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(!required, "{words}");
    writeln!(std::io::stderr(), "{words}").expect("stderr can be written to");
}

/// Whether anything can be drawn on.
pub fn has_adapter() -> bool {
    let folders = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];
    folders
        .iter()
        .any(|folder| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()))
}
