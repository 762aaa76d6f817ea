//! What a save's file is made of: a head with the game's version and the time, then the content,
//! each in a frame with its length and checksum. Knows nothing of files' names and places, nor of
//! what the content means.
//!
//! Every later version of the format begins with the head's frame as it is now, so that an older
//! engine can tell a newer save from a damaged one.

use crate::foundation::Error;
use crate::foundation::blob::{FRAME_BYTES, Reader, Writer, append_framed, unframe};
use std::cmp::Ordering;

/// The version of the format. It is raised when an older engine could not read it.
pub const FORMAT: u32 = 1;

const HEAD: [u8; 4] = *b"SAVE";
const CONTENT: [u8; 4] = *b"DATA";

/// More of a file than this no head needs.
pub const HEAD_BYTES_MAX: usize = 4096;
/// The longest version of a game that is kept.
const VERSION_BYTES_MAX: usize = 256;

/// What the head of a save says.
#[derive(Clone, PartialEq, Debug)]
pub struct Head {
    /// The version of the game that wrote it.
    pub version: String,
    /// When, in seconds since 1970, by the game's clock.
    pub time: f64,
    /// Where the content begins, in bytes.
    at: usize,
    /// The bytes of the whole file.
    size: u64,
}

/// Why a save cannot be used.
#[derive(Clone, PartialEq, Debug)]
pub enum Fault {
    /// It is not what was written: what is wrong.
    Damaged(String),
    /// A newer engine or a newer version of the game wrote it: what to do.
    Newer(String),
    /// There is no memory for it now: an older one must not take its place.
    NoMemory(String),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Fault {
        Fault::Damaged(error.message)
    }
}

/// The bytes of a save's file.
///
/// # Errors
/// There is no memory for a copy of the content.
pub fn encode(version: &str, time: f64, content: &[u8]) -> Result<Vec<u8>, String> {
    let version = &version[..version.floor_char_boundary(VERSION_BYTES_MAX)];
    let framed = FRAME_BYTES + size_of::<u32>() + content.len();
    let mut head = Writer::default();
    head.text(version);
    head.f64(time);
    head.u64(framed as u64);
    let mut file = head.framed(HEAD, FORMAT);
    let lacks = |_| format!("no memory for its {framed} bytes");
    file.try_reserve_exact(framed).map_err(lacks)?;
    append_framed(&mut file, CONTENT, FORMAT, |writer| writer.bytes(content));
    Ok(file)
}

/// Reads the head off a file's first bytes.
pub fn head(bytes: &[u8]) -> Result<Head, Fault> {
    let cut = || Fault::Damaged(format!("it is cut short: {} bytes", bytes.len()));
    let mut reader = Reader::new(bytes);
    reader.take(4).map_err(|_| cut())?;
    let format = reader.u32().map_err(|_| cut())?;
    let length = reader.u64().map_err(|_| cut())?;
    let end = usize::try_from(length).ok().and_then(|length| length.checked_add(FRAME_BYTES));
    let framed = end.and_then(|end| bytes.get(..end)).ok_or_else(cut)?;
    // With the version that it names itself: the checksum holds for that version only.
    let body = unframe(framed, HEAD, format)?;
    if format != FORMAT {
        return Err(Fault::Newer(format!(
            "it was written by a newer engine (its format is {format}, and this engine reads \
             {FORMAT}): update the game"
        )));
    }
    let mut reader = Reader::new(body);
    let version = reader.text()?.to_string();
    let time = reader.f64()?;
    let content = reader.u64()?;
    reader.end()?;
    if version.len() > VERSION_BYTES_MAX || !time.is_finite() {
        return Err(Fault::Damaged(format!(
            "it is damaged: its version has {} bytes and its time is {time}",
            version.len()
        )));
    }
    let size = content.saturating_add(framed.len() as u64);
    Ok(Head { version, time, at: framed.len(), size })
}

impl Head {
    /// Whether a file of that many bytes can be whole.
    pub fn check_size(&self, size: u64) -> Result<(), Fault> {
        if size == self.size {
            return Ok(());
        }
        let words = format!("it is cut short or too long: {size} bytes of {}", self.size);
        Err(Fault::Damaged(words))
    }

    /// Refuses a save of a newer version of the game than `version`.
    pub fn check_version(&self, version: &str) -> Result<(), Fault> {
        if compare_versions(&self.version, version) != Ordering::Greater {
            return Ok(());
        }
        Err(Fault::Newer(format!(
            "it was written by version {} of the game, and this is version {version}: update the \
             game",
            self.version
        )))
    }

