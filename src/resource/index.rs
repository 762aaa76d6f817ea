//! The index of compiled data: the source files and dependencies of each compiled resource, and the
//! references between resources. Every compile writes the index next to the data; the next compile
//! and the game read it.

use super::engine_stamp::engine_stamp;
use super::resource_kind::{SourceForm, kind_names};
use super::resource_name::{ResourceName, is_inside};
use super::variant::VariantProperties;
use engine_foundation::Error;
use engine_foundation::blob::{BlobReader, BlobWriter, unframe};
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::error;
use engine_foundation::error::{MORE_ERRORS, messages};
use engine_foundation::file_access::FileState;
use std::collections::BTreeSet;

/// File name of the index in the folder of compiled data.
pub const FILE: &str = "index";
const MAGIC: [u8; 4] = *b"EIDX";
/// Version of the index's own format.
pub const VERSION: u32 = 6;

/// Path, state and content hash of a file at the time it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    /// Path relative to the game's folder.
    pub path: String,
    pub state: FileState,
    /// Murmur64A hash of the file's content.
    pub content: u64,
}

impl FileStamp {
    /// Returns true if an equal state implies equal content. Programs can set every time stamp
    /// except the time of the last status change, which some file systems do not keep. A missing
    /// file has no times.
    pub fn identifies_content(&self) -> bool {
        self.state.changed != 0 || self.is_missing()
    }

    /// Returns true if there was no such file, or none that can be opened.
    pub fn is_missing(&self) -> bool {
        self.state == FileState::default()
    }
}

/// One compiled variant of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    pub resource: ResourceName,
    /// Properties of the variant, without platforms: the compile has already selected the platform.
    pub properties: VariantProperties,
    pub form: SourceForm,
    /// Version of the kind's compiled format.
    pub kind_version: u32,
    /// File name of the compiled data, and the Murmur64A hash of its content.
    pub data: String,
    pub data_content: u64,
    /// The source first, then every file that its compile read.
    pub files: Vec<FileStamp>,
    /// Resources that the source refers to.
    pub references: Vec<ResourceName>,
}

impl IndexEntry {
    /// Returns the end of the message for a resource of another kind that has the name of this one
    /// and does not exist.
    pub fn same_name_hint(&self, wanted_kind: &str) -> String {
        let (kind, path) = (&self.resource.kind, &self.files[0].path);
        // The data of a model is in a file next to that of the model.
        match wanted_kind == kind_names::MODEL && kind == kind_names::BINARY {
            true => format!(
                ", but a binary of that name: if '{path}' is the data of a .gltf file, that file \
                 is missing"
            ),
            false => format!(", but a {kind} of that name"),
        }
    }
}

/// One variant of a resource that could not be compiled. It is not compiled again until a file that
/// was read for it changes, or another engine compiles it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedVariant {
    pub resource: ResourceName,
    pub properties: VariantProperties,
    pub form: SourceForm,
    pub kind_version: u32,
    /// The source first, then every file that its compile read or tried to read.
    pub files: Vec<FileStamp>,
    /// Error message of the failed compile.
    pub message: String,
}

/// Index of all compiled variants, in order of name, base variants first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceIndex {
    pub entries: Vec<IndexEntry>,
    /// Variants that could not be compiled, in the same order as the entries.
    pub broken: Vec<FailedVariant>,
    /// Resources that the last compile could not compile, sorted by name, each with its error
    /// message. Older data of such a resource may exist.
    pub failed: Vec<(ResourceName, String)>,
    /// Old names of resources, each with its resource, sorted by the old name.
    pub redirects: Vec<(ResourceName, ResourceName)>,
}

