//! The threads of the scheduler: workers that sleep until they are called, and threads that help
//! while they wait. One lock protects all shared state, and a task's work runs without it. An idle
//! thread briefly watches for a call before it asks the operating system to wake it, because such a
//! wake takes as long as a small job.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::THREAD_SLOTS_MAX;
use super::graph::GraphBuffers;
use super::scheduler::{
    NextAction, Runner, RunningTask, Scheduler, TaskEnd, TaskKey, WaitReason, set_bits,
};
use super::task::{NONE, TaskRecord, ThreadAffinity};
use crate::doing;
use crate::insist;
use crate::memory::OwnerScope;
use crate::profile::ProfileScope;
use crate::{Error, panic};

/// Stack size of a worker in bytes.
const STACK_BYTES: usize = 4 << 20;

/// Time that a thread watches for a call before it waits. It is slightly longer than a wake takes,
/// and negligible for a frame.
const SPIN_DURATION: Duration = Duration::from_micros(50);

/// Returns the watch time for a number of workers. It is zero unless the machine has a core for
/// each worker and for the waiting thread. Otherwise a watching thread would slow down the working
/// ones.
pub(super) fn watch_of(workers: usize) -> Duration {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if workers < cores { SPIN_DURATION } else { Duration::ZERO }
}

pub(super) struct TaskThreads {
    scheduler: Mutex<Scheduler>,
    /// The condition variables of the seats. A sleeping thread waits on that of its seat.
    thread_slots: [Condvar; THREAD_SLOTS_MAX],
    /// Time that an idle thread watches for a call.
    watch: Duration,
    /// Bit set of the seats that were called while their threads watched. It is only a hint: the
    /// scheduler decides.
    called: AtomicU64,
    /// Number of times that a thread watched and was not called.
    #[cfg(test)]
    spin_misses: AtomicU64,
    /// Linked list of the buffers of finished graphs.
    buffers: Mutex<Option<Box<GraphBuffers>>>,
}

/// The role of this thread in the task manager.
#[derive(Clone, Copy)]
struct ThreadRole {
    /// Bit set of the affinities for which the thread is registered. `manager` is the address of
    /// the task manager at which it is registered, which is never dereferenced.
    mask: u8,
    manager: usize,
    /// True while the thread runs a task.
    in_task: bool,
}

thread_local! {
    static ROLE: Cell<ThreadRole> = const {
        Cell::new(ThreadRole { mask: 0, manager: 0, in_task: false })
    };
}

impl TaskThreads {
    pub fn new(watch: Duration) -> Arc<TaskThreads> {
        Arc::new(TaskThreads {
            scheduler: Mutex::new(Scheduler::new()),
            thread_slots: std::array::from_fn(|_| Condvar::new()),
            watch,
            called: AtomicU64::new(0),
            #[cfg(test)]
            spin_misses: AtomicU64::new(0),
            buffers: Mutex::new(None),
        })
    }

