//! Tests of the system calls that a confined process cannot make, each with arguments that the
//! kernel itself refuses with another error. A call missing in the filter's lists is therefore
//! noticed.

use super::attacks::{INVALID_ADDRESS, system_call};
use std::collections::BTreeSet;

/// A system call: its name in the manual, its number, its arguments, and true if the kernel refuses
/// it to ordinary users before it checks the arguments.
pub type Row = (&'static str, libc::c_long, &'static [usize], bool);

/// A number that is neither an open file descriptor nor an existing process.
const NO_FILE_OR_PROCESS: usize = usize::MAX;
/// A flag that no call has.
const UNKNOWN_FLAG: usize = 0x8000_0000;
const CURRENT_FOLDER: usize = libc::AT_FDCWD as usize;

/// Calls that exist on both processor architectures.
const ROWS: &[Row] = &[
    ("execve", libc::SYS_execve, &[INVALID_ADDRESS], false),
    ("execveat", libc::SYS_execveat, &[CURRENT_FOLDER, INVALID_ADDRESS], false),
    ("ptrace", libc::SYS_ptrace, &[16, NO_FILE_OR_PROCESS], false),
    (
        "process_vm_readv",
        libc::SYS_process_vm_readv,
        &[NO_FILE_OR_PROCESS, 0, 0, 0, 0, UNKNOWN_FLAG],
        false,
    ),
    (
        "process_vm_writev",
        libc::SYS_process_vm_writev,
        &[NO_FILE_OR_PROCESS, 0, 0, 0, 0, UNKNOWN_FLAG],
        false,
    ),
    (
        "process_madvise",
        libc::SYS_process_madvise,
        &[NO_FILE_OR_PROCESS, 0, 0, 0, UNKNOWN_FLAG],
        false,
    ),
    ("pidfd_getfd", libc::SYS_pidfd_getfd, &[NO_FILE_OR_PROCESS, 0, UNKNOWN_FLAG], false),
    ("mount", libc::SYS_mount, &[INVALID_ADDRESS, INVALID_ADDRESS, INVALID_ADDRESS], false),
    ("umount2", libc::SYS_umount2, &[INVALID_ADDRESS, UNKNOWN_FLAG], false),
    ("pivot_root", libc::SYS_pivot_root, &[INVALID_ADDRESS, INVALID_ADDRESS], true),
    ("chroot", libc::SYS_chroot, &[INVALID_ADDRESS], false),
    (
        "move_mount",
        libc::SYS_move_mount,
        &[NO_FILE_OR_PROCESS, INVALID_ADDRESS, NO_FILE_OR_PROCESS, INVALID_ADDRESS, UNKNOWN_FLAG],
        true,
    ),
    (
        "mount_setattr",
        libc::SYS_mount_setattr,
        &[NO_FILE_OR_PROCESS, INVALID_ADDRESS, UNKNOWN_FLAG],
        false,
    ),
    ("open_tree", libc::SYS_open_tree, &[NO_FILE_OR_PROCESS, INVALID_ADDRESS, UNKNOWN_FLAG], false),
    ("fsopen", libc::SYS_fsopen, &[INVALID_ADDRESS, UNKNOWN_FLAG], true),
    ("fsconfig", libc::SYS_fsconfig, &[NO_FILE_OR_PROCESS], false),
    ("fsmount", libc::SYS_fsmount, &[NO_FILE_OR_PROCESS, UNKNOWN_FLAG], true),
    ("fspick", libc::SYS_fspick, &[NO_FILE_OR_PROCESS, INVALID_ADDRESS, UNKNOWN_FLAG], true),
    ("open_by_handle_at", libc::SYS_open_by_handle_at, &[NO_FILE_OR_PROCESS], true),
    ("unshare", libc::SYS_unshare, &[1], false),
    ("setns", libc::SYS_setns, &[NO_FILE_OR_PROCESS], false),
    ("fchmodat", libc::SYS_fchmodat, &[CURRENT_FOLDER, INVALID_ADDRESS], false),
    ("fchmodat2", 452, &[CURRENT_FOLDER, INVALID_ADDRESS, 0, UNKNOWN_FLAG], false),
    ("fchownat", libc::SYS_fchownat, &[CURRENT_FOLDER, INVALID_ADDRESS, 0, 0, UNKNOWN_FLAG], false),
    (
        "setxattr",
        libc::SYS_setxattr,
        &[INVALID_ADDRESS, INVALID_ADDRESS, INVALID_ADDRESS, 1],
        false,
    ),
    (
        "lsetxattr",
        libc::SYS_lsetxattr,
        &[INVALID_ADDRESS, INVALID_ADDRESS, INVALID_ADDRESS, 1],
        false,
    ),
    ("setxattrat", 463, &[CURRENT_FOLDER, INVALID_ADDRESS, UNKNOWN_FLAG], false),
    ("removexattr", libc::SYS_removexattr, &[INVALID_ADDRESS, INVALID_ADDRESS], false),
    ("lremovexattr", libc::SYS_lremovexattr, &[INVALID_ADDRESS, INVALID_ADDRESS], false),
    ("removexattrat", 466, &[CURRENT_FOLDER, INVALID_ADDRESS, UNKNOWN_FLAG], false),
    (
        "file_setattr",
        469,
        &[CURRENT_FOLDER, INVALID_ADDRESS, INVALID_ADDRESS, 0, UNKNOWN_FLAG],
        false,
    ),
    ("truncate", libc::SYS_truncate, &[INVALID_ADDRESS], false),
    ("utimensat", libc::SYS_utimensat, &[CURRENT_FOLDER, INVALID_ADDRESS], false),
    ("bpf", libc::SYS_bpf, &[15, INVALID_ADDRESS, 1 << 20], false),
    (
        "perf_event_open",
        libc::SYS_perf_event_open,
        &[INVALID_ADDRESS, 0, 0, NO_FILE_OR_PROCESS, UNKNOWN_FLAG],
        false,
    ),
    ("userfaultfd", libc::SYS_userfaultfd, &[UNKNOWN_FLAG | 1], false),
    ("fanotify_init", libc::SYS_fanotify_init, &[UNKNOWN_FLAG | 0x200], false),
    ("io_uring_setup", libc::SYS_io_uring_setup, &[0, INVALID_ADDRESS], true),
    ("io_uring_enter", libc::SYS_io_uring_enter, &[NO_FILE_OR_PROCESS, 0, 0, UNKNOWN_FLAG], false),
    ("io_uring_register", libc::SYS_io_uring_register, &[NO_FILE_OR_PROCESS, 9999], false),
    ("add_key", libc::SYS_add_key, &[INVALID_ADDRESS, INVALID_ADDRESS, 0, UNKNOWN_FLAG], false),
    ("request_key", libc::SYS_request_key, &[INVALID_ADDRESS, INVALID_ADDRESS], false),
    ("keyctl", libc::SYS_keyctl, &[9999], false),
    ("kexec_load", libc::SYS_kexec_load, &[0, 0, 0, UNKNOWN_FLAG], true),
    (
        "kexec_file_load",
        libc::SYS_kexec_file_load,
        &[NO_FILE_OR_PROCESS, NO_FILE_OR_PROCESS, 0, 0, UNKNOWN_FLAG],
        true,
    ),
    ("init_module", libc::SYS_init_module, &[INVALID_ADDRESS, 0, INVALID_ADDRESS], true),
    (
        "finit_module",
        libc::SYS_finit_module,
        &[NO_FILE_OR_PROCESS, INVALID_ADDRESS, UNKNOWN_FLAG],
        true,
    ),
    ("delete_module", libc::SYS_delete_module, &[INVALID_ADDRESS], true),
    ("open_tree_attr", 467, &[NO_FILE_OR_PROCESS, INVALID_ADDRESS, UNKNOWN_FLAG], false),
    // Namespaces. Threads must share more than these flags say, so no thread is created.
    ("clone", libc::SYS_clone, &[0x1000_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x0002_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x0200_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x0400_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x0800_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x2000_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x4000_0000 | THREAD], false),
    // Standard input is not a terminal here.
    ("ioctl", libc::SYS_ioctl, &[0, libc::TIOCSTI as usize, INVALID_ADDRESS], false),
    ("ioctl", libc::SYS_ioctl, &[0, 0x541c, INVALID_ADDRESS], false),
    ("ioctl", libc::SYS_ioctl, &[0, 7 << 32 | libc::TIOCSTI as usize, INVALID_ADDRESS], false),
];

