//! Cost of a case: CPU time and memory of the whole process. Cases run one after the other. A case
//! that does not end is aborted by another thread with a message.

use crate::allocator::{peak, reset_peak};
use crate::fuzz::targets::lock_measurement;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum real time of one case that waits for another thread, or hangs. Long enough for a busy
/// machine.
const WALL_SECONDS_MAX: u64 = 60;

/// Returns the CPU time of all threads of the process, in seconds.
#[cfg(unix)]
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills the record.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0, "this process has no CPU clock");
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Returns real time, which is a stricter measure on a busy machine.
#[cfg(not(unix))]
fn cpu_seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64()
}

/// Cost of one case, or its limit.
#[derive(Clone, Copy, Default)]
pub struct Cost {
    pub seconds: f64,
    /// Memory in addition to the memory allocated before the case.
    pub bytes: usize,
}

impl Cost {
    pub fn max(self, other: Cost) -> Cost {
        Cost { seconds: self.seconds.max(other.seconds), bytes: self.bytes.max(other.bytes) }
    }
}

/// The running case.
struct Case {
    description: String,
    began: Instant,
    /// CPU time by which the case must have ended.
    end_seconds: f64,
}

/// Runner of cases. One exists at a time.
pub struct Meter {
    case: Arc<Mutex<Option<Case>>>,
    ended: Arc<AtomicBool>,
    _alone: MutexGuard<'static, ()>,
}

impl Meter {
    pub fn start() -> Meter {
        let lock = lock_measurement();
        let case: Arc<Mutex<Option<Case>>> = Arc::default();
        let ended = Arc::new(AtomicBool::new(false));
        let (watched_case, over) = (case.clone(), ended.clone());
        std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(250));
                let case = watched_case.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(Case { description, began, end_seconds }) = &*case else {
                    continue;
                };
                let is_late = began.elapsed() > Duration::from_secs(WALL_SECONDS_MAX);
                if is_late || cpu_seconds() > *end_seconds {
                    eprintln!("this takes too long: {description}");
                    std::process::exit(101);
                }
            }
        });
        Meter { case, ended, _alone: lock }
    }

    /// Runs a case, and fails if it exceeds its limit. Returns its result and its cost.
    pub fn run<T>(
        &self,
        most: Cost,
        describe: impl Fn() -> String,
        work: impl FnOnce() -> T,
    ) -> (T, Cost) {
        let (began, cpu) = (Instant::now(), cpu_seconds());
        let case = Case { description: describe(), began, end_seconds: cpu + most.seconds };
        *self.case() = Some(case);
        let before = reset_peak();
        let done = work();
        let bytes = peak() - before;
        let cost = Cost { seconds: cpu_seconds() - cpu, bytes };
        *self.case() = None;
        let Cost { seconds, bytes } = cost;
        assert!(seconds <= most.seconds, "{}: {seconds} seconds of CPU time", describe());
        assert!(
            bytes <= most.bytes,
            "{}: {bytes} bytes, and {} is the most",
            describe(),
            most.bytes
        );
        (done, cost)
    }

    fn case(&self) -> MutexGuard<'_, Option<Case>> {
        self.case.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}
