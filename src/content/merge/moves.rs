//! Objects with an id that a side moved from one list to another. They are found once for the whole
//! document. An id is known across lists only if the base has it once: lists may count their ids
//! from 1 each. Merges nothing.

use super::MergeSide;
use super::container::{ObjectId, object_id};
use super::parts::SourceValue;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::hash::murmur64a;
use engine_foundation::sjson::{Document, SjsonValue, ValueKind};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// An object with an id, and the list that contains it.
#[derive(Clone, Copy)]
struct ListLocation<'a> {
    value: SourceValue<'a>,
    list: u64,
}

type Locations<'a> = HashMap<ObjectId<'a>, ListLocation<'a>>;

/// The objects that changed their list.
pub struct Moves<'a> {
    /// Objects by id in base, left and right, only those that a side moved.
    versions: [Locations<'a>; 3],
    /// Positions of the objects in each version, sorted.
    starts: [Vec<usize>; 3],
    /// Changed objects that were removed from their old list, and not merged into the new one yet:
    /// the path by id.
    expected: BTreeMap<ObjectId<'a>, Arc<str>>,
}

impl<'a> Moves<'a> {
    pub fn new(roots: [SourceValue<'a>; 3]) -> Moves<'a> {
        let counts = counts_of(roots[0].value);
        let is_unique = |id: &ObjectId| counts.get(id) == Some(&1);
        let mut base = Locations::new();
        visit(roots[0], &is_unique, &mut |id, location| _ = base.insert(id, location));
        let sides = [1, 2].map(|side| locations_of_side(roots[side], &base, &is_unique));
        let is_elsewhere = |id: &ObjectId, side: &Locations| {
            side.get(id).is_some_and(|there| there.list != base[id].list)
        };
        let moved: HashSet<ObjectId> = base
            .keys()
            .filter(|id| sides.iter().any(|side| is_elsewhere(id, side)))
            .copied()
            .collect();
        let [left, right] = sides;
        let mut versions = [base, left, right];
        for version in &mut versions {
            version.retain(|id, _| moved.contains(id));
            version.shrink_to_fit();
        }
        let starts = versions.each_ref().map(|version| {
            let mut starts: Vec<usize> =
                version.values().map(|location| location.value.value.span().start).collect();
            starts.sort_compact();
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

    fn get(&self, version: usize, value: SourceValue<'a>) -> Option<ListLocation<'a>> {
        if self.versions[version].is_empty() {
            return None;
        }
        self.versions[version].get(&object_id(value.value)?).copied()
    }

    /// Returns true if a side has the object in some list.
    pub fn has(&self, side: MergeSide, value: SourceValue<'a>) -> bool {
        self.in_side(side, value).is_some()
    }

    pub fn in_base(&self, value: SourceValue<'a>) -> Option<SourceValue<'a>> {
        self.get(0, value).map(|location| location.value)
    }

    pub fn in_side(&self, side: MergeSide, value: SourceValue<'a>) -> Option<SourceValue<'a>> {
        self.get(version_of(side), value).map(|location| location.value)
    }

    /// Returns true if a side has the object in another list than the base.
    pub fn is_moved(&self, side: MergeSide, value: SourceValue<'a>) -> bool {
        let locations = (self.get(0, value), self.get(version_of(side), value));
        matches!(locations, (Some(base), Some(there)) if base.list != there.list)
    }

    /// Notes that a changed object was removed from its old list.
    pub fn expect(&mut self, value: SourceValue<'a>, path: Arc<str>) {
        // An empty path means that it was merged already.
        let id = object_id(value.value);
        id.map(|id| self.expected.entry(id).or_insert(path));
    }

    /// Notes that an object was merged in its new list.
    pub fn merged(&mut self, value: SourceValue<'a>) {
        // The old list may be visited later.
        let id = object_id(value.value);
        id.map(|id| self.expected.insert(id, "".into()));
    }

    /// Returns the objects whose changes are lost, with their texts on both sides.
    pub fn unmerged(&self) -> Vec<(Arc<str>, &'a str, &'a str)> {
        let lost = self.expected.iter().filter(|(_, path)| !path.is_empty());
        let text = |version: usize, id: &ObjectId| {
            self.versions[version].get(id).map_or("", |location| location.value.text())
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

/// Visits all objects in lists that have an id, with the hash of the path to their list. The
/// content of an object whose id is unique in the base belongs to the object, wherever it is.
fn visit<'a>(
    root: SourceValue<'a>,
    is_unique: &dyn Fn(&ObjectId) -> bool,
    found: &mut dyn FnMut(ObjectId<'a>, ListLocation<'a>),
) {
    let mut open = vec![(root.value, 1u64)];
    while let Some((value, list)) = open.pop() {
        for entry in value.entries().into_iter().flatten() {
            open.push((entry.value, murmur64a(entry.key.as_bytes(), list)));
        }
        for item in value.items().into_iter().flatten() {
            let id = object_id(item).filter(|_| item.kind() == ValueKind::Object);
            match id {
                Some(id) => {
                    found(id, ListLocation { value: root.with(item), list });
                    let outer = if is_unique(&id) { 2 } else { list };
                    open.push((item, id.hash(outer)));
                }
                None => open.push((item, list.wrapping_add(1))),
            }
        }
    }
}

/// Returns where a side has the objects whose id the base has once: in the same list, or else in
/// the only other one.
fn locations_of_side<'a>(
    root: SourceValue<'a>,
    base: &Locations<'a>,
    is_unique: &dyn Fn(&ObjectId) -> bool,
) -> Locations<'a> {
    let mut found = Locations::new();
    let mut repeated = HashSet::new();
    visit(root, is_unique, &mut |id, location| {
        let Some(old) = base.get(&id).filter(|_| is_unique(&id)) else { return };
        let is_known = found.contains_key(&id);
        if location.list == old.list {
            repeated.remove(&id);
            found.insert(id, location);
        } else if !is_known {
            found.insert(id, location);
        } else if found[&id].list != old.list {
            repeated.insert(id);
        }
    });
    found.retain(|id, _| !repeated.contains(id));
    found
}

/// Returns how often each id of an object in a list occurs in a document.
fn counts_of(root: SjsonValue) -> HashMap<ObjectId, usize> {
    let mut ids: HashMap<ObjectId, usize> = HashMap::new();
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        open.extend(value.entries().into_iter().flatten().map(|entry| entry.value));
        for item in value.items().into_iter().flatten() {
            open.push(item);
            if let Some(id) = object_id(item) {
                *ids.entry(id).or_default() += 1;
            }
        }
    }
    ids
}

/// The ids of the versions of a merge, which do not need their texts any more.
pub struct KnownIds {
    /// Most times that an id can occur in the result.
    bounds: HashMap<u64, usize>,
    /// Ids that the base has once, and that both sides have, with their texts.
    kept: HashMap<u64, String>,
    hasher: RandomState,
}

impl KnownIds {
    pub fn of([base, left, right]: [SjsonValue; 3]) -> KnownIds {
        let hasher = RandomState::new();
        let [base, left, right] = [base, left, right].map(counts_of);
        let count =
            |ids: &HashMap<ObjectId, usize>, id: &ObjectId| ids.get(id).copied().unwrap_or(0);
        let (mut bounds, mut kept) = (HashMap::new(), HashMap::new());
        for id in left.keys().chain(right.keys()) {
            let [in_base, in_left, in_right] = [&base, &left, &right].map(|ids| count(ids, id));
            // An object that may have moved is there once. Other lists keep what one side removed
            // and the other changed.
            let bound = match in_base == 1 && in_left.max(in_right) == 1 {
                true => 1,
                false => in_left + in_right,
            };
            let key = hasher.hash_one(id);
            bounds.insert(key, bound);
            if in_base == 1 && in_left > 0 && in_right > 0 {
                kept.insert(key, id.to_string());
            }
        }
        KnownIds { bounds, kept, hasher }
    }

    /// Refuses a result in which objects have been lost or doubled. This occurs if both sides moved
    /// objects into each other.
    pub fn check(mut self, merged: &Document) -> Result<(), String> {
        let result = counts_of(merged.root());
        let mut repeated = Vec::new();
        for (id, times) in &result {
            let key = self.hasher.hash_one(id);
            self.kept.remove(&key);
            if self.bounds.get(&key).is_none_or(|bound| times > bound) {
                repeated.push(id);
            }
        }
        // The least of them, so that the message is the same in every run.
        if let Some(id) = repeated.into_iter().min() {
            return Err(format!("the id {id} would be in the file twice: an object was moved"));
        }
        match self.kept.values().min() {
            Some(id) => Err(format!("the object with the id {id} would be lost: it was moved")),
            None => Ok(()),
        }
    }
}
