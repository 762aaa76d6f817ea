//! Benchmarks of resources and hot reload: a file saved while the game is played, and a game of
//! 2,000 files. The walk over the heap is measured in tests/reload/figures.rs, the storm of 10,000
//! edits in tests/reload/storm.rs.
//!
//!     cargo bench --bench reload                   everything, as a table
//!     cargo bench --bench reload -- saves          one group
//!     cargo bench --bench reload -- --json FILE    the table as JSON, too
//!
//! A missed target is printed as a miss. The exit code reports only whether everything could be
//! measured.

#[path = "reload/assets.rs"]
mod assets;
#[path = "reload/child.rs"]
mod child;
#[path = "reload/files.rs"]
mod files;
#[path = "reload/folder.rs"]
mod folder;
#[path = "reload/saves.rs"]
mod saves;
#[path = "spine/table.rs"]
mod table;

use folder::{Dice, Folder};
use table::Group;

/// A group's name and its measuring function.
type Measure = (&'static str, fn() -> Group);

const GROUPS: &[Measure] = &[("saves", saves::measure), ("assets", assets::measure)];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let (mut json, mut wanted) = (None, Vec::new());
    while let Some(word) = arguments.next() {
        match word.as_str() {
            "--json" => json = Some(arguments.next().expect("--json needs a file's name")),
            word if GROUPS.iter().any(|(name, _)| *name == word) => wanted.push(word.to_string()),
            word => panic!("'{word}' is not a group: saves, assets, or --json FILE"),
        }
    }
    let mut groups = Vec::new();
    for (name, measure) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            let group = measure();
            table::print(&group);
            groups.push(group);
        }
    }
    table::print_sum(&groups);
    if let Some(file) = json {
        std::fs::write(&file, table::json(&groups)).expect("the JSON file cannot be written");
    }
}
