//! Tests of the system calls that a sandboxed process cannot make, each with arguments that the
//! kernel itself refuses with another error. A call missing in the filter's lists is therefore
//! noticed.

use super::attacks::{BAD, call};
use std::collections::BTreeSet;

/// A system call: its name in the manual, its number, its arguments, and true if the kernel refuses
/// it to ordinary users before it checks the arguments.
pub type Row = (&'static str, libc::c_long, &'static [usize], bool);

/// A number that is neither an open file descriptor nor an existing process.
const NONE: usize = usize::MAX;
/// A flag that no call has.
const FLAG: usize = 0x8000_0000;
const HERE: usize = libc::AT_FDCWD as usize;

/// Calls that exist on both processor architectures.
const ROWS: &[Row] = &[
    ("execve", libc::SYS_execve, &[BAD], false),
    ("execveat", libc::SYS_execveat, &[HERE, BAD], false),
    ("ptrace", libc::SYS_ptrace, &[16, NONE], false),
    ("process_vm_readv", libc::SYS_process_vm_readv, &[NONE, 0, 0, 0, 0, FLAG], false),
    ("process_vm_writev", libc::SYS_process_vm_writev, &[NONE, 0, 0, 0, 0, FLAG], false),
    ("process_madvise", libc::SYS_process_madvise, &[NONE, 0, 0, 0, FLAG], false),
    ("pidfd_getfd", libc::SYS_pidfd_getfd, &[NONE, 0, FLAG], false),
    ("mount", libc::SYS_mount, &[BAD, BAD, BAD], false),
    ("umount2", libc::SYS_umount2, &[BAD, FLAG], false),
    ("pivot_root", libc::SYS_pivot_root, &[BAD, BAD], true),
    ("chroot", libc::SYS_chroot, &[BAD], false),
    ("move_mount", libc::SYS_move_mount, &[NONE, BAD, NONE, BAD, FLAG], true),
    ("mount_setattr", libc::SYS_mount_setattr, &[NONE, BAD, FLAG], false),
    ("open_tree", libc::SYS_open_tree, &[NONE, BAD, FLAG], false),
    ("fsopen", libc::SYS_fsopen, &[BAD, FLAG], true),
    ("fsconfig", libc::SYS_fsconfig, &[NONE], false),
    ("fsmount", libc::SYS_fsmount, &[NONE, FLAG], true),
    ("fspick", libc::SYS_fspick, &[NONE, BAD, FLAG], true),
    ("open_by_handle_at", libc::SYS_open_by_handle_at, &[NONE], true),
    ("unshare", libc::SYS_unshare, &[1], false),
    ("setns", libc::SYS_setns, &[NONE], false),
    ("fchmodat", libc::SYS_fchmodat, &[HERE, BAD], false),
    ("fchmodat2", 452, &[HERE, BAD, 0, FLAG], false),
    ("fchownat", libc::SYS_fchownat, &[HERE, BAD, 0, 0, FLAG], false),
    ("setxattr", libc::SYS_setxattr, &[BAD, BAD, BAD, 1], false),
    ("lsetxattr", libc::SYS_lsetxattr, &[BAD, BAD, BAD, 1], false),
    ("setxattrat", 463, &[HERE, BAD, FLAG], false),
    ("removexattr", libc::SYS_removexattr, &[BAD, BAD], false),
    ("lremovexattr", libc::SYS_lremovexattr, &[BAD, BAD], false),
    ("removexattrat", 466, &[HERE, BAD, FLAG], false),
    ("file_setattr", 469, &[HERE, BAD, BAD, 0, FLAG], false),
    ("truncate", libc::SYS_truncate, &[BAD], false),
    ("utimensat", libc::SYS_utimensat, &[HERE, BAD], false),
    ("bpf", libc::SYS_bpf, &[15, BAD, 1 << 20], false),
    ("perf_event_open", libc::SYS_perf_event_open, &[BAD, 0, 0, NONE, FLAG], false),
    ("userfaultfd", libc::SYS_userfaultfd, &[FLAG | 1], false),
    ("fanotify_init", libc::SYS_fanotify_init, &[FLAG | 0x200], false),
    ("io_uring_setup", libc::SYS_io_uring_setup, &[0, BAD], true),
    ("io_uring_enter", libc::SYS_io_uring_enter, &[NONE, 0, 0, FLAG], false),
    ("io_uring_register", libc::SYS_io_uring_register, &[NONE, 9999], false),
    ("add_key", libc::SYS_add_key, &[BAD, BAD, 0, FLAG], false),
    ("request_key", libc::SYS_request_key, &[BAD, BAD], false),
    ("keyctl", libc::SYS_keyctl, &[9999], false),
    ("kexec_load", libc::SYS_kexec_load, &[0, 0, 0, FLAG], true),
    ("kexec_file_load", libc::SYS_kexec_file_load, &[NONE, NONE, 0, 0, FLAG], true),
    ("init_module", libc::SYS_init_module, &[BAD, 0, BAD], true),
    ("finit_module", libc::SYS_finit_module, &[NONE, BAD, FLAG], true),
    ("delete_module", libc::SYS_delete_module, &[BAD], true),
    ("open_tree_attr", 467, &[NONE, BAD, FLAG], false),
    // Namespaces. Threads must share more than these flags say, so no thread is created.
    ("clone", libc::SYS_clone, &[0x1000_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x0002_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x0200_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x0400_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x0800_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x2000_0000 | THREAD], false),
    ("clone", libc::SYS_clone, &[0x4000_0000 | THREAD], false),
    // Standard input is not a terminal here.
    ("ioctl", libc::SYS_ioctl, &[0, libc::TIOCSTI as usize, BAD], false),
    ("ioctl", libc::SYS_ioctl, &[0, 0x541c, BAD], false),
    ("ioctl", libc::SYS_ioctl, &[0, 7 << 32 | libc::TIOCSTI as usize, BAD], false),
];

