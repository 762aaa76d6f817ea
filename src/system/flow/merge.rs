//! Three-way merges of sources by entry, and edits of a text that leave all other bytes unchanged.

use super::source::natural_order;
use engine_foundation::sjson::{DocumentEditor, PathStep, SjsonTree, parse};
use std::collections::HashMap;

/// An entry that both sides changed in different ways.
#[derive(Clone, PartialEq, Debug)]
pub struct MergeConflict {
    /// Keys, joined by periods: `nodes.n3.inputs.b`.
    pub path: String,
    pub base: Option<SjsonTree>,
    pub mine: Option<SjsonTree>,
    pub disk: Option<SjsonTree>,
}

/// Merges two changes of a source. Entries that both sides changed keep `mine`, or the value on
/// disk, and are listed.
pub fn merge(
    base: &SjsonTree,
    mine: &SjsonTree,
    disk: &SjsonTree,
    prefers_disk: bool,
) -> (SjsonTree, Vec<MergeConflict>) {
    let mut merger = Merger { conflicts: Vec::new(), prefers_disk };
    let merged = merger.value("", Some(base), Some(mine), Some(disk));
    (merged.unwrap_or(SjsonTree::Object(Vec::new())), merger.conflicts)
}

struct Merger {
    conflicts: Vec<MergeConflict>,
    prefers_disk: bool,
}

/// Returns the entries of an object; none for other values.
fn entries(tree: Option<&SjsonTree>) -> &[(String, SjsonTree)] {
    match tree {
        Some(SjsonTree::Object(entries)) => entries,
        _ => &[],
    }
}

/// The entries of an object by their keys: graphs have thousands of nodes.
fn by_key(tree: Option<&SjsonTree>) -> HashMap<&str, &SjsonTree> {
    // As for a search from the start, the first one of equal keys counts.
    entries(tree).iter().rev().map(|(key, value)| (key.as_str(), value)).collect()
}

/// Returns true if two values are equal, whatever the order of keys.
fn equal(a: Option<&SjsonTree>, b: Option<&SjsonTree>) -> bool {
    match (a, b) {
        (Some(SjsonTree::Object(of_a)), Some(SjsonTree::Object(of_b))) => {
            if of_a.len() != of_b.len() {
                return false;
            }
            // Mostly the order is the same.
            let same = of_a.iter().zip(of_b).all(|((key, _), (other, _))| key == other);
            if same {
                let mut pairs = of_a.iter().zip(of_b);
                return pairs.all(|((_, value), (_, other))| equal(Some(value), Some(other)));
            }
            let known = by_key(b);
            of_a.iter().all(|(key, value)| equal(Some(value), known.get(&key[..]).copied()))
        }
        (a, b) => a == b,
    }
}

impl Merger {
    fn value(
        &mut self,
        path: &str,
        base: Option<&SjsonTree>,
        mine: Option<&SjsonTree>,
        disk: Option<&SjsonTree>,
    ) -> Option<SjsonTree> {
        if equal(mine, disk) || equal(mine, base) {
            return disk.cloned();
        }
        if equal(disk, base) {
            return mine.cloned();
        }
        let are_objects =
            [mine, disk].iter().all(|side| matches!(side, Some(SjsonTree::Object(_))));
        if !are_objects {
            let copy = |side: Option<&SjsonTree>| side.cloned();
            self.conflicts.push(MergeConflict {
                path: path.to_string(),
                base: copy(base),
                mine: copy(mine),
                disk: copy(disk),
            });
            return if self.prefers_disk { disk.cloned() } else { mine.cloned() };
        }
        let mut merged = Vec::new();
        let sides = [base, mine, disk].map(by_key);
        let of_disk = entries(disk).iter().map(|(key, _)| key);
        let of_mine = entries(mine).iter().map(|(key, _)| key);
        let added = of_mine.filter(|key| !sides[2].contains_key(&key[..]));
        for key in of_disk.chain(added) {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let [base, mine, disk] =
                [0, 1, 2].map(|side: usize| sides[side].get(&key[..]).copied());
            let value = self.value(&path, base, mine, disk);
            merged.extend(value.map(|value| (key.clone(), value)));
        }
        Some(SjsonTree::Object(merged))
    }
}

