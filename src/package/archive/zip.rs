//! Zip archives (PKWARE's "APPNOTE"), with the permissions of Unix. Sizes follow the data of an
//! entry, so that the archive is written in one pass.

use super::parallel_deflate::ParallelDeflate;
use super::{Archive, Counted, ENTRY_BYTES_MAX, Entry};
use flate2::CrcWriter;
use std::io::{Error, Result, Write};

/// Version 2.0, on Unix: the archive has permissions.
const CREATOR_VERSION: u16 = 3 << 8 | 20;
const NEEDED: u16 = 20;
/// Sizes follow the data; the path is UTF-8.
const FLAGS: u16 = 1 << 3 | 1 << 11;
const DEFLATED: u16 = 8;
/// The first of January 1980.
const DATE: u16 = 1 << 5 | 1;
const TIME: u16 = 0;

/// Maximum number of entries: a field of 16 bits.
const ENTRIES_MAX: usize = u16::MAX as usize;

/// Writes an archive. `prefix` precedes all paths; it is empty or ends in `/`.
pub fn write_zip(archive: &Archive, prefix: &str, out: &mut impl Write) -> Result<()> {
    let mut out = Counted::new(out);
    let mut directory = Vec::new();
    let mut count = 0;
    for (path, entry) in archive.files() {
        let path = format!("{prefix}{path}");
        let start = position(&out)?;
        let sums = write_entry(&path, entry, &mut out)?;
        directory.extend(directory_row(&path, entry, &sums, start));
        count += 1;
    }
    assert!(count <= ENTRIES_MAX, "packages have a few dozen entries");
    let start = position(&out)?;
    out.write_all(&directory)?;
    position(&out)?;
    let mut end = Vec::from(*b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        end.extend((count as u16).to_le_bytes());
    }
    end.extend((directory.len() as u32).to_le_bytes());
    end.extend(start.to_le_bytes());
    end.extend([0; 2]);
    out.write_all(&end)
}

fn position<W: Write>(out: &Counted<W>) -> Result<u32> {
    let too_long = || Error::other("the archive would have more than 4 GiB (ENTRY_BYTES_MAX)");
    u32::try_from(out.bytes).map_err(|_| too_long())
}

/// Checksum and sizes of an entry's data.
struct DataSums {
    crc: u32,
    packed: u32,
    size: u32,
}

fn write_entry<W: Write>(path: &str, entry: &Entry, out: &mut Counted<W>) -> Result<DataSums> {
    let mut header = Vec::from(*b"PK\x03\x04");
    for field in [NEEDED, FLAGS, DEFLATED, TIME, DATE] {
        header.extend(field.to_le_bytes());
    }
    // The checksum and both sizes are behind the data.
    header.extend([0; 12]);
    header.extend((path.len() as u16).to_le_bytes());
    header.extend([0; 2]);
    header.extend(path.as_bytes());
    out.write_all(&header)?;
    let start = out.bytes;
    let crc = {
        let mut encoder = CrcWriter::new(ParallelDeflate::new(&mut *out));
        entry.content.write_to(&mut encoder)?;
        let crc = encoder.crc().sum();
        encoder.into_inner().finish()?;
        crc
    };
    let packed = out.bytes - start;
    if packed > ENTRY_BYTES_MAX {
        return Err(Error::other(format!("{path} is larger than 4 GiB (ENTRY_BYTES_MAX)")));
    }
    let size = u32::try_from(entry.content.len()).map_err(Error::other)?;
    let sums = DataSums { crc, packed: packed as u32, size };
    out.write_all(b"PK\x07\x08")?;
    for field in [sums.crc, sums.packed, sums.size] {
        out.write_all(&field.to_le_bytes())?;
    }
    Ok(sums)
}

fn directory_row(path: &str, entry: &Entry, sums: &DataSums, start: u32) -> Vec<u8> {
    let mut row = Vec::from(*b"PK\x01\x02");
    for field in [CREATOR_VERSION, NEEDED, FLAGS, DEFLATED, TIME, DATE] {
        row.extend(field.to_le_bytes());
    }
    for field in [sums.crc, sums.packed, sums.size] {
        row.extend(field.to_le_bytes());
    }
    row.extend((path.len() as u16).to_le_bytes());
    // No further fields and no comment, on the first disk, with unknown content.
    row.extend([0; 8]);
    let mode: u32 = if entry.executable { 0o100_755 } else { 0o100_644 };
    row.extend((mode << 16).to_le_bytes());
    row.extend(start.to_le_bytes());
    row.extend(path.as_bytes());
    row
}
