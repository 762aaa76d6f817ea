//! The index of compiled data: what was made of which files, and who names whom. Written beside the
//! data by every compile, read by the next one and by the game.

use super::kind::Form;
use super::name::{ResourceName, is_inside};
use super::variant::Properties;
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::{Reader, Writer, unframe};
use crate::foundation::file_access::FileState;

/// The index's file in the folder of compiled data.
pub const FILE: &str = "index";
const MAGIC: [u8; 4] = *b"EIDX";
/// Of the index's own format.
pub const VERSION: u32 = 4;

/// A file as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// From the game's folder.
    pub path: String,
    pub state: FileState,
    /// Murmur64A of the content.
    pub content: u64,
}

impl Stamp {
    /// True if a file of the same state has the same content. Programs can set every time but that
    /// of the change, which some systems do not keep. A file that is missing has no times.
    pub fn tells_content(&self) -> bool {
        self.state.changed != 0 || self.state == FileState::default()
    }
}

/// One variant of a resource, compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub resource: ResourceName,
    /// Without platforms, which were chosen by the compile.
    pub properties: Properties,
    pub form: Form,
    /// Of the kind's format.
    pub kind_version: u32,
    /// The compiled file, and Murmur64A of what is in it.
    pub data: String,
    pub data_content: u64,
    /// The source first, then every file that its compile read.
    pub files: Vec<Stamp>,
    /// What the source names.
    pub references: Vec<ResourceName>,
}

/// One variant of a resource that could not be compiled: it is not tried again while all that was
/// read for it is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub resource: ResourceName,
    pub properties: Properties,
    pub form: Form,
    pub kind_version: u32,
    /// The source first, then every file that its compile read, or wanted to.
    pub files: Vec<Stamp>,
    /// What is wrong with it.
    pub words: String,
}

/// Everything that was compiled, in order of name, base variants first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Index {
    pub entries: Vec<Entry>,
    /// In the same order.
    pub broken: Vec<Broken>,
    /// What could not be compiled the last time, by name, and why. Older data of it may be there.
    pub failed: Vec<(ResourceName, String)>,
}

impl Index {
    /// The bytes of the index's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.list(&self.entries, write_entry);
        writer.list(&self.broken, write_broken);
        writer.list(&self.failed, |writer, (name, words)| {
            write_name(writer, name);
            writer.text(words);
        });
        writer.framed(MAGIC, VERSION)
    }

    /// Reads an index; the words say what is wrong with it. A game's folder can come with an index
    /// that no compile wrote: all that others rely on is checked here.
    pub fn from_bytes(bytes: &[u8]) -> Result<Index, Error> {
        let mut reader = Reader::new(unframe(bytes, MAGIC, VERSION)?);
        let entries = reader.list(read_entry)?;
        let broken = reader.list(read_broken)?;
        let failed = reader.list(|reader| Ok((read_name(reader)?, reader.text()?.to_string())))?;
        reader.end()?;
        let index = Index { entries, broken, failed };
        index.check()?;
        Ok(index)
    }

    /// Refuses lists out of order, which are searched by halves, and files elsewhere: data lies in
    /// the index's own folder, under a hash of 16 digits.
    fn check(&self) -> Result<(), Error> {
        let entries =
            |a: &Entry, b: &Entry| (&a.resource, &a.properties) < (&b.resource, &b.properties);
        let broken =
            |a: &Broken, b: &Broken| (&a.resource, &a.properties) < (&b.resource, &b.properties);
        if !self.entries.is_sorted_by(entries)
            || !self.broken.is_sorted_by(broken)
            || !self.failed.is_sorted_by(|a, b| a.0 < b.0)
        {
            return Err(error!("it is damaged: its lists are out of order"));
        }
        for entry in &self.entries {
            if entry.data != data_name(&entry.resource, &entry.properties) {
                return Err(error!("it is damaged: it has another file for {}", entry.resource));
            }
        }
        let of_entries = self.entries.iter().map(|entry| (&entry.resource, &entry.files));
        let of_broken = self.broken.iter().map(|broken| (&broken.resource, &broken.files));
        for (resource, files) in of_entries.chain(of_broken) {
            if files.is_empty() || files.iter().any(|stamp| !is_inside(&stamp.path)) {
                return Err(error!(
                    "it is damaged: the files of {resource} are not in the game's folder"
                ));
            }
        }
        Ok(())
    }

    /// Why a resource could not be compiled the last time.
    pub fn failure(&self, resource: &ResourceName) -> Option<&str> {
        let at = self.failed.binary_search_by(|(name, _)| name.cmp(resource)).ok()?;
        Some(&self.failed[at].1)
    }

    /// The variants of a resource.
    pub fn variants(&self, resource: &ResourceName) -> &[Entry] {
        let start = self.entries.partition_point(|entry| entry.resource < *resource);
        let count = self.entries[start..].partition_point(|entry| entry.resource == *resource);
        &self.entries[start..start + count]
    }

    /// The entries that a reference may mean: a string in a script names any type.
    pub fn named_by<'a>(&'a self, reference: &'a ResourceName) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(|entry| reference.means(&entry.resource))
    }
}

