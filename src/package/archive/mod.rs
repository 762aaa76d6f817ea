//! Archives of packages: tar with gzip or xz, zip, Debian's ar, images of squashfs, and cabinets in
//! compound files. All of them are reproducible: entries are sorted by path, all times are
//! [`EPOCH_SECONDS`], owners are root.

mod cabinet;
mod compound_file;
mod deb;
mod md5;
mod parallel_deflate;
mod squashfs;
mod tar;
mod zip;

pub use cabinet::{CABINET_BYTES_MAX, cabinet};
pub use compound_file::{compound_file, find_streams};
pub use deb::write_deb;
pub use md5::Md5;
pub use squashfs::squashfs_image;
pub use tar::{Compression, write_tar_gz, write_tar_xz};
pub use zip::write_zip;

use engine_foundation::compact_sort::CompactSort;
use engine_foundation::file_access;
use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::path::PathBuf;

/// Time of all entries: the first day of 1980, the oldest that a zip archive can have.
pub const EPOCH_SECONDS: u64 = 315_532_800;
/// Maximum size of an entry and of an archive in bytes: more does not fit into a FAT file system,
/// or into an archive or an executable with sizes of 32 bits.
pub const ENTRY_BYTES_MAX: u64 = u32::MAX as u64;
/// Maximum length of a path in an archive in bytes, without the folder around all of them.
pub const ENTRY_PATH_BYTES_MAX: usize = 150;

/// The content of an entry: pieces, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Content {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Bytes(Vec<u8>),
    /// A file and its size in bytes. It is read when the archive is written.
    File(PathBuf, u64),
}

impl Content {
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Content {
        Content { pieces: vec![Piece::Bytes(bytes.into())] }
    }

    /// Returns the content of a file of that many bytes.
    pub fn file(path: impl Into<PathBuf>, bytes: u64) -> Content {
        Content { pieces: vec![Piece::File(path.into(), bytes)] }
    }

    /// Appends zeros up to a multiple of `alignment`, and then another content.
    pub fn append_aligned(&mut self, alignment: u64, content: Content) {
        let gap = self.len().next_multiple_of(alignment) - self.len();
        self.pieces.push(Piece::Bytes(vec![0; gap as usize]));
        self.pieces.extend(content.pieces);
    }

    /// Returns the size in bytes.
    pub fn len(&self) -> u64 {
        let piece_len = |piece: &Piece| match piece {
            Piece::Bytes(bytes) => bytes.len() as u64,
            Piece::File(_, bytes) => *bytes,
        };
        self.pieces.iter().map(piece_len).sum()
    }

    /// Writes the content.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, or if its size has changed.
    pub fn write_to(&self, out: &mut impl Write) -> Result<()> {
        for piece in &self.pieces {
            match piece {
                Piece::Bytes(bytes) => out.write_all(bytes)?,
                Piece::File(path, bytes) => {
                    let file = file_access::open_named(path)
                        .map_err(|reason| Error::other(format!("{}: {reason}", path.display())))?;
                    let copied = std::io::copy(&mut file.take(*bytes), out)?;
                    if copied != *bytes {
                        let message = format!("{} was changed meanwhile", path.display());
                        return Err(Error::new(ErrorKind::UnexpectedEof, message));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The files of an archive, by their paths. Folders are implied by the paths.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    entries: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub content: Content,
    /// True if the file can be started as a program.
    pub executable: bool,
}

impl Archive {
    /// Adds a file. Panics if there is one of that path already, or if its path is too long:
    /// [`super::file_names`] limits all parts of paths that are not fixed.
    pub fn add(&mut self, path: impl Into<String>, content: Content) {
        self.insert(path.into(), Entry { content, executable: false });
    }

    /// Adds a program.
    pub fn add_program(&mut self, path: impl Into<String>, content: Content) {
        self.insert(path.into(), Entry { content, executable: true });
    }

    fn insert(&mut self, path: String, entry: Entry) {
        assert!(path.len() <= ENTRY_PATH_BYTES_MAX, "'{path}' is too long");
        let old = self.entries.insert(path, entry);
        assert!(old.is_none(), "two entries have the same path");
    }

    /// Returns the files, sorted by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    /// Returns the paths of all folders above the files, sorted, each with a `/` at its end.
    pub fn folders(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        for path in self.entries.keys() {
            found.extend(path.match_indices('/').map(|(at, _)| &path[..=at]));
        }
        found.sort_compact();
        found.dedup();
        found
    }

    /// Returns an error if a file is too large for some archives or file systems.
    pub fn check_sizes(&self) -> std::result::Result<(), String> {
        match self.files().find(|(_, entry)| entry.content.len() > ENTRY_BYTES_MAX) {
            None => Ok(()),
            Some((path, entry)) => Err(format!(
                "{path} has {} bytes, and 4 GiB is the most (ENTRY_BYTES_MAX): archives, FAT file \
                 systems and executables of Windows cannot have more. Leave files out with \
                 bundle.exclude or bundle.reachable in settings.sjson, or compress textures",
                entry.content.len()
            )),
        }
    }
}

/// An output that counts the bytes that are written to it.
pub struct Counted<W> {
    out: W,
    pub bytes: u64,
}

impl<W: Write> Counted<W> {
    pub fn new(out: W) -> Counted<W> {
        Counted { out, bytes: 0 }
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush()
    }
}

/// Readers of the archives in installers.
#[cfg(test)]
pub mod test_readers {
    pub use super::cabinet::tests::read_cabinet;
    pub use super::compound_file::tests::read_compound_file;
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
