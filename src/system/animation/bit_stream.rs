//! Numbers of a few bits each, one after another.

/// Bytes after the last number, so that whole words can be read at each number.
pub const PADDING: usize = 64;
/// Maximum bits of a number.
pub const BITS_MAX: u32 = 24;
/// Writer of numbers.
#[derive(Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    bits: usize,
}

impl BitWriter {
    /// Writes the lowest `width` bits of a number: at most [`BITS_MAX`].
    pub fn write(&mut self, value: u32, width: u32) {
        debug_assert!(width <= BITS_MAX && value < 1 << width);
        for bit in 0..width {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().expect("a byte was added") |=
                (((value >> bit) & 1) as u8) << (self.bits % 8);
            self.bits += 1;
        }
    }

    /// Writes a small number as as many ones, and a zero.
    pub fn write_count(&mut self, count: u32) {
        for _ in 0..count {
            self.write(1, 1);
        }
        self.write(0, 1);
    }

    /// Returns the number of bits.
    #[cfg(test)]
    pub fn bit_count(&self) -> usize {
        self.bits
    }

    /// Returns the numbers with the padding after them.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.extend([0; PADDING]);
        self.bytes
    }
}

/// Reader of numbers that checks its bounds. The bytes end with the padding.
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    pub fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// Returns the position in bits.
    pub fn position(&self) -> usize {
        self.at
    }

    fn end(&self) -> usize {
        self.bytes.len().saturating_sub(PADDING) * 8
    }

    /// Skips numbers. Returns `None` if they do not exist.
    pub fn skip(&mut self, bits: usize) -> Option<()> {
        let end = self.at.checked_add(bits).filter(|end| *end <= self.end())?;
        self.at = end;
        Some(())
    }

    pub fn read(&mut self, width: u32) -> Option<u32> {
        let start = self.at;
        self.skip(width as usize)?;
        Some(bits_at(self.bytes, start, width))
    }

    /// Reads a number that [`BitWriter::write_count`] wrote, up to a limit.
    pub fn read_count(&mut self, most: u32) -> Option<u32> {
        for count in 0..=most {
            if self.read(1)? == 0 {
                return Some(count);
            }
        }
        None
    }

    /// Returns true if less than a byte is left.
    pub fn is_done(&self) -> bool {
        self.end() - self.at < 8
    }
}

/// Returns the number of `width` bits at a position in bits. The bytes end with the padding.
fn bits_at(bytes: &[u8], at: usize, width: u32) -> u32 {
    let start = at / 8;
    let word: [u8; 4] = bytes[start..start + 4].try_into().expect("four bytes");
    (u32::from_le_bytes(word) >> (at % 8)) & !(u32::MAX << width)
}

/// Returns the number as an unsigned one: 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
pub fn fold(number: i32) -> u32 {
    ((number << 1) ^ (number >> 31)) as u32
}

/// Returns the number that [`fold`] was given.
#[inline(always)]
pub fn unfold(number: u32) -> i32 {
    (number >> 1) as i32 ^ -((number & 1) as i32)
}

/// Returns how many bits a number has.
pub fn width(number: u32) -> u32 {
    u32::BITS - number.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let mut writer = BitWriter::default();
        let numbers: Vec<(u32, u32)> =
            (0..200).map(|index| (index * 77_777 % (1 << (index % 25)), index % 25)).collect();
        for (value, width) in &numbers {
            writer.write(*value, *width);
        }
        writer.write_count(0);
        writer.write_count(5);
        let bits = writer.bit_count();
        let bytes = writer.finish();
        assert_eq!(bytes.len(), bits.div_ceil(8) + PADDING);
        let mut reader = BitReader::new(&bytes);
        for (value, width) in &numbers {
            assert_eq!(reader.read(*width), Some(*value));
        }
        assert_eq!((reader.read_count(9), reader.read_count(9)), (Some(0), Some(5)));
        assert!(reader.is_done() && reader.position() == bits);
        assert_eq!(reader.read(24), None);
        assert_eq!(BitReader::new(&[0xff; 20]).read_count(30), None);
        assert_eq!(BitReader::new(&[0; 3]).read(1), None);
    }

    #[test]
    fn signed_numbers_are_folded() {
        for number in [0, 1, -1, 2, -2, 1000, -1000, 8_000_000, -8_000_000] {
            assert_eq!(unfold(fold(number)), number);
        }
        assert_eq!([0, -1, 1, -2].map(fold), [0, 1, 2, 3]);
        assert_eq!([0, 1, 2, 3, 4].map(width), [0, 1, 2, 2, 3]);
    }
}
