//! Binary data that is written once and read in place: little-endian numbers, byte strings with
//! their length before them, a checked frame around the whole. Knows no format that is built on it.

use super::Error;
use super::hash::murmur64a;
use super::memory::limit;
use crate::error;

/// Writes a blob.
#[derive(Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
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

    /// A length of four bytes, then the bytes.
    pub fn bytes(&mut self, value: &[u8]) {
        let length = u32::try_from(value.len()).expect("no part of a blob has 4 GiB");
        self.u32(length);
        self.bytes.extend(value);
    }

    pub fn text(&mut self, value: &str) {
        self.bytes(value.as_bytes());
    }

    /// A count, then each item by `write`.
    pub fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        self.u32(u32::try_from(items.len()).expect("no list of a blob has 2^32 items"));
        for item in items {
            write(self, item);
        }
    }

    /// What was written, bare.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// What was written, in a frame: `magic`, version, length and checksum before it.
    pub fn framed(self, magic: [u8; 4], version: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(FRAME_BYTES + self.bytes.len());
        append_framed(&mut out, magic, version, |writer| writer.bytes.extend(self.bytes));
        out
    }
}

/// Appends a frame with what `write` writes to bytes that have room for it: nothing is copied.
pub fn append_framed(
    bytes: &mut Vec<u8>,
    magic: [u8; 4],
    version: u32,
    write: impl FnOnce(&mut Writer),
) {
    let mut writer = Writer { bytes: std::mem::take(bytes) };
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

/// The bytes that a frame puts before its content.
pub const FRAME_BYTES: usize = 24;

/// Takes the frame off; the words name what is wrong with it.
pub fn unframe(bytes: &[u8], magic: [u8; 4], version: u32) -> Result<&[u8], Error> {
    let Some((head, body)) = bytes.split_at_checked(FRAME_BYTES) else {
        return Err(error!("it is cut short: {} bytes", bytes.len()));
    };
    if head[..4] != magic {
        return Err(error!("it is something else: its first bytes are not those of the format"));
    }
    let mut reader = Reader::new(&head[4..]);
    let (found, length, sum) = (reader.u32()?, reader.u64()?, reader.u64()?);
    if found != version {
        return Err(error!("it is of version {found}, and this engine reads version {version}"));
    }
    if body.len() as u64 != length {
        return Err(error!("it is cut short or too long: {} bytes of {length}", body.len()));
    }
    if murmur64a(body, version.into()) != sum {
        return Err(error!("it is damaged: its checksum does not fit its content"));
    }
    Ok(body)
}

/// Reads a blob; every read beyond its end is an error.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes }
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(count)
            .ok_or_else(|| error!("it is damaged: it ends where {count} more bytes should be"))?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        Ok(self.take(N)?.try_into().expect("as many bytes as were asked for"))
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

    /// A finite number of 32 bits.
    pub fn finite(&mut self) -> Result<f32, Error> {
        let number = f32::from_bits(self.u32()?);
        match number.is_finite() {
            true => Ok(number),
            false => Err(error!("it is damaged: {number} is where a finite number should be")),
        }
    }

    /// A byte that is 1 for true and 0 for false.
    pub fn flag(&mut self) -> Result<bool, Error> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(error!("it is damaged: {other} is where 0 or 1 should be")),
        }
    }

    /// A byte that is the index of an item of `list`: the item.
    pub fn choice<T: Copy>(&mut self, list: &[T]) -> Result<T, Error> {
        let index = self.u8()?;
        let found = list.get(usize::from(index)).copied();
        found.ok_or_else(|| error!("it is damaged: there is no choice {index}"))
    }

    /// As many items as were written, each by `read`, which takes at least a byte.
    ///
    /// A count of more items than there are bytes is refused at once, and the room that is made
    /// ahead is never larger than the bytes that are left.
    ///
    /// Items can take many times what their bytes do, so the limit on the engine's memory is looked
    /// at while they are read.
    pub fn list<T>(
        &mut self,
        read: impl FnMut(&mut Reader<'a>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let count = self.u32()? as usize;
        self.items(count, read)
    }

    /// As [`Reader::list`], with a limit and its name: a longer list is refused before its first
    /// item is read.
    pub fn list_at_most<T>(
        &mut self,
        (max, limit): (usize, &str),
        read: impl FnMut(&mut Reader<'a>) -> Result<T, Error>,
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
        mut read: impl FnMut(&mut Reader<'a>) -> Result<T, Error>,
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
            if items.len().is_multiple_of(LOOK_ITEMS) {
                limit::check_over()?;
            }
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// How many bytes are left to read.
    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Whether everything was read.
    pub fn is_done(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Refuses data that goes on after its last value.
    pub fn end(&self) -> Result<(), Error> {
        match self.bytes.len() {
            0 => Ok(()),
            left => Err(error!("it is damaged: {left} bytes follow its end")),
        }
    }
}

/// After how many items of a list the limit on the engine's memory is looked at.
const LOOK_ITEMS: usize = 1024;

/// Makes room for more items, if the limit on the engine's memory leaves any.
fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), Error> {
    limit::check_room(more.saturating_mul(size_of::<T>()))?;
    let lacks = |_| error!("it is damaged: there is no memory for its {more} items");
    items.try_reserve_exact(more).map_err(lacks)
}

/// The least and the greatest value of a number. A compiler holds its source to the same range as
/// the validator holds compiled data.
pub type Range = (f32, f32);

/// Refuses a number outside of its range; NaN is outside of every range.
pub fn within(name: &str, number: f32, (min, max): Range) -> Result<(), Error> {
    match (min..=max).contains(&number) {
        true => Ok(()),
        false => Err(error!("it is damaged: '{name}' must be {min} to {max}, got {number}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u8(7);
        writer.u32(70_000);
        writer.u64(1 << 40);
        writer.f64(-0.5);
        writer.text("Bär");
        writer.list(&[1u8, 2, 3], |writer, item| writer.u8(*item));
        writer.framed(*b"TEST", 3)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let bytes = sample();
        let mut reader = Reader::new(unframe(&bytes, *b"TEST", 3).unwrap());
        assert_eq!(reader.u8().unwrap(), 7);
        assert_eq!(reader.u32().unwrap(), 70_000);
        assert_eq!(reader.u64().unwrap(), 1 << 40);
        assert_eq!(reader.f64().unwrap(), -0.5);
        assert_eq!(reader.text().unwrap(), "Bär");
        assert_eq!(reader.list(Reader::u8).unwrap(), [1, 2, 3]);
        assert!(reader.is_done() && reader.u8().is_err());
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_found() {
        let bytes = sample();
        for length in 0..bytes.len() {
            assert!(unframe(&bytes[..length], *b"TEST", 3).is_err(), "{length}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(unframe(&damaged, *b"TEST", 3).is_err(), "bit {bit}");
        }
        let words = unframe(&bytes, *b"TEST", 4).unwrap_err().message;
        assert_eq!(words, "it is of version 3, and this engine reads version 4");
    }

    #[test]
    fn a_count_beyond_the_end_takes_no_memory() {
        let bytes = u32::MAX.to_le_bytes();
        assert!(Reader::new(&bytes).list(Reader::u64).is_err());
        // Not even where an item reads nothing: this would run for seconds.
        let words = Reader::new(&bytes).list(|_| Ok(())).unwrap_err().message;
        assert_eq!(words, "it is damaged: it lists 4294967295 items in 0 bytes");
        let mut long = 100_000u32.to_le_bytes().to_vec();
        long.resize(100_004, 0);
        let list = Reader::new(&long).list(|reader| Ok((reader.u8()?, [0u64; 8]))).unwrap();
        assert_eq!(list.len(), 100_000);
    }

    #[test]
    fn a_list_beyond_its_limit_is_refused_before_an_item_is_read() {
        let mut writer = Writer::default();
        writer.list(&[1u8, 2, 3], |writer, item| writer.u8(*item));
        let bytes = writer.finish();
        let read = |max: usize, items: &mut usize| {
            Reader::new(&bytes).list_at_most((max, "ITEMS_MAX"), |reader| {
                *items += 1;
                reader.u8()
            })
        };
        let mut items = 0;
        let words = read(2, &mut items).unwrap_err().message;
        assert_eq!(words, "it is damaged: it lists 3 items, and 2 are the most (ITEMS_MAX)");
        assert_eq!(items, 0);
        assert_eq!(read(3, &mut items).unwrap(), [1, 2, 3]);
        assert_eq!(items, 3);
    }

    #[test]
    fn values_that_a_format_does_not_have_are_refused_with_words() {
        let words = |bytes: &[u8], read: fn(&mut Reader) -> Result<(), Error>| {
            read(&mut Reader::new(bytes)).unwrap_err().message
        };
        let float = |number: f32| number.to_le_bytes();
        assert_eq!(
            words(&float(f32::NAN), |reader| reader.finite().map(drop)),
            "it is damaged: NaN is where a finite number should be"
        );
        assert_eq!(
            words(&[2], |reader| reader.flag().map(drop)),
            "it is damaged: 2 is where 0 or 1 should be"
        );
        assert_eq!(
            words(&[3], |reader| reader.choice(&["a", "b", "c"]).map(drop)),
            "it is damaged: there is no choice 3"
        );
        assert_eq!(words(&[0, 0], |reader| reader.end()), "it is damaged: 2 bytes follow its end");
        assert_eq!(
            within("rate", f32::NAN, (0.0, 2.0)).unwrap_err().message,
            "it is damaged: 'rate' must be 0 to 2, got NaN"
        );
        assert_eq!(within("rate", 2.0, (0.0, 2.0)), Ok(()));
        assert_eq!(Reader::new(&float(0.5)).finite(), Ok(0.5));
    }
}
