//! What main threads hold: events that they wait for, and their being registered as main threads.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Affinity, Tasks};

/// Something that happens once, on any thread, see [`Tasks::signal`].
#[derive(Default)]
pub struct Event {
    set: AtomicBool,
}

impl Event {
    /// Under the board's lock: who waits looks at it there.
    pub(super) fn set(&self) {
        self.set.store(true, Ordering::Release);
    }

    pub(super) fn flag(&self) -> &AtomicBool {
        &self.set
    }

    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Makes it ready to be set again.
    pub fn reset(&mut self) {
        *self.set.get_mut() = false;
    }
}

/// While this lives, its thread is the one for some affinities. See [`Tasks::register`].
pub struct Registered<'a> {
    tasks: &'a Tasks,
    /// It stays on its thread.
    thread: PhantomData<*const ()>,
}

impl<'a> Registered<'a> {
    pub(super) fn new(tasks: &'a Tasks, affinities: &[Affinity]) -> Registered<'a> {
        tasks.shared.register(affinities);
        Registered { tasks, thread: PhantomData }
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.tasks.shared.unregister();
    }
}
