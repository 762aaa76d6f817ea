//! Memory tracking: every block that Rust allocates is counted under the owner that its thread has
//! named, and is subtracted from that owner when it is freed. After the proxy allocators of Niklas
//! Gray's "Custom Memory Allocation" (Bitsquid, 2010).
//!
//! Code names the owner of allocations until the end of its block:
//!
//! ```text
//! owner!("textures");
//! ```
//!
//! Names are paths: `resources/texture` is a part of `resources`. Only programs whose global
//! allocator is [`CountingAllocator`] count. Allocations of C libraries and drivers are not seen. A
//! release build does not count owners, only the total of all blocks, which has a limit
//! ([`limit`]). Memory of scripts is counted by their own allocator, through
//! [`UncountedAllocator`].

mod allocator;
mod lazy_zeroed;
pub mod limit;
mod owners;

use crate::compact_sort::CompactSort;
use std::collections::BTreeMap;
use std::time::Duration;

pub use allocator::{
    CountingAllocator, UncountedAllocator, is_counting, is_installed, mark_installed, set_counting,
};
pub use lazy_zeroed::LazyZeroed;
pub use owners::{NAME_BYTES_MAX, OWNERS_MAX, OwnerScope, OwnerSite, each, number_of};

/// Counts allocations under an owner until the end of the block: `owner!("textures");`
#[macro_export]
macro_rules! owner {
    ($name:literal) => {
        let _owner = {
            static SITE: $crate::memory::OwnerSite = $crate::memory::OwnerSite::new($name);
            $crate::memory::OwnerScope::of(&SITE)
        };
    };
}

/// The memory that an owner holds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct OwnerUsage {
    pub bytes: i64,
    pub blocks: i64,
    /// Number of blocks that the owner ever allocated.
    pub allocations: u64,
}

/// The memory of every owner at one moment, by the owner's name.
pub type MemorySnapshot = BTreeMap<String, OwnerUsage>;

/// Returns the memory that every owner holds now.
pub fn snapshot() -> MemorySnapshot {
    owners::all().into_iter().map(|(name, held)| (name.to_string(), held)).collect()
}

/// A row of the tree of owners.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnerRow {
    /// The last part of the owner's path.
    pub name: String,
    pub path: String,
    /// Number of ancestors in the tree.
    pub parents: usize,
    /// The memory of the owner and all of its descendants.
    pub held: OwnerUsage,
}

/// Converts a snapshot to a tree: each row comes before its children and includes their sums.
pub fn tree(of: &MemorySnapshot) -> Vec<OwnerRow> {
    let mut sums: BTreeMap<Vec<&str>, OwnerUsage> = BTreeMap::new();
    for (name, held) in of {
        let segments: Vec<&str> = name.split('/').collect();
        for end in 1..=segments.len() {
            let sum = sums.entry(segments[..end].to_vec()).or_default();
            sum.bytes += held.bytes;
            sum.blocks += held.blocks;
            sum.allocations += held.allocations;
        }
    }
    let rows = sums.into_iter().map(|(segments, held)| OwnerRow {
        name: segments[segments.len() - 1].to_string(),
        path: segments.join("/"),
        parents: segments.len() - 1,
        held,
    });
    rows.collect()
}

/// The difference in an owner's memory between two snapshots.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnerChange {
    pub name: String,
    pub bytes: i64,
    pub blocks: i64,
}

/// Returns the changes between two snapshots, largest growth first.
pub fn changes(before: &MemorySnapshot, after: &MemorySnapshot) -> Vec<OwnerChange> {
    let changes = after.iter().map(|(name, now)| {
        let then = before.get(name).copied().unwrap_or_default();
        let (bytes, blocks) = (now.bytes - then.bytes, now.blocks - then.blocks);
        OwnerChange { name: name.clone(), bytes, blocks }
    });
    let mut changes: Vec<_> = changes.filter(|it| it.bytes != 0 || it.blocks != 0).collect();
    changes.sort_compact_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    changes
}

