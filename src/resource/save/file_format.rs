//! File format of a save: a header with the game's version and the time, then the content, each in
//! a frame with length and checksum. Independent of file names and locations, and of the meaning of
//! the content.
//!
//! Every later version of the format begins with the same header frame, so that an older engine can
//! distinguish a newer save from a damaged one.

use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter, FRAME_BYTES, append_frame, unframe};
use std::cmp::Ordering;

/// Version of the format. It increases if an older engine could not read the new format.
pub const FORMAT: u32 = 1;

const HEAD_MAGIC: [u8; 4] = *b"SAVE";
const CONTENT_MAGIC: [u8; 4] = *b"DATA";

/// Maximum number of bytes of a header.
pub const HEAD_BYTES_MAX: usize = 4096;
/// Maximum length in bytes of the game's version that is stored.
const VERSION_BYTES_MAX: usize = 256;

/// Header of a save.
#[derive(Clone, PartialEq, Debug)]
pub struct SaveHeader {
    /// Version of the game that wrote the save.
    pub version: String,
    /// Time of the save in seconds since 1970, by the game's clock.
    pub time: f64,
    /// Offset of the content in bytes.
    content_offset: usize,
    /// Size of the whole file in bytes.
    size: u64,
}

/// Reason why a save cannot be used.
#[derive(Clone, PartialEq, Debug)]
pub enum SaveFileError {
    /// The file differs from what was written. The text names the defect.
    Damaged(String),
    /// A newer engine or a newer version of the game wrote the save. The text names the remedy.
    Newer(String),
    /// Memory is short at the moment. An older save must not be used instead.
    NoMemory(String),
}

impl From<Error> for SaveFileError {
    fn from(error: Error) -> SaveFileError {
        SaveFileError::Damaged(error.message)
    }
}

/// Encodes the file of a save.
///
/// # Errors
/// Returns an error if there is no memory for a copy of the content.
pub fn encode(version: &str, time: f64, content: &[u8]) -> Result<Vec<u8>, String> {
    let version = &version[..version.floor_char_boundary(VERSION_BYTES_MAX)];
    let framed = FRAME_BYTES + size_of::<u32>() + content.len();
    let mut head = BlobWriter::default();
    head.text(version);
    head.f64(time);
    head.u64(framed as u64);
    let mut file = head.into_frame(HEAD_MAGIC, FORMAT);
    let no_memory = |_| format!("no memory for its {framed} bytes");
    file.try_reserve_exact(framed).map_err(no_memory)?;
    append_frame(&mut file, CONTENT_MAGIC, FORMAT, |writer| writer.bytes(content));
    Ok(file)
}

/// Decodes the header from the first bytes of a file.
pub fn parse_head(bytes: &[u8]) -> Result<SaveHeader, SaveFileError> {
    let cut_short = || SaveFileError::Damaged(format!("it is cut short: {} bytes", bytes.len()));
    let mut reader = BlobReader::new(bytes);
    reader.take(4).map_err(|_| cut_short())?;
    let format = reader.u32().map_err(|_| cut_short())?;
    let length = reader.u64().map_err(|_| cut_short())?;
    let end = usize::try_from(length).ok().and_then(|length| length.checked_add(FRAME_BYTES));
    let framed = end.and_then(|end| bytes.get(..end)).ok_or_else(cut_short)?;
    // Uses the version that the file declares, because the checksum is valid for that version only.
    let body = unframe(framed, HEAD_MAGIC, format)?;
    if format != FORMAT {
        return Err(SaveFileError::Newer(format!(
            "it was written by a newer engine (its format is {format}, and this engine reads \
             {FORMAT}): update the game"
        )));
    }
    let mut reader = BlobReader::new(body);
    let version = reader.text()?.to_string();
    let time = reader.f64()?;
    let content = reader.u64()?;
    reader.end()?;
    if version.len() > VERSION_BYTES_MAX || !time.is_finite() {
        return Err(SaveFileError::Damaged(format!(
            "it is damaged: its version has {} bytes and its time is {time}",
            version.len()
        )));
    }
    let size = content.saturating_add(framed.len() as u64);
    Ok(SaveHeader { version, time, content_offset: framed.len(), size })
}

impl SaveHeader {
    /// Refuses a file if its size differs from the size in its header.
    pub fn check_size(&self, size: u64) -> Result<(), SaveFileError> {
        if size == self.size {
            return Ok(());
        }
        let message = format!("it is cut short or too long: {size} bytes of {}", self.size);
        Err(SaveFileError::Damaged(message))
    }

    /// Refuses a save of a newer version of the game than `version`.
    pub fn check_version(&self, version: &str) -> Result<(), SaveFileError> {
        if compare_versions(&self.version, version) != Ordering::Greater {
            return Ok(());
        }
        Err(SaveFileError::Newer(format!(
            "it was written by version {} of the game, and this is version {version}: update the \
             game",
            self.version
        )))
    }

