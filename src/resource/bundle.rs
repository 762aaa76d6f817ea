//! Bundles: all compiled data of a game in one file, which is memory-mapped and read in place. This
//! module has the file layout, the checks on opening, and the bytes that are handed out as resource
//! data. The writer is in bundle_writer.rs.
//!
//! A bundle is a framed index (header), the data of every resource at multiples of 16 bytes, and a
//! trailer with the total length. The total length makes it possible to find a bundle from its end,
//! even if it was appended to an executable (bundle_end.rs). Header and index are checked on
//! opening, the data of a resource when it is read. A bundle has hashes instead of names; the paths
//! of scripts are kept for error reports.
//!
//! Checksums detect accidental damage only. An attacker can compute them as well, so every number
//! in a bundle is untrusted until it is validated.

use super::bundle_end::{self, BundleEnd};
use super::resource_kind::{ResourceKind, ResourceKinds};
use super::resource_name::is_inside;
use engine_foundation::blob::{BlobReader, FRAME_BYTES, unframe};
use engine_foundation::error;
use engine_foundation::file_access::readers::{INDEX_BYTES_MAX, size_text};
use engine_foundation::file_access::{self, AccessError};
use engine_foundation::hash::{IdString64, murmur64a};
use engine_foundation::memory::limit;
use engine_foundation::{DEVELOPMENT, Error};
use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

/// File extension of bundles.
pub const EXTENSION: &str = "bundle";
/// Version of the bundle format.
pub const VERSION: u32 = 3;
/// Remedy shown to the user for a bundle with data that no compile wrote.
pub const REMEDY: &str = "the bundle is damaged or was made by other software: make it again with \
                          `engine compile --bundle`";
/// Message for a bundle without its end.
const CUT_SHORT: &str = "it is cut short: its end is missing. Copy it again";
pub(super) const MAGIC: [u8; 4] = *b"EBDL";
/// The data of every resource starts at a multiple of this, measured from the start of the bundle.
pub(super) const ALIGNMENT: usize = 16;
const TRAILER_MAGIC: [u8; 8] = *b"EBDL end";
pub(super) const TRAILER_BYTES: usize = 24;
/// Version of the engine. A bundle can only be played by the version that wrote it.
pub(super) const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// Immutable shared bytes: an allocation, or a part of a mapped file. Cloning is cheap.
#[derive(Clone, Debug)]
pub enum SharedBytes {
    Own(Arc<Vec<u8>>),
    Mapped(Arc<Mmap>, Range<usize>),
}

impl Deref for SharedBytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            SharedBytes::Own(bytes) => bytes,
            SharedBytes::Mapped(map, range) => &map[range.clone()],
        }
    }
}

impl SharedBytes {
    /// Returns a part of the bytes. A part of a mapped file is not copied.
    pub fn part(&self, range: Range<usize>) -> SharedBytes {
        match self {
            SharedBytes::Own(bytes) => SharedBytes::from(bytes[range].to_vec()),
            SharedBytes::Mapped(map, all) => {
                let part = all.start + range.start..all.start + range.end;
                debug_assert!(part.end <= all.end);
                SharedBytes::Mapped(map.clone(), part)
            }
        }
    }
}

impl From<Vec<u8>> for SharedBytes {
    fn from(bytes: Vec<u8>) -> SharedBytes {
        SharedBytes::Own(Arc::new(bytes))
    }
}

/// One variant of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct BundledVariant {
    /// Hash of name and type.
    pub id: IdString64,
    /// Hashes of the variant's properties.
    pub properties: Vec<IdString64>,
    /// Index in the table of kinds.
    pub(super) kind: u8,
    /// Offset from the start of the data.
    pub(super) start: u64,
    pub(super) bytes: u64,
    /// Murmur64A hash of the data.
    pub(super) sum: u64,
    /// Path of the source, for scripts only; otherwise empty.
    pub path: String,
}

