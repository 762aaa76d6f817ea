//! A task's record as plain data: its work, and its relations to other tasks. Knows no threads. The
//! scheduler decides which tasks are open and which wait.

use crate::Error;

/// An index that refers to no task.
pub(super) const NONE: u32 = u32::MAX;

/// The threads that may run a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ThreadAffinity {
    /// Workers, and any thread that waits.
    Any,
    /// Only the thread that is registered for updates.
    Update,
    /// Only the thread that is registered for rendering.
    Render,
}

pub(super) const AFFINITIES: usize = 3;

impl ThreadAffinity {
    pub(super) const ALL: [ThreadAffinity; AFFINITIES] =
        [ThreadAffinity::Any, ThreadAffinity::Update, ThreadAffinity::Render];

    pub(super) const fn bit(self) -> u8 {
        1 << self as u8
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            ThreadAffinity::Any => "any",
            ThreadAffinity::Update => "update",
            ThreadAffinity::Render => "render",
        }
    }
}

/// The name, affinity and priority of a task. A name alone converts to a task that any thread may
/// run at the default priority.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Name for errors and profiling.
    pub name: &'static str,
    pub affinity: ThreadAffinity,
    /// Priority in 0..=[`PRIORITY_MAX`](super::PRIORITY_MAX); the highest runs first. Tasks of
    /// equal priority run in the order in which they became ready.
    pub priority: u8,
}

impl Task {
    pub const DEFAULT: Task = Task { name: "", affinity: ThreadAffinity::Any, priority: 15 };
}

impl From<&'static str> for Task {
    fn from(name: &'static str) -> Task {
        Task { name, ..Task::DEFAULT }
    }
}

/// The result type of a task's work: nothing, or a `Result` whose error fails the task's graph.
pub trait TaskOutcome {
    fn outcome(self) -> Result<(), Error>;
}

impl TaskOutcome for () {
    fn outcome(self) -> Result<(), Error> {
        Ok(())
    }
}

impl TaskOutcome for Result<(), Error> {
    fn outcome(self) -> Result<(), Error> {
        self
    }
}

/// A type-erased closure: its address in memory, and the function that moves it out.
#[derive(Clone, Copy)]
pub(super) struct TaskClosure {
    call: unsafe fn(*mut u8, SlotUse) -> Result<(), Error>,
    closure: *mut u8,
}

#[derive(Clone, Copy)]
enum SlotUse {
    Run,
    Discard,
}

// SAFETY: `TaskClosure::new` accepts only closures that may be sent to other threads.
unsafe impl Send for TaskClosure {}

impl TaskClosure {
    /// Refers to the closure at `closure`, which must stay there until `run` or `discard`.
    pub fn new<F: FnOnce() -> O + Send, O: TaskOutcome>(closure: *mut F) -> TaskClosure {
        TaskClosure { call: call::<F, O>, closure: closure.cast() }
    }

    /// Calls the closure.
    ///
    /// # Safety
    /// The closure must still be at its address, its borrowed data must still live, and `run` and
    /// `discard` may not have been called for it.
    pub unsafe fn run(self) -> Result<(), Error> {
        // SAFETY: the caller upholds the contract.
        unsafe { (self.call)(self.closure, SlotUse::Run) }
    }

    /// Drops the closure without calling it.
    ///
    /// # Safety
    /// The same conditions as for `run` must hold.
    pub unsafe fn discard(self) {
        // SAFETY: the caller upholds the contract. Discarding returns no error.
        let _ = unsafe { (self.call)(self.closure, SlotUse::Discard) };
    }
}

/// Moves the closure out of its memory, and calls or drops it.
unsafe fn call<F: FnOnce() -> O, O: TaskOutcome>(
    closure: *mut u8,
    how: SlotUse,
) -> Result<(), Error> {
    // SAFETY: `TaskClosure::new` created the pointer from an `F`, and this is its only use.
    let closure = unsafe { closure.cast::<F>().read() };
    match how {
        SlotUse::Run => closure().outcome(),
        SlotUse::Discard => Ok(()),
    }
}

/// The record of one task. References to other tasks are indices: into the graph during
/// construction, and into the scheduler's slots after release.
#[derive(Clone, Copy)]
pub(super) struct TaskRecord {
    /// The work of the task. `None` for an empty task, which is complete as soon as its dependency
    /// and children are complete.
    pub work: Option<TaskClosure>,
    pub name: &'static str,
    pub parent: u32,
    /// The task that must be complete before this task's own work starts.
    pub dependency: u32,
    /// Head of the linked list of tasks that depend on this one.
    pub first_dependent: u32,
    pub next_dependent: u32,
    /// Next element of the list that contains the record: the queue, or the free list.
    pub next: u32,
    /// Number of unfinished work items: the task's own work and its children. At zero the task is
    /// complete.
    pub open_work_items: u32,
    /// The root of the task's graph.
    pub graph: u32,
    /// Index of the task in its graph: the order in which tasks were added.
    pub order: u32,
    /// Number of times that this slot of the scheduler has been used before.
    pub generation: u32,
    /// Sequence number of the moment when the task became ready, among all tasks.
    pub ready_at: u64,
    pub affinity: ThreadAffinity,
    pub priority: u8,
    /// True if the graph was released inside of a running task.
    pub nested: bool,
    /// True if the task's dependency failed: the work is dropped, not run.
    pub skip: bool,
    /// True if the task's own work or one of its children failed.
    pub failed: bool,
}

impl TaskRecord {
    pub const fn new(task: Task, work: Option<TaskClosure>, order: u32) -> TaskRecord {
        TaskRecord {
            work,
            name: task.name,
            parent: NONE,
            dependency: NONE,
            first_dependent: NONE,
            next_dependent: NONE,
            next: NONE,
            open_work_items: 1,
            graph: NONE,
            order,
            generation: 0,
            ready_at: 0,
            affinity: task.affinity,
            priority: task.priority,
            nested: false,
            skip: false,
            failed: false,
        }
    }
}
