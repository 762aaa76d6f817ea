//! Compound files: a file system in one file, with streams that have names. Databases of Windows
//! Installer are such files. All streams are in the root; there are no times.
//!
//! Source: Microsoft's "Compound File Binary File Format", version 3.

use super::Content;
use std::io::{BufReader, ErrorKind, Read, Result};

const MAGIC: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
/// Size of a sector in bytes, and its logarithm.
const SECTOR_BYTES: usize = 1 << SECTOR_LOG;
const SECTOR_LOG: u16 = 9;
/// Sectors of small streams. They are in a stream of their own.
const MINI_SECTOR_BYTES: usize = 1 << MINI_SECTOR_LOG;
const MINI_SECTOR_LOG: u16 = 6;
/// Streams of fewer bytes are small.
const MINI_STREAM_BYTES: u64 = 4096;
/// Numbers of sectors that fit into one.
const IDS_PER_SECTOR: usize = SECTOR_BYTES / 4;
/// Numbers of sectors of the table that fit into the header.
const HEADER_IDS: usize = 109;
/// Size of an entry of the directory in bytes.
const ENTRY_BYTES: usize = 128;
/// Maximum length of a name in units of UTF-16, without the zero at its end.
const NAME_UNITS_MAX: usize = 31;

/// Size of the buffer in front of a file that is searched, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

const FREE: u32 = 0xffff_ffff;
const CHAIN_END: u32 = 0xffff_fffe;
/// A sector of the table of sectors.
const TABLE: u32 = 0xffff_fffd;
/// A sector that lists sectors of the table.
const TABLE_LIST: u32 = 0xffff_fffc;
/// The number of an entry that does not exist.
const NO_ENTRY: u32 = 0xffff_ffff;

const STREAM: u8 = 2;
const ROOT: u8 = 5;
const RED: u8 = 0;
const BLACK: u8 = 1;

/// Returns a compound file with streams, which have different names. `class` says what the file
/// contains, in the order of bytes of the file.
pub fn compound_file(class: &[u8; 16], streams: Vec<(Vec<u16>, Content)>) -> Content {
    let mut streams = streams;
    streams.sort_by_cached_key(|(name, _)| order(name));
    let mut sectors = Sectors::default();
    let (mut mini, mut mini_table) = (Content::default(), Vec::new());
    let mut entries = vec![Entry { kind: ROOT, class: *class, ..Entry::new("Root Entry") }];
    for (name, content) in streams {
        let size = content.len();
        let start = if size >= MINI_STREAM_BYTES {
            sectors.append(content)
        } else {
            let start = chain(&mut mini_table, size.div_ceil(MINI_SECTOR_BYTES as u64));
            mini.append_aligned(MINI_SECTOR_BYTES as u64, content);
            start
        };
        entries.push(Entry { name, kind: STREAM, start, size, ..Entry::new("") });
    }
    let count = entries.len() - 1;
    entries[0].child = link_tree(&mut entries, 1, count, 0);
    // Whole sectors of small streams.
    mini.append_aligned(MINI_SECTOR_BYTES as u64, Content::default());
    entries[0].size = mini.len();
    entries[0].start = sectors.append(mini);
    let mini_table_sectors = mini_table.len().div_ceil(IDS_PER_SECTOR);
    let mini_table_start = sectors.append(Content::bytes(ids(&mini_table, mini_table_sectors)));
    let mut directory: Vec<u8> = entries.iter().flat_map(Entry::encode).collect();
    while !directory.len().is_multiple_of(SECTOR_BYTES) {
        directory.extend(Entry::new("").encode());
    }
    let directory_start = sectors.append(Content::bytes(directory));
    sectors.finish(&[
        (48, directory_start),
        (60, mini_table_start),
        (64, mini_table_sectors as u32),
    ])
}

/// Returns which of these streams a compound file has, and only `false` for other files. Looks for
/// their entries in all sectors, of any size, and follows no chain of sectors.
///
/// # Errors
/// Returns an error if the input cannot be read.
pub fn find_streams<const N: usize>(input: impl Read, names: [&[u16]; N]) -> Result<[bool; N]> {
    // The name, its length and the kind of an entry.
    let wanted = names.map(|name| {
        let mut entry = Entry { name: name.to_vec(), kind: STREAM, ..Entry::new("") }.encode();
        entry.truncate(67);
        entry
    });
    let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
    let mut found = [false; N];
    let mut bytes = [0; ENTRY_BYTES];
    let mut is_first = true;
    loop {
        match input.read_exact(&mut bytes) {
            Err(reason) if reason.kind() == ErrorKind::UnexpectedEof => return Ok(found),
            read => read?,
        }
        if is_first && !bytes.starts_with(&MAGIC) {
            return Ok(found);
        }
        is_first = false;
        for (found, wanted) in found.iter_mut().zip(&wanted) {
            *found |= bytes.starts_with(wanted);
        }
    }
}

/// The order of names in the directory: by length, then by letters without case.
fn order(name: &[u16]) -> (usize, Vec<u16>) {
    let upper = |unit: &u16| match u8::try_from(*unit) {
        Ok(letter) => u16::from(letter.to_ascii_uppercase()),
        Err(_) => *unit,
    };
    (name.len(), name.iter().map(upper).collect())
}

/// Appends a chain of sectors to a table, and returns the first of them.
fn chain(table: &mut Vec<u32>, sectors: u64) -> u32 {
    let start = table.len() as u32;
    let end = start + sectors as u32;
    if start == end {
        return CHAIN_END;
    }
    table.extend(start + 1..end);
    table.push(CHAIN_END);
    start
}

