//! Benchmarks of resources and hot reload: a file saved while the game is played, and a game of
//! 2,000 files. The walk over the heap is measured in tests/script_reload/measurements.rs,
//! the storm of 10,000 edits in tests/script_reload/edit_storm.rs.
//!
//!     cargo bench -- reload
//!     cargo bench -- reload saves           one part

mod assets;
pub mod files;
pub mod folder;
mod hot_reload;

use crate::run::Run;
use crate::table::Group;
use folder::{Folder, Random};

/// A group's name and its measuring function.
type Measure = (&'static str, fn() -> Group);

const GROUPS: &[Measure] = &[("saves", hot_reload::measure), ("assets", assets::measure)];

pub fn run(run: &mut Run) {
    for (name, measure) in GROUPS {
        run.part(name, measure);
    }
}
