//! The process and its threads: memory, drivers, stacks, priorities, and immediate exit.

#[cfg(target_os = "linux")]
use std::path::PathBuf;

/// Makes the kernel use small memory pages. The allocator requests huge pages, which are cleared
/// completely when their first byte is touched. Measured with the game template, they double the
/// time to the first frame and the memory. Call this function before any large allocation.
pub fn use_small_pages() {
    #[cfg(target_os = "linux")]
    // SAFETY: the call sets a flag of the process. A kernel that does not know it changes nothing.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
    }
}

/// Makes C libraries, especially drivers, share one arena in all threads. glibc would otherwise
/// create an arena per thread, which grows by one page at a time, with one system call each: four
/// hundred calls before the first frame. Also makes them free large blocks at once. glibc keeps
/// such blocks once it has seen one, 3 MiB after compiling shaders. Call this function before any
/// other thread exists.
pub fn limit_malloc_arenas() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the calls change settings of the C library's allocator. A refused setting changes
    // nothing. The second value is glibc's initial one: setting it explicitly keeps it fixed.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_MMAP_THRESHOLD, 128 << 10);
    }
}

/// Prevents Mesa's device selection layer from asking Wayland for the default graphics card when
/// Wayland cannot be available. It would print a warning on standard error each time, and the
/// engine selects the card itself. Call this function before any other thread exists.
pub fn silence_driver_warnings() {
    #[cfg(target_os = "linux")]
    {
        let set = |name: &str| std::env::var_os(name).is_some();
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let wayland = set("WAYLAND_SOCKET") || runtime.is_some_and(|folder| folder.is_absolute());
        if wayland {
            return;
        }
        // If the user selects a card, the layer is needed. Its library then gets a folder in which
        // it finds no socket, because only a missing or relative one causes the message.
        let (name, value) = match set("DRI_PRIME") || set("MESA_VK_DEVICE_SELECT") {
            true => ("XDG_RUNTIME_DIR", "/nonexistent"),
            false => ("NODEVICE_SELECT", "1"),
        };
        // SAFETY: no other thread exists that could read the environment at the same time.
        unsafe { std::env::set_var(name, value) };
    }
}

/// Returns the address below which the calling thread's stack should not grow. A quarter of the
/// stack, at most 1 MiB, remains for code that reports the overflow.
pub fn stack_floor() -> usize {
    thread_local! {
        // The value is cached because the system reads a file to find the main thread's stack.
        static FLOOR: usize = find_stack_floor();
    }
    FLOOR.with(|floor| *floor)
}

fn find_stack_floor() -> usize {
    let here = 0u8;
    let here = std::ptr::from_ref(&here).addr();
    #[cfg(target_os = "linux")]
    // SAFETY: the calls fill the record for the calling thread, read two numbers, and free the
    // record.
    unsafe {
        let mut attributes = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) == 0 {
            let (mut lowest, mut size) = (std::ptr::null_mut(), 0);
            let failed = libc::pthread_attr_getstack(&attributes, &mut lowest, &mut size);
            libc::pthread_attr_destroy(&mut attributes);
            engine_foundation::insist!(
                failed == 0,
                "this thread does not know its stack (error {failed})"
            );
            return lowest.addr() + (size / 4).min(1 << 20);
        }
    }
    #[cfg(target_os = "macos")]
    // SAFETY: the calls read two numbers of the calling thread. The address is the highest one.
    unsafe {
        let thread = libc::pthread_self();
        let highest = libc::pthread_get_stackaddr_np(thread).addr();
        let size = libc::pthread_get_stacksize_np(thread);
        if (highest.saturating_sub(size)..highest).contains(&here) {
            return highest - size + (size / 4).min(1 << 20);
        }
    }
    #[cfg(windows)]
    // SAFETY: the call fills both numbers for the calling thread.
    unsafe {
        let (mut lowest, mut highest) = (0, 0);
        windows_sys::Win32::System::Threading::GetCurrentThreadStackLimits(
            &mut lowest,
            &mut highest,
        );
        if (lowest..highest).contains(&here) {
            return lowest + ((highest - lowest) / 4).min(1 << 20);
        }
    }
    // Every system provides at least 1 MiB for its main thread.
    here.saturating_sub(512 << 10)
}

/// Lowers the calling thread's priority, for long jobs that should not delay a frame.
pub fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    // SAFETY: the call changes a number of the calling thread. A refusal does no harm.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, 5);
    }
    #[cfg(target_os = "macos")]
    // SAFETY: as above.
    unsafe {
        libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_UTILITY, 0);
    }
    #[cfg(windows)]
    // SAFETY: as above.
    unsafe {
        use windows_sys::Win32::System::Threading::{
            GetCurrentThread, SetThreadPriority, THREAD_PRIORITY_BELOW_NORMAL,
        };
        SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL);
    }
}

/// Ends the process immediately, without running any more code, for a thread that finds the others
/// hung.
pub fn exit_immediately(code: i32) -> ! {
    #[cfg(unix)]
    // SAFETY: the call ends the process without running destructors of threads that may hold locks.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(windows)]
    // SAFETY: as above; the call returns only if the process may not end itself.
    unsafe {
        use windows_sys::Win32::System::Threading::{GetCurrentProcess, TerminateProcess};
        TerminateProcess(GetCurrentProcess(), code as u32);
        std::process::abort()
    }
}
