//! The process and its threads: memory, drivers, stacks, priorities, an end at once.

use std::path::PathBuf;

/// Has the kernel give memory in small pages. The allocator asks for huge ones, which are cleared
/// as a whole when their first byte is touched: measured on the template, twice the time to the
/// first frame and twice the memory. Call it before anything large is allocated.
pub fn use_small_pages() {
    #[cfg(target_os = "linux")]
    // SAFETY: a flag of the process; where the kernel does not know it, nothing changes.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
}

/// Has C libraries, drivers above all, share one arena in all threads: glibc would give them arenas
/// of their own, which grow by a page and a call of the system at a time, four hundred before the
/// first picture. And has them give large blocks back at once: glibc keeps them once it has seen
/// one, 3 MiB after compiling shaders. Call it before any thread is there.
pub fn keep_c_heap_small() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: settings of the C library's allocator; where one is refused, nothing changes. The
    // second is what glibc begins with: named, it stays.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

/// Keeps the layer of Mesa's drivers that chooses among graphics cards from asking Wayland for the
/// usual one where there can be no Wayland: it would complain on standard error each time, and the
/// engine chooses by itself. Call it before any thread is there.
pub fn quiet_drivers() {
    #[cfg(target_os = "linux")]
    {
        let set = |name: &str| std::env::var_os(name).is_some();
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let wayland = set("WAYLAND_SOCKET") || runtime.is_some_and(|folder| folder.is_absolute());
        if !(wayland || set("DRI_PRIME") || set("MESA_VK_DEVICE_SELECT")) {
            // SAFETY: no other thread is there that could read the environment meanwhile.
            unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
        }
    }
}

/// The address that the calling thread's stack should not go below: a quarter of it is left, at
/// most 1 MiB, for whoever reports that it is full.
pub fn stack_floor() -> usize {
    thread_local! {
        // The system reads a file of its own for the main thread's.
        static FLOOR: usize = find_stack_floor();
    }
    FLOOR.with(|floor| *floor)
}

fn find_stack_floor() -> usize {
    let here = 0u8;
    let here = std::ptr::from_ref(&here).addr();
    #[cfg(target_os = "linux")]
    // SAFETY: fills the record for the calling thread, reads two numbers, and frees it.
    unsafe {
        let mut attributes = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
            let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
            let failed = libc::pthread_attr_getstack(&attributes, &mut lowest, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
            crate::insist!(failed == 0, "this thread does not know its stack (error {failed})");
            return lowest.addr() + (size / 4).min(1 << 20);
        }
    }
    // The least that any system gives its main thread is 1 MiB.
    here.saturating_sub(512 << 10)
}

/// From now on the calling thread gets less of a core that others want, too: for long jobs that
/// should not hold up a frame. Only Linux knows that of single threads.
pub fn let_others_go_first() {
    #[cfg(target_os = "linux")]
    // SAFETY: changes a number of the calling thread. Where it is refused, nothing is lost.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, 5);
    }
}

/// Ends the process now, running nothing more: for a thread that finds the others stuck.
pub fn end_now(code: i32) -> ! {
    #[cfg(unix)]
    // SAFETY: ends the process without running destructors of threads that may hold locks.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}
