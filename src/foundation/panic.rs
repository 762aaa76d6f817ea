//! Panics of the engine itself: the message and the context lines of a panic, kept for the code
//! that catches it. A panic ends only the piece of work in which it happened.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::memory::limit;
use super::{Error, log};

thread_local! {
    static LAST: RefCell<Option<Error>> = const { RefCell::new(None) };
    /// True if code of this thread catches its panics and reports them.
    static CATCHES_PANICS: Cell<bool> = const { Cell::new(false) };
}

/// Installs the panic hook. From now on a panic prints nothing: its message is kept for
/// [`take_panic`], and the code that catches the panic reports it. A panic on a library's thread,
/// which no engine code can catch, is logged at once. The calling thread counts as a thread of the
/// engine.
pub fn install_panic_hook() {
    CATCHES_PANICS.set(true);
    std::panic::set_hook(Box::new(|info| {
        store_panic(info);
        if !CATCHES_PANICS.get() {
            let name = std::thread::current().name().unwrap_or("without a name").to_string();
            let message = take_panic();
            log::error(&format!("a thread of a library ('{name}') ended: {message}"));
        }
    }));
}

/// Keeps the message of one panic, for callers that install their own hook. The context lines are
/// captured here, because they are gone when the panic is caught.
pub fn store_panic(info: &PanicHookInfo) {
    let message = payload_message(info.payload());
    let location = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
    let text = format!("the engine failed: {message}{}", location.unwrap_or_default());
    let error = Error::new(text);
    LAST.with_borrow_mut(|last| *last = Some(error));
}

fn payload_message(payload: &dyn Any) -> &str {
    let message = payload.downcast_ref::<&str>().copied();
    message.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words")
}

/// Returns and removes the message of this thread's last panic.
pub fn take_panic() -> String {
    let last = LAST.with_borrow_mut(Option::take);
    last.map(|error| error.message)
        .unwrap_or_else(|| "the engine failed without a message".to_string())
}

/// Converts a caught panic of this thread to an error with its message and its context lines. If no
/// hook kept them, the message comes from `payload`.
pub fn to_error(payload: &(dyn Any + Send)) -> Error {
    let stored = LAST.with_borrow_mut(Option::take);
    let mut error = stored
        .unwrap_or_else(|| Error::new(format!("the engine failed: {}", payload_message(payload))));
    error.is_engine_fault = true;
    // The message of an assertion already contains the context lines.
    let contexts: String = error.contexts.iter().map(|line| format!("{line}\n")).collect();
    if !contexts.is_empty() {
        error.message = error.message.replacen(&contexts, "", 1);
    }
    error
}

/// Runs a piece of work, and converts a panic to an error.
///
/// # Errors
/// Returns the panic's message and context lines if the work panicked.
pub fn contain<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    let previous = CATCHES_PANICS.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work)).map_err(|panic| to_error(&*panic));
    CATCHES_PANICS.set(previous);
    result
}

/// Starts a thread of the engine. A panic that the work does not catch ends the thread, and is
/// logged with the thread's name.
///
/// # Errors
/// Returns an error if the system cannot start another thread.
pub fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    spawn_with(Builder::new(), name, work)
}

/// Starts a thread as [`spawn`] does, with a builder that can set the stack size.
///
/// # Errors
/// Returns an error if the system cannot start another thread.
pub fn spawn_with(
    builder: Builder,
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let thread_name = name.to_string();
    builder.name(name.to_string()).spawn(move || {
        CATCHES_PANICS.set(true);
        if let Err(error) = contain(work) {
            log::error(&format!("the thread '{thread_name}' ended: {error}"));
        }
    })
}

/// Runs work on a new thread with a stack of `bytes`, and waits for it. This is for libraries that
/// recurse as deeply as their input is nested. The calling thread's context lines are not visible
/// on the new thread.
///
/// # Errors
/// Returns an error if the work panicked, or if the system cannot start another thread.
pub fn run_with_stack<T: Send>(
    name: &str,
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Error> {
    let is_separate = limit::is_separate();
    std::thread::scope(|scope| {
        let builder = Builder::new().name(name.to_string()).stack_size(bytes);
        let work = || {
            let _separate = is_separate.then(limit::SeparateWork::begin);
            contain(work)
        };
        let thread = builder
            .spawn_scoped(scope, work)
            .map_err(|reason| crate::error!("no thread could be started: {reason}"))
            .map_err(|error| Error { is_transient: true, ..error })?;
        thread.join().unwrap_or_else(|panic| Err(to_error(&*panic)))
    })
}

/// Locks a mutex and ignores poisoning. Use it only for data that is consistent between any two
/// statements, or that is checked where it is used.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doing;
    use crate::insist;

    #[test]
    fn a_caught_panic_keeps_its_message_and_contexts_once() {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            store_panic(info);
            before(info);
        }));
        let panic = std::panic::catch_unwind(|| {
            doing!("When spawning unit:", "big_bird");
            insist!(1 > 2, "no feathers");
        });
        let error = to_error(&*panic.unwrap_err());
        assert_eq!(error.contexts, ["When spawning unit: big_bird"]);
        let message = "the engine failed: Assertion failed: 1 > 2\n    no feathers\n";
        assert!(error.message.starts_with(message), "{error}");
    }

    #[test]
    fn a_panic_ends_only_its_own_work() {
        assert_eq!(contain(|| 7), Ok(7));
        let error = contain(|| -> u32 { panic!("too many feathers") }).unwrap_err();
        assert!(error.is_engine_fault && error.message.contains("too many feathers"), "{error}");
        let mutex = Mutex::new(1);
        let held = contain(|| {
            let _held = mutex.lock().unwrap();
            panic!("with the lock held");
        });
        assert!(held.is_err() && mutex.is_poisoned());
        assert_eq!(*lock(&mutex), 1);
    }

    #[test]
    fn an_engine_thread_reports_why_it_ended() {
        let count = log::error_count();
        spawn("bird feeder", || panic!("no seeds")).unwrap().join().unwrap();
        let errors = log::errors_since(count);
        let ours =
            errors.iter().find(|message| message.contains("no seeds")).expect("it is logged");
        assert!(ours.starts_with("the thread 'bird feeder' ended: the engine failed: "), "{ours}");
    }

    #[test]
    fn a_separate_stack_has_the_requested_size() {
        fn sum(depth: u64) -> u64 {
            let room = std::hint::black_box([depth; 128]);
            if depth == 0 { room[1] } else { room[7] + sum(depth - 1) }
        }
        // Each level takes at least 1 KiB. A thread's default stack would overflow at about 2,000
        // levels.
        assert_eq!(run_with_stack("deep", 64 << 20, || sum(20_000)), Ok(20_000 * 20_001 / 2));
        let error = run_with_stack::<()>("deep", 1 << 20, || panic!("too deep")).unwrap_err();
        assert!(error.is_engine_fault && error.message.contains("too deep"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_cannot_start_is_a_transient_error() {
        let error = run_with_stack("deep", 1 << 60, || 1).unwrap_err();
        assert!(error.message.starts_with("no thread could be started: "), "{error}");
        assert!(error.is_transient && !error.is_engine_fault);
    }
}
