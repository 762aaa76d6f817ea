//! Bundles: all of a game's compiled data in one file, which is mapped and read in place. Here are
//! its layout, the checks when it is opened, and the bytes that resources are handed out as. Making
//! one is bundling.rs.
//!
//! A bundle is a framed index (header), the data of every resource at multiples of 16 bytes, and a
//! trailer that says how long all of it is. So it is found from its end, also where it was appended
//! to an executable. Header and index are checked when it is opened, the data of a resource when it
//! is read. It holds hashes in place of names; the paths of scripts stay, for reports of errors.
//!
//! Checksums find damage by chance. Whoever makes a bundle can make them, too, so every number in
//! it is hostile until it is validated.

use super::kind::{Kind, Kinds};
use super::name::is_inside;
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{FRAME_BYTES, Reader, unframe};
use crate::foundation::file_access::readers::{INDEX_BYTES_MAX, size_text};
use crate::foundation::file_access::{self, Refusal};
use crate::foundation::hash::{IdString64, murmur64a};
use crate::foundation::memory::limit;
use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

/// The ending of a bundle's file.
pub const EXTENSION: &str = "bundle";
/// Of the bundle's own format.
pub const VERSION: u32 = 2;
/// What to do about a bundle with data that no compile wrote.
pub const REMEDY: &str = "the bundle is damaged or was made by other software: make it again with \
                          `engine compile --bundle`";
pub(super) const MAGIC: [u8; 4] = *b"EBDL";
/// Every resource's data begins at a multiple of this, from the bundle's start.
pub(super) const ALIGNMENT: usize = 16;
const TRAILER_MAGIC: [u8; 8] = *b"EBDL end";
pub(super) const TRAILER_BYTES: usize = 24;
/// The version of the engine that made a bundle must be the one that plays it.
pub(super) const ENGINE: &str = env!("CARGO_PKG_VERSION");

/// Bytes that nobody changes: in memory of their own, or a part of a mapped file. A copy is cheap.
#[derive(Clone, Debug)]
pub enum Bytes {
    Own(Arc<Vec<u8>>),
    Mapped(Arc<Mmap>, Range<usize>),
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Own(bytes) => bytes,
            Bytes::Mapped(map, range) => &map[range.clone()],
        }
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes::Own(Arc::new(bytes))
    }
}

/// One variant of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Of name and type.
    pub id: IdString64,
    /// Of the words of its variant.
    pub properties: Vec<IdString64>,
    /// Which of the kinds it is of.
    pub(super) kind: u8,
    /// From the start of the data.
    pub(super) start: u64,
    pub(super) bytes: u64,
    /// Murmur64A of the data.
    pub(super) sum: u64,
    /// The source's path, of scripts alone; empty otherwise.
    pub path: String,
}

/// An open bundle.
#[derive(Debug)]
pub struct Bundle {
    map: Arc<Mmap>,
    data: Range<usize>,
    kinds: Kinds,
    /// The name of the folder that it was made of.
    pub game: String,
    /// The game's settings, as settings.sjson has them.
    pub settings: String,
    /// In order of their ids, base variants first.
    parts: Vec<Part>,
    /// The ids of the parts, close together: they are searched at every look-up.
    ids: Vec<IdString64>,
}

/// What must be as it was when the bundle was made, beside the engine's version: the formats of all
/// kinds of resources.
pub(super) fn formats(kinds: &Kinds) -> u64 {
    let line = |kind: &&super::kind::Kind| format!("{} {}\n", kind.name, kind.version);
    murmur64a(kinds.0.iter().map(line).collect::<String>().as_bytes(), 0)
}

/// Where data that must be aligned can begin, at `at` or after.
pub(super) fn aligned(at: usize) -> usize {
    at.next_multiple_of(ALIGNMENT)
}

/// The trailer of a bundle that has `bytes` bytes with it.
pub(super) fn trailer(bytes: u64) -> [u8; TRAILER_BYTES] {
    let mut out = [0; TRAILER_BYTES];
    out[..8].copy_from_slice(&TRAILER_MAGIC);
    out[8..16].copy_from_slice(&bytes.to_le_bytes());
    let sum = murmur64a(&out[..16], VERSION.into());
    out[16..].copy_from_slice(&sum.to_le_bytes());
    out
}

