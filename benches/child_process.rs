//! Child processes, mostly of the engine's executable, and their resource usage.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// An argument: text or a path.
pub type Argument<'a> = &'a dyn AsRef<OsStr>;

/// Resource usage of one child: milliseconds of CPU time of all its threads and of real time, and
/// the peak resident memory in MiB, which is never reported below the parent's.
pub struct ResourceUsage {
    pub cpu: f64,
    pub wall: f64,
    pub peak: f64,
}

/// Returns the command of the executable with these arguments. Its saves go to `saves`.
pub fn command(arguments: &[Argument], saves: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_engine"));
    command.args(arguments).env("ENGINE_SAVE_DIR", saves).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs the executable to its end.
pub fn run(arguments: &[Argument], saves: &Path) -> ResourceUsage {
    let used = run_command(&mut command(arguments, saves));
    used.unwrap_or_else(|status| panic!("the engine ended with status {status}"))
}

/// Runs a command to its end. If the command fails, returns its exit status as an error.
pub fn run_command(command: &mut Command) -> Result<ResourceUsage, i32> {
    let began = Instant::now();
    #[allow(clippy::zombie_processes, reason = "`wait` waits for it, for what it used")]
    let child = command.spawn().unwrap_or_else(|reason| {
        panic!("{} cannot be started: {reason}", command.get_program().display())
    });
    let used = wait(&child)?;
    Ok(ResourceUsage { wall: began.elapsed().as_secs_f64() * 1e3, ..used })
}

/// Waits for a child's end.
fn wait(child: &Child) -> Result<ResourceUsage, i32> {
    let mut status = 0;
    // SAFETY: a record of plain numbers, filled by the call below for our own child, for which no
    // other code waits.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let waited = libc::wait4(child.id() as i32, &mut status, 0, &mut usage);
        assert!(waited == child.id() as i32, "the child was lost");
        usage
    };
    if status != 0 {
        return Err(status);
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    let cpu = (seconds(usage.ru_utime) + seconds(usage.ru_stime)) * 1e3;
    // Linux reports KiB.
    Ok(ResourceUsage { cpu, wall: 0.0, peak: usage.ru_maxrss as f64 / 1024.0 })
}
