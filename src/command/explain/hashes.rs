//! Explains hashes: the resources, names and strings of a game that have them.

use engine_app::resource_kinds::KINDS;
use engine_foundation::Error;
use engine_foundation::hash::{IdString32, IdString64};
use engine_resource::index::ResourceIndex;
use std::collections::BTreeMap;

/// Returns the strings of a game that a hash may belong to, each with a description.
fn strings(index: &ResourceIndex) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut add = |text: &str, origin: String| _ = found.entry(text.to_string()).or_insert(origin);
    for entry in &index.entries {
        let name = &entry.resource;
        add(&name.to_string(), "a resource with its type".to_string());
        add(&name.name, format!("the name of {name}"));
        for word in entry.properties.properties() {
            add(word, format!("a property of {}", entry.files[0].path));
        }
    }
    for kind in KINDS.0 {
        add(kind.name, "a type".to_string());
    }
    for entry in &index.entries {
        for reference in &entry.references {
            add(&reference.name, format!("a string in {}", entry.files[0].path));
        }
    }
    found
}

/// Returns a line for each string of the game that has a hash.
fn with_hash(
    strings: BTreeMap<String, String>,
    hash: &str,
    has: impl Fn(&str) -> bool,
) -> Option<String> {
    let found: Vec<_> = strings.into_iter().filter(|(text, _)| has(text)).collect();
    let mut lines = String::new();
    for (text, origin) in &found {
        lines += &format!("{hash} is \"{text}\": {origin}\n");
    }
    if found.len() > 1 {
        lines += "These have the same hash, and cannot be distinguished by it: rename all but \
                  one\n";
    }
    (!found.is_empty()).then_some(lines)
}

/// Explains a hash of 16 digits: the resource or the string that has it.
pub(super) fn of_hash(index: &ResourceIndex, hash: IdString64) -> Result<String, Error> {
    let found = index
        .entries
        .iter()
        .find(|entry| entry.resource.id() == hash || entry.data == hash.to_string());
    if let Some(entry) = found {
        let base_mark = if entry.properties.is_base() {
            String::new()
        } else {
            format!(" [{}]", entry.properties)
        };
        return Ok(format!(
            "{hash} is {}{base_mark}, compiled from {}\n",
            entry.resource, entry.files[0].path
        ));
    }
    let same = |text: &str| IdString64::new(text) == hash;
    let lines = with_hash(strings(index), &hash.to_string(), same);
    lines.ok_or_else(|| {
        engine_foundation::error!("{hash} is the hash of no resource or string of this game")
    })
}

/// Explains a hash of 8 digits: the string that has it, also among `names`, each with its origin.
pub(super) fn of_short_hash(
    index: &ResourceIndex,
    names: Vec<(String, String)>,
    hash: IdString32,
) -> Result<String, Error> {
    let mut strings = strings(index);
    for (text, origin) in names {
        strings.entry(text).or_insert(origin);
    }
    let lines = with_hash(strings, &hash.to_string(), |text| IdString32::new(text) == hash);
    lines.ok_or_else(|| {
        engine_foundation::error!("{hash} is the hash of no name or string of this game")
    })
}
