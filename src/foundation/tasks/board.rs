//! The open list, the work queue and the sleepers: everything that threads share, as plain data
//! under one lock. Each thing that a thread does while it holds the lock is one method here, and
//! nothing here knows of threads, so that a test can try every order in which these happen.
//!
//! After Niklas Frykholm, "Task Management: A Practical Example" (Bitsquid, 2010): a task that is
//! not in the open list is complete; the queue is left when a task begins, the open list when it
//! and its children are done. Highest priority first, then first in first out.

use std::sync::atomic::{AtomicBool, Ordering};

use super::queue::Queue;
use super::record::{NONE, Record, Work};
use super::{SEATS_MAX, TASKS_MAX};
use crate::foundation::Error;

/// An open task, or one that was: its place and the place's generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Key {
    pub slot: u32,
    pub generation: u32,
}

/// What a thread waits for while it runs tasks.
#[derive(Clone, Copy)]
pub(super) enum Awaits<'a> {
    /// The end of the engine: this is a worker.
    Stop,
    Task(Key),
    Event(&'a AtomicBool),
}

/// A thread that runs tasks.
#[derive(Clone, Copy)]
pub(super) struct Runner<'a> {
    /// Where it sleeps, or has slept until it takes its next step.
    pub seat: Option<u32>,
    /// A bit for each affinity whose tasks it may run.
    pub mask: u8,
    /// The one graph whose tasks it may run, by its root's place, or `NONE` for all: one that waits
    /// inside a task must not begin others, of which each might wait in turn, deeper and deeper.
    pub only: u32,
    pub awaits: Awaits<'a>,
}

/// A task that has left the queue, to be run without the lock.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub slot: u32,
    pub work: Work,
    pub name: &'static str,
    /// Drop the work, do not run it: something that it depends on has failed.
    pub skip: bool,
}

/// A job's end: where it was, and how it failed if it did.
#[derive(Clone)]
pub(super) struct Finished {
    pub slot: u32,
    pub error: Option<Box<Error>>,
}

/// What a thread does next, without the lock.
pub(super) enum Step {
    Run(Job),
    /// Until this seat is called.
    Sleep(u32),
    Done,
}

/// A task that failed: by its own error, or (none) because of another's.
#[derive(Clone)]
pub(super) struct Failure {
    pub graph: Key,
    pub order: u32,
    pub error: Option<Box<Error>>,
}

#[derive(Clone)]
pub(super) struct Board {
    pub records: Vec<Record>,
    /// Places that are not in use, as a list.
    free: u32,
    pub open: u32,
    pub queue: Queue,
    /// Places queued since the lock was taken: sleepers are called for them.
    fresh: Vec<u32>,
    /// Seats, one bit each: those that belong to a thread; those where it sleeps; workers among
    /// these; those who wait for an event; those where only the operating system can wake it, where
    /// others still watch for a call; those to be called when the lock is free.
    taken: u64,
    pub asleep: u64,
    workers_asleep: u64,
    awaiting_event: u64,
    parked: u64,
    calls: u64,
    sleepers: [Sleeper; SEATS_MAX],
    pub failures: Vec<Failure>,
    /// A bit for each affinity that has a thread of its own.
    pub registered: u8,
    pub stop: bool,
}

#[derive(Clone, Copy)]
struct Sleeper {
    mask: u8,
    only: u32,
    awaits: Option<Key>,
}

impl Board {
    pub fn new() -> Board {
        Board {
            records: Vec::new(),
            free: NONE,
            open: 0,
            queue: Queue::new(),
            fresh: Vec::new(),
            taken: 0,
            asleep: 0,
            workers_asleep: 0,
            awaiting_event: 0,
            parked: 0,
            calls: 0,
            sleepers: [Sleeper { mask: 0, only: NONE, awaits: None }; SEATS_MAX],
            failures: Vec::new(),
            registered: 0,
            stop: false,
        }
    }

    /// Whether the task is in the open list; otherwise it is complete.
    pub fn is_open(&self, task: Key) -> bool {
        self.records[task.slot as usize].generation == task.generation
    }

