//! Objects with an id that a side moved from one list to another. They are found once for the whole
//! document, by ids that occur once in it. Merges nothing.

use super::MergeSide;
use super::container::id_of;
use super::parts::SourceValue;
use engine_foundation::sjson::{Document, SjsonValue, ValueKind};
use std::collections::{BTreeMap, HashMap, HashSet};

/// An object with an id, and the list that contains it.
#[derive(Clone, Copy)]
struct Home<'a> {
    value: SourceValue<'a>,
    list: u64,
}

/// The objects that changed their list.
pub struct Moves<'a> {
    /// Objects by id in base, left and right, only those that were moved by a side, or that both
    /// sides added in different lists.
    versions: [HashMap<String, Home<'a>>; 3],
    /// Positions of the objects in each version, sorted.
    starts: [Vec<usize>; 3],
    /// Changed objects that were removed from their old list, and not merged into the new one yet:
    /// the path by id.
    expected: BTreeMap<String, String>,
}

impl<'a> Moves<'a> {
    pub fn new(roots: [SourceValue<'a>; 3]) -> Moves<'a> {
        let mut versions = roots.map(homes);
        let mut moved: HashSet<String> = HashSet::new();
        for side in [1, 2] {
            for (id, home) in &versions[side] {
                let others = [0, 3 - side].map(|other| versions[other].get(id));
                if others.into_iter().flatten().any(|other| other.list != home.list) {
                    moved.insert(id.clone());
                }
            }
        }
        for version in &mut versions {
            version.retain(|id, _| moved.contains(id));
        }
        let starts = versions.each_ref().map(|version| {
            let mut starts: Vec<usize> =
                version.values().map(|home| home.value.value.span().start).collect();
            starts.sort_unstable();
            starts
        });
        Moves { versions, starts, expected: BTreeMap::new() }
    }

    /// Returns true if a moved object is inside of one of the values.
    pub fn is_inside(&self, values: [Option<SourceValue>; 3]) -> bool {
        values.iter().zip(&self.starts).any(|(value, starts)| {
            value.is_some_and(|value| {
                let span = value.value.span();
                let from = starts.partition_point(|start| *start < span.start);
                starts.get(from).is_some_and(|start| *start < span.end)
            })
        })
    }

    fn get(&self, version: usize, value: SourceValue) -> Option<Home<'a>> {
        if self.versions.iter().all(HashMap::is_empty) {
            return None;
        }
        self.versions[version].get(&id_of(value.value)?).copied()
    }

    /// Returns true if a side has the object in some list.
    pub fn has(&self, side: MergeSide, value: SourceValue) -> bool {
        self.in_side(side, value).is_some()
    }

    pub fn in_base(&self, value: SourceValue) -> Option<SourceValue<'a>> {
        self.get(0, value).map(|home| home.value)
    }

    pub fn in_side(&self, side: MergeSide, value: SourceValue) -> Option<SourceValue<'a>> {
        self.get(version_of(side), value).map(|home| home.value)
    }

    /// Returns true if a side has the object in another list than the base.
    pub fn is_moved(&self, side: MergeSide, value: SourceValue) -> bool {
        let homes = (self.get(0, value), self.get(version_of(side), value));
        matches!(homes, (Some(base), Some(there)) if base.list != there.list)
    }

    /// Notes that a changed object was removed from its old list.
    pub fn expect(&mut self, value: SourceValue, path: String) {
        let id = id_of(value.value).unwrap_or_default();
        // An empty path means that it was merged already.
        self.expected.entry(id).or_insert(path);
    }

    /// Notes that an object was merged in its new list.
    pub fn merged(&mut self, value: SourceValue) {
        let id = id_of(value.value).unwrap_or_default();
        // The old list may be visited later.
        self.expected.insert(id, String::new());
    }

    /// Returns the objects whose changes are lost, with their texts on both sides.
    pub fn unmerged(&self) -> Vec<(String, &'a str, &'a str)> {
        let lost = self.expected.iter().filter(|(_, path)| !path.is_empty());
        let text = |version: usize, id: &str| {
            self.versions[version].get(id).map_or("", |home| home.value.text())
        };
        lost.map(|(id, path)| (path.clone(), text(1, id), text(2, id))).collect()
    }
}

fn version_of(side: MergeSide) -> usize {
    match side {
        MergeSide::Left => 1,
        MergeSide::Right => 2,
    }
}

/// Returns the objects of a document whose id occurs once in it.
fn homes(root: SourceValue) -> HashMap<String, Home> {
    let mut found = HashMap::new();
    let mut repeated = HashSet::new();
    let mut open = vec![(root.value, 1u64)];
    while let Some((value, list)) = open.pop() {
        for entry in value.entries().into_iter().flatten() {
            let step = engine_foundation::hash::murmur64a(entry.key.as_bytes(), list);
            open.push((entry.value, step));
        }
        for item in value.items().into_iter().flatten() {
            let Some(id) = id_of(item).filter(|_| item.kind() == ValueKind::Object) else {
                open.push((item, list.wrapping_add(1)));
                continue;
            };
            // The content of an object belongs to the object, wherever the object is.
            open.push((item, engine_foundation::hash::murmur64a(id.as_bytes(), 2)));
            let home = Home { value: root.with(item), list };
            if found.insert(id.clone(), home).is_some() {
                repeated.insert(id);
            }
        }
    }
    found.retain(|id, _| !repeated.contains(id));
    found
}

/// Refuses a result in which objects have been lost or doubled. This occurs if both sides moved
/// objects into each other.
pub fn check(versions: &[Document; 3], merged: &Document) -> Result<(), String> {
    let count = |root: SjsonValue| {
        let mut ids: HashMap<String, usize> = HashMap::new();
        let mut open = vec![root];
        while let Some(value) = open.pop() {
            open.extend(value.entries().into_iter().flatten().map(|entry| entry.value));
            for item in value.items().into_iter().flatten() {
                open.push(item);
                if let Some(id) = id_of(item) {
                    *ids.entry(id).or_default() += 1;
                }
            }
        }
        ids
    };
    let [_, left, right] = [0, 1, 2].map(|at| count(versions[at].root()));
    let result = count(merged.root());
    let is_repeated = |(id, times): &(&String, &usize)| {
        let known = [&left, &right].into_iter().filter_map(|ids| ids.get(*id)).max();
        known.is_none_or(|known| *times > known)
    };
    if let Some((id, _)) = result.iter().filter(is_repeated).min() {
        return Err(format!("the id {id} would be in the file twice: an object was moved"));
    }
    let is_lost = |id: &&String| right.contains_key(*id) && !result.contains_key(*id);
    // The least of them, so that the message is the same in every run.
    match left.keys().filter(is_lost).min() {
        Some(id) => Err(format!("the object with the id {id} would be lost: it was moved")),
        None => Ok(()),
    }
}