/// An open bundle.
#[derive(Debug)]
pub struct Bundle {
    map: Arc<Mmap>,
    data: Range<usize>,
    kinds: ResourceKinds,
    /// Name of the folder that the bundle was built from.
    pub game: String,
    /// The game's settings, as in settings.sjson.
    pub settings: String,
    /// Variants in order of their ids, base variants first.
    parts: Vec<BundledVariant>,
    /// Ids of the parts in a contiguous array, because every lookup searches them.
    ids: Vec<IdString64>,
    /// Ids of old names, each with that of its resource, sorted.
    redirects: Vec<(IdString64, IdString64)>,
}

/// Returns a hash of the formats of all resource kinds. In addition to the engine's version, this
/// hash must match for a bundle to be played.
pub(super) fn formats_hash(kinds: &ResourceKinds) -> u64 {
    let line =
        |kind: &&super::resource_kind::ResourceKind| format!("{} {}\n", kind.name, kind.version);
    murmur64a(kinds.0.iter().map(line).collect::<String>().as_bytes(), 0)
}

/// Returns the first aligned position at or after `at`.
pub(super) fn align_up(at: usize) -> usize {
    at.next_multiple_of(ALIGNMENT)
}

/// Returns the trailer of a bundle of `bytes` bytes, including the trailer.
pub(super) fn trailer(bytes: u64) -> [u8; TRAILER_BYTES] {
    let mut out = [0; TRAILER_BYTES];
    out[..8].copy_from_slice(&TRAILER_MAGIC);
    out[8..16].copy_from_slice(&bytes.to_le_bytes());
    let sum = murmur64a(&out[..16], VERSION.into());
    out[16..].copy_from_slice(&sum.to_le_bytes());
    out
}

/// Returns true if a file is meant as a bundle, judged by its name, its beginning or its end. A
/// file that cannot be read is not a bundle.
pub fn looks_like_bundle(path: &Path) -> bool {
    let named = path.extension().is_some_and(|extension| extension == EXTENSION);
    let mut file = match file_access::open_named(path) {
        Ok(file) => file,
        // A pipe with a bundle's name is reported as a bundle that cannot be played.
        Err(refusal) => return named && matches!(refusal, AccessError::Special),
    };
    let mut start = [0; 4];
    named
        || (file.read_exact(&mut start).is_ok() && start == MAGIC)
        || bundle_end::find(&mut file).is_ok_and(|found| found != BundleEnd::Absent)
}

impl Bundle {
    /// Opens a bundle, or a file with a bundle at its end.
    pub fn open(path: &Path, kinds: &ResourceKinds, platform: &str) -> Result<Bundle, Error> {
        let display_path = path.display();
        let play_error =
            |message: String| error!("the bundle '{display_path}' cannot be played: {message}");
        let mut file =
            file_access::open_named(path).map_err(|reason| play_error(reason.to_string()))?;
        match bundle_end::find(&mut file).map_err(|reason| play_error(reason.to_string()))? {
            BundleEnd::Found(start, bytes) => Bundle::map(&file, (start, bytes), kinds, platform)
                .map_err(|message| play_error(message.message)),
            BundleEnd::CutShort => Err(play_error(CUT_SHORT.to_string())),
            BundleEnd::Absent => Err(play_error(invalid_bundle_message(&mut file))),
        }
    }

    /// Opens the bundle of the running executable, if there is one: at its end, or in the folder of
    /// its application on macOS.
    pub fn from_executable(kinds: &ResourceKinds, platform: &str) -> Option<Result<Bundle, Error>> {
        Bundle::of_executable(&std::env::current_exe().ok()?, kinds, platform)
    }

    fn of_executable(
        path: &Path,
        kinds: &ResourceKinds,
        platform: &str,
    ) -> Option<Result<Bundle, Error>> {
        let play_error = |error: Error| error!("this game cannot be played: {}", error.message);
        // An executable that cannot be opened for reading has no bundle.
        let mut file = file_access::open_named(path).ok()?;
        match bundle_end::find(&mut file).ok()? {
            BundleEnd::Found(start, bytes) => {
                Some(Bundle::map(&file, (start, bytes), kinds, platform).map_err(play_error))
            }
            BundleEnd::CutShort => Some(Err(play_error(error!("{CUT_SHORT}")))),
            BundleEnd::Absent => {
                let bundle = bundle_end::application_bundle(path)?;
                Some(Bundle::open(&bundle, kinds, platform))
            }
        }
    }

