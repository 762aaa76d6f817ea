//! The clock of the profiler: the processor's time stamp counter, which costs a few nanoseconds to
//! read, and its measured frequency. Reading the system's clock would cost more than the rest of a
//! scope.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Returns the current tick count, which is the same for all threads. Its zero is arbitrary.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the counter. On processors of the last fifteen years it
    // advances at one rate on all cores.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: the instruction only reads a counter that programs may read.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        start().0.elapsed().as_nanos() as u64
    }
}

fn start() -> &'static (Instant, u64) {
    static START: OnceLock<(Instant, u64)> = OnceLock::new();
    START.get_or_init(|| {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        return read_both_clocks();
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        (Instant::now(), 0)
    })
}

/// Returns the same moment on both clocks. The system may pause the thread between the readings,
/// so the closest of several pairs is taken.
fn read_both_clocks() -> (Instant, u64) {
    const PAIRS: usize = 8;
    /// Two readings without a pause between them are closer than this.
    const CLOSE: Duration = Duration::from_micros(5);
    let mut closest: Option<(Duration, Instant, u64)> = None;
    for _ in 0..PAIRS {
        let (before, at) = (Instant::now(), ticks());
        let apart = before.elapsed();
        if closest.is_none_or(|(least, ..)| apart < least) {
            closest = Some((apart, before, at));
        }
        if apart < CLOSE {
            break;
        }
    }
    closest.map_or_else(|| (Instant::now(), ticks()), |(_, time, at)| (time, at))
}

/// Starts to measure the tick frequency. The longer ago this was called, the more precise the
/// measurement.
pub fn begin() {
    start();
}

/// Returns the duration of one tick in seconds, as measured against the system's clock since
/// [`begin`].
pub fn seconds_per_tick() -> f64 {
    let (began, at) = *start();
    let (time, now) = read_both_clocks();
    let seconds = time.saturating_duration_since(began).as_secs_f64();
    match now.saturating_sub(at) {
        // No ticks have passed, so every measured duration is zero.
        0 => 0.0,
        passed => seconds / passed as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn ticks_are_converted_to_seconds() {
        begin();
        std::thread::sleep(Duration::from_millis(5));
        let (began, from) = read_both_clocks();
        std::thread::sleep(Duration::from_millis(20));
        let (ended, to) = read_both_clocks();
        let seconds = (ended - began).as_secs_f64();
        let measured = (to - from) as f64 * seconds_per_tick();
        assert!((measured / seconds - 1.0).abs() < 0.02, "{measured} is not {seconds}");
    }
}
