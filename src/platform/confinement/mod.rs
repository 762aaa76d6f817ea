//! Confinement (sandboxing) of the process by the kernel: the files that it can open (Landlock),
//! and the denial of starting programs (seccomp). It exists only on Linux. Knows no games;
//! src/app/confinement.rs does.

#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod libraries;

use std::path::PathBuf;

/// The files that a confined process can access, in addition to those of the system's libraries.
/// Paths that do not exist are skipped.
#[derive(Clone, Debug, Default)]
pub struct FileAccessList {
    /// Files, and folders with all of their contents, that can be read.
    pub read: Vec<PathBuf>,
    /// Folders whose contents can be read and changed.
    pub write: Vec<PathBuf>,
    /// Folders between which files can be linked. They are also in `write`.
    pub linked: Vec<PathBuf>,
    /// Folders in which empty folders can be removed.
    pub removable: Vec<PathBuf>,
    /// Files that can be read and written in place.
    pub files: Vec<PathBuf>,
    /// Programs that can be started, until [`forbid_programs`].
    pub programs: Vec<PathBuf>,
    /// True to allow graphics cards, sound cards and gamepads.
    pub devices: bool,
    /// Name of the folder in which graphics drivers keep the shaders of this game: the game's id.
    /// All games without an id share one folder.
    pub driver_cache: Option<String>,
    /// True to allow connections to abstract sockets, which have a name and no path. X11 libraries
    /// try these first, and give up if the connection is refused.
    pub abstract_sockets: bool,
}

/// The extent to which file access is limited.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConfinementLevel {
    /// The kernel's Landlock version.
    pub version: u32,
    /// Number of earlier threads to which the limit does not apply.
    pub threads_outside: usize,
}

/// Makes the kernel limit the files that the calling thread, and threads that it starts, can open.
/// It must be the only thread. Open files stay open.
///
/// # Errors
/// Returns the reason if the system cannot limit file access.
#[cfg(target_os = "linux")]
pub fn limit_files(access: &FileAccessList) -> Result<ConfinementLevel, String> {
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
    allow(access.read.clone(), read);
    allow(access.write.clone(), write);
    allow(access.linked.clone(), AccessFs::Refer.into());
    allow(access.removable.clone(), AccessFs::RemoveDir.into());
    allow(access.files.clone(), plain_device | AccessFs::Truncate);
    // The report of a panic reads the executable to find the source location.
    allow(std::env::current_exe().into_iter().collect(), read);
    if access.devices {
        allow(libraries::devices(), device);
        allow(vec![PathBuf::from(libraries::SHARED_MEMORY)], share);
        allow(libraries::driver_caches(access.driver_cache.as_deref()), write);
        allow(libraries::opened_folders(), AccessFs::ReadDir.into());
    }
    if !access.programs.is_empty() {
        let programs = access.programs.iter().cloned().chain(loader()).collect();
        allow(programs, read | AccessFs::Execute);
    }
    let message = |error: landlock::RulesetError| error.to_string();
    // Connecting to a socket is a right of later versions and is not limited here, because the
    // display and the sound are accessed through sockets.
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(ABI::V5)).map_err(message)?;
    let mut ruleset = ruleset.scope(Scope::Signal).map_err(message)?;
    if !access.abstract_sockets {
        ruleset = ruleset.scope(Scope::AbstractUnixSocket).map_err(message)?;
    }
    let mut ruleset = ruleset.create().map_err(message)?;
    for (path, rights) in rules {
        if let Ok(file) = PathFd::new(path) {
            ruleset = ruleset.add_rule(PathBeneath::new(file, rights)).map_err(message)?;
        }
    }
    // The kernel drops the folder of a process, and the rule with it, unless the folder is open.
    if let Ok(own_process) = PathFd::new("/proc/self") {
        ruleset = ruleset.add_rule(PathBeneath::new(&own_process, read)).map_err(message)?;
        std::mem::forget(own_process);
    }
    let other_threads =
        std::fs::read_dir("/proc/self/task").map_or(0, |threads| threads.count() - 1);
    // Kernels from 7.0 on also limit the other threads.
    let ruleset = ruleset.all_threads(true).map_err(message)?;
    let status = ruleset.restrict_self().map_err(message)?;
    let threads_outside = if status.all_threads { 0 } else { other_threads };
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. }
            if status.ruleset != RulesetStatus::NotEnforced =>
        {
            Ok(ConfinementLevel { version: effective_abi as u32, threads_outside })
        }
        LandlockStatus::NotEnabled => Err("the kernel has Landlock switched off".to_string()),
        _ => Err("the kernel has no Landlock, which exists since Linux 5.13".to_string()),
    }
}

/// Returns the path of the dynamic loader, which the kernel runs when a program is started.
#[cfg(target_os = "linux")]
fn loader() -> Option<PathBuf> {
    // SAFETY: the call reads a number that the kernel passed to the process.
    let start = unsafe { libc::getauxval(libc::AT_BASE) };
    let maps = std::fs::read_to_string("/proc/self/maps").ok().filter(|_| start != 0)?;
    let first = maps.lines().find(|line| line.starts_with(&format!("{start:x}-")))?;
    first.find('/').map(|at| PathBuf::from(&first[at..]))
}

/// Makes the kernel deny starting programs, and a few other calls that no game needs, in all
/// threads of the process. If `allow_programs` is true, denies only the other calls.
///
/// # Errors
/// Returns the reason if the system cannot deny calls.
#[cfg(target_os = "linux")]
pub fn forbid_programs(allow_programs: bool) -> Result<(), String> {
    filter::install(allow_programs).map_err(|reason| match reason.raw_os_error() {
        Some(libc::ENOSYS | libc::EINVAL) => {
            "the kernel has no filter of system calls (seccomp)".to_string()
        }
        _ => reason.to_string(),
    })
}

/// Returns an error: confinement exists only on Linux.
#[cfg(not(target_os = "linux"))]
pub fn limit_files(_: &FileAccessList) -> Result<ConfinementLevel, String> {
    Err(format!("the engine does not confine itself on {}", super::NAME))
}

/// Returns an error: confinement exists only on Linux.
#[cfg(not(target_os = "linux"))]
pub fn forbid_programs(_: bool) -> Result<(), String> {
    Err(format!("the engine does not confine itself on {}", super::NAME))
}