    fn map(
        file: &File,
        (start, bytes): (u64, u64),
        kinds: &ResourceKinds,
        platform: &str,
    ) -> Result<Bundle, Error> {
        let too_long = |_| error!("it is too long to be mapped: {bytes} bytes");
        let length = usize::try_from(bytes).map_err(too_long)?;
        // SAFETY: nothing is written through the map. No other process may change the file in the
        // meantime; every mapped file depends on this, including executables and their libraries. A
        // changed byte is detected by the checksums or affects only the result built from it,
        // because all reads are checked.
        let map = unsafe { MmapOptions::new().offset(start).len(length).map(file) }
            .map_err(|reason| error!("it cannot be mapped: {reason}"))?;
        Bundle::read_index(Arc::new(map), kinds, platform)
    }

    fn read_index(map: Arc<Mmap>, kinds: &ResourceKinds, platform: &str) -> Result<Bundle, Error> {
        let end = map.len() - TRAILER_BYTES;
        let framed = index_frame(&map[..end])?;
        let mut reader = BlobReader::new(unframe(framed, MAGIC, VERSION)?);
        let engine = reader.text()?;
        if engine != ENGINE {
            return Err(error!(
                "it was made by version {engine} of the engine, and this is version {ENGINE}: make \
                 it again with `engine compile --bundle` of this version"
            ));
        }
        if reader.u64()? != formats_hash(kinds) {
            return Err(error!(
                "it was made by another build of the engine, with other formats of data: make it \
                 again with `engine compile --bundle` of this build"
            ));
        }
        let bundle_platform = reader.text()?;
        if bundle_platform != platform {
            return Err(error!(
                "it is for {bundle_platform}, and this is {platform}: make it with \
                 `--platform {platform}`"
            ));
        }
        let (game, settings) = (reader.text()?.to_string(), reader.text()?.to_string());
        let parts = reader.list(read_part)?;
        let redirects =
            reader.list(|reader| Ok((IdString64(reader.u64()?), IdString64(reader.u64()?))))?;
        reader.end()?;
        let data = align_up(framed.len())..end;
        let room = data.len() as u64;
        let is_valid = |part: &BundledVariant| {
            part.start.checked_add(part.bytes).is_some_and(|end| end <= room)
                && part.start.is_multiple_of(ALIGNMENT as u64)
                && (part.path.is_empty() || is_inside(&part.path))
                && usize::from(part.kind) < kinds.0.len()
        };
        let sorted = parts.is_sorted_by(|a, b| (a.id, &a.properties) < (b.id, &b.properties));
        let sorted = sorted && redirects.is_sorted_by(|a, b| a.0 < b.0);
        if !sorted || data.start > end || !parts.iter().all(is_valid) {
            return Err(error!("it is damaged: its index leads out of it"));
        }
        // Each part follows the one before it. Overlapping parts would be read and checked for more
        // bytes than the file has.
        let mut next = Some(0);
        for part in &parts {
            if next != Some(part.start) {
                return Err(error!("it is damaged: its parts overlap, or have gaps between them"));
            }
            next = (part.start + part.bytes).checked_next_multiple_of(ALIGNMENT as u64);
        }
        let ids = parts.iter().map(|part| part.id).collect();
        Ok(Bundle { map, data, kinds: *kinds, game, settings, parts, ids, redirects })
    }

    /// Returns all variants of all resources.
    pub fn parts(&self) -> &[BundledVariant] {
        &self.parts
    }

    /// Returns the variants of a resource, as a range of positions among the parts.
    pub fn variants(&self, id: IdString64) -> Range<usize> {
        let start = self.ids.partition_point(|known| *known < id);
        let count = self.ids[start..].iter().take_while(|known| **known == id).count();
        start..start + count
    }

