//! The current activity of each thread, as a stack of lines. Every error captures this stack, so
//! error messages need not repeat it. After Niklas Gray's "Sensible Error Handling" (Bitsquid,
//! 2012).
//!
//! Pushing a line costs four machine words and copies nothing. The lines become text only when an
//! error is created.

use std::cell::RefCell;
use std::marker::PhantomData;

/// Number of lines for which memory is reserved at once.
const STACK_CAPACITY: usize = 64;

thread_local! {
    static STACK: RefCell<Vec<(&'static str, *const str)>> = const { RefCell::new(Vec::new()) };
}

/// A guard for one line of context: the line is on the stack while this value lives. Created by
/// [`doing!`](crate::doing).
pub struct Context<'a>(PhantomData<&'a str>, PhantomData<*const ()>);

impl<'a> Context<'a> {
    /// Pushes a line. `name` includes its colon: `"When spawning unit:"`.
    ///
    /// # Safety
    /// The value must be dropped while `data` lives, and in reverse order of creation. Hold it in a
    /// plain local variable, as the macro `doing!` does.
    pub unsafe fn push(name: &'static str, data: &'a str) -> Context<'a> {
        STACK.with_borrow_mut(|stack| {
            if stack.len() == stack.capacity() {
                // The memory of the stack stays with the thread, regardless of the caller for which
                // it grows.
                crate::owner!("engine");
                stack.reserve(STACK_CAPACITY);
            }
            stack.push((name, data as *const str));
        });
        Context(PhantomData, PhantomData)
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        STACK.with_borrow_mut(|stack| stack.pop());
    }
}

/// Returns the context lines of this thread, outermost first.
pub fn lines() -> Vec<String> {
    STACK.with_borrow(|stack| {
        let line = |(name, data): &(&str, *const str)| {
            // SAFETY: `Context` borrows the data and leaves the stack before the borrow ends.
            format!("{name} {}", unsafe { &**data })
        };
        stack.iter().map(line).collect()
    })
}

/// Pushes a line of context until the end of the block: `doing!("When loading:", path);`
#[macro_export]
macro_rules! doing {
    ($name:literal, $data:expr) => {
        let (name, data): (&'static str, &str) = ($name, $data);
        // SAFETY: the hidden local lives to the end of the block, and nothing can move it.
        let _doing = unsafe { $crate::context::Context::push(name, data) };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_lines_follow_the_nesting_and_end_with_their_blocks() {
        let level = String::from("big_world");
        doing!("When spawning level:", &level);
        {
            doing!("When spawning unit:", "big_bird");
            assert_eq!(lines(), ["When spawning level: big_world", "When spawning unit: big_bird"]);
        }
        assert_eq!(lines(), ["When spawning level: big_world"]);
    }

    #[test]
    fn a_panic_carries_its_context_lines() {
        let result = std::panic::catch_unwind(|| {
            doing!("When spawning unit:", "big_bird");
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(result.is_err() && lines().is_empty());
    }

    #[test]
    fn every_thread_has_its_own_context_lines() {
        doing!("When spawning level:", "big_world");
        assert!(std::thread::spawn(|| lines().is_empty()).join().unwrap());
    }
}
