//! Decompression of zlib and gzip data of known size, which Aseprite uses for its pictures and
//! Tiled for its layers. Knows nothing of pictures and maps.

use engine_foundation::Error;
use engine_foundation::error;
use flate2::read::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use std::io::Read;

/// Maximum number of bytes that one compressed byte can expand to (RFC 1951).
const EXPANSION_MAX: usize = 1032;

/// Format around the compressed data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeflateFormat {
    /// RFC 1950.
    Zlib,
    /// RFC 1952, one member.
    Gzip,
}

/// Decompresses exactly `size` bytes. Returns an error if the data is damaged, or has another size;
/// no more than `size` bytes are ever written.
pub fn unpack(bytes: &[u8], size: usize, format: DeflateFormat) -> Result<Vec<u8>, Error> {
    let damaged = || error!("its compressed data is damaged, or does not have {size} bytes");
    // Checked before anything is allocated.
    if size / EXPANSION_MAX > bytes.len() {
        return Err(damaged());
    }
    let mut out = Vec::new();
    let complete = match format {
        DeflateFormat::Zlib => {
            // One byte beyond `size` proves that there is too much.
            out.reserve_exact(size + 1);
            let all =
                Decompress::new(true).decompress_vec(bytes, &mut out, FlushDecompress::Finish);
            matches!(all, Ok(Status::StreamEnd))
        }
        DeflateFormat::Gzip => {
            GzDecoder::new(bytes).take(size as u64 + 1).read_to_end(&mut out).is_ok()
        }
    };
    match complete && out.len() == size {
        true => Ok(out),
        false => Err(damaged()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the compressed data of a PNG's one IDAT chunk, written by an independent encoder.
    fn packed_by_png(rgba: &[u8], width: u32, height: u32) -> Vec<u8> {
        let png = crate::image::encode_png(width, height, rgba);
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
        assert_eq!(unpack(&packed, size, DeflateFormat::Zlib).unwrap().len(), size);
        assert!(
            unpack(&packed, size - 1, DeflateFormat::Zlib).is_err()
                && unpack(&packed, size + 1, DeflateFormat::Zlib).is_err()
        );
        for length in 0..packed.len() {
            assert!(unpack(&packed[..length], size, DeflateFormat::Zlib).is_err(), "{length}");
        }
        assert!(unpack(&[], 0, DeflateFormat::Zlib).is_err());
    }

    #[test]
    fn a_changed_byte_is_an_error() {
        let packed = packed_by_png(&[90; 32 * 32 * 4], 32, 32);
        let size = (32 * 4 + 1) * 32;
        let unpacked = unpack(&packed, size, DeflateFormat::Zlib).unwrap();
        for bit in 0..packed.len() * 8 {
            let mut bytes = packed.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            // A few bits of the header mean nothing.
            assert!(
                unpack(&bytes, size, DeflateFormat::Zlib).map_or(true, |out| out == unpacked),
                "bit {bit}"
            );
        }
    }

    #[test]
    fn gzip_data_is_checked_by_its_checksum() {
        // "engine" sixteen times, compressed by the tool `gzip -9n`.
        const PACKED: [u8; 29] = [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x4b, 0xcd, 0x4b, 0xcf,
            0xcc, 0x4b, 0x4d, 0xa5, 0x19, 0x09, 0x00, 0x62, 0xc3, 0x6b, 0x41, 0x60, 0x00, 0x00,
            0x00,
        ];
        let wanted = b"engine".repeat(16);
        assert_eq!(unpack(&PACKED, 96, DeflateFormat::Gzip).unwrap(), wanted);
        for size in [0, 95, 97, usize::MAX] {
            let message = unpack(&PACKED, size, DeflateFormat::Gzip).unwrap_err().message;
            let wanted = "its compressed data is damaged, or does not have";
            assert_eq!(message, format!("{wanted} {size} bytes"));
        }
        for length in 0..PACKED.len() {
            assert!(unpack(&PACKED[..length], 96, DeflateFormat::Gzip).is_err(), "{length}");
        }
        for bit in 0..PACKED.len() * 8 {
            let mut bytes = PACKED;
            bytes[bit / 8] ^= 1 << (bit % 8);
            let unpacked = unpack(&bytes, 96, DeflateFormat::Gzip);
            assert!(unpacked.map_or(true, |out| out == wanted), "bit {bit}");
        }
        assert!(unpack(&PACKED, 96, DeflateFormat::Zlib).is_err());
    }
}