    /// Returns the id of the resource of an old name.
    pub fn redirected(&self, old: IdString64) -> Option<IdString64> {
        let at = self.redirects.binary_search_by_key(&old, |(old, _)| *old).ok()?;
        Some(self.redirects[at].1)
    }

    /// Returns all kinds of resources.
    pub fn kinds(&self) -> ResourceKinds {
        self.kinds
    }

    /// Returns the kind of a part.
    pub fn kind(&self, part: usize) -> &'static ResourceKind {
        // The index was checked when the bundle was opened.
        self.kinds.0[usize::from(self.parts[part].kind)]
    }

    /// Returns the range of a part in the file.
    fn range(&self, part: usize) -> Range<usize> {
        let BundledVariant { start, bytes, .. } = self.parts[part];
        let start = self.data.start + start as usize;
        start..start + bytes as usize
    }

    /// Returns the data of a part without any check: nothing of it is read from the file.
    pub fn unchecked(&self, part: usize) -> SharedBytes {
        SharedBytes::Mapped(self.map.clone(), self.range(part))
    }

    /// Returns the data of a part, after validation.
    pub fn read(&self, part: usize) -> Result<SharedBytes, Error> {
        let (range, sum) = (self.range(part), self.parts[part].sum);
        if murmur64a(&self.map[range.clone()], 0) != sum {
            return Err(error!("the bundle is damaged: get it again"));
        }
        (self.kind(part).validate)(&self.map[range.clone()]).map_err(|error| {
            match error.is_engine_fault || error.is_transient || limit::is_shortage(&error) {
                true => error,
                false => error!("{}: {REMEDY}", error.message),
            }
        })?;
        Ok(SharedBytes::Mapped(self.map.clone(), range))
    }
}

/// Returns the header with the index. The header declares its own length.
fn index_frame(bytes: &[u8]) -> Result<&[u8], Error> {
    let head = bytes.get(..FRAME_BYTES).ok_or_else(|| error!("it is cut short"))?;
    let length = u64::from_le_bytes(head[8..16].try_into().expect("eight bytes"));
    if length > INDEX_BYTES_MAX && length <= bytes.len() as u64 {
        let size = size_text(INDEX_BYTES_MAX);
        return Err(error!("its index is larger than {size} (INDEX_BYTES_MAX)"));
    }
    let length = usize::try_from(length).ok().and_then(|length| length.checked_add(FRAME_BYTES));
    let framed = length.and_then(|length| bytes.get(..length));
    framed.ok_or_else(|| error!("it is damaged: its index is longer than the file"))
}

fn read_part(reader: &mut BlobReader) -> Result<BundledVariant, Error> {
    Ok(BundledVariant {
        id: IdString64(reader.u64()?),
        properties: reader.list(|reader| reader.u64().map(IdString64))?,
        kind: reader.u8()?,
        start: reader.u64()?,
        bytes: reader.u64()?,
        sum: reader.u64()?,
        path: reader.text()?.to_string(),
    })
}

/// Explains why a file has no valid bundle trailer.
fn invalid_bundle_message(file: &mut File) -> String {
    let mut start = Vec::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| {
        let piece = file.take(MAGIC.len() as u64);
        { piece }.read_to_end(&mut start)
    });
    match read {
        Err(reason) => format!("it cannot be read: {reason}"),
        Ok(0) => "the file is empty".to_string(),
        Ok(_) if start == MAGIC => CUT_SHORT.to_string(),
        Ok(_) => other_file_message(DEVELOPMENT).to_string(),
    }
}

/// Returns the message for a file of another kind.
fn other_file_message(plays_folders: bool) -> &'static str {
    match plays_folders {
        true => {
            "it is something else: bundles are made with `engine compile FOLDER --bundle --out \
             FILE`, and a game's folder is played as it is"
        }
        false => {
            "it is something else: an engine for development makes bundles with `engine compile \
             FOLDER --bundle --out FILE`"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_other_files_fit_the_engine() {
        assert!(other_file_message(true).contains("folder is played as it is"));
        let message = other_file_message(false);
        assert!(message.contains("an engine for development") && !message.contains("folder"));
    }
}
