//! Names of saves, and of the files that hold their generations. Independent of their content.

/// Maximum length of a save's name in bytes.
pub const NAME_BYTES_MAX: usize = 64;

/// Names that Windows reserves for devices, in every folder and with every file extension.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];
/// Names that Windows reserves if a digit follows.
const NUMBERED_DEVICES: &[&str] = &["com", "lpt"];

/// File extension of saves.
const ENDING: &str = ".save";
/// First number that is not a valid generation. This engine did not write files with such numbers.
pub const NUMBER_END: u64 = 1 << 53;

/// Validated name of a save, which is a possible file name on every platform.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SaveSlot(String);

impl SaveSlot {
    /// Validates a name. The error message names the rule that the name breaks.
    pub fn new(name: &str) -> Result<SaveSlot, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || " _-.".contains(c);
        let allowed_at_end = |c: Option<char>| c.is_some_and(|c| !" .".contains(c));
        if name.is_empty() {
            return Err("must not be empty".to_string());
        }
        if name.len() > NAME_BYTES_MAX {
            let length = name.len();
            return Err(format!("must have at most {NAME_BYTES_MAX} letters, got {length}"));
        }
        if let Some(wrong) = name.chars().find(|c| !allowed(*c)) {
            return Err(format!(
                "must be made of letters (a to z), digits, spaces, _ - and . only, \
                 \"{name}\" has {wrong:?}"
            ));
        }
        if !allowed_at_end(name.chars().next()) || !allowed_at_end(name.chars().next_back()) {
            return Err(format!("must not begin or end with a space or a dot, got \"{name}\""));
        }
        if is_device(name) {
            return Err(format!("must not be \"{name}\": Windows keeps that name for a device"));
        }
        Ok(SaveSlot(name.to_string()))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns the file name of a generation: `auto.12.save`. A capital letter becomes `+` and the
    /// small letter, because on some disks `Auto` and `auto` are the same file.
    pub fn file(&self, generation: u64) -> String {
        let mut stem = String::new();
        for c in self.0.chars() {
            if c.is_ascii_uppercase() {
                stem.push('+');
            }
            stem.push(c.to_ascii_lowercase());
        }
        format!("{stem}.{generation}{ENDING}")
    }

    /// Returns the save and the generation that a file holds, derived from its name.
    pub fn from_file_name(file: &str) -> Option<(SaveSlot, u64)> {
        let (stem, number) = file.strip_suffix(ENDING)?.rsplit_once('.')?;
        let generation = number.parse().ok().filter(|number| *number < NUMBER_END)?;
        let (mut name, mut capital) = (String::new(), false);
        for c in stem.chars() {
            match (c, capital) {
                ('+', false) => capital = true,
                (c, true) => {
                    name.push(c.to_ascii_uppercase());
                    capital = false;
                }
                (c, false) => name.push(c),
            }
        }
        let slot = SaveSlot::new(&name).ok()?;
        (slot.file(generation) == file).then_some((slot, generation))
    }
}

/// Returns true if Windows reserves the name for a device.
pub fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let numbered = |device: &&str| {
        stem.strip_prefix(*device).is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0] < b'A')
    };
    DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.iter().any(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_invalid_on_any_platform_are_refused() {
        let check = |name: &str, message: &str| {
            assert_eq!(SaveSlot::new(name).map(|_| ()), Err(message.to_string()), "{name}");
        };
        check("", "must not be empty");
        check(&"x".repeat(65), "must have at most 64 letters, got 65");
        for (name, wrong) in
            [("a/b", "'/'"), ("..\\x", "'\\\\'"), ("é", "'é'"), ("a\0", "'\\0'"), ("c:x", "':'")]
        {
            let only = "letters (a to z), digits, spaces, _ - and . only";
            check(name, &format!("must be made of {only}, \"{name}\" has {wrong}"));
        }
        for name in [" a", "a ", ".a", "..", "a."] {
            check(name, &format!("must not begin or end with a space or a dot, got \"{name}\""));
        }
        for name in ["con", "NUL", "nul.x", "aux .x", "COM1", "lpt9.save"] {
            let message = format!("must not be \"{name}\": Windows keeps that name for a device");
            check(name, &message);
        }
    }

    #[test]
    fn a_file_name_gives_the_save_and_its_generation() {
        for (name, file) in [
            ("auto", "auto.12.save"),
            ("Slot 1", "+slot 1.12.save"),
            ("v1.2", "v1.2.12.save"),
            ("-AB_", "-+a+b_.12.save"),
            ("console", "console.12.save"),
            ("com", "com.12.save"),
        ] {
            let slot = SaveSlot::new(name).unwrap();
            assert_eq!(slot.file(12), file);
            assert_eq!(SaveSlot::from_file_name(file), Some((slot, 12)));
        }
    }

    #[test]
    fn other_files_are_not_saves() {
        for file in [
            "auto.save",
            "auto.12.tmp",
            "auto.012.save",
            "auto.+1.save",
            "Auto.1.save",
            "+.1.save",
            "+_x.1.save",
            "a.99999999999999999999.save",
            "a.9007199254740992.save",
            ".1.save",
            ".save",
            "",
        ] {
            assert_eq!(SaveSlot::from_file_name(file), None, "{file}");
        }
    }
}
