//! CPU clock of a thread, for the time limits of tests. A query of the operating system takes about
//! as long as a trivial test, so the clock queries it only at intervals.

use engine_platform::ThreadClock;
use std::time::{Duration, Instant};

/// Interval between two queries. The clock may be ahead by this much.
const REQUERY_INTERVAL: Duration = Duration::from_millis(1);

/// The CPU clock of the thread that created it.
pub struct CpuClock {
    clock: ThreadClock,
    /// Result of the last query, in seconds.
    last_seconds: f64,
    /// Time of the last query.
    last_query: Instant,
}

impl CpuClock {
    pub fn of_this_thread() -> CpuClock {
        let (clock, last_query) = (ThreadClock::of_this_thread(), Instant::now());
        CpuClock { last_seconds: clock.seconds(), clock, last_query }
    }

    /// Returns the CPU time in seconds. Between queries it adds the elapsed real time, which the
    /// thread's CPU time cannot exceed.
    pub fn seconds(&mut self) -> f64 {
        let passed = self.last_query.elapsed();
        if passed < REQUERY_INTERVAL {
            return self.last_seconds + passed.as_secs_f64();
        }
        // The order matters: CPU time between the two readings is counted twice instead of being
        // lost.
        (self.last_query, self.last_seconds) = (Instant::now(), self.clock.seconds());
        self.last_seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_clock_is_monotonic_and_does_not_count_waiting() {
        let (clock, mut cpu_clock) = (ThreadClock::of_this_thread(), CpuClock::of_this_thread());
        let mut sum = 0u64;
        for _ in 0..100_000 {
            let thread_seconds = clock.seconds();
            assert!(cpu_clock.seconds() >= thread_seconds - 1e-6, "{sum}");
            sum = sum.wrapping_mul(31).wrapping_add(1);
        }
        let before = cpu_clock.seconds();
        std::thread::sleep(REQUERY_INTERVAL * 10);
        assert!(cpu_clock.seconds() < before + REQUERY_INTERVAL.as_secs_f64() * 5.0);
    }
}
