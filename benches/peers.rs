//! Comparison with LÖVE: each workload is a game for both engines, described at the head of its
//! files in benches/peers, and played by both in turn in the same run.
//!
//!     cargo bench --bench peers                      everything, as a table
//!     cargo bench --bench peers -- gui physics       some groups
//!     cargo bench --bench peers -- --runs 5          number of processes for each result, else 3
//!     cargo bench --bench peers -- --json FILE       the table as JSON, too
//!     cargo bench --bench peers -- --markdown FILE   the table as in docs/performance.md
//!
//! "LÖVE 1.35: 4.2 x" after a result of this engine means that LÖVE takes 1.35 of the same unit,
//! which is 4.2 times as much. If LÖVE or Xvfb is missing, this is reported, and the engine plays
//! alone. Linux only, because CPU time and memory of children are queried with its system calls.

#[path = "peers/bare.rs"]
mod bare;
#[path = "reload/child.rs"]
#[expect(dead_code, reason = "the benchmark of reloads has another use for it")]
mod child;
#[path = "reload/files.rs"]
mod files;
#[path = "reload/folder.rs"]
#[expect(dead_code, reason = "others that share it use the rest")]
mod folder;
#[path = "peers/frames.rs"]
mod frames;
#[path = "gui/pictures.rs"]
mod gui_pictures;
#[path = "peers/paper.rs"]
mod paper;
#[path = "peers/saves.rs"]
mod saves;
#[path = "peers/stage.rs"]
mod stage;
#[path = "spine/table.rs"]
#[expect(dead_code, reason = "others that share it use the rest")]
mod table;
#[path = "peers/whole.rs"]
mod whole;

use stage::Stage;
use table::Group;

/// A group's name and its measuring function.
type Measure = (&'static str, fn(&Stage) -> Group);

/// All groups, in order. Startup is first, because a child's peak memory is never reported below
/// its parent's, which grows.
const GROUPS: &[Measure] = &[
    ("start", whole::start),
    ("assets", whole::assets),
    ("tests", whole::tests),
    ("gui", frames::gui),
    ("script", frames::script),
    ("calls", frames::calls),
    ("particles", frames::particles),
    ("physics", frames::physics),
    ("reload", saves::measure),
];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let (mut json, mut markdown, mut wanted, mut runs) = (None, None, Vec::new(), 3);
    while let Some(word) = arguments.next() {
        match word.as_str() {
            bare::ARGUMENT => return bare::main(arguments.next().as_deref() != Some(bare::CLEARS)),
            "--json" => json = Some(arguments.next().expect("--json needs a file's name")),
            "--markdown" => {
                markdown = Some(arguments.next().expect("--markdown needs a file's name"));
            }
            "--runs" => {
                let number = arguments.next().and_then(|word| word.parse().ok());
                runs = number.filter(|runs| *runs > 0).expect("--runs needs a number from 1");
            }
            word if GROUPS.iter().any(|(name, _)| *name == word) => wanted.push(word.to_string()),
            word => {
                let names: Vec<_> = GROUPS.iter().map(|(name, _)| *name).collect();
                let names = names.join(", ");
                panic!("'{word}' is not a group: {names}; or --runs, --json, --markdown");
            }
        }
    }
    let stage = Stage::open(runs);
    if let Some(version) = &stage.love {
        println!("compared with LÖVE {version}; medians of {runs} processes each");
    }
    let mut groups = Vec::new();
    for (name, measure) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            let group = measure(&stage);
            table::print(&group);
            groups.push(group);
        }
    }
    table::print_sum(&groups);
    if let Some(file) = json {
        std::fs::write(&file, table::json(&groups)).expect("the JSON file cannot be written");
    }
    if let Some(file) = markdown {
        let text = paper::markdown(&groups);
        std::fs::write(&file, text).expect("the table's file cannot be written");
    }
}
