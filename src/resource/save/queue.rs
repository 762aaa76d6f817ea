//! Reads and writes that are begun now and asked for later: one thread does them in their order.
//! Knows the time of the game only as numbers of frames.

use super::Version;
use super::keeper::{Check, Keeper, Loaded};
use super::slot::Slot;
use crate::foundation::{fault, log};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// Requests that may be under way, or done and not asked for. Beyond it a new one is refused while
/// all are under way; otherwise the oldest that is done is forgotten.
pub const REQUESTS_MAX: usize = 256;

/// Bytes of contents that may wait to be written. One more content is refused.
pub const WRITE_BYTES_MAX: usize = 256 << 20;
/// Bytes of contents that may be read and wait to be asked for. Reading one more fails.
pub const READ_BYTES_MAX: usize = 256 << 20;

/// How many bytes a queue lets wait; for tests, smaller than those of a game.
#[derive(Clone, Copy)]
pub struct ByteLimits {
    pub write: usize,
    pub read: usize,
}

impl ByteLimits {
    pub const DEFAULT: ByteLimits = ByteLimits { write: WRITE_BYTES_MAX, read: READ_BYTES_MAX };
}

/// What is to be done.
pub enum Task {
    Write { slot: Slot, content: Vec<u8>, time: f64, version: Version },
    Read { slot: Slot, version: Version, check: Check },
}

/// What came of it: what was read, `None` for a write, or why it failed.
pub type Answer = Result<Option<Loaded>, String>;

/// How far a request is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Busy {
    /// It is under way, by so much, from 0 to 1.
    Yes(f64),
    /// It is done; whether it succeeded.
    Done(bool),
}

/// What the thread tells of a request.
#[derive(Default)]
struct State {
    progress: f64,
    answer: Option<Answer>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    done: Condvar,
    /// Bytes of the content that was read; they stay known when the answer is taken.
    read_bytes: AtomicUsize,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn wait(&self) -> MutexGuard<'_, State> {
        let busy = |state: &mut State| state.answer.is_none();
        self.done.wait_while(self.lock(), busy).unwrap_or_else(|poison| poison.into_inner())
    }
}

struct Request {
    shared: Arc<Shared>,
    ready_frame: Option<u64>,
    /// Bytes of the content to be written.
    write_bytes: usize,
    reads: bool,
}

impl Request {
    /// Whether it is done, as far as the game knows when it begins one of this ready frame: where
    /// runs must be equal, it does not depend on the disk.
    fn is_known_done(&self, ready_frame: Option<u64>) -> bool {
        match (self.ready_frame, ready_frame) {
            (Some(own), Some(of_new)) => own < of_new,
            _ => self.shared.lock().answer.is_some(),
        }
    }
}

/// What the thread is given to do, where it leaves the answer, and the reads that were begun before
/// and not asked for yet.
struct Job {
    task: Task,
    shared: Arc<Shared>,
    earlier_reads: Vec<Arc<Shared>>,
    read_bytes_max: usize,
}

impl Job {
    /// Bytes of contents that were read before. The same in every run: requests are done in order.
    fn earlier_bytes(&self) -> usize {
        self.earlier_reads.iter().map(|read| read.read_bytes.load(Ordering::Relaxed)).sum()
    }
}

struct Worker {
    jobs: Sender<Job>,
    thread: JoinHandle<()>,
}

/// The thread, and the requests that nobody has taken the answers of.
pub struct Queue {
    keeper: Arc<Keeper>,
    worker: Option<Worker>,
    requests: BTreeMap<u64, Request>,
    last: u64,
    pub limits: ByteLimits,
}

impl Queue {
    /// No thread runs before something is begun.
    pub fn new(keeper: Arc<Keeper>) -> Queue {
        let (requests, limits) = (BTreeMap::new(), ByteLimits::DEFAULT);
        Queue { keeper, worker: None, requests, last: 0, limits }
    }

    /// Hands a task to the thread: its number, from 1.
    pub fn begin(&mut self, task: Task, ready_frame: Option<u64>) -> Result<u64, String> {
        self.make_room()?;
        let (write_bytes, reads) = match &task {
            Task::Write { content, .. } => (content.len(), false),
            Task::Read { .. } => (0, true),
        };
        self.make_room_for_bytes(write_bytes, ready_frame)?;
        let shared = Arc::new(Shared::default());
        if self.worker.is_none() {
            let (jobs, receiver) = channel();
            let keeper = self.keeper.clone();
            let thread = fault::spawn("saves", move || work(&keeper, &receiver));
            let thread = thread.map_err(|reason| format!("no thread can be made: {reason}"))?;
            self.worker = Some(Worker { jobs, thread });
        }
        let worker = self.worker.as_ref().expect("it was made just now");
        let earlier = self.requests.values().filter(|request| reads && request.reads);
        let earlier_reads = earlier.map(|request| request.shared.clone()).collect();
        let read_bytes_max = self.limits.read;
        let job = Job { task, shared: shared.clone(), earlier_reads, read_bytes_max };
        worker.jobs.send(job).expect("the thread ends only with this queue");
        self.last += 1;
        self.requests.insert(self.last, Request { shared, ready_frame, write_bytes, reads });
        Ok(self.last)
    }

