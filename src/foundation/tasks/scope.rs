//! The frame in which tasks may borrow: it does not end before they have. Like
//! `std::thread::scope`, with graphs of tasks in place of threads.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Tasks;
use super::board::{Awaits, Key};
use super::graph::{Graph, Parts, TaskId};
use super::record::{Affinity, Record};
use super::threads::Shared;
use crate::foundation::{Error, fault};
use crate::insist;

/// Where graphs are made whose tasks borrow from around it. See [`Tasks::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    pub(super) tasks: &'env Tasks,
    /// The released graphs' parts, as a list: tasks may be using them.
    running: Cell<Option<Box<Parts>>>,
    /// Both lifetimes may neither grow nor shrink: what tasks borrow lives exactly so long.
    lives: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

/// A released graph.
pub struct Running<'scope, 'env> {
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) number: u32,
    /// Kept by the scope.
    pub(super) keys: *const [Key],
}

pub(super) fn scope<'env, F, R>(tasks: &'env Tasks, f: F) -> Result<R, Error>
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R, Error>,
{
    let scope = Scope { tasks, running: Cell::new(None), lives: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let failed = scope.end();
    match (result, failed) {
        (Err(panic), _) => resume_unwind(panic),
        (Ok(_), Some(error)) => Err(error),
        (Ok(result), None) => result,
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// A new graph, to be filled and then [`run`](Graph::run).
    pub fn graph(&'scope self) -> Graph<'scope, 'env> {
        Graph::new(self, self.tasks.shared.take_parts())
    }

    /// Keeps a released graph's parts until its tasks have ended.
    pub(super) fn keep(&self, mut parts: Box<Parts>) {
        parts.next = self.running.take();
        self.running.set(Some(parts));
    }

    /// Checks that the threads are there for whom tasks are meant.
    pub(super) fn check_affinities(&self, records: &[Record]) {
        let special = |record: &&Record| record.affinity != Affinity::Any;
        if let Some(Record { name, affinity, .. }) = records.iter().find(special) {
            // Two main threads that wait inside tasks could wait for each other.
            let thread = affinity.word();
            insist!(
                !Shared::is_inside(),
                "task '{name}' is for the {thread} thread alone, and was released inside another \
                 task: only from outside of tasks may work be sent to a main thread"
            );
        }
        let registered = self.tasks.shared.registered() | Affinity::Any.bit();
        let missing = |record: &&Record| record.affinity.bit() & registered == 0;
        if let Some(Record { name, affinity, .. }) = records.iter().find(missing) {
            let thread = affinity.word();
            insist!(
                false,
                "task '{name}' is for the {thread} thread alone, and no thread is registered as \
                 that: register one, or let the task's affinity be `Any`"
            );
        }
    }

    /// Waits for every released graph; the error of the first that failed.
    fn end(&self) -> Option<Error> {
        let shared = &self.tasks.shared;
        let bomb = AbortUnlessForgotten;
        let mut failed = None;
        let mut list = self.running.take();
        while let Some(mut parts) = list {
            shared.work_until(Awaits::Task(parts.keys[0]), parts.keys[0].slot);
            // The list goes from the last released graph to the first.
            failed = shared.take_failure(parts.keys[0]).or(failed);
            list = parts.next.take();
            shared.give_parts(parts);
        }
        std::mem::forget(bomb);
        failed
    }
}

/// Tasks could go on using what they borrow when the wait for them fails, which only a fault of the
/// task manager can bring about: then there is no going on.
struct AbortUnlessForgotten;

impl Drop for AbortUnlessForgotten {
    fn drop(&mut self) {
        crate::error_line!("the task manager failed while it waited: {}", fault::take_panic());
        std::process::abort();
    }
}

impl Running<'_, '_> {
    fn keys(&self) -> &[Key] {
        // SAFETY: the scope keeps the graph's parts, boxed and unchanged, until `Scope::end`, and
        // this borrows the scope.
        unsafe { &*self.keys }
    }

    /// Whether the task is complete: it and its children have run.
    pub fn is_complete(&self, task: TaskId) -> bool {
        let key = self.keys()[task.in_graph(self.number) as usize];
        self.scope.tasks.shared.is_complete(key)
    }

    /// Runs tasks until this one is complete, and sleeps only when there are none to run.
    ///
    /// # Errors
    /// The error of the task that failed first in the order of adding, if this task failed or was
    /// left out because of that. The scope itself ends with that error, too.
    pub fn wait(&self, task: TaskId) -> Result<(), Error> {
        let (keys, order) = (self.keys(), task.in_graph(self.number));
        let shared = &self.scope.tasks.shared;
        shared.work_until(Awaits::Task(keys[order as usize]), keys[0].slot);
        shared.failure(keys[0], Some(order)).map_or(Ok(()), Err)
    }

    /// Waits for the whole graph.
    ///
    /// # Errors
    /// As `wait`, for any task of the graph.
    pub fn finish(self) -> Result<(), Error> {
        let keys = self.keys();
        let shared = &self.scope.tasks.shared;
        shared.work_until(Awaits::Task(keys[0]), keys[0].slot);
        shared.failure(keys[0], None).map_or(Ok(()), Err)
    }
}
