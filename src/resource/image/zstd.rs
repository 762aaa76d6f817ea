//! Decompresses Zstandard frames (RFC 8878) with an uncompressed size that is known beforehand, as
//! for mip levels in KTX2 files. Memory grows with the output, never with a value in a header.
//! Independent of images.

use engine_foundation::Error;
use engine_foundation::error;
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// Window size that is always accepted, as the RFC advises. A larger window is refused if it also
/// exceeds the frame's content, because such a frame has no use for it.
const WINDOW_MIN: u64 = 8 << 20;
/// Maximum number of bytes that a block decompresses to, and minimum number of bytes that a block
/// occupies.
const BLOCK_BYTES_MAX: usize = 128 << 10;
const BLOCK_BYTES_MIN: usize = 4;

/// Decompresses a frame, which must hold `wanted` bytes.
pub fn unpack(packed: &[u8], wanted: usize) -> Result<Vec<u8>, Error> {
    // Checked before decompression: a few bytes cannot expand without limit.
    let most = (packed.len() / BLOCK_BYTES_MIN).saturating_mul(BLOCK_BYTES_MAX);
    if wanted > most {
        let have = packed.len();
        return Err(error!("{have} compressed bytes cannot contain the stated {wanted} bytes"));
    }
    let window = WINDOW_MIN.max(wanted as u64);
    let damaged =
        |message: &dyn std::fmt::Display| error!("the compressed bytes are damaged ({message})");
    let mut decoder = StreamingDecoder::new_with_max_window_size(packed, window)
        .map_err(|reason| damaged(&reason))?;
    let mut out = Vec::new();
    // One byte beyond `wanted` proves that there is too much; nothing after it is decompressed.
    let taken = (&mut decoder).take(wanted as u64 + 1).read_to_end(&mut out);
    taken.map_err(|reason| damaged(&reason))?;
    let stored = decoder.decoder.get_checksum_from_data();
    if out.len() == wanted
        && stored.is_some()
        && stored != decoder.decoder.get_calculated_checksum()
    {
        return Err(error!("its bytes do not match the checksum that is stored with them"));
    }
    match out.len() {
        found if found == wanted => Ok(out),
        found if found > wanted => Err(error!("it contains more than the stated {wanted} bytes")),
        found => Err(error!("it contains only {found} of the stated {wanted} bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_test_support::images::zstd_stored;

    /// 3000 bytes as compressed by the tool `zstd -19 --check`: Huffman codes, sequences, a
    /// checksum.
    #[rustfmt::skip]
    const PACKED: [u8; 139] = [
        0x28, 0xb5, 0x2f, 0xfd, 0x64, 0xb8, 0x0a, 0xed, 0x03, 0x00, 0xa2, 0x87, 0x14, 0x05,
        0x10, 0xf0, 0x07, 0x8c, 0xbe, 0x23, 0xf5, 0x73, 0xb8, 0x01, 0xbb, 0xbf, 0x26, 0x9f,
        0x8b, 0xc6, 0x57, 0x5c, 0x40, 0xec, 0xa0, 0x35, 0x4e, 0x1a, 0xc5, 0x0c, 0x4e, 0xae,
        0x17, 0x1b, 0x80, 0x09, 0xbd, 0x5f, 0x2e, 0xa1, 0x76, 0x06, 0x03, 0x67, 0xbd, 0x51,
        0xdf, 0x93, 0x26, 0x48, 0x94, 0x43, 0xae, 0xa1, 0xe0, 0xe7, 0x28, 0x22, 0x12, 0x17,
        0xc7, 0x0b, 0x62, 0x85, 0xf5, 0x82, 0x8b, 0x22, 0xce, 0x41, 0x01, 0xb9, 0xa2, 0x68,
        0xf2, 0xfd, 0x0d, 0x38, 0x67, 0x24, 0xf4, 0x2b, 0xa1, 0x06, 0x02, 0x1f, 0xa8, 0x10,
        0x12, 0x5f, 0xff, 0x3b, 0xf0, 0x35, 0x0e, 0x10, 0xfe, 0xff, 0xff, 0x15, 0x81, 0x1f,
        0xb4, 0xbb, 0xbb, 0xbb, 0x7b, 0xf7, 0xee, 0xee, 0x5e, 0xbb, 0xbb, 0x7b, 0x77, 0xf7,
        0xee, 0x3a, 0xc4, 0x66, 0xda, 0x20, 0x25, 0x40, 0xa6, 0x08, 0xc0, 0xb6, 0x9f,
    ];

    /// Returns a frame of blocks that each repeat one byte, with these counts.
    fn repeated(counts: &[u32]) -> Vec<u8> {
        // The magic number, no content size, a window of 128 KiB.
        let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
        for (at, count) in counts.iter().enumerate() {
            let last = u32::from(at + 1 == counts.len());
            out.extend(&(last | 1 << 1 | count << 3).to_le_bytes()[..3]);
            out.push(7);
        }
        out
    }

    #[track_caller]
    fn refused(packed: &[u8], wanted: usize, message: &str) {
        let found = unpack(packed, wanted).unwrap_err().message;
        assert!(found.starts_with(message), "{found}");
    }

    #[test]
    fn decompression_restores_the_bytes() {
        let bytes: Vec<u8> = (0..300_000u32).map(|at| (at / 3) as u8).collect();
        assert_eq!(unpack(&zstd_stored(&bytes), bytes.len()).unwrap(), bytes);
        assert_eq!(unpack(&repeated(&[5, 3]), 8).unwrap(), [7; 8]);
        let bytes: Vec<u8> = (0..3000)
            .map(|at| if at % 97 == 0 { at / 97 } else { at * 7 % 11 * (1 + at % 3) } as u8)
            .collect();
        assert_eq!(unpack(&PACKED, bytes.len()).unwrap(), bytes);
    }

    #[test]
    fn wrong_sizes_are_refused_before_allocation() {
        refused(&[1; 9], 1 << 30, "9 compressed bytes cannot contain the stated 1073741824");
        refused(&repeated(&[5, 3]), 7, "more than the stated 7 bytes");
        refused(&repeated(&[5, 3]), 9, "only 8 of the stated 9 bytes");
        // 400 bytes that expand to 12 MiB: decompression stops after the wanted bytes.
        let bomb = repeated(&[128 << 10; 100]);
        refused(&bomb, 1000, "more than the stated 1000 bytes");
        // A window of two terabytes without content.
        let window = [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8][..], &[1, 0, 0]].concat();
        refused(&window, 4, "the compressed bytes are damaged (Specified window_size is too big");
    }

    #[test]
    fn a_wrong_checksum_is_refused() {
        let message = "its bytes do not match the checksum that is stored with them";
        let mut bytes = PACKED;
        bytes[PACKED.len() - 1] ^= 1;
        refused(&bytes, 3000, message);
        // The same bytes uncompressed, with the same checksum, which is announced by a bit in the
        // header.
        let plain = unpack(&PACKED, 3000).unwrap();
        let mut whole = [&zstd_stored(&plain)[..], &PACKED[PACKED.len() - 4..]].concat();
        whole[4] |= 4;
        assert_eq!(unpack(&whole, 3000).unwrap(), plain);
        for at in [16, 1000, 3015] {
            whole[at] ^= 0x10;
            refused(&whole, 3000, message);
            whole[at] ^= 0x10;
        }
    }

    #[test]
    fn no_truncation_or_flipped_bit_causes_a_panic() {
        for (whole, size) in [(&zstd_stored(&[9; 200])[..], 200), (&PACKED, 3000)] {
            for length in 0..whole.len() - 4 {
                assert!(unpack(&whole[..length], size).is_err(), "{length}");
            }
            for bit in 0..whole.len() * 8 {
                let mut bytes = whole.to_vec();
                bytes[bit / 8] ^= 1 << (bit % 8);
                // Without a checksum, some bits only change the content; with one, decompression
                // must not panic.
                let _ = unpack(&bytes, size);
            }
        }
    }
}