impl ResourceIndex {
    /// Encodes the index as the bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_of(engine_stamp())
    }

    /// Encodes the index of an engine.
    fn to_bytes_of(&self, engine: u64) -> Vec<u8> {
        let mut writer = BlobWriter::default();
        writer.list(&self.entries, write_entry);
        // Without failures, the bytes do not depend on the engine.
        writer.u64(if self.broken.is_empty() { 0 } else { engine });
        writer.list(&self.broken, write_failed_variant);
        writer.list(&self.failed, |writer, (name, message)| {
            write_name(writer, name);
            writer.text(message);
        });
        writer.list(&self.redirects, |writer, (old, new)| {
            write_name(writer, old);
            write_name(writer, new);
        });
        writer.into_frame(MAGIC, VERSION)
    }

    /// Decodes an index, without the failures that another engine has found. The error message
    /// names the defect. A game's folder can contain an index that no compile wrote, so every
    /// invariant that callers rely on is checked here.
    pub fn from_bytes(bytes: &[u8]) -> Result<ResourceIndex, Error> {
        let mut reader = BlobReader::new(unframe(bytes, MAGIC, VERSION)?);
        let entries = reader.list(read_entry)?;
        let engine = reader.u64()?;
        let broken = reader.list(read_failed_variant)?;
        let failed = reader.list(|reader| Ok((read_name(reader)?, reader.text()?.to_string())))?;
        let redirects = reader.list(|reader| Ok((read_name(reader)?, read_name(reader)?)))?;
        reader.end()?;
        let mut index = ResourceIndex { entries, broken, failed, redirects };
        index.check()?;
        if engine != engine_stamp() {
            index.broken.clear();
        }
        Ok(index)
    }

    /// Refuses unsorted lists, because lookups use binary search. Refuses data paths outside the
    /// index's own folder: the name of a data file is a hash of 16 digits.
    fn check(&self) -> Result<(), Error> {
        let entries = |a: &IndexEntry, b: &IndexEntry| {
            (&a.resource, &a.properties) < (&b.resource, &b.properties)
        };
        let broken = |a: &FailedVariant, b: &FailedVariant| {
            (&a.resource, &a.properties) < (&b.resource, &b.properties)
        };
        if !self.entries.is_sorted_by(entries)
            || !self.broken.is_sorted_by(broken)
            || !self.failed.is_sorted_by(|a, b| a.0 < b.0)
            || !self.redirects.is_sorted_by(|a, b| a.0 < b.0)
        {
            return Err(error!("it is damaged: its lists are out of order"));
        }
        if let Some((old, _)) = self.redirects.iter().find(|(old, new)| old.kind != new.kind) {
            return Err(error!("it is damaged: it redirects {old} to another type"));
        }
        for entry in &self.entries {
            if entry.data != data_name(&entry.resource, &entry.properties) {
                return Err(error!("it is damaged: it has another file for {}", entry.resource));
            }
        }
        let of_entries = self.entries.iter().map(|entry| (&entry.resource, &entry.files));
        let of_broken = self.broken.iter().map(|failed| (&failed.resource, &failed.files));
        for (resource, files) in of_entries.chain(of_broken) {
            if files.is_empty() || files.iter().any(|stamp| !is_inside(&stamp.path)) {
                return Err(error!(
                    "it is damaged: the files of {resource} are not in the game's folder"
                ));
            }
        }
        Ok(())
    }

    /// Sorts the entries and the variants that could not be compiled.
    pub fn sort(&mut self) {
        let order = |a: &IndexEntry, b: &IndexEntry| {
            (&a.resource, &a.properties).cmp(&(&b.resource, &b.properties))
        };
        self.entries.sort_compact_by(order);
        let order = |a: &FailedVariant, b: &FailedVariant| {
            (&a.resource, &a.properties).cmp(&(&b.resource, &b.properties))
        };
        self.broken.sort_compact_by(order);
    }

    /// Removes the data of earlier versions of sources that could not be compiled, so that only the
    /// sources as they are now are known.
    pub fn remove_old_data(&mut self) {
        let (broken, failed) = (&self.broken, &self.failed);
        self.entries.retain(|entry| {
            if failed.binary_search_by(|it| it.0.cmp(&entry.resource)).is_err() {
                return true;
            }
            let from = broken.partition_point(|it| it.resource < entry.resource);
            let of_resource =
                || broken[from..].iter().take_while(|it| it.resource == entry.resource);
            // A failure that is not kept, such as of reading, does not name its variant.
            let is_named = of_resource().next().is_some();
            is_named && of_resource().all(|it| it.properties != entry.properties)
        });
    }

    /// Returns the error message of a resource that the last compile could not compile.
    pub fn failure(&self, resource: &ResourceName) -> Option<&str> {
        let at = self.failed.binary_search_by(|(name, _)| name.cmp(resource)).ok()?;
        Some(&self.failed[at].1)
    }

    /// Returns the resource of an old name.
    pub fn redirected(&self, old: &ResourceName) -> Option<&ResourceName> {
        let at = self.redirects.binary_search_by(|(name, _)| name.cmp(old)).ok()?;
        Some(&self.redirects[at].1)
    }

    /// Adds the old names of changed resources: what was loaded under one of them changes, too.
    pub fn add_old_names(&self, changed: &mut Vec<ResourceName>) {
        if self.redirects.is_empty() {
            return;
        }
        let known: std::collections::HashSet<&ResourceName> = changed.iter().collect();
        let olds = self.redirects.iter().filter(|(_, new)| known.contains(new));
        let olds: Vec<ResourceName> = olds.map(|(old, _)| old.clone()).collect();
        changed.extend(olds);
    }

    /// Returns the variants of a resource.
    pub fn variants(&self, resource: &ResourceName) -> &[IndexEntry] {
        let start = self.entries.partition_point(|entry| entry.resource < *resource);
        let count = self.entries[start..].partition_point(|entry| entry.resource == *resource);
        &self.entries[start..start + count]
    }

    /// Returns the entries that a reference can mean. A string in a script can name a resource of
    /// any type ([`ResourceName::matches`]).
    pub fn named_by(&self, reference: &ResourceName) -> Vec<&IndexEntry> {
        if !reference.kind.is_empty() {
            return self.variants(reference).iter().collect();
        }
        let mut names: BTreeSet<ResourceName> = BTreeSet::new();
        names.extend(ResourceName::parse(&reference.name));
        names.insert(ResourceName::new(kind_names::LUA, &reference.name.replace('.', "/")));
        let mut at = 0;
        while let Some(IndexEntry { resource, .. }) = self.entries.get(at) {
            names.insert(ResourceName::new(&resource.kind, &reference.name));
            at += self.entries[at..].partition_point(|entry| entry.resource.kind == resource.kind);
        }
        names.iter().flat_map(|name| self.variants(name)).collect()
    }
}

