//! Result of a compile: the index, and what has changed.

use super::compile::JobResult;
use super::index::ResourceIndex;
use super::resource_name::ResourceName;
use engine_foundation::compact_sort::CompactSort;
use std::collections::HashSet;

/// Result of a compile: the index, the changed resources and the errors.
#[derive(Debug, Default)]
pub struct CompileResult {
    pub index: ResourceIndex,
    /// Resources with new data, then (in `removed`) resources that no longer exist.
    pub changed: Vec<ResourceName>,
    pub removed: Vec<ResourceName>,
    /// All error messages, each with file and line.
    pub problems: Vec<String>,
    /// Paths of the game's folders that were reached through a link.
    pub linked: Vec<String>,
    /// True if the game's settings were saved. Set by the watcher.
    pub settings: bool,
}

impl CompileResult {
    /// Adds the outcomes of jobs. `changed` has the resources that are known to have changed.
    pub(super) fn add(&mut self, done: Vec<JobResult>, changed: &mut HashSet<ResourceName>) {
        for done in done {
            self.index.broken.extend(done.failed_variant);
            if let Some((resource, message)) = done.problem {
                self.problems.push(message.clone());
                self.index.failed.push((resource, message));
            }
            if let Some(entry) = done.entry {
                if done.new && changed.insert(entry.resource.clone()) {
                    self.changed.push(entry.resource.clone());
                }
                self.index.entries.push(entry);
            }
        }
    }

    /// Adds the changes caused by variants and resources that an earlier index has and the new
    /// index lacks.
    pub(super) fn record_removed(&mut self, before: &ResourceIndex) {
        let known: HashSet<ResourceName> = self.changed.iter().cloned().collect();
        for entry in &before.entries {
            let kept = self.index.variants(&entry.resource);
            if kept.is_empty() {
                self.removed.push(entry.resource.clone());
            } else if !kept.iter().any(|now| now.properties == entry.properties)
                && !known.contains(&entry.resource)
            {
                // A variant was removed, so another variant may now be used.
                self.changed.push(entry.resource.clone());
            }
        }
        for names in [&mut self.changed, &mut self.removed] {
            names.sort_compact();
            names.dedup();
        }
    }

    /// Recomputes the changes relative to an earlier index that the caller holds. Another engine on
    /// the same folder may have compiled some resources, so this compile did not count them as new.
    pub fn since(mut self, before: &ResourceIndex) -> CompileResult {
        self.changed.clear();
        self.removed.clear();
        for entry in &self.index.entries {
            let mut old = before.variants(&entry.resource).iter();
            let old = old.find(|old| old.properties == entry.properties);
            if old.is_none_or(|old| old.data_content != entry.data_content) {
                self.changed.push(entry.resource.clone());
            }
        }
        self.record_removed(before);
        self
    }
}
