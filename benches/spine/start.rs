//! Startup benchmark: the executable plays one frame of the template and ends.

use super::{MIB, cpu, game::Game};
use crate::table::{Group, median, row};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Resource usage of one child.
struct ResourceUsage {
    cpu_milliseconds: f64,
    peak_mib: f64,
}

/// Runs the executable on a game's folder for one frame.
#[allow(clippy::zombie_processes, reason = "wait4 waits for it, and says what it used")]
fn run_once(folder: &Path, saves: &Path) -> ResourceUsage {
    let child = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(["run".as_ref(), folder.as_os_str()])
        .args(["--headless", "--frames", "1"])
        .env("ENGINE_SAVE_DIR", saves)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the engine starts");
    let mut status = 0;
    // SAFETY: a record of plain numbers, filled by the call below for our own child, for which no
    // other code waits.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let waited = libc::wait4(child.id() as i32, &mut status, 0, &mut usage);
        assert!(waited == child.id() as i32, "the child was lost");
        usage
    };
    assert!(status == 0, "engine run {} ended with status {status}", folder.display());
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    ResourceUsage {
        cpu_milliseconds: (seconds(usage.ru_utime) + seconds(usage.ru_stime)) * 1e3,
        // Linux reports KiB.
        peak_mib: usage.ru_maxrss as f64 / 1024.0,
    }
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
    let peak = runs.iter().map(|used| used.peak_mib).fold(0.0, f64::max);
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
                median(runs.iter().map(|used| used.cpu_milliseconds).collect()),
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
