//! Detection of files that were read while their writers had not finished them.

use super::{WatchState, WatchedFolder, real_path};
use crate::compile::CompileResult;
use crate::index::{FileStamp, IndexEntry};
use crate::resource_name::is_script;
use crate::settings;
use engine_foundation::file_access::{self, EntryKind, readers};
use engine_foundation::hash::murmur64a;
use engine_foundation::sjson;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum number of files of a burst that are examined. A change of more files is no save of an
/// editor.
pub(super) const EXAMINED_MAX: usize = 64;

/// Returns true if a file was empty, or missing, when it was read.
fn is_empty(stamp: &FileStamp) -> bool {
    stamp.is_missing() || stamp.content == murmur64a(&[], 0)
}

/// Returns true if a file had content when an entry was compiled.
fn has_content_in(entry: &IndexEntry, path: &str) -> bool {
    entry.files.iter().any(|stamp| stamp.path == path && !is_empty(stamp))
}

/// A burst of events, and the circumstances of its compile.
pub(super) struct CompiledBurst<'a> {
    pub(super) touched: &'a HashSet<PathBuf>,
    /// The settings at the end of the compile.
    pub(super) settings: Option<&'a [u8]>,
    /// Duration of the compile.
    pub(super) duration: Duration,
}

impl WatchedFolder {
    /// Returns true if a file that was just written is empty and was not before, or has text that
    /// cannot be parsed.
    pub(super) fn is_unfinished(&self, touched: &HashSet<PathBuf>, state: &WatchState) -> bool {
        if touched.len() > EXAMINED_MAX {
            return false;
        }
        touched.iter().any(|path| {
            let Ok(relative) = path.strip_prefix(&self.canonical_root) else { return false };
            let relative = relative.to_string_lossy().replace('\\', "/");
            if relative == settings::FILE {
                return are_settings_unfinished(self.read_settings().as_deref(), state);
            }
            let known = state.last_index.entries.iter().map(|entry| &entry.files[0]);
            let known = known.into_iter().find(|stamp| stamp.path == relative);
            let found = file_access::inspect(&self.root, &relative).ok();
            let size =
                found.and_then(|(kind, state)| (kind == EntryKind::File).then_some(state.size));
            match (known, size) {
                (Some(stamp), Some(0)) => !is_empty(stamp),
                (_, Some(_)) if is_script(&relative) => self.is_script_unfinished(&relative, None),
                _ => false,
            }
        })
    }

    /// Returns true if a compile read files while they were saved: files that are empty or missing
    /// and were not before, files that are new and empty, and scripts that cannot be parsed or have
    /// changed since. For the missing and the new ones in `touched`, the end of the burst was
    /// awaited: their state is final.
    ///
    /// A script that changed during a compile longer than [`COMPLETION`](super::COMPLETION) was
    /// saved again. It was whole before, and the event of that save follows.
    pub(super) fn is_premature(
        &self,
        compiled: &CompileResult,
        burst: &CompiledBurst,
        state: &WatchState,
    ) -> bool {
        if compiled.settings && are_settings_unfinished(burst.settings, state) {
            return true;
        }
        if compiled.changed.len() + compiled.removed.len() > EXAMINED_MAX {
            return false;
        }
        let is_touched = |stamp: &FileStamp| self.is_touched(&stamp.path, burst.touched);
        let of_removed = compiled.removed.iter().flat_map(|name| state.last_index.variants(name));
        // New settings can exclude a file, which then exists unchanged.
        let is_excluded = |stamp: &FileStamp| compiled.settings && self.is_unchanged(stamp);
        // Without a file, an event means that anything may have changed.
        let is_away = |entry: &IndexEntry| {
            let source = &entry.files[0];
            !burst.touched.is_empty() && !is_touched(source) && !is_excluded(source)
        };
        let is_long = burst.duration > self.how.completion;
        let of_changed = compiled.changed.iter().flat_map(|name| compiled.index.variants(name));
        let is_unfinished = |entry: &IndexEntry| {
            let mut known = state.last_index.variants(&entry.resource).iter();
            let known = known.find(|known| known.properties == entry.properties);
            let is_emptied = |stamp: &FileStamp| {
                is_empty(stamp)
                    && known.is_some_and(|known| has_content_in(known, &stamp.path))
                    && !(stamp.is_missing() && is_touched(stamp))
            };
            let source = &entry.files[0];
            let content = (!is_long).then_some(source.content);
            entry.files.iter().any(is_emptied)
                || known.is_none() && is_empty(source) && !is_touched(source)
                || is_script(&source.path) && self.is_script_unfinished(&source.path, content)
        };
        of_removed.into_iter().any(is_away) || of_changed.into_iter().any(is_unfinished)
    }

    /// Returns true if a file of the game, or a folder that contains it, is among the paths of
    /// events, which may name the target of a linked folder.
    fn is_touched(&self, path: &str, touched: &HashSet<PathBuf>) -> bool {
        let is_in = |path: &Path| path.ancestors().any(|path| touched.contains(path));
        let path = self.canonical_root.join(path);
        is_in(&path) || is_in(&real_path(&path))
    }

    /// Returns true if a file has been the same since it was compiled.
    fn is_unchanged(&self, stamp: &FileStamp) -> bool {
        let now = file_access::inspect(&self.root, &stamp.path);
        stamp.identifies_content() && now.is_ok_and(|(_, state)| state == stamp.state)
    }

    /// Returns true if a script cannot be parsed, or no longer has the content that was compiled.
    fn is_script_unfinished(&self, path: &str, compiled: Option<u64>) -> bool {
        let Ok(bytes) = file_access::read(&self.root, path, &readers::SCRIPT) else { return true };
        if compiled.is_some_and(|content| content != murmur64a(&bytes, 0)) {
            return true;
        }
        let text = String::from_utf8(bytes).ok();
        text.is_none_or(|text| (self.how.syntax_check)(path, &text).is_some())
    }
}

/// Returns true if the settings are empty and were not before, or cannot be parsed.
fn are_settings_unfinished(settings: Option<&[u8]>, state: &WatchState) -> bool {
    let Some(now) = settings else { return false };
    let was_filled = state.settings.as_ref().is_some_and(|before| !before.is_empty());
    now.is_empty() && was_filled || sjson::parse_bytes(now).is_err()
}
