//! Tasks: every core at work in a frame, with the same result on any number of them. Graphs of
//! tasks are made anew each frame, released whole, and run by workers and by whoever waits. Knows
//! nothing of what the tasks do; long jobs beside the frame (loading, compiling) are not tasks.
//!
//! ```
//! # let tasks = engine::foundation::tasks::Tasks::new(1)?;
//! let (mut bones, nodes) = (vec![1.0; 1000], std::sync::Mutex::new(0));
//! tasks.scope(|scope| {
//!     let mut graph = scope.graph();
//!     let animation = graph.add_slices("animation", &mut bones, |_, piece| piece.fill(2.0));
//!     let scene_graph = graph.add("scene_graph", || *nodes.lock().unwrap() += 1);
//!     graph.depends_on(scene_graph, animation);
//!     graph.run().finish()
//! })?;
//! assert_eq!(bones[999], 2.0);
//! # Ok::<(), engine::foundation::Error>(())
//! ```
//!
//! After Niklas Frykholm, "Task Management: A Practical Example" (Bitsquid, 2010). The compiler
//! holds what it asks of the programmer: a graph that runs can no longer be changed; tasks may
//! borrow from around the scope, which waits for them, and from nowhere else.
//!
//! ```compile_fail,E0382
//! # let tasks = engine::foundation::tasks::Tasks::new(1)?;
//! tasks.scope(|scope| {
//!     let mut graph = scope.graph();
//!     let running = graph.run();
//!     let child = graph.add("child", || ());
//!     running.finish()
//! })?;
//! # Ok::<(), engine::foundation::Error>(())
//! ```
//!
//! ```compile_fail,E0373
//! # let tasks = engine::foundation::tasks::Tasks::new(1)?;
//! tasks.scope(|scope| {
//!     let (gone_too_early, mut graph) = (String::from("bones"), scope.graph());
//!     graph.add("animation", || println!("{gone_too_early}"));
//!     graph.run().finish()
//! })?;
//! # Ok::<(), engine::foundation::Error>(())
//! ```

mod arena;
mod board;
mod event;
mod graph;
mod pool;
mod queue;
mod record;
mod scope;
mod split;
pub mod systems;
mod threads;

#[cfg(test)]
mod orders;
#[cfg(test)]
mod random_graphs;
#[cfg(test)]
mod systems_tests;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

pub use arena::CLOSURE_BYTES_MAX;
pub use event::{Event, Registered};
pub use graph::{Graph, TaskId};
pub use pool::{ITEMS_MIN, Pool, THREADS_MAX};
pub use record::{Affinity, Outcome, Task};
pub use scope::{Running, Scope};
pub use split::{PIECES_PER_THREAD_MAX, split};

use super::Error;
use crate::insist;

/// Open tasks of all graphs together.
pub const TASKS_MAX: usize = 16_384;
/// Workers. One queue serves about so many.
pub const WORKERS_MAX: usize = 32;
/// Sleeping threads.
pub const SEATS_MAX: usize = 64;
/// The highest priority of a task.
pub const PRIORITY_MAX: u8 = 31;

/// The task manager: the workers and what they share. Any thread may use it.
pub struct Tasks {
    shared: Arc<threads::Shared>,
    workers: Vec<JoinHandle<()>>,
}

/// How many workers a machine gets: its cores but for those of the main threads (update, render).
pub fn workers_for(cores: usize, main_threads: usize) -> usize {
    cores.saturating_sub(main_threads).min(WORKERS_MAX)
}

impl Tasks {
    /// Starts so many workers. With none, waiting threads run everything: nothing is then ever run
    /// by another thread.
    ///
    /// # Errors
    /// If the system gives no more threads.
    pub fn new(workers: usize) -> Result<Tasks, Error> {
        insist!(workers <= WORKERS_MAX, "{workers} workers: at most {WORKERS_MAX} are of use");
        Tasks::watching(workers, threads::watch_of(workers))
    }

    /// The same, where who has nothing to do watches so long for a call before it has itself woken.
    fn watching(workers: usize, watch: Duration) -> Result<Tasks, Error> {
        let shared = threads::Shared::new(watch);
        let workers = shared.start(workers)?;
        Ok(Tasks { shared, workers })
    }

    /// Threads that work on a graph: the workers, and the one that waits for it.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Makes the calling thread the update thread, the render thread or both, until what is
    /// returned is dropped: it alone runs tasks of that affinity, while it waits.
    pub fn register(&self, affinities: &[Affinity]) -> Registered<'_> {
        Registered::new(self, affinities)
    }

    /// Makes graphs whose tasks may borrow what lives around this call, and waits for all of them.
    ///
    /// # Errors
    /// That of the first task that failed, in the order of graphs and adding; tasks that depend on
    /// it are left out, all others run. Or else the error of `f` itself.
    pub fn scope<'env, F, R>(&'env self, f: F) -> Result<R, Error>
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R, Error>,
    {
        scope::scope(self, f)
    }

    /// Runs `work` on pieces of `items` at once, see [`split`]: each gets a piece and the index of
    /// its first item. Also for use inside a task.
    ///
    /// # Errors
    /// That of the first piece that failed.
    pub fn each_slice<T, F, O>(
        &self,
        task: impl Into<Task>,
        items: &mut [T],
        work: F,
    ) -> Result<(), Error>
    where
        T: Send,
        F: Fn(usize, &mut [T]) -> O + Copy + Send,
        O: Outcome,
    {
        let task = task.into();
        self.scope(|scope| {
            let mut graph = scope.graph();
            graph.add_slices(task, items, work);
            graph.run().finish()
        })
    }

    /// Runs tasks until the event is set, and sleeps only when there are none to run. Not for use
    /// inside a task, whose thread might be the one that is to set it.
    pub fn do_work_while_waiting_for(&self, event: &Event) {
        insist!(
            !threads::Shared::is_inside(),
            "a task waits for an event: let it depend on a task"
        );
        self.shared.work_until(board::Awaits::Event(event.flag()), record::NONE);
    }

    /// Sets the event, and wakes who waits for it.
    pub fn signal(&self, event: &Event) {
        self.shared.signal(|| event.set());
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        self.shared.end(std::mem::take(&mut self.workers));
    }
}
