//! The cache of parsed references, so that a warm start reads only changed files. It is trusted for
//! a file only if the file's state identifies its content. A cache that is damaged is empty.

use super::graph::FileNode;
use super::{Certainty, FORMS, Reference};
use engine_foundation::Error;
use engine_foundation::atomic_file;
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::error;
use engine_foundation::file_access::{self, FileState, readers};
use engine_foundation::sjson::TextSpan;
use engine_resource::engine_stamp::engine_stamp;
use std::path::Path;

const MAGIC: [u8; 4] = *b"EREF";
/// Version of the format, and of what the parsers find.
const VERSION: u32 = 6;
const CERTAINTIES: [Certainty; 3] = [Certainty::Certain, Certainty::Likely, Certainty::Computed];

/// References of files, sorted by path.
#[derive(Default)]
pub struct ReferenceCache(Vec<(String, FileState, Vec<Reference>)>);

impl ReferenceCache {
    /// Reads a cache. One that is missing or damaged is empty.
    pub fn read(path: &Path) -> ReferenceCache {
        let bytes = file_access::read_named(path, &readers::INDEX).unwrap_or_default();
        ReferenceCache::from_bytes(&bytes).unwrap_or_default()
    }

    fn from_bytes(bytes: &[u8]) -> Result<ReferenceCache, Error> {
        let mut reader = BlobReader::new(unframe(bytes, MAGIC, VERSION)?);
        // Another engine can have other kinds, which are bits here, and other rules.
        if reader.u64()? != engine_stamp() {
            return Ok(ReferenceCache::default());
        }
        let rows = reader.list(|reader| {
            let path = reader.text()?.to_string();
            let (size, modified) = (reader.u64()?, reader.u64()?);
            let (changed, inode) = (reader.u64()?, reader.u64()?);
            let state = FileState { size, modified, changed, inode };
            Ok((path, state, reader.list(read_reference)?))
        })?;
        reader.end()?;
        match rows.is_sorted_by(|a: &(String, _, _), b| a.0 < b.0) {
            true => Ok(ReferenceCache(rows)),
            false => Err(error!("it is damaged: its paths are out of order")),
        }
    }

    /// Writes the references of files. If that fails, the next start parses again.
    pub fn write(path: &Path, files: &[FileNode]) {
        let files: Vec<&FileNode> = files.iter().filter(|file| file.problem.is_none()).collect();
        let bytes = ReferenceCache::to_bytes(&files, engine_stamp());
        let is_there = path.parent().is_some_and(Path::is_dir);
        if is_there {
            let _ = atomic_file::write_whole(path, &bytes);
        }
    }

    fn to_bytes(files: &[&FileNode], engine: u64) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.u64(engine);
        writer.list(files, |writer, file| {
            writer.text(&file.path);
            let FileState { size, modified, changed, inode } = file.state;
            [size, modified, changed, inode].into_iter().for_each(|number| writer.u64(number));
            writer.list(&file.references, write_reference);
        });
        writer.into_frame(MAGIC, VERSION)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes the references of a file whose content has not changed out of the cache.
    pub fn take(&mut self, path: &str, state: FileState) -> Option<Vec<Reference>> {
        let at = self.0.binary_search_by(|row| row.0.as_str().cmp(path)).ok()?;
        let (_, known, references) = &mut self.0[at];
        (*known == state && state.changed != 0).then(|| std::mem::take(references))
    }
}

fn write_reference(writer: &mut BlobWriter, reference: &Reference) {
    writer.u64(reference.kinds);
    writer.text(&reference.name);
    writer.u64(reference.span.start as u64);
    writer.u64(reference.span.end as u64);
    writer.u32(reference.line);
    let form = FORMS.iter().position(|form| *form == reference.form).unwrap_or_default();
    let certainty = CERTAINTIES.iter().position(|it| *it == reference.certainty);
    writer.u8(form as u8);
    writer.u8(certainty.unwrap_or_default() as u8);
}

fn read_reference(reader: &mut BlobReader) -> Result<Reference, Error> {
    let kinds = reader.u64()?;
    let name = reader.text()?.to_string();
    let (start, end) = (reader.u64()? as usize, reader.u64()? as usize);
    let line = reader.u32()?;
    let form = reader.choice(&FORMS)?;
    let certainty = reader.choice(&CERTAINTIES)?;
    Ok(Reference { kinds, name, span: TextSpan { start, end }, line, form, certainty })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_of_another_engine_is_empty() {
        let state = FileState { size: 1, modified: 2, changed: 3, inode: 4 };
        let (path, references) = ("a.unit".to_string(), Vec::new());
        let file =
            FileNode { path, state, resource: None, references, problem: None, is_unknown: false };
        let own = ReferenceCache::to_bytes(&[&file], engine_stamp());
        assert_eq!(ReferenceCache::from_bytes(&own).unwrap().len(), 1);
        let other = ReferenceCache::to_bytes(&[&file], engine_stamp() ^ 1);
        assert_eq!(ReferenceCache::from_bytes(&other).unwrap().len(), 0);
        let unsorted = ReferenceCache::to_bytes(&[&file, &file], engine_stamp());
        assert!(ReferenceCache::from_bytes(&unsorted).is_err());
    }
}
