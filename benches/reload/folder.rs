//! Scratch folders of generated games, and pseudorandom numbers to fill them.

use std::path::{Path, PathBuf};

/// Pseudorandom number generator with the same sequence in every run (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// A game's folder, and a folder for saves and compiled data. Both are removed on drop.
pub struct Folder {
    root: PathBuf,
    game: PathBuf,
    saves: PathBuf,
}

impl Folder {
    pub fn new(name: &str) -> Folder {
        let root = std::env::temp_dir().join(format!("engine-{name}-{}", std::process::id()));
        // A leftover of an earlier process with the same id.
        let _ = std::fs::remove_dir_all(&root);
        let (game, saves) = (root.join("game"), root.join("saves"));
        for folder in [&game, &saves] {
            std::fs::create_dir_all(folder).expect("the temporary folder can be written to");
        }
        Folder { root, game, saves }
    }

    pub fn path(&self) -> &Path {
        &self.game
    }

    pub fn saves(&self) -> &Path {
        &self.saves
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.game.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("the temporary folder can be written to");
        }
        std::fs::write(path, bytes).expect("the temporary folder can be written to");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The operating system cleans up remaining files.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}
