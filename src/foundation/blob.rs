//! Binary data that is written once and read in place: little-endian numbers, length-prefixed byte
//! strings, and a checked frame around the whole. Knows none of the formats built on it.

use super::Error;
use super::hash::murmur64a;
use super::memory::limit;
use crate::error;

/// A writer of binary data (a blob).
#[derive(Default)]
pub struct BlobWriter {
    bytes: Vec<u8>,
}

impl BlobWriter {
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn f64(&mut self, value: f64) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// Writes a length of four bytes, then the bytes.
    pub fn bytes(&mut self, value: &[u8]) {
        let length = u32::try_from(value.len()).expect("no part of a blob has 4 GiB");
        self.u32(length);
        self.bytes.extend(value);
    }

    pub fn text(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    /// Writes a count, then each item by calling `write`.
    pub fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut BlobWriter, &T)) {
        self.u32(u32::try_from(items.len()).expect("no list of a blob has 2^32 items"));
        for item in items {
            write(self, item);
        }
    }

    /// Returns the written bytes without a frame.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the written bytes in a frame: preceded by `magic`, version, length and checksum.
    pub fn into_frame(self, magic: [u8; 4], version: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(FRAME_BYTES + self.bytes.len());
        append_frame(&mut out, magic, version, |writer| writer.bytes.extend(self.bytes));
        out
    }
}

/// Appends a frame to `bytes`, with the content that `write` writes. Nothing is copied, because
/// `write` appends to the same buffer.
pub fn append_frame(
    bytes: &mut Vec<u8>,
    magic: [u8; 4],
    version: u32,
    write: impl FnOnce(&mut BlobWriter),
) {
    let mut writer = BlobWriter { bytes: std::mem::take(bytes) };
    let start = writer.bytes.len();
    writer.bytes.extend(magic);
    writer.u32(version);
    let length_at = writer.bytes.len();
    writer.u64(0);
    writer.u64(0);
    let body = writer.bytes.len();
    debug_assert_eq!(body - start, FRAME_BYTES);
    write(&mut writer);
    let length = (writer.bytes.len() - body) as u64;
    let sum = murmur64a(&writer.bytes[body..], version.into());
    writer.bytes[length_at..length_at + 8].copy_from_slice(&length.to_le_bytes());
    writer.bytes[length_at + 8..body].copy_from_slice(&sum.to_le_bytes());
    *bytes = writer.bytes;
}

/// Number of bytes that a frame puts before its content.
pub const FRAME_BYTES: usize = 24;

/// Checks a frame and returns its content. The error message names the damage.
pub fn unframe(bytes: &[u8], magic: [u8; 4], version: u32) -> Result<&[u8], Error> {
    let Some((head, body)) = bytes.split_at_checked(FRAME_BYTES) else {
        return Err(error!("it is cut short: {} bytes", bytes.len()));
    };
    if head[..4] != magic {
        return Err(error!("it is something else: its first bytes are not those of the format"));
    }
    let mut reader = BlobReader::new(&head[4..]);
    let (found, length, sum) = (reader.u32()?, reader.u64()?, reader.u64()?);
    if found != version {
        return Err(error!("it is of version {found}, and this engine reads version {version}"));
    }
    if body.len() as u64 != length {
        return Err(error!("it is cut short or too long: {} bytes of {length}", body.len()));
    }
    if murmur64a(body, version.into()) != sum {
        return Err(error!("it is damaged: its checksum does not match its content"));
    }
    Ok(body)
}

/// A reader of a blob. Every read beyond its end is an error.
#[derive(Clone, Copy)]
pub struct BlobReader<'a> {
    bytes: &'a [u8],
}

