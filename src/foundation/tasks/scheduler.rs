//! The scheduler's shared state: the open list, the work queue and the sleeping threads, as plain
//! data under one lock. Each operation that a thread does under the lock is one method here. The
//! scheduler knows no threads, so a test can try every order of these operations.
//!
//! After Niklas Frykholm, "Task Management: A Practical Example" (Bitsquid, 2010). A task that is
//! not in the open list is complete. A task leaves the queue when it starts, and leaves the open
//! list when it and its children are done. The highest priority runs first; equal priorities run
//! first-in-first-out.

use std::sync::atomic::{AtomicBool, Ordering};

use super::queue::ReadyQueue;
use super::task::{NONE, TaskClosure, TaskRecord};
use super::{TASKS_MAX, THREAD_SLOTS_MAX};
use crate::Error;

/// A reference to a task that is or was open: its slot and the slot's generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TaskKey {
    pub slot: u32,
    pub generation: u32,
}

/// The condition that a thread waits for while it runs tasks.
#[derive(Clone, Copy)]
pub(super) enum WaitReason<'a> {
    /// The shutdown of the engine. The thread is a worker.
    Stop,
    Task(TaskKey),
    Event(&'a AtomicBool),
}

/// A thread that runs tasks.
#[derive(Clone, Copy)]
pub(super) struct Runner<'a> {
    /// The seat where the thread sleeps, or has slept until it takes its next step.
    pub thread_slot: Option<u32>,
    /// Bit set of the affinities whose tasks the thread may run.
    pub mask: u8,
    /// Root slot of the only graph whose tasks the thread may run, or `NONE` for all graphs. A
    /// thread that waits inside a task must not start tasks of other graphs, because each of them
    /// might wait in turn, in unbounded recursion.
    pub only: u32,
    pub awaits: WaitReason<'a>,
}

/// A task that has left the queue and runs without the lock.
#[derive(Clone, Copy)]
pub(super) struct RunningTask {
    pub slot: u32,
    pub work: TaskClosure,
    pub name: &'static str,
    /// If true, the work is dropped and not run, because a dependency has failed.
    pub skip: bool,
}

/// The end of a task: its slot, and its error if it failed.
#[derive(Clone)]
pub(super) struct TaskEnd {
    pub slot: u32,
    pub error: Option<Box<Error>>,
}

/// The next action of a thread, without the lock.
pub(super) enum NextAction {
    Run(RunningTask),
    /// Sleep until this seat is called.
    Sleep(u32),
    Done,
}

/// A failed task, with its own error, or with none if it failed because of another task.
#[derive(Clone)]
pub(super) struct TaskFailure {
    pub graph: TaskKey,
    pub order: u32,
    pub error: Option<Box<Error>>,
}

#[derive(Clone)]
pub(super) struct Scheduler {
    pub records: Vec<TaskRecord>,
    /// Head of the list of free slots.
    free: u32,
    pub open: u32,
    pub queue: ReadyQueue,
    /// Slots queued since the lock was taken. Sleepers are called for them.
    fresh: Vec<u32>,
    /// Bit sets of seats. `taken`: seats that belong to a thread. `asleep`: seats with a sleeping
    /// thread. `workers_asleep`: those of workers. `awaiting_event`: threads that wait for an
    /// event. `parked`: threads that only the operating system can wake, while others still watch
    /// for a call. `calls`: seats to be called after the lock is released.
    taken: u64,
    pub asleep: u64,
    workers_asleep: u64,
    awaiting_event: u64,
    parked: u64,
    calls: u64,
    sleepers: [Sleeper; THREAD_SLOTS_MAX],
    pub failures: Vec<TaskFailure>,
    /// Bit set of the affinities that have a registered thread.
    pub registered: u8,
    pub stop: bool,
}

#[derive(Clone, Copy)]
struct Sleeper {
    mask: u8,
    only: u32,
    awaits: Option<TaskKey>,
}

impl Scheduler {
    pub fn new() -> Scheduler {
        Scheduler {
            records: Vec::new(),
            free: NONE,
            open: 0,
            queue: ReadyQueue::new(),
            fresh: Vec::new(),
            taken: 0,
            asleep: 0,
            workers_asleep: 0,
            awaiting_event: 0,
            parked: 0,
            calls: 0,
            sleepers: [Sleeper { mask: 0, only: NONE, awaits: None }; THREAD_SLOTS_MAX],
            failures: Vec::new(),
            registered: 0,
            stop: false,
        }
    }

    /// Returns true if the task is in the open list. Otherwise it is complete.
    pub fn is_open(&self, task: TaskKey) -> bool {
        self.records[task.slot as usize].generation == task.generation
    }