    fn scheduler(&self) -> MutexGuard<'_, Scheduler> {
        // `panic::lock` is not used here. The guarantee that tasks end before their borrowed data
        // requires a consistent scheduler.
        self.scheduler.lock().expect("the task manager has failed before")
    }

    /// Releases the lock and calls the threads that should wake.
    fn unlock_and_notify(&self, mut scheduler: MutexGuard<Scheduler>) {
        let calls = scheduler.take_calls();
        if calls == 0 {
            return;
        }
        let parked = calls & scheduler.parked();
        drop(scheduler);
        self.called.fetch_or(calls & !parked, Ordering::Relaxed);
        for thread_slot in set_bits(parked) {
            self.thread_slots[thread_slot as usize].notify_one();
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Runs tasks until `awaits` is met. Inside of a task, runs only tasks of the graph whose root
    /// is in slot `graph`.
    pub fn work_until(&self, awaits: WaitReason, graph: u32) {
        let role = ROLE.get();
        let own = if role.manager == self.address() { role.mask } else { 0 };
        let only = if role.in_task { graph } else { NONE };
        self.run_tasks(Runner {
            thread_slot: None,
            mask: own | ThreadAffinity::Any.bit(),
            only,
            awaits,
        });
    }

    fn run_tasks(&self, mut runner: Runner) {
        let mut finished = None;
        loop {
            let mut scheduler = self.scheduler();
            let step = scheduler.step(&mut runner, finished.take());
            self.unlock_and_notify(scheduler);
            match step {
                NextAction::Run(job) => finished = Some(run(job)),
                NextAction::Sleep(thread_slot) => self.sleep(thread_slot),
                NextAction::Done => return,
            }
        }
    }

    fn sleep(&self, thread_slot: u32) {
        let own = 1 << thread_slot;
        if !self.watch.is_zero() {
            self.watch(own);
        }
        let mut scheduler = self.scheduler();
        scheduler.set_parked(thread_slot, true);
        // The loop also handles spurious wakes of the condition variable.
        while scheduler.is_asleep(thread_slot) {
            scheduler = self.thread_slots[thread_slot as usize]
                .wait(scheduler)
                .expect("the scheduler's lock is not poisoned");
        }
        scheduler.set_parked(thread_slot, false);
        drop(scheduler);
        // If a hint arrives after this, the next thread on the seat waits without watching.
        self.called.fetch_and(!own, Ordering::Relaxed);
    }

    /// Watches until the seat is called or the watch time is over.
    fn watch(&self, own: u64) {
        let end = Instant::now() + self.watch;
        while self.called.load(Ordering::Relaxed) & own == 0 {
            if Instant::now() >= end {
                #[cfg(test)]
                self.spin_misses.fetch_add(1, Ordering::Relaxed);
                return;
            }
            for _ in 0..16 {
                std::hint::spin_loop();
            }
            // Rendering, sound and files also have threads, but no cores of their own. This yields
            // the core to any thread that has work.
            std::thread::yield_now();
        }
    }

    /// Opens a graph. Returns false if too many tasks would be open at once.
    #[must_use]
    pub fn release(&self, graph: &[TaskRecord], keys: &mut Vec<TaskKey>) -> bool {
        let mut scheduler = self.scheduler();
        let released = scheduler.release(graph, ROLE.get().in_task, keys);
        self.unlock_and_notify(scheduler);
        released
    }

    pub fn is_complete(&self, task: TaskKey) -> bool {
        !self.scheduler().is_open(task)
    }

    pub fn failure(&self, graph: TaskKey, order: Option<u32>) -> Option<Error> {
        self.scheduler().failure(graph, order)
    }

    /// Removes and returns the error of a graph.
    pub fn take_failure(&self, graph: TaskKey) -> Option<Error> {
        let mut scheduler = self.scheduler();
        if scheduler.failures.is_empty() {
            return None;
        }
        let failure = scheduler.failure(graph, None);
        scheduler.forget_failures(graph);
        failure
    }

    /// Calls `set` under the lock, then calls the threads that wait for an event.
    pub fn signal(&self, set: impl FnOnce()) {
        let mut scheduler = self.scheduler();
        set();
        scheduler.call_event_waiters();
        self.unlock_and_notify(scheduler);
    }

    pub fn registered(&self) -> u8 {
        self.scheduler().registered
    }

    pub fn register(&self, affinities: &[ThreadAffinity]) {
        let role = ROLE.get();
        insist!(role.mask == 0, "this thread is registered already");
        let mask = affinities.iter().fold(0, |mask, affinity| mask | affinity.bit());
        insist!(
            mask & ThreadAffinity::Any.bit() == 0,
            "for `Any` no thread needs to be registered"
        );
        let mut scheduler = self.scheduler();
        let taken = scheduler.registered & mask;
        scheduler.registered |= mask;
        drop(scheduler);
        let taken = affinities.iter().find(|affinity| affinity.bit() & taken != 0);
        if let Some(affinity) = taken {
            insist!(false, "another thread is the {} thread already", affinity.name());
        }
        ROLE.set(ThreadRole { mask, manager: self.address(), ..role });
    }

    pub fn unregister(&self) {
        let role = ROLE.get();
        self.scheduler().registered &= !role.mask;
        ROLE.set(ThreadRole { mask: 0, manager: 0, ..role });
    }

    pub fn is_inside() -> bool {
        ROLE.get().in_task
    }

    /// Returns the number of times that a thread watched and was not called in time.
    #[cfg(test)]
    pub fn spin_misses(&self) -> u64 {
        self.spin_misses.load(Ordering::Relaxed)
    }

    /// Returns the bit set of seats whose threads only the operating system can wake.
    #[cfg(test)]
    pub fn parked(&self) -> u64 {
        self.scheduler().parked()
    }

    /// Returns the number of slots in the scheduler, and the number of open tasks.
    #[cfg(test)]
    pub fn slot_and_task_counts(&self) -> (usize, u32) {
        let scheduler = self.scheduler();
        (scheduler.records.len(), scheduler.open)
    }

    pub fn take_buffers(&self) -> Box<GraphBuffers> {
        let mut list = panic::lock(&self.buffers);
        let Some(mut buffers) = list.take() else { return Box::default() };
        *list = buffers.next.take();
        buffers
    }

    pub fn return_buffers(&self, mut buffers: Box<GraphBuffers>) {
        let mut list = panic::lock(&self.buffers);
        buffers.next = list.take();
        *list = Some(buffers);
    }

    /// Starts the workers. If one cannot be started, the earlier ones end.
    pub fn start(self: &Arc<TaskThreads>, workers: usize) -> Result<Vec<JoinHandle<()>>, Error> {
        let mut threads = Vec::new();
        for thread_slot in 0..workers {
            let shared = self.clone();
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            let work = move || {
                OwnerScope::of_thread("tasks");
                shared.work_until(WaitReason::Stop, NONE);
            };
            match panic::spawn_with(builder, &format!("task worker {}", thread_slot + 1), work) {
                Ok(thread) => threads.push(thread),
                Err(why) => {
                    self.end(threads);
                    return Err(crate::error!(
                        "task worker {} of {workers} could not be started ({why}): use fewer \
                         threads",
                        thread_slot + 1
                    ));
                }
            }
        }
        Ok(threads)
    }

    pub fn end(&self, threads: Vec<JoinHandle<()>>) {
        let mut scheduler = self.scheduler();
        scheduler.end();
        self.unlock_and_notify(scheduler);
        for thread in threads {
            thread.join().expect("a worker catches what tasks do");
        }
    }
}

/// Runs a task's work and catches its error or panic.
fn run(job: RunningTask) -> TaskEnd {
    let before = ROLE.replace(ThreadRole { in_task: true, ..ROLE.get() });
    let work = || {
        doing!("When running task:", job.name);
        let _scope = ProfileScope::named(job.name);
        if job.skip {
            // SAFETY: as below.
            unsafe { job.work.discard() };
            return Ok(());
        }
        // SAFETY: the scope that created the work waits for this task before its borrowed data can
        // end, and the scheduler hands out each task once.
        unsafe { job.work.run() }
    };
    let result = catch_unwind(AssertUnwindSafe(work));
    ROLE.set(before);
    let error = match result {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(Box::new(error)),
        Err(panic) => Some(Box::new(panic::to_error(&*panic))),
    };
    TaskEnd { slot: job.slot, error }
}
