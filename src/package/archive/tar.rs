//! Tar archives with gzip or xz (POSIX.1-1988 "ustar", RFC 1952, "The .xz File Format").

use super::parallel_deflate::ParallelDeflate;
use super::{Archive, EPOCH_SECONDS};
use engine_foundation::compact_sort::CompactSort;
use flate2::CrcWriter;
use lzma_rust2::{CheckType, XzOptions, XzWriterMt};
use std::io::{Result, Write};
use std::num::{NonZero, NonZeroU64};
use std::thread;

const BLOCK: u64 = 512;
/// No time and no name. The operating system is given as unknown, so that it is the same
/// everywhere.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// Level of xz. Higher ones only have larger dictionaries, which those who unpack must hold in
/// memory: this one needs 9 MiB.
const XZ_LEVEL: u32 = 6;
/// Size of a block of xz before it is compressed. Blocks are compressed at the same time. Smaller
/// ones make archives larger, because a block refers to none of the bytes before it.
const XZ_BLOCK_BYTES: NonZeroU64 = NonZeroU64::new(12 << 20).expect("it is not 0");
/// Maximum number of blocks of xz that are compressed at the same time. Each takes about 130 MiB.
const XZ_THREADS_MAX: usize = 4;

/// Compression of a tar archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    Gzip,
    /// Smaller, and ten times as slow.
    Xz,
}

impl Compression {
    /// Returns the ending of the names of archives.
    pub fn ending(self) -> &'static str {
        match self {
            Compression::Gzip => "tar.gz",
            Compression::Xz => "tar.xz",
        }
    }
}

/// Writes an archive with xz. `prefix` precedes all paths; it is empty or ends in `/`.
pub fn write_tar_xz(archive: &Archive, prefix: &str, out: &mut impl Write) -> Result<()> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut tar = xz_writer(out, threads.min(XZ_THREADS_MAX))?;
    write_tar(archive, prefix, &mut tar)?;
    tar.finish().map(drop)
}

/// Returns an output that compresses what is written to it. The result is the same with any number
/// of threads.
pub(super) fn xz_writer<W: Write>(out: W, threads: usize) -> Result<XzWriterMt<W>> {
    let mut options = XzOptions::with_preset(XZ_LEVEL);
    options.set_block_size(Some(XZ_BLOCK_BYTES));
    // The check that all programs know.
    options.set_check_sum_type(CheckType::Crc32);
    XzWriterMt::new(out, options, threads as u32)
}

/// Writes an archive with gzip. `prefix` precedes all paths; it is empty or ends in `/`.
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
