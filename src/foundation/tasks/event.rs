//! Values that main threads hold: events to wait for, and guards of their registration.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{TaskManager, ThreadAffinity};

/// A one-time event that any thread can set, see [`TaskManager::signal`].
#[derive(Default)]
pub struct TaskEvent {
    set: AtomicBool,
}

impl TaskEvent {
    /// Sets the event. Called under the scheduler's lock, where waiting threads check it.
    pub(super) fn set(&self) {
        self.set.store(true, Ordering::Release);
    }

    pub(super) fn flag(&self) -> &AtomicBool {
        &self.set
    }

    pub fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Resets the event, so that it can be set again.
    pub fn reset(&mut self) {
        *self.set.get_mut() = false;
    }
}

/// A guard that registers its thread for some affinities while it lives. See
/// [`TaskManager::register`].
pub struct MainThreadGuard<'a> {
    tasks: &'a TaskManager,
    /// Ties the guard to its thread.
    thread: PhantomData<*const ()>,
}

impl<'a> MainThreadGuard<'a> {
    pub(super) fn new(
        tasks: &'a TaskManager,
        affinities: &[ThreadAffinity],
    ) -> MainThreadGuard<'a> {
        tasks.shared.register(affinities);
        MainThreadGuard { tasks, thread: PhantomData }
    }
}

impl Drop for MainThreadGuard<'_> {
    fn drop(&mut self) {
        self.tasks.shared.unregister();
    }
}
