//! Deflate (RFC 1951) on all processors. The data is cut into blocks of one size, which are
//! compressed on their own and joined in order, so that the result is the same on any number of
//! processors.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{Error, Result, Write};
use std::num::NonZero;
use std::thread;

/// Size of a block before it is compressed. A block refers to none of the bytes before it, and has
/// codes of its own.
const BLOCK_BYTES: usize = 8 << 20;
/// Maximum number of blocks that are in memory at once.
const BLOCKS_MAX: usize = 16;

/// An output that compresses what is written to it.
pub struct ParallelDeflate<W> {
    out: W,
    /// Blocks that are not compressed yet. All but the last are full.
    blocks: Vec<Vec<u8>>,
    blocks_max: usize,
}

impl<W: Write> ParallelDeflate<W> {
    pub fn new(out: W) -> ParallelDeflate<W> {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        ParallelDeflate { out, blocks: Vec::new(), blocks_max: threads.min(BLOCKS_MAX) }
    }

    /// Compresses the blocks, and writes them. `ends` is true if no others follow.
    fn write_blocks(&mut self, ends: bool) -> Result<()> {
        let blocks = std::mem::take(&mut self.blocks);
        let last = blocks.len() - 1;
        let compress = |at: usize, block: &[u8]| compress_block(block, ends && at == last);
        for block in compress_blocks(&blocks, &compress, thread::Builder::new) {
            self.out.write_all(&block?)?;
        }
        Ok(())
    }

    /// Writes the end of the compressed data, and returns the output.
    pub fn finish(mut self) -> Result<W> {
        if self.blocks.is_empty() {
            self.blocks.push(Vec::new());
        }
        self.write_blocks(true)?;
        Ok(self.out)
    }
}

/// Compresses blocks, each on a thread of its own. Those whose threads cannot start are compressed
/// by the calling thread.
fn compress_blocks(
    blocks: &[Vec<u8>],
    compress: &(impl Fn(usize, &[u8]) -> Result<Vec<u8>> + Sync),
    builder: fn() -> thread::Builder,
) -> Vec<Result<Vec<u8>>> {
    if let [one] = blocks {
        return vec![compress(0, one)];
    }
    thread::scope(|scope| {
        let start = |at| builder().spawn_scoped(scope, move || compress(at, &blocks[at])).ok();
        let started: Vec<_> = (0..blocks.len()).map(start).collect();
        let finish = |(at, thread): (usize, Option<thread::ScopedJoinHandle<_>>)| match thread {
            Some(thread) => thread.join().unwrap_or_else(|_| {
                Err(Error::other("a thread that compresses an archive ended by a panic"))
            }),
            None => compress(at, &blocks[at]),
        };
        started.into_iter().enumerate().map(finish).collect()
    })
}

/// Compresses a block. One that is not the last ends at a whole byte, without an end of the data.
fn compress_block(block: &[u8], is_last: bool) -> Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(block)?;
    if is_last {
        return encoder.finish();
    }
    encoder.flush()?;
    Ok(std::mem::take(encoder.get_mut()))
}

impl<W: Write> Write for ParallelDeflate<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let is_full = self.blocks.last().is_none_or(|block| block.len() == BLOCK_BYTES);
        if is_full {
            if self.blocks.len() == self.blocks_max {
                self.write_blocks(false)?;
            }
            self.blocks.push(Vec::with_capacity(BLOCK_BYTES));
        }
        let block = self.blocks.last_mut().expect("there is a block with room");
        let written = bytes.len().min(BLOCK_BYTES - block.len());
        block.extend_from_slice(&bytes[..written]);
        Ok(written)
    }

    /// Does nothing: a block is compressed when it is full.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::DeflateDecoder;
    use std::io::Read;

    fn deflated(bytes: &[u8], blocks_max: usize) -> Vec<u8> {
        let mut out = ParallelDeflate { blocks_max, ..ParallelDeflate::new(Vec::new()) };
        bytes.chunks(300_000).for_each(|part| out.write_all(part).unwrap());
        out.finish().unwrap()
    }

    #[test]
    fn blocks_are_joined_in_order_on_any_number_of_processors() {
        let mut state = 1u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 28) as u8
        };
        let bytes: Vec<u8> = (0..3 * BLOCK_BYTES + 17).map(|_| byte()).collect();
        for length in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, bytes.len()] {
            let bytes = &bytes[..length];
            let packed = deflated(bytes, 1);
            assert!(packed.len() <= 64 + bytes.len() * 6 / 10, "{length}: {}", packed.len());
            assert!(deflated(bytes, 2) == packed && deflated(bytes, 16) == packed, "{length}");
            let mut read = Vec::new();
            let mut decoder = DeflateDecoder::new(packed.as_slice());
            decoder.read_to_end(&mut read).unwrap();
            assert!(read == bytes && decoder.total_in() == packed.len() as u64, "{length}");
        }
    }

    #[test]
    fn blocks_are_compressed_when_no_thread_can_start() {
        let blocks: Vec<Vec<u8>> = (1..5).map(|at| vec![at; 1000]).collect();
        let compress = |at: usize, block: &[u8]| compress_block(block, at == 3);
        let with = |builder| -> Vec<Vec<u8>> {
            compress_blocks(&blocks, &compress, builder).into_iter().map(Result::unwrap).collect()
        };
        // More than the address space of a process.
        let refused = || thread::Builder::new().stack_size(1 << 50);
        assert!(refused().spawn(|| {}).is_err(), "the system starts such a thread");
        assert_eq!(with(refused), with(thread::Builder::new));
    }

    #[test]
    fn a_thread_that_panics_is_an_error() {
        let compress = |at: usize, block: &[u8]| match at {
            1 => panic!("of the test"),
            _ => Ok(block.to_vec()),
        };
        let blocks = [vec![1], vec![2], vec![3]];
        let results = compress_blocks(&blocks, &compress, thread::Builder::new);
        assert_eq!(results[0].as_ref().unwrap(), &[1]);
        let message = results[1].as_ref().unwrap_err().to_string();
        assert_eq!(message, "a thread that compresses an archive ended by a panic");
        assert_eq!(results[2].as_ref().unwrap(), &[3]);
    }
}
