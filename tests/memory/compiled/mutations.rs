//! Mutations of bytes with corrected checksums: every word of 2, 4 and 8 bytes is replaced by
//! numbers that often cause errors.

use engine::foundation::blob::FRAME_BYTES;
use engine::foundation::hash::murmur64a;

/// Form of data: with or without a frame that has a checksum.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    Plain,
    Framed,
}

/// One mutation of data.
pub struct Mutation {
    /// Offset of the change.
    at: usize,
    /// The new bytes.
    replacement: Vec<u8>,
}

impl std::fmt::Debug for Mutation {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(out, "byte {} is {:02x?}", self.at, self.replacement)
    }
}

impl Mutation {
    /// Returns the data with the mutation, and a corrected checksum of the frame.
    pub fn of(&self, data: &[u8], form: Form) -> Vec<u8> {
        let mut data = data.to_vec();
        data[self.at..self.at + self.replacement.len()].copy_from_slice(&self.replacement);
        if form == Form::Framed {
            reframe(&mut data);
        }
        data
    }
}

/// Returns the replacements for a word of `N` bytes with the value `word`.
fn replacements<const N: usize>(word: [u8; N]) -> Vec<[u8; N]> {
    let mut wide = [0; 8];
    wide[..N].copy_from_slice(&word);
    let number = u64::from_le_bytes(wide);
    let top = 1u64 << (N * 8 - 1);
    let mut numbers = vec![
        0,
        1,
        top - 1,
        top,
        u64::MAX,
        number.wrapping_add(1),
        number.wrapping_sub(1),
        number.wrapping_mul(2),
    ];
    match N {
        4 => {
            let floats = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 1e30, 1e-30];
            numbers.extend(floats.map(|float| u64::from(float.to_bits())));
        }
        8 => {
            let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300, 1e-300];
            numbers.extend(floats.map(f64::to_bits));
        }
        _ => {}
    }
    let bytes = |number: u64| -> [u8; N] {
        number.to_le_bytes()[..N].try_into().expect("as many bytes as the word has")
    };
    let mut replacements: Vec<[u8; N]> = numbers.into_iter().map(bytes).collect();
    replacements.retain(|other| *other != word);
    replacements.sort_unstable();
    replacements.dedup();
    replacements
}

fn word_mutations<const N: usize>(data: &[u8], first: usize, dense: bool, all: &mut Vec<Mutation>) {
    let step = if dense { 1 } else { N };
    for at in (first..data.len().saturating_sub(N - 1)).step_by(step) {
        let word: [u8; N] = data[at..at + N].try_into().expect("as many bytes as were requested");
        all.extend(
            replacements(word).iter().map(|other| Mutation { at, replacement: other.to_vec() }),
        );
    }
}

/// Returns all mutations of data: of words at every byte if `dense`, because numbers can have any
/// offset, otherwise of aligned words.
pub fn all(data: &[u8], form: Form, dense: bool) -> Vec<Mutation> {
    let first = if form == Form::Framed { FRAME_BYTES } else { 0 };
    let mut all = Vec::new();
    word_mutations::<2>(data, first, dense, &mut all);
    word_mutations::<4>(data, first, dense, &mut all);
    word_mutations::<8>(data, first, dense, &mut all);
    all
}

/// Corrects the length and the checksum of a frame.
pub fn reframe(data: &mut [u8]) {
    let version = u32::from_le_bytes(data[4..8].try_into().expect("four bytes"));
    let length = (data.len() - FRAME_BYTES) as u64;
    let sum = murmur64a(&data[FRAME_BYTES..], version.into());
    data[8..16].copy_from_slice(&length.to_le_bytes());
    data[16..24].copy_from_slice(&sum.to_le_bytes());
}
