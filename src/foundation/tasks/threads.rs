//! The threads around the board: workers that sleep until they are called, and threads that help
//! while they wait. All that they share is under one lock; a task's work runs without it. Who has
//! nothing to do watches for a call for a moment before the operating system is asked to wake it,
//! which takes as long as a small job does.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::SEATS_MAX;
use super::board::{Awaits, Board, Finished, Job, Key, Runner, Step, bits};
use super::graph::Parts;
use super::record::{Affinity, NONE, Record};
use crate::foundation::memory::Owner;
use crate::foundation::profile::Scope;
use crate::foundation::{Error, fault};
use crate::{doing, insist};

/// A worker's stack.
const STACK_BYTES: usize = 4 << 20;

/// How long a thread watches for a call before it waits: a little more than a wake takes, and so
/// little that a frame does not notice.
const WATCH: Duration = Duration::from_micros(50);

/// How long threads watch where there are so many workers: not at all where there is no core for
/// each of them and for who waits for them. Who watches is then in the way of who works.
pub(super) fn watch_of(workers: usize) -> Duration {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if workers < cores { WATCH } else { Duration::ZERO }
}

pub(super) struct Shared {
    board: Mutex<Board>,
    /// A sleeper waits at its seat's.
    seats: [Condvar; SEATS_MAX],
    /// How long who has nothing to do watches.
    watch: Duration,
    /// The seats that were called while their sleepers watched. Only a hint: the board decides.
    called: AtomicU64,
    /// How often somebody watched and was not called.
    #[cfg(test)]
    in_vain: AtomicU64,
    /// Parts of past graphs, as a list.
    parts: Mutex<Option<Box<Parts>>>,
}

/// What this thread is, to the task manager.
#[derive(Clone, Copy)]
struct Here {
    /// The affinities for which it is registered, one bit each, and with which task manager (its
    /// address; never read through).
    mask: u8,
    manager: usize,
    /// Whether it is running a task.
    inside: bool,
}

thread_local! {
    static HERE: Cell<Here> = const { Cell::new(Here { mask: 0, manager: 0, inside: false }) };
}

impl Shared {
    pub fn new(watch: Duration) -> Arc<Shared> {
        Arc::new(Shared {
            board: Mutex::new(Board::new()),
            seats: std::array::from_fn(|_| Condvar::new()),
            watch,
            called: AtomicU64::new(0),
            #[cfg(test)]
            in_vain: AtomicU64::new(0),
            parts: Mutex::new(None),
        })
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        // Not `fault::lock`: that tasks end before what they borrow rests on a board that is whole.
        self.board.lock().expect("the task manager has failed before")
    }

