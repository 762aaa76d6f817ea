//! Images of the read-only file system squashfs 4.0, which AppImages contain. Blocks are compressed
//! by zlib, which all programs that mount such images know. There are no fragments, no attributes
//! and no table for export.
//!
//! Source: the headers of the Linux kernel, `fs/squashfs/squashfs_fs.h`.

use super::{Archive, Content, ENTRY_BYTES_MAX, EPOCH_SECONDS};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::collections::BTreeMap;
use std::io::{Error, Result, Write};

/// Size of a block of data in bytes, and its logarithm.
const BLOCK_BYTES: usize = 1 << BLOCK_LOG;
const BLOCK_LOG: u16 = 17;
/// Size of a block of inodes or of folders in bytes.
const METADATA_BYTES: usize = 8192;
/// Size of the block at the start in bytes.
const SUPERBLOCK_BYTES: usize = 96;
/// Images end at a multiple of this, as devices do.
const PADDING_BYTES: usize = 4096;
/// Maximum number of entries after one header in a folder's list.
const ENTRIES_MAX: usize = 256;
/// Maximum length of a folder's list in bytes: a field of 16 bits, which counts three more.
const LIST_BYTES_MAX: usize = u16::MAX as usize - 3;

const GZIP: u16 = 1;
/// There are no fragments and no attributes.
const FLAGS: u16 = 0x10 | 0x200;
/// The reference to a table or a fragment that does not exist.
const NONE: u64 = u64::MAX;
/// The bit of a block's size that says that the block is not compressed.
const STORED: u32 = 1 << 24;
const METADATA_STORED: u16 = 1 << 15;

const FOLDER: u16 = 1;
const FILE: u16 = 2;
const LINK: u16 = 3;

/// Returns an image with the files of an archive. `links` are further paths and their targets.
/// Everything belongs to root.
///
/// # Errors
/// Returns an error if a file cannot be read, or if the image would have more than 4 GiB.
pub fn squashfs_image(archive: &Archive, links: &[(String, String)]) -> Result<Vec<u8>> {
    let mut root = BTreeMap::new();
    for (path, entry) in archive.files() {
        insert(&mut root, path, Node::File(&entry.content, entry.executable));
    }
    for (path, target) in links {
        insert(&mut root, path, Node::Link(target));
    }
    let mut writer = ImageWriter {
        image: vec![0; SUPERBLOCK_BYTES],
        inodes: MetadataWriter::default(),
        lists: MetadataWriter::default(),
        count: 0,
    };
    // Numbers of folders are known before those of their content, which refers to them.
    let number = writer.next_number();
    let parent = count(&root) + 2;
    let found = writer.write_folder(&root, number, parent)?;
    writer.finish(found)
}

/// A file, a folder or a link.
enum Node<'a> {
    /// The content, and whether it is a program.
    File(&'a Content, bool),
    Folder(BTreeMap<&'a str, Node<'a>>),
    Link(&'a str),
}

/// Adds a node to the folders on its path. Panics if two nodes have the same path: all paths are
/// the engine's own.
fn insert<'a>(folder: &mut BTreeMap<&'a str, Node<'a>>, path: &'a str, node: Node<'a>) {
    let (name, rest) = path.split_once('/').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let Some(rest) = rest else {
        assert!(folder.insert(name, node).is_none(), "two entries have the path '{path}'");
        return;
    };
    match folder.entry(name).or_insert_with(|| Node::Folder(BTreeMap::new())) {
        Node::Folder(inner) => insert(inner, rest, node),
        _ => panic!("'{path}' is below a file"),
    }
}

/// Returns the number of nodes below a folder.
fn count(folder: &BTreeMap<&str, Node>) -> u32 {
    let of_node = |node: &Node| match node {
        Node::Folder(inner) => 1 + count(inner),
        _ => 1,
    };
    folder.values().map(of_node).sum()
}

/// A written inode, as folders refer to it.
struct WrittenInode {
    kind: u16,
    number: u32,
    /// Start of its block in the table, after compression.
    block: u32,
    /// Its position in the block, before compression.
    offset: u16,
}

struct ImageWriter {
    /// The image so far: the data of files.
    image: Vec<u8>,
    inodes: MetadataWriter,
    lists: MetadataWriter,
    count: u32,
}