/// Returns the file name of compiled data: a hash of the resource's name, with the properties
/// before the type.
pub fn data_name(resource: &ResourceName, properties: &VariantProperties) -> String {
    let name = match properties.is_base() {
        true => resource.name.clone(),
        false => format!("{}.{properties}", resource.name),
    };
    ResourceName::new(&resource.kind, &name).id().to_string()
}

fn write_name(writer: &mut BlobWriter, name: &ResourceName) {
    writer.text(&name.kind);
    writer.text(&name.name);
}

fn read_name(reader: &mut BlobReader) -> Result<ResourceName, Error> {
    Ok(ResourceName::new(reader.text()?, reader.text()?))
}

fn write_stamps(writer: &mut BlobWriter, stamps: &[FileStamp]) {
    writer.list(stamps, |writer, stamp| {
        writer.text(&stamp.path);
        let FileState { size, modified, changed, inode } = stamp.state;
        for number in [size, modified, changed, inode, stamp.content] {
            writer.u64(number);
        }
    });
}

fn read_stamps(reader: &mut BlobReader) -> Result<Vec<FileStamp>, Error> {
    reader.list(|reader| {
        let path = reader.text()?.to_string();
        let (size, modified) = (reader.u64()?, reader.u64()?);
        let (changed, inode) = (reader.u64()?, reader.u64()?);
        let state = FileState { size, modified, changed, inode };
        Ok(FileStamp { path, state, content: reader.u64()? })
    })
}

fn read_properties(reader: &mut BlobReader) -> Result<VariantProperties, Error> {
    let properties = reader.text()?.split('.').filter(|word| !word.is_empty());
    VariantProperties::of(properties).map_err(|word| {
        engine_foundation::error!("it is damaged: the property '{word}' appears twice")
    })
}

fn read_form(reader: &mut BlobReader) -> Result<SourceForm, Error> {
    reader.choice(&[SourceForm::Own, SourceForm::Raw])
}

