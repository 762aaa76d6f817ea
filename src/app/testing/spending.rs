//! The CPU clock of a thread, for what a test takes. The system needs about as long to tell it as a
//! trivial test takes: so it is asked now and then only.

use crate::system::platform::ThreadClock;
use std::time::{Duration, Instant};

/// Time after which the system is asked again. By so much the clock may be ahead.
const TRUSTED: Duration = Duration::from_millis(1);

/// The CPU clock of the thread that made it.
pub struct Spending {
    clock: ThreadClock,
    /// What the system said last, in seconds, and when.
    told: f64,
    asked: Instant,
}

impl Spending {
    pub fn of_this_thread() -> Spending {
        let (clock, asked) = (ThreadClock::of_this_thread(), Instant::now());
        Spending { clock, told: clock.seconds(), asked }
    }

    /// Seconds of CPU time. Since the system said it, the thread took no more than went by.
    pub fn seconds(&mut self) -> f64 {
        let passed = self.asked.elapsed();
        if passed < TRUSTED {
            return self.told + passed.as_secs_f64();
        }
        // In this order: what the thread takes in between is then counted twice, not left out.
        (self.asked, self.told) = (Instant::now(), self.clock.seconds());
        self.told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_never_behind_and_does_not_count_waiting() {
        let (clock, mut spending) = (ThreadClock::of_this_thread(), Spending::of_this_thread());
        let mut sum = 0u64;
        for _ in 0..100_000 {
            let told = clock.seconds();
            assert!(spending.seconds() >= told - 1e-6, "{sum}");
            sum = sum.wrapping_mul(31).wrapping_add(1);
        }
        let before = spending.seconds();
        std::thread::sleep(TRUSTED * 10);
        assert!(spending.seconds() < before + TRUSTED.as_secs_f64() * 5.0);
    }
}
