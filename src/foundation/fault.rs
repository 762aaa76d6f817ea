//! Faults of the engine itself: the words of a panic and what its thread was doing, kept for the
//! code that catches it. A panic ends the piece of work that it happened in, and nothing else.

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
    /// Whether this thread reports its panics itself.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

/// From now on a panic writes nothing by itself: its words are kept for [`take_panic`], and the
/// code that catches it reports them. A panic on a thread of a library, where nothing of the
/// engine's can catch it, is logged at once. The calling thread is the engine's.
pub fn keep_panics() {
    WATCHED.set(true);
    std::panic::set_hook(Box::new(|info| {
        keep_panic(info);
        if !WATCHED.get() {
            let name = std::thread::current().name().unwrap_or("without a name").to_string();
            let words = take_panic();
            log::error(&format!("a thread of a library ('{name}') ended: {words}"));
        }
    }));
}

/// Keeps one panic's words, for a hook of its own making. The contexts are noted here: when the
/// panic is caught, they are gone.
pub fn keep_panic(info: &PanicHookInfo) {
    let words = words(info.payload());
    let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
    let text = format!("the engine failed: {words}{}", place.unwrap_or_default());
    let error = Error::new(text);
    LAST.with_borrow_mut(|last| *last = Some(error));
}

fn words(payload: &dyn Any) -> &str {
    let words = payload.downcast_ref::<&str>().copied();
    words.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words")
}

/// The words of this thread's last panic.
pub fn take_panic() -> String {
    let last = LAST.with_borrow_mut(Option::take);
    last.map(|error| error.message)
        .unwrap_or_else(|| "the engine failed, and said no more".to_string())
}

/// The error that a caught panic of this thread amounts to: its words, and the contexts that it
/// left. `payload` says what there is to say when no hook has kept more.
pub fn caught(payload: &(dyn Any + Send)) -> Error {
    let kept = LAST.with_borrow_mut(Option::take);
    let mut error =
        kept.unwrap_or_else(|| Error::new(format!("the engine failed: {}", words(payload))));
    error.is_fault = true;
    // An assertion has said the contexts itself.
    let said: String = error.contexts.iter().map(|line| format!("{line}\n")).collect();
    if !said.is_empty() {
        error.message = error.message.replacen(&said, "", 1);
    }
    error
}

/// Runs a piece of work; a panic in it comes back as an error.
///
/// # Errors
/// The work panicked: its words, and what it was doing.
pub fn contain<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    let watched = WATCHED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work)).map_err(|panic| caught(&*panic));
    WATCHED.set(watched);
    result
}

/// Starts a thread of the engine's own. A panic that its work does not contain ends the thread and
/// is logged with the thread's name.
///
/// # Errors
/// The system has no thread left.
pub fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    spawn_with(Builder::new(), name, work)
}

/// The same, with a builder that knows the size of the stack.
///
/// # Errors
/// The system has no thread left.
pub fn spawn_with(
    builder: Builder,
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> io::Result<JoinHandle<()>> {
    let own = name.to_string();
    builder.name(name.to_string()).spawn(move || {
        WATCHED.set(true);
        if let Err(error) = contain(work) {
            log::error(&format!("the thread '{own}' ended: {error}"));
        }
    })
}

/// Runs work on a thread of its own with a stack of `bytes`, and waits for it: for libraries that
/// call themselves as deep as their input is nested. Contexts of the calling thread are not known
/// there.
///
/// # Errors
/// The work panicked, or the system has no thread left.
pub fn on_stack<T: Send>(
    name: &str,
    bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Error> {
    let apart = limit::is_apart();
    std::thread::scope(|scope| {
        let builder = Builder::new().name(name.to_string()).stack_size(bytes);
        let work = || {
            let _apart = apart.then(limit::Apart::begin);
            contain(work)
        };
        let thread = builder
            .spawn_scoped(scope, work)
            .map_err(|reason| crate::error!("no thread could be started: {reason}"))
            .map_err(|error| Error { is_passing: true, ..error })?;
        thread.join().unwrap_or_else(|panic| Err(caught(&*panic)))
    })
}

/// Locks what a thread may have left half done by a panic: what it guards is whole between any two
/// statements, or is checked where it is used.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{doing, insist};

    #[test]
    fn a_caught_panic_keeps_words_and_contexts_which_an_assertion_does_not_say_twice() {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            keep_panic(info);
            before(info);
        }));
        let panic = std::panic::catch_unwind(|| {
            doing!("When spawning unit:", "big_bird");
            insist!(1 > 2, "no feathers");
        });
        let error = caught(&*panic.unwrap_err());
        assert_eq!(error.contexts, ["When spawning unit: big_bird"]);
        let words = "the engine failed: Assertion failed: 1 > 2\n    no feathers\n";
        assert!(error.message.starts_with(words), "{error}");
    }

    #[test]
    fn a_panic_ends_its_work_and_nothing_else() {
        assert_eq!(contain(|| 7), Ok(7));
        let error = contain(|| -> u32 { panic!("too many feathers") }).unwrap_err();
        assert!(error.is_fault && error.message.contains("too many feathers"), "{error}");
        let mutex = Mutex::new(1);
        let held = contain(|| {
            let _held = mutex.lock().unwrap();
            panic!("with the lock held");
        });
        assert!(held.is_err() && mutex.is_poisoned());
        assert_eq!(*lock(&mutex), 1);
    }

    #[test]
    fn a_thread_of_the_engines_own_says_why_it_ended() {
        let count = log::error_count();
        spawn("bird feeder", || panic!("no seeds")).unwrap().join().unwrap();
        let said = log::errors_since(count);
        let ours = said.iter().find(|words| words.contains("no seeds")).expect("it is logged");
        assert!(ours.starts_with("the thread 'bird feeder' ended: the engine failed: "), "{ours}");
    }

    #[test]
    fn a_stack_of_its_own_is_as_large_as_it_is_asked_for() {
        fn sum(depth: u64) -> u64 {
            let room = std::hint::black_box([depth; 128]);
            if depth == 0 { room[1] } else { room[7] + sum(depth - 1) }
        }
        // At least 1 KiB a level: a thread's usual stack would end at about 2,000.
        assert_eq!(on_stack("deep", 64 << 20, || sum(20_000)), Ok(20_000 * 20_001 / 2));
        let error = on_stack::<()>("deep", 1 << 20, || panic!("too deep")).unwrap_err();
        assert!(error.is_fault && error.message.contains("too deep"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn where_the_system_has_no_thread_the_error_says_so_and_passes() {
        let error = on_stack("deep", 1 << 60, || 1).unwrap_err();
        assert!(error.message.starts_with("no thread could be started: "), "{error}");
        assert!(error.is_passing && !error.is_fault);
    }
}
