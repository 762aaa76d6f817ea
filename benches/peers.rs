//! Comparison with LÖVE: each workload is a game for both engines, described at the head of its
//! files in benches/peers, and played by both in turn in the same run.
//!
//!     cargo bench -- peers
//!     cargo bench -- peers gui physics      some groups
//!     cargo bench -- peers --runs 5         number of processes for each result, else 3
//!     cargo bench -- peers --markdown FILE  the table as in docs/performance.md
//!
//! "LÖVE 1.35: 4.2 x" after a result of this engine means that LÖVE takes 1.35 of the same unit,
//! which is 4.2 times as much. If LÖVE or Xvfb is missing, this is reported, and the engine plays
//! alone. Linux only, because CPU time and memory of children are queried with its system calls.

pub mod bare;
mod environment;
mod frames;
mod hot_reload;
mod markdown;
mod processes;

use crate::gui::textures as gui_textures;
use crate::reload::{files, folder};
use crate::run::Run;
use crate::table::Group;
use environment::Environment;

/// A group's name and its measuring function.
type Measure = (&'static str, fn(&Environment) -> Group);

/// All groups, in order. Startup is first, because a child's peak memory is never reported below
/// its parent's, which grows.
const GROUPS: &[Measure] = &[
    ("start", processes::start),
    ("assets", processes::assets),
    ("tests", processes::tests),
    ("gui", frames::gui),
    ("script", frames::script),
    ("calls", frames::calls),
    ("particles", frames::particles),
    ("physics", frames::physics),
    ("reload", hot_reload::measure),
];

pub fn run(run: &mut Run) {
    let selected: Vec<_> = GROUPS.iter().filter(|(name, _)| run.wants(name)).collect();
    if selected.is_empty() {
        return;
    }
    let environment = Environment::open(run.processes);
    if let Some(version) = &environment.love {
        println!("compared with LÖVE {version}; medians of {} processes each", run.processes);
    }
    let first = run.groups.len();
    selected.iter().for_each(|(_, measure)| run.add(measure(&environment)));
    if let Some(file) = &run.markdown {
        let text = markdown::markdown(&run.groups[first..]);
        std::fs::write(file, text).expect("the table's file cannot be written");
    }
}
