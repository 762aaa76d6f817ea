//! SJSON documents as objects of a model, and back. An object of a document is an object of the
//! model, with a key for each of its keys. A list is an object, too. A document is saved by edits
//! of its text, so all bytes of values that have not changed stay. Opens no files.
//!
//! Keys that begin with `#` are of the mapping: `#kind` is `object` or `list`, `#length` the number
//! of values in a list, whose keys are `1`, `2`, … A list of objects that each have an `id` has the
//! set `#items` instead, and its items have the key `#order`. A key of a document that begins with
//! `#` gets a second one.

use super::{Change, Guid, GuidSet, Model, OBJECTS_MAX, Operation, VALUE_BYTES_MAX, Value};
use crate::merge::id_of;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::sjson::{
    Document, DocumentEditor, NESTING_MAX, PathStep, SjsonTree, SjsonValue, ValueKind,
};
use std::collections::{BTreeSet, HashMap};

const KIND: &str = "#kind";
const LENGTH: &str = "#length";
const ITEMS: &str = "#items";
const ORDER: &str = "#order";

/// Adds the values of a document to a model. `object` is the root of the document.
///
/// # Errors
/// Returns an error if a limit of the model is exceeded.
pub fn load(model: &mut Model, object: Guid, document: &Document) -> Result<(), String> {
    Loader { model }.container(object, document.root())
}

/// Returns the key of the model for a key of a document.
fn escaped(key: &str) -> String {
    match key.starts_with('#') {
        true => format!("#{key}"),
        false => key.to_string(),
    }
}

/// Returns the key of a document for a key of a model, or `None` for one of the mapping.
fn unescaped(key: &str) -> Option<&str> {
    match key.strip_prefix('#') {
        Some(rest) => rest.starts_with('#').then_some(rest),
        None => Some(key),
    }
}

struct Loader<'m> {
    model: &'m mut Model,
}

impl Loader<'_> {
    fn set(&mut self, object: Guid, key: &str, value: Value) -> Result<(), String> {
        if self.model.len() >= OBJECTS_MAX {
            return Err(format!("more than {OBJECTS_MAX} objects (OBJECTS_MAX)"));
        }
        let key = self.model.key(key)?;
        self.model.apply(Operation { object, key, change: Change::Set(value) });
        Ok(())
    }

    fn container(&mut self, object: Guid, value: SjsonValue) -> Result<(), String> {
        if let Some(entries) = value.entries() {
            self.set(object, KIND, Value::String("object".into()))?;
            for entry in entries {
                self.value(object, &escaped(entry.key), entry.value)?;
            }
            return Ok(());
        }
        let Some(items) = value.items() else {
            return Err("a document is an object or a list".to_string());
        };
        self.set(object, KIND, Value::String("list".into()))?;
        let Some(ids) = ids_of(value) else {
            self.set(object, LENGTH, Value::Number(items.len() as f64))?;
            for (at, item) in items.enumerate() {
                self.value(object, &(at + 1).to_string(), item)?;
            }
            return Ok(());
        };
        let mut members = GuidSet::default();
        for (order, (id, item)) in ids.iter().zip(items).enumerate() {
            let member = object.of_part(id);
            self.container(member, item)?;
            self.set(member, ORDER, Value::Number((order + 1) as f64))?;
            members.insert(member);
        }
        self.set(object, ITEMS, Value::Set(Box::new(members)))
    }

    fn value(&mut self, object: Guid, key: &str, value: SjsonValue) -> Result<(), String> {
        let plain = match value.kind() {
            ValueKind::Array | ValueKind::Object => {
                let child = object.of_part(key);
                self.container(child, value)?;
                Value::Reference(child)
            }
            _ => plain_value(value),
        };
        if matches!(&plain, Value::String(text) if text.len() > VALUE_BYTES_MAX) {
            return Err(format!("a text of more than {VALUE_BYTES_MAX} bytes (VALUE_BYTES_MAX)"));
        }
        self.set(object, key, plain)
    }
}

/// Returns the ids of a list's items, or `None` if it has none, or an item has no id of its own.
fn ids_of(list: SjsonValue) -> Option<Vec<String>> {
    let ids: Option<Vec<String>> = list.items()?.map(id_of).collect();
    let ids = ids.filter(|ids| !ids.is_empty())?;
    let different: BTreeSet<&String> = ids.iter().collect();
    (different.len() == ids.len()).then_some(ids)
}

fn plain_value(value: SjsonValue) -> Value {
    if let Some(value) = value.as_bool() {
        Value::Bool(value)
    } else if let Some(number) = value.as_f64() {
        Value::Number(number)
    } else {
        value.as_str().map_or(Value::Null, |text| Value::String(text.into()))
    }
}