    /// Opens a checked graph: its root is the first of `graph`, and places are places in `graph`.
    /// `keys` becomes the tasks' keys on the board, in the same order. False, and nothing done: so
    /// many tasks cannot be open at once.
    #[must_use]
    pub fn release(&mut self, graph: &[Record], nested: bool, keys: &mut Vec<Key>) -> bool {
        keys.clear();
        if self.open as usize + graph.len() > TASKS_MAX {
            return false;
        }
        keys.extend(graph.iter().map(|_| self.allocate()));
        self.open += graph.len() as u32;
        let place = |task: u32| if task == NONE { NONE } else { keys[task as usize].slot };
        let mut over = NONE;
        for (record, key) in graph.iter().zip(keys.iter()) {
            self.records[key.slot as usize] = Record {
                parent: place(record.parent),
                dependency: place(record.dependency),
                first_dependent: place(record.first_dependent),
                next_dependent: place(record.next_dependent),
                graph: keys[0].slot,
                generation: key.generation,
                nested,
                ..*record
            };
        }
        for (record, key) in graph.iter().zip(keys.iter()).rev() {
            if record.dependency == NONE && record.work.is_none() {
                self.records[key.slot as usize].next = over;
                over = key.slot;
            }
        }
        for (record, key) in graph.iter().zip(keys.iter()) {
            if record.dependency == NONE && record.work.is_some() {
                self.enqueue(key.slot);
            }
        }
        self.complete(over);
        self.call_helpers(NONE);
        true
    }

    fn allocate(&mut self) -> Key {
        if self.free == NONE {
            let record = Record::new(super::Task::DEFAULT, None, 0);
            self.records.push(record);
            return Key { slot: self.records.len() as u32 - 1, generation: 0 };
        }
        let slot = self.free;
        let record = &self.records[slot as usize];
        self.free = record.next;
        Key { slot, generation: record.generation }
    }

    fn enqueue(&mut self, slot: u32) {
        self.queue.push(&mut self.records, slot);
        self.fresh.push(slot);
    }

    /// What a thread does each time it takes the lock: it hands in the job it has run, and gets
    /// what to do next.
    pub fn step(&mut self, runner: &mut Runner, finished: Option<Finished>) -> Step {
        if let Some(seat) = runner.seat.take() {
            self.taken &= !(1 << seat);
        }
        if let Some(finished) = finished {
            self.finish(finished);
        }
        let done = match runner.awaits {
            // What is queued is run first; the task manager outlives every graph.
            Awaits::Stop => self.stop,
            Awaits::Task(task) => !self.is_open(task),
            // Set under the same lock.
            Awaits::Event(event) => event.load(Ordering::Relaxed),
        };
        if done {
            self.leave();
            return Step::Done;
        }
        let Some(slot) = self.queue.take(&mut self.records, runner.mask, runner.only) else {
            self.call_helpers(NONE);
            return Step::Sleep(self.sleep(runner));
        };
        self.call_helpers(slot);
        let Record { work, name, skip, .. } = self.records[slot as usize];
        Step::Run(Job { slot, work: work.expect("only work is queued"), name, skip })
    }

    fn finish(&mut self, finished: Finished) {
        let record = &mut self.records[finished.slot as usize];
        if finished.error.is_some() {
            record.failed = true;
            let (order, root) = (record.order, record.graph);
            let graph = self.key(root);
            self.failures.push(Failure { graph, order, error: finished.error });
        }
        self.records[finished.slot as usize].next = NONE;
        self.complete(finished.slot);
    }

    fn key(&self, slot: u32) -> Key {
        Key { slot, generation: self.records[slot as usize].generation }
    }

