//! Making bundles: one file of all the data that a compile left. Reading one is bundle.rs.

use super::bundle::{
    ALIGNMENT, ENGINE, MAGIC, Part, TRAILER_BYTES, VERSION, aligned, formats, trailer,
};
use super::compile::{Progress, read_data};
use super::data_kinds::{PACKAGE, PACKAGE_MEMBERS_MAX, write_members};
use super::folder_data;
use super::index::{Entry, Index};
use super::kind::Kinds;
use super::name::ResourceName;
use super::package::members;
use crate::error;
use crate::foundation::blob::{FRAME_BYTES, Writer};
use crate::foundation::file_access;
use crate::foundation::file_access::readers::{INDEX_BYTES_MAX, size_text};
use crate::foundation::files::disk::Output;
use crate::foundation::hash::{IdString64, murmur64a};
use crate::foundation::{Error, files, output_file};
use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::Path;

/// What a bundle is made of.
pub struct Making<'a> {
    /// What was compiled, for a release.
    pub index: &'a Index,
    /// The folder of compiled data.
    pub data: &'a Path,
    pub kinds: Kinds,
    /// The platform that it is for.
    pub platform: &'a str,
    /// The name of the game's folder.
    pub game: &'a str,
    /// The text of its settings.
    pub settings: &'a str,
    /// Whether the path of a resource's source goes along. No other name does.
    pub keeps_path: fn(&ResourceName) -> bool,
    /// Whether the process was asked to end: then the writing stops, and nothing is left of it.
    pub is_stopped: fn() -> bool,
}

/// How many bytes are written between two looks at whether to stop.
const PIECE_BYTES: usize = 1 << 20;

/// One variant on its way into the bundle.
struct Piece<'a> {
    entry: &'a Entry,
    part: Part,
    /// Data that is made here; the others lie in files.
    made: Option<Vec<u8>>,
}

/// Writes a bundle: its size in bytes.
pub fn make(making: &Making, out: &Path, progress: Progress) -> Result<u64, Error> {
    check_properties(making.index)?;
    let mut pieces = Vec::new();
    for entry in &making.index.entries {
        pieces.push(piece(making, entry)?);
    }
    let key = |piece: &Piece| (piece.part.id, piece.part.properties.clone());
    pieces.sort_by_key(key);
    let mut end = 0;
    for piece in &mut pieces {
        piece.part.start = aligned(end) as u64;
        end = aligned(end) + piece.part.bytes as usize;
    }
    let head = head(making, &pieces);
    if head.len() as u64 > INDEX_BYTES_MAX {
        return Err(error!(
            "the index of the bundle has more than {} (INDEX_BYTES_MAX): have fewer resources",
            size_text(INDEX_BYTES_MAX)
        ));
    }
    let bytes = (aligned(head.len()) + end + TRAILER_BYTES) as u64;
    files::remove_leftovers(out);
    let written =
        output_file::write_by(out, |file| write(making, file, &head, &pieces, bytes, progress));
    let told = |reason| error!("{} cannot be written: {reason}", out.display());
    written.map_err(told).map(|()| bytes)
}

/// Properties are told apart by their hashes alone.
fn check_properties(index: &Index) -> Result<(), Error> {
    let mut known: HashMap<IdString64, &str> = HashMap::new();
    for word in index.entries.iter().flat_map(|entry| entry.properties.words()) {
        let other = known.insert(IdString64::new(word), word);
        if let Some(other) = other.filter(|other| *other != word) {
            return Err(error!("the properties '{other}' and '{word}' share a hash: rename one"));
        }
    }
    Ok(())
}

fn piece<'a>(making: &Making, entry: &'a Entry) -> Result<Piece<'a>, Error> {
    let mut properties: Vec<_> = entry.properties.words().map(IdString64::new).collect();
    properties.sort();
    let made = match entry.resource.kind == PACKAGE.name {
        true => {
            let members = members(making.index, making.data, entry)?;
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
    let bytes = match &made {
        Some(made) => made.len() as u64,
        None => {
            let found = file_access::inspect(making.data, &entry.data);
            let shown = making.data.join(&entry.data);
            found.map_err(|reason| error!("{} is gone: {reason}", shown.display()))?.1.size
        }
    };
    let sum = made.as_ref().map_or(entry.data_content, |made| murmur64a(made, 0));
    let path = &entry.files[0].path;
    let path = if (making.keeps_path)(&entry.resource) { path.clone() } else { String::new() };
    let kind = making.kinds.index_of(&entry.resource.kind).and_then(|at| u8::try_from(at).ok());
    let kind = kind.ok_or_else(|| error!("there is no type '{}'", entry.resource.kind))?;
    let part = Part { id: entry.resource.id(), properties, kind, start: 0, bytes, sum, path };
    Ok(Piece { entry, part, made })
}

fn head(making: &Making, pieces: &[Piece]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.text(ENGINE);
    writer.u64(formats(&making.kinds));
    for text in [making.platform, making.game, making.settings] {
        writer.text(text);
    }
    writer.list(pieces, |writer, Piece { part, .. }| {
        writer.u64(part.id.0);
        writer.list(&part.properties, |writer, word| writer.u64(word.0));
        writer.u8(part.kind);
        for number in [part.start, part.bytes, part.sum] {
            writer.u64(number);
        }
        writer.text(&part.path);
    });
    let framed = writer.framed(MAGIC, VERSION);
    debug_assert!(framed.len() > FRAME_BYTES);
    framed
}

/// Refuses data that nobody could play. It comes from a folder that others can write to: what is
/// refused is removed, so that the next compile makes it again.
fn check(making: &Making, piece: &Piece, data: &[u8]) -> Result<(), String> {
    let kind = making.kinds.0[usize::from(piece.part.kind)];
    (kind.validate)(data).map_err(|fault| {
        let _ = std::fs::remove_file(making.data.join(&piece.entry.data));
        let (name, words) = (&piece.entry.resource, fault.message);
        format!("the compiled data of {name} cannot be used ({words}): try again")
    })
}

fn write(
    making: &Making,
    file: &mut Output,
    head: &[u8],
    pieces: &[Piece],
    bytes: u64,
    progress: Progress,
) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    let pad = |file: &mut BufWriter<_>, length: usize| {
        file.write_all(&[0; ALIGNMENT][..aligned(length) - length])
    };
    file.write_all(head)?;
    pad(&mut file, head.len())?;
    for (i, piece) in pieces.iter().enumerate() {
        let read;
        let data = match &piece.made {
            Some(made) => made,
            None => {
                read = read_data(making.data, &piece.entry.data)?;
                &read
            }
        };
        if data.len() as u64 != piece.part.bytes || murmur64a(data, 0) != piece.part.sum {
            // If it did not change but is damaged, the next compile makes it again. Where that
            // cannot be noted, the next bundle fails with the same words.
            let _ = folder_data::doubt(making.data);
            let name = &piece.entry.resource;
            let words = format!("the compiled data of {name} changed meanwhile: try again");
            return Err(std::io::Error::other(words));
        }
        check(making, piece, data).map_err(std::io::Error::other)?;
        for bytes in data.chunks(PIECE_BYTES) {
            if (making.is_stopped)() {
                return Err(std::io::Error::other("the process was asked to end"));
            }
            file.write_all(bytes)?;
        }
        // The trailer follows the last data at once.
        if i + 1 < pieces.len() {
            pad(&mut file, data.len())?;
        }
        progress(i + 1, pieces.len());
    }
    file.write_all(&trailer(bytes))?;
    file.flush()
}
