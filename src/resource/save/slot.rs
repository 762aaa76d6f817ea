//! The names of saves, and of the files that hold their generations. Knows nothing of what is in
//! them.

/// The longest name of a save.
pub const NAME_BYTES_MAX: usize = 64;

/// Names that Windows keeps for devices, in every folder and with every ending.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];
/// The same, each followed by a digit.
const NUMBERED_DEVICES: &[&str] = &["com", "lpt"];

/// The ending of every file that holds a save.
const ENDING: &str = ".save";
/// Numbers from here on are no generations: a file that is called so was not written by us.
pub const NUMBER_END: u64 = 1 << 53;

/// The checked name of a save: one that every platform can have as a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(String);

impl Slot {
    /// Checks a name; the words say what must be otherwise.
    pub fn new(name: &str) -> Result<Slot, String> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || " _-.".contains(c);
        let at_an_end = |c: Option<char>| c.is_some_and(|c| !" .".contains(c));
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
        if !at_an_end(name.chars().next()) || !at_an_end(name.chars().next_back()) {
            return Err(format!("must not begin or end with a space or a dot, got \"{name}\""));
        }
        if is_device(name) {
            return Err(format!("must not be \"{name}\": Windows keeps that name for a device"));
        }
        Ok(Slot(name.to_string()))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// The file of one generation: `auto.12.save`. Capitals become `+` and the small letter, for on
    /// some disks `Auto` and `auto` are one file.
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

    /// The save and the generation that a file holds, by its name.
    pub fn of_file(file: &str) -> Option<(Slot, u64)> {
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
        let slot = Slot::new(&name).ok()?;
        (slot.file(generation) == file).then_some((slot, generation))
    }
}

/// Whether Windows keeps a name for a device.
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
    fn names_that_some_platform_cannot_have_are_refused_with_words() {
        let check = |name: &str, words: &str| {
            assert_eq!(Slot::new(name).map(|_| ()), Err(words.to_string()), "{name}");
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
            let words = format!("must not be \"{name}\": Windows keeps that name for a device");
            check(name, &words);
        }
    }

    #[test]
    fn a_files_name_leads_back_to_the_save_and_its_generation() {
        for (name, file) in [
            ("auto", "auto.12.save"),
            ("Slot 1", "+slot 1.12.save"),
            ("v1.2", "v1.2.12.save"),
            ("-AB_", "-+a+b_.12.save"),
            ("console", "console.12.save"),
            ("com", "com.12.save"),
        ] {
            let slot = Slot::new(name).unwrap();
            assert_eq!(slot.file(12), file);
            assert_eq!(Slot::of_file(file), Some((slot, 12)));
        }
    }

    #[test]
    fn other_files_are_no_saves() {
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
            assert_eq!(Slot::of_file(file), None, "{file}");
        }
    }
}
