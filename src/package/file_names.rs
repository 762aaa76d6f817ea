//! Names of files in packages, which must be valid on all platforms.

use engine_resource::resource_name::is_device_name;

/// Maximum length of a game's file name in bytes.
pub const FILE_NAME_BYTES_MAX: usize = 60;
/// Maximum length of a shortcut's name in units of UTF-16.
const SHORTCUT_UNITS_MAX: usize = 100;

/// Returns the name of files for a title: small letters and digits, with `-` between the words.
/// Returns an empty text if the title has none.
pub fn slug(title: &str) -> String {
    let mut name = String::new();
    for c in title.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => name.push(c.to_ascii_lowercase()),
            '\'' | '’' => {}
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
    }
    // Only ASCII letters are in it.
    name.truncate(FILE_NAME_BYTES_MAX);
    name.trim_end_matches('-').to_string()
}

/// Checks the base of file names. The error message describes the problem, without the name.
pub fn check(name: &str) -> Result<(), String> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.len() > FILE_NAME_BYTES_MAX {
        return Err(format!("is longer than {FILE_NAME_BYTES_MAX} letters (FILE_NAME_BYTES_MAX)"));
    }
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || !name.chars().all(is_letter) {
        return Err(
            "can have only letters from a to z, digits, - and _, and begins with a letter \
                    or a digit"
                .to_string(),
        );
    }
    if is_device_name(name) {
        return Err("is the name of a device on Windows: set another package.file_name".to_string());
    }
    Ok(())
}

/// Returns the name of the folder of an application on macOS, without its ending: the title if it
/// can be a file's name on every file system, and else `file_name`.
pub fn application_name<'a>(title: &'a str, file_name: &'a str) -> &'a str {
    let is_letter = |c: char| c.is_alphanumeric() || " -_'!&()+,".contains(c);
    let is_valid = title.chars().all(is_letter)
        && title.starts_with(char::is_alphanumeric)
        && !title.ends_with(' ')
        && title.len() <= FILE_NAME_BYTES_MAX
        && !is_device_name(title);
    if is_valid { title } else { file_name }
}

/// Returns the name of a shortcut in the start menu of Windows: the title without the characters
/// that file names of Windows cannot have, or `file_name` if nothing is left.
pub fn shortcut_name(title: &str, file_name: &str) -> String {
    let is_kept = |c: char| !c.is_control() && !"\\/:*?\"<>|".contains(c);
    let name: String = title.chars().map(|c| if is_kept(c) { c } else { ' ' }).collect();
    let mut name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    while name.encode_utf16().count() > SHORTCUT_UNITS_MAX {
        name.pop();
    }
    let name = name.trim_end_matches(['.', ' ']);
    if name.is_empty() || is_device_name(name) { file_name.to_string() } else { name.to_string() }
}

/// Returns a file name as names of container images have it: small letters, digits and `-`.
pub fn image_name(file_name: &str) -> String {
    file_name.to_ascii_lowercase().replace('_', "-")
}

/// Returns the name of a Debian package: small letters, digits and `-`. It ends with `-game`, so
/// that no game replaces a package of the system that has its title.
pub fn debian_name(file_name: &str) -> String {
    let name = image_name(file_name);
    if name.ends_with("-game") { name } else { format!("{name}-game") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_names_of_files() {
        let check = |title: &str, wanted: &str| assert_eq!(slug(title), wanted, "{title}");
        check("Yard", "yard");
        check("My  Great Game!", "my-great-game");
        check("Don't Stop", "dont-stop");
        check("🎮 Émile 2", "mile-2");
        check("🎮", "");
        check("../../etc", "etc");
        // A cut in front of a letter leaves no hyphen at the end.
        check(&"abc ".repeat(100), "abc-".repeat(15).trim_end_matches('-'));
    }

    #[test]
    fn names_that_windows_reserves_are_refused() {
        for name in ["con", "NUL", "Com1", "lpt9", "aux"] {
            let wanted = "is the name of a device on Windows: set another package.file_name";
            assert_eq!(check(name).unwrap_err(), wanted, "{name}");
        }
        assert!(
            is_device_name("con.exe") && is_device_name("NUL .txt") && !is_device_name("console")
        );
        for name in ["", "-x", "a b", "a/b", "a.b", "é", "..", "a\n"] {
            assert!(check(name).unwrap_err().starts_with("can have only letters"), "{name}");
        }
        assert!(check(&"a".repeat(61)).unwrap_err().starts_with("is longer than 60 letters"));
        assert!(check("Yard_2-b").is_ok());
    }

    #[test]
    fn applications_packages_and_images_have_valid_names() {
        assert_eq!(application_name("Émile's Yard", "yard"), "Émile's Yard");
        for title in ["a/b", "🎮", "", " x", "x ", "con", ".x", "a:b"] {
            assert_eq!(application_name(title, "yard"), "yard", "{title}");
        }
        let check = |title: &str, wanted: &str| assert_eq!(shortcut_name(title, "yard"), wanted);
        check("Émile's Yard: 🎮", "Émile's Yard 🎮");
        check("A/B \\ <C> \"?\" | d*\n. ", "A B C d");
        for title in ["", "...", "?:", "CON", "aux.game"] {
            check(title, "yard");
        }
        check(&"🎮".repeat(100), &"🎮".repeat(50));
        assert_eq!(debian_name("My_Game"), "my-game");
        assert_eq!(debian_name("x"), "x-game");
        assert_eq!(image_name("Yard_2-b"), "yard-2-b");
    }
}
