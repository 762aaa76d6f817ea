//! The hasher of batch keys. Knows no keys.

use std::hash::{BuildHasherDefault, Hasher};

/// Fast hasher for batch keys. It is not resistant to attacks; keys come from trusted code.
#[derive(Clone, Copy, Default)]
pub struct KeyHasher(u64);

pub type KeyHashes = BuildHasherDefault<KeyHasher>;

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }
    fn write_u64(&mut self, word: u64) {
        // The multiplier of FxHash: 2^64 divided by pi.
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }
    fn write_i32(&mut self, word: i32) {
        self.write_u64(word as u32 as u64);
    }
    fn write_u16(&mut self, word: u16) {
        self.write_u64(word.into());
    }
    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
    fn finish(&self) -> u64 {
        // The hash table uses the highest and the lowest bits.
        self.0 ^ self.0 >> 32
    }
}
