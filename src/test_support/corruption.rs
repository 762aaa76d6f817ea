//! Corrupted copies of a sample file, for tests of code that reads files.

/// Byte values that replace the sample's bytes.
const BYTES: [u8; 4] = [0, 0x7F, 0x80, 0xFF];

/// Returns corrupted copies of a sample: truncated copies, and copies with single bytes and runs of
/// 2, 4 and 8 bytes replaced. Every byte of the first `head` bytes (the file header) is affected.
/// Of the remaining bytes, about as many positions are.
pub fn corrupted_copies(sample: &[u8], head: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    let step = (sample.len().saturating_sub(head) / head.max(1)).max(1);
    let positions = move || (0..sample.len().min(head)).chain((head..sample.len()).step_by(step));
    let cut = positions().map(|at| sample[..at].to_vec());
    let replaced = positions().flat_map(move |at| {
        [1, 2, 4, 8].into_iter().flat_map(move |run| BYTES.map(|byte| (at, run, byte)))
    });
    let replaced = replaced.filter_map(move |(at, run, byte)| {
        let mut damaged = sample.to_vec();
        damaged.get_mut(at..at + run)?.fill(byte);
        Some(damaged)
    });
    cut.chain(replaced)
}
