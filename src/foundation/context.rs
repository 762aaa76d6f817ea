//! What the engine is doing right now, as a stack of lines per thread: an error says it by itself,
//! so no message has to repeat it. After Niklas Gray's "Sensible Error Handling" (Bitsquid, 2012).
//!
//! Pushing costs four words and copies nothing; the lines become text only when an error is made.

use std::cell::RefCell;
use std::marker::PhantomData;

/// For how many lines room is made at once.
const ROOM: usize = 64;

thread_local! {
    static STACK: RefCell<Vec<(&'static str, *const str)>> = const { RefCell::new(Vec::new()) };
}

/// One line of context, there as long as this value is. Made by [`doing!`](crate::doing).
pub struct Context<'a>(PhantomData<&'a str>, PhantomData<*const ()>);

impl<'a> Context<'a> {
    /// Pushes a line. `name` carries its own colon: `"When spawning unit:"`.
    ///
    /// # Safety
    /// The value must be dropped, in reverse order of making, while `data` lives: hold it in a
    /// plain local variable. The macro `doing!` does that.
    pub unsafe fn push(name: &'static str, data: &'a str) -> Context<'a> {
        STACK.with_borrow_mut(|stack| {
            if stack.len() == stack.capacity() {
                // It stays with the thread, whoever it grows for.
                crate::owner!("engine");
                stack.reserve(ROOM);
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

/// The lines of this thread, outermost first.
pub fn lines() -> Vec<String> {
    STACK.with_borrow(|stack| {
        let line = |(name, data): &(&str, *const str)| {
            // SAFETY: `Context` borrows the data and leaves the stack before the borrow ends.
            format!("{name} {}", unsafe { &**data })
        };
        stack.iter().map(line).collect()
    })
}

/// Says what the code is doing until the end of the block: `doing!("When loading:", path);`
#[macro_export]
macro_rules! doing {
    ($name:literal, $data:expr) => {
        let (name, data): (&'static str, &str) = ($name, $data);
        // SAFETY: the hidden local lives to the end of the block, and nothing can move it.
        let _doing = unsafe { $crate::foundation::context::Context::push(name, data) };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_in_the_order_of_their_blocks_and_leave_with_them() {
        let level = String::from("big_world");
        doing!("When spawning level:", &level);
        {
            doing!("When spawning unit:", "big_bird");
            assert_eq!(lines(), ["When spawning level: big_world", "When spawning unit: big_bird"]);
        }
        assert_eq!(lines(), ["When spawning level: big_world"]);
    }

    #[test]
    fn a_panic_takes_its_lines_along() {
        let result = std::panic::catch_unwind(|| {
            doing!("When spawning unit:", "big_bird");
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(result.is_err() && lines().is_empty());
    }

    #[test]
    fn every_thread_has_its_own_lines() {
        doing!("When spawning level:", "big_world");
        assert!(std::thread::spawn(|| lines().is_empty()).join().unwrap());
    }
}
