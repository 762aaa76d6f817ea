//! Tests of cabinets, with a reader of their own.

use super::*;
use flate2::{Decompress, FlushDecompress};

/// Reads a cabinet, and returns the files with their names. Panics at everything that is not as the
/// format demands.
pub fn read_cabinet(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let u16_at = |at: usize| u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap());
    let u32_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((&bytes[..4], u32_at(8)), (&b"MSCF"[..], bytes.len() as u32));
    assert_eq!((u32_at(16), u16_at(24), u16_at(26), u16_at(30)), (44, 0x103, 1, 0));
    let (count, mut block, blocks, kind) = (u16_at(28), u32_at(36), u16_at(40), u16_at(42));
    assert_eq!(kind, MSZIP);
    let mut data: Vec<u8> = Vec::new();
    for _ in 0..blocks {
        let at = block as usize;
        let packed = &bytes[at + 8..at + 8 + usize::from(u16_at(at + 4))];
        assert_eq!(u32_at(at), checksum(packed) ^ checksum(&bytes[at + 4..at + 8]));
        assert!(packed.starts_with(b"CK") && packed.len() <= PACKED_BYTES_MAX);
        data.extend(unpack_block(&packed[2..], &data, u16_at(at + 6)));
        block = (at + 8 + packed.len()) as u32;
    }
    assert_eq!(block as usize, bytes.len());
    let (mut at, mut found) = (44, Vec::new());
    for _ in 0..count {
        let (size, start) = (u32_at(at) as usize, u32_at(at + 4) as usize);
        assert_eq!((u16_at(at + 8), u16_at(at + 10), u16_at(at + 12)), (0, 0x21, 0));
        let name: Vec<u8> = bytes[at + 16..].iter().copied().take_while(|it| *it != 0).collect();
        at += 17 + name.len();
        found.push((String::from_utf8(name).unwrap(), data[start..start + size].to_vec()));
    }
    assert_eq!(at, u32_at(36) as usize);
    found
}

/// Unpacks a block, which can refer to everything before it: the stream begins with that as blocks
/// that are stored.
fn unpack_block(packed: &[u8], before: &[u8], size: u16) -> Vec<u8> {
    let mut input = Vec::new();
    let before = &before[before.len().saturating_sub(BLOCK_BYTES)..];
    if !before.is_empty() {
        let length = before.len() as u16;
        input.push(0);
        input.extend(length.to_le_bytes());
        input.extend((!length).to_le_bytes());
        input.extend(before);
    }
    input.extend(packed);
    let mut out = Vec::with_capacity(before.len() + usize::from(size) + 1);
    let mut inflate = Decompress::new(false);
    let status = inflate.decompress_vec(&input, &mut out, FlushDecompress::Finish).unwrap();
    assert_eq!(status, flate2::Status::StreamEnd, "the block has a last block of its own");
    assert_eq!(inflate.total_in(), input.len() as u64, "nothing follows it");
    assert_eq!(out.len(), before.len() + usize::from(size));
    out.split_off(before.len())
}

/// Returns bytes that cannot be compressed.
pub fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

#[test]
fn files_of_all_sizes_are_read_back() {
    let noise = noise(100_000);
    let repeated = [&noise[..20_000], &noise[..20_000], &noise[..20_000]].concat();
    let contents: Vec<Vec<u8>> =
        vec![vec![7; 3 * BLOCK_BYTES], Vec::new(), b"x".to_vec(), noise, repeated];
    let contents: Vec<Content> = contents.into_iter().map(Content::bytes).collect();
    let files: Vec<(String, &Content)> =
        contents.iter().enumerate().map(|(at, content)| (format!("File{at}"), content)).collect();
    let bytes = cabinet(&files).unwrap();
    // The last file repeats itself over the ends of blocks.
    assert!(bytes.len() < 100_000 + 25_000, "{}", bytes.len());
    let found = read_cabinet(&bytes);
    assert_eq!(found.len(), files.len());
    for ((name, content), (found_name, found)) in files.iter().zip(&found) {
        let mut wanted = Vec::new();
        content.write_to(&mut wanted).unwrap();
        assert!(name == found_name && *found == wanted, "{name}");
    }
    assert_eq!(read_cabinet(&cabinet(&[]).unwrap()), Vec::new());
}

#[test]
fn more_than_a_cabinet_can_have_is_refused() {
    let large = Content::file("lost", CABINET_BYTES_MAX);
    let message = cabinet(&[("File0".to_string(), &large)]).unwrap_err().to_string();
    assert!(message.starts_with("lost: "), "the size alone is allowed: {message}");
    let small = Content::bytes("x");
    let files = [("File0".to_string(), &large), ("File1".to_string(), &small)];
    let message = cabinet(&files).unwrap_err().to_string();
    assert_eq!(message, "a cabinet cannot have 2147450881 bytes (CABINET_BYTES_MAX)");
}

#[test]
fn checksums_combine_all_bytes() {
    assert_eq!(checksum(&[1, 2, 3, 4, 5, 6, 7]), 0x0403_0201 ^ 0x0005_0607);
    assert_eq!(checksum(&[]), 0);
}
