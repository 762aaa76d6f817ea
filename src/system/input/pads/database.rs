//! A game's own mappings of gamepads: lines of SDL's database format
//! (`GUID,name,a:b0,leftx:a0,…`). No device is accessed.

use std::collections::HashMap;

/// Name of this system in the lines.
const SYSTEM: &str = match std::env::consts::OS.as_bytes() {
    b"windows" => "Windows",
    b"macos" => "Mac OS X",
    _ => "Linux",
};

/// Lines of a mapping database, by the identifiers of their gamepads.
#[derive(Default, Debug)]
pub struct MappingDatabase {
    /// Lines for this system, by bus, vendor, product and version from their GUIDs.
    lines: HashMap<[u16; 4], String>,
}

impl MappingDatabase {
    /// Reads the lines for this system or for any system. Later lines replace earlier ones. Returns
    /// the numbers, from 1, of malformed lines.
    pub fn add(&mut self, text: &str) -> Vec<usize> {
        let mut wrong = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let platform = line.split(',').find_map(|field| field.strip_prefix("platform:"));
            let Some((id, rest)) = line.split_once(',') else {
                wrong.push(at + 1);
                continue;
            };
            match (id_of(id), rest.contains(',')) {
                (Some(id), true) => {
                    if platform.is_none_or(|platform| platform == SYSTEM) {
                        self.lines.insert(id, line.to_string());
                    }
                }
                // SDL's names for classes of devices, which do not exist here.
                _ if id == "xinput" || id == "hidapi" => {}
                _ => wrong.push(at + 1),
            }
        }
        wrong
    }

    /// Returns the fields after the name, if there is a line for a gamepad.
    #[cfg(any(test, target_os = "linux"))]
    pub fn fields(&self, id: [u16; 4]) -> Option<&str> {
        self.lines.get(&id)?.splitn(3, ',').nth(2)
    }

    /// Returns all lines for this system, as a text.
    #[cfg(any(test, windows, target_os = "macos"))]
    pub fn lines_of_this_system(&self) -> String {
        let mut lines: Vec<&str> = self.lines.values().map(String::as_str).collect();
        // The order of a map differs from run to run.
        lines.sort_unstable();
        lines.join("\n")
    }
}

/// Parses the 32 digits of a line's GUID: little-endian pairs of bytes, each followed by a pair
/// that does not identify the gamepad.
fn id_of(text: &str) -> Option<[u16; 4]> {
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let word = |at: usize| {
        let byte = |at: usize| u16::from_str_radix(&text[at * 2..at * 2 + 2], 16).ok();
        Some(byte(at)? | byte(at + 1)? << 8)
    };
    Some([word(0)?, word(4)?, word(8)?, word(12)?])
}

/// Returns the GUID digits that identify a gamepad in the database.
#[cfg(any(test, target_os = "linux"))]
pub fn digits_of(id: [u16; 4]) -> String {
    let word = |word: u16| format!("{:02x}{:02x}0000", word & 0xff, word >> 8);
    id.map(word).concat()
}

#[cfg(test)]
mod tests {
    use super::super::mapping::tests::LINE;
    use super::*;

    const ID: [u16; 4] = [3, 0x045e, 0x028e, 0x0114];

    #[test]
    fn the_guid_of_a_pad_matches_the_database() {
        for id in [ID, [0, 0xffff, 1, 0x8000]] {
            assert_eq!(id_of(&digits_of(id)), Some(id));
        }
        assert!(LINE.starts_with(&digits_of(ID)));
    }

    #[test]
    fn lines_of_other_systems_are_skipped_and_bad_ones_reported() {
        let mut database = MappingDatabase::default();
        let text = format!(
            "# words\n\n{}\nnonsense\n03,x,a:b0\nxinput,XInput,a:b0\n",
            LINE.replace("Linux", "Other")
        );
        assert_eq!(database.add(&text), [4, 5]);
        assert!(database.fields(ID).is_none());
    }

    #[test]
    fn the_last_line_of_a_pad_replaces_the_others() {
        let mut database = MappingDatabase::default();
        let own = LINE.replace("Linux", SYSTEM);
        database.add(&own);
        database.add(&own.replace("a:b0", "a:b7"));
        assert!(database.fields(ID).is_some_and(|fields| fields.starts_with("a:b7,b:b1,")));
        assert_eq!(database.lines_of_this_system(), own.replace("a:b0", "a:b7"));
    }
}
