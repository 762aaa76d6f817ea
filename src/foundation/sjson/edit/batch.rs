//! Many changes of one document in few passes: each pass parses the text once, however many
//! entries of however many objects change.

use super::super::write::{WriteStyle, check, key_text, prefix_path};
use super::super::{NESTING_MAX, PathStep, SjsonTree, path_text};
use super::{DocumentEditor, EditResult, Patch, at_path};
use crate::compact_sort::CompactSort;
use std::collections::HashSet;

/// New entries of one object: its path, and each entry with the index of the entry before which it
/// is inserted, as [`DocumentEditor::insert_entry`] counts them. The indices do not count new ones.
pub type NewEntries<'a> = (Vec<PathStep<'a>>, Vec<(usize, &'a str, &'a SjsonTree)>);

impl DocumentEditor {
    /// Gives keys new names in place, so that the values, the order and all comments stay. If one
    /// change fails, nothing changes.
    pub fn rename_keys(&mut self, changes: &[(Vec<PathStep>, &str)]) -> EditResult {
        let mut patches = Vec::with_capacity(changes.len());
        for (path, new) in changes {
            let missing = || at_path(path, "there is no such key to rename".to_string());
            let Some((PathStep::Key(key), parents)) = path.split_last() else {
                return Err(missing());
            };
            let parent = self.document.at(parents);
            let mut entries = parent.and_then(|value| value.entries()).ok_or_else(missing)?;
            let entry = entries.find(|entry| entry.key == *key).ok_or_else(missing)?;
            let span = entry.key_span;
            let quote_keys = self.document.text[span.start..].starts_with('"');
            let style = WriteStyle { quote_keys, ..WriteStyle::default_style() };
            patches.push(Patch { span, text: key_text(new, &style) });
        }
        self.apply(&[], patches)
    }

    /// Removes keys with their values from several objects that are not inside of removed values.
    /// Keys that an object does not have are ignored. If one change fails, nothing changes.
    pub fn remove_keys(&mut self, removals: &[(Vec<PathStep>, HashSet<&str>)]) -> EditResult {
        let mut changed = self.clone();
        loop {
            // Neighbours are removed in different passes: what is removed around an entry depends
            // on the entries next to it. A row of many takes one pass for each half.
            let mut patches = Vec::new();
            for (path, keys) in removals {
                let value = changed.document.at(path);
                let Some(entries) = value.and_then(|value| value.entries()) else { continue };
                let found = entries.enumerate().filter(|(_, entry)| keys.contains(entry.key));
                let found: Vec<usize> = found.map(|(index, _)| index).collect();
                if found.is_empty() {
                    continue;
                }
                let layout = changed.layout(path);
                let mut next = 0;
                for index in found {
                    if index >= next {
                        patches.extend(layout.removal(index));
                        next = index + 2;
                    }
                }
            }
            if patches.is_empty() {
                break;
            }
            changed.apply(&[], patches)?;
        }
        *self = changed;
        Ok(())
    }

    /// Inserts new entries into several objects. If one change fails, nothing changes.
    pub fn insert_entries(&mut self, additions: &[NewEntries]) -> EditResult {
        let mut patches = Vec::new();
        for (path, entries) in additions {
            let value = self.document.at(path);
            let Some(known) = value.and_then(|value| value.entries()) else {
                return Err(at_path(path, "there is no such object".to_string()));
            };
            let count = known.len();
            for (index, key, tree) in entries {
                check(tree, NESTING_MAX).map_err(|error| prefix_path(&path_text(path), error))?;
                if *index > count {
                    return Err(at_path(path, format!("there is no index {index} for '{key}'")));
                }
            }
            let layout = self.layout(path);
            let mut sorted: Vec<&(usize, &str, &SjsonTree)> = entries.iter().collect();
            sorted.sort_compact_by_key(|(index, ..)| *index);
            for group in sorted.chunk_by(|a, b| a.0 == b.0) {
                let parts: Vec<_> =
                    group.iter().map(|(_, key, tree)| (Some(*key), *tree)).collect();
                patches.extend(layout.insertion(group[0].0, &parts));
            }
        }
        self.apply(&[], patches)
    }
}
