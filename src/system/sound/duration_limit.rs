//! The upper limit of a recording's length, counted from the headers of its frames, whatever the
//! file's header states. A few bytes of a compressed file can stand for thousands of samples, and a
//! decoder allocates memory for all of them. FLAC, MP3 (ISO 11172-3) and Vorbis in Ogg (the Vorbis
//! I specification). Decodes nothing.

use super::clip::WAVE_SECONDS_MAX;

/// FLAC data can begin up to this offset of a file; tags may come before it.
const FLAC_SEARCH: usize = 1 << 20;
/// Range of accepted sample rates.
const RATE_MIN: u64 = 1000;
const RATE_MAX: u64 = 384_000;
/// The limit in tenths of the playable length. The two extra tenths allow for bytes that look like
/// frames by chance.
const TENTHS: u64 = 12;

/// Returns an error if the frames of a file together are longer than can be played.
pub fn check_duration(bytes: &[u8]) -> Result<(), String> {
    let flac = bytes.windows(4).take(FLAC_SEARCH).position(|window| window == b"fLaC");
    let right =
        flac.is_none_or(|at| check_flac(&bytes[at..])) && check_mp3(bytes) && check_ogg(bytes);
    if right { Ok(()) } else { Err(too_long()) }
}

/// Returns the error message for a file that is too long.
pub fn too_long() -> String {
    format!(
        "it is longer than it says, and than the {WAVE_SECONDS_MAX} seconds that can be played \
         (WAVE_SECONDS_MAX): cut it in pieces"
    )
}

/// Returns the most samples of each channel at a sample rate.
fn most(rate: u64) -> u64 {
    WAVE_SECONDS_MAX as u64 * rate.clamp(RATE_MIN, RATE_MAX) / 10 * TENTHS
}

/// Returns true if a FLAC is short enough. A frame of a few bytes stands for 65,535 samples of
/// silence.
fn check_flac(flac: &[u8]) -> bool {
    // The sample rate of the header, which decoders read the same way: 20 bits at the tenth byte of
    // its block.
    let Some(&[a, b, c]) = flac.get(18..21) else { return true };
    let most = most(u64::from(a) << 12 | u64::from(b) << 4 | u64::from(c) >> 4);
    let mut frames = 0;
    for at in 0..flac.len() {
        if flac[at] == 0xFF && flac.get(at + 1).is_some_and(|byte| byte & 0xFE == 0xF8) {
            frames += flac_frame(&flac[at..]).unwrap_or(0);
            if frames > most {
                return false;
            }
        }
    }
    true
}

/// Returns the number of samples of the frame that begins here, if there is one: a frame header has
/// a checksum.
fn flac_frame(bytes: &[u8]) -> Option<u64> {
    let sizes = bytes.get(2)?;
    let number = bytes.get(4)?.leading_ones() as usize;
    let mut at = 4 + number.max(1);
    let samples = match sizes >> 4 {
        0 => return None,
        1 => 192,
        n @ 2..=5 => 144 << n,
        6 => {
            at += 1;
            u64::from(*bytes.get(at - 1)?) + 1
        }
        7 => {
            at += 2;
            u64::from(u16::from_be_bytes([*bytes.get(at - 2)?, *bytes.get(at - 1)?])) + 1
        }
        n => 1 << n,
    };
    at += match sizes & 15 {
        12 => 1,
        13 | 14 => 2,
        _ => 0,
    };
    let sum = bytes.get(..at)?.iter().fold(0u8, |sum, byte| {
        (0..8).fold(sum ^ byte, |sum, _| sum << 1 ^ if sum & 0x80 != 0 { 7 } else { 0 })
    });
    (sum == *bytes.get(at)?).then_some(samples)
}

