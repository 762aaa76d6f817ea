//! Writing bundles: one file with all data of a compile. The reader is in bundle.rs.

use super::bundle::{
    ALIGNMENT, BundledVariant, ENGINE, MAGIC, TRAILER_BYTES, VERSION, align_up, formats_hash,
    trailer,
};
use super::compile::{OnCompileProgress, read_data};
use super::data_resources::{PACKAGE, PACKAGE_MEMBERS_MAX, write_members};
use super::folder_data;
use super::index::{IndexEntry, ResourceIndex};
use super::package::members;
use super::redirects;
use super::resource_kind::ResourceKinds;
use super::resource_name::ResourceName;
use engine_foundation::atomic_file::disk::DiskOutput;
use engine_foundation::blob::{BlobWriter, FRAME_BYTES};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::file_access;
use engine_foundation::file_access::readers::{INDEX_BYTES_MAX, size_text};
use engine_foundation::hash::{IdString64, murmur64a};
use engine_foundation::{Error, atomic_file, output_file};
use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Inputs and options of a bundle.
pub struct BundleOptions<'a> {
    /// Index of the data that was compiled for a release.
    pub index: &'a ResourceIndex,
    /// The folder of compiled data.
    pub data: &'a Path,
    pub kinds: ResourceKinds,
    /// Platform that the bundle is for.
    pub platform: &'a str,
    /// Name of the game's folder.
    pub game: &'a str,
    /// Text of the game's settings.
    pub settings: &'a str,
    /// Returns true if the bundle keeps the path of the resource's source. It keeps no other names.
    pub keeps_path: fn(&ResourceName) -> bool,
    /// Returns true if the process was asked to end. Writing then stops and leaves no file behind.
    pub is_stopped: fn() -> bool,
}

/// Number of bytes written between two checks of `is_stopped`.
const PIECE_BYTES: usize = 1 << 20;

/// One variant to be written into the bundle.
struct BundlePart<'a> {
    entry: &'a IndexEntry,
    part: BundledVariant,
    /// Data that the bundle writer creates; other data is in files.
    generated: Option<Vec<u8>>,
}

/// Writes a bundle and returns its size in bytes.
pub fn write_bundle(
    options: &BundleOptions,
    out: &Path,
    progress: OnCompileProgress,
) -> Result<u64, Error> {
    check_properties(options.index)?;
    let mut pieces = Vec::new();
    for entry in &options.index.entries {
        pieces.push(plan_part(options, entry)?);
    }
    let key = |piece: &BundlePart| (piece.part.id, piece.part.properties.clone());
    pieces.sort_compact_by_key(key);
    let mut end = 0;
    for piece in &mut pieces {
        piece.part.start = align_up(end) as u64;
        end = align_up(end) + piece.part.bytes as usize;
    }
    let head = encode_index(options, &pieces);
    if head.len() as u64 > INDEX_BYTES_MAX {
        return Err(error!(
            "the index of the bundle has more than {} (INDEX_BYTES_MAX): have fewer resources",
            size_text(INDEX_BYTES_MAX)
        ));
    }
    let bytes = (align_up(head.len()) + end + TRAILER_BYTES) as u64;
    atomic_file::remove_leftovers(out);
    let written =
        output_file::write_by(out, |file| write(options, file, &head, &pieces, bytes, progress));
    let write_error = |reason| error!("{} cannot be written: {reason}", out.display());
    written.map_err(write_error).map(|()| bytes)
}

/// Refuses two properties with the same hash, because a bundle distinguishes properties by hash
/// alone.
fn check_properties(index: &ResourceIndex) -> Result<(), Error> {
    let mut known: HashMap<IdString64, &str> = HashMap::new();
    for word in index.entries.iter().flat_map(|entry| entry.properties.properties()) {
        let other = known.insert(IdString64::new(word), word);
        if let Some(other) = other.filter(|other| *other != word) {
            return Err(error!("the properties '{other}' and '{word}' share a hash: rename one"));
        }
    }
    Ok(())
}

