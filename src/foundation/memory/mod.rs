//! Whose memory it is: every block that Rust allocates is counted under the owner that its thread
//! has named, and is taken from that owner when it is freed. After the proxy allocators of Niklas
//! Gray's "Custom Memory Allocation" (Bitsquid, 2010).
//!
//! A place in the code names the owner of what is allocated until the end of its block:
//!
//! ```text
//! owner!("textures");
//! ```
//!
//! Names are paths: `resources/texture` is a part of `resources`. Only programs whose global
//! allocator is [`Counting`] count; what C libraries and drivers allocate is not seen. A release
//! does not count owners, only the sum of all blocks, which has a limit ([`limit`]). What scripts
//! hold is counted by their own allocator, through [`Plain`].

mod allocator;
pub mod limit;
mod owners;
mod zeros;

use std::collections::BTreeMap;
use std::time::Duration;

pub use allocator::{Counting, Plain, is_counting, is_installed, note_installed, set_counting};
pub use owners::{NAME_BYTES_MAX, OWNERS_MAX, Owner, Site, each, number_of};
pub use zeros::Zeros;

/// Counts what is allocated under a name until the end of the block: `owner!("textures");`
#[macro_export]
macro_rules! owner {
    ($name:literal) => {
        let _owner = {
            static SITE: $crate::foundation::memory::Site =
                $crate::foundation::memory::Site::new($name);
            $crate::foundation::memory::Owner::of(&SITE)
        };
    };
}

/// What an owner holds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Held {
    pub bytes: i64,
    pub blocks: i64,
    /// Blocks that it ever allocated.
    pub made: u64,
}

/// What every owner holds at one time, by its name.
pub type Snapshot = BTreeMap<String, Held>;

/// What every owner holds now.
pub fn snapshot() -> Snapshot {
    owners::all().into_iter().map(|(name, held)| (name.to_string(), held)).collect()
}

/// A row of the tree of owners.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The last part of its path.
    pub name: String,
    pub path: String,
    /// In how many others it lies.
    pub parents: usize,
    /// With what its parts hold.
    pub held: Held,
}

/// A snapshot as a tree: each row before its parts, with the sums of them.
pub fn tree(of: &Snapshot) -> Vec<Row> {
    let mut sums: BTreeMap<Vec<&str>, Held> = BTreeMap::new();
    for (name, held) in of {
        let parts: Vec<&str> = name.split('/').collect();
        for end in 1..=parts.len() {
            let sum = sums.entry(parts[..end].to_vec()).or_default();
            sum.bytes += held.bytes;
            sum.blocks += held.blocks;
            sum.made += held.made;
        }
    }
    let rows = sums.into_iter().map(|(parts, held)| Row {
        name: parts[parts.len() - 1].to_string(),
        path: parts.join("/"),
        parents: parts.len() - 1,
        held,
    });
    rows.collect()
}

/// What an owner holds more, or less, than before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    pub name: String,
    pub bytes: i64,
    pub blocks: i64,
}

/// What changed between two snapshots, what grew most first.
pub fn changes(before: &Snapshot, after: &Snapshot) -> Vec<Change> {
    let changes = after.iter().map(|(name, now)| {
        let then = before.get(name).copied().unwrap_or_default();
        let (bytes, blocks) = (now.bytes - then.bytes, now.blocks - then.blocks);
        Change { name: name.clone(), bytes, blocks }
    });
    let mut changes: Vec<_> = changes.filter(|it| it.bytes != 0 || it.blocks != 0).collect();
    changes.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    changes
}

/// Owners whose memory may outlive a game: what the process keeps for the next one.
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

/// How often, and after how long, [`leaks`] looks again where something is held.
const LEAK_LOOKS: usize = 50;
const LEAK_WAIT: Duration = Duration::from_millis(20);

/// What was not given back since a snapshot that was taken before a game was opened, now that it is
/// closed: words, or none where all of it was.
pub fn leaks(before: &Snapshot) -> Option<String> {
    if !is_counting() {
        return None;
    }
    // Threads that were told to end may take a moment.
    for _ in 0..LEAK_LOOKS {
        leak_words(before, &snapshot())?;
        std::thread::sleep(LEAK_WAIT);
    }
    leak_words(before, &snapshot())
}

/// Whether an owner may hold so much: a call of a game's may be the first to fill a table that the
/// process keeps, and a worker's thread may end later than its game.
fn lasts(name: &str, bytes: i64) -> bool {
    const SMALL: i64 = 4096;
    LASTING.contains(&name) || (name.starts_with("calls/") && bytes < SMALL)
}

fn leak_words(before: &Snapshot, after: &Snapshot) -> Option<String> {
    let held = changes(before, after);
    let held = held.iter().filter(|change| change.blocks > 0 && !lasts(&change.name, change.bytes));
    let lines: Vec<_> =
        held.map(|it| format!("  {}: {} blocks, {} bytes", it.name, it.blocks, it.bytes)).collect();
    let words = "memory was not given back when the game was closed, by its owner:";
    (!lines.is_empty()).then(|| format!("{words}\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot_of(each: &[(&str, i64, i64)]) -> Snapshot {
        let held = |bytes, blocks| Held { bytes, blocks, made: blocks as u64 };
        each.iter().map(|(name, bytes, blocks)| (name.to_string(), held(*bytes, *blocks))).collect()
    }

    #[test]
    fn a_tree_has_the_sums_of_its_parts() {
        let rows = tree(&snapshot_of(&[("a/b", 10, 1), ("a/c", 5, 2), ("d", 1, 1)]));
        let rows: Vec<_> =
            rows.iter().map(|row| (row.path.as_str(), row.parents, row.held.bytes)).collect();
        assert_eq!(rows, [("a", 0, 15), ("a/b", 1, 10), ("a/c", 1, 5), ("d", 0, 1)]);
    }

    #[test]
    fn what_is_not_given_back_is_told_by_its_owner_but_not_what_lasts() {
        let before = snapshot_of(&[("engine", 10, 1), ("sound", 5, 1)]);
        let same = snapshot_of(&[("engine", 90, 9), ("sound", 5, 1), ("resources/data", 8, 1)]);
        assert_eq!(leak_words(&before, &same), None);
        let after = snapshot_of(&[("engine", 10, 1), ("sound", 25, 3), ("calls/Gui", 0, 0)]);
        let words = "memory was not given back when the game was closed, by its owner:\n  \
                     sound: 2 blocks, 20 bytes";
        assert_eq!(leak_words(&before, &after).unwrap(), words);
    }

    #[test]
    fn what_grew_most_is_told_first() {
        let before = snapshot_of(&[("a", 10, 1), ("b", 5, 1), ("c", 9, 3)]);
        let after = snapshot_of(&[("a", 12, 2), ("b", 105, 1), ("c", 9, 3), ("d", 2, 1)]);
        let changes = changes(&before, &after);
        let changes: Vec<_> = changes.iter().map(|it| (it.name.as_str(), it.bytes)).collect();
        assert_eq!(changes, [("b", 100), ("a", 2), ("d", 2)]);
    }
}