/// The name of a compiled file: the hash of the resource's name, its properties before the type.
pub fn data_name(resource: &ResourceName, properties: &Properties) -> String {
    let name = match properties.is_base() {
        true => resource.name.clone(),
        false => format!("{}.{properties}", resource.name),
    };
    ResourceName::new(&resource.kind, &name).id().to_string()
}

fn write_name(writer: &mut Writer, name: &ResourceName) {
    writer.text(&name.kind);
    writer.text(&name.name);
}

fn read_name(reader: &mut Reader) -> Result<ResourceName, Error> {
    Ok(ResourceName::new(reader.text()?, reader.text()?))
}

fn write_stamps(writer: &mut Writer, stamps: &[Stamp]) {
    writer.list(stamps, |writer, stamp| {
        writer.text(&stamp.path);
        let FileState { size, modified, changed, inode } = stamp.state;
        for number in [size, modified, changed, inode, stamp.content] {
            writer.u64(number);
        }
    });
}

fn read_stamps(reader: &mut Reader) -> Result<Vec<Stamp>, Error> {
    reader.list(|reader| {
        let path = reader.text()?.to_string();
        let (size, modified) = (reader.u64()?, reader.u64()?);
        let (changed, inode) = (reader.u64()?, reader.u64()?);
        let state = FileState { size, modified, changed, inode };
        Ok(Stamp { path, state, content: reader.u64()? })
    })
}

fn read_properties(reader: &mut Reader) -> Result<Properties, Error> {
    let words = reader.text()?.split('.').filter(|word| !word.is_empty());
    Properties::of(words)
        .map_err(|word| crate::error!("it is damaged: the property '{word}' is there twice"))
}

fn read_form(reader: &mut Reader) -> Result<Form, Error> {
    reader.choice(&[Form::Own, Form::Raw])
}

fn write_entry(writer: &mut Writer, entry: &Entry) {
    write_name(writer, &entry.resource);
    writer.text(&entry.properties.to_string());
    writer.u8((entry.form == Form::Raw) as u8);
    writer.u32(entry.kind_version);
    writer.text(&entry.data);
    writer.u64(entry.data_content);
    write_stamps(writer, &entry.files);
    writer.list(&entry.references, write_name);
}

fn read_entry(reader: &mut Reader) -> Result<Entry, Error> {
    Ok(Entry {
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

fn write_broken(writer: &mut Writer, broken: &Broken) {
    write_name(writer, &broken.resource);
    writer.text(&broken.properties.to_string());
    writer.u8((broken.form == Form::Raw) as u8);
    writer.u32(broken.kind_version);
    write_stamps(writer, &broken.files);
    writer.text(&broken.words);
}

fn read_broken(reader: &mut Reader) -> Result<Broken, Error> {
    Ok(Broken {
        resource: read_name(reader)?,
        properties: read_properties(reader)?,
        form: read_form(reader)?,
        kind_version: reader.u32()?,
        files: read_stamps(reader)?,
        words: reader.text()?.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(size: u64) -> FileState {
        FileState { size, modified: 2, changed: 3, inode: 4 }
    }

    fn sample() -> Index {
        let entry = |name: &str, properties: &str| {
            let resource = ResourceName::new("texture", name);
            let properties = properties.split('.').filter(|word| !word.is_empty());
            let properties = Properties::of(properties).unwrap();
            Entry {
                data: data_name(&resource, &properties),
                resource,
                properties,
                form: Form::Raw,
                kind_version: 3,
                data_content: 7,
                files: vec![Stamp { path: "a.png".into(), state: state(1), content: 3 }],
                references: vec![ResourceName::new("shader", "core/gui")],
            }
        };
        let entries = vec![entry("a", ""), entry("a", "fr"), entry("b", "")];
        let failed = vec![(ResourceName::new("texture", "c"), "c.png: it is cut short".into())];
        let broken = vec![Broken {
            resource: ResourceName::new("texture", "c"),
            properties: Properties::of(["fr"].into_iter()).unwrap(),
            form: Form::Own,
            kind_version: 4,
            files: vec![Stamp { path: "c.png".into(), state: state(5), content: 7 }],
            words: "c.png: it is cut short".into(),
        }];
        Index { entries, broken, failed }
    }

    #[test]
    fn an_index_is_read_as_it_was_written_and_found_by_name() {
        let index = sample();
        let read = Index::from_bytes(&index.to_bytes()).unwrap();
        assert_eq!(read, index);
        assert_eq!(read.variants(&ResourceName::new("texture", "a")).len(), 2);
        assert!(read.variants(&ResourceName::new("texture", "c")).is_empty());
        assert_eq!(read.failure(&ResourceName::new("texture", "a")), None);
        let words = read.failure(&ResourceName::new("texture", "c"));
        assert_eq!(words, Some("c.png: it is cut short"));
    }

    #[test]
    fn an_index_that_no_compile_wrote_is_refused_with_words() {
        let check = |change: fn(&mut Index), wanted: &str| {
            let mut index = sample();
            change(&mut index);
            // Its checksum is right.
            let words = Index::from_bytes(&index.to_bytes()).unwrap_err().message;
            assert_eq!(words, format!("it is damaged: {wanted}"));
        };
        check(|index| index.entries.swap(0, 2), "its lists are out of order");
        check(|index| index.broken.push(index.broken[0].clone()), "its lists are out of order");
        check(|index| index.failed.push(index.failed[0].clone()), "its lists are out of order");
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