fn plan_part<'a>(options: &BundleOptions, entry: &'a IndexEntry) -> Result<BundlePart<'a>, Error> {
    let mut properties: Vec<_> = entry.properties.properties().map(IdString64::new).collect();
    properties.sort_compact();
    let generated = match entry.resource.kind == PACKAGE.name {
        true => {
            let members = members(options.index, options.kinds, options.data, entry)?;
            if members.len() > PACKAGE_MEMBERS_MAX {
                return Err(error!(
                    "{}: a package has at most {PACKAGE_MEMBERS_MAX} members \
                     (PACKAGE_MEMBERS_MAX), got {}: make two packages",
                    entry.files[0].path,
                    members.len()
                ));
            }
            let ids: Vec<_> = members.iter().map(|name| name.id()).collect();
            Some(write_members(&ids))
        }
        false => None,
    };
    let bytes = match &generated {
        Some(generated) => generated.len() as u64,
        None => {
            let found = file_access::inspect(options.data, &entry.data);
            let display_path = options.data.join(&entry.data);
            found.map_err(|reason| error!("{} is gone: {reason}", display_path.display()))?.1.size
        }
    };
    let sum = generated.as_ref().map_or(entry.data_content, |generated| murmur64a(generated, 0));
    let path = &entry.files[0].path;
    let path = if (options.keeps_path)(&entry.resource) { path.clone() } else { String::new() };
    let kind = options.kinds.index_of(&entry.resource.kind).and_then(|at| u8::try_from(at).ok());
    let kind = kind.ok_or_else(|| error!("there is no type '{}'", entry.resource.kind))?;
    let part =
        BundledVariant { id: entry.resource.id(), properties, kind, start: 0, bytes, sum, path };
    Ok(BundlePart { entry, part, generated })
}

fn encode_index(options: &BundleOptions, pieces: &[BundlePart]) -> Vec<u8> {
    let mut writer = BlobWriter::default();
    writer.text(ENGINE);
    writer.u64(formats_hash(&options.kinds));
    for text in [options.platform, options.game, options.settings] {
        writer.text(text);
    }
    writer.list(pieces, |writer, BundlePart { part, .. }| {
        writer.u64(part.id.0);
        writer.list(&part.properties, |writer, word| writer.u64(word.0));
        writer.u8(part.kind);
        for number in [part.start, part.bytes, part.sum] {
            writer.u64(number);
        }
        writer.text(&part.path);
    });
    // Only those that lead to a resource of the bundle.
    let ends = &options.index.redirects;
    let ends = ends.iter().filter(|(_, end)| !options.index.variants(end).is_empty());
    let ids = redirects::ids(&ends.cloned().collect::<Vec<_>>());
    writer.list(&ids, |writer, (old, new)| {
        writer.u64(old.0);
        writer.u64(new.0);
    });
    let framed = writer.into_frame(MAGIC, VERSION);
    debug_assert!(framed.len() > FRAME_BYTES);
    framed
}

/// Refuses data that the engine could not open. The data comes from a folder that other programs
/// can write to. Refused data is removed, so that the next compile writes it again.
fn check(options: &BundleOptions, piece: &BundlePart, data: &[u8]) -> Result<(), String> {
    let kind = options.kinds.0[usize::from(piece.part.kind)];
    (kind.validate)(data).map_err(|error| {
        let _ = std::fs::remove_file(options.data.join(&piece.entry.data));
        let (name, message) = (&piece.entry.resource, error.message);
        format!("the compiled data of {name} cannot be used ({message}): try again")
    })
}

fn write(
    options: &BundleOptions,
    file: &mut DiskOutput,
    head: &[u8],
    pieces: &[BundlePart],
    bytes: u64,
    progress: OnCompileProgress,
) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    let pad = |file: &mut BufWriter<_>, length: usize| {
        file.write_all(&[0; ALIGNMENT][..align_up(length) - length])
    };
    file.write_all(head)?;
    pad(&mut file, head.len())?;
    for (i, piece) in pieces.iter().enumerate() {
        let read;
        let data = match &piece.generated {
            Some(generated) => generated,
            None => {
                read = read_data(options.data, &piece.entry.data)?;
                &read
            }
        };
        if data.len() as u64 != piece.part.bytes || murmur64a(data, 0) != piece.part.sum {
            // If the data did not change but is damaged, the next compile writes it again. If the
            // marker cannot be written, the next bundle fails with the same message.
            let _ = folder_data::mark_damaged(options.data);
            let name = &piece.entry.resource;
            let message = format!("the compiled data of {name} changed meanwhile: try again");
            return Err(std::io::Error::other(message));
        }
        check(options, piece, data).map_err(std::io::Error::other)?;
        for bytes in data.chunks(PIECE_BYTES) {
            if (options.is_stopped)() {
                return Err(std::io::Error::other("the process was asked to end"));
            }
            file.write_all(bytes)?;
        }
        // The trailer follows the last data without padding.
        if i + 1 < pieces.len() {
            pad(&mut file, data.len())?;
        }
        progress(i + 1, pieces.len());
    }
    file.write_all(&trailer(bytes))?;
    file.flush()
}