/// Changes the graph in a text from one tree to another. `block` is the key of the graph in the
/// text; empty if the text is the graph. Untouched entries keep their bytes.
///
/// # Errors
/// Returns an error if the text is not SJSON, or an entry cannot be changed.
pub fn edit_text(text: &str, block: &str, to: &SjsonTree) -> Result<String, String> {
    let document = parse(text).map_err(|error| error.to_string())?;
    let path: Vec<&str> = if block.is_empty() { Vec::new() } else { vec![block] };
    let mut editor = DocumentEditor::new(document);
    let root = editor.document().to_tree();
    let from = match block {
        "" => Some(&root),
        block => root.get(block),
    };
    let edited = match from {
        Some(SjsonTree::Object(_)) => edit(&mut editor, &path, from.expect("it is there"), to),
        _ => editor.set(&[PathStep::Key(block)], to).map_err(|error| error.to_string()),
    };
    edited?;
    Ok(editor.finish().into_text())
}

fn steps<'a>(path: &[&'a str]) -> Vec<PathStep<'a>> {
    path.iter().map(|key| PathStep::Key(key)).collect()
}

fn edit(
    editor: &mut DocumentEditor,
    path: &[&str],
    from: &SjsonTree,
    to: &SjsonTree,
) -> Result<(), String> {
    let at = |key: &str| {
        let mut inner: Vec<String> = path.iter().map(|key| key.to_string()).collect();
        inner.push(key.to_string());
        inner
    };
    let (known, wanted) = (by_key(Some(from)), by_key(Some(to)));
    for (key, _) in entries(Some(from)) {
        if !wanted.contains_key(&key[..]) {
            let inner = at(key);
            let inner: Vec<&str> = inner.iter().map(String::as_str).collect();
            editor.remove(&steps(&inner)).map_err(|error| error.to_string())?;
        }
    }
    let mut keys = None;
    for (key, value) in entries(Some(to)) {
        let inner = at(key);
        let inner: Vec<&str> = inner.iter().map(String::as_str).collect();
        match known.get(&key[..]) {
            Some(known) if equal(Some(known), Some(value)) => {}
            Some(known @ SjsonTree::Object(_)) if matches!(value, SjsonTree::Object(_)) => {
                edit(editor, &inner, known, value)?;
            }
            Some(_) => editor.set(&steps(&inner), value).map_err(|error| error.to_string())?,
            None => {
                let keys = keys.get_or_insert_with(|| ObjectKeys::read(editor, path));
                let index = keys.insert(key);
                editor
                    .insert_entry(&steps(path), index, key, value)
                    .map_err(|error| error.to_string())?;
            }
        }
    }
    Ok(())
}

/// The keys of an object in the order of the text, to find the positions of new entries.
struct ObjectKeys {
    keys: Vec<String>,
    /// True if entries are inserted before the first one with a greater key, so that new entries of
    /// two people are seldom next to each other. The blocks of a graph keep the order of the text.
    is_sorted: bool,
    /// True if the text has them in the order of their names.
    is_ordered: bool,
}

impl ObjectKeys {
    fn read(editor: &DocumentEditor, path: &[&str]) -> ObjectKeys {
        let object = editor.document().at(&steps(path));
        let entries = object.and_then(|object| object.entries()).into_iter().flatten();
        let keys: Vec<String> = entries.map(|entry| entry.key.to_string()).collect();
        let is_sorted = path.len() + 1 > usize::from(path.first() == Some(&"flow")) + 1;
        let is_ordered = keys.windows(2).all(|pair| natural_order(&pair[0], &pair[1]).is_le());
        ObjectKeys { keys, is_sorted, is_ordered }
    }

    /// Adds a key, and returns its index.
    fn insert(&mut self, key: &str) -> usize {
        let is_after = |known: &String| natural_order(known, key).is_gt();
        let index = match (self.is_sorted, self.is_ordered) {
            (false, _) => self.keys.len(),
            (_, true) => self.keys.partition_point(|known| !is_after(known)),
            (_, false) => self.keys.iter().position(is_after).unwrap_or(self.keys.len()),
        };
        self.keys.insert(index, key.to_string());
        index
    }
}