/// Returns true if an MP3 is short enough. Frames do not overlap. Of all possible frames, this
/// counts as many as fit one after the other: no decoder finds more.
fn check_mp3(bytes: &[u8]) -> bool {
    let (mut samples, mut seconds_max) = (0, None);
    // End and samples of the possible frame that ends first, of those that begin after the last
    // counted one.
    let mut first: Option<(usize, u64)> = None;
    for at in 0..bytes.len() {
        if let Some((_, most)) = first.take_if(|(end, _)| *end <= at) {
            samples += most;
            if seconds_max.is_some_and(|most| samples > most) {
                return false;
            }
        }
        if bytes[at] == 0xFF
            && let Some(frame) = mp3_frame(&bytes[at..])
        {
            // The largest limit of all frames applies: that of the highest sample rate.
            let most = most(frame.rate);
            seconds_max = Some(seconds_max.map_or(most, |other: u64| other.max(most)));
            let end = at + frame.bytes;
            first = Some(match first {
                None => (end, frame.samples),
                Some((other, samples)) => (end.min(other), samples.max(frame.samples)),
            });
        }
    }
    true
}

struct Mp3Frame {
    bytes: usize,
    samples: u64,
    rate: u64,
}

/// Returns the frame of an MPEG audio layer whose header is here, if there is one.
fn mp3_frame(bytes: &[u8]) -> Option<Mp3Frame> {
    /// Bit rates in kilobits per second: layers 1 to 3 of MPEG 1, layer 1 and the others of MPEG 2.
    const BITS: [[usize; 15]; 5] = [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ];
    let &[_, b, c, ..] = bytes else { return None };
    let (version, layer) = (b >> 3 & 3, 4 - usize::from(b >> 1 & 3));
    let (bits, rate, padding) = (usize::from(c >> 4), c >> 2 & 3, usize::from(c >> 1 & 1));
    if b < 0xE0 || version == 1 || layer == 4 || bits == 0 || bits == 15 || rate == 3 {
        return None;
    }
    let old = version == 3;
    let rate = [44_100, 48_000, 32_000][usize::from(rate)] >> [2, 0, 1, 0][usize::from(version)];
    let table = if old { layer - 1 } else { 3 + usize::from(layer > 1) };
    let bits = BITS[table][bits] * 1000;
    let (bytes, samples) = match layer {
        1 => ((12 * bits / rate + padding) * 4, 384),
        3 if !old => (72 * bits / rate + padding, 576),
        _ => (144 * bits / rate + padding, 1152),
    };
    Some(Mp3Frame { bytes, samples, rate: rate as u64 })
}

/// Values of the headers of a Vorbis stream.
#[derive(Default)]
struct Vorbis {
    rate: u64,
    /// Number of samples of a packet, by its mode; one value for all if the modes cannot be read.
    modes: Vec<u64>,
    sizes: [u64; 2],
}

/// Returns true if an Ogg Vorbis file is short enough. Packets of one byte stand for up to 4,096
/// samples.
fn check_ogg(bytes: &[u8]) -> bool {
    let mut vorbis = Vorbis::default();
    let (mut samples, mut at, mut looked_at) = (0, 0, 0);
    let mut packet = Vec::new();
    while let Some(found) = bytes[at..].windows(4).position(|window| window == b"OggS") {
        let page = &bytes[at + found..];
        at += found + 4;
        let Some(count) = page.get(26).map(|count| usize::from(*count)) else { break };
        let Some(lacing) = page.get(27..27 + count) else { break };
        if page[5] & 1 == 0 {
            packet.clear();
        }
        // Pages do not overlap. If most of them did, each byte would be read thousands of times.
        looked_at += lacing.iter().map(|size| usize::from(*size)).sum::<usize>();
        if looked_at > OVERLAPS_MAX * bytes.len() {
            return false;
        }
        let mut from = 27 + count;
        for size in lacing {
            let to = (from + usize::from(*size)).min(page.len());
            if packet.len() < SETUP_BYTES_MAX {
                packet.extend_from_slice(&page[from.min(to)..to]);
            }
            from = to;
            if *size < 255 {
                samples += vorbis.packet(&packet);
                packet.clear();
            }
        }
        if vorbis.rate > 0 && samples > most(vorbis.rate) {
            return false;
        }
    }
    true
}

