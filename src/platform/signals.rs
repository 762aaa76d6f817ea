//! Signals: those that ask the process to end, and one that interrupts a thread.

use super::seconds_since_start;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// The function that this thread runs when it is interrupted.
    static INTERRUPT_HANDLER: Cell<Option<fn()>> = const { Cell::new(None) };
}

#[cfg(unix)]
extern "C" fn on_interrupt(_: libc::c_int) {
    if let Some(run) = INTERRUPT_HANDLER.get() {
        run();
    }
}

/// A handle with which other threads can interrupt one thread, which then immediately runs a
/// function that it has registered.
#[derive(Clone, Copy)]
pub struct ThreadInterrupt {
    #[cfg(unix)]
    thread: libc::pthread_t,
}

impl ThreadInterrupt {
    /// Allows other threads to interrupt the calling thread, which then runs `run` inside of a
    /// signal handler. `run` must not use data that may be half changed. A later call replaces the
    /// function.
    ///
    /// The signal is SIGURG: other senders are rare, and an additional signal does no harm.
    pub fn this_thread(run: fn()) -> ThreadInterrupt {
        INTERRUPT_HANDLER.set(Some(run));
        #[cfg(unix)]
        // SAFETY: the records are filled before they are used. The handler only reads a cell that
        // lives as long as its thread, and runs `run`, whose contract the caller upholds.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_interrupt as extern "C" fn(libc::c_int) as libc::sighandler_t;
            // Interrupted system calls are restarted.
            action.sa_flags = libc::SA_RESTART;
            let failed = libc::sigaction(libc::SIGURG, &action, std::ptr::null_mut());
            engine_foundation::insist!(failed == 0, "SIGURG cannot be handled");
            // The parent process may have blocked the signal.
            let mut signals = std::mem::zeroed();
            libc::sigemptyset(&mut signals);
            libc::sigaddset(&mut signals, libc::SIGURG);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &signals, std::ptr::null_mut());
            ThreadInterrupt { thread: libc::pthread_self() }
        }
        #[cfg(not(unix))]
        return ThreadInterrupt {};
    }

    /// Makes the thread run its function. Returns false if the system does not support it.
    ///
    /// # Safety
    /// The thread must not have ended.
    pub unsafe fn send(self) -> bool {
        #[cfg(unix)]
        // SAFETY: the caller upholds the contract, and the handler is installed.
        unsafe {
            libc::pthread_kill(self.thread, libc::SIGURG) == 0
        }
        #[cfg(not(unix))]
        return false;
    }
}

/// Time at which the process was asked to end, in microseconds of `seconds_since_start`, plus 1; 0
/// if it was not asked yet.
static END_REQUESTED_AT: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
extern "C" fn on_signal(_: libc::c_int) {
    // The function uses only atomics and the clock, which are safe inside of a signal handler.
    record_end_signal();
}

fn record_end_signal() {
    let now = (seconds_since_start() * 1e6) as u64 + 1;
    // Only the first request counts.
    let _ = END_REQUESTED_AT.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
}

/// Records SIGINT, SIGTERM and SIGHUP (the terminal was closed) from now on, instead of ending the
/// process at once. If the process was started to outlive its terminal (`nohup`), SIGHUP stays
/// ignored.
pub fn install_signal_handlers() {
    seconds_since_start();
    #[cfg(unix)]
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let handler = on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
        // SAFETY: the handler uses only atomics and the monotonic clock.
        unsafe {
            let before = libc::signal(signal, handler);
            if signal == libc::SIGHUP && before == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}

/// Returns the seconds since the process was asked to end, if it was.
pub fn end_requested() -> Option<f64> {
    match END_REQUESTED_AT.load(Ordering::Relaxed) {
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
    fn an_interrupt_runs_its_function_during_a_system_call() {
        thread_local! {
            static POKES: Cell<u32> = const { Cell::new(0) };
        }
        let thread_interrupt = ThreadInterrupt::this_thread(|| POKES.set(POKES.get() + 1));
        let (reader, mut writer) = std::io::pipe().unwrap();
        let other = std::thread::spawn(move || {
            // SAFETY: the interrupted thread waits for this thread, so it has not ended.
            assert!(unsafe { thread_interrupt.send() });
            std::thread::sleep(std::time::Duration::from_millis(5));
            // SAFETY: as above; the interrupted thread is reading now.
            assert!(unsafe { thread_interrupt.send() });
            writer.write_all(b"x").unwrap();
            POKES.get()
        });
        let mut byte = [0];
        std::io::Read::read_exact(&mut { reader }, &mut byte).unwrap();
        assert_eq!((other.join().unwrap(), byte), (0, *b"x"));
        assert!(POKES.get() > 0, "two pokes that come together count once");
    }
}
