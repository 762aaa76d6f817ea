//! Identities of the parts of a container in three versions: keys of objects, ids of list items,
//! or the result of a comparison of the items. Writes nothing.

use super::super::matching::{match_items, value_hash};
use super::super::parts::{Part, SourceValue};
use super::{BASE, LEFT, RIGHT};
use crate::paths::{id_step, key_step};
use engine_foundation::hash::murmur64a;
use engine_foundation::sjson::{SjsonValue, ValueKind};
use std::collections::{HashMap, HashSet};

/// How the parts of a container are identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListForm {
    /// An object: by key.
    Object,
    /// A list of objects: by their unique `id`.
    Ids,
    /// A list of objects without unique ids: by comparison.
    WithoutIds,
    /// A list of other values: by comparison.
    Values,
    /// A list that is one value, such as a vector or a color.
    Atomic,
}

/// The id of an object in a list: a text, or the bits of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectId<'a> {
    Text(&'a str),
    Number(u64),
}

impl ObjectId<'_> {
    /// Returns a hash that is the same in every run.
    pub fn hash(&self, seed: u64) -> u64 {
        match self {
            ObjectId::Text(text) => murmur64a(text.as_bytes(), seed),
            ObjectId::Number(bits) => murmur64a(&bits.to_le_bytes(), !seed),
        }
    }
}

impl std::fmt::Display for ObjectId<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            ObjectId::Text(text) => write!(out, "\"{text}\""),
            ObjectId::Number(bits) => write!(out, "{}", f64::from_bits(*bits)),
        }
    }
}

/// Returns the id of an object in a list: a text or a number under the key `id`.
pub fn object_id(value: SjsonValue) -> Option<ObjectId> {
    let id = value.get("id")?;
    match id.as_str() {
        Some(text) => Some(ObjectId::Text(text)),
        None => id.as_f64().map(|number| ObjectId::Number(number.to_bits())),
    }
}

/// Returns the id of an object as a text: with quotes if it is one.
pub fn id_of(value: SjsonValue) -> Option<String> {
    object_id(value).map(|id| id.to_string())
}

impl ListForm {
    /// Returns the form of a list that all versions have in the same form.
    pub fn of(base: Option<SourceValue>, left: SourceValue, right: SourceValue) -> ListForm {
        let versions = || base.into_iter().chain([left, right]);
        let items = || versions().flat_map(|version| version.value.items().into_iter().flatten());
        if items().all(|item| item.kind() == ValueKind::Number) {
            return ListForm::Atomic;
        }
        let has_ids = versions().all(|version| {
            let mut ids = HashSet::new();
            let mut items = version.value.items().into_iter().flatten();
            items.all(|item| object_id(item).is_some_and(|id| ids.insert(id)))
        });
        let is_object = |item: SjsonValue| item.kind() == ValueKind::Object;
        match base {
            _ if has_ids => ListForm::Ids,
            // Without a base, equal items of both sides may be the same item or two.
            None => ListForm::Atomic,
            Some(_) if items().any(is_object) => ListForm::WithoutIds,
            Some(_) => ListForm::Values,
        }
    }
}

/// The identities of the parts of three versions, as numbers from 0.
pub struct Identities {
    /// Index of the part in each version, by identity.
    indices: Vec<[Option<usize>; 3]>,
    /// Identities of the parts of each version, in order.
    sequences: [Vec<usize>; 3],
}

impl Identities {
    /// Identifies the parts of base, left and right.
    pub fn of(form: ListForm, all: [&Vec<Part>; 3]) -> Identities {
        let mut ids =
            Identities { indices: Vec::new(), sequences: [Vec::new(), Vec::new(), Vec::new()] };
        match form {
            ListForm::Object => {
                let mut known: HashMap<&str, usize> = HashMap::new();
                for version in [BASE, LEFT, RIGHT] {
                    for (index, part) in all[version].iter().enumerate() {
                        let next = ids.indices.len();
                        let id = *known.entry(part.key).or_insert(next);
                        ids.add(version, index, id);
                    }
                }
            }
            ListForm::Ids => {
                let mut known: HashMap<Option<ObjectId>, usize> = HashMap::new();
                for version in [BASE, LEFT, RIGHT] {
                    for (index, part) in all[version].iter().enumerate() {
                        let next = ids.indices.len();
                        let name = object_id(part.value.value);
                        let id = *known.entry(name).or_insert(next);
                        ids.add(version, index, id);
                    }
                }
            }
            _ => ids.compare(all[BASE], [all[LEFT], all[RIGHT]]),
        }
        ids
    }

