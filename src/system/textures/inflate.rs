//! Decompression of zlib data of known size, which Aseprite uses for its pictures. Knows nothing of
//! pictures.

use engine_foundation::Error;
use engine_foundation::error;

/// Decompresses exactly `size` bytes. Returns an error if the data is damaged, or has another size;
/// no more than `size` bytes are ever written.
pub fn unpack(bytes: &[u8], size: usize) -> Result<Vec<u8>, Error> {
    let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes, size);
    let complete = unpacked.ok().filter(|unpacked| unpacked.len() == size);
    complete.ok_or_else(|| error!("its packed texels are damaged: save it again"))
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
    fn data_of_exactly_the_expected_size_is_unpacked() {
        let (width, height) = (64u32, 40u32);
        let texel = |at: u32| [(at % 7) as u8 * 30, (at / 64) as u8, (at * at / 97) as u8, 255];
        let rgba: Vec<u8> = (0..width * height).flat_map(texel).collect();
        let size = (width as usize * 4 + 1) * height as usize;
        let packed = packed_by_png(&rgba, width, height);
        assert_eq!(unpack(&packed, size).unwrap().len(), size);
        assert!(unpack(&packed, size - 1).is_err() && unpack(&packed, size + 1).is_err());
        for length in 0..packed.len() {
            assert!(unpack(&packed[..length], size).is_err(), "{length}");
        }
        assert!(unpack(&[], 0).is_err());
    }

    #[test]
    fn a_changed_byte_is_an_error() {
        let packed = packed_by_png(&[90; 32 * 32 * 4], 32, 32);
        let size = (32 * 4 + 1) * 32;
        let unpacked = unpack(&packed, size).unwrap();
        for bit in 0..packed.len() * 8 {
            let mut bytes = packed.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            // A few bits of the header mean nothing.
            assert!(unpack(&bytes, size).map_or(true, |out| out == unpacked), "bit {bit}");
        }
    }
}
