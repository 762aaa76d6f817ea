//! The check of a model: references to objects that do not exist, and objects that cannot be
//! reached from the root.

use super::{Change, Guid, Key, Model, Operation, Value};
use engine_foundation::compact_sort::CompactSort;
use std::collections::HashSet;

/// A reference to an object that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DanglingReference {
    pub object: Guid,
    pub key: Key,
    pub to: Guid,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    pub dangling: Vec<DanglingReference>,
    /// Objects that nothing leads to.
    pub garbage: Vec<Guid>,
}

impl Model {
    /// Checks all references.
    pub fn integrity(&self) -> Integrity {
        let mut found = Integrity::default();
        let mut reached = HashSet::from([Guid::ROOT]);
        let mut open = vec![Guid::ROOT];
        while let Some(object) = open.pop() {
            self.each_reference(object, |_, to| {
                if self.exists(to) && reached.insert(to) {
                    open.push(to);
                }
            });
        }
        for object in self.objects() {
            if !reached.contains(&object) {
                found.garbage.push(object);
            }
            self.each_reference(object, |key, to| {
                if !self.exists(to) {
                    found.dangling.push(DanglingReference { object, key, to });
                }
            });
        }
        found.dangling.sort_compact();
        found
    }

    fn each_reference(&self, object: Guid, mut visit: impl FnMut(Key, Guid)) {
        for (key, value) in self.objects.get(&object).iter().flat_map(|object| &object.0) {
            match value {
                Value::Reference(to) => visit(*key, *to),
                Value::Set(set) => set.iter().for_each(|to| visit(*key, *to)),
                _ => {}
            }
        }
    }

    /// Returns the operations that remove objects: all their keys.
    pub fn removal(&self, objects: &[Guid]) -> Vec<Operation> {
        let keys = |object: &Guid| {
            let entries = self.objects.get(object).map_or(&[][..], |object| &object.0);
            let object = *object;
            let change = Change::Set(Value::Null);
            entries.iter().map(move |(key, _)| Operation {
                object,
                key: *key,
                change: change.clone(),
            })
        };
        objects.iter().flat_map(keys).collect()
    }
}
