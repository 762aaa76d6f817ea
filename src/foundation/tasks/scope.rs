//! A scope in which tasks may borrow data. The scope does not end before its tasks have ended.
//! Similar to `std::thread::scope`, with graphs of tasks instead of threads.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::TaskManager;
use super::graph::{GraphBuffers, TaskGraph, TaskId};
use super::scheduler::{TaskKey, WaitReason};
use super::task::{TaskRecord, ThreadAffinity};
use super::threads::TaskThreads;
use crate::insist;
use crate::{Error, panic};

/// A scope for graphs whose tasks borrow data from outside of it. See [`TaskManager::scope`].
pub struct TaskScope<'scope, 'env: 'scope> {
    pub(super) tasks: &'env TaskManager,
    /// Linked list of the released graphs' buffers, which tasks may be using.
    running: Cell<Option<Box<GraphBuffers>>>,
    /// Makes both lifetimes invariant, so that they cannot grow or shrink: data that tasks borrow
    /// lives exactly that long.
    lifetimes: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

/// A released graph.
pub struct RunningGraph<'scope, 'env> {
    pub(super) scope: &'scope TaskScope<'scope, 'env>,
    pub(super) number: u32,
    /// Keys of the graph's tasks. The scope owns them.
    pub(super) keys: *const [TaskKey],
}

pub(super) fn scope<'env, F, R>(tasks: &'env TaskManager, f: F) -> Result<R, Error>
where
    F: for<'scope> FnOnce(&'scope TaskScope<'scope, 'env>) -> Result<R, Error>,
{
    let scope = TaskScope { tasks, running: Cell::new(None), lifetimes: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let failed = scope.end();
    match (result, failed) {
        (Err(panic), _) => resume_unwind(panic),
        (Ok(_), Some(error)) => Err(error),
        (Ok(result), None) => result,
    }
}

impl<'scope, 'env> TaskScope<'scope, 'env> {
    /// Returns a new graph, to be filled and then started with [`run`](TaskGraph::run).
    pub fn graph(&'scope self) -> TaskGraph<'scope, 'env> {
        TaskGraph::new(self, self.tasks.shared.take_buffers())
    }

    /// Keeps a released graph's buffers until its tasks have ended.
    pub(super) fn keep(&self, mut buffers: Box<GraphBuffers>) {
        buffers.next = self.running.take();
        self.running.set(Some(buffers));
    }

    /// Asserts that a thread is registered for every affinity of the tasks.
    pub(super) fn check_affinities(&self, records: &[TaskRecord]) {
        let special = |record: &&TaskRecord| record.affinity != ThreadAffinity::Any;
        if let Some(TaskRecord { name, affinity, .. }) = records.iter().find(special) {
            // Two main threads that wait inside tasks could deadlock.
            let thread = affinity.name();
            insist!(
                !TaskThreads::is_inside(),
                "task '{name}' is for the {thread} thread alone, and was released inside another \
                 task: only from outside of tasks may work be sent to a main thread"
            );
        }
        let registered = self.tasks.shared.registered() | ThreadAffinity::Any.bit();
        let missing = |record: &&TaskRecord| record.affinity.bit() & registered == 0;
        if let Some(TaskRecord { name, affinity, .. }) = records.iter().find(missing) {
            let thread = affinity.name();
            insist!(
                false,
                "task '{name}' is for the {thread} thread alone, and no thread is registered as \
                 that: register one, or let the task's affinity be `Any`"
            );
        }
    }

    /// Waits for every released graph. Returns the error of the first graph that failed.
    fn end(&self) -> Option<Error> {
        let shared = &self.tasks.shared;
        let bomb = AbortUnlessForgotten;
        let mut failed = None;
        let mut list = self.running.take();
        while let Some(mut buffers) = list {
            shared.work_until(WaitReason::Task(buffers.keys[0]), buffers.keys[0].slot);
            // The list runs from the last released graph to the first.
            failed = shared.take_failure(buffers.keys[0]).or(failed);
            list = buffers.next.take();
            shared.return_buffers(buffers);
        }
        std::mem::forget(bomb);
        failed
    }
}

/// A guard that aborts the process if waiting for tasks panics. The tasks could otherwise continue
/// to use borrowed data. Only a fault of the task manager can cause such a panic, and recovery is
/// impossible.
struct AbortUnlessForgotten;

impl Drop for AbortUnlessForgotten {
    fn drop(&mut self) {
        crate::error_line!("the task manager failed while it waited: {}", panic::take_panic());
        std::process::abort();
    }
}

impl RunningGraph<'_, '_> {
    fn keys(&self) -> &[TaskKey] {
        // SAFETY: the scope keeps the graph's buffers, boxed and unchanged, until `TaskScope::end`,
        // and this value borrows the scope.
        unsafe { &*self.keys }
    }

    /// Returns true if the task is complete: its own work and its children have ended.
    pub fn is_complete(&self, task: TaskId) -> bool {
        let key = self.keys()[task.in_graph(self.number) as usize];
        self.scope.tasks.shared.is_complete(key)
    }

    /// Runs tasks until this task is complete, and sleeps only if no task is ready.
    ///
    /// # Errors
    /// Returns an error if this task failed, or was skipped because of another failure. The error
    /// is that of the first failed task in the order of adding. The scope itself ends with that
    /// error, too.
    pub fn wait(&self, task: TaskId) -> Result<(), Error> {
        let (keys, order) = (self.keys(), task.in_graph(self.number));
        let shared = &self.scope.tasks.shared;
        shared.work_until(WaitReason::Task(keys[order as usize]), keys[0].slot);
        shared.failure(keys[0], Some(order)).map_or(Ok(()), Err)
    }

    /// Waits for the whole graph.
    ///
    /// # Errors
    /// Returns an error as `wait` does, for any task of the graph.
    pub fn finish(self) -> Result<(), Error> {
        let keys = self.keys();
        let shared = &self.scope.tasks.shared;
        shared.work_until(WaitReason::Task(keys[0]), keys[0].slot);
        shared.failure(keys[0], None).map_or(Ok(()), Err)
    }
}
