//! Clocks: the CPU time of a thread, and the time since the process started.

use std::time::Instant;

/// A clock for the CPU time of one thread.
#[derive(Clone)]
pub struct ThreadClock {
    #[cfg(all(unix, not(target_os = "macos")))]
    id: libc::clockid_t,
    #[cfg(target_os = "macos")]
    port: libc::mach_port_t,
    #[cfg(windows)]
    thread: super::thread_handle::ThreadHandle,
}

impl ThreadClock {
    /// Returns the clock of the calling thread. Any thread may read it.
    pub fn of_this_thread() -> ThreadClock {
        #[cfg(all(unix, not(target_os = "macos")))]
        {
            let mut id = 0;
            // SAFETY: the call returns the clock of the running thread.
            let failed = unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &mut id) };
            engine_foundation::insist!(
                failed == 0,
                "this thread has no CPU clock (error {failed})"
            );
            ThreadClock { id }
        }
        #[cfg(target_os = "macos")]
        // SAFETY: the call returns a name of the running thread, which needs no release.
        unsafe {
            ThreadClock { port: libc::pthread_mach_thread_np(libc::pthread_self()) }
        }
        #[cfg(windows)]
        return ThreadClock { thread: super::thread_handle::ThreadHandle::of_this_thread() };
    }

    /// Returns the CPU time used so far in seconds. The time stops when the thread has ended.
    pub fn seconds(&self) -> f64 {
        #[cfg(all(unix, not(target_os = "macos")))]
        {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the call fills the record. The clock of an ended thread returns an error and
            // leaves zero.
            unsafe { libc::clock_gettime(self.id, &mut time) };
            time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
        }
        #[cfg(target_os = "macos")]
        // SAFETY: the record is plain numbers, and as long as `count` says. The call fails for a
        // thread that has ended, and leaves zeros.
        unsafe {
            let mut info: libc::thread_basic_info = std::mem::zeroed();
            let mut count = libc::THREAD_BASIC_INFO_COUNT;
            let flavor = libc::THREAD_BASIC_INFO as libc::thread_flavor_t;
            libc::thread_info(self.port, flavor, (&raw mut info).cast(), &mut count);
            let seconds = |time: libc::time_value_t| {
                f64::from(time.seconds) + f64::from(time.microseconds) * 1e-6
            };
            seconds(info.user_time) + seconds(info.system_time)
        }
        #[cfg(windows)]
        return self.thread.cpu_seconds();
    }
}

/// Returns the seconds since the first call in this process.
pub fn seconds_since_start() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_clock_counts_one_threads_work_and_is_shareable() {
        let clock = ThreadClock::of_this_thread();
        let before = clock.seconds();
        let mut sum = 0u64;
        while clock.seconds() - before < 0.002 {
            sum = sum.wrapping_mul(31).wrapping_add(1);
        }
        let measured = std::thread::spawn(move || clock.seconds()).join().unwrap();
        assert!(measured - before >= 0.002, "{sum}");
    }
}