fn write_entry(writer: &mut BlobWriter, entry: &IndexEntry) {
    write_name(writer, &entry.resource);
    writer.text(&entry.properties.to_string());
    writer.u8((entry.form == SourceForm::Raw) as u8);
    writer.u32(entry.kind_version);
    writer.text(&entry.data);
    writer.u64(entry.data_content);
    write_stamps(writer, &entry.files);
    writer.list(&entry.references, write_name);
}

fn read_entry(reader: &mut BlobReader) -> Result<IndexEntry, Error> {
    Ok(IndexEntry {
        resource: read_name(reader)?,
        properties: read_properties(reader)?,
        form: read_form(reader)?,
        kind_version: reader.u32()?,
        data: reader.text()?.to_string(),
        data_content: reader.u64()?,
        files: read_stamps(reader)?,
        references: reader.list(read_name)?,
    })
}

fn write_failed_variant(writer: &mut BlobWriter, failed_variant: &FailedVariant) {
    write_name(writer, &failed_variant.resource);
    writer.text(&failed_variant.properties.to_string());
    writer.u8((failed_variant.form == SourceForm::Raw) as u8);
    writer.u32(failed_variant.kind_version);
    write_stamps(writer, &failed_variant.files);
    writer.text(&failed_variant.message);
}

fn read_failed_variant(reader: &mut BlobReader) -> Result<FailedVariant, Error> {
    Ok(FailedVariant {
        resource: read_name(reader)?,
        properties: read_properties(reader)?,
        form: read_form(reader)?,
        kind_version: reader.u32()?,
        files: read_stamps(reader)?,
        message: reader.text()?.to_string(),
    })
}

