//! The last resort for a test that cannot be stopped: one that hangs inside of a C function, which
//! the VM's watchdog cannot interrupt. The process then ends, and says which file it was.

use crate::app::exit;
use crate::foundation::fault;
use crate::system::platform::{self, ThreadClock};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Seconds of CPU time beyond its own after which a test is given up; the watchdog comes first.
const GRACE_SECONDS: f64 = 2.0;
const WATCH_PERIOD: Duration = Duration::from_millis(250);

/// What the thread that runs tests and the one that watches it share.
pub struct Watched {
    /// Counts calls into Lua; odd while one is under way.
    turn: AtomicU64,
    file: Mutex<String>,
    /// Whether the files that follow have nobody else to run them.
    alone: bool,
}

impl Watched {
    /// Watches the calling thread, for as long as the process lives.
    pub fn start(timeout_seconds: f64, alone: bool) -> Arc<Watched> {
        let (turn, file) = (AtomicU64::new(0), Mutex::default());
        let watched = Arc::new(Watched { turn, file, alone });
        let (shared, clock) = (watched.clone(), ThreadClock::of_this_thread());
        let watch = move || {
            let (mut seen, mut since) = (0, clock.seconds());
            loop {
                thread::sleep(WATCH_PERIOD);
                let turn = shared.turn.load(SeqCst);
                if turn != seen || turn % 2 == 0 {
                    (seen, since) = (turn, clock.seconds());
                } else if clock.seconds() - since > timeout_seconds + GRACE_SECONDS {
                    shared.give_up(timeout_seconds);
                }
            }
        };
        // Without it tests still run; only one that hangs in C code is then waited for.
        if let Err(reason) = fault::spawn("test watch", watch) {
            crate::foundation::log::warning(&format!("no watch over hanging tests: {reason}"));
        }
        watched
    }

    fn file(&self) -> std::sync::MutexGuard<'_, String> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another file's turn.
    pub fn enter(&self, file: &str) {
        *self.file() = file.to_string();
    }

    /// Runs a call into Lua.
    pub fn call<R>(&self, f: impl FnOnce() -> R) -> R {
        self.turn.fetch_add(1, SeqCst);
        let result = f();
        self.turn.fetch_add(1, SeqCst);
        result
    }

    fn give_up(&self, timeout_seconds: f64) -> ! {
        crate::error_line!(
            "error: {}: a test ran for more than {timeout_seconds} seconds of CPU time and cannot \
             be stopped: it hangs inside of a C function, such as the standard string.find \
             with a pattern of too many choices{}",
            self.file(),
            if self.alone { ". The files after it did not run" } else { "" }
        );
        platform::end_now(exit::FAILED)
    }
}
