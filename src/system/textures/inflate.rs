//! Decompressor for zlib data (RFC 1950 and 1951) of known size, which Aseprite uses for its
//! pictures. Knows nothing of pictures.

use engine_foundation::Error;
use engine_foundation::error;

/// Base and number of extra bits of each length code, from 257 on.
const LENGTHS: [(u16, u8); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];
/// Order in which the lengths of the code length codes are stored.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u32,
    count: u32,
}

fn damaged() -> Error {
    error!("its packed texels are damaged: save it again")
}

impl Bits<'_> {
    fn take(&mut self, count: u32) -> Result<u32, Error> {
        while self.count < count {
            let byte = *self.bytes.get(self.at).ok_or_else(damaged)?;
            self.at += 1;
            self.held |= u32::from(byte) << self.count;
            self.count += 8;
        }
        let out = self.held & ((1 << count) - 1);
        self.held >>= count;
        self.count -= count;
        Ok(out)
    }
}

/// Huffman codes of up to 15 bits: the number of codes of each length, and their symbols.
struct Codes {
    counts: [u16; 16],
    symbols: Vec<u16>,
}

impl Codes {
    fn new(lengths: &[u8]) -> Codes {
        let mut counts = [0; 16];
        for length in lengths {
            counts[usize::from(*length)] += 1;
        }
        counts[0] = 0;
        let mut symbols: Vec<u16> = (0..lengths.len() as u16).collect();
        symbols.retain(|symbol| lengths[usize::from(*symbol)] > 0);
        symbols.sort_by_key(|symbol| lengths[usize::from(*symbol)]);
        Codes { counts, symbols }
    }

    fn read(&self, bits: &mut Bits) -> Result<u16, Error> {
        let (mut code, mut first, mut index) = (0i32, 0i32, 0i32);
        for count in &self.counts[1..] {
            code |= bits.take(1)? as i32;
            let count = i32::from(*count);
            if code - first < count {
                let found = self.symbols.get((index + code - first) as usize);
                return found.copied().ok_or_else(damaged);
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err(damaged())
    }
}

/// Decompresses exactly `size` bytes.
pub fn unpack(bytes: &[u8], size: usize) -> Result<Vec<u8>, Error> {
    if bytes.len() < 2 || bytes[0] & 15 != 8 || bytes[1] & 32 != 0 {
        return Err(damaged());
    }
    let mut bits = Bits { bytes, at: 2, held: 0, count: 0 };
    let mut out = Vec::new();
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out, size)?,
            1 => {
                let lengths: Vec<u8> = (0..288)
                    .map(|symbol| match symbol {
                        0..144 => 8,
                        144..256 => 9,
                        256..280 => 7,
                        _ => 8,
                    })
                    .collect();
                packed(&mut bits, &mut out, size, &Codes::new(&lengths), &Codes::new(&[5; 30]))?;
            }
            2 => {
                let (texts, distances) = codes(&mut bits)?;
                packed(&mut bits, &mut out, size, &texts, &distances)?;
            }
            _ => return Err(damaged()),
        }
        if last {
            break;
        }
    }
    if out.len() == size { Ok(out) } else { Err(damaged()) }
}

fn stored(bits: &mut Bits, out: &mut Vec<u8>, size: usize) -> Result<(), Error> {
    bits.take(bits.count % 8)?;
    let (length, check) = (bits.take(16)?, bits.take(16)?);
    if length != !check & 0xffff || out.len() + length as usize > size {
        return Err(damaged());
    }
    for _ in 0..length {
        out.push(bits.take(8)? as u8);
    }
    Ok(())
}