    /// Frees the board and calls the sleepers that should wake.
    fn leave(&self, mut board: MutexGuard<Board>) {
        let calls = board.take_calls();
        if calls == 0 {
            return;
        }
        let parked = calls & board.parked();
        drop(board);
        self.called.fetch_or(calls & !parked, Ordering::Relaxed);
        for seat in bits(parked) {
            self.seats[seat as usize].notify_one();
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Runs tasks until `awaits` has come. Inside a task, only those of the graph whose root is at
    /// `graph`.
    pub fn work_until(&self, awaits: Awaits, graph: u32) {
        let here = HERE.get();
        let own = if here.manager == self.address() { here.mask } else { 0 };
        let only = if here.inside { graph } else { NONE };
        self.run_tasks(Runner { seat: None, mask: own | Affinity::Any.bit(), only, awaits });
    }

    fn run_tasks(&self, mut runner: Runner) {
        let mut finished = None;
        loop {
            let mut board = self.board();
            let step = board.step(&mut runner, finished.take());
            self.leave(board);
            match step {
                Step::Run(job) => finished = Some(run(job)),
                Step::Sleep(seat) => self.sleep(seat),
                Step::Done => return,
            }
        }
    }

    fn sleep(&self, seat: u32) {
        let own = 1 << seat;
        if !self.watch.is_zero() {
            self.watch(own);
        }
        let mut board = self.board();
        board.set_parked(seat, true);
        // Also when the condition variable wakes without having been told to.
        while board.is_asleep(seat) {
            board = self.seats[seat as usize].wait(board).expect("the board's lock is whole");
        }
        board.set_parked(seat, false);
        drop(board);
        // A hint that comes later than this has the next sleeper of the seat wait without watching.
        self.called.fetch_and(!own, Ordering::Relaxed);
    }

    /// Until the seat is called, or it takes too long.
    fn watch(&self, own: u64) {
        let end = Instant::now() + self.watch;
        while self.called.load(Ordering::Relaxed) & own == 0 {
            if Instant::now() >= end {
                #[cfg(test)]
                self.in_vain.fetch_add(1, Ordering::Relaxed);
                return;
            }
            for _ in 0..16 {
                std::hint::spin_loop();
            }
            // Rendering, sound and files have threads, too, and no cores of their own: whoever has
            // something to do gets this one.
            std::thread::yield_now();
        }
    }

    /// Opens a graph; false if so many tasks cannot be open at once.
    #[must_use]
    pub fn release(&self, graph: &[Record], keys: &mut Vec<Key>) -> bool {
        let mut board = self.board();
        let released = board.release(graph, HERE.get().inside, keys);
        self.leave(board);
        released
    }

    pub fn is_complete(&self, task: Key) -> bool {
        !self.board().is_open(task)
    }

    pub fn failure(&self, graph: Key, order: Option<u32>) -> Option<Error> {
        self.board().failure(graph, order)
    }

    /// How a graph failed, which is then forgotten.
    pub fn take_failure(&self, graph: Key) -> Option<Error> {
        let mut board = self.board();
        if board.failures.is_empty() {
            return None;
        }
        let failure = board.failure(graph, None);
        board.forget_failures(graph);
        failure
    }

    /// Runs `set` under the lock, then calls those who wait for an event.
    pub fn signal(&self, set: impl FnOnce()) {
        let mut board = self.board();
        set();
        board.call_event_waiters();
        self.leave(board);
    }

    pub fn registered(&self) -> u8 {
        self.board().registered
    }

    pub fn register(&self, affinities: &[Affinity]) {
        let here = HERE.get();
        insist!(here.mask == 0, "this thread is registered already");
        let mask = affinities.iter().fold(0, |mask, affinity| mask | affinity.bit());
        insist!(mask & Affinity::Any.bit() == 0, "for `Any` no thread needs to be registered");
        let mut board = self.board();
        let taken = board.registered & mask;
        board.registered |= mask;
        drop(board);
        let taken = affinities.iter().find(|affinity| affinity.bit() & taken != 0);
        if let Some(affinity) = taken {
            insist!(false, "another thread is the {} thread already", affinity.word());
        }
        HERE.set(Here { mask, manager: self.address(), ..here });
    }

    pub fn unregister(&self) {
        let here = HERE.get();
        self.board().registered &= !here.mask;
        HERE.set(Here { mask: 0, manager: 0, ..here });
    }

    pub fn is_inside() -> bool {
        HERE.get().inside
    }

    /// How often a thread watched and was not called in time.
    #[cfg(test)]
    pub fn watched_in_vain(&self) -> u64 {
        self.in_vain.load(Ordering::Relaxed)
    }

    /// The seats whose threads only the operating system can wake.
    #[cfg(test)]
    pub fn parked(&self) -> u64 {
        self.board().parked()
    }

    /// Places on the board, and those in use.
    #[cfg(test)]
    pub fn counts(&self) -> (usize, u32) {
        let board = self.board();
        (board.records.len(), board.open)
    }

    pub fn take_parts(&self) -> Box<Parts> {
        let mut list = fault::lock(&self.parts);
        let Some(mut parts) = list.take() else { return Box::default() };
        *list = parts.next.take();
        parts
    }

    pub fn give_parts(&self, mut parts: Box<Parts>) {
        let mut list = fault::lock(&self.parts);
        parts.next = list.take();
        *list = Some(parts);
    }

    /// Starts the workers. If one cannot be started, those before it end.
    pub fn start(self: &Arc<Shared>, workers: usize) -> Result<Vec<JoinHandle<()>>, Error> {
        let mut threads = Vec::new();
        for seat in 0..workers {
            let shared = self.clone();
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            let work = move || {
                Owner::of_thread("tasks");
                shared.work_until(Awaits::Stop, NONE);
            };
            match fault::spawn_with(builder, &format!("task worker {}", seat + 1), work) {
                Ok(thread) => threads.push(thread),
                Err(why) => {
                    self.end(threads);
                    return Err(crate::error!(
                        "task worker {} of {workers} could not be started ({why}): use fewer \
                         threads",
                        seat + 1
                    ));
                }
            }
        }
        Ok(threads)
    }

    pub fn end(&self, threads: Vec<JoinHandle<()>>) {
        let mut board = self.board();
        board.end();
        self.leave(board);
        for thread in threads {
            thread.join().expect("a worker catches what tasks do");
        }
    }
}

/// Runs a job's work and catches how it fails.
fn run(job: Job) -> Finished {
    let before = HERE.replace(Here { inside: true, ..HERE.get() });
    let work = || {
        doing!("When running task:", job.name);
        let _scope = Scope::named(job.name);
        if job.skip {
            // SAFETY: as below.
            unsafe { job.work.discard() };
            return Ok(());
        }
        // SAFETY: the scope that made the work waits for this task before anything that it borrows
        // can go, and the board hands out each job once.
        unsafe { job.work.run() }
    };
    let result = catch_unwind(AssertUnwindSafe(work));
    HERE.set(before);
    let error = match result {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(Box::new(error)),
        Err(panic) => Some(Box::new(fault::caught(&*panic))),
    };
    Finished { slot: job.slot, error }
}
