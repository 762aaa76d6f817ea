//! The task manager of a running game: how many threads it may have, made when there is work that
//! is worth them; the systems' priorities. Knows no systems.

use std::sync::OnceLock;

use super::systems::Systems;
use super::{PRIORITY_MAX, Task, Tasks, WORKERS_MAX, workers_for};
use crate::foundation::Error;
use crate::insist;

/// The most threads that work on a frame: the one that plays it, and the workers.
pub const THREADS_MAX: usize = WORKERS_MAX + 1;

/// Of fewer things no system is worth waking a thread for.
pub const ITEMS_MIN: usize = 1000;

/// The threads of a game's frames. None is started before a frame is worth it.
pub struct Pool {
    threads: usize,
    priorities: Vec<(String, u8)>,
    alone: OnceLock<Tasks>,
    all: OnceLock<Tasks>,
}

impl Pool {
    /// With so many threads, 1 to [`THREADS_MAX`]; `None`: as many as the machine has cores.
    pub fn new(threads: Option<usize>) -> Pool {
        // Asking takes as long as all else here: the system reads files for it.
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or_else(|| workers_for(*CORES.get_or_init(cores), 1) + 1);
        insist!((1..=THREADS_MAX).contains(&threads), "{threads} threads: 1 to {THREADS_MAX}");
        let (alone, all) = (OnceLock::new(), OnceLock::new());
        Pool { threads, priorities: Vec::new(), alone, all }
    }

    /// How many threads work on a frame that is worth it.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Whether other threads have been started.
    pub fn has_started(&self) -> bool {
        self.all.get().is_some()
    }

    /// Gives a system another priority, see [`Task::priority`](super::Task::priority).
    pub fn set_priority(&mut self, system: &str, priority: u8) {
        insist!(priority <= PRIORITY_MAX, "the priority of '{system}' is {priority}");
        self.priorities.retain(|(known, _)| known != system);
        self.priorities.push((system.to_string(), priority));
    }

    /// A task of a system, with the system's priority.
    pub fn task(&self, system: &'static str) -> Task {
        Task { priority: priority(&self.priorities, system), ..Task::from(system) }
    }

    /// The task manager for work on so many things: below [`ITEMS_MIN`] the calling thread alone.
    ///
    /// # Errors
    /// If the system gives no more threads.
    pub fn tasks(&self, items: usize) -> Result<&Tasks, Error> {
        let alone = self.threads == 1 || items < ITEMS_MIN;
        let (place, workers) = if alone { (&self.alone, 0) } else { (&self.all, self.threads - 1) };
        if place.get().is_none() {
            // Another thread may have been faster; then these threads end again.
            let _ = place.set(Tasks::new(workers)?);
        }
        Ok(place.get().expect("it was set"))
    }

    /// Runs a frame's systems, which `add` adds, and waits for them. `items`: how many things the
    /// largest of them goes over.
    ///
    /// # Errors
    /// That of the first system that failed, in the order of adding; or for want of threads.
    pub fn frame<'env, F>(&'env self, items: usize, add: F) -> Result<(), Error>
    where
        F: for<'scope> FnOnce(&mut Systems<'scope, 'env>),
    {
        self.tasks(items)?.scope(|scope| {
            let mut systems = Systems::new(scope, &self.priorities);
            add(&mut systems);
            systems.into_graph().run().finish()
        })
    }
}

/// The priority that was set for a system, or the usual one.
pub(super) fn priority(priorities: &[(String, u8)], system: &str) -> u8 {
    let given = priorities.iter().find(|(known, _)| known == system);
    given.map_or(Task::DEFAULT.priority, |(_, priority)| *priority)
}
