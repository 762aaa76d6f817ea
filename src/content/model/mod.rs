//! The data model of tools: objects with a GUID, whose keys have values. Three operations change
//! it: `change_key`, `add_to_set` and `remove_from_set`. Each has an inverse, so they are the
//! difference format, undo and the wire format in one. Knows no files; SJSON is in `mapping`.
//!
//! There are no lists: order is a key of the objects. An object exists if it has a key. Deleting
//! an object means to remove the references to it; `integrity` finds it then.

mod guid;
mod guid_set;
mod history;
mod integrity;
mod mapping;
#[cfg(test)]
mod property_tests;
mod replica;
#[cfg(test)]
mod tests;
mod wire;

pub use guid::Guid;
pub use guid_set::GuidSet;
pub use history::History;
pub use integrity::{DanglingReference, Integrity};
pub use mapping::{load, save};
pub use replica::{Committed, Replica};
pub use wire::{operation_from_tree, operation_to_tree, value_from_tree, value_to_tree};

use engine_foundation::compact_sort::CompactSort;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Maximum number of different keys in a model.
pub const KEYS_MAX: usize = 1 << 20;
/// Maximum length of a key in bytes.
pub const KEY_BYTES_MAX: usize = 1 << 10;
/// Maximum length of a text or a blob in bytes.
pub const VALUE_BYTES_MAX: usize = 16 << 20;
/// Maximum number of objects in a model.
pub const OBJECTS_MAX: usize = 1 << 24;

/// A key of a model: an index into its table of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u32);

/// The value of a key. A set is never empty: that is `Null`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// The key is absent.
    #[default]
    Null,
    Bool(bool),
    /// A finite number.
    Number(f64),
    String(Arc<str>),
    Blob(Arc<[u8]>),
    Reference(Guid),
    Set(Box<GuidSet>),
}

/// The change of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// `change_key`: replaces the value; `Null` removes the key.
    Set(Value),
    /// `add_to_set`: adds an object to the set. A value that is no set is replaced by one.
    Add(Guid),
    /// `remove_from_set`: removes an object from the set.
    Remove(Guid),
}

/// An operation: the change of one key of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub object: Guid,
    pub key: Key,
    pub change: Change,
}

/// The keys of an object with their values, sorted by key.
#[derive(Clone, Debug, Default, PartialEq)]
struct Object(Vec<(Key, Value)>);

/// Objects by GUID.
#[derive(Clone, Debug, Default)]
pub struct Model {
    objects: HashMap<Guid, Object>,
    keys: Vec<Arc<str>>,
    key_ids: HashMap<Arc<str>, Key>,
}

impl Model {
    pub fn new() -> Model {
        Model::default()
    }

    /// Returns the key of a text. A new one is added to the table.
    ///
    /// # Errors
    /// Returns an error if the text is too long, or if there are too many keys.
    pub fn key(&mut self, text: &str) -> Result<Key, String> {
        if let Some(key) = self.key_ids.get(text) {
            return Ok(*key);
        }
        if text.len() > KEY_BYTES_MAX {
            return Err(format!("a key of more than {KEY_BYTES_MAX} bytes (KEY_BYTES_MAX)"));
        }
        if self.keys.len() >= KEYS_MAX {
            return Err(format!("more than {KEYS_MAX} different keys (KEYS_MAX)"));
        }
        let (key, text) = (Key(self.keys.len() as u32), Arc::<str>::from(text));
        self.keys.push(text.clone());
        self.key_ids.insert(text, key);
        Ok(key)
    }

    /// Returns the key of a text if the model has it.
    pub fn known_key(&self, text: &str) -> Option<Key> {
        self.key_ids.get(text).copied()
    }

    /// Returns the text of a key of this model.
    pub fn key_text(&self, key: Key) -> &str {
        &self.keys[key.0 as usize]
    }

    /// Returns the number of objects that exist.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Returns true if an object has a key. The root always exists.
    pub fn exists(&self, object: Guid) -> bool {
        object == Guid::ROOT || self.objects.contains_key(&object)
    }

    /// Returns the GUIDs of all objects, sorted.
    pub fn objects(&self) -> Vec<Guid> {
        let mut objects: Vec<Guid> = self.objects.keys().copied().collect();
        objects.sort_compact();
        objects
    }

    /// Returns a value, which is `Null` if the object does not have the key.
    pub fn value(&self, object: Guid, key: Key) -> &Value {
        let entries = self.objects.get(&object).map_or(&[][..], |object| &object.0);
        match entries.binary_search_by_key(&key, |entry| entry.0) {
            Ok(at) => &entries[at].1,
            Err(_) => &Value::Null,
        }
    }

    /// Returns a value by the text of its key.
    pub fn value_of(&self, object: Guid, key: &str) -> &Value {
        self.known_key(key).map_or(&Value::Null, |key| self.value(object, key))
    }