/// Owners whose memory may outlive a game, because the process keeps it for the next game.
const LASTING: [&str; 9] = [
    "engine",
    "log",
    "profiler",
    "statistics",
    "resources/data",
    "resources/watch",
    "tasks",
    "tools",
    "workers",
];

/// Number of checks, and the pause between them, while [`leaks`] waits for memory to be freed.
const LEAK_CHECKS: usize = 50;
const LEAK_WAIT: Duration = Duration::from_millis(20);

/// Returns a message about memory that a closed game did not free, or `None` if all was freed.
/// `before` is a snapshot from before the game was opened.
pub fn leaks(before: &MemorySnapshot) -> Option<String> {
    if !is_counting() {
        return None;
    }
    // Threads that are shutting down may take a moment.
    for _ in 0..LEAK_CHECKS {
        leak_report(before, &snapshot())?;
        std::thread::sleep(LEAK_WAIT);
    }
    leak_report(before, &snapshot())
}

/// Returns true if an owner may still hold this many bytes. A game's call may be the first to fill
/// a table that the process keeps, and a worker thread may end later than its game.
fn is_lasting(name: &str, bytes: i64) -> bool {
    const SMALL: i64 = 4096;
    LASTING.contains(&name) || (name.starts_with("calls/") && bytes < SMALL)
}

fn leak_report(before: &MemorySnapshot, after: &MemorySnapshot) -> Option<String> {
    let held = changes(before, after);
    let held =
        held.iter().filter(|change| change.blocks > 0 && !is_lasting(&change.name, change.bytes));
    let lines: Vec<_> =
        held.map(|it| format!("  {}: {} blocks, {} bytes", it.name, it.blocks, it.bytes)).collect();
    let message = "memory was not freed when the game was closed, by owner:";
    (!lines.is_empty()).then(|| format!("{message}\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot_of(each: &[(&str, i64, i64)]) -> MemorySnapshot {
        let held = |bytes, blocks| OwnerUsage { bytes, blocks, allocations: blocks as u64 };
        each.iter().map(|(name, bytes, blocks)| (name.to_string(), held(*bytes, *blocks))).collect()
    }

    #[test]
    fn a_node_of_the_tree_sums_its_children() {
        let rows = tree(&snapshot_of(&[("a/b", 10, 1), ("a/c", 5, 2), ("d", 1, 1)]));
        let rows: Vec<_> =
            rows.iter().map(|row| (row.path.as_str(), row.parents, row.held.bytes)).collect();
        assert_eq!(rows, [("a", 0, 15), ("a/b", 1, 10), ("a/c", 1, 5), ("d", 0, 1)]);
    }

    #[test]
    fn leaks_are_reported_by_owner_without_static_memory() {
        let before = snapshot_of(&[("engine", 10, 1), ("sound", 5, 1)]);
        let same = snapshot_of(&[("engine", 90, 9), ("sound", 5, 1), ("resources/data", 8, 1)]);
        assert_eq!(leak_report(&before, &same), None);
        let after = snapshot_of(&[("engine", 10, 1), ("sound", 25, 3), ("calls/Gui", 0, 0)]);
        let message = "memory was not freed when the game was closed, by owner:\n  sound: 2 \
                       blocks, 20 bytes";
        assert_eq!(leak_report(&before, &after).unwrap(), message);
    }

    #[test]
    fn the_largest_growth_is_reported_first() {
        let before = snapshot_of(&[("a", 10, 1), ("b", 5, 1), ("c", 9, 3)]);
        let after = snapshot_of(&[("a", 12, 2), ("b", 105, 1), ("c", 9, 3), ("d", 2, 1)]);
        let changes = changes(&before, &after);
        let changes: Vec<_> = changes.iter().map(|it| (it.name.as_str(), it.bytes)).collect();
        assert_eq!(changes, [("b", 100), ("a", 2), ("d", 2)]);
    }
}