/// Returns the first of the errors of a file. The compiler has reported all of them.
pub(super) fn first_error(message: &str) -> String {
    let all = messages(message);
    match all.len() - 1 {
        0 => message.to_string(),
        _ if all[all.len() - 1].ends_with(MORE_ERRORS) => format!("{} ({MORE_ERRORS})", all[0]),
        1 => format!("{} (and one more error)", all[0]),
        more => format!("{} (and {more} more errors)", all[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(size: u64) -> FileState {
        FileState { size, modified: 2, changed: 3, inode: 4 }
    }

    fn sample() -> ResourceIndex {
        let entry = |name: &str, properties: &str| {
            let resource = ResourceName::new("texture", name);
            let properties = properties.split('.').filter(|word| !word.is_empty());
            let properties = VariantProperties::of(properties).unwrap();
            IndexEntry {
                data: data_name(&resource, &properties),
                resource,
                properties,
                form: SourceForm::Raw,
                kind_version: 3,
                data_content: 7,
                files: vec![FileStamp { path: "a.png".into(), state: state(1), content: 3 }],
                references: vec![ResourceName::new("shader", "core/gui")],
            }
        };
        let entries = vec![entry("a", ""), entry("a", "fr"), entry("b", "")];
        let failed = vec![(ResourceName::new("texture", "c"), "c.png: it is cut short".into())];
        let broken = vec![FailedVariant {
            resource: ResourceName::new("texture", "c"),
            properties: VariantProperties::of(["fr"].into_iter()).unwrap(),
            form: SourceForm::Own,
            kind_version: 4,
            files: vec![FileStamp { path: "c.png".into(), state: state(5), content: 7 }],
            message: "c.png: it is cut short".into(),
        }];
        let redirects =
            vec![(ResourceName::new("texture", "old"), ResourceName::new("texture", "a"))];
        ResourceIndex { entries, broken, failed, redirects }
    }

    #[test]
    fn data_of_earlier_versions_is_removed_by_its_variant() {
        let mut index = sample();
        let names = |index: &ResourceIndex| -> Vec<String> {
            let name = |it: &IndexEntry| format!("{} [{}]", it.resource.name, it.properties);
            index.entries.iter().map(name).collect()
        };
        index.remove_old_data();
        assert_eq!(names(&index), ["a []", "a [fr]", "b []"], "only c has failed");
        let message = "it is cut short".to_string();
        for name in ["a", "b"] {
            index.failed.push((ResourceName::new("texture", name), message.clone()));
        }
        let a = ResourceName::new("texture", "a");
        index.broken.push(FailedVariant { resource: a, ..index.broken[0].clone() });
        index.failed.sort();
        index.sort();
        index.remove_old_data();
        // The variant of b that has failed is not known.
        assert_eq!(names(&index), ["a []"]);
    }

    #[test]
    fn references_find_all_entries_that_they_match() {
        let mut index = sample();
        for (kind, name) in [("lua", "a"), ("lua", "game/enemy"), ("unit", "a"), ("unit", "b.c")] {
            let resource = ResourceName::new(kind, name);
            index.entries.push(IndexEntry { resource, ..index.entries[0].clone() });
        }
        index.entries.sort_by(|a, b| a.resource.cmp(&b.resource));
        for (kind, name) in [
            ("", "a"),
            ("", "a.unit"),
            ("", "game.enemy"),
            ("", "game/enemy"),
            ("", "b.c"),
            ("", "none"),
            ("texture", "a"),
            ("unit", "none"),
        ] {
            let reference = ResourceName::new(kind, name);
            let all = index.entries.iter();
            let wanted: Vec<_> = all.filter(|it| reference.matches(&it.resource)).collect();
            assert_eq!(index.named_by(&reference), wanted, "{reference}");
        }
    }

    #[test]
    fn failures_of_another_engine_are_tried_again() {
        let index = sample();
        let of_other = index.to_bytes_of(engine_stamp() ^ 1);
        let read = ResourceIndex::from_bytes(&of_other).unwrap();
        assert_eq!((read.broken.len(), &read.entries), (0, &index.entries));
        assert_eq!(read.failed, index.failed, "until the next compile, the message is known");
        let without = ResourceIndex { broken: Vec::new(), ..index };
        assert_eq!(without.to_bytes_of(1), without.to_bytes_of(2));
    }

    #[test]
    fn an_index_survives_a_round_trip_and_finds_names() {
        let index = sample();
        let read = ResourceIndex::from_bytes(&index.to_bytes()).unwrap();
        assert_eq!(read, index);
        assert_eq!(read.variants(&ResourceName::new("texture", "a")).len(), 2);
        assert!(read.variants(&ResourceName::new("texture", "c")).is_empty());
        let old = ResourceName::new("texture", "old");
        assert_eq!(read.redirected(&old), Some(&ResourceName::new("texture", "a")));
        let mut changed = vec![ResourceName::new("texture", "a")];
        read.add_old_names(&mut changed);
        assert_eq!(changed[1..], [old]);
        assert_eq!(read.failure(&ResourceName::new("texture", "a")), None);
        let message = read.failure(&ResourceName::new("texture", "c"));
        assert_eq!(message, Some("c.png: it is cut short"));
    }

    #[test]
    fn an_impossible_index_is_refused_with_a_message() {
        let check = |change: fn(&mut ResourceIndex), wanted: &str| {
            let mut index = sample();
            change(&mut index);
            // The checksum is valid.
            let message = ResourceIndex::from_bytes(&index.to_bytes()).unwrap_err().message;
            assert_eq!(message, format!("it is damaged: {wanted}"));
        };
        check(|index| index.entries.swap(0, 2), "its lists are out of order");
        check(|index| index.broken.push(index.broken[0].clone()), "its lists are out of order");
        check(|index| index.failed.push(index.failed[0].clone()), "its lists are out of order");
        check(
            |index| index.redirects.push(index.redirects[0].clone()),
            "its lists are out of order",
        );
        check(
            |index| index.redirects[0].1.kind = "lua".into(),
            "it redirects old.texture to another type",
        );
        let other = "it has another file for a.texture";
        check(|index| index.entries[0].data = "../../secret".into(), other);
        check(|index| index.entries[1].data = index.entries[0].data.clone(), other);
        let elsewhere = "the files of a.texture are not in the game's folder";
        check(|index| index.entries[0].files.clear(), elsewhere);
        check(|index| index.entries[1].files[0].path = "/etc/passwd".into(), elsewhere);
        check(
            |index| index.broken[0].files[0].path = "../c.png".into(),
            "the files of c.texture are not in the game's folder",
        );
    }
}
