//! The system call filter (seccomp): a short list of denied calls that a game never needs but an
//! attacker does. All other calls are allowed.

use std::io::{Error, Result};

/// A system call: its name and its number.
type Call = (&'static str, libc::c_long);

/// Builds a list of calls from the names that libc has for their numbers.
macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name)),*] };
}

/// Calls that start a program.
const PROGRAMS: &[Call] = calls![SYS_execve SYS_execveat];

/// Denied calls of several groups. They reach other processes, replace the view of the file system,
/// change files by path where Landlock does not check, or enlarge the attack surface of the kernel.
/// No library that the engine loads needs one.
const FORBIDDEN_CALLS: &[&[Call]] = &[
    // Memory and files of other processes.
    calls![SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise],
    calls![SYS_pidfd_getfd],
    // Other views of the file system.
    calls![SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_move_mount SYS_mount_setattr],
    calls![SYS_open_tree SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_open_by_handle_at],
    calls![SYS_unshare SYS_setns],
    // Permissions, owners, times and attributes of files by path, which Landlock does not limit.
    // `fchmod` and similar calls change open files, and sound libraries use them.
    calls![SYS_fchmodat SYS_fchownat],
    calls![SYS_setxattr SYS_lsetxattr SYS_removexattr SYS_lremovexattr],
    // Landlock limits this call from Linux 6.2 on. `ftruncate` is sufficient for open files.
    calls![SYS_truncate],
    // Parts of the kernel where exploits often begin.
    calls![SYS_bpf SYS_perf_event_open SYS_userfaultfd SYS_fanotify_init],
    calls![SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register],
    calls![SYS_add_key SYS_request_key SYS_keyctl],
    // The kernel itself.
    calls![SYS_kexec_load SYS_kexec_file_load],
    calls![SYS_init_module SYS_finit_module SYS_delete_module],
    // Calls without a libc name on both processors, where they have the same numbers.
    &[
        ("SYS_fchmodat2", 452),
        ("SYS_setxattrat", 463),
        ("SYS_removexattrat", 466),
        ("SYS_open_tree_attr", 467),
        ("SYS_file_setattr", 469),
    ],
    OLD_CALLS,
];

/// Older forms of some of these calls, which exist on only one processor.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: &[Call] =
    calls![SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: &[Call] = &[];

/// Returns the denied calls. If `allow_programs` is true, starting programs stays allowed.
fn forbidden(allow_programs: bool) -> Vec<Call> {
    let programs = if allow_programs { &[][..] } else { PROGRAMS };
    [programs, &FORBIDDEN_CALLS.concat()].concat()
}

/// Flags of `clone` that create a namespace, in which a process could mount file systems and more.
const NAMESPACE_FLAGS: u32 = 0x7e02_0080;

/// Terminal control calls that simulate typing: the shell would execute the text after the game.
const TERMINAL_INPUT_IOCTLS: [u32; 2] = [0x5412, 0x541c];

/// Architecture of the processor for which the lists above have the call numbers.
#[cfg(target_arch = "x86_64")]
const PROCESSOR: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const PROCESSOR: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const PROCESSOR: Option<u32> = None;

/// First number of the x32 calls, which are this processor's calls under other numbers.
const X32: u32 = 0x4000_0000;

/// Offsets in the kernel's `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// Offsets of the lower halves of the first arguments. On both processors the lower half comes
/// first. The kernel ignores the upper half of an ioctl's request and of the flags of `clone`.
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;
/// Offset of the upper half of the second argument.
const SECOND_ARGUMENT_ABOVE: u32 = 28;

/// Builds one instruction. A jump skips `yes` or `no` instructions after the next one.
fn instruction(code: u32, value: u32, yes: usize, no: usize) -> libc::sock_filter {
    let skip = |count: usize| u8::try_from(count).expect("the filter is shorter than 256");
    libc::sock_filter { code: code as u16, jt: skip(yes), jf: skip(no), k: value }
}

/// Positions of the instructions that return an answer, counted from the end of the program.
const REFUSE: usize = 0;
const NOT_IMPLEMENTED: usize = 1;
const ALLOW: usize = 2;

/// Builds the filter program. It returns `EPERM` for denied calls, and for calls of other
/// architectures, whose numbers the lists do not have.
fn program(processor: u32, forbidden: &[Call]) -> Vec<libc::sock_filter> {
    let load = |offset| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0);
    let compare =
        |how, value, yes, no| instruction(libc::BPF_JMP | libc::BPF_K | how, value, yes, no);
    let equal = |value, yes, no| compare(libc::BPF_JEQ, value, yes, no);
    let return_value = |value| instruction(libc::BPF_RET | libc::BPF_K, value, 0, 0);
    let error = |code: i32| return_value(libc::SECCOMP_RET_ERRNO | code as u32);
    // The program is built from its end, because each jump counts the instructions that follow it.
    let mut end =
        vec![error(libc::EPERM), error(libc::ENOSYS), return_value(libc::SECCOMP_RET_ALLOW)];
    let distance_to = |end: &Vec<_>, answer: usize| end.len() - 1 - answer;
    // Each call whose arguments matter has a block that ends in an answer. Other calls skip the
    // block.
    end.push(equal(TERMINAL_INPUT_IOCTLS[1], distance_to(&end, REFUSE), distance_to(&end, ALLOW)));
    end.push(equal(TERMINAL_INPUT_IOCTLS[0], distance_to(&end, REFUSE), 0));
    end.push(load(SECOND_ARGUMENT));
    end.push(equal(libc::SYS_ioctl as u32, 0, 3));
    end.push(compare(
        libc::BPF_JSET,
        NAMESPACE_FLAGS,
        distance_to(&end, REFUSE),
        distance_to(&end, ALLOW),
    ));
    end.push(load(FIRST_ARGUMENT));
    end.push(equal(libc::SYS_clone as u32, 0, 2));
    // Setting the times of an open file, without a path, is allowed.
    end.push(equal(0, distance_to(&end, ALLOW), distance_to(&end, REFUSE)));
    end.push(load(SECOND_ARGUMENT_ABOVE));
    end.push(equal(0, 0, distance_to(&end, REFUSE)));
    end.push(load(SECOND_ARGUMENT));
    end.push(equal(libc::SYS_utimensat as u32, 0, 4));
    // The flags of this call are in memory, which a filter cannot read. The C library falls back to
    // `clone`.
    end.push(equal(libc::SYS_clone3 as u32, distance_to(&end, NOT_IMPLEMENTED), 0));
    for (_, number) in forbidden {
        end.push(equal(*number as u32, distance_to(&end, REFUSE), 0));
    }
    end.push(compare(libc::BPF_JGE, X32, distance_to(&end, REFUSE), 0));
    end.push(load(NUMBER));
    // 32-bit programs have different call numbers.
    end.push(equal(processor, 0, distance_to(&end, REFUSE)));
    end.push(load(ARCHITECTURE));
    end.reverse();
    end
}