    fn make_room(&mut self) -> Result<(), String> {
        if self.requests.len() < REQUESTS_MAX {
            return Ok(());
        }
        // With a ready frame it must not depend on the disk which one is forgotten.
        let done = |request: &Request| {
            request.ready_frame.is_some() || request.shared.lock().answer.is_some()
        };
        let oldest = self.requests.iter().find(|(_, request)| done(request)).map(|(id, _)| *id);
        let oldest = oldest.ok_or_else(|| {
            format!("{REQUESTS_MAX} reads and writes are under way already: wait for some")
        })?;
        let answer = self.requests.remove(&oldest).and_then(|one| one.shared.wait().answer.take());
        tell(answer);
        Ok(())
    }

    /// Makes room for a content that is to be written.
    fn make_room_for_bytes(&self, bytes: usize, ready_frame: Option<u64>) -> Result<(), String> {
        let all: usize = self.requests.values().map(|request| request.write_bytes).sum();
        let too_many = |waiting: usize| bytes > 0 && waiting + bytes > self.limits.write;
        if !too_many(all) {
            return Ok(());
        }
        let open = self.requests.values().filter(|it| !it.is_known_done(ready_frame));
        if too_many(open.map(|request| request.write_bytes).sum()) {
            return Err(format!(
                "saves of {} MiB wait to be written already (WRITE_BYTES_MAX): wait for some",
                self.limits.write >> 20
            ));
        }
        // The disk may still be at those that are done for the game.
        for request in self.requests.values().filter(|it| it.is_known_done(ready_frame)) {
            drop(request.shared.wait());
        }
        Ok(())
    }

    /// Waits until everything that was begun is done.
    pub fn settle(&mut self) {
        for request in self.requests.values() {
            drop(request.shared.wait());
        }
    }

    /// How far a request is; `None` where there is none of that number.
    pub fn poll(&mut self, request: u64, frame: u64) -> Option<Busy> {
        let request = self.requests.get(&request)?;
        let state = match request.ready_frame {
            Some(ready) if frame < ready => return Some(Busy::Yes(0.0)),
            Some(_) => request.shared.wait(),
            None => request.shared.lock(),
        };
        Some(match &state.answer {
            None => Busy::Yes(state.progress),
            Some(answer) => Busy::Done(answer.is_ok()),
        })
    }

    /// Takes the answer of a request that is done, and forgets the request.
    pub fn take(&mut self, request: u64) -> Option<Answer> {
        let answer = self.requests.get(&request)?.shared.lock().answer.take()?;
        self.requests.remove(&request);
        Some(answer)
    }
}

impl Drop for Queue {
    /// What was begun is done before the game ends.
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            drop(worker.jobs);
            // Its panics are caught inside.
            let _ = worker.thread.join();
        }
        for request in std::mem::take(&mut self.requests).into_values() {
            tell(request.shared.lock().answer.take());
        }
    }
}

/// Says what nobody asked for, where it failed.
fn tell(answer: Option<Answer>) {
    if let Some(Err(words)) = answer {
        log::write(log::Level::Warning, &format!("nobody asked what came of it: {words}"));
    }
}

fn work(keeper: &Keeper, jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        let shared = job.shared.clone();
        let answer = fault::contain(|| run(keeper, job));
        let answer = answer.unwrap_or_else(|error| Err(error.message));
        shared.lock().answer = Some(answer);
        shared.done.notify_all();
    }
}

fn run(keeper: &Keeper, job: Job) -> Answer {
    let earlier_bytes = job.earlier_bytes();
    let Job { task, shared, read_bytes_max, .. } = job;
    // All is done only when the disk says so: until then it is less.
    let told = |part: f64| shared.lock().progress = part * 0.99;
    match task {
        Task::Write { slot, content, time, version } => {
            keeper.write(&slot, &content, time, version, &told).map(|()| None)
        }
        Task::Read { slot, version, check } => {
            let loaded = keeper.read(&slot, version, check, &told)?;
            let bytes = loaded.content.len();
            if earlier_bytes + bytes > read_bytes_max {
                return Err(format!(
                    "saves of {} MiB that were read wait for Save.result (READ_BYTES_MAX): ask for \
                     some of them first",
                    read_bytes_max >> 20
                ));
            }
            shared.read_bytes.store(bytes, Ordering::Relaxed);
            Ok(Some(loaded))
        }
    }
}
