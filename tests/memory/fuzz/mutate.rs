//! Cheap random mutations of an input, from a fixed seed. The gate uses them because it has no
//! coverage feedback.

/// A small random number generator (xorshift).
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

    /// Returns a random number below `end`, or 0 if `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        self.next() % end.max(1)
    }
}

/// Numbers at the limits of integer types.
const EXTREMES: [u64; 10] =
    [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 1 << 52, u64::MAX];

/// Returns a copy of an input with one to four random mutations.
pub fn mutate(
    random: &mut Random,
    seed: &[u8],
    dictionary: &[Vec<u8>],
    bytes_max: usize,
) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        change(random, &mut bytes, dictionary, bytes_max);
    }
    bytes.truncate(bytes_max);
    bytes
}

/// Pairs of texts that can surround a value.
const AROUND: [(&str, &str); 8] = [
    ("[", "]"),
    ("{", "}"),
    ("(", ")"),
    ("{\"a\":", "}"),
    ("a = { ", " }\n"),
    ("<g>", "</g>"),
    ("-", ""),
    ("not ", ""),
];

/// Repeats a part of the input, or nests it in one of [`AROUND`]. The number of times is random,
/// and limited by the remaining space.
fn repeat(random: &mut Random, bytes: &mut Vec<u8>, at: usize, bytes_max: usize) {
    let end = (at + 1 + random.below(64)).min(bytes.len());
    let times = 1 << random.below(16);
    let room = bytes_max.saturating_sub(bytes.len());
    if random.below(2) == 0 {
        let part = bytes[at..end].to_vec();
        let times = times.min(room / part.len().max(1));
        bytes.splice(at..at, part.repeat(times));
    } else {
        let (open, close) = AROUND[random.below(AROUND.len())];
        let times = times.min(room / (open.len() + close.len()));
        bytes.splice(end..end, close.repeat(times).into_bytes());
        bytes.splice(at..at, open.repeat(times).into_bytes());
    }
}

fn change(random: &mut Random, bytes: &mut Vec<u8>, dictionary: &[Vec<u8>], bytes_max: usize) {
    let at = random.below(bytes.len());
    let end = (at + 1 + random.below(16)).min(bytes.len());
    match random.below(10) {
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
        5 | 6 if !dictionary.is_empty() => {
            // Replaces a whole word, so that texts keep their structure.
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
            let before = bytes[..at].iter().rev().take_while(|byte| is_word(byte)).count();
            let after = bytes[at..].iter().take_while(|byte| is_word(byte)).count();
            let word = dictionary[random.below(dictionary.len())].iter().copied();
            bytes.splice(at - before..at + after, word);
        }
        7 => bytes.truncate(at),
        8 => repeat(random, bytes, at, bytes_max),
        _ => bytes.insert(at, b"{}[]()\"'=,:\0\n\xff"[random.below(14)]),
    }
}

#[test]
fn mutations_repeat_and_nest_parts() {
    let mut random = Random::new(1);
    let changed: Vec<_> =
        (0..400).map(|_| mutate(&mut random, b"a = [1, { b = 2 }]", &[], 4096)).collect();
    let has = |part: &[u8]| changed.iter().any(|it| it.windows(part.len()).any(|at| at == part));
    assert!(has("[".repeat(500).as_bytes()) && has("<g>".repeat(200).as_bytes()));
    // Parts are repeated, too: some bytes occur at least 100 times, and once in the seed.
    let many = |byte: u8| changed.iter().any(|it| it.iter().filter(|at| **at == byte).count() > 99);
    assert!(many(b'b') && many(b'2'));
    assert!(changed.iter().all(|it| it.len() <= 4096));
}
