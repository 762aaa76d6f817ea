//! Faults of the engine itself: what a panic said, kept for whoever catches it.

use std::cell::RefCell;

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on a panic writes nothing by itself: its words are kept for [`take_panic`], and the one
/// who catches it reports them.
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|info| {
        let said = info.payload();
        let words = said.downcast_ref::<&str>().map(|words| words.to_string());
        let words = words.or_else(|| said.downcast_ref::<String>().cloned());
        let words = words.unwrap_or_else(|| "no words".to_string());
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        let text = format!("the engine failed: {words}{}", place.unwrap_or_default());
        LAST.with_borrow_mut(|last| *last = Some(text));
    }));
}

/// The words of this thread's last panic.
pub fn take_panic() -> String {
    let last = LAST.with_borrow_mut(Option::take);
    last.unwrap_or_else(|| "the engine failed, and said no more".to_string())
}