/// Returns a document's text with the values of a model. `object` is the root of the document.
///
/// # Errors
/// Returns an error if the model has what SJSON cannot have: a reference to an object that does not
/// exist or contains itself, a blob, a set that is no list. An object that several keys refer to is
/// written for each.
pub fn save(model: &Model, object: Guid, document: Document) -> Result<Document, String> {
    let mut editor = DocumentEditor::new(document);
    let saver = Saver { model };
    // Values that exist first, in one pass; then what shifts others, from the end.
    let mut edits = Edits::default();
    saver.compare(object, editor.document().root(), &mut Vec::new(), &mut edits)?;
    let Edits { set, mut removed, inserted } = edits;
    let steps: Vec<Vec<PathStep>> = set.iter().map(|(path, _)| borrowed(path)).collect();
    let changes: Vec<(&[PathStep], &SjsonTree)> =
        steps.iter().zip(&set).map(|(path, (_, tree))| (&path[..], tree)).collect();
    editor.set_all(&changes).map_err(|error| error.to_string())?;
    removed.reverse();
    for path in &removed {
        editor.remove(&borrowed(path)).map_err(|error| error.to_string())?;
    }
    if !inserted.is_empty() {
        let mut edits = Edits::default();
        saver.compare(object, editor.document().root(), &mut Vec::new(), &mut edits)?;
        edits.inserted.reverse();
        for (path, at, tree) in &edits.inserted {
            editor.insert_item(&borrowed(path), *at, tree).map_err(|error| error.to_string())?;
        }
    }
    Ok(editor.finish())
}

/// A step of a path: a key, or the index of an item.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Item(usize),
}

type Path = Vec<Step>;

fn borrowed(path: &Path) -> Vec<PathStep<'_>> {
    let step = |step| match step {
        &Step::Item(at) => PathStep::Item(at),
        Step::Key(key) => PathStep::Key(key),
    };
    path.iter().map(step).collect()
}

/// Edits of a document, in the order of its text.
#[derive(Default)]
struct Edits {
    set: Vec<(Path, SjsonTree)>,
    removed: Vec<Path>,
    /// Lists, the index of the new item, and the item. Those of a list precede those inside of its
    /// items, so that applied from the end, none shifts the path of another.
    inserted: Vec<(Path, usize, SjsonTree)>,
}

struct Saver<'m> {
    model: &'m Model,
}

