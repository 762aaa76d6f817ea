//! Confinement of the process by the kernel: which files it can open (Landlock), and that it starts
//! no programs (seccomp). Linux alone has both here. Knows no games; src/app/confinement.rs does.

#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod libraries;

use std::path::PathBuf;

/// The files that a confined process can reach beside those of the system's libraries. Paths that
/// do not exist are left out.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Folders with all that is in them, and files, to read.
    pub read: Vec<PathBuf>,
    /// Folders to read, and to change whatever is in them.
    pub write: Vec<PathBuf>,
    /// Files to read and to write where they are.
    pub files: Vec<PathBuf>,
    /// Programs that can be started, until [`forbid_programs`].
    pub programs: Vec<PathBuf>,
    /// Graphics cards, sound cards and pads.
    pub devices: bool,
    /// The name of the folder in which graphics drivers keep the shaders of this game: its id. What
    /// has no id shares one folder.
    pub driver_cache: Option<String>,
    /// Sockets that have a name and no path can be connected to: libraries of X11 try them first,
    /// and give up when they are refused.
    pub abstract_sockets: bool,
}

/// How well the files are limited.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limited {
    /// The kernel's version of Landlock.
    pub version: u32,
    /// Threads that were there before, which the limit does not hold for.
    pub threads_outside: usize,
}

/// Has the kernel limit the files that the calling thread can open, and those that it starts: it
/// must be the only one. What is open already stays open.
///
/// # Errors
/// Why the system cannot.
#[cfg(target_os = "linux")]
pub fn limit_files(reach: &Reach) -> Result<Limited, String> {
    use landlock::Scope;
    use landlock::{ABI, Access, AccessFs, LandlockStatus, PathBeneath, PathFd};
    use landlock::{RestrictSelfAttr, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus};
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let share = AccessFs::ReadFile
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::RemoveFile;
    let write = read | share | AccessFs::MakeDir | AccessFs::RemoveDir;
    let plain_device = AccessFs::ReadFile | AccessFs::WriteFile;
    let device = read | plain_device | AccessFs::IoctlDev;
    let mut rules = Vec::new();
    let mut allow = |paths: Vec<PathBuf>, rights| {
        rules.extend(paths.into_iter().map(|path| (path, rights)));
    };
    allow(libraries::readable(), read);
    allow(libraries::PLAIN_DEVICES.iter().map(PathBuf::from).collect(), plain_device);
    allow(reach.read.clone(), read);
    allow(reach.write.clone(), write);
    allow(reach.files.clone(), plain_device | AccessFs::Truncate);
    // Whoever reports a panic looks up where it was.
    allow(std::env::current_exe().into_iter().collect(), read);
    if reach.devices {
        allow(libraries::devices(), device);
        allow(vec![PathBuf::from(libraries::SHARED_MEMORY)], share);
        allow(libraries::driver_caches(reach.driver_cache.as_deref()), write);
        allow(libraries::opened_folders(), AccessFs::ReadDir.into());
    }
    if !reach.programs.is_empty() {
        let programs = reach.programs.iter().cloned().chain(loader()).collect();
        allow(programs, read | AccessFs::Execute);
    }
    let words = |error: landlock::RulesetError| error.to_string();
    // Connecting to a socket is a right of later versions, and none that is limited here: the
    // display and the sound are reached by sockets.
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(ABI::V5)).map_err(words)?;
    let mut ruleset = ruleset.scope(Scope::Signal).map_err(words)?;
    if !reach.abstract_sockets {
        ruleset = ruleset.scope(Scope::AbstractUnixSocket).map_err(words)?;
    }
    let mut ruleset = ruleset.create().map_err(words)?;
    for (path, rights) in rules {
        if let Ok(file) = PathFd::new(path) {
            ruleset = ruleset.add_rule(PathBeneath::new(file, rights)).map_err(words)?;
        }
    }
    // The kernel forgets the folder of a process, and the rule with it, unless it is open.
    if let Ok(own) = PathFd::new("/proc/self") {
        ruleset = ruleset.add_rule(PathBeneath::new(&own, read)).map_err(words)?;
        std::mem::forget(own);
    }
    let others = std::fs::read_dir("/proc/self/task").map_or(0, |threads| threads.count() - 1);
    // Kernels from 7.0 on limit the other threads, too.
    let ruleset = ruleset.all_threads(true).map_err(words)?;
    let status = ruleset.restrict_self().map_err(words)?;
    let threads_outside = if status.all_threads { 0 } else { others };
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. }
            if status.ruleset != RulesetStatus::NotEnforced =>
        {
            Ok(Limited { version: effective_abi as u32, threads_outside })
        }
        LandlockStatus::NotEnabled => Err("the kernel has Landlock switched off".to_string()),
        _ => Err("the kernel has no Landlock, which Linux 5.13 brought".to_string()),
    }
}

/// The program that loads the libraries of others: the kernel runs it when one is started.
#[cfg(target_os = "linux")]
fn loader() -> Option<PathBuf> {
    // SAFETY: reads a number that the kernel gave the process.
    let start = unsafe { libc::getauxval(libc::AT_BASE) };
    let maps = std::fs::read_to_string("/proc/self/maps").ok().filter(|_| start != 0)?;
    let first = maps.lines().find(|line| line.starts_with(&format!("{start:x}-")))?;
    first.find('/').map(|at| PathBuf::from(&first[at..]))
}

/// Has the kernel refuse to start programs, and a few other calls that no game needs, in all
/// threads of the process; `but_programs`: only the other calls.
///
/// # Errors
/// Why the system cannot.
#[cfg(target_os = "linux")]
pub fn forbid_programs(but_programs: bool) -> Result<(), String> {
    filter::install(but_programs).map_err(|reason| match reason.raw_os_error() {
        Some(libc::ENOSYS | libc::EINVAL) => {
            "the kernel has no filter of system calls (seccomp)".to_string()
        }
        _ => reason.to_string(),
    })
}

/// As on Linux, where there is no such thing.
#[cfg(not(target_os = "linux"))]
pub fn limit_files(_: &Reach) -> Result<Limited, String> {
    Err(format!("the engine does not confine itself on {}", super::NAME))
}

/// As on Linux, where there is no such thing.
#[cfg(not(target_os = "linux"))]
pub fn forbid_programs(_: bool) -> Result<(), String> {
    Err(format!("the engine does not confine itself on {}", super::NAME))
}