const THREAD: usize = libc::CLONE_THREAD as usize;

/// Older forms of some calls.
#[cfg(target_arch = "x86_64")]
const OLD: &[Row] = &[
    ("chmod", libc::SYS_chmod, &[BAD], false),
    ("chown", libc::SYS_chown, &[BAD], false),
    ("lchown", libc::SYS_lchown, &[BAD], false),
    ("utime", libc::SYS_utime, &[BAD], false),
    ("utimes", libc::SYS_utimes, &[BAD], false),
    ("futimesat", libc::SYS_futimesat, &[HERE, BAD], false),
];
#[cfg(not(target_arch = "x86_64"))]
const OLD: &[Row] = &[];

/// Makes each call of the table. Returns its name, the expected error in a sandboxed process, and
/// the actual one.
pub fn tried() -> Vec<(&'static str, i32, i32)> {
    let rows = ROWS.iter().chain(OLD);
    let mut tried: Vec<_> = rows
        .map(|(name, number, arguments, _)| (*name, libc::EPERM, call(*number, arguments)))
        .collect();
    // The C library falls back to `clone`.
    tried.push(("clone3", libc::ENOSYS, call(libc::SYS_clone3, &[])));
    tried
}

/// Makes the same calls in a process without a sandbox: none returns the filter's error, except
/// those that the kernel refuses to ordinary users at once.
#[test]
fn unfiltered_system_calls_return_other_errors() {
    // SAFETY: queries a number.
    let ordinary = unsafe { libc::geteuid() } != 0;
    for (name, number, arguments, refused) in ROWS.iter().chain(OLD) {
        let found = call(*number, arguments);
        assert!(found > 0, "{name} did something");
        assert!(found != libc::EPERM || (*refused && ordinary), "{name}");
    }
    assert_eq!(call(libc::SYS_clone3, &[]), libc::EINVAL);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn tried_system_calls_match_the_manual() {
    let document = include_str!("../../docs/security.md");
    let section = document.split("### The calls that are refused\n").nth(1).expect("it has one");
    let table = section.split("\n#").next().unwrap_or_default();
    let listed: BTreeSet<&str> = table.split('`').skip(1).step_by(2).collect();
    let rows = ROWS.iter().chain(OLD).map(|row| row.0);
    let tried: BTreeSet<&str> = rows.chain(["clone3"]).collect();
    assert_eq!(tried, listed);
}
