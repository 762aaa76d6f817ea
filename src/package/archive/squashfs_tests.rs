//! Tests of squashfs images, with a reader of their own.

use super::*;
use flate2::read::ZlibDecoder;
use std::io::Read;

/// Reads an image. Panics at everything that is not as the format demands.
struct ImageReader<'a> {
    image: &'a [u8],
}

/// A file, folder or link that was found: mode, and content or target.
type Found = BTreeMap<String, (u16, Vec<u8>)>;

fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    ZlibDecoder::new(bytes).read_to_end(&mut out).unwrap();
    out
}

impl ImageReader<'_> {
    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.image[at..at + 2].try_into().unwrap())
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.image[at..at + 8].try_into().unwrap())
    }

    /// Reads metadata from a position in a table.
    fn metadata(&self, table: u64, block: u32, offset: u16, length: usize) -> Vec<u8> {
        let mut at = table as usize + block as usize;
        let mut out = Vec::new();
        while out.len() < usize::from(offset) + length {
            let size = self.u16(at);
            let length = usize::from(size & !METADATA_STORED);
            let bytes = &self.image[at + 2..at + 2 + length];
            match size & METADATA_STORED {
                0 => out.extend(inflated(bytes)),
                _ => out.extend(bytes),
            }
            at += 2 + length;
        }
        out[offset.into()..usize::from(offset) + length].to_vec()
    }

    fn read_inode(&self, path: &str, block: u32, offset: u16, parent: u32, found: &mut Found) {
        let (inodes, lists) = (self.u64(64), self.u64(72));
        let bytes = |length: usize| self.metadata(inodes, block, offset, length);
        let head = bytes(16);
        let u16_of = |bytes: &[u8], at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let word =
            |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (kind, mode, number) = (u16_of(&head, 0), u16_of(&head, 2), word(&head, 12));
        assert_eq!(word(&head, 8), EPOCH_SECONDS as u32);
        match kind {
            FILE => {
                let size = word(&bytes(32), 28) as usize;
                let blocks = size.div_ceil(BLOCK_BYTES);
                let inode = bytes(32 + blocks * 4);
                assert_eq!(word(&inode, 20), u32::MAX, "no fragment");
                let (mut at, mut content) = (word(&inode, 16) as usize, Vec::new());
                for block in 0..blocks {
                    let size = word(&inode, 32 + block * 4);
                    let length = (size & !STORED) as usize;
                    let bytes = &self.image[at..at + length];
                    match size & STORED {
                        0 => content.extend(inflated(bytes)),
                        _ => content.extend(bytes),
                    }
                    at += length;
                }
                assert_eq!(content.len(), size);
                found.insert(path.to_string(), (mode, content));
            }
            LINK => {
                let length = word(&bytes(24), 20) as usize;
                let target = bytes(24 + length)[24..].to_vec();
                found.insert(path.to_string(), (mode, target));
            }
            FOLDER => {
                let inode = bytes(32);
                assert_eq!(word(&inode, 28), parent, "{path}");
                let length = usize::from(u16_of(&inode, 24)) - 3;
                let list = self.metadata(lists, word(&inode, 16), u16_of(&inode, 26), length);
                self.read_list(path, &list, number, found);
            }
            other => panic!("{path} has the kind {other}"),
        }
    }

    fn read_list(&self, path: &str, list: &[u8], number: u32, found: &mut Found) {
        let u16_at = |at: usize| u16::from_le_bytes([list[at], list[at + 1]]);
        let word = |at: usize| u32::from_le_bytes(list[at..at + 4].try_into().unwrap());
        let (mut at, mut last) = (0, String::new());
        while at < list.len() {
            let (entries, block) = (word(at) + 1, word(at + 4));
            assert!(entries as usize <= ENTRIES_MAX);
            at += 12;
            for _ in 0..entries {
                let (offset, length) = (u16_at(at), usize::from(u16_at(at + 6)) + 1);
                let name = std::str::from_utf8(&list[at + 8..at + 8 + length]).unwrap();
                assert!(*name > *last, "{name} is behind {last}");
                last = name.to_string();
                self.read_inode(&format!("{path}/{name}"), block, offset, number, found);
                at += 8 + length;
            }
        }
    }
}

fn read(image: &[u8]) -> Found {
    let reader = ImageReader { image };
    assert_eq!((&image[..4], image.len() % PADDING_BYTES), (&b"hsqs"[..], 0));
    assert!(reader.u64(40) as usize <= image.len());
    let root = reader.u64(32);
    let count = u32::from_le_bytes(image[4..8].try_into().unwrap());
    let mut found = Found::new();
    reader.read_inode("", (root >> 16) as u32, root as u16, count + 1, &mut found);
    found
}

/// Returns bytes that cannot be compressed.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[test]
fn images_have_all_files_and_links() {
    let mut archive = Archive::default();
    let program = [noise(BLOCK_BYTES), vec![7; BLOCK_BYTES + 5]].concat();
    archive.add_program("usr/bin/yard", Content::bytes(program.clone()));
    archive.add("usr/share/é.txt", Content::bytes("a text"));
    archive.add("usr/share/empty", Content::default());
    let links = [("AppRun".to_string(), "usr/bin/yard".to_string())];
    let image = squashfs_image(&archive, &links).unwrap();
    assert!(image == squashfs_image(&archive, &links).unwrap(), "the bytes differ");
    let found = read(&image);
    let paths: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(paths, ["/AppRun", "/usr/bin/yard", "/usr/share/empty", "/usr/share/é.txt"]);
    assert_eq!(found["/AppRun"], (0o777, b"usr/bin/yard".to_vec()));
    assert!(found["/usr/bin/yard"] == (0o755, program));
    assert_eq!(found["/usr/share/é.txt"], (0o644, b"a text".to_vec()));
    assert_eq!(found["/usr/share/empty"], (0o644, Vec::new()));
}

#[test]
fn folders_with_many_files_have_several_blocks() {
    let mut archive = Archive::default();
    for number in 0..1000 {
        archive.add(format!("many/{number:03}"), Content::bytes(format!("{number}")));
    }
    let found = read(&squashfs_image(&archive, &[]).unwrap());
    assert_eq!(found.len(), 1000);
    assert_eq!(found["/many/999"].1, b"999");
    let mut archive = Archive::default();
    for number in 0..8000 {
        archive.add(format!("{number}"), Content::default());
    }
    let message = squashfs_image(&archive, &[]).unwrap_err().to_string();
    assert_eq!(message, "a folder has too many files for an AppImage");
}

#[test]
fn an_empty_image_has_its_root() {
    assert!(read(&squashfs_image(&Archive::default(), &[]).unwrap()).is_empty());
}

#[test]
fn a_file_that_was_changed_meanwhile_is_an_error() {
    let mut archive = Archive::default();
    archive.add("lost", Content::file("/no/such/file", 5));
    assert!(squashfs_image(&archive, &[]).is_err());
}
