//! Hashed names and state hashes: MurmurHash64A and MurmurHash2, the two id types, constants that
//! are checked at compile time, and a streaming hash of plain values. Does not know the names
//! behind the ids (the resource compiler keeps that list). Not suitable against an attacker.
//!
//! Source: Austin Appleby, MurmurHash2 and MurmurHash64A (2008, public domain).

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

/// The multiplier of MurmurHash64A.
const FACTOR_64: u64 = 0xc6a4_a793_5bd1_e995;
/// The multiplier of MurmurHash2.
const FACTOR_32: u32 = 0x5bd1_e995;

/// Returns the MurmurHash64A of `bytes`. Names of resources and types are hashed with seed 0.
pub const fn murmur64a(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(FACTOR_64);
    let (blocks, rest) = bytes.as_chunks();
    let mut at = 0;
    while at < blocks.len() {
        hash = absorb_64(hash, u64::from_le_bytes(blocks[at]));
        at += 1;
    }
    if !rest.is_empty() {
        hash ^= little_endian(rest, 0, rest.len());
        hash = hash.wrapping_mul(FACTOR_64);
    }
    finish_64(hash)
}

/// Returns the MurmurHash2 (32 bits) of `bytes`. Ids inside data are hashed with seed 0.
pub const fn murmur32(bytes: &[u8], seed: u32) -> u32 {
    let length = bytes.len();
    // The published hash takes a 32-bit length. Longer input wraps, as it does there.
    let mut hash = seed ^ length as u32;
    let mut at = 0;
    while at + 4 <= length {
        let mut word = (little_endian(bytes, at, 4) as u32).wrapping_mul(FACTOR_32);
        word ^= word >> 24;
        hash = hash.wrapping_mul(FACTOR_32) ^ word.wrapping_mul(FACTOR_32);
        at += 4;
    }
    if at < length {
        hash ^= little_endian(bytes, at, length - at) as u32;
        hash = hash.wrapping_mul(FACTOR_32);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(FACTOR_32);
    hash ^ (hash >> 15)
}

/// Reads `count` (at most 8) bytes starting at `at` as a little-endian number.
const fn little_endian(bytes: &[u8], at: usize, count: usize) -> u64 {
    let mut word = 0;
    let mut i = 0;
    while i < count {
        word |= (bytes[at + i] as u64) << (8 * i);
        i += 1;
    }
    word
}

/// Mixes one word into the hash: one step of MurmurHash64A.
const fn absorb_64(hash: u64, word: u64) -> u64 {
    let mut word = word.wrapping_mul(FACTOR_64);
    word ^= word >> 47;
    (hash ^ word.wrapping_mul(FACTOR_64)).wrapping_mul(FACTOR_64)
}

/// Finishes MurmurHash64A: spreads the last words over all bits.
const fn finish_64(mut hash: u64) -> u64 {
    hash ^= hash >> 47;
    hash = hash.wrapping_mul(FACTOR_64);
    hash ^ (hash >> 47)
}

/// The hash of a resource name or type: MurmurHash64A, seed 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct IdString64(pub u64);

/// The hash of a name inside data (node, parameter, event): MurmurHash2, seed 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct IdString32(pub u32);

/// A map keyed by resource names. The keys are hashes already, so they are not hashed again.
pub type IdMap<V> = HashMap<IdString64, V, BuildHasherDefault<IdentityHasher>>;

/// A hasher that returns its input number unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = murmur64a(bytes, self.0);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 ^= number;
    }
}

impl IdString64 {
    /// Returns the id of `name`.
    pub const fn new(name: &str) -> IdString64 {
        IdString64(murmur64a(name.as_bytes(), 0))
    }

    /// Parses exactly 16 hexadecimal digits of either case; anything else is `None`.
    pub fn from_hex(digits: &str) -> Option<IdString64> {
        hex_value(digits, 16).map(IdString64)
    }
}

impl IdString32 {
    /// Returns the id of `name`.
    pub const fn new(name: &str) -> IdString32 {
        IdString32(murmur32(name.as_bytes(), 0))
    }

    /// Returns the id of `name`, and panics if it is not `value`. `static_hash!` makes this a
    /// compile-time check.
    pub const fn checked(name: &str, value: u32) -> IdString32 {
        let id = IdString32::new(name);
        assert!(
            id.0 == value,
            "static_hash!: the number is not the hash of the name: print IdString32::new(name)"
        );
        id
    }

