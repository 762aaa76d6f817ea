//! Identifiers of installers: UUIDs of version 3 (RFC 9562), which are derived from names. The same
//! game always has the same ones.

use super::super::archive::Md5;
use std::io::Write;

/// The namespace of all identifiers of installers that the engine writes. It never changes: players
/// could not update their games otherwise.
const NAMESPACE: [u8; 16] = [
    0x5d, 0x8b, 0x1c, 0x3e, 0x70, 0x64, 0x4f, 0x0a, 0x9e, 0x21, 0xc4, 0xd2, 0x38, 0x97, 0xb6, 0x15,
];

/// Returns the identifier of a name, as Windows Installer writes it.
pub fn guid(name: &str) -> String {
    let mut hash = Md5::default();
    hash.write_all(&NAMESPACE).and_then(|()| hash.write_all(name.as_bytes())).expect("in memory");
    let mut digits = hash.finish().to_ascii_uppercase();
    digits.replace_range(12..13, "3");
    let variant = match &digits[16..17] {
        "0" | "4" | "8" | "C" => "8",
        "1" | "5" | "9" | "D" => "9",
        "2" | "6" | "A" | "E" => "A",
        _ => "B",
    };
    digits.replace_range(16..17, variant);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
    format!("{{{}}}", parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_depend_on_names_alone() {
        let id = guid("upgrade com.example.yard");
        // Players of a published game depend on this value.
        assert_eq!(id, "{0EBB1195-CF19-3518-9396-6BDC7F943321}");
        assert_ne!(id, guid("upgrade com.example.yarn"));
        for name in ["", "a", "b", "c", "d"] {
            let id = guid(name);
            assert_eq!((id.len(), &id[15..16]), (38, "3"), "{id}");
            assert!(matches!(&id[20..21], "8" | "9" | "A" | "B"), "{id}");
        }
    }
}
