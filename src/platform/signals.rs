//! Requests of the system and the terminal to end the process, and interrupting a thread: by
//! signals, and on Windows by the console's events and by stopping the thread.

use super::seconds_since_start;
#[cfg(unix)]
use std::cell::Cell;
#[cfg(unix)]
use std::sync::atomic::compiler_fence;
use std::sync::atomic::{AtomicU64, Ordering};

/// The function that runs when a thread is interrupted, and its argument.
#[cfg(windows)]
type InterruptHandler = (fn(*const ()), *const ());

#[cfg(unix)]
thread_local! {
    /// The function that this thread runs when it is interrupted. A signal can come between any two
    /// stores, so the function is set last, by one store.
    static INTERRUPT_FUNCTION: Cell<Option<fn(*const ())>> = const { Cell::new(None) };
    /// The argument of the function.
    static INTERRUPT_DATA: Cell<*const ()> = const { Cell::new(std::ptr::null()) };
}

#[cfg(unix)]
fn set_interrupt_handler(run: fn(*const ()), data: *const ()) {
    INTERRUPT_FUNCTION.set(None);
    compiler_fence(Ordering::SeqCst);
    INTERRUPT_DATA.set(data);
    compiler_fence(Ordering::SeqCst);
    INTERRUPT_FUNCTION.set(Some(run));
}

#[cfg(unix)]
extern "C" fn on_interrupt(_: libc::c_int) {
    if let Some(run) = INTERRUPT_FUNCTION.get() {
        compiler_fence(Ordering::SeqCst);
        run(INTERRUPT_DATA.get());
    }
}

/// A handle with which other threads can interrupt one thread. A function that the thread has
/// registered then runs immediately, between two instructions of the thread.
#[derive(Clone)]
pub struct ThreadInterrupt {
    #[cfg(unix)]
    thread: libc::pthread_t,
    #[cfg(windows)]
    thread: super::thread_handle::ThreadHandle,
    #[cfg(windows)]
    handler: InterruptHandler,
}

// SAFETY: the pointer is only passed on to the function, under the contract of `send`.
#[cfg(windows)]
unsafe impl Send for ThreadInterrupt {}

impl ThreadInterrupt {
    /// Allows other threads to interrupt the calling thread. `run` then runs with `data`: on Unix
    /// inside of a signal handler on the interrupted thread, on Windows on the interrupting thread,
    /// while the other one is stopped. So `run` must not lock, allocate, use thread-local data, or
    /// use data that may be half changed. A later call replaces the function.
    ///
    /// The signal is SIGURG: other senders are rare, and an additional signal does no harm.
    pub fn this_thread(run: fn(*const ()), data: *const ()) -> ThreadInterrupt {
        #[cfg(unix)]
        set_interrupt_handler(run, data);
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
        #[cfg(windows)]
        {
            let thread = super::thread_handle::ThreadHandle::of_this_thread();
            ThreadInterrupt { thread, handler: (run, data) }
        }
    }

    /// Makes the thread's function run. Returns false if the system refuses it.
    ///
    /// # Safety
    /// The thread must not have ended, must not be the calling one, and `data` must still exist.
    pub unsafe fn send(&self) -> bool {
        #[cfg(unix)]
        // SAFETY: the caller upholds the contract, and the handler is installed.
        unsafe {
            libc::pthread_kill(self.thread, libc::SIGURG) == 0
        }
        #[cfg(windows)]
        // SAFETY: the caller and the function uphold the contract.
        unsafe {
            let (run, data) = self.handler;
            self.thread.run_while_stopped(|| run(data))
        }
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

/// Asks this process to end, as a signal does.
pub fn request_end() {
    record_end_signal();
}

fn record_end_signal() {
    let now = (seconds_since_start() * 1e6) as u64 + 1;
    // Only the first request counts.
    let _ = END_REQUESTED_AT.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
}

/// Time for which the console's last events wait for the process to end by itself. Windows ends it
/// when the handler returns, and after five seconds in any case.
#[cfg(windows)]
const CONSOLE_GRACE: std::time::Duration = std::time::Duration::from_secs(4);

/// Handles an event of the console, on a thread of its own.
#[cfg(windows)]
unsafe extern "system" fn on_console_event(event: u32) -> windows_sys::core::BOOL {
    use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT};
    record_end_signal();
    if event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT {
        // The console was closed, or the user logs off.
        std::thread::sleep(CONSOLE_GRACE);
    }
    1
}

/// Records SIGINT, SIGTERM and SIGHUP (the terminal was closed) from now on, instead of ending the
/// process at once, and on Windows the corresponding events of the console. If the process was
/// started to outlive its terminal (`nohup`), SIGHUP stays ignored.
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
    #[cfg(windows)]
    // SAFETY: the handler uses only atomics and the clock. A process without a console has no such
    // events, and the call fails.
    unsafe {
        windows_sys::Win32::System::Console::SetConsoleCtrlHandler(Some(on_console_event), 1);
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
    use std::io::Write;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn an_interrupt_runs_its_function_during_a_system_call() {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        fn count(calls: *const ()) {
            // SAFETY: the pointer is the one that was registered below.
            unsafe { &*calls.cast::<AtomicU32>() }.fetch_add(1, Ordering::SeqCst);
        }
        let thread_interrupt = ThreadInterrupt::this_thread(count, (&raw const CALLS).cast());
        let (reader, mut writer) = std::io::pipe().unwrap();
        let other = std::thread::spawn(move || {
            // SAFETY: the interrupted thread waits for this thread, so it has not ended.
            assert!(unsafe { thread_interrupt.send() });
            std::thread::sleep(std::time::Duration::from_millis(5));
            // SAFETY: as above; the interrupted thread is reading now.
            assert!(unsafe { thread_interrupt.send() });
            writer.write_all(b"x").unwrap();
        });
        let mut byte = [0];
        std::io::Read::read_exact(&mut { reader }, &mut byte).unwrap();
        other.join().unwrap();
        assert_eq!(byte, *b"x");
        assert!(CALLS.load(Ordering::SeqCst) > 0, "two interrupts that come together count once");
    }
}
