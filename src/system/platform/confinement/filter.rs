//! The filter of system calls (seccomp): a short list of calls that a game never needs and an
//! attacker does. Everything else stays as it is.

use std::io::{Error, Result};

/// Calls that start a program.
const PROGRAMS: &[libc::c_long] = &[libc::SYS_execve, libc::SYS_execveat];

/// Calls that reach other processes, replace the view of the file system, or widen what the kernel
/// lets a process attack. None of the libraries that the engine loads needs one.
const OTHERS: &[libc::c_long] = &[
    // The memory and files of other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    // Another view of the file system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_by_handle_at,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Parts of the kernel that exploits begin with.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The kernel itself.
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
];

/// Control calls of a terminal that type into it: the shell would run the text after the game.
const TYPING: [u32; 2] = [0x5412, 0x541c];

/// The processor whose calls the lists above number.
#[cfg(target_arch = "x86_64")]
const PROCESSOR: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const PROCESSOR: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const PROCESSOR: Option<u32> = None;

/// Numbers from here on are calls of x32, which are those of this processor under other numbers.
const X32: u32 = 0x4000_0000;

/// Offsets in the kernel's `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
/// The lower half of the second argument; both processors have the lower half first. The kernel
/// ignores the upper half of an ioctl's request.
const SECOND_ARGUMENT: u32 = 24;

/// One instruction: continues `yes` or `no` instructions after the next one.
fn instruction(code: u32, value: u32, yes: usize, no: usize) -> libc::sock_filter {
    let skip = |count: usize| u8::try_from(count).expect("the filter is shorter than 256");
    libc::sock_filter { code: code as u16, jt: skip(yes), jf: skip(no), k: value }
}

/// The program: `EPERM` for what is on the lists, and for calls that they cannot number.
fn program(processor: u32, forbidden: &[libc::c_long]) -> Vec<libc::sock_filter> {
    let load = |offset| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0, 0);
    let equal =
        |value, yes, no| instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, yes, no);
    let at_least =
        |value, yes, no| instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, value, yes, no);
    let give = |value| instruction(libc::BPF_RET | libc::BPF_K, value, 0, 0);
    // From its end: each jump counts what comes after it.
    let mut end = vec![give(libc::SECCOMP_RET_ERRNO | libc::EPERM as u32)];
    let refuse = |after: &Vec<_>| after.len() - 1;
    end.push(give(libc::SECCOMP_RET_ALLOW));
    for request in TYPING {
        end.push(equal(request, refuse(&end), 0));
    }
    end.push(load(SECOND_ARGUMENT));
    // Other calls than ioctl skip its arguments.
    end.push(equal(libc::SYS_ioctl as u32, 0, 1 + TYPING.len()));
    for number in forbidden {
        end.push(equal(*number as u32, refuse(&end), 0));
    }
    end.push(at_least(X32, refuse(&end), 0));
    end.push(load(NUMBER));
    // A program of 32 bits calls by other numbers.
    end.push(equal(processor, 0, refuse(&end)));
    end.push(load(ARCHITECTURE));
    end.reverse();
    end
}

/// Forbids the calls of the lists, in every thread of the process and those that follow;
/// `but_programs`: starting programs stays possible.
///
/// # Errors
/// The kernel has no such filter, or the engine has none for the processor.
pub fn install(but_programs: bool) -> Result<()> {
    let Some(processor) = PROCESSOR else {
        return Err(Error::other("there is no filter for this processor"));
    };
    let forbidden = match but_programs {
        true => OTHERS.to_vec(),
        false => [PROGRAMS, OTHERS].concat(),
    };
    let mut filter = program(processor, &forbidden);
    let program =
        libc::sock_fprog { len: filter.len() as libc::c_ushort, filter: filter.as_mut_ptr() };
    // The second flag keeps kernels before 5.16 from slowing the whole process down against a fault
    // of processors that the engine's own code is no danger by.
    let all_threads = libc::SECCOMP_FILTER_FLAG_TSYNC;
    let mut result = 0;
    for flags in [all_threads | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW, all_threads] {
        // SAFETY: a flag of the process; then the kernel copies the program, which is there.
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
        // The number of a thread that has a filter of its own.
        1.. => Err(Error::other(format!("thread {result} has another filter"))),
        _ => Err(Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program gives for a call, run as the kernel runs it.
    fn run(filter: &[libc::sock_filter], architecture: u32, number: u32, second: u64) -> u32 {
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
                        SECOND_ARGUMENT => second as u32,
                        offset => panic!("it reads at {offset}"),
                    };
                    continue;
                }
                _ if code & 0xf0 == libc::BPF_JEQ => held == one.k,
                _ => held >= one.k,
            };
            at += usize::from(if jumps { one.jt } else { one.jf });
        }
    }

    #[test]
    fn the_filter_refuses_what_is_on_its_lists_and_nothing_else() {
        let Some(processor) = PROCESSOR else { return };
        let all = [PROGRAMS, OTHERS].concat();
        let filter = program(processor, &all);
        let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
        for number in 0..1000 {
            let wanted = match all.contains(&libc::c_long::from(number)) {
                true => refused,
                false => libc::SECCOMP_RET_ALLOW,
            };
            assert_eq!(run(&filter, processor, number as u32, 0), wanted, "{number}");
            // The same as x32, and as a program of 32 bits.
            assert_eq!(run(&filter, processor, number as u32 | X32, 0), refused, "{number}");
            assert_eq!(run(&filter, 0x4000_0003, number as u32, 0), refused, "{number}");
        }
        let ioctl = libc::SYS_ioctl as u32;
        for (request, wanted) in [
            (u64::from(TYPING[0]), refused),
            (u64::from(TYPING[1]), refused),
            // The kernel looks at the lower half alone.
            (1 << 32 | u64::from(TYPING[0]), refused),
            (u64::from(libc::TIOCGWINSZ as u32), libc::SECCOMP_RET_ALLOW),
        ] {
            assert_eq!(run(&filter, processor, ioctl, request), wanted, "{request:x}");
            // Other calls have such numbers as arguments, too.
            let read = libc::SYS_read as u32;
            assert_eq!(run(&filter, processor, read, request), libc::SECCOMP_RET_ALLOW);
        }
        let starting = program(processor, OTHERS);
        let exec = libc::SYS_execve as u32;
        assert_eq!(run(&starting, processor, exec, 0), libc::SECCOMP_RET_ALLOW);
    }

    #[test]
    fn the_terminals_calls_have_the_systems_numbers() {
        assert_eq!(TYPING, [libc::TIOCSTI as u32, 0x541c]);
    }
}
