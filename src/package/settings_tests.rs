//! Tests of the block `package`: defaults, and an error with its line for each invalid value.

use super::*;
use std::fs;

/// Reads settings from a text, in a folder called "my yard".
pub fn read(text: &str, platform: &str) -> Result<PackageSettings, String> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("engine-{}-package-settings-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(FILE), text).unwrap();
    let read = PackageSettings::read(&folder, platform, "my yard");
    fs::remove_dir_all(folder).unwrap();
    read.map_err(|error| error.message)
}

#[test]
fn a_game_without_settings_has_names_of_its_folder() {
    let settings = read("", "linux").unwrap();
    assert_eq!(settings.title, "my yard");
    assert_eq!(settings.file_name, "my-yard");
    assert_eq!(settings.app_id, "local.myyard");
    assert_eq!(settings.version_text(), "0.1.0");
    assert_eq!(settings.license, "LicenseRef-proprietary");
    assert_eq!(settings.languages, ["en"]);
    assert_eq!(settings.description, "A game.");
    assert_eq!(settings.notes.len(), 4, "{:?}", settings.notes);
    assert_eq!(settings.window_size, Some((1280, 720)));
}

#[test]
fn all_values_are_read_with_those_of_the_platform() {
    let text = r#"
        name = "Inner"
        version = "0.0.1"
        package = {
            id = "com.example.Yard", title = "Yard 🎮", version = "1.2", author = "Émile"
            email = "help@example.com", website = "https://example.com/yard?a=1"
            summary = "Dig", description = "Dig deep.", license = "MIT OR CC-BY-4.0"
            license_files = ["fonts/OFL.txt"], icon = "art/icon.PNG"
            categories = ["puzzle", "family"], languages = ["de", "pt-BR"]
        }
        windows = { package = { title = "Yard for Windows", version = "1.3" } }
    "#;
    let settings = read(text, "linux").unwrap();
    assert_eq!((settings.title.as_str(), settings.file_name.as_str()), ("Yard 🎮", "yard"));
    assert_eq!(settings.version_numbers(), [1, 2, 0, 0]);
    assert_eq!(settings.notes, [""; 0]);
    let menus: Vec<&str> = settings.categories.iter().map(|category| category.menu).collect();
    assert_eq!(menus, ["LogicGame", "KidsGame"]);
    let settings = read(text, "windows").unwrap();
    assert_eq!(
        (settings.title.as_str(), settings.version_text()),
        ("Yard for Windows", "1.3".into())
    );
}

#[test]
fn invalid_values_are_refused_with_their_line() {
    let check = |value: &str, wanted: &str| {
        let message = read(&format!("name = \"Yard\"\npackage = {{\n{value}\n}}"), "linux");
        let message = message.unwrap_err();
        assert!(message.starts_with(&format!("settings.sjson:3: {wanted}")), "{value}: {message}");
    };
    for id in ["yard", "com..x", "com.1x", "com.my-game", "com.ex ample", ".com.x", "com.émile"] {
        check(&format!("id = \"{id}\""), &format!("'package.id' is '{id}': write parts of"));
    }
    check(&format!("id = \"com.{}\"", "x".repeat(90)), "'package.id' has 94 bytes, more than 80");
    for version in
        ["1.2.3.4", "1.0-beta", "v1", "1.", "01.2", "1.65536", "-1", "1,2", "99999999999"]
    {
        let wanted =
            format!("'package.version' is '{version}', which stores refuse: packages need");
        check(&format!("version = \"{version}\""), &wanted);
    }
    check("file_name = \"con\"", "'package.file_name': 'con' is the name of a device on Windows");
    check("file_name = \"a b\"", "'package.file_name': 'a b' can have only letters from a to z");
    check("file_name = \"../x\"", "'package.file_name': '../x' can have only letters");
    check("title = \"NUL\"", "'package.file_name': 'nul' is the name of a device on Windows");
    check(&format!("title = \"{}\"", "x".repeat(101)), "the title has 101 letters");
    check("author = \"Me <a@b.c>\"", "'package.author' is 'Me <a@b.c>': write a name without");
    for email in ["me", "a@b", "a b@c.d", "@c.d", "a@c.d>", "a@.c"] {
        check(&format!("email = \"{email}\""), &format!("'package.email' is '{email}', which is"));
    }
    for website in ["example.com", "javascript:x", "https://", "https://a b", "file:///etc"] {
        let wanted = format!("'package.website' is '{website}': write an address");
        check(&format!("website = \"{website}\""), &wanted);
    }
    check("license = \"MIT\\u0026x\"", "'package.license' is 'MIT&x': write an SPDX expression");
    check("icon = \"icon.jpg\"", "'package.icon' is 'icon.jpg': name a PNG picture");
    check("icon = \"../icon.png\"", "'package.icon' is '../icon.png': name a PNG picture");
    check("license_files = [\"/etc/passwd\"]", "'package.license_files': '/etc/passwd' is no path");
    check(
        "categories = [\"puzle\"]",
        "'package.categories': there is no category 'puzle', did you",
    );
    check("categories = [1]", "'package.categories' can contain only texts");
    check("languages = []", "'package.languages' is empty: name one language");
    check("languages = [\"english\"]", "'package.languages': 'english' is no language tag");
    let many = "\"en\" ".repeat(101);
    check(&format!("languages = [{many}]"), "'package.languages' has 101 items, more than 100");
    check("nmae = \"x\"", "unknown setting 'package.nmae'");
    check("icon = 1", "'package.icon' must be text in quotes");
    check(&format!("summary = \"{}\"", "x".repeat(201)), "'package.summary' has more than 200");
}

#[test]
fn errors_are_at_the_value_that_is_used() {
    let message = read("name = \"Yard\"\n\nversion = \"1.0-beta\"", "linux").unwrap_err();
    assert!(message.starts_with("settings.sjson:3: 'version' is '1.0-beta'"), "{message}");
    let text = "package = {\n categories = [\n  \"arcade\"\n  \"arcad\"\n ]\n}";
    let message = read(text, "linux").unwrap_err();
    assert!(message.starts_with("settings.sjson:4: "), "{message}");
    let text = "package = { version = \"1\" }\nlinux = {\n package = { version = \"x\" }\n}";
    assert!(read(text, "linux").unwrap_err().starts_with("settings.sjson:3: "));
    assert!(read(text, "windows").is_ok());
}

#[test]
fn titles_without_letters_need_a_name_of_files() {
    let settings = read("package = { title = \"🎮\" }", "linux").unwrap();
    assert_eq!(settings.file_name, "my-yard", "the folder's name serves");
    assert_eq!(read("package = { title = \"2048\" }", "linux").unwrap().app_id, "local.game2048");
}