impl<'a> BlobReader<'a> {
    pub fn new(bytes: &'a [u8]) -> BlobReader<'a> {
        BlobReader { bytes }
    }

    /// Reads the next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(count)
            .ok_or_else(|| error!("it is damaged: it ends where {count} more bytes should be"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        Ok(self.take(N)?.try_into().expect("as many bytes as were requested"))
    }

    pub fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }

    pub fn f64(&mut self) -> Result<f64, Error> {
        self.array().map(f64::from_le_bytes)
    }

    pub fn bytes(&mut self) -> Result<&'a [u8], Error> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    pub fn text(&mut self) -> Result<&'a str, Error> {
        std::str::from_utf8(self.bytes()?).map_err(|_| error!("it is damaged: a text is not UTF-8"))
    }

    /// Reads a 32-bit float; NaN and infinities are errors.
    pub fn finite(&mut self) -> Result<f32, Error> {
        let number = f32::from_bits(self.u32()?);
        match number.is_finite() {
            true => Ok(number),
            false => Err(error!("it is damaged: {number} is where a finite number should be")),
        }
    }

    /// Reads a boolean stored as a byte: 1 for true, 0 for false.
    pub fn flag(&mut self) -> Result<bool, Error> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(error!("it is damaged: {other} is where 0 or 1 should be")),
        }
    }

    /// Reads a byte that is an index into `list`, and returns that item.
    pub fn choice<T: Copy>(&mut self, list: &[T]) -> Result<T, Error> {
        let index = self.u8()?;
        let found = list.get(usize::from(index)).copied();
        found.ok_or_else(|| error!("it is damaged: there is no choice {index}"))
    }

    /// Reads a list that [`BlobWriter::list`] wrote. Each item is read by `read`, which must
    /// consume at least one byte.
    ///
    /// A count larger than the number of remaining bytes is refused at once. The memory reserved in
    /// advance is never larger than the remaining bytes.
    ///
    /// Items in memory can be many times larger than their bytes. So the engine's memory limit is
    /// checked while they are read.
    pub fn list<T>(
        &mut self,
        read: impl FnMut(&mut BlobReader<'a>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let count = self.u32()? as usize;
        self.items(count, read)
    }

    /// Reads a list as [`BlobReader::list`] does, with a named limit. A longer list is refused
    /// before its first item is read.
    pub fn list_at_most<T>(
        &mut self,
        (max, limit): (usize, &str),
        read: impl FnMut(&mut BlobReader<'a>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let count = self.u32()? as usize;
        if count > max {
            return Err(error!(
                "it is damaged: it lists {count} items, and {max} are the most ({limit})"
            ));
        }
        self.items(count, read)
    }

    fn items<T>(
        &mut self,
        count: usize,
        mut read: impl FnMut(&mut BlobReader<'a>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let left = self.bytes.len();
        if count > left {
            return Err(error!("it is damaged: it lists {count} items in {left} bytes"));
        }
        let mut items = Vec::new();
        reserve(&mut items, count.min(left / size_of::<T>().max(1)))?;
        for _ in 0..count {
            if items.len() == items.capacity() {
                let more = items.len().max(1);
                reserve(&mut items, more)?;
            }
            if items.len().is_multiple_of(ITEMS_PER_MEMORY_CHECK) {
                limit::check_over()?;
            }
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// Returns the number of bytes that are left to read.
    pub fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Returns true if everything was read.
    pub fn is_done(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns an error if data follows the last value.
    pub fn end(&self) -> Result<(), Error> {
        match self.bytes.len() {
            0 => Ok(()),
            left => Err(error!("it is damaged: {left} bytes follow its end")),
        }
    }
}

/// Number of list items between two checks of the engine's memory limit.
const ITEMS_PER_MEMORY_CHECK: usize = 1024;

/// Reserves memory for more items, if the engine's memory limit allows it.
fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), Error> {
    limit::check_room(more.saturating_mul(size_of::<T>()))?;
    let lacks = |_| error!("it is damaged: there is no memory for its {more} items");
    items.try_reserve_exact(more).map_err(lacks)
}

/// The minimum and maximum of a number. The compiler checks its source and the validator checks
/// compiled data against the same range.
pub type NumberRange = (f32, f32);

/// Returns an error if a number is outside of its range. NaN is outside of every range.
pub fn within(name: &str, number: f32, (min, max): NumberRange) -> Result<(), Error> {
    match (min..=max).contains(&number) {
        true => Ok(()),
        false => Err(error!("it is damaged: '{name}' must be {min} to {max}, got {number}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.u8(7);
        writer.u32(70_000);
        writer.u64(1 << 40);
        writer.f64(-0.5);
        writer.text("Bär");
        writer.list(&[1u8, 2, 3], |writer, item| writer.u8(*item));
        writer.into_frame(*b"TEST", 3)
    }

    #[test]
    fn written_data_reads_back_equal() {
        let bytes = sample();
        let mut reader = BlobReader::new(unframe(&bytes, *b"TEST", 3).unwrap());
        assert_eq!(reader.u8().unwrap(), 7);
        assert_eq!(reader.u32().unwrap(), 70_000);
        assert_eq!(reader.u64().unwrap(), 1 << 40);
        assert_eq!(reader.f64().unwrap(), -0.5);
        assert_eq!(reader.text().unwrap(), "Bär");
        assert_eq!(reader.list(BlobReader::u8).unwrap(), [1, 2, 3]);
        assert!(reader.is_done() && reader.u8().is_err());
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_detected() {
        let bytes = sample();
        for length in 0..bytes.len() {
            assert!(unframe(&bytes[..length], *b"TEST", 3).is_err(), "{length}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(unframe(&damaged, *b"TEST", 3).is_err(), "bit {bit}");
        }
        let message = unframe(&bytes, *b"TEST", 4).unwrap_err().message;
        assert_eq!(message, "it is of version 3, and this engine reads version 4");
    }

    #[test]
    fn a_count_beyond_the_end_allocates_no_memory() {
        let bytes = u32::MAX.to_le_bytes();
        assert!(BlobReader::new(&bytes).list(BlobReader::u64).is_err());
        // This fails even for items that read nothing. Otherwise it would run for seconds.
        let message = BlobReader::new(&bytes).list(|_| Ok(())).unwrap_err().message;
        assert_eq!(message, "it is damaged: it lists 4294967295 items in 0 bytes");
        let mut long = 100_000u32.to_le_bytes().to_vec();
        long.resize(100_004, 0);
        let list = BlobReader::new(&long).list(|reader| Ok((reader.u8()?, [0u64; 8]))).unwrap();
        assert_eq!(list.len(), 100_000);
    }

    #[test]
    fn a_list_beyond_its_limit_is_refused_before_an_item_is_read() {
        let mut writer = BlobWriter::default();
        writer.list(&[1u8, 2, 3], |writer, item| writer.u8(*item));
        let bytes = writer.finish();
        let read = |max: usize, items: &mut usize| {
            BlobReader::new(&bytes).list_at_most((max, "ITEMS_MAX"), |reader| {
                *items += 1;
                reader.u8()
            })
        };
        let mut items = 0;
        let message = read(2, &mut items).unwrap_err().message;
        assert_eq!(message, "it is damaged: it lists 3 items, and 2 are the most (ITEMS_MAX)");
        assert_eq!(items, 0);
        assert_eq!(read(3, &mut items).unwrap(), [1, 2, 3]);
        assert_eq!(items, 3);
    }

    #[test]
    fn invalid_values_are_refused_with_a_message() {
        let message = |bytes: &[u8], read: fn(&mut BlobReader) -> Result<(), Error>| {
            read(&mut BlobReader::new(bytes)).unwrap_err().message
        };
        let float = |number: f32| number.to_le_bytes();
        assert_eq!(
            message(&float(f32::NAN), |reader| reader.finite().map(drop)),
            "it is damaged: NaN is where a finite number should be"
        );
        assert_eq!(
            message(&[2], |reader| reader.flag().map(drop)),
            "it is damaged: 2 is where 0 or 1 should be"
        );
        assert_eq!(
            message(&[3], |reader| reader.choice(&["a", "b", "c"]).map(drop)),
            "it is damaged: there is no choice 3"
        );
        assert_eq!(
            message(&[0, 0], |reader| reader.end()),
            "it is damaged: 2 bytes follow its end"
        );
        assert_eq!(
            within("rate", f32::NAN, (0.0, 2.0)).unwrap_err().message,
            "it is damaged: 'rate' must be 0 to 2, got NaN"
        );
        assert_eq!(within("rate", 2.0, (0.0, 2.0)), Ok(()));
        assert_eq!(BlobReader::new(&float(0.5)).finite(), Ok(0.5));
    }
}