    /// Takes one open work item, their own, from each task of a list; what is complete then leaves
    /// the open list, and with it may others: parents, and empty tasks that depend on it.
    fn complete(&mut self, mut over: u32) {
        while over != NONE {
            let mut slot = over;
            let record = &mut self.records[slot as usize];
            over = record.next;
            record.failed |= record.skip;
            loop {
                let record = &mut self.records[slot as usize];
                record.open_work_items -= 1;
                if record.open_work_items > 0 {
                    break;
                }
                let Record { parent, failed, mut first_dependent, .. } = *record;
                while first_dependent != NONE {
                    let dependent = &mut self.records[first_dependent as usize];
                    let here = std::mem::replace(&mut first_dependent, dependent.next_dependent);
                    dependent.skip |= failed;
                    if dependent.work.is_none() {
                        dependent.next = over;
                        over = here;
                    } else {
                        self.enqueue(here);
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

    /// Takes a task out of the open list and calls who waits for it.
    fn close(&mut self, slot: u32) {
        let key = self.key(slot);
        let record = self.records[slot as usize];
        if record.failed {
            let graph = self.key(record.graph);
            self.failures.push(Failure { graph, order: record.order, error: None });
        }
        for seat in bits(self.asleep) {
            if self.sleepers[seat as usize].awaits == Some(key) {
                self.call(seat);
            }
        }
        let record = &mut self.records[slot as usize];
        record.generation = record.generation.wrapping_add(1);
        record.next = self.free;
        self.free = slot;
        self.open -= 1;
    }

    fn call(&mut self, seat: u32) {
        self.asleep &= !(1 << seat);
        self.workers_asleep &= !(1 << seat);
        self.awaiting_event &= !(1 << seat);
        self.calls |= 1 << seat;
    }

    /// Calls a sleeper for each task that has just been queued, but for the one that the thread
    /// itself has taken.
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
        let Record { affinity, graph, .. } = self.records[slot as usize];
        let able = |seat: &u32| {
            let sleeper = &self.sleepers[*seat as usize];
            sleeper.mask & affinity.bit() != 0 && (sleeper.only == NONE || sleeper.only == graph)
        };
        // Rather a worker: who waits for something wants to go on when it comes. Of these rather
        // one that watches, which begins at once: others have to be woken.
        let (workers, watching) = (self.workers_asleep, !self.parked);
        let turns = [workers & watching, workers, self.asleep & watching, self.asleep];
        if let Some(seat) = turns.into_iter().flat_map(bits).find(able) {
            self.call(seat);
        }
    }

    /// Gives the thread a seat, its own until its next step: another that took the seat earlier
    /// could make it sleep on.
    fn sleep(&mut self, runner: &mut Runner) -> u32 {
        let seat = self.taken.trailing_ones();
        assert!(
            (seat as usize) < SEATS_MAX,
            "more than {SEATS_MAX} threads sleep for want of tasks"
        );
        runner.seat = Some(seat);
        self.taken |= 1 << seat;
        self.asleep |= 1 << seat;
        let mut awaits = None;
        match runner.awaits {
            Awaits::Stop => self.workers_asleep |= 1 << seat,
            Awaits::Event(_) => self.awaiting_event |= 1 << seat,
            Awaits::Task(key) => awaits = Some(key),
        }
        self.sleepers[seat as usize] = Sleeper { mask: runner.mask, only: runner.only, awaits };
        seat
    }

    /// The thread does no more tasks. It may have been called for one: then another is called.
    fn leave(&mut self) {
        if self.asleep != 0 {
            self.fresh.clear();
            self.queue.list_into(&self.records, &mut self.fresh);
        }
        self.call_helpers(NONE);
    }

    /// Calls every thread that waits for an event; each looks whether it is its own.
    pub fn call_event_waiters(&mut self) {
        for seat in bits(self.awaiting_event) {
            self.call(seat);
        }
    }

    /// Ends the workers, once their jobs are done.
    pub fn end(&mut self) {
        self.stop = true;
        for seat in bits(self.asleep) {
            self.call(seat);
        }
    }

    /// The seats to be called now that the lock will be free, one bit each.
    pub fn take_calls(&mut self) -> u64 {
        std::mem::take(&mut self.calls)
    }

    /// Notes that a sleeper stops watching for a call, or that it is awake.
    pub fn set_parked(&mut self, seat: u32, parked: bool) {
        self.parked = self.parked & !(1 << seat) | u64::from(parked) << seat;
    }

    pub fn parked(&self) -> u64 {
        self.parked
    }

    pub fn is_asleep(&self, seat: u32) -> bool {
        self.asleep & (1 << seat) != 0
    }

    /// How `order` of a graph failed, if it did: the graph's first own error, in the order in which
    /// its tasks were added, so that it does not depend on threads. `None` asks for any task.
    pub fn failure(&self, graph: Key, order: Option<u32>) -> Option<Error> {
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

    /// Forgets a graph's failures.
    pub fn forget_failures(&mut self, graph: Key) {
        self.failures.retain(|failure| failure.graph != graph);
    }
}

/// The numbers of the bits that are set, from the lowest.
pub(super) fn bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = set.trailing_zeros();
        set &= set.wrapping_sub(1);
        (lowest < u64::BITS).then_some(lowest)
    })
}
