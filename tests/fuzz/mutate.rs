//! Cheap random changes of an input, from a seed that is always the same: for the gate, which has
//! no coverage to go by.

/// A small generator of random numbers (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize
    }

    /// A number below `end`, or 0.
    fn below(&mut self, end: usize) -> usize {
        self.next() % end.max(1)
    }
}

/// Numbers at the ends of what fits.
const EXTREMES: [u64; 10] =
    [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 52, u64::MAX];

/// Changes an input in one to four places.
pub fn mutate(random: &mut Random, seed: &[u8], words: &[Vec<u8>], bytes_max: usize) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        change(random, &mut bytes, words);
    }
    bytes.truncate(bytes_max);
    bytes
}

fn change(random: &mut Random, bytes: &mut Vec<u8>, words: &[Vec<u8>]) {
    let at = random.below(bytes.len());
    let end = (at + 1 + random.below(16)).min(bytes.len());
    match random.below(9) {
        0 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
        1 if !bytes.is_empty() => bytes[at] = random.next() as u8,
        2 => drop(bytes.drain(at..end)),
        3 => {
            let part = bytes[at..end].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, part);
        }
        4 => {
            let number = EXTREMES[random.below(EXTREMES.len())];
            let size = [1, 2, 4, 8][random.below(4)];
            let mut part = number.to_le_bytes()[..size].to_vec();
            if random.below(2) == 0 {
                part.reverse();
            }
            let end = (at + size).min(bytes.len());
            bytes.splice(at..end, part);
        }
        5 | 6 if !words.is_empty() => {
            // In the place of another word, so that texts keep their shape.
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
            let before = bytes[..at].iter().rev().take_while(|byte| is_word(byte)).count();
            let after = bytes[at..].iter().take_while(|byte| is_word(byte)).count();
            let word = words[random.below(words.len())].iter().copied();
            bytes.splice(at - before..at + after, word);
        }
        7 => bytes.truncate(at),
        _ => bytes.insert(at, b"{}[]()\"'=,:\0\n\xff"[random.below(14)]),
    }
}
