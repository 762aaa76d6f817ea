//! SHA-256 (FIPS 180-4), for keys and contents of the shared cache. Uses the processor's
//! instructions for it, where they exist: in a warm start, hashing is most of the work.

const ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

const START: [u32; 8] = [
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/// Returns the hash of some bytes as 64 digits.
pub fn hex_of(bytes: &[u8]) -> String {
    hex_after(&[], bytes)
}

/// Returns the hash of a head, zeros up to the end of its last block, and some bytes, as 64 digits.
/// Unlike in one slice, the bytes need not be copied.
pub fn hex_after(head: &[u8], bytes: &[u8]) -> String {
    let mut state = START;
    let mut head = head.to_vec();
    head.resize(head.len().next_multiple_of(64), 0);
    add_blocks(&mut state, head.as_chunks().0);
    let (blocks, rest) = bytes.as_chunks::<64>();
    add_blocks(&mut state, blocks);
    // A bit of one, zeros, and the length in bits end the last block.
    let mut last = [0; 128];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let length = if rest.len() < 56 { 64 } else { 128 };
    let bits = (head.len() + bytes.len()) as u64 * 8;
    last[length - 8..length].copy_from_slice(&bits.to_be_bytes());
    add_blocks(&mut state, last[..length].as_chunks().0);
    state.iter().map(|word| format!("{word:08x}")).collect()
}

fn add_blocks(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
    #[cfg(target_arch = "x86_64")]
    if x86::are_supported() {
        // SAFETY: the processor has the instructions.
        return unsafe { x86::add_blocks(state, blocks) };
    }
    blocks.iter().for_each(|block| add_block(state, block));
}

/// The instructions of x86 processors (SHA extensions), in the order of Intel's paper "Intel SHA
/// Extensions" (2013).
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::ROUNDS;
    use std::arch::x86_64::*;

    pub fn are_supported() -> bool {
        is_x86_feature_detected!("sha")
            && is_x86_feature_detected!("ssse3")
            && is_x86_feature_detected!("sse4.1")
    }

    /// # Safety
    /// The processor has the instructions: see [`are_supported`].
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    pub unsafe fn add_blocks(state: &mut [u32; 8], blocks: &[[u8; 64]]) {
        let load = |four: &[u32; 4]| {
            // SAFETY: 16 bytes are there, and the load needs no alignment.
            unsafe { _mm_loadu_si128(four.as_ptr().cast()) }
        };
        let keys = ROUNDS.as_chunks::<4>().0;
        // Bytes of a word in reverse order, because the text is big-endian.
        let order = _mm_set_epi64x(0x0c0d_0e0f_0809_0a0b, 0x0405_0607_0001_0203);
        // The instructions take the state as ABEF and CDGH.
        let [low, high] = [state.as_chunks::<4>().0[0], state.as_chunks::<4>().0[1]];
        let first = _mm_shuffle_epi32(load(&low), 0xb1);
        let second = _mm_shuffle_epi32(load(&high), 0x1b);
        let mut abef = _mm_alignr_epi8(first, second, 8);
        let mut cdgh = _mm_blend_epi16(second, first, 0xf0);
        for block in blocks {
            let before = (abef, cdgh);
            let word = |at: usize| {
                // SAFETY: the block has 64 bytes, and the load needs no alignment.
                let bytes = unsafe { _mm_loadu_si128(block.as_ptr().add(at).cast()) };
                _mm_shuffle_epi8(bytes, order)
            };
            let (mut a, mut b, mut c, mut d) = (word(0), word(16), word(32), word(48));
            // Written out, because an unoptimized loop takes several times as long.
            macro_rules! rounds {
                ($group:expr, $schedule:ident) => {
                    let sum = _mm_add_epi32($schedule, load(&keys[$group]));
                    cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
                    abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
                };
            }
            macro_rules! schedule {
                ($now:ident $next:ident $after:ident $last:ident) => {
                    let sum = _mm_sha256msg1_epu32($now, $next);
                    let sum = _mm_add_epi32(sum, _mm_alignr_epi8($last, $after, 4));
                    $now = _mm_sha256msg2_epu32(sum, $last);
                };
            }
            rounds!(0, a);
            rounds!(1, b);
            rounds!(2, c);
            rounds!(3, d);
            let mut group = 4;
            while group < 16 {
                schedule!(a b c d);
                rounds!(group, a);
                schedule!(b c d a);
                rounds!(group + 1, b);
                schedule!(c d a b);
                rounds!(group + 2, c);
                schedule!(d a b c);
                rounds!(group + 3, d);
                group += 4;
            }
            abef = _mm_add_epi32(abef, before.0);
            cdgh = _mm_add_epi32(cdgh, before.1);
        }
        let first = _mm_shuffle_epi32(abef, 0x1b);
        let second = _mm_shuffle_epi32(cdgh, 0xb1);
        // SAFETY: each half of the state has 16 bytes, and the stores need no alignment.
        unsafe {
            _mm_storeu_si128(state[..4].as_mut_ptr().cast(), _mm_blend_epi16(first, second, 0xf0));
            _mm_storeu_si128(state[4..].as_mut_ptr().cast(), _mm_alignr_epi8(second, first, 8));
        }
    }
}

/// Adds a block on any processor.
fn add_block(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut schedule = [0u32; 64];
    for (word, bytes) in schedule.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for at in 16..64 {
        let (a, b) = (schedule[at - 15], schedule[at - 2]);
        let first = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let second = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        schedule[at] = schedule[at - 16]
            .wrapping_add(first)
            .wrapping_add(schedule[at - 7])
            .wrapping_add(second);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, round) in schedule.iter().zip(ROUNDS) {
        let mix = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first =
            h.wrapping_add(mix).wrapping_add(choice).wrapping_add(round).wrapping_add(*word);
        let mix = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let second = mix.wrapping_add(majority);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (word, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_processors_have_the_same_hashes() {
        let bytes: Vec<u8> = (0..64 * 50).map(|at| (at * at % 251) as u8).collect();
        let blocks = bytes.as_chunks::<64>().0;
        for count in 0..blocks.len() {
            let (mut one, mut other) = (START, START);
            add_blocks(&mut one, &blocks[..count]);
            blocks[..count].iter().for_each(|block| add_block(&mut other, block));
            assert_eq!(one, other, "{count} blocks");
        }
    }

    #[test]
    fn a_head_is_hashed_with_zeros_to_its_end() {
        for (head, bytes) in [(0, 0), (1, 5), (63, 64), (64, 100), (65, 1000)] {
            let (head, bytes) = (vec![7; head], vec![9; bytes]);
            let mut whole = head.clone();
            whole.resize(head.len().next_multiple_of(64), 0);
            whole.extend(&bytes);
            assert_eq!(hex_after(&head, &bytes), hex_of(&whole));
        }
    }

    #[test]
    fn hashes_are_those_of_the_standard() {
        let check = |text: &str, wanted: &str| assert_eq!(hex_of(text.as_bytes()), wanted);
        check("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        check(
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        );
        check(
            &"a".repeat(1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
        );
    }
}
