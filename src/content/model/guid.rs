//! GUIDs: names of objects that are unique without a server. Their text is
//! `01234567-89ab-cdef-0123-456789abcdef`.

use engine_foundation::hash::murmur64a;
use std::fmt;

/// The name of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(pub [u64; 2]);

/// Digits of the groups of the text.
const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

impl Guid {
    /// The object from which all others are reached: all zeros.
    pub const ROOT: Guid = Guid([0, 0]);

    /// Returns the GUID of a part of an object. The same part has the same GUID in every process.
    pub fn of_part(self, name: &str) -> Guid {
        let [high, low] = self.0.map(u64::to_le_bytes);
        let bytes = [&high[..], &low[..], name.as_bytes()].concat();
        Guid([murmur64a(&bytes, 1), murmur64a(&bytes, 2)])
    }

    /// Reads the text of a GUID.
    pub fn parse(text: &str) -> Option<Guid> {
        let groups: Vec<&str> = text.split('-').collect();
        let is_digits = |text: &&str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let lengths = groups.iter().map(|group| group.len());
        if !lengths.eq(GROUPS) || !groups.iter().all(is_digits) {
            return None;
        }
        let all = u128::from_str_radix(&groups.concat(), 16).ok()?;
        Some(Guid([(all >> 64) as u64, all as u64]))
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let digits = format!("{:016x}{:016x}", self.0[0], self.0[1]);
        let mut at = 0;
        for (index, length) in GROUPS.into_iter().enumerate() {
            let dash = if index > 0 { "-" } else { "" };
            write!(out, "{dash}{}", &digits[at..at + length])?;
            at += length;
        }
        Ok(())
    }
}
