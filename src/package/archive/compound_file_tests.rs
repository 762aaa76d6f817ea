//! Tests of compound files, with a reader of their own.

use super::super::cabinet::tests::noise;
use super::*;
use std::collections::BTreeMap;

/// Reads a compound file: all streams of the root with their names. Panics at everything that is
/// not as the format demands.
pub fn read_compound_file(bytes: &[u8]) -> BTreeMap<Vec<u16>, Vec<u8>> {
    let file = FileReader { bytes };
    assert!(bytes.starts_with(&MAGIC) && bytes.len().is_multiple_of(SECTOR_BYTES));
    let mut table = file.table();
    let directory = file.chain(&table, file.word(48));
    // All sectors behind the chains are the table's own.
    let of_table: Vec<usize> =
        (0..table.len()).filter(|at| matches!(table[*at], TABLE | TABLE_LIST)).collect();
    assert_eq!(of_table.len() as u32, file.word(44) + file.word(72));
    table.truncate(bytes.len() / SECTOR_BYTES - 1);
    assert!(!table.contains(&FREE));
    let root = &directory[..ENTRY_BYTES];
    let at = |entry: &[u8], at: usize| u32::from_le_bytes(entry[at..at + 4].try_into().unwrap());
    assert_eq!((root[66], at(root, 120) as usize % MINI_SECTOR_BYTES), (ROOT, 0));
    let mini = file.chain(&table, at(root, 116));
    let mini_table: Vec<u32> = numbers(&file.chain(&table, file.word(60)));
    let mut found = BTreeMap::new();
    let mut names = Vec::new();
    let mut visit = |id: u32| {
        let entry = &directory[id as usize * ENTRY_BYTES..][..ENTRY_BYTES];
        let (start, size) = (at(entry, 116), at(entry, 120) as usize);
        let units = usize::from(entry[64]) / 2 - 1;
        let name: Vec<u16> = entry[..units * 2]
            .as_chunks::<2>()
            .0
            .iter()
            .map(|unit| u16::from_le_bytes(*unit))
            .collect();
        assert_eq!((entry[65], entry[66]), (0, STREAM));
        let mut content = if size as u64 >= MINI_STREAM_BYTES {
            file.chain(&table, start)
        } else {
            follow(&mini_table, start)
                .flat_map(|at| mini[at * MINI_SECTOR_BYTES..][..MINI_SECTOR_BYTES].to_vec())
                .collect()
        };
        assert!(content.len() - size < SECTOR_BYTES);
        content.truncate(size);
        names.push(order(&name));
        found.insert(name, content);
    };
    visit_tree(&directory, at(root, 76), false, &mut visit);
    assert!(names.is_sorted(), "names are in the order of the tree");
    found
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn follow(table: &[u32], start: u32) -> impl Iterator<Item = usize> {
    let next = |at: &u32| Some(table[*at as usize]).filter(|next| *next != CHAIN_END);
    std::iter::successors(Some(start).filter(|at| *at != CHAIN_END), next).map(|at| at as usize)
}

/// Visits the entries of a tree in order, and returns the number of black ones on each path.
fn visit_tree(directory: &[u8], id: u32, below_red: bool, visit: &mut impl FnMut(u32)) -> u32 {
    if id == NO_ENTRY {
        return 0;
    }
    let entry = &directory[id as usize * ENTRY_BYTES..][..ENTRY_BYTES];
    let links = numbers(&entry[68..80]);
    let is_red = entry[67] == RED;
    assert!(!(below_red && is_red), "red entries have no red child");
    let left = visit_tree(directory, links[0], is_red, visit);
    visit(id);
    let right = visit_tree(directory, links[1], is_red, visit);
    assert_eq!((left, links[2]), (right, NO_ENTRY), "all paths have the same black entries");
    left + u32::from(!is_red)
}

struct FileReader<'a> {
    bytes: &'a [u8],
}

impl FileReader<'_> {
    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap())
    }

    fn sector(&self, id: usize) -> &[u8] {
        &self.bytes[(id + 1) * SECTOR_BYTES..][..SECTOR_BYTES]
    }

    fn chain(&self, table: &[u32], start: u32) -> Vec<u8> {
        follow(table, start).flat_map(|at| self.sector(at).to_vec()).collect()
    }

    fn table(&self) -> Vec<u32> {
        let mut sectors = numbers(&self.bytes[76..SECTOR_BYTES]);
        let (mut list, lists) = (self.word(68), self.word(72));
        for _ in 0..lists {
            let ids = numbers(self.sector(list as usize));
            sectors.extend(&ids[..IDS_PER_SECTOR - 1]);
            list = ids[IDS_PER_SECTOR - 1];
        }
        assert_eq!(list, CHAIN_END);
        sectors.retain(|id| *id != FREE);
        assert_eq!(sectors.len() as u32, self.word(44));
        sectors.iter().flat_map(|id| numbers(self.sector(*id as usize))).collect()
    }
}

fn bytes_of(content: &Content) -> Vec<u8> {
    let mut bytes = Vec::new();
    content.write_to(&mut bytes).unwrap();
    assert_eq!(bytes.len() as u64, content.len());
    bytes
}

fn name(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

#[test]
fn streams_of_all_sizes_are_read_back() {
    // The header lists the table of the last size but one, and the last one needs two lists.
    let sizes = [0, 1, 63, 64, 65, 4095, 4096, 4097, 7_100_000, 17_000_000];
    for large in sizes {
        let contents: Vec<(Vec<u16>, Vec<u8>)> =
            [0, 64, large].iter().map(|size| (name(&format!("s{size}")), noise(*size))).collect();
        let wanted: BTreeMap<Vec<u16>, Vec<u8>> = contents.into_iter().collect();
        let streams = wanted.iter().map(|(name, it)| (name.clone(), Content::bytes(it.clone())));
        let file = bytes_of(&compound_file(&[7; 16], streams.collect()));
        assert!(read_compound_file(&file) == wanted, "{large}");
    }
}

#[test]
fn trees_of_all_sizes_are_balanced() {
    for count in 0..70 {
        let stream = |at: usize| (name(&format!("s{}", at * 71 % 97)), Content::bytes("x"));
        let streams = (0..count).map(stream);
        let file = bytes_of(&compound_file(&[0; 16], streams.collect()));
        assert_eq!(read_compound_file(&file).len(), count);
    }
}

#[test]
fn streams_are_found_by_their_entries() {
    let names = ["\u{5}DigitalSignature", "Other"].map(name);
    let streams = names.iter().map(|name| (name.clone(), Content::bytes(noise(5000))));
    let file = bytes_of(&compound_file(&[0; 16], streams.collect()));
    let lost = name("Digital");
    let find = |bytes: &[u8]| find_streams(bytes, [&names[0], &lost, &names[1]]).unwrap();
    assert_eq!(find(&file), [true, false, true]);
    assert_eq!(find(&file[..file.len() / 2]), [false; 3]);
    assert_eq!(find(&[b"MZ", &file[2..]].concat()), [false; 3]);
    assert_eq!(find(&[]), [false; 3]);
}