    /// Parses exactly 8 hexadecimal digits of either case; anything else is `None`.
    pub fn from_hex(digits: &str) -> Option<IdString32> {
        hex_value(digits, 8).map(|value| IdString32(value as u32))
    }
}

/// Returns the first two different names with the same [`IdString32`], if they exist; the later
/// name is last.
pub fn find_collision<'a>(names: impl Iterator<Item = &'a str>) -> Option<(&'a str, &'a str)> {
    let mut known = HashMap::new();
    names.into_iter().find_map(|name| {
        let other = *known.entry(IdString32::new(name)).or_insert(name);
        (other != name).then_some((other, name))
    })
}

/// Parses exactly `count` hexadecimal digits. Rejects the sign that `from_str_radix` allows.
fn hex_value(digits: &str, count: usize) -> Option<u64> {
    let clean = digits.len() == count && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !clean {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

/// Formats the id as 16 lower-case hexadecimal digits.
impl fmt::Display for IdString64 {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

/// Formats the id as 8 lower-case hexadecimal digits.
impl fmt::Display for IdString32 {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:08x}", self.0)
    }
}

/// Defines an `IdString32` constant from a name and its value, so that data files and debuggers can
/// be searched for the value: `static_hash!("root_point", 0x5e43bd96)`. A wrong value does not
/// compile.
#[allow(unused_macros, reason = "see below")]
macro_rules! static_hash {
    ($name:literal, $value:literal) => {
        const { $crate::hash::IdString32::checked($name, $value) }
    };
}
#[allow(unused_imports, reason = "a face of this module; ids in Rust come and go")]
pub(crate) use static_hash;

/// A streaming 64-bit hash of plain values, for state hashes and content fingerprints. The result
/// is the same on every platform.
///
/// Each value becomes one or more 64-bit words. MurmurHash64A's step mixes in each word, and
/// finally the number of words. Bytes are preceded by their length, so neighboring byte strings
/// cannot be confused. Floats are hashed by their bits, so 0.0 and -0.0 differ. Every NaN counts as
/// the same value, because its bits depend on the processor.
#[derive(Clone, Debug)]
pub struct StateHash {
    hash: u64,
    blocks: u64,
}

impl StateHash {
    /// Creates an empty hash. Different seeds give unrelated hashes of the same values.
    pub const fn new(seed: u64) -> StateHash {
        StateHash { hash: seed, blocks: 0 }
    }

    pub const fn write_u64(&mut self, value: u64) {
        self.hash = absorb_64(self.hash, value);
        self.blocks += 1;
    }

    pub fn write_f32(&mut self, value: f32) {
        let value = if value.is_nan() { f32::NAN } else { value };
        self.write_u64(u64::from(value.to_bits()));
    }

    pub fn write_f64(&mut self, value: f64) {
        let value = if value.is_nan() { f64::NAN } else { value };
        self.write_u64(value.to_bits());
    }

    pub fn write_bytes(&mut self, bytes: &[u8]) {
        self.write_u64(bytes.len() as u64);
        let (blocks, rest) = bytes.as_chunks();
        for word in blocks {
            self.write_u64(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            self.write_u64(little_endian(rest, 0, rest.len()));
        }
    }

    /// Returns the hash of all values written so far. More values may be written afterwards.
    pub const fn finish(&self) -> u64 {
        finish_64(absorb_64(self.hash, self.blocks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_64(name: &str, hex: &str) {
        assert_eq!(IdString64::new(name).to_string(), hex, "{name}");
        assert_eq!(IdString64::from_hex(hex), Some(IdString64::new(name)));
    }

    #[test]
    fn hashes_match_the_published_64_bit_test_vectors() {
        check_64("content/levels/city/taxi.unit", "9d01c901e9e2827f");
        check_64("lua", "a14e8dfa2cd117e2");
        check_64("unit", "e0a48d0be9a7453f");
        check_64("texture", "cd4238c6a0c69e32");
        check_64("", "0000000000000000");
        // The low half of this hash is Crown's published 32-bit id of "actor".
        assert_eq!(murmur64a(b"actor", 0) as u32, 0x374c_f583);
    }

    #[test]
    fn hash_matches_the_published_32_bit_test_vector() {
        assert_eq!(murmur32(b"root_point", 0), 0x5e43_bd96);
        assert_eq!(IdString32::new("root_point").to_string(), "5e43bd96");
        assert_eq!(IdString32::new(""), IdString32(0));
    }

    #[test]
    fn names_that_share_a_hash_are_found() {
        let pair = ("eye_lamp_97", "foot_wing_428");
        assert_eq!(IdString32::new(pair.0), IdString32::new(pair.1));
        assert_eq!(find_collision(["root", pair.0, "lid", pair.1].into_iter()), Some(pair));
        assert_eq!(find_collision(["root", "lid", "lid"].into_iter()), None);
    }

    #[test]
    fn different_lengths_and_seeds_give_different_hashes() {
        let bytes = [7u8; 40];
        let mut visited = std::collections::BTreeSet::new();
        for length in 0..=40 {
            assert!(visited.insert(murmur64a(&bytes[..length], 1)), "{length}");
            assert!(visited.insert(u64::from(murmur32(&bytes[..length], 1))));
            assert!(visited.insert(murmur64a(&bytes[..length], 2)));
        }
    }

    #[test]
    fn a_static_hash_is_checked() {
        const ROOT_POINT: IdString32 = static_hash!("root_point", 0x5e43_bd96);
        assert_eq!(ROOT_POINT, IdString32::new("root_point"));
    }

    #[test]
    #[should_panic(expected = "not the hash of the name")]
    fn a_wrong_static_hash_is_refused() {
        IdString32::checked("root_point", 0x5e43_bd97);
    }

    #[test]
    fn hex_requires_the_exact_number_of_digits() {
        for (digits, want) in [
            ("5e43bd96", Some(IdString32(0x5e43_bd96))),
            ("5E43BD96", Some(IdString32(0x5e43_bd96))),
            ("0000000a", Some(IdString32(10))),
            ("a", None),
            ("", None),
            ("+e43bd96", None),
            ("5e43bd9g", None),
            ("05e43bd96", None),
            ("5e43bdä", None),
        ] {
            assert_eq!(IdString32::from_hex(digits), want, "{digits}");
        }
        assert_eq!(IdString64::from_hex("5e43bd96"), None);
        assert_eq!(IdString64::from_hex("ffffffffffffffff"), Some(IdString64(u64::MAX)));
    }

    fn state(write: impl Fn(&mut StateHash)) -> u64 {
        let mut hash = StateHash::new(0);
        write(&mut hash);
        hash.finish()
    }

    #[test]
    fn a_state_hash_is_platform_independent() {
        let mut hash = StateHash::new(0);
        hash.write_u64(1);
        hash.write_f32(0.5);
        hash.write_f64(-2.25);
        hash.write_bytes(b"enemy/guard");
        assert_eq!(hash.finish(), 0x81b3_a5b0_115f_4dcc);
        hash.write_u64(0);
        assert_ne!(hash.finish(), 0x81b3_a5b0_115f_4dcc);
    }

    #[test]
    fn different_values_give_different_state_hashes() {
        let hashes = [
            state(|_| ()),
            state(|h| h.write_u64(0)),
            state(|h| h.write_bytes(b"")),
            state(|h| h.write_bytes(b"\0")),
            state(|h| h.write_bytes(b"a")),
            state(|h| (h.write_u64(1), h.write_u64(2)).1),
            state(|h| (h.write_u64(2), h.write_u64(1)).1),
            state(|h| (h.write_bytes(b"ab"), h.write_bytes(b"c")).1),
            state(|h| (h.write_bytes(b"a"), h.write_bytes(b"bc")).1),
            state(|h| h.write_f32(-0.0)),
            state(|h| h.write_f32(1.0)),
            state(|h| h.write_f64(1.0)),
        ];
        for (i, a) in hashes.iter().enumerate() {
            // An empty byte string and the number 0 both become the single word 0.
            let same = if i == 1 || i == 2 { 2 } else { 1 };
            assert_eq!(hashes.iter().filter(|b| a == *b).count(), same, "row {i}");
        }
    }

    #[test]
    fn every_nan_has_the_same_hash() {
        let odd = f32::from_bits(0xffc0_1234);
        assert!(odd.is_nan());
        assert_eq!(state(|h| h.write_f32(odd)), state(|h| h.write_f32(f32::NAN)));
        let odd = f64::from_bits(0xfff8_0000_0000_0001);
        assert_eq!(state(|h| h.write_f64(odd)), state(|h| h.write_f64(f64::NAN)));
    }
}
