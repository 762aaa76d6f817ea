//! Tar archives with gzip (POSIX.1-1988 "ustar", RFC 1952).

use super::parallel_deflate::ParallelDeflate;
use super::{Archive, EPOCH_SECONDS};
use engine_foundation::compact_sort::CompactSort;
use flate2::CrcWriter;
use std::io::{Result, Write};

const BLOCK: u64 = 512;
/// No time and no name. The operating system is given as unknown, so that it is the same
/// everywhere.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// Writes an archive. `prefix` precedes all paths; it is empty or ends in `/`.
pub fn write_tar_gz(archive: &Archive, prefix: &str, out: &mut impl Write) -> Result<()> {
    out.write_all(&GZIP_HEADER)?;
    let mut tar = CrcWriter::new(ParallelDeflate::new(&mut *out));
    write_tar(archive, prefix, &mut tar)?;
    // The size is that modulo 4 GiB.
    let (crc, size) = (tar.crc().sum(), tar.crc().amount());
    tar.into_inner().finish()?;
    out.write_all(&crc.to_le_bytes())?;
    out.write_all(&size.to_le_bytes())
}

fn write_tar(archive: &Archive, prefix: &str, out: &mut impl Write) -> Result<()> {
    if !prefix.is_empty() {
        out.write_all(&header(prefix, 0, true, true))?;
    }
    let mut entries: Vec<_> = archive.folders().into_iter().map(|path| (path, None)).collect();
    entries.extend(archive.files().map(|(path, entry)| (path, Some(entry))));
    entries.sort_compact_by_key(|(path, _)| *path);
    for (path, entry) in entries {
        let path = format!("{prefix}{path}");
        let Some(entry) = entry else {
            out.write_all(&header(&path, 0, true, true))?;
            continue;
        };
        let bytes = entry.content.len();
        out.write_all(&header(&path, bytes, entry.executable, false))?;
        entry.content.write_to(out)?;
        let gap = bytes.next_multiple_of(BLOCK) - bytes;
        out.write_all(&vec![0; gap as usize])?;
    }
    // Two empty blocks end an archive.
    out.write_all(&[0; 2 * BLOCK as usize])
}

/// Returns the block in front of an entry. Paths longer than 100 bytes are split at a `/`.
fn header(path: &str, bytes: u64, executable: bool, folder: bool) -> [u8; 512] {
    let (prefix, name) = match path.len() {
        0..=100 => ("", path),
        _ => {
            let slash = path[..path.len() - 1]
                .match_indices('/')
                .find(|(at, _)| path.len() - at - 1 <= 100 && *at <= 155);
            let (at, _) = slash.expect("paths and prefixes have at most 100 bytes each");
            (&path[..at], &path[at + 1..])
        }
    };
    let mut block = [0; BLOCK as usize];
    let mut put =
        |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, if executable { "0000755" } else { "0000644" });
    put(108, "0000000");
    put(116, "0000000");
    // Eleven octal digits hold 8 GiB, and entries have at most 4.
    put(124, &format!("{bytes:011o}"));
    put(136, &format!("{EPOCH_SECONDS:011o}"));
    put(148, "        ");
    put(156, if folder { "5" } else { "0" });
    put(257, "ustar");
    put(263, "00");
    put(265, "root");
    put(297, "root");
    put(329, "0000000");
    put(337, "0000000");
    put(345, prefix);
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    let sum = format!("{sum:06o}\0 ");
    block[148..156].copy_from_slice(sum.as_bytes());
    block
}