    /// Opens a checked graph. Its root is the first record of `graph`, and slots in the records are
    /// indices into `graph`. Fills `keys` with the tasks' keys in the scheduler, in the same order.
    /// Returns false and does nothing if too many tasks would be open at once.
    #[must_use]
    pub fn release(&mut self, graph: &[TaskRecord], nested: bool, keys: &mut Vec<TaskKey>) -> bool {
        keys.clear();
        if self.open as usize + graph.len() > TASKS_MAX {
            return false;
        }
        keys.extend(graph.iter().map(|_| self.allocate()));
        self.open += graph.len() as u32;
        let slot_of = |task: u32| if task == NONE { NONE } else { keys[task as usize].slot };
        let mut completed_list = NONE;
        for (record, key) in graph.iter().zip(keys.iter()) {
            self.records[key.slot as usize] = TaskRecord {
                parent: slot_of(record.parent),
                dependency: slot_of(record.dependency),
                first_dependent: slot_of(record.first_dependent),
                next_dependent: slot_of(record.next_dependent),
                graph: keys[0].slot,
                generation: key.generation,
                nested,
                ..*record
            };
        }
        for (record, key) in graph.iter().zip(keys.iter()).rev() {
            if record.dependency == NONE && record.work.is_none() {
                self.records[key.slot as usize].next = completed_list;
                completed_list = key.slot;
            }
        }
        for (record, key) in graph.iter().zip(keys.iter()) {
            if record.dependency == NONE && record.work.is_some() {
                self.enqueue(key.slot);
            }
        }
        self.complete(completed_list);
        self.call_helpers(NONE);
        true
    }

    fn allocate(&mut self) -> TaskKey {
        if self.free == NONE {
            let record = TaskRecord::new(super::Task::DEFAULT, None, 0);
            self.records.push(record);
            return TaskKey { slot: self.records.len() as u32 - 1, generation: 0 };
        }
        let slot = self.free;
        let record = &self.records[slot as usize];
        self.free = record.next;
        TaskKey { slot, generation: record.generation }
    }

    fn enqueue(&mut self, slot: u32) {
        self.queue.push(&mut self.records, slot);
        self.fresh.push(slot);
    }

    /// Performs the step of a thread that has taken the lock: accepts the end of its last task, and
    /// returns its next action.
    pub fn step(&mut self, runner: &mut Runner, finished: Option<TaskEnd>) -> NextAction {
        if let Some(thread_slot) = runner.thread_slot.take() {
            self.taken &= !(1 << thread_slot);
        }
        if let Some(finished) = finished {
            self.finish(finished);
        }
        let done = match runner.awaits {
            // The queue is already empty here, because the task manager outlives every graph.
            WaitReason::Stop => self.stop,
            WaitReason::Task(task) => !self.is_open(task),
            // The event is set under the same lock.
            WaitReason::Event(event) => event.load(Ordering::Relaxed),
        };
        if done {
            self.leave();
            return NextAction::Done;
        }
        let Some(slot) = self.queue.take(&mut self.records, runner.mask, runner.only) else {
            self.call_helpers(NONE);
            return NextAction::Sleep(self.sleep(runner));
        };
        self.call_helpers(slot);
        let TaskRecord { work, name, skip, .. } = self.records[slot as usize];
        NextAction::Run(RunningTask { slot, work: work.expect("only work is queued"), name, skip })
    }

    fn finish(&mut self, finished: TaskEnd) {
        let record = &mut self.records[finished.slot as usize];
        if finished.error.is_some() {
            record.failed = true;
            let (order, root) = (record.order, record.graph);
            let graph = self.key(root);
            self.failures.push(TaskFailure { graph, order, error: finished.error });
        }
        self.records[finished.slot as usize].next = NONE;
        self.complete(finished.slot);
    }

    fn key(&self, slot: u32) -> TaskKey {
        TaskKey { slot, generation: self.records[slot as usize].generation }
    }

    /// Removes each listed task's own work item from its open work items. Complete tasks leave the
    /// open list. Their parents, and empty tasks that depend on them, may then be complete, too.
    fn complete(&mut self, mut completed_list: u32) {
        while completed_list != NONE {
            let mut slot = completed_list;
            let record = &mut self.records[slot as usize];
            completed_list = record.next;
            record.failed |= record.skip;
            loop {
                let record = &mut self.records[slot as usize];
                record.open_work_items -= 1;
                if record.open_work_items > 0 {
                    break;
                }
                let TaskRecord { parent, failed, mut first_dependent, .. } = *record;
                while first_dependent != NONE {
                    let dependent = &mut self.records[first_dependent as usize];
                    let dependent_slot =
                        std::mem::replace(&mut first_dependent, dependent.next_dependent);
                    dependent.skip |= failed;
                    if dependent.work.is_none() {
                        dependent.next = completed_list;
                        completed_list = dependent_slot;
                    } else {
                        self.enqueue(dependent_slot);
                    }
                }
                self.close(slot);
                if parent == NONE {
                    break;
                }
                self.records[parent as usize].failed |= failed;
                slot = parent;
            }
        }
    }

    /// Removes a task from the open list and calls the threads that wait for it.
    fn close(&mut self, slot: u32) {
        let key = self.key(slot);
        let record = self.records[slot as usize];
        if record.failed {
            let graph = self.key(record.graph);
            self.failures.push(TaskFailure { graph, order: record.order, error: None });
        }
        for thread_slot in set_bits(self.asleep) {
            if self.sleepers[thread_slot as usize].awaits == Some(key) {
                self.call(thread_slot);
            }
        }
        let record = &mut self.records[slot as usize];
        record.generation = record.generation.wrapping_add(1);
        record.next = self.free;
        self.free = slot;
        self.open -= 1;
    }