impl ImageWriter {
    fn next_number(&mut self) -> u32 {
        self.count += 1;
        self.count
    }

    /// Writes the start of an inode, and returns how folders refer to it.
    fn begin_inode(&mut self, kind: u16, mode: u16, number: u32) -> Result<WrittenInode> {
        let (block, offset) = self.inodes.position();
        let block = u32::try_from(block).map_err(|_| too_large())?;
        // The first identifier is that of root, as user and as group.
        for field in [kind, mode, 0, 0] {
            self.inodes.write(&field.to_le_bytes())?;
        }
        self.inodes.write(&(EPOCH_SECONDS as u32).to_le_bytes())?;
        self.inodes.write(&number.to_le_bytes())?;
        Ok(WrittenInode { kind, number, block, offset })
    }

    fn write_numbers(&mut self, numbers: &[u32]) -> Result<()> {
        numbers.iter().try_for_each(|number| self.inodes.write(&number.to_le_bytes()))
    }

    fn write_node(&mut self, node: &Node, parent: u32) -> Result<WrittenInode> {
        let number = self.next_number();
        match node {
            Node::Folder(inner) => self.write_folder(inner, number, parent),
            Node::Link(target) => {
                let inode = self.begin_inode(LINK, 0o777, number)?;
                self.write_numbers(&[1, target.len() as u32])?;
                self.inodes.write(target.as_bytes())?;
                Ok(inode)
            }
            Node::File(content, executable) => {
                let bytes = u32::try_from(content.len()).map_err(|_| too_large())?;
                let start = u32::try_from(self.image.len()).map_err(|_| too_large())?;
                let mut blocks = BlockWriter::new(&mut self.image);
                content.write_to(&mut blocks)?;
                let sizes = blocks.finish()?;
                let mode = if *executable { 0o755 } else { 0o644 };
                let inode = self.begin_inode(FILE, mode, number)?;
                self.write_numbers(&[start, u32::MAX, 0, bytes])?;
                self.write_numbers(&sizes)?;
                Ok(inode)
            }
        }
    }

    fn write_folder(
        &mut self,
        folder: &BTreeMap<&str, Node>,
        number: u32,
        parent: u32,
    ) -> Result<WrittenInode> {
        let mut entries = Vec::new();
        for (name, node) in folder {
            entries.push((*name, self.write_node(node, number)?));
        }
        let (block, offset) = self.lists.position();
        let list = list_of(&entries);
        if list.len() > LIST_BYTES_MAX {
            return Err(Error::other("a folder has too many files for an AppImage"));
        }
        self.lists.write(&list)?;
        let folders = entries.iter().filter(|(_, inode)| inode.kind == FOLDER).count();
        let inode = self.begin_inode(FOLDER, 0o755, number)?;
        let block = u32::try_from(block).map_err(|_| too_large())?;
        self.write_numbers(&[block, folders as u32 + 2])?;
        for field in [list.len() as u16 + 3, offset] {
            self.inodes.write(&field.to_le_bytes())?;
        }
        self.write_numbers(&[parent])?;
        Ok(inode)
    }

    fn finish(self, root: WrittenInode) -> Result<Vec<u8>> {
        let ImageWriter { mut image, inodes, lists, count } = self;
        let inodes_start = image.len() as u64;
        image.extend(inodes.finish()?);
        let lists_start = image.len() as u64;
        image.extend(lists.finish()?);
        let ids_start = image.len() as u64;
        let mut ids = MetadataWriter::default();
        ids.write(&0u32.to_le_bytes())?;
        image.extend(ids.finish()?);
        let ids_table = image.len() as u64;
        image.extend(ids_start.to_le_bytes());
        let used = image.len() as u64;
        if used > ENTRY_BYTES_MAX {
            return Err(too_large());
        }
        let mut head = Vec::from(*b"hsqs");
        for word in [count, EPOCH_SECONDS as u32, BLOCK_BYTES as u32, 0] {
            head.extend(word.to_le_bytes());
        }
        // Compression, flags, the number of identifiers, and version 4.0.
        for field in [GZIP, BLOCK_LOG, FLAGS, 1, 4, 0] {
            head.extend(field.to_le_bytes());
        }
        let root = u64::from(root.block) << 16 | u64::from(root.offset);
        for field in [root, used, ids_table, NONE, inodes_start, lists_start, NONE, NONE] {
            head.extend(field.to_le_bytes());
        }
        image[..SUPERBLOCK_BYTES].copy_from_slice(&head);
        image.resize(image.len().next_multiple_of(PADDING_BYTES), 0);
        Ok(image)
    }
}