impl Saver<'_> {
    fn is_list(&self, object: Guid) -> bool {
        matches!(self.model.value_of(object, KIND), Value::String(kind) if &**kind == "list")
    }

    /// Returns the items of a list with ids, in order.
    fn members(&self, list: Guid) -> Option<Vec<Guid>> {
        let Value::Set(set) = self.model.value_of(list, ITEMS) else { return None };
        let order = |member: &Guid| match self.model.value_of(*member, ORDER) {
            Value::Number(order) => *order,
            _ => f64::INFINITY,
        };
        let mut members: Vec<Guid> = set.iter().copied().collect();
        members.sort_compact_by(|a, b| order(a).total_cmp(&order(b)).then(a.cmp(b)));
        Some(members)
    }

    /// Returns the id of an item, in the form of [`id_of`].
    fn id(&self, member: Guid) -> Option<String> {
        match self.model.value_of(member, "id") {
            Value::String(text) => Some(format!("\"{text}\"")),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn length(&self, list: Guid) -> usize {
        match self.model.value_of(list, LENGTH) {
            Value::Number(length) => (*length as usize).min(OBJECTS_MAX),
            _ => 0,
        }
    }

    /// Collects the edits that give a container of the document the values of an object.
    fn compare(
        &self,
        object: Guid,
        value: SjsonValue,
        path: &mut Path,
        edits: &mut Edits,
    ) -> Result<(), String> {
        match value.kind() {
            ValueKind::Object => self.compare_object(object, value, path, edits),
            _ => match self.members(object) {
                Some(members) => self.compare_items(object, &members, value, path, edits),
                None => self.compare_list(object, value, path, edits),
            },
        }
    }

    fn compare_object(
        &self,
        object: Guid,
        value: SjsonValue,
        path: &mut Path,
        edits: &mut Edits,
    ) -> Result<(), String> {
        let mut known = BTreeSet::new();
        for entry in value.entries().into_iter().flatten() {
            known.insert(entry.key);
            path.push(Step::Key(entry.key.to_string()));
            let new = self.model.value_of(object, &escaped(entry.key));
            // A null of the document is an absent key of the model.
            match new {
                Value::Null if entry.value.kind() == ValueKind::Null => {}
                Value::Null => edits.removed.push(path.clone()),
                new => self.compare_value(new, entry.value, path, edits)?,
            }
            path.pop();
        }
        for (key, new) in self.model.entries(object) {
            if let Some(key) = unescaped(key).filter(|key| !known.contains(key)) {
                path.push(Step::Key(key.to_string()));
                edits.set.push((path.clone(), self.tree(new, path.len())?));
                path.pop();
            }
        }
        Ok(())
    }

    fn compare_value(
        &self,
        new: &Value,
        old: SjsonValue,
        path: &mut Path,
        edits: &mut Edits,
    ) -> Result<(), String> {
        let kind = old.kind();
        if let Value::Reference(child) = new
            && matches!(kind, ValueKind::Array | ValueKind::Object)
            && self.is_list(*child) == (kind == ValueKind::Array)
            && self.model.exists(*child)
        {
            return self.compare(*child, old, path, edits);
        }
        if !matches!(kind, ValueKind::Array | ValueKind::Object) && plain_value(old) == *new {
            return Ok(());
        }
        edits.set.push((path.clone(), self.tree(new, path.len())?));
        Ok(())
    }

    /// Compares a list whose values have no ids.
    fn compare_list(
        &self,
        object: Guid,
        value: SjsonValue,
        path: &mut Path,
        edits: &mut Edits,
    ) -> Result<(), String> {
        let length = self.length(object);
        let items: Vec<SjsonValue> = value.items().into_iter().flatten().collect();
        for at in items.len()..length {
            let new = self.model.value_of(object, &(at + 1).to_string());
            edits.inserted.push((path.clone(), items.len(), self.tree(new, path.len())?));
        }
        for (at, item) in items.iter().enumerate() {
            path.push(Step::Item(at));
            match at < length {
                true => {
                    let new = self.model.value_of(object, &(at + 1).to_string());
                    self.compare_value(new, *item, path, edits)?;
                }
                false => edits.removed.push(path.clone()),
            }
            path.pop();
        }
        Ok(())
    }

    /// Compares a list whose items have ids.
    fn compare_items(
        &self,
        object: Guid,
        members: &[Guid],
        value: SjsonValue,
        path: &mut Path,
        edits: &mut Edits,
    ) -> Result<(), String> {
        let items: Vec<SjsonValue> = value.items().into_iter().flatten().collect();
        let by_id: HashMap<String, Guid> =
            members.iter().filter_map(|member| Some((self.id(*member)?, *member))).collect();
        // An item whose id was changed has the GUID that was made of the old one.
        let member = |id: String| by_id.get(&id).copied().unwrap_or_else(|| object.of_part(&id));
        let old: Vec<Option<Guid>> = items.iter().map(|item| id_of(*item).map(member)).collect();
        let position: HashMap<Guid, usize> =
            members.iter().enumerate().map(|(at, member)| (*member, at)).collect();
        let kept: Vec<usize> =
            old.iter().flatten().filter_map(|member| position.get(member).copied()).collect();
        if !kept.is_sorted() {
            // Another order: the whole list is written again.
            let items = members.iter().map(|member| self.object_tree(*member, path.len() + 1));
            let list = SjsonTree::Array(items.collect::<Result<_, _>>()?);
            edits.set.push((path.clone(), list));
            return Ok(());
        }
        let present: HashMap<Guid, usize> =
            old.iter().enumerate().filter_map(|(at, member)| Some(((*member)?, at))).collect();
        let mut next = 0;
        for member in members {
            match present.get(member) {
                Some(at) => next = at + 1,
                None => {
                    let tree = self.object_tree(*member, path.len() + 1)?;
                    edits.inserted.push((path.clone(), next, tree));
                }
            }
        }
        let is_kept = |member: &Guid| position.contains_key(member);
        for (at, (member, item)) in old.iter().zip(&items).enumerate() {
            path.push(Step::Item(at));
            match member.filter(is_kept) {
                Some(member) => self.compare(member, *item, path, edits)?,
                None => edits.removed.push(path.clone()),
            }
            path.pop();
        }
        Ok(())
    }

    /// Returns a value for a document. `depth` is the number of containers around it.
    fn tree(&self, value: &Value, depth: usize) -> Result<SjsonTree, String> {
        Ok(match value {
            Value::Null => SjsonTree::Null,
            Value::Bool(value) => SjsonTree::Bool(*value),
            Value::Number(number) => SjsonTree::Number(*number),
            Value::String(text) => SjsonTree::String(text.to_string()),
            Value::Blob(_) => return Err("a blob cannot be saved as SJSON".to_string()),
            Value::Set(_) => return Err("a set that is no list cannot be saved".to_string()),
            Value::Reference(object) => self.object_tree(*object, depth)?,
        })
    }

    fn object_tree(&self, object: Guid, depth: usize) -> Result<SjsonTree, String> {
        if depth >= NESTING_MAX {
            return Err(format!(
                "objects are inside of themselves, or more than {NESTING_MAX} levels deep"
            ));
        }
        if !self.model.exists(object) {
            return Err(format!("the object {object} is used, and does not exist"));
        }
        if !self.is_list(object) {
            let mut entries = Vec::new();
            for (key, value) in self.model.entries(object) {
                if let Some(key) = unescaped(key) {
                    entries.push((key.to_string(), self.tree(value, depth + 1)?));
                }
            }
            // People read the id first.
            entries.sort_compact_by_key(|(key, _)| key != "id");
            return Ok(SjsonTree::Object(entries));
        }
        let items = match self.members(object) {
            Some(members) => {
                members.iter().map(|it| self.object_tree(*it, depth + 1)).collect::<Vec<_>>()
            }
            None => (0..self.length(object))
                .map(|at| self.tree(self.model.value_of(object, &(at + 1).to_string()), depth + 1))
                .collect(),
        };
        Ok(SjsonTree::Array(items.into_iter().collect::<Result<_, _>>()?))
    }
}