    /// The content of the file whose head this is.
    pub fn content(&self, file: &[u8]) -> Result<Vec<u8>, Fault> {
        self.check_size(file.len() as u64)?;
        let mut reader = Reader::new(unframe(&file[self.at..], CONTENT, FORMAT)?);
        let content = reader.bytes()?;
        reader.end()?;
        let mut copy = Vec::new();
        let lacks = |_| Fault::NoMemory(format!("no memory for its {} bytes", content.len()));
        copy.try_reserve_exact(content.len()).map_err(lacks)?;
        copy.extend(content);
        Ok(copy)
    }
}

/// Compares versions number by number: `1.10` is newer than `1.9.3`. Numbers that are missing are
/// 0; what follows the numbers does not count, nor does a version that begins with none.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    let (a, b) = (numbers(a), numbers(b));
    if a.is_empty() || b.is_empty() {
        return Ordering::Equal;
    }
    let at = |list: &[u64], i: usize| list.get(i).copied().unwrap_or(0);
    let parts = (0..a.len().max(b.len())).map(|i| at(&a, i).cmp(&at(&b, i)));
    parts.fold(Ordering::Equal, Ordering::then)
}

fn numbers(version: &str) -> Vec<u64> {
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    version[..end].split('.').map_while(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let file = encode("1.2.3", 12.5, b"content").unwrap();
        let head = head(&file).unwrap();
        assert_eq!((head.version.as_str(), head.time), ("1.2.3", 12.5));
        assert_eq!(head.content(&file).unwrap(), b"content");
        assert_eq!(head.check_size(file.len() as u64), Ok(()));
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_damage_and_never_newer() {
        let file = encode("1.2.3", 12.5, b"content").unwrap();
        let read = |file: &[u8]| head(file).and_then(|head| head.content(file));
        for length in 0..file.len() {
            assert!(matches!(read(&file[..length]), Err(Fault::Damaged(_))), "{length}");
        }
        for bit in 0..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(read(&flipped), Err(Fault::Damaged(_))), "bit {bit}");
        }
        let longer = [&file[..], &[0]].concat();
        assert!(matches!(read(&longer), Err(Fault::Damaged(_))));
    }

    #[test]
    fn a_head_that_no_engine_wrote_is_damage_though_its_checksum_is_right() {
        let framed = |version: &str, time: f64, more: &[u8]| {
            let mut writer = Writer::default();
            writer.text(version);
            writer.f64(time);
            writer.u64(0);
            more.iter().for_each(|byte| writer.u8(*byte));
            head(&writer.framed(HEAD, FORMAT))
        };
        assert!(framed("1.0", 12.5, b"").is_ok());
        assert!(matches!(framed("1.0", f64::NAN, b""), Err(Fault::Damaged(_))));
        assert!(matches!(framed(&"1".repeat(257), 0.0, b""), Err(Fault::Damaged(_))));
        assert!(matches!(framed("1.0", 0.0, b"x"), Err(Fault::Damaged(_))));
        let mut inner = Writer::default();
        inner.bytes(b"content");
        inner.u8(0);
        let inner = inner.framed(CONTENT, FORMAT);
        let mut outer = Writer::default();
        outer.text("1.0");
        outer.f64(0.0);
        outer.u64(inner.len() as u64);
        let file = [outer.framed(HEAD, FORMAT), inner].concat();
        let read = head(&file).and_then(|head| head.content(&file));
        assert_eq!(read, Err(Fault::Damaged("it is damaged: 1 bytes follow its end".into())));
    }

    #[test]
    fn a_newer_format_is_known_by_its_head() {
        let mut head_of_later = Writer::default();
        head_of_later.text("whatever comes");
        let file = head_of_later.framed(HEAD, 2);
        let words = "it was written by a newer engine (its format is 2, and this engine reads 1): \
                     update the game";
        assert_eq!(head(&file), Err(Fault::Newer(words.to_string())));
    }

    #[test]
    fn versions_are_compared_number_by_number() {
        let check = |a: &str, b: &str, wanted| {
            assert_eq!(compare_versions(a, b), wanted, "{a} {b}");
            assert_eq!(compare_versions(b, a), wanted.reverse(), "{b} {a}");
        };
        check("1.10", "1.9.3", Ordering::Greater);
        check("1.0", "1", Ordering::Equal);
        check("1.0.1", "1", Ordering::Greater);
        check("0.1.0-beta", "0.1.0", Ordering::Equal);
        check("2-rc1", "1.9", Ordering::Greater);
        check("spring", "1.0", Ordering::Equal);
        check("", "1.0", Ordering::Equal);
    }

    #[test]
    fn a_newer_game_is_told_by_both_versions() {
        let head = head(&encode("1.4", 0.0, b"").unwrap()).unwrap();
        let words = "it was written by version 1.4 of the game, and this is version 1.3.9: update \
                     the game";
        assert_eq!(head.check_version("1.3.9"), Err(Fault::Newer(words.to_string())));
        assert_eq!(head.check_version("1.4.0"), Ok(()));
    }
}
