//! The figures of resources and hot reload: a file that is saved while the game is played, and a
//! game of 2,000 files. What the walk over the heap costs is in tests/reload/figures.rs, the storm
//! of 10,000 edits in tests/reload/storm.rs.
//!
//!     cargo bench --bench reload                   everything, as a table
//!     cargo bench --bench reload -- saves          one group
//!     cargo bench --bench reload -- --json FILE    the table as JSON, too
//!
//! A miss is printed as a miss; the exit code tells only whether everything could be measured.

#[path = "reload/assets.rs"]
mod assets;
#[path = "reload/child.rs"]
mod child;
#[path = "reload/saves.rs"]
mod saves;
#[path = "spine/table.rs"]
mod table;

use std::path::{Path, PathBuf};
use table::Group;

/// A group's name and what measures it.
type Measure = (&'static str, fn() -> Group);

const GROUPS: &[Measure] = &[("saves", saves::measure), ("assets", assets::measure)];

/// Numbers that look random, the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    /// A number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// A game's folder, and one for what is saved and compiled; both go when it is dropped.
struct Folder {
    root: PathBuf,
    game: PathBuf,
    saves: PathBuf,
}

impl Folder {
    fn new(name: &str) -> Folder {
        let root = std::env::temp_dir().join(format!("engine-{name}-{}", std::process::id()));
        // What an earlier process of this number left.
        let _ = std::fs::remove_dir_all(&root);
        let (game, saves) = (root.join("game"), root.join("saves"));
        for folder in [&game, &saves] {
            std::fs::create_dir_all(folder).expect("the temporary folder can be written to");
        }
        Folder { root, game, saves }
    }

    fn path(&self) -> &Path {
        &self.game
    }

    fn saves(&self) -> &Path {
        &self.saves
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.game.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("the temporary folder can be written to");
        }
        std::fs::write(path, bytes).expect("the temporary folder can be written to");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left of it is the system's to clean.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let (mut json, mut wanted) = (None, Vec::new());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--json" => json = Some(words.next().expect("--json needs a file's name")),
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
