//! Startup benchmark: the executable plays one frame of the template and ends.

use super::{MIB, cpu, game::Game};
use crate::child_process::{self, ResourceUsage};
use crate::table::{Group, median, row};
use std::path::{Path, PathBuf};

/// Runs the executable on a game's folder for one frame.
fn run_once(folder: &Path, saves: &Path) -> ResourceUsage {
    child_process::run(&[&"run", &folder, &"--headless", &"--frames", &"1"], saves)
}

/// Creates an empty folder for saves.
fn scratch() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("engine-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written to");
    folder
}

pub fn measure() -> Group {
    const RUNS: usize = 20;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (template, saves) = (root.join("game_template"), scratch());
    run_once(&template, &saves);
    let runs: Vec<ResourceUsage> = (0..RUNS).map(|_| run_once(&template, &saves)).collect();
    let boot = || {
        cpu(|| {
            Game::open("empty", &[], true);
        }) * 1e3
    };
    let first_boot = boot();
    let later_boot = median((0..RUNS).map(|_| boot()).collect());
    let size = std::fs::metadata(env!("CARGO_BIN_EXE_engine")).expect("it was just run").len();
    // A scratch folder; the operating system cleans up remaining files.
    let _ = std::fs::remove_dir_all(&saves);
    let peak = runs.iter().map(|used| used.peak).fold(0.0, f64::max);
    Group {
        name: "start",
        title: "engine run game_template --headless --frames 1",
        workload: "The release executable from process start to exit, CPU time of all its threads \
                   in user and system mode, files cached: median of 20 runs after one; peak \
                   resident memory: the most of the 20. Boots: making a VM, running the \
                   prelude and ending it again, without a process around it: once for the \
                   first, which parses the prelude's text, median of 20 for later ones. The \
                   executable is stripped.",
        rows: vec![
            row(
                "CPU from start to exit",
                median(runs.iter().map(|used| used.cpu).collect()),
                "ms",
                Some(25.0),
            ),
            row("peak resident memory", peak, "MiB", Some(30.0)),
            row("stripped release executable", size as f64 / MIB, "MiB", Some(8.0)),
            row("  the boot of a process's first VM", first_boot, "ms", None),
            row("  the boot of a later VM", later_boot, "ms", None),
        ],
    }
}
