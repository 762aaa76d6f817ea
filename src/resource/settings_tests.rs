//! Tests of the valid contents of settings.sjson, and of the messages for invalid ones.

use super::*;

fn parse(text: &str) -> Result<Settings, String> {
    Settings::parse(text.as_bytes().to_vec(), "linux").map_err(|error| error.message)
}

fn check(text: &str, wanted: &str) {
    assert_eq!(parse(text).map(|_| ()), Err(wanted.to_string()), "{text}");
}

#[test]
fn a_configured_value_overrides_the_default() {
    let settings = parse("name = \"Yard\"\nlimits = { update_seconds = 3 }").unwrap();
    assert_eq!(settings.text("name"), "Yard");
    assert_eq!(settings.number("limits.update_seconds"), 3.0);
    assert_eq!(settings.number("limits.init_seconds"), 10.0);
    assert!(settings.boolean("lua.jit"));
}

#[test]
fn a_platform_block_applies_only_to_that_platform() {
    let text = "name = \"Yard\"\nlinux = { name = \"Hof\" }\nwindows = { name = \"Garten\" }";
    assert_eq!(parse(text).unwrap().text("name"), "Hof");
}

#[test]
fn errors_have_a_line_and_a_remedy() {
    check("\nnmae = \"x\"", "settings.sjson:2: unknown setting 'nmae', did you mean 'name'?");
    check(
        "limits = { update_second = 2 }",
        "settings.sjson:1: unknown setting 'limits.update_second', did you mean \
         'update_seconds'?",
    );
    check("name = 3", "settings.sjson:1: 'name' must be text in quotes, got number");
    let one_line = "write it as one line of letters";
    for (invalid, shown) in [
        ("\\u001b]0;x", "'\\u{1b}'"),
        ("a\u{9b}b", "'\\u{9b}'"),
        ("a\\nb", "'\\n'"),
        ("a\u{202e}b", "'\\u{202e}'"),
    ] {
        for key in ["name", "id", "version", "boot_script"] {
            let message = format!("settings.sjson:1: '{key}' has {shown} in it: {one_line}");
            check(&format!("{key} = \"{invalid}\""), &message);
        }
        let message = |key| format!("settings.sjson:1: '{key}' has {shown} in it: {one_line}");
        check(&format!("window = {{ title = \"{invalid}\" }}"), &message("window.title"));
        check(&format!("windows = {{ name = \"{invalid}\" }}"), &message("name"));
    }
    check(
        &format!("name = \"{}\"", "x".repeat(1001)),
        "settings.sjson:1: 'name' must have at most 1000 bytes (TEXT_BYTES_MAX), got 1001",
    );
    check(
        "limits = { lua_memory_mib = 1 }",
        "settings.sjson:1: 'limits.lua_memory_mib' must be 16 to 65536, got 1",
    );
    check("limits = 3", "settings.sjson:1: 'limits' must be a block: limits = { … }");
    check(
        "windows = { nmae = \"x\" }",
        "settings.sjson:1: unknown setting 'nmae', did you mean 'name'?",
    );
    let exclude = |text: &str| parse(text).unwrap().bundle_exclude().map_err(|it| it.message);
    assert!(exclude("").unwrap().iter().any(|glob| glob.matches("a/b_test.lua")));
    let message = "settings.sjson: 'bundle.exclude': it can contain only texts";
    assert_eq!(exclude("bundle = { exclude = [3] }"), Err(message.to_string()));
    let message = "settings.sjson: 'bundle.exclude': '/a' must be a path from the game's folder, \
                   with '/'";
    assert_eq!(exclude("bundle = { exclude = [\"/a\"] }"), Err(message.to_string()));
    assert!(parse("name = \"x").unwrap_err().starts_with("settings.sjson:1:8: "));
}