    fn call(&mut self, thread_slot: u32) {
        self.asleep &= !(1 << thread_slot);
        self.workers_asleep &= !(1 << thread_slot);
        self.awaiting_event &= !(1 << thread_slot);
        self.calls |= 1 << thread_slot;
    }

    /// Calls a sleeper for each newly queued task, except for the task that this thread itself has
    /// taken.
    fn call_helpers(&mut self, own: u32) {
        for i in 0..self.fresh.len() {
            if self.asleep == 0 {
                break;
            }
            if self.fresh[i] != own {
                self.call_helper(self.fresh[i]);
            }
        }
        self.fresh.clear();
    }

    fn call_helper(&mut self, slot: u32) {
        let TaskRecord { affinity, graph, .. } = self.records[slot as usize];
        let can_run = |thread_slot: &u32| {
            let sleeper = &self.sleepers[*thread_slot as usize];
            sleeper.mask & affinity.bit() != 0 && (sleeper.only == NONE || sleeper.only == graph)
        };
        // Workers are preferred, because other threads should continue as soon as their condition
        // is met. Among workers, those that still watch are preferred, because they start at once.
        // Others must be woken by the operating system.
        let (workers, watching) = (self.workers_asleep, !self.parked);
        let turns = [workers & watching, workers, self.asleep & watching, self.asleep];
        if let Some(thread_slot) = turns.into_iter().flat_map(set_bits).find(can_run) {
            self.call(thread_slot);
        }
    }

    /// Assigns a seat to the thread until its next step. If another thread took the seat earlier,
    /// that thread could make this one keep sleeping.
    fn sleep(&mut self, runner: &mut Runner) -> u32 {
        let thread_slot = self.taken.trailing_ones();
        assert!(
            (thread_slot as usize) < THREAD_SLOTS_MAX,
            "more than {THREAD_SLOTS_MAX} threads sleep because there are no tasks"
        );
        runner.thread_slot = Some(thread_slot);
        self.taken |= 1 << thread_slot;
        self.asleep |= 1 << thread_slot;
        let mut awaits = None;
        match runner.awaits {
            WaitReason::Stop => self.workers_asleep |= 1 << thread_slot,
            WaitReason::Event(_) => self.awaiting_event |= 1 << thread_slot,
            WaitReason::Task(key) => awaits = Some(key),
        }
        self.sleepers[thread_slot as usize] =
            Sleeper { mask: runner.mask, only: runner.only, awaits };
        thread_slot
    }

    /// Handles a thread that stops running tasks. If the thread was called for a task, another
    /// thread is called instead.
    fn leave(&mut self) {
        if self.asleep != 0 {
            self.fresh.clear();
            self.queue.list_into(&self.records, &mut self.fresh);
        }
        self.call_helpers(NONE);
    }

    /// Calls every thread that waits for an event. Each thread checks its own event.
    pub fn call_event_waiters(&mut self) {
        for thread_slot in set_bits(self.awaiting_event) {
            self.call(thread_slot);
        }
    }

    /// Tells the workers to end after their current tasks.
    pub fn end(&mut self) {
        self.stop = true;
        for thread_slot in set_bits(self.asleep) {
            self.call(thread_slot);
        }
    }

    /// Returns and clears the bit set of seats to be called after the lock is released.
    pub fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }

    /// Records that a sleeper stops watching for a call, or that it is awake.
    pub fn set_parked(&mut self, thread_slot: u32, parked: bool) {
        self.parked = self.parked & !(1 << thread_slot) | u64::from(parked) << thread_slot;
    }

    pub fn parked(&self) -> u64 {
        self.parked
    }

    pub fn is_asleep(&self, thread_slot: u32) -> bool {
        self.asleep & (1 << thread_slot) != 0
    }

    /// Returns the error of a graph if its task `order` failed; `None` means any task. The error is
    /// the graph's first own error, in the order in which its tasks were added, so it does not
    /// depend on threads.
    pub fn failure(&self, graph: TaskKey, order: Option<u32>) -> Option<Error> {
        let of_graph = || self.failures.iter().filter(move |failure| failure.graph == graph);
        if order.is_some_and(|order| of_graph().all(|failure| failure.order != order)) {
            return None;
        }
        let own = || of_graph().filter(|failure| failure.error.is_some());
        let first = own().min_by_key(|failure| failure.order)?;
        let mut error = first.error.as_deref().expect("own errors were kept").clone();
        let others = own().count() - 1;
        if others > 0 {
            error.message += &format!(" ({others} more of its graph's tasks failed)");
        }
        Some(error)
    }

    /// Removes the recorded failures of a graph.
    pub fn forget_failures(&mut self, graph: TaskKey) {
        self.failures.retain(|failure| failure.graph != graph);
    }
}

/// Returns the indices of the set bits, lowest first.
pub(super) fn set_bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lowest < u64::BITS).then_some(lowest)
    })
}
