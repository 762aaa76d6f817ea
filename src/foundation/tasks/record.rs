//! A task's record and its parts, as plain data: what to run, and how it hangs together with other
//! tasks. Knows no threads; which tasks are open and which wait their turn is the board's matter.

use crate::foundation::Error;

/// No task, where a record names another.
pub(super) const NONE: u32 = u32::MAX;

/// Which threads may run a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Affinity {
    /// A worker, or any thread that waits.
    Any,
    /// The thread registered for updates alone.
    Update,
    /// The thread registered for rendering alone.
    Render,
}

pub(super) const AFFINITIES: usize = 3;

impl Affinity {
    pub(super) const ALL: [Affinity; AFFINITIES] =
        [Affinity::Any, Affinity::Update, Affinity::Render];

    pub(super) const fn bit(self) -> u8 {
        1 << self as u8
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Affinity::Any => "any",
            Affinity::Update => "update",
            Affinity::Render => "render",
        }
    }
}

/// What a task is called, who may run it, and how urgent it is. A name alone stands for a task
/// that any thread may run at the usual priority.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// For errors and measurements.
    pub name: &'static str,
    pub affinity: Affinity,
    /// 0..=[`PRIORITY_MAX`](super::PRIORITY_MAX), the highest first; equal ones run in the order in
    /// which they became ready.
    pub priority: u8,
}

impl Task {
    pub const DEFAULT: Task = Task { name: "", affinity: Affinity::Any, priority: 15 };
}

impl From<&'static str> for Task {
    fn from(name: &'static str) -> Task {
        Task { name, ..Task::DEFAULT }
    }
}

/// What a task's work may return: nothing, or a result whose error the task's graph ends with.
pub trait Outcome {
    fn outcome(self) -> Result<(), Error>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), Error> {
        Ok(())
    }
}

impl Outcome for Result<(), Error> {
    fn outcome(self) -> Result<(), Error> {
        self
    }
}

/// A work item: a closure somewhere in memory, and the function that moves it out of there.
#[derive(Clone, Copy)]
pub(super) struct Work {
    call: unsafe fn(*mut u8, Use) -> Result<(), Error>,
    closure: *mut u8,
}

#[derive(Clone, Copy)]
enum Use {
    Run,
    Discard,
}

// SAFETY: `Work::new` takes only closures that may be sent to other threads.
unsafe impl Send for Work {}

impl Work {
    /// The work of the closure at `closure`, which stays there until `run` or `discard`.
    pub fn new<F: FnOnce() -> O + Send, O: Outcome>(closure: *mut F) -> Work {
        Work { call: call::<F, O>, closure: closure.cast() }
    }

    /// Calls the closure.
    ///
    /// # Safety
    /// The closure is still at its place, what it borrows still lives, and neither `run` nor
    /// `discard` has been called for it.
    pub unsafe fn run(self) -> Result<(), Error> {
        // SAFETY: as the caller promises.
        unsafe { (self.call)(self.closure, Use::Run) }
    }

    /// Drops the closure without calling it.
    ///
    /// # Safety
    /// As for `run`.
    pub unsafe fn discard(self) {
        // SAFETY: as the caller promises. Discarding gives no error.
        let _ = unsafe { (self.call)(self.closure, Use::Discard) };
    }
}

/// Moves the closure out of its place, and calls or drops it.
unsafe fn call<F: FnOnce() -> O, O: Outcome>(closure: *mut u8, how: Use) -> Result<(), Error> {
    // SAFETY: `Work::new` made the pointer from an `F`, and this is the one use of it.
    let closure = unsafe { closure.cast::<F>().read() };
    match how {
        Use::Run => closure().outcome(),
        Use::Discard => Ok(()),
    }
}

/// One task. Other tasks are named by their place: in the graph while it is built, on the board
/// once it is released.
#[derive(Clone, Copy)]
pub(super) struct Record {
    /// None: the task is empty, and complete as soon as its dependency and children are.
    pub work: Option<Work>,
    pub name: &'static str,
    pub parent: u32,
    /// Before it is complete, the task's own work does not begin.
    pub dependency: u32,
    /// The tasks that have this one as their dependency, as a list in the records.
    pub first_dependent: u32,
    pub next_dependent: u32,
    /// The next in whichever list the record stands: the queue, the free ones.
    pub next: u32,
    /// Its own work and its children. At zero it is complete.
    pub open_work_items: u32,
    /// The graph's root.
    pub graph: u32,
    /// Its place in the graph, the order in which tasks were added.
    pub order: u32,
    /// How often this place on the board has been used before.
    pub generation: u32,
    /// When it became ready, among all tasks.
    pub ready_at: u64,
    pub affinity: Affinity,
    pub priority: u8,
    /// Released by a task that was running at the time.
    pub nested: bool,
    /// Its dependency failed: its work is dropped, not run.
    pub skip: bool,
    /// Its own work or one of its children failed.
    pub failed: bool,
}

impl Record {
    pub const fn new(task: Task, work: Option<Work>, order: u32) -> Record {
        Record {
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