/// The most times that the pages of a file may contain its bytes: bytes that look like a page by
/// chance overlap others.
const OVERLAPS_MAX: usize = 4;

/// The most bytes of a packet that are examined: the headers are smaller.
const SETUP_BYTES_MAX: usize = 1 << 20;

impl Vorbis {
    /// Reads a packet and returns its number of samples.
    fn packet(&mut self, packet: &[u8]) -> u64 {
        match packet {
            [1, b'v', b'o', b'r', b'b', b'i', b's', head @ ..] if head.len() >= 22 => {
                let rate = u32::from_le_bytes([head[5], head[6], head[7], head[8]]);
                self.sizes = [1 << (head[21] & 15), 1 << (head[21] >> 4)];
                self.rate = rate.into();
                self.modes.clear();
                0
            }
            [5, b'v', b'o', b'r', b'b', b'i', b's', setup @ ..] => {
                let modes = modes(setup).unwrap_or_default();
                self.modes = modes.iter().map(|long| self.sizes[usize::from(*long)] / 2).collect();
                0
            }
            [first, ..] if first & 1 == 0 => {
                let bits = usize::BITS - self.modes.len().saturating_sub(1).leading_zeros();
                let mode = usize::from(*first) >> 1 & ((1 << bits) - 1);
                self.modes.get(mode).copied().unwrap_or(self.sizes[1] / 2)
            }
            _ => 0,
        }
    }
}

