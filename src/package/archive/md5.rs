//! MD5 (RFC 1321), which Debian's tools use to find files that were damaged after installation, and
//! which identifiers of installers are made of. It protects from nobody.

use std::io::{Result, Write};

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The hash of what is written.
pub struct Md5 {
    state: [u32; 4],
    /// Bytes of an incomplete block.
    rest: Vec<u8>,
    bytes: u64,
}

impl Default for Md5 {
    fn default() -> Md5 {
        let state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
        Md5 { state, rest: Vec::new(), bytes: 0 }
    }
}

impl Md5 {
    fn add(&mut self, bytes: &[u8]) {
        self.rest.extend(bytes);
        let whole = self.rest.len() / 64 * 64;
        for block in self.rest[..whole].as_chunks::<64>().0 {
            add_block(&mut self.state, block);
        }
        self.rest.drain(..whole);
    }

    /// Returns the hash as 32 digits.
    pub fn finish(mut self) -> String {
        let bits = self.bytes.wrapping_mul(8);
        self.add(&[0x80]);
        let zeros = (120 - self.rest.len()) % 64;
        self.add(&vec![0; zeros]);
        self.add(&bits.to_le_bytes());
        let bytes = self.state.iter().flat_map(|word| word.to_le_bytes());
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Write for Md5 {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.bytes += bytes.len() as u64;
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

fn add_block(state: &mut [u32; 4], block: &[u8; 64]) {
    let parts = block.as_chunks::<4>().0;
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..64 {
        let (mixed, word) = match step / 16 {
            0 => (b & c | !b & d, step),
            1 => (d & b | !d & c, (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), 7 * step % 16),
        };
        // The RFC defines the constants by this formula.
        let constant = ((step as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32;
        let sum = a
            .wrapping_add(mixed)
            .wrapping_add(constant)
            .wrapping_add(u32::from_le_bytes(parts[word]));
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
    }
    for (word, value) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_rfc() {
        let check = |text: &str, wanted: &str| {
            let mut md5 = Md5::default();
            for byte in text.bytes() {
                md5.write_all(&[byte]).unwrap();
            }
            assert_eq!(md5.finish(), wanted, "{text}");
        };
        check("", "d41d8cd98f00b204e9800998ecf8427e");
        check("abc", "900150983cd24fb0d6963f7d28e17f72");
        check(&"1234567890".repeat(8), "57edf4a22be3c955ac49da2e2107b67a");
        let letters: String = ('A'..='Z').chain('a'..='z').chain('0'..='9').collect();
        check(&letters, "d174ab98d277d9f5a5611c2c9f419d9f");
    }
}
