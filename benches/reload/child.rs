//! The executable as a child process, and what it used.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// A word or a path.
pub type Argument<'a> = &'a dyn AsRef<OsStr>;

/// What one child used, in milliseconds.
pub struct Used {
    pub cpu: f64,
    pub wall: f64,
}

/// The executable with these arguments; what it saves goes beside the game.
pub fn command(arguments: &[Argument], saves: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command.args(arguments).env("ENGINE_SAVE_DIR", saves).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs it to its end.
pub fn run(arguments: &[Argument], saves: &Path) -> Used {
    let began = Instant::now();
    #[allow(clippy::zombie_processes, reason = "`wait` waits for it, for its CPU time")]
    let child = command(arguments, saves).spawn().expect("the engine starts");
    let cpu = wait(&child);
    Used { cpu, wall: began.elapsed().as_secs_f64() * 1e3 }
}

/// Waits for a child's end: the CPU time of all its threads, in user and system mode.
fn wait(child: &Child) -> f64 {
    let mut status = 0;
    // SAFETY: a record of plain numbers, filled by the call below for a child of ours that nobody
    // else waits for.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let waited = libc::wait4(child.id() as i32, &mut status, 0, &mut usage);
        assert!(waited == child.id() as i32, "the child was lost");
        usage
    };
    assert!(status == 0, "the engine ended with status {status}");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    (seconds(usage.ru_utime) + seconds(usage.ru_stime)) * 1e3
}