    /// Returns the content of the file with this header.
    pub fn content(&self, file: &[u8]) -> Result<Vec<u8>, SaveFileError> {
        self.check_size(file.len() as u64)?;
        let mut reader =
            BlobReader::new(unframe(&file[self.content_offset..], CONTENT_MAGIC, FORMAT)?);
        let content = reader.bytes()?;
        reader.end()?;
        let mut copy = Vec::new();
        let no_memory =
            |_| SaveFileError::NoMemory(format!("no memory for its {} bytes", content.len()));
        copy.try_reserve_exact(content.len()).map_err(no_memory)?;
        copy.extend(content);
        Ok(copy)
    }
}

/// Compares versions number by number: `1.10` is newer than `1.9.3`. Missing numbers are 0. Text
/// after the numbers is ignored. A version that does not begin with a number is equal to every
/// version.
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    let (a, b) = (numbers(a), numbers(b));
    if a.is_empty() || b.is_empty() {
        return Ordering::Equal;
    }
    let number_at = |list: &[u64], i: usize| list.get(i).copied().unwrap_or(0);
    let parts = (0..a.len().max(b.len())).map(|i| number_at(&a, i).cmp(&number_at(&b, i)));
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
    fn written_data_reads_back_equal() {
        let file = encode("1.2.3", 12.5, b"content").unwrap();
        let head = parse_head(&file).unwrap();
        assert_eq!((head.version.as_str(), head.time), ("1.2.3", 12.5));
        assert_eq!(head.content(&file).unwrap(), b"content");
        assert_eq!(head.check_size(file.len() as u64), Ok(()));
    }

    #[test]
    fn damage_is_never_mistaken_for_a_newer_format() {
        let file = encode("1.2.3", 12.5, b"content").unwrap();
        let read = |file: &[u8]| parse_head(file).and_then(|head| head.content(file));
        for length in 0..file.len() {
            assert!(matches!(read(&file[..length]), Err(SaveFileError::Damaged(_))), "{length}");
        }
        for bit in 0..file.len() * 8 {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(read(&flipped), Err(SaveFileError::Damaged(_))), "bit {bit}");
        }
        let longer = [&file[..], &[0]].concat();
        assert!(matches!(read(&longer), Err(SaveFileError::Damaged(_))));
    }

    #[test]
    fn an_impossible_header_with_a_valid_checksum_is_damage() {
        let framed = |version: &str, time: f64, more: &[u8]| {
            let mut writer = BlobWriter::default();
            writer.text(version);
            writer.f64(time);
            writer.u64(0);
            more.iter().for_each(|byte| writer.u8(*byte));
            parse_head(&writer.into_frame(HEAD_MAGIC, FORMAT))
        };
        assert!(framed("1.0", 12.5, b"").is_ok());
        assert!(matches!(framed("1.0", f64::NAN, b""), Err(SaveFileError::Damaged(_))));
        assert!(matches!(framed(&"1".repeat(257), 0.0, b""), Err(SaveFileError::Damaged(_))));
        assert!(matches!(framed("1.0", 0.0, b"x"), Err(SaveFileError::Damaged(_))));
        let mut inner = BlobWriter::default();
        inner.bytes(b"content");
        inner.u8(0);
        let inner = inner.into_frame(CONTENT_MAGIC, FORMAT);
        let mut outer = BlobWriter::default();
        outer.text("1.0");
        outer.f64(0.0);
        outer.u64(inner.len() as u64);
        let file = [outer.into_frame(HEAD_MAGIC, FORMAT), inner].concat();
        let read = parse_head(&file).and_then(|head| head.content(&file));
        assert_eq!(
            read,
            Err(SaveFileError::Damaged("it is damaged: 1 bytes follow its end".into()))
        );
    }

    #[test]
    fn a_newer_format_is_recognised_by_its_header() {
        let mut head_of_later = BlobWriter::default();
        head_of_later.text("whatever comes");
        let file = head_of_later.into_frame(HEAD_MAGIC, 2);
        let message = "it was written by a newer engine (its format is 2, and this engine reads \
                       1): update the game";
        assert_eq!(parse_head(&file), Err(SaveFileError::Newer(message.to_string())));
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
    fn a_newer_game_is_reported_with_both_versions() {
        let head = parse_head(&encode("1.4", 0.0, b"").unwrap()).unwrap();
        let message = "it was written by version 1.4 of the game, and this is version 1.3.9: \
                       update the game";
        assert_eq!(head.check_version("1.3.9"), Err(SaveFileError::Newer(message.to_string())));
        assert_eq!(head.check_version("1.4.0"), Ok(()));
    }
}
