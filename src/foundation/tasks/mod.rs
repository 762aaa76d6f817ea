//! Tasks: parallel work on all cores during a frame, with the same result on any number of cores.
//! Graphs of tasks are built again in each frame, released as a whole, and run by workers and by
//! waiting threads. Knows nothing about the work of tasks. Long jobs in parallel with frames
//! (loading, compiling) are not tasks.
//!
//! ```
//! # let tasks = engine_foundation::tasks::TaskManager::new(1)?;
//! let (mut bones, nodes) = (vec![1.0; 1000], std::sync::Mutex::new(0));
//! tasks.scope(|scope| {
//!     let mut graph = scope.graph();
//!     let animation = graph.add_slices("animation", &mut bones, |_, piece| piece.fill(2.0));
//!     let scene_graph = graph.add("scene_graph", || *nodes.lock().unwrap() += 1);
//!     graph.depends_on(scene_graph, animation);
//!     graph.run().finish()
//! })?;
//! assert_eq!(bones[999], 2.0);
//! # Ok::<(), engine_foundation::Error>(())
//! ```
//!
//! After Niklas Frykholm, "Task Management: A Practical Example" (Bitsquid, 2010). The compiler
//! enforces the rules for users of tasks. A running graph cannot be changed. Tasks may borrow only
//! data from outside of the scope, which waits for them.
//!
//! ```compile_fail,E0382
//! # let tasks = engine_foundation::tasks::TaskManager::new(1)?;
//! tasks.scope(|scope| {
//!     let mut graph = scope.graph();
//!     let running = graph.run();
//!     let child = graph.add("child", || ());
//!     running.finish()
//! })?;
//! # Ok::<(), engine_foundation::Error>(())
//! ```
//!
//! ```compile_fail,E0373
//! # let tasks = engine_foundation::tasks::TaskManager::new(1)?;
//! tasks.scope(|scope| {
//!     let (gone_too_early, mut graph) = (String::from("bones"), scope.graph());
//!     graph.add("animation", || println!("{gone_too_early}"));
//!     graph.run().finish()
//! })?;
//! # Ok::<(), engine_foundation::Error>(())
//! ```

mod arena;
mod event;
mod frame_pool;
pub mod frame_systems;
mod graph;
mod partition;
mod queue;
mod scheduler;
mod scope;
mod task;
mod threads;

#[cfg(test)]
mod frame_systems_tests;
#[cfg(test)]
mod interleaving_checker;
#[cfg(test)]
mod random_graphs;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

pub use arena::CLOSURE_BYTES_MAX;
pub use event::{MainThreadGuard, TaskEvent};
pub use frame_pool::{ITEMS_MIN, THREADS_MAX, TaskPool};
pub use graph::{TaskGraph, TaskId};
pub use partition::{PIECES_PER_THREAD_MAX, split};
pub use scope::{RunningGraph, TaskScope};
pub use task::{Task, TaskOutcome, ThreadAffinity};

use super::Error;
use crate::insist;

/// Maximum number of open tasks in all graphs together.
pub const TASKS_MAX: usize = 16_384;
/// Maximum number of workers. One queue can serve about this many.
pub const WORKERS_MAX: usize = 32;
/// Maximum number of sleeping threads.
pub const THREAD_SLOTS_MAX: usize = 64;
/// The highest priority of a task.
pub const PRIORITY_MAX: u8 = 31;

/// The task manager: the workers and their shared state. Any thread may use it.
pub struct TaskManager {
    shared: Arc<threads::TaskThreads>,
    workers: Vec<JoinHandle<()>>,
}

/// Returns the number of workers for a machine: its cores minus those of the main threads (update,
/// render).
pub fn workers_for(cores: usize, main_threads: usize) -> usize {
    cores.saturating_sub(main_threads).min(WORKERS_MAX)
}

impl TaskManager {
    /// Starts `workers` worker threads. With 0 workers, waiting threads run everything, and no task
    /// ever runs on another thread.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub fn new(workers: usize) -> Result<TaskManager, Error> {
        insist!(workers <= WORKERS_MAX, "{workers} workers: at most {WORKERS_MAX} are useful");
        TaskManager::watching(workers, threads::watch_of(workers))
    }

    /// Starts workers as `new` does. An idle thread watches for a call for the duration `watch`
    /// before it sleeps.
    fn watching(workers: usize, watch: Duration) -> Result<TaskManager, Error> {
        let shared = threads::TaskThreads::new(watch);
        let workers = shared.start(workers)?;
        Ok(TaskManager { shared, workers })
    }

    /// Returns the number of threads that work on a graph: the workers, and the thread that waits
    /// for it.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Registers the calling thread as the update thread, the render thread or both, until the
    /// returned guard is dropped. Only this thread runs tasks of that affinity, while it waits.
    pub fn register(&self, affinities: &[ThreadAffinity]) -> MainThreadGuard<'_> {
        MainThreadGuard::new(self, affinities)
    }

    /// Calls `f` with a scope for graphs whose tasks may borrow data from outside of this call, and
    /// waits for all of them.
    ///
    /// # Errors
    /// Returns the error of the first task that failed, in the order of graphs and of adding, or
    /// else the error of `f` itself. Tasks that depend on a failed task are skipped, and all others
    /// run.
    pub fn scope<'env, F, R>(&'env self, f: F) -> Result<R, Error>
    where
        F: for<'scope> FnOnce(&'scope TaskScope<'scope, 'env>) -> Result<R, Error>,
    {
        scope::scope(self, f)
    }

    /// Runs `work` on pieces of `items` in parallel, see [`partition`]. Each call receives a piece
    /// and the index of its first item. May also be used inside a task.
    ///
    /// # Errors
    /// Returns the error of the first piece that failed.
    pub fn each_slice<T, F, O>(
        &self,
        task: impl Into<Task>,
        items: &mut [T],
        work: F,
    ) -> Result<(), Error>
    where
        T: Send,
        F: Fn(usize, &mut [T]) -> O + Copy + Send,
        O: TaskOutcome,
    {
        let task = task.into();
        self.scope(|scope| {
            let mut graph = scope.graph();
            graph.add_slices(task, items, work);
            graph.run().finish()
        })
    }

    /// Runs tasks until the event is set, and sleeps only if no task is ready. Must not be used
    /// inside a task, because the task's thread might be the one that should set the event.
    pub fn do_work_while_waiting_for(&self, event: &TaskEvent) {
        insist!(
            !threads::TaskThreads::is_inside(),
            "a task waits for an event: let it depend on a task"
        );
        self.shared.work_until(scheduler::WaitReason::Event(event.flag()), task::NONE);
    }

    /// Sets the event, and wakes the threads that wait for it.
    pub fn signal(&self, event: &TaskEvent) {
        self.shared.signal(|| event.set());
    }
}

impl Drop for TaskManager {
    fn drop(&mut self) {
        self.shared.end(std::mem::take(&mut self.workers));
    }
}
