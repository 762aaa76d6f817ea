//! The tree of resources in a PE file: three levels of directories, for kinds, names and languages.

use engine_foundation::compact_sort::CompactSort;

/// Maximum number of resources that are read.
pub const RESOURCES_MAX: usize = 4096;

/// A number, or a name in UTF-16. Names precede numbers in directories.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceId {
    Name(Vec<u16>),
    Number(u32),
}

/// A resource with its location in the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    pub kind: ResourceId,
    pub name: ResourceId,
    pub language: ResourceId,
    pub bytes: Vec<u8>,
}

/// Marks an offset as that of a name or of a directory.
const MARK: u32 = 1 << 31;
const DIRECTORY_BYTES: usize = 16;
const ENTRY_BYTES: usize = 8;
const DATA_ENTRY_BYTES: usize = 16;
/// Alignment of data.
const ALIGNMENT: usize = 8;

/// Reads the resources of a section. `root` is the offset of the tree in the section, which is
/// loaded at `address`. Returns `None` if the tree is damaged.
pub fn read(section: &[u8], root: u32, address: u32) -> Option<Vec<Resource>> {
    let tree = section.get(root as usize..)?;
    let mut found = Vec::new();
    for (kind, names) in directory(tree, MARK)? {
        for (name, languages) in directory(tree, names)? {
            for (language, entry) in directory(tree, languages)? {
                let start = word(tree, entry as usize)?.checked_sub(address)? as usize;
                let length = word(tree, entry as usize + 4)? as usize;
                let bytes = section.get(start..start.checked_add(length)?)?.to_vec();
                found.push(Resource { kind: kind.clone(), name: name.clone(), language, bytes });
                if found.len() > RESOURCES_MAX {
                    return None;
                }
            }
        }
    }
    Some(found)
}

fn word(tree: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*tree.get(at..)?.first_chunk()?))
}

fn half_word(tree: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*tree.get(at..)?.first_chunk()?))
}

/// Reads the entries of a directory: ids and offsets. Offsets of directories have the mark.
fn directory(tree: &[u8], offset: u32) -> Option<Vec<(ResourceId, u32)>> {
    let at = (offset & MARK != 0).then_some((offset & !MARK) as usize)?;
    let count = [12, 14].map(|field| half_word(tree, at + field).map(usize::from));
    let count = count[0]? + count[1]?;
    if count > RESOURCES_MAX {
        return None;
    }
    let entry = |index: usize| {
        let at = at + DIRECTORY_BYTES + index * ENTRY_BYTES;
        let id = word(tree, at)?;
        let id = match id & MARK {
            0 => ResourceId::Number(id),
            _ => ResourceId::Name(name_at(tree, (id & !MARK) as usize)?),
        };
        Some((id, word(tree, at + 4)?))
    };
    (0..count).map(entry).collect()
}

fn name_at(tree: &[u8], at: usize) -> Option<Vec<u16>> {
    let units = usize::from(half_word(tree, at)?);
    (0..units).map(|unit| half_word(tree, at + 2 + unit * 2)).collect()
}

/// Returns the bytes of a section with resources, which is loaded at `address`.
pub fn write(mut resources: Vec<Resource>, address: u32) -> Vec<u8> {
    let key = |it: &Resource| (it.kind.clone(), it.name.clone(), it.language.clone());
    resources.sort_compact_by_key(key);
    let kinds: Vec<&[Resource]> = resources.chunk_by(|a, b| a.kind == b.kind).collect();
    let names: Vec<&[Resource]> =
        resources.chunk_by(|a, b| (&a.kind, &a.name) == (&b.kind, &b.name)).collect();
    // The root, the directories of kinds, those of names, the entries of data, the names, the data.
    let directory_bytes = |entries: usize| DIRECTORY_BYTES + entries * ENTRY_BYTES;
    let kind_entries = |kind: &[Resource]| kind.chunk_by(|a, b| a.name == b.name).count();
    let kinds_start = directory_bytes(kinds.len());
    let kinds_bytes: usize = kinds.iter().map(|kind| directory_bytes(kind_entries(kind))).sum();
    let names_start = kinds_start + kinds_bytes;
    let names_bytes: usize = names.iter().map(|name| directory_bytes(name.len())).sum();
    let data_start = names_start + names_bytes;
    let texts_start = data_start + resources.len() * DATA_ENTRY_BYTES;
    let mut texts = Vec::new();
    let mut id = |id: &ResourceId| match id {
        ResourceId::Number(number) => *number,
        ResourceId::Name(units) => {
            let at = (texts_start + texts.len()) as u32;
            texts.extend((units.len() as u16).to_le_bytes());
            texts.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
            at | MARK
        }
    };

    let mut out = Vec::new();
    let mut at = kinds_start;
    directory_header(&mut out, kinds.iter().map(|kind| &kind[0].kind));
    for kind in &kinds {
        push_entry(&mut out, id(&kind[0].kind), at as u32 | MARK);
        at += directory_bytes(kind_entries(kind));
    }
    for kind in &kinds {
        let names = || kind.chunk_by(|a, b| a.name == b.name);
        directory_header(&mut out, names().map(|name| &name[0].name));
        for name in names() {
            push_entry(&mut out, id(&name[0].name), at as u32 | MARK);
            at += directory_bytes(name.len());
        }
    }
    for name in &names {
        directory_header(&mut out, name.iter().map(|resource| &resource.language));
        for resource in *name {
            push_entry(&mut out, id(&resource.language), at as u32);
            at += DATA_ENTRY_BYTES;
        }
    }
    let mut at = (texts_start + texts.len()).next_multiple_of(ALIGNMENT);
    for resource in &resources {
        for field in [address.wrapping_add(at as u32), resource.bytes.len() as u32, 0, 0] {
            out.extend(field.to_le_bytes());
        }
        at = (at + resource.bytes.len()).next_multiple_of(ALIGNMENT);
    }
    out.extend(texts);
    for resource in &resources {
        out.resize(out.len().next_multiple_of(ALIGNMENT), 0);
        out.extend(&resource.bytes);
    }
    out
}

fn directory_header<'a>(out: &mut Vec<u8>, ids: impl Iterator<Item = &'a ResourceId>) {
    let (names, numbers): (Vec<&ResourceId>, Vec<&ResourceId>) =
        ids.partition(|id| matches!(id, ResourceId::Name(_)));
    // Characteristics, time and version are zero.
    out.extend([0; 12]);
    out.extend((names.len() as u16).to_le_bytes());
    out.extend((numbers.len() as u16).to_le_bytes());
}

fn push_entry(out: &mut Vec<u8>, id: u32, offset: u32) {
    out.extend(id.to_le_bytes());
    out.extend(offset.to_le_bytes());
}