    fn add(&mut self, version: usize, index: usize, id: usize) {
        if id == self.indices.len() {
            self.indices.push([None; 3]);
        }
        self.indices[id][version] = Some(index);
        self.sequences[version].push(id);
    }

    /// Identifies items by comparison with the base. Equal items that both sides added are one.
    fn compare(&mut self, base: &[Part], sides: [&[Part]; 2]) {
        let hashes = |parts: &[Part]| -> Vec<u64> {
            parts.iter().map(|part| value_hash(part.value.value)).collect()
        };
        let of_base = hashes(base);
        for index in 0..base.len() {
            self.add(BASE, index, index);
        }
        let mut added: HashMap<(u64, usize), usize> = HashMap::new();
        for (side, parts) in [LEFT, RIGHT].into_iter().zip(sides) {
            let of_side = hashes(parts);
            let matched = match_items(&of_base, &of_side, &mut |b, s, matched| {
                pair_changed(base, parts, b, s, matched);
            });
            let mut count: HashMap<u64, usize> = HashMap::new();
            for (index, matched) in matched.into_iter().enumerate() {
                let id = matched.unwrap_or_else(|| {
                    let hash = of_side[index];
                    let turn = count.entry(hash).or_insert(0);
                    *turn += 1;
                    let next = self.indices.len();
                    *added.entry((hash, *turn)).or_insert(next)
                });
                self.add(side, index, id);
            }
        }
    }

    pub fn count(&self) -> usize {
        self.indices.len()
    }

    /// Returns the index of a part in each version.
    pub fn indices(&self, id: usize) -> [Option<usize>; 3] {
        self.indices[id]
    }

    pub fn sequence(&self, version: usize) -> &[usize] {
        &self.sequences[version]
    }

    /// Returns the step of a path to a part, for reports.
    pub fn step(&self, form: ListForm, id: usize, all: [&Vec<Part>; 3]) -> String {
        let indices = self.indices[id];
        let at = [RIGHT, LEFT, BASE].into_iter().find(|version| indices[*version].is_some());
        let Some((version, index)) = at.and_then(|at| Some((at, indices[at]?))) else {
            return String::new();
        };
        let part = &all[version][index];
        match form {
            ListForm::Object => key_step(part.key),
            ListForm::Ids => {
                let id = id_of(part.value.value).unwrap_or_default();
                id_step(&id)
            }
            _ => format!("[{}]", index + 1),
        }
    }
}

/// Matches the items between two matches: first those with the same `name`, then by position if
/// they are of the same kind.
fn pair_changed(
    base: &[Part],
    side: &[Part],
    b: std::ops::Range<usize>,
    s: std::ops::Range<usize>,
    matched: &mut [Option<usize>],
) {
    let name = |part: &Part| -> Option<String> {
        part.value.value.get("name")?.as_str().map(str::to_string)
    };
    let mut names: HashMap<String, Option<usize>> = HashMap::new();
    for at in b.clone() {
        if let Some(name) = name(&base[at]) {
            // A name that occurs twice identifies nothing.
            names.entry(name).and_modify(|it| *it = None).or_insert(Some(at));
        }
    }
    let mut used = HashSet::new();
    let mut least = b.start;
    for at in s.clone() {
        let found = name(&side[at]).and_then(|name| names.remove(&name)).flatten();
        // Matches keep the order.
        if let Some(found) = found.filter(|found| *found >= least) {
            matched[at] = Some(found);
            used.insert(found);
            least = found + 1;
        }
    }
    let is_named = |part: &Part| name(part).is_some();
    let mut from = s.start;
    let mut gap_start = b.start;
    let bounds: Vec<(usize, usize)> = s
        .clone()
        .filter_map(|at| matched[at].map(|found| (found, at)))
        .chain([(b.end, s.end)])
        .collect();
    for (end_b, end_s) in bounds {
        for (at_b, at_s) in (gap_start..end_b).zip(from..end_s) {
            let kinds = [&base[at_b], &side[at_s]].map(|part| part.value.kind());
            // Objects with different names are different objects, and so are different texts.
            let are_named = is_named(&base[at_b]) && is_named(&side[at_s]);
            let is_container = matches!(kinds[0], ValueKind::Object | ValueKind::Array);
            if kinds[0] == kinds[1] && is_container && !are_named {
                matched[at_s] = Some(at_b);
            }
        }
        (gap_start, from) = (end_b + 1, end_s + 1);
    }
}
