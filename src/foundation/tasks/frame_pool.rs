//! The task manager of a running game: the number of threads, which are started when work is large
//! enough for them, and the priorities of systems. Knows no systems.

use std::sync::OnceLock;

use super::frame_systems::FrameSystems;
use super::{PRIORITY_MAX, Task, TaskManager, WORKERS_MAX, workers_for};
use crate::Error;
use crate::insist;

/// Maximum number of threads that work on a frame: the one that plays it, and the workers.
pub const THREADS_MAX: usize = WORKERS_MAX + 1;

/// Minimum number of items for which waking another thread is worthwhile for any system.
pub const ITEMS_MIN: usize = 1000;

/// The threads of a game's frames. No thread is started before a frame has enough work.
pub struct TaskPool {
    threads: usize,
    priorities: Vec<(String, u8)>,
    alone: OnceLock<TaskManager>,
    all: OnceLock<TaskManager>,
}

impl TaskPool {
    /// Creates a pool for a number of threads, 1 to [`THREADS_MAX`]. `None` uses one thread for
    /// each core of the machine.
    pub fn new(threads: Option<usize>) -> TaskPool {
        // The query takes as long as everything else here, because the system reads files for it.
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or_else(|| workers_for(*CORES.get_or_init(cores), 1) + 1);
        insist!((1..=THREADS_MAX).contains(&threads), "{threads} threads: 1 to {THREADS_MAX}");
        let (alone, all) = (OnceLock::new(), OnceLock::new());
        TaskPool { threads, priorities: Vec::new(), alone, all }
    }

    /// Returns the number of threads that work on a frame with enough work.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns true if other threads have been started.
    pub fn has_started(&self) -> bool {
        self.all.get().is_some()
    }

    /// Sets the priority of a system, see [`Task::priority`](super::Task::priority).
    pub fn set_priority(&mut self, system: &str, priority: u8) {
        insist!(priority <= PRIORITY_MAX, "the priority of '{system}' is {priority}");
        self.priorities.retain(|(known, _)| known != system);
        self.priorities.push((system.to_string(), priority));
    }

    /// Returns a task of a system, with the system's priority.
    pub fn task(&self, system: &'static str) -> Task {
        Task { priority: priority(&self.priorities, system), ..Task::from(system) }
    }

    /// Returns the task manager for work on `items` items. Below [`ITEMS_MIN`], only the calling
    /// thread works.
    ///
    /// # Errors
    /// Returns an error if the system cannot start another thread.
    pub fn tasks(&self, items: usize) -> Result<&TaskManager, Error> {
        let alone = self.threads == 1 || items < ITEMS_MIN;
        let (cell, workers) = if alone { (&self.alone, 0) } else { (&self.all, self.threads - 1) };
        if cell.get().is_none() {
            // If another thread was faster, these threads end again.
            let _ = cell.set(TaskManager::new(workers)?);
        }
        Ok(cell.get().expect("it was set"))
    }

    /// Runs a frame's systems, which `add` adds, and waits for them. `items` is the number of items
    /// that the largest of them processes.
    ///
    /// # Errors
    /// Returns the error of the first system that failed, in the order of adding. Also returns an
    /// error if the system cannot start another thread.
    pub fn frame<'env, F>(&'env self, items: usize, add: F) -> Result<(), Error>
    where
        F: for<'scope> FnOnce(&mut FrameSystems<'scope, 'env>),
    {
        self.tasks(items)?.scope(|scope| {
            let mut systems = FrameSystems::new(scope, &self.priorities);
            add(&mut systems);
            systems.into_graph().run().finish()
        })
    }
}

/// Returns the priority that was set for a system, or the default.
pub(super) fn priority(priorities: &[(String, u8)], system: &str) -> u8 {
    let priority = priorities.iter().find(|(known, _)| known == system);
    priority.map_or(Task::DEFAULT.priority, |(_, priority)| *priority)
}