fn too_large() -> Error {
    Error::other("the AppImage would have more than 4 GiB (ENTRY_BYTES_MAX)")
}

/// Returns the list of a folder. Entries after one header are in the same block of inodes, and have
/// numbers near that of the header.
fn list_of(entries: &[(&str, WrittenInode)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = entries;
    while let Some((_, first)) = rest.first() {
        let difference = |inode: &WrittenInode| {
            i16::try_from(i64::from(inode.number) - i64::from(first.number)).ok()
        };
        let fits = |inode: &WrittenInode| inode.block == first.block && difference(inode).is_some();
        let length = rest.iter().take(ENTRIES_MAX).take_while(|(_, inode)| fits(inode)).count();
        for word in [length as u32 - 1, first.block, first.number] {
            out.extend(word.to_le_bytes());
        }
        for (name, inode) in &rest[..length] {
            out.extend(inode.offset.to_le_bytes());
            out.extend(difference(inode).expect("it fits").to_le_bytes());
            out.extend(inode.kind.to_le_bytes());
            out.extend((name.len() as u16 - 1).to_le_bytes());
            out.extend(name.as_bytes());
        }
        rest = &rest[length..];
    }
    out
}

/// Returns compressed bytes; `None` if they are not smaller.
fn compressed(bytes: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(Some(encoder.finish()?).filter(|packed| packed.len() < bytes.len()))
}

/// Writes the blocks of a file, and keeps their sizes.
struct BlockWriter<'a> {
    out: &'a mut Vec<u8>,
    block: Vec<u8>,
    sizes: Vec<u32>,
}

impl BlockWriter<'_> {
    fn new(out: &mut Vec<u8>) -> BlockWriter<'_> {
        BlockWriter { out, block: Vec::new(), sizes: Vec::new() }
    }

    fn write_block(&mut self) -> Result<()> {
        let packed = compressed(&self.block)?;
        let size = match &packed {
            Some(packed) => packed.len() as u32,
            None => self.block.len() as u32 | STORED,
        };
        self.sizes.push(size);
        self.out.extend(packed.as_deref().unwrap_or(&self.block));
        self.block.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u32>> {
        if !self.block.is_empty() {
            self.write_block()?;
        }
        Ok(self.sizes)
    }
}

impl Write for BlockWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let taken = bytes.len().min(BLOCK_BYTES - self.block.len());
        self.block.extend(&bytes[..taken]);
        if self.block.len() == BLOCK_BYTES {
            self.write_block()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Writes a table of blocks of [`METADATA_BYTES`], of which each is compressed.
#[derive(Default)]
struct MetadataWriter {
    out: Vec<u8>,
    block: Vec<u8>,
}

impl MetadataWriter {
    /// Returns the start of the current block in the table, and the position in the block.
    fn position(&self) -> (usize, u16) {
        (self.out.len(), self.block.len() as u16)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = rest.len().min(METADATA_BYTES - self.block.len());
            self.block.extend(&rest[..taken]);
            rest = &rest[taken..];
            if self.block.len() == METADATA_BYTES {
                self.write_block()?;
            }
        }
        Ok(())
    }

    fn write_block(&mut self) -> Result<()> {
        let packed = compressed(&self.block)?;
        let size = match &packed {
            Some(packed) => packed.len() as u16,
            None => self.block.len() as u16 | METADATA_STORED,
        };
        self.out.extend(size.to_le_bytes());
        self.out.extend(packed.as_deref().unwrap_or(&self.block));
        self.block.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>> {
        if !self.block.is_empty() {
            self.write_block()?;
        }
        Ok(self.out)
    }
}

#[cfg(test)]
#[path = "squashfs_tests.rs"]
mod tests;