/// Returns numbers of sectors as bytes, filled up to whole sectors.
fn ids(ids: &[u32], sectors: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    // FREE has all bits set.
    bytes.resize(sectors * SECTOR_BYTES, 0xff);
    bytes
}

/// Links entries as a tree with its smallest name on the left, and returns the number of its root.
/// All paths have the same number of black entries: those of the lowest level are red.
fn link_tree(entries: &mut [Entry], first: usize, count: usize, depth: u32) -> u32 {
    if count == 0 {
        return NO_ENTRY;
    }
    let middle = first + count / 2;
    let left = link_tree(entries, first, count / 2, depth + 1);
    let right = link_tree(entries, middle + 1, count - count / 2 - 1, depth + 1);
    let lowest = (entries.len() - 1).ilog2();
    let entry = &mut entries[middle];
    (entry.left, entry.right) = (left, right);
    entry.color = if depth > 0 && depth == lowest { RED } else { BLACK };
    middle as u32
}

/// The sectors behind the header.
#[derive(Default)]
struct Sectors {
    content: Content,
    /// The number of the sector that follows each sector.
    table: Vec<u32>,
}

impl Sectors {
    /// Appends a stream, and returns its first sector.
    fn append(&mut self, content: Content) -> u32 {
        let start = chain(&mut self.table, content.len().div_ceil(SECTOR_BYTES as u64));
        self.content.append_aligned(SECTOR_BYTES as u64, content);
        start
    }

    /// Returns the whole file. `fields` are words of the header, with their offsets.
    fn finish(mut self, fields: &[(usize, u32)]) -> Content {
        let used = self.table.len();
        let (mut table_sectors, mut lists) = (0, 0);
        loop {
            let wanted = (used + table_sectors + lists).div_ceil(IDS_PER_SECTOR);
            // One number of each list is that of the next list.
            let wanted_lists = wanted.saturating_sub(HEADER_IDS).div_ceil(IDS_PER_SECTOR - 1);
            if (wanted, wanted_lists) == (table_sectors, lists) {
                break;
            }
            (table_sectors, lists) = (wanted, wanted_lists);
        }
        self.table.extend(vec![TABLE; table_sectors]);
        self.table.extend(vec![TABLE_LIST; lists]);
        let table_ids: Vec<u32> = (used..used + table_sectors).map(|id| id as u32).collect();
        let lists_start = used + table_sectors;
        let (in_header, listed) = table_ids.split_at(table_ids.len().min(HEADER_IDS));
        let mut list_bytes = Vec::new();
        for (at, part) in listed.chunks(IDS_PER_SECTOR - 1).enumerate() {
            let is_last = at + 1 == lists;
            let next = if is_last { CHAIN_END } else { (lists_start + at + 1) as u32 };
            let mut list = part.to_vec();
            list.resize(IDS_PER_SECTOR - 1, FREE);
            list.push(next);
            list_bytes.extend(ids(&list, 1));
        }
        let mut header = vec![0; 76];
        header[..8].copy_from_slice(&MAGIC);
        // The version, the order of bytes, and the sizes of sectors.
        let sizes = [0x3e, 3, 0xfffe, SECTOR_LOG, MINI_SECTOR_LOG];
        for (at, word) in sizes.into_iter().enumerate() {
            header[24 + at * 2..26 + at * 2].copy_from_slice(&u16::to_le_bytes(word));
        }
        let first_list = if lists > 0 { lists_start as u32 } else { CHAIN_END };
        let own = [
            (44, table_sectors as u32),
            (56, MINI_STREAM_BYTES as u32),
            (68, first_list),
            (72, lists as u32),
        ];
        for (at, value) in own.iter().chain(fields) {
            header[*at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        header.extend(ids(in_header, 1));
        header.truncate(SECTOR_BYTES);
        let mut file = Content::bytes(header);
        let sector = SECTOR_BYTES as u64;
        file.append_aligned(sector, self.content);
        file.append_aligned(sector, Content::bytes(ids(&self.table, table_sectors)));
        file.append_aligned(sector, Content::bytes(list_bytes));
        file
    }
}

/// An entry of the directory.
struct Entry {
    name: Vec<u16>,
    kind: u8,
    color: u8,
    left: u32,
    right: u32,
    child: u32,
    class: [u8; 16],
    start: u32,
    size: u64,
}

impl Entry {
    /// Returns an entry with this name that is not used yet.
    fn new(name: &str) -> Entry {
        let name = name.encode_utf16().collect();
        let (left, right, child) = (NO_ENTRY, NO_ENTRY, NO_ENTRY);
        Entry { name, kind: 0, color: BLACK, left, right, child, class: [0; 16], start: 0, size: 0 }
    }

    fn encode(&self) -> Vec<u8> {
        let units = self.name.len();
        assert!(units <= NAME_UNITS_MAX, "all names of streams are the engine's own");
        let mut out: Vec<u8> = self.name.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        out.resize(64, 0);
        let name_bytes = if units == 0 { 0 } else { units as u16 * 2 + 2 };
        out.extend(name_bytes.to_le_bytes());
        out.extend([self.kind, if self.kind == 0 { RED } else { self.color }]);
        for id in [self.left, self.right, self.child] {
            out.extend(id.to_le_bytes());
        }
        out.extend(self.class);
        // Flags and times.
        out.resize(116, 0);
        out.extend(self.start.to_le_bytes());
        out.extend(self.size.to_le_bytes());
        assert_eq!(out.len(), ENTRY_BYTES);
        out
    }
}

#[cfg(test)]
#[path = "compound_file_tests.rs"]
pub(crate) mod tests;