/// Denies the calls of the lists in all present and future threads of the process. If
/// `allow_programs` is true, starting programs stays allowed.
///
/// # Errors
/// Returns an error if the kernel does not support such filters, or if the engine has none for the
/// processor.
pub fn install(allow_programs: bool) -> Result<()> {
    let Some(processor) = PROCESSOR else {
        return Err(Error::other("there is no filter for this processor"));
    };
    let mut filter = program(processor, &forbidden(allow_programs));
    let program =
        libc::sock_fprog { len: filter.len() as libc::c_ushort, filter: filter.as_mut_ptr() };
    // The second flag prevents kernels before 5.16 from slowing down the whole process with the
    // mitigation of a processor vulnerability, for which the engine's own code is no danger.
    let all_threads = libc::SECCOMP_FILTER_FLAG_TSYNC;
    let mut result = 0;
    for flags in [all_threads | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW, all_threads] {
        // SAFETY: the first call sets a flag of the process. The second makes the kernel copy the
        // program, which lives as long as the call.
        unsafe {
            if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
                return Err(Error::last_os_error());
            }
            let set = libc::SECCOMP_SET_MODE_FILTER;
            result = libc::syscall(libc::SYS_seccomp, set, flags, &raw const program);
        }
        if result == 0 {
            return Ok(());
        }
    }
    match result {
        // A positive result is the id of a thread with a different filter.
        1.. => Err(Error::other(format!("thread {result} has another filter"))),
        _ => Err(Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;

    /// Runs the program for a call as the kernel does, and returns its answer.
    fn run(filter: &[libc::sock_filter], architecture: u32, number: u32, both: [u64; 2]) -> u32 {
        let (mut at, mut held) = (0, 0);
        loop {
            let one = &filter[at];
            at += 1;
            let code = u32::from(one.code);
            let jumps = match code & 0x07 {
                libc::BPF_RET => return one.k,
                libc::BPF_LD => {
                    held = match one.k {
                        NUMBER => number,
                        ARCHITECTURE => architecture,
                        FIRST_ARGUMENT => both[0] as u32,
                        SECOND_ARGUMENT => both[1] as u32,
                        SECOND_ARGUMENT_ABOVE => (both[1] >> 32) as u32,
                        offset => panic!("it reads at {offset}"),
                    };
                    continue;
                }
                _ if code & 0xf0 == libc::BPF_JEQ => held == one.k,
                _ if code & 0xf0 == libc::BPF_JSET => held & one.k != 0,
                _ => held >= one.k,
            };
            at += usize::from(if jumps { one.jt } else { one.jf });
        }
    }

    #[test]
    fn the_filter_refuses_exactly_the_listed_calls() {
        let Some(processor) = PROCESSOR else { return };
        let all = forbidden(false);
        let filter = program(processor, &all);
        for number in 0..1000 {
            let wanted = match number {
                _ if all.iter().any(|(_, it)| *it == number) => REFUSED,
                libc::SYS_clone3 => libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
                _ => ALLOWED,
            };
            assert_eq!(run(&filter, processor, number as u32, [0; 2]), wanted, "{number}");
            // The same call is refused as x32, and as a call of a 32-bit program.
            assert_eq!(run(&filter, processor, number as u32 | X32, [0; 2]), REFUSED, "{number}");
            assert_eq!(run(&filter, 0x4000_0003, number as u32, [0; 2]), REFUSED, "{number}");
        }
        let starting = program(processor, &forbidden(true));
        let exec = libc::SYS_execve as u32;
        assert_eq!(run(&starting, processor, exec, [0; 2]), ALLOWED);
    }

    #[test]
    fn the_filter_checks_the_arguments_of_some_calls() {
        let Some(processor) = PROCESSOR else { return };
        let filter = program(processor, &forbidden(false));
        let type_into = u64::from(TERMINAL_INPUT_IOCTLS[0]);
        for (call, first, second, wanted) in [
            (libc::SYS_ioctl, 0, type_into, REFUSED),
            (libc::SYS_ioctl, 0, u64::from(TERMINAL_INPUT_IOCTLS[1]), REFUSED),
            // The kernel reads only the lower half.
            (libc::SYS_ioctl, 0, 1 << 32 | type_into, REFUSED),
            (libc::SYS_ioctl, 0, u64::from(libc::TIOCGWINSZ as u32), ALLOWED),
            // Other calls may have these numbers as arguments.
            (libc::SYS_read, 0, type_into, ALLOWED),
            (libc::SYS_clone, libc::CLONE_NEWUSER as u64, 0, REFUSED),
            (libc::SYS_clone, libc::CLONE_NEWNS as u64 | 17, 0, REFUSED),
            (libc::SYS_clone, libc::CLONE_NEWPID as u64, 0, REFUSED),
            (libc::SYS_clone, libc::CLONE_NEWNET as u64, 0, REFUSED),
            (libc::SYS_clone, libc::CLONE_NEWIPC as u64, 0, REFUSED),
            (libc::SYS_clone, libc::CLONE_NEWUTS as u64, 0, REFUSED),
            (libc::SYS_clone, libc::CLONE_NEWCGROUP as u64, 0, REFUSED),
            (libc::SYS_clone, 0x80, 0, REFUSED),
            // These flags create a thread of the C library, and a fork.
            (libc::SYS_clone, 0x003d_0f00, 0, ALLOWED),
            (libc::SYS_clone, 0x0120_0011, 0, ALLOWED),
            (libc::SYS_utimensat, 3, 0, ALLOWED),
            (libc::SYS_utimensat, 3, 0x7fff_1234_5678, REFUSED),
            (libc::SYS_utimensat, 3, 0x7fff_0000_0000, REFUSED),
            (libc::SYS_utimensat, 3, 0x1234, REFUSED),
        ] {
            let found = run(&filter, processor, call as u32, [first, second]);
            assert_eq!(found, wanted, "{call} with {first:x} and {second:x}");
        }
    }

    #[test]
    fn terminal_requests_have_the_numbers_of_the_system() {
        assert_eq!(TERMINAL_INPUT_IOCTLS, [libc::TIOCSTI as u32, 0x541c]);
    }

    /// Compares the lists with the manual, so that a call that is missing from a list is noticed.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_manual_lists_the_refused_calls() {
        let document = include_str!("../../../docs/security.md");
        let section = document.split("### The calls that are refused\n").nth(1).expect("it has");
        let table = section.split("\n#").next().unwrap_or_default();
        let named = table.split('`').skip(1).step_by(2);
        let mut named: Vec<String> = named.map(|name| format!("SYS_{name}")).collect();
        let arguments = ["SYS_ioctl", "SYS_clone", "SYS_clone3", "SYS_utimensat"];
        let mut refused: Vec<String> = forbidden(false).iter().map(|it| it.0.into()).collect();
        refused.extend(arguments.map(String::from));
        named.sort();
        refused.sort();
        assert_eq!(named, refused);
    }
}
