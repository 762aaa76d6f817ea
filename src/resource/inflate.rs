//! Decompression of zlib and gzip data of known size, which Aseprite uses for its pictures and
//! Tiled for its layers. Knows nothing of pictures and maps.

use engine_foundation::Error;
use engine_foundation::error;
use flate2::read::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use std::io::{ErrorKind, Read};

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

/// State of compressed data after its decompression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DeflateEnd {
    Complete,
    /// The data ends too early.
    Cut,
    Damaged,
}

/// Decompresses exactly `size` bytes. Returns an error if the data is damaged, or has another size;
/// no more than `size` bytes are ever returned.
pub fn unpack(bytes: &[u8], size: usize, format: DeflateFormat) -> Result<Vec<u8>, Error> {
    // Checked before anything is allocated.
    if size / EXPANSION_MAX > bytes.len() {
        let length = bytes.len();
        return Err(error!("its compressed data has {length} bytes, too few to hold {size}"));
    }
    let mut out = Vec::new();
    let end = match format {
        DeflateFormat::Zlib => {
            // One byte beyond `size` proves that there is too much.
            out.reserve_exact(size + 1);
            let all =
                Decompress::new(true).decompress_vec(bytes, &mut out, FlushDecompress::Finish);
            match all {
                Ok(Status::StreamEnd) => DeflateEnd::Complete,
                Ok(_) => DeflateEnd::Cut,
                Err(_) => DeflateEnd::Damaged,
            }
        }
        DeflateFormat::Gzip => {
            match GzDecoder::new(bytes).take(size as u64 + 1).read_to_end(&mut out) {
                Ok(_) => DeflateEnd::Complete,
                Err(reason) if reason.kind() == ErrorKind::UnexpectedEof => DeflateEnd::Cut,
                Err(_) => DeflateEnd::Damaged,
            }
        }
    };
    let found = out.len();
    match end {
        DeflateEnd::Damaged => Err(error!("its compressed data is damaged")),
        _ if found > size => Err(error!("its compressed data holds more than {size} bytes")),
        DeflateEnd::Cut => Err(error!("its compressed data is cut short")),
        DeflateEnd::Complete if found < size => {
            Err(error!("its compressed data holds {found} bytes in place of {size}"))
        }
        DeflateEnd::Complete => Ok(out),
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
        let refused = |bytes: &[u8], size: usize| {
            unpack(bytes, size, DeflateFormat::Zlib).unwrap_err().message
        };
        let less = size - 1;
        let wanted = format!("its compressed data holds more than {less} bytes");
        assert_eq!(refused(&packed, less), wanted);
        let wanted = format!("its compressed data holds {size} bytes in place of {}", size + 1);
        assert_eq!(refused(&packed, size + 1), wanted);
        for length in size / EXPANSION_MAX..packed.len() {
            let message = refused(&packed[..length], size);
            assert_eq!(message, "its compressed data is cut short", "{length}");
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
        for (size, wanted) in [
            (0, "holds more than 0 bytes"),
            (95, "holds more than 95 bytes"),
            (97, "holds 96 bytes in place of 97"),
            (usize::MAX, "has 29 bytes, too few to hold 18446744073709551615"),
        ] {
            let message = unpack(&PACKED, size, DeflateFormat::Gzip).unwrap_err().message;
            assert_eq!(message, format!("its compressed data {wanted}"));
        }
        let mut damaged = PACKED;
        damaged[21] ^= 1;
        let message = unpack(&damaged, 96, DeflateFormat::Gzip).unwrap_err().message;
        assert_eq!(message, "its compressed data is damaged");
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
