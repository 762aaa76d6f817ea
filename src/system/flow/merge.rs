//! Three-way merges of sources by entry, and edits of a text that leave all other bytes unchanged.

use super::old_names::RenamedKey;
use super::source::natural_order;
use engine_foundation::compact_sort::CompactSort;
use engine_foundation::sjson::{DocumentEditor, NewEntries, PathStep, SjsonTree, TreeError, parse};
use std::collections::{HashMap, HashSet};

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
    edit_renamed(text, block, &[], to)
}

/// Changes the graph in a text as [`edit_text`] does, after some of its keys got new names in
/// place, which keep their comments.
///
/// # Errors
/// Returns an error if the text is not SJSON, or an entry cannot be changed.
pub fn edit_renamed(
    text: &str,
    block: &str,
    renamed: &[RenamedKey],
    to: &SjsonTree,
) -> Result<String, String> {
    let document = parse(text).map_err(|error| error.to_string())?;
    let path: Vec<PathStep> = match block {
        "" => Vec::new(),
        block => vec![PathStep::Key(block)],
    };
    let mut editor = DocumentEditor::new(document);
    if !renamed.is_empty() {
        let changes = renamed.iter().map(|(inner, new)| {
            let inner = inner.iter().map(|key| PathStep::Key(key));
            (path.iter().copied().chain(inner).collect(), new.as_str())
        });
        let changes: Vec<(Vec<PathStep>, &str)> = changes.collect();
        editor.rename_keys(&changes).map_err(|error| error.to_string())?;
    }
    let root = editor.document().to_tree();
    let from = match block {
        "" => Some(&root),
        block => root.get(block),
    };
    match from {
        Some(from @ SjsonTree::Object(_)) => {
            let mut plan = EditPlan::default();
            plan.compare(&path, from, to);
            plan.apply(&mut editor)?;
        }
        _ => editor.set(&path, to).map_err(|error| error.to_string())?,
    }
    Ok(editor.finish().into_text())
}

/// Changes of one text, collected so that the text is parsed once for each kind of change.
#[derive(Default)]
struct EditPlan<'a> {
    sets: Vec<(Vec<PathStep<'a>>, &'a SjsonTree)>,
    removals: Vec<(Vec<PathStep<'a>>, HashSet<&'a str>)>,
    additions: Vec<NewEntriesOf<'a>>,
}

/// Path of an object, and its new entries.
type NewEntriesOf<'a> = (Vec<PathStep<'a>>, Vec<(&'a str, &'a SjsonTree)>);

impl<'a> EditPlan<'a> {
    /// Adds the changes from one object to another.
    fn compare(&mut self, path: &[PathStep<'a>], from: &'a SjsonTree, to: &'a SjsonTree) {
        let (known, wanted) = (by_key(Some(from)), by_key(Some(to)));
        let removed = entries(Some(from)).iter().map(|(key, _)| key.as_str());
        let removed: HashSet<&str> = removed.filter(|key| !wanted.contains_key(key)).collect();
        if !removed.is_empty() {
            self.removals.push((path.to_vec(), removed));
        }
        let mut added = Vec::new();
        for (key, value) in entries(Some(to)) {
            let mut inner = path.to_vec();
            inner.push(PathStep::Key(key));
            match known.get(&key[..]) {
                Some(known) if equal(Some(known), Some(value)) => {}
                Some(known @ SjsonTree::Object(_)) if matches!(value, SjsonTree::Object(_)) => {
                    self.compare(&inner, known, value);
                }
                Some(_) => self.sets.push((inner, value)),
                None => added.push((key.as_str(), value)),
            }
        }
        if !added.is_empty() {
            self.additions.push((path.to_vec(), added));
        }
    }

    fn apply(self, editor: &mut DocumentEditor) -> Result<(), String> {
        let text = |error: TreeError| error.to_string();
        if !self.sets.is_empty() {
            let sets: Vec<(&[PathStep], &SjsonTree)> =
                self.sets.iter().map(|(path, value)| (&path[..], *value)).collect();
            editor.set_all(&sets).map_err(text)?;
        }
        editor.remove_keys(&self.removals).map_err(text)?;
        if !self.additions.is_empty() {
            let positions = self.additions.into_iter().map(|(path, added)| {
                let placed = positions(editor, &path, added);
                (path, placed)
            });
            let positions: Vec<NewEntries> = positions.collect();
            editor.insert_entries(&positions).map_err(text)?;
        }
        Ok(())
    }
}

/// Returns new entries with the indices of the entries before which they are inserted: before the
/// first one with a greater key, so that new entries of two people are seldom next to each other.
/// The blocks of a graph keep the order of the text.
fn positions<'a>(
    editor: &DocumentEditor,
    path: &[PathStep],
    added: Vec<(&'a str, &'a SjsonTree)>,
) -> Vec<(usize, &'a str, &'a SjsonTree)> {
    let object = editor.document().at(path);
    let entries = object.and_then(|object| object.entries()).into_iter().flatten();
    let keys: Vec<&str> = entries.map(|entry| entry.key).collect();
    let is_sorted = path.len() > usize::from(path.first() == Some(&PathStep::Key("flow")));
    let is_ordered = keys.windows(2).all(|pair| natural_order(pair[0], pair[1]).is_le());
    let index = |key: &str| {
        let is_after = |known: &&str| natural_order(known, key).is_gt();
        match (is_sorted, is_ordered) {
            (false, _) => keys.len(),
            (_, true) => keys.partition_point(|known| !is_after(known)),
            (_, false) => keys.iter().position(is_after).unwrap_or(keys.len()),
        }
    };
    let mut placed: Vec<(usize, &str, &SjsonTree)> =
        added.into_iter().map(|(key, value)| (index(key), key, value)).collect();
    if is_sorted {
        placed.sort_compact_by(|a, b| a.0.cmp(&b.0).then_with(|| natural_order(a.1, b.1)));
    }
    placed
}