/// Returns for each mode of the setup header if it has long blocks. The header ends with the modes:
/// their number less one in 6 bits, for each mode a bit, two numbers of 16 bits that are zero, and
/// one of 8; then a bit that is one. The data before them cannot be skipped without reading all of
/// it. So this function reads backwards, and takes the greatest number of modes that is consistent.
fn modes(setup: &[u8]) -> Option<Vec<bool>> {
    let bit = |i: usize| setup.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
    let mut end = (0..setup.len() * 8).rev().find(|i| bit(*i))?;
    let number = |from: usize, count: usize| {
        (0..count).fold(0usize, |number, i| number | usize::from(bit(from + i)) << i)
    };
    let (mut flags, mut right) = (Vec::new(), None);
    while end >= 41 + 6 && flags.len() < 64 {
        let mode = end - 41;
        if number(mode + 1, 16) != 0 || number(mode + 17, 16) != 0 || number(mode + 33, 8) > 63 {
            break;
        }
        flags.push(bit(mode));
        if number(mode - 6, 6) + 1 == flags.len() {
            right = Some(flags.len());
        }
        end = mode;
    }
    flags.truncate(right?);
    flags.reverse();
    Some(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a page of an Ogg with these packets.
    fn page(packets: &[&[u8]]) -> Vec<u8> {
        let mut bytes = b"OggS\0\0".to_vec();
        bytes.extend([0; 20]);
        let lacing: Vec<u8> = packets
            .iter()
            .flat_map(|packet| {
                let whole = std::iter::repeat_n(255, packet.len() / 255);
                whole.chain([(packet.len() % 255) as u8])
            })
            .collect();
        bytes.push(lacing.len() as u8);
        bytes.extend(lacing);
        packets.iter().for_each(|packet| bytes.extend(*packet));
        bytes
    }

    fn vorbis_head() -> Vec<u8> {
        let mut head = b"\x01vorbis\0\0\0\0\x02".to_vec();
        head.extend(48_000u32.to_le_bytes());
        head.extend([0; 12]);
        head.extend([0xB8, 1]);
        head
    }

    #[test]
    fn tiny_packets_that_decode_to_hours_are_refused() {
        let mut bytes = page(&[&vorbis_head()]);
        // 1,024 samples each, at 48,000 Hz: 202,500 make an hour and two tenths.
        let many = page(&[b"\0".as_slice(); 250]);
        for _ in 0..805 {
            bytes.extend(&many);
        }
        assert!(check_ogg(&bytes));
        for _ in 0..10 {
            bytes.extend(&many);
        }
        assert!(!check_ogg(&bytes));
        assert_eq!(check_duration(&bytes), Err(too_long()));
    }

    #[test]
    fn the_duration_of_a_vorbis_file_is_computed() {
        let bytes = include_bytes!("../../../tests/sound/tone.ogg");
        let (mut vorbis, mut samples) = (Vorbis::default(), 0);
        let mut packets: Vec<Vec<u8>> = vec![Vec::new()];
        for (at, _) in bytes.windows(4).enumerate().filter(|(_, window)| window == b"OggS") {
            let page = &bytes[at..];
            let mut from = 27 + usize::from(page[26]);
            for size in &page[27..27 + usize::from(page[26])] {
                let to = from + usize::from(*size);
                packets.last_mut().unwrap().extend(&page[from..to]);
                from = to;
                if *size < 255 {
                    packets.push(Vec::new());
                }
            }
        }
        packets.iter().for_each(|packet| samples += vorbis.packet(packet));
        // At this rate the encoder uses blocks of one size.
        assert_eq!((vorbis.rate, vorbis.modes), (24_000, vec![512]));
        // Half a second, and the excess of the last blocks.
        assert!((12_000..14_500).contains(&samples), "{samples}");
        assert!(check_ogg(bytes));
    }

    #[test]
    fn nested_pages_are_read_once() {
        // A page begins every ten bytes; its 27th byte says that 255 sizes follow.
        let bytes = b"OggS\0\0\xff\0\0\0".repeat(100_000);
        assert!(!check_ogg(&bytes));
    }

    #[test]
    fn modes_are_read_from_the_end_of_the_setup_header() {
        let mut bits: Vec<bool> = (0..90).map(|i| i % 3 == 0).collect();
        let mut add = |value: u32, count: u32| {
            bits.extend((0..count).map(|i| value >> i & 1 == 1));
        };
        add(2, 6);
        for (long, mapping) in [(0, 0), (1, 1), (0, 2)] {
            [(long, 1), (0, 16), (0, 16), (mapping, 8)].iter().for_each(|(v, n)| add(*v, *n));
        }
        add(1, 1);
        let bytes: Vec<u8> = bits
            .chunks(8)
            .map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit)))
            .collect();
        assert_eq!(modes(&bytes), Some(vec![false, true, false]));
        assert_eq!(modes(&bytes[..5]), None);
        let mut vorbis = Vorbis { rate: 48_000, modes: Vec::new(), sizes: [256, 2048] };
        vorbis.packet(&[b"\x05vorbis", &bytes[..]].concat());
        let samples = [0b000, 0b010, 0b100, 0b110, 0b001].map(|first| vorbis.packet(&[first]));
        // An unknown mode counts as the longest; a packet that is not audio has no samples.
        assert_eq!(samples, [128, 1024, 128, 1024, 0]);
    }

    #[test]
    fn frames_of_an_mp3_are_counted() {
        // 576 samples at 24,000 Hz in 24 bytes, the smallest possible frame.
        let mut frame = vec![0xFF, 0xF3, 0x14, 0xC0];
        frame.resize(24, 0);
        let one = mp3_frame(&frame).unwrap();
        assert_eq!((one.bytes, one.samples, one.rate), (24, 576, 24_000));
        assert!(check_mp3(&frame.repeat(179_000)));
        assert!(!check_mp3(&frame.repeat(181_000)), "that is an hour and two tenths");
        let whole = include_bytes!("../../../tests/sound/tone.mp3");
        assert!(check_mp3(whole));
        // Headers inside of a frame are not frames.
        let mut nested = vec![0xFF, 0xF3, 0x14, 0xC0];
        nested.extend([0xFF, 0xF3, 0x14, 0xC0].repeat(5));
        assert!(check_mp3(&nested.repeat(179_000)));
    }

    #[test]
    fn random_bytes_have_no_long_duration() {
        let mut seed = 1u32;
        let mut noise = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        let bytes: Vec<u8> = (0..4 << 20).map(|_| noise()).collect();
        assert_eq!(check_duration(&bytes), Ok(()));
    }
}
