//! Damaged forms of a sample file, for tests of what reads files.

/// What bytes are replaced by.
const BYTES: [u8; 4] = [0, 0x7F, 0x80, 0xFF];

/// A sample cut short at its bytes, and with single bytes and runs of 2, 4 and 8 of them replaced.
/// At every byte of the first `head`, where files say what they are; of the rest at about as many.
pub fn forms(sample: &[u8], head: usize) -> impl Iterator<Item = Vec<u8>> + '_ {
    let step = (sample.len().saturating_sub(head) / head.max(1)).max(1);
    let places = move || (0..sample.len().min(head)).chain((head..sample.len()).step_by(step));
    let cut = places().map(|at| sample[..at].to_vec());
    let replaced = places().flat_map(move |at| {
        [1, 2, 4, 8].into_iter().flat_map(move |run| BYTES.map(|byte| (at, run, byte)))
    });
    let replaced = replaced.filter_map(move |(at, run, byte)| {
        let mut damaged = sample.to_vec();
        damaged.get_mut(at..at + run)?.fill(byte);
        Some(damaged)
    });
    cut.chain(replaced)
}