/// Where a file is, or has at its end, a bundle: its start and its bytes.
fn find(file: &mut File) -> std::io::Result<Option<(u64, u64)>> {
    let all = file.metadata()?.len();
    if all < TRAILER_BYTES as u64 {
        return Ok(None);
    }
    let mut end = [0; TRAILER_BYTES];
    file.seek(SeekFrom::End(-(TRAILER_BYTES as i64)))?;
    file.read_exact(&mut end)?;
    let bytes = u64::from_le_bytes(end[8..16].try_into().expect("eight bytes"));
    let found = end == trailer(bytes) && (TRAILER_BYTES as u64..=all).contains(&bytes);
    Ok(found.then(|| (all - bytes, bytes)))
}

/// Whether a file is meant as a bundle: by its name, its beginning or its end. One that cannot be
/// read is none.
pub fn is_meant(path: &Path) -> bool {
    let named = path.extension().is_some_and(|extension| extension == EXTENSION);
    let mut file = match file_access::open_named(path) {
        Ok(file) => file,
        // A pipe of that name is told as a bundle that cannot be played.
        Err(refusal) => return named && matches!(refusal, Refusal::Special),
    };
    let mut start = [0; 4];
    named
        || (file.read_exact(&mut start).is_ok() && start == MAGIC)
        || find(&mut file).is_ok_and(|found| found.is_some())
}

impl Bundle {
    /// Opens a bundle, or a file that has one at its end.
    pub fn open(path: &Path, kinds: &Kinds, platform: &str) -> Result<Bundle, Error> {
        let shown = path.display();
        let told = |words: String| error!("the bundle '{shown}' cannot be played: {words}");
        let mut file = file_access::open_named(path).map_err(|reason| told(reason.to_string()))?;
        match find(&mut file).map_err(|reason| told(reason.to_string()))? {
            Some(place) => {
                Bundle::map(&file, place, kinds, platform).map_err(|words| told(words.message))
            }
            None => Err(told(why_not(&mut file))),
        }
    }

    /// Opens the bundle at the end of the running executable, if there is one.
    pub fn of_executable(kinds: &Kinds, platform: &str) -> Option<Result<Bundle, Error>> {
        // An executable that cannot be opened for reading has nothing to play.
        let mut file = file_access::open_named(&std::env::current_exe().ok()?).ok()?;
        let place = find(&mut file).ok()??;
        let told = |error: Error| error!("this game cannot be played: {}", error.message);
        Some(Bundle::map(&file, place, kinds, platform).map_err(told))
    }

    fn map(
        file: &File,
        (start, bytes): (u64, u64),
        kinds: &Kinds,
        platform: &str,
    ) -> Result<Bundle, Error> {
        let too_long = |_| error!("it is too long to be mapped: {bytes} bytes");
        let length = usize::try_from(bytes).map_err(too_long)?;
        // SAFETY: nothing is written through the map. That nobody else changes the file meanwhile
        // is what every mapped file asks for, executables and their libraries too; a changed byte
        // is found by the checksums or harms only what is made of it, for all reads are checked.
        let map = unsafe { MmapOptions::new().offset(start).len(length).map(file) }
            .map_err(|reason| error!("it cannot be mapped: {reason}"))?;
        Bundle::read_index(Arc::new(map), kinds, platform)
    }

