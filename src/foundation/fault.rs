//! Faults of the engine itself: what a panic said and what its thread was doing, kept for whoever
//! catches it.

use std::any::Any;
use std::cell::RefCell;
use std::panic::PanicHookInfo;

use super::Error;

thread_local! {
    static LAST: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// From now on a panic writes nothing by itself: its words are kept for [`take_panic`], and the one
/// who catches it reports them.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(keep_panic));
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
}
