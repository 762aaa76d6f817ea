//! Watchdog for a test that hangs inside a C function, which the VM's own watchdog cannot
//! interrupt. It ends the process and reports the file.

use crate::exit;
use engine_foundation::panic;
use engine_platform::{self as platform, ThreadClock};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Seconds of CPU time beyond a test's limit before this watchdog acts. The VM's watchdog comes
/// first.
const GRACE_SECONDS: f64 = 2.0;
const WATCH_PERIOD: Duration = Duration::from_millis(250);

/// State shared by the thread that runs tests and the watchdog thread.
pub struct HangWatchdog {
    /// Counter of calls into Lua, incremented at the start and the end of each call: odd during a
    /// call.
    call_count: AtomicU64,
    file: Mutex<String>,
    /// True if no other process can run the remaining files.
    is_only_process: bool,
}

impl HangWatchdog {
    /// Starts watching the calling thread, until the process ends.
    pub fn start(timeout_seconds: f64, is_only_process: bool) -> Arc<HangWatchdog> {
        let (call_count, file) = (AtomicU64::new(0), Mutex::default());
        let watchdog = Arc::new(HangWatchdog { call_count, file, is_only_process });
        let (shared, clock) = (watchdog.clone(), ThreadClock::of_this_thread());
        let watch = move || {
            let (mut last_count, mut since) = (0, clock.seconds());
            loop {
                thread::sleep(WATCH_PERIOD);
                let call_count = shared.call_count.load(SeqCst);
                if call_count != last_count || call_count % 2 == 0 {
                    (last_count, since) = (call_count, clock.seconds());
                } else if clock.seconds() - since > timeout_seconds + GRACE_SECONDS {
                    shared.abort(timeout_seconds);
                }
            }
        };
        // Without the watchdog, tests still run, but a hang in C code never ends.
        if let Err(reason) = panic::spawn("test watch", watch) {
            engine_foundation::log::warning(&format!("no watch over hanging tests: {reason}"));
        }
        watchdog
    }

    fn file(&self) -> std::sync::MutexGuard<'_, String> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the file that runs now.
    pub fn enter(&self, file: &str) {
        *self.file() = file.to_string();
    }

    /// Runs a watched call into Lua.
    pub fn call<R>(&self, f: impl FnOnce() -> R) -> R {
        self.call_count.fetch_add(1, SeqCst);
        let result = f();
        self.call_count.fetch_add(1, SeqCst);
        result
    }

    fn abort(&self, timeout_seconds: f64) -> ! {
        engine_foundation::error_line!(
            "error: {}: a test ran for more than {timeout_seconds} seconds of CPU time and cannot \
             be stopped: it hangs inside of a C function, such as the standard string.find \
             with a pattern of too many choices{}",
            self.file(),
            if self.is_only_process { ". The files after it did not run" } else { "" }
        );
        platform::exit_immediately(exit::FAILED)
    }
}