    fn read_index(map: Arc<Mmap>, kinds: &Kinds, platform: &str) -> Result<Bundle, Error> {
        let end = map.len() - TRAILER_BYTES;
        let framed = frame(&map[..end])?;
        let mut reader = Reader::new(unframe(framed, MAGIC, VERSION)?);
        let engine = reader.text()?;
        if engine != ENGINE {
            return Err(error!(
                "it was made by version {engine} of the engine, and this is version {ENGINE}: make \
                 it anew with `engine compile --bundle` of this version"
            ));
        }
        if reader.u64()? != formats(kinds) {
            return Err(error!(
                "it was made by another build of the engine, with other formats of data: make it \
                 anew with `engine compile --bundle` of this build"
            ));
        }
        let made_for = reader.text()?;
        if made_for != platform {
            return Err(error!(
                "it is for {made_for}, and this is {platform}: make it with `--platform {platform}`"
            ));
        }
        let (game, settings) = (reader.text()?.to_string(), reader.text()?.to_string());
        let parts = reader.list(read_part)?;
        reader.end()?;
        let data = aligned(framed.len())..end;
        let room = data.len() as u64;
        let inside = |part: &Part| {
            part.start.checked_add(part.bytes).is_some_and(|end| end <= room)
                && part.start.is_multiple_of(ALIGNMENT as u64)
                && (part.path.is_empty() || is_inside(&part.path))
                && usize::from(part.kind) < kinds.0.len()
        };
        let sorted = parts.is_sorted_by(|a, b| (a.id, &a.properties) < (b.id, &b.properties));
        if !sorted || data.start > end || !parts.iter().all(inside) {
            return Err(error!("it is damaged: its index leads out of it"));
        }
        // Each part follows the one before it. Parts that shared bytes would be read and checked
        // more often than the file is long.
        let mut next = Some(0);
        for part in &parts {
            if next != Some(part.start) {
                return Err(error!("it is damaged: its parts overlap, or have gaps between them"));
            }
            next = (part.start + part.bytes).checked_next_multiple_of(ALIGNMENT as u64);
        }
        let ids = parts.iter().map(|part| part.id).collect();
        Ok(Bundle { map, data, kinds: *kinds, game, settings, parts, ids })
    }

    /// Every variant of every resource.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The variants of a resource: their positions among the parts.
    pub fn variants(&self, id: IdString64) -> Range<usize> {
        let start = self.ids.partition_point(|known| *known < id);
        let count = self.ids[start..].iter().take_while(|known| **known == id).count();
        start..start + count
    }

    /// The kind that a part is of.
    pub fn kind(&self, part: usize) -> &'static Kind {
        // The index was checked when the bundle was opened.
        self.kinds.0[usize::from(self.parts[part].kind)]
    }

    /// The data of a part, validated.
    pub fn read(&self, part: usize) -> Result<Bytes, Error> {
        let Part { start, bytes, sum, .. } = self.parts[part];
        let start = self.data.start + start as usize;
        let range = start..start + bytes as usize;
        if murmur64a(&self.map[range.clone()], 0) != sum {
            return Err(error!("the bundle is damaged: get it anew"));
        }
        (self.kind(part).validate)(&self.map[range.clone()]).map_err(|error| {
            match error.is_fault || error.is_passing || limit::is_shortage(&error) {
                true => error,
                false => error!("{}: {REMEDY}", error.message),
            }
        })?;
        Ok(Bytes::Mapped(self.map.clone(), range))
    }
}

/// The header with the index, by the length that it gives itself.
fn frame(bytes: &[u8]) -> Result<&[u8], Error> {
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

fn read_part(reader: &mut Reader) -> Result<Part, Error> {
    Ok(Part {
        id: IdString64(reader.u64()?),
        properties: reader.list(|reader| reader.u64().map(IdString64))?,
        kind: reader.u8()?,
        start: reader.u64()?,
        bytes: reader.u64()?,
        sum: reader.u64()?,
        path: reader.text()?.to_string(),
    })
}

/// Why a file has no bundle's end.
fn why_not(file: &mut File) -> String {
    let mut start = Vec::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| {
        let piece = file.take(MAGIC.len() as u64);
        { piece }.read_to_end(&mut start)
    });
    match read {
        Err(reason) => format!("it cannot be read: {reason}"),
        Ok(0) => "the file is empty".to_string(),
        Ok(_) if start == MAGIC => {
            "it is cut short: its end is not there. Copy it anew".to_string()
        }
        Ok(_) => "it is something else: bundles are made with `engine compile FOLDER --bundle \
                  --out FILE`, and a game's folder is played as it is"
            .to_string(),
    }
}
