//! Signals: those that ask the process to end, and one that interrupts a thread.

use super::seconds_since_start;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// What this thread runs when it is poked.
    static POKED: Cell<Option<fn()>> = const { Cell::new(None) };
}

#[cfg(unix)]
extern "C" fn on_poke(_: libc::c_int) {
    if let Some(run) = POKED.get() {
        run();
    }
}

/// A way to have one thread run a function of its own at once, whatever it is doing.
#[derive(Clone, Copy)]
pub struct Poke {
    #[cfg(unix)]
    thread: libc::pthread_t,
}

impl Poke {
    /// Lets other threads poke the calling one: it then runs `run` inside a signal handler, so
    /// `run` may touch nothing that it could find half changed. A later call replaces the function.
    ///
    /// The signal is SIGURG: what else sends it is rare, and nobody minds one too many.
    pub fn this_thread(run: fn()) -> Poke {
        POKED.set(Some(run));
        #[cfg(unix)]
        // SAFETY: the records are filled before they are used, and the handler does nothing but
        // read a cell that is there as long as its thread, and run what `run` promises.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_poke as extern "C" fn(libc::c_int) as libc::sighandler_t;
            // System calls that it interrupts go on.
            action.sa_flags = libc::SA_RESTART;
            let failed = libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut());
            crate::insist!(failed == 0, "SIGURG cannot be handled");
            // Whoever started the process may have blocked it.
            let mut signals = std::mem::zeroed();
            libc::sigemptyset(&mut signals);
            libc::sigaddset(&mut signals, libc::SIGURG);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &signals, std::ptr::null_mut());
            Poke { thread: libc::pthread_self() }
        }
        #[cfg(not(unix))]
        return Poke {};
    }

    /// Has the thread run its function; false where the system cannot.
    ///
    /// # Safety
    /// The thread has not ended.
    pub unsafe fn poke(self) -> bool {
        #[cfg(unix)]
        // SAFETY: as the caller promised; the handler stands.
        unsafe {
            libc::pthread_kill(self.thread, libc::SIGURG) == 0
        }
        #[cfg(not(unix))]
        return false;
    }
}

/// When the process was asked to end, in microseconds of `seconds_since_start`, plus 1; 0: not yet.
static ASKED_TO_END: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
extern "C" fn on_signal(_: libc::c_int) {
    // Only atomics and the clock, which are safe inside a signal handler.
    note_end();
}

fn note_end() {
    let now = (seconds_since_start() * 1e6) as u64 + 1;
    // The first asking counts.
    let _ = ASKED_TO_END.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
}

/// From now on SIGINT, SIGTERM and SIGHUP (the terminal was closed) are noted instead of ending the
/// process at once. A process that was started to outlive its terminal (`nohup`) does.
pub fn note_signals() {
    seconds_since_start();
    #[cfg(unix)]
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let handler = on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler touches only atomics and the monotonic clock.
        unsafe {
            let before = libc::signal(signal, handler);
            if signal == libc::SIGHUP && before == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}

/// How long ago the process was asked to end, in seconds.
pub fn asked_to_end() -> Option<f64> {
    match ASKED_TO_END.load(Ordering::Relaxed) {
        0 => None,
        at => Some(seconds_since_start() - (at - 1) as f64 * 1e-6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use std::io::Write;

    #[cfg(unix)]
    #[test]
    fn a_poked_thread_runs_its_function_itself_even_in_a_system_call() {
        thread_local! {
            static POKES: Cell<u32> = const { Cell::new(0) };
        }
        let poke = Poke::this_thread(|| POKES.set(POKES.get() + 1));
        let (reader, mut writer) = std::io::pipe().unwrap();
        let other = std::thread::spawn(move || {
            // SAFETY: this thread is waited for by the one that it pokes.
            assert!(unsafe { poke.poke() });
            std::thread::sleep(std::time::Duration::from_millis(5));
            // SAFETY: as above; that one is reading now.
            assert!(unsafe { poke.poke() });
            writer.write_all(b"x").unwrap();
            POKES.get()
        });
        let mut byte = [0];
        std::io::Read::read_exact(&mut { reader }, &mut byte).unwrap();
        assert_eq!((other.join().unwrap(), byte), (0, *b"x"));
        assert!(POKES.get() > 0, "two pokes that come together count once");
    }
}
