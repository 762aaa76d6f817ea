//! Cabinets: archives of Windows, compressed by MSZIP. All files are in one folder of the format,
//! which is one stream of compressed blocks.
//!
//! Source: Microsoft's "Cabinet Format" and "MSZIP Compression and Decompression Data Structure".

use super::Content;
use flate2::{Compress, Compression, FlushCompress};
use std::io::{Error, Result, Write};

/// Size of a block before it is compressed, in bytes.
const BLOCK_BYTES: usize = 32768;
/// Maximum size of a compressed block in bytes.
const PACKED_BYTES_MAX: usize = BLOCK_BYTES + 12;
/// Maximum size of all files together in bytes: a field of 16 bits counts the blocks. That of one
/// file is the same.
pub const CABINET_BYTES_MAX: u64 = BLOCK_BYTES as u64 * u16::MAX as u64;

const HEADER_BYTES: usize = 36;
const FOLDER_BYTES: usize = 8;
const VERSION: u16 = 0x103;
const MSZIP: u16 = 1;
/// The first of January 1980.
const DATE: u16 = 1 << 5 | 1;
const TIME: u16 = 0;
/// The file was changed since the last backup, as new files are.
const ATTRIBUTES: u16 = 0x20;

/// Returns a cabinet with files, whose names have ASCII letters. They are unpacked in this order.
///
/// # Errors
/// Returns an error if a file cannot be read, or if all of them are larger than
/// [`CABINET_BYTES_MAX`].
pub fn cabinet(files: &[(String, &Content)]) -> Result<Vec<u8>> {
    let total: u64 = files.iter().map(|(_, content)| content.len()).sum();
    let count = u16::try_from(files.len()).map_err(Error::other)?;
    if total > CABINET_BYTES_MAX {
        let message = format!("a cabinet cannot have {total} bytes (CABINET_BYTES_MAX)");
        return Err(Error::other(message));
    }
    let mut rows = Vec::new();
    let mut offset = 0;
    for (name, content) in files {
        rows.extend((content.len() as u32).to_le_bytes());
        rows.extend((offset as u32).to_le_bytes());
        for field in [0, DATE, TIME, ATTRIBUTES] {
            rows.extend(field.to_le_bytes());
        }
        rows.extend(name.as_bytes());
        rows.push(0);
        offset += content.len();
    }
    let blocks_start = HEADER_BYTES + FOLDER_BYTES + rows.len();
    let mut writer = BlockWriter {
        out: vec![0; HEADER_BYTES],
        block: Vec::with_capacity(BLOCK_BYTES),
        packed: Vec::with_capacity(BLOCK_BYTES * 2),
        deflate: Compress::new(Compression::default(), false),
        blocks: 0,
    };
    writer.out.extend((blocks_start as u32).to_le_bytes());
    // The number of blocks is not known yet.
    writer.out.extend([0; 2]);
    writer.out.extend(MSZIP.to_le_bytes());
    writer.out.extend(rows);
    for (_, content) in files {
        content.write_to(&mut writer)?;
    }
    writer.write_block()?;
    let (mut out, blocks) = (writer.out, writer.blocks);
    out[HEADER_BYTES + 4..HEADER_BYTES + 6].copy_from_slice(&blocks.to_le_bytes());
    let bytes = u32::try_from(out.len()).map_err(Error::other)?;
    let files_start = (HEADER_BYTES + FOLDER_BYTES) as u32;
    let mut header = Vec::from(*b"MSCF");
    for field in [0, bytes, 0, files_start, 0] {
        header.extend(field.to_le_bytes());
    }
    // One folder, and no other cabinet before or after this one.
    for field in [VERSION, 1, count, 0, 0, 0] {
        header.extend(field.to_le_bytes());
    }
    out[..HEADER_BYTES].copy_from_slice(&header);
    Ok(out)
}

/// Compresses what is written, in blocks.
struct BlockWriter {
    out: Vec<u8>,
    /// Bytes of the block that is not complete yet.
    block: Vec<u8>,
    /// A compressed block. Its memory is used again.
    packed: Vec<u8>,
    /// Compresses all blocks, because each can refer to the one before it.
    deflate: Compress,
    blocks: u16,
}

impl BlockWriter {
    fn write_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let (block, packed) = (&self.block, &mut self.packed);
        packed.clear();
        packed.extend(b"CK");
        let before = self.deflate.total_in();
        // The end of the flush is at a whole byte, with everything of the block before it.
        self.deflate.compress_vec(block, packed, FlushCompress::Sync).map_err(Error::other)?;
        let consumed = self.deflate.total_in() - before;
        assert!(
            consumed == block.len() as u64 && packed.len() < packed.capacity(),
            "twice the size of a block is enough for its compressed form"
        );
        // An empty last block: what is unpacked ends with it.
        packed.extend([3, 0]);
        let length = block.len() as u16;
        if packed.len() > PACKED_BYTES_MAX {
            // It cannot be compressed: one last block that is stored.
            packed.truncate(2);
            packed.push(1);
            packed.extend(length.to_le_bytes());
            packed.extend((!length).to_le_bytes());
            packed.extend(block);
        }
        let sizes = [(packed.len() as u16).to_le_bytes(), length.to_le_bytes()].concat();
        self.out.extend((checksum(packed) ^ checksum(&sizes)).to_le_bytes());
        self.out.extend(sizes);
        self.out.extend(&*packed);
        self.block.clear();
        self.blocks += 1;
        Ok(())
    }
}

impl Write for BlockWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let taken = bytes.len().min(BLOCK_BYTES - self.block.len());
        self.block.extend(&bytes[..taken]);
        if self.block.len() == BLOCK_BYTES {
            self.write_block()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Returns all numbers of four bytes, combined by exclusive or. The last one has its bytes in
/// reverse order if it is not complete.
fn checksum(bytes: &[u8]) -> u32 {
    let (fields, rest) = bytes.as_chunks::<4>();
    let last = rest.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
    fields.iter().fold(last, |sum, field| sum ^ u32::from_le_bytes(*field))
}

#[cfg(test)]
#[path = "cabinet_tests.rs"]
pub(crate) mod tests;