    /// Returns the keys of an object with their values, sorted by the text of the key.
    pub fn entries(&self, object: Guid) -> Vec<(&str, &Value)> {
        let entries = self.objects.get(&object).map_or(&[][..], |object| &object.0);
        let mut entries: Vec<(&str, &Value)> =
            entries.iter().map(|(key, value)| (self.key_text(*key), value)).collect();
        entries.sort_compact_by_key(|entry| entry.0);
        entries
    }

    /// Applies an operation. Returns its inverse: applied next, it restores the model.
    pub fn apply(&mut self, operation: Operation) -> Operation {
        let Operation { object, key, change } = operation;
        let inverse = |change: Change| Operation { object, key, change };
        match change {
            Change::Set(value) => inverse(Change::Set(self.replace(object, key, value))),
            Change::Add(member) => match self.value_mut(object, key) {
                Some(Value::Set(set)) => match set.insert(member) {
                    true => inverse(Change::Remove(member)),
                    // Nothing has changed, and the inverse changes nothing.
                    false => inverse(Change::Add(member)),
                },
                _ => {
                    let set = Value::Set(Box::new(GuidSet::from_iter([member])));
                    match self.replace(object, key, set) {
                        Value::Null => inverse(Change::Remove(member)),
                        old => inverse(Change::Set(old)),
                    }
                }
            },
            Change::Remove(member) => {
                let Some(Value::Set(set)) = self.value_mut(object, key) else {
                    return inverse(Change::Remove(member));
                };
                if !set.remove(member) {
                    return inverse(Change::Remove(member));
                }
                if set.is_empty() {
                    self.replace(object, key, Value::Null);
                }
                inverse(Change::Add(member))
            }
        }
    }

    fn value_mut(&mut self, object: Guid, key: Key) -> Option<&mut Value> {
        let entries = &mut self.objects.get_mut(&object)?.0;
        let at = entries.binary_search_by_key(&key, |entry| entry.0).ok()?;
        Some(&mut entries[at].1)
    }

    /// Replaces a value, and returns the old one.
    fn replace(&mut self, object: Guid, key: Key, value: Value) -> Value {
        let value = match value {
            Value::Set(set) if set.is_empty() => Value::Null,
            value => value,
        };
        if value == Value::Null {
            return self.remove_key(object, key);
        }
        let entries = &mut self.objects.entry(object).or_default().0;
        match entries.binary_search_by_key(&key, |entry| entry.0) {
            Ok(at) => std::mem::replace(&mut entries[at].1, value),
            Err(at) => {
                // Objects are many and small: half of a doubled array would be empty.
                if entries.len() == entries.capacity() {
                    entries.reserve_exact(entries.len() / 4 + 1);
                }
                entries.insert(at, (key, value));
                Value::Null
            }
        }
    }

    fn remove_key(&mut self, object: Guid, key: Key) -> Value {
        let Entry::Occupied(mut found) = self.objects.entry(object) else { return Value::Null };
        let entries = &mut found.get_mut().0;
        let Ok(at) = entries.binary_search_by_key(&key, |entry| entry.0) else {
            return Value::Null;
        };
        let (_, old) = entries.remove(at);
        if entries.is_empty() {
            found.remove();
        }
        old
    }

    /// Returns the operations that turn this model into another one.
    ///
    /// # Errors
    /// Returns an error if there are too many keys.
    pub fn difference(&mut self, to: &Model) -> Result<Vec<Operation>, String> {
        let mut objects: BTreeSet<Guid> = self.objects.keys().copied().collect();
        objects.extend(to.objects.keys().copied());
        let mut operations = Vec::new();
        for object in objects {
            let removed: Vec<Key> = self.objects.get(&object).map_or(Vec::new(), |known| {
                let keys = known.0.iter().map(|entry| entry.0);
                keys.filter(|key| *to.value_of(object, self.key_text(*key)) == Value::Null)
                    .collect()
            });
            let set = |key, value| Operation { object, key, change: Change::Set(value) };
            operations.extend(removed.into_iter().map(|key| set(key, Value::Null)));
            for (text, new) in to.entries(object) {
                let key = self.key(text)?;
                match (self.value(object, key), new) {
                    (old, new) if old == new => {}
                    (Value::Set(old), Value::Set(new)) => {
                        let of = |change| Operation { object, key, change };
                        let added = new.iter().filter(|member| !old.contains(**member));
                        operations.extend(added.map(|member| of(Change::Add(*member))));
                        let removed = old.iter().filter(|member| !new.contains(**member));
                        operations.extend(removed.map(|member| of(Change::Remove(*member))));
                    }
                    (_, new) => operations.push(set(key, new.clone())),
                }
            }
        }
        Ok(operations)
    }
}

/// Models are equal if all values of all objects are, whatever the order in which keys were added.
impl PartialEq for Model {
    fn eq(&self, other: &Model) -> bool {
        self.objects.len() == other.objects.len()
            && self.objects.keys().all(|object| self.entries(*object) == other.entries(*object))
    }
}
