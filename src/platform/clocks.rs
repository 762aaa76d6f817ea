//! Clocks: the CPU time of a thread, and the time since the process started.

use std::time::Instant;

/// A clock for the CPU time of one thread.
#[derive(Clone, Copy)]
pub struct ThreadClock {
    #[cfg(unix)]
    id: libc::clockid_t,
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
        // macOS has no such call. Wall time is used instead, which is stricter on a busy machine.
        #[cfg(target_os = "macos")]
        return ThreadClock { id: libc::CLOCK_MONOTONIC };
        #[cfg(not(unix))]
        return ThreadClock {};
    }

    /// Returns the CPU time used so far in seconds. The time stops when the thread has ended.
    pub fn seconds(self) -> f64 {
        #[cfg(unix)]
        {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the call fills the record. The clock of an ended thread returns an error and
            // leaves zero.
            unsafe { libc::clock_gettime(self.id, &mut time) };
            time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
        }
        #[cfg(not(unix))]
        return seconds_since_start();
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