const THREAD: usize = libc::CLONE_THREAD as usize;

/// Older forms of some calls.
#[cfg(target_arch = "x86_64")]
const LEGACY_ROWS: &[Row] = &[
    ("chmod", libc::SYS_chmod, &[INVALID_ADDRESS], false),
    ("chown", libc::SYS_chown, &[INVALID_ADDRESS], false),
    ("lchown", libc::SYS_lchown, &[INVALID_ADDRESS], false),
    ("utime", libc::SYS_utime, &[INVALID_ADDRESS], false),
    ("utimes", libc::SYS_utimes, &[INVALID_ADDRESS], false),
    ("futimesat", libc::SYS_futimesat, &[CURRENT_FOLDER, INVALID_ADDRESS], false),
];
#[cfg(not(target_arch = "x86_64"))]
const LEGACY_ROWS: &[Row] = &[];

/// Makes each call of the table. Returns its name, the expected error in a confined process, and
/// the actual one.
pub fn try_calls() -> Vec<(&'static str, i32, i32)> {
    let rows = ROWS.iter().chain(LEGACY_ROWS);
    let mut try_calls: Vec<_> = rows
        .map(|(name, number, arguments, _)| (*name, libc::EPERM, system_call(*number, arguments)))
        .collect();
    // The C library falls back to `clone`.
    try_calls.push(("clone3", libc::ENOSYS, system_call(libc::SYS_clone3, &[])));
    try_calls
}

/// Makes the same calls in a process that is not confined: none returns the filter's error, except
/// those that the kernel refuses to ordinary users at once.
#[test]
fn unfiltered_system_calls_return_other_errors() {
    // SAFETY: queries a number.
    let ordinary = unsafe { libc::geteuid() } != 0;
    for (name, number, arguments, refused) in ROWS.iter().chain(LEGACY_ROWS) {
        let found = system_call(*number, arguments);
        assert!(found > 0, "{name} did something");
        assert!(found != libc::EPERM || (*refused && ordinary), "{name}");
    }
    assert_eq!(system_call(libc::SYS_clone3, &[]), libc::EINVAL);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn tried_system_calls_match_the_manual() {
    let document = include_str!("../../docs/security.md");
    let section = document.split("### The calls that are refused\n").nth(1).expect("it has one");
    let table = section.split("\n#").next().unwrap_or_default();
    let listed: BTreeSet<&str> = table.split('`').skip(1).step_by(2).collect();
    let rows = ROWS.iter().chain(LEGACY_ROWS).map(|row| row.0);
    let try_calls: BTreeSet<&str> = rows.chain(["clone3"]).collect();
    assert_eq!(try_calls, listed);
}