/// Reads the codes of a block with dynamic codes.
fn codes(bits: &mut Bits) -> Result<(Codes, Codes), Error> {
    let texts = bits.take(5)? as usize + 257;
    let distances = bits.take(5)? as usize + 1;
    let code_count = bits.take(4)? as usize + 4;
    let mut lengths = [0; 19];
    for index in &ORDER[..code_count] {
        lengths[*index] = bits.take(3)? as u8;
    }
    let of_lengths = Codes::new(&lengths);
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < texts + distances {
        let symbol = of_lengths.read(bits)?;
        let (value, count) = match symbol {
            0..16 => (symbol as u8, 1),
            16 => (*lengths.last().ok_or_else(damaged)?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            _ => (0, 11 + bits.take(7)?),
        };
        lengths.extend(std::iter::repeat_n(value, count as usize));
    }
    if lengths.len() != texts + distances {
        return Err(damaged());
    }
    Ok((Codes::new(&lengths[..texts]), Codes::new(&lengths[texts..])))
}

fn packed(
    bits: &mut Bits,
    out: &mut Vec<u8>,
    size: usize,
    texts: &Codes,
    distances: &Codes,
) -> Result<(), Error> {
    loop {
        let symbol = texts.read(bits)?;
        if symbol == 256 {
            return Ok(());
        }
        if symbol < 256 {
            if out.len() == size {
                return Err(damaged());
            }
            out.push(symbol as u8);
            continue;
        }
        let (base, extra) = *LENGTHS.get(usize::from(symbol) - 257).ok_or_else(damaged)?;
        let length = usize::from(base) + bits.take(u32::from(extra))? as usize;
        let symbol = u32::from(distances.read(bits)?);
        let (base, extra) = match symbol {
            0..4 => (symbol + 1, 0),
            4..30 => {
                let extra = symbol / 2 - 1;
                (((2 + symbol % 2) << extra) + 1, extra)
            }
            _ => return Err(damaged()),
        };
        let distance = (base + bits.take(extra)?) as usize;
        if distance > out.len() || out.len() + length > size {
            return Err(damaged());
        }
        for _ in 0..length {
            out.push(out[out.len() - distance]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the compressed data of a PNG's one IDAT chunk, written by an independent encoder.
    fn packed_by_png(rgba: &[u8], width: u32, height: u32) -> Vec<u8> {
        let png = engine_resource::image::encode_png(width, height, rgba);
        let mut at = 8;
        let mut out = Vec::new();
        while at < png.len() {
            let length = u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
            if &png[at + 4..at + 8] == b"IDAT" {
                out.extend(&png[at + 8..at + 8 + length]);
            }
            at += length + 12;
        }
        out
    }

    #[test]
    fn what_another_packed_is_unpacked() {
        let (width, height) = (64u32, 40u32);
        let texel = |at: u32| [(at % 7) as u8 * 30, (at / 64) as u8, (at * at / 97) as u8, 255];
        let rgba: Vec<u8> = (0..width * height).flat_map(texel).collect();
        let size = (width as usize * 4 + 1) * height as usize;
        let packed = packed_by_png(&rgba, width, height);
        assert_eq!(unpack(&packed, size).unwrap().len(), size);
        assert!(unpack(&packed, size - 1).is_err() && unpack(&packed, size + 1).is_err());
        for length in 0..packed.len() - 4 {
            assert!(unpack(&packed[..length], size).is_err(), "{length}");
        }
    }

    #[test]
    fn the_three_kinds_of_blocks_are_unpacked() {
        let stored = [0x78, 1, 1, 3, 0, 0xfc, 0xff, b'a', b'b', b'c'];
        assert_eq!(unpack(&stored, 3).unwrap(), b"abc");
        // "aaaaaaaaaa" with fixed codes, as zlib compresses it.
        let fixed = [0x78, 0x9c, 0x4b, 0x84, 0x03, 0x00];
        assert_eq!(unpack(&fixed, 10).unwrap(), b"aaaaaaaaaa");
    }

    #[test]
    fn no_flipped_bit_is_worse_than_an_error() {
        let packed = packed_by_png(&[90; 32 * 32 * 4], 32, 32);
        for bit in 0..packed.len() * 8 {
            let mut bytes = packed.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let size = (32 * 4 + 1) * 32;
            assert!(unpack(&bytes, size).map_or(true, |out| out.len() == size));
        }
    }
}
