//! Asynchronous reads and writes of saves: one thread processes the requests in order. Game time is
//! known here only as frame numbers.

use super::NewerVersions;
use super::generations::{ContentCheck, LoadedSave, SaveGenerations};
use super::slot::SaveSlot;
use engine_foundation::{log, panic};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// Maximum number of requests that are in progress, or done but not yet queried. At the limit, the
/// oldest request that is done is forgotten; if all are in progress, a new one is refused. A
/// request with a ready frame counts as done, and the queue waits for it.
pub const REQUESTS_MAX: usize = 256;

/// Maximum number of content bytes waiting to be written. Further content is refused.
pub const WRITE_BYTES_MAX: usize = 256 << 20;
/// Maximum number of content bytes that were read and wait to be queried. A further read fails.
pub const READ_BYTES_MAX: usize = 256 << 20;

/// Maximum numbers of waiting bytes of a queue. Tests use smaller numbers than games.
#[derive(Clone, Copy)]
pub struct ByteLimits {
    pub write: usize,
    pub read: usize,
}

impl ByteLimits {
    pub const DEFAULT: ByteLimits = ByteLimits { write: WRITE_BYTES_MAX, read: READ_BYTES_MAX };
}

/// A read or write to perform.
pub enum SaveTask {
    Write { slot: SaveSlot, content: Vec<u8>, time: f64, version: NewerVersions },
    Read { slot: SaveSlot, version: NewerVersions, check: ContentCheck },
}

/// Result of a task: the content for a read, `None` for a write, or the error message.
pub type SaveResult = Result<Option<LoadedSave>, String>;

/// Progress of a request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RequestProgress {
    /// In progress, with the completed part from 0 to 1.
    Yes(f64),
    /// Done; true if it succeeded.
    Done(bool),
}

/// State of a request, as set by the thread.
#[derive(Default)]
struct RequestState {
    progress: f64,
    answer: Option<SaveResult>,
}

#[derive(Default)]
struct SaveQueueShared {
    state: Mutex<RequestState>,
    done: Condvar,
    /// Number of content bytes read. It stays available after the answer is taken.
    read_bytes: AtomicUsize,
}

impl SaveQueueShared {
    fn lock(&self) -> MutexGuard<'_, RequestState> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn wait(&self) -> MutexGuard<'_, RequestState> {
        let busy = |state: &mut RequestState| state.answer.is_none();
        self.done.wait_while(self.lock(), busy).unwrap_or_else(|poison| poison.into_inner())
    }
}

struct SaveRequest {
    shared: Arc<SaveQueueShared>,
    ready_frame: Option<u64>,
    /// Number of content bytes to write.
    write_bytes: usize,
    reads: bool,
}

impl SaveRequest {
    /// Returns true if this request is done from the game's point of view when the game starts a
    /// request with this ready frame. With ready frames the result does not depend on the disk, so
    /// that runs are reproducible.
    fn is_known_done(&self, ready_frame: Option<u64>) -> bool {
        match (self.ready_frame, ready_frame) {
            (Some(own), Some(of_new)) => own < of_new,
            _ => self.shared.lock().answer.is_some(),
        }
    }
}

/// Task for the thread, with the slot for the answer, and the earlier reads that were not queried
/// yet.
struct SaveJob {
    task: SaveTask,
    shared: Arc<SaveQueueShared>,
    earlier_reads: Vec<Arc<SaveQueueShared>>,
    read_bytes_max: usize,
}

impl SaveJob {
    /// Returns the number of content bytes that were read earlier. The number is the same in every
    /// run, because requests are processed in order.
    fn bytes_read_before(&self) -> usize {
        self.earlier_reads.iter().map(|read| read.read_bytes.load(Ordering::Relaxed)).sum()
    }
}

struct SaveThread {
    jobs: Sender<SaveJob>,
    thread: JoinHandle<()>,
}

/// The worker thread, and the requests with answers that were not taken yet.
pub struct SaveQueue {
    generations: Arc<SaveGenerations>,
    worker: Option<SaveThread>,
    requests: BTreeMap<u64, SaveRequest>,
    last_request: u64,
    pub limits: ByteLimits,
}

impl SaveQueue {
    /// Creates a queue. The thread starts with the first request.
    pub fn new(generations: Arc<SaveGenerations>) -> SaveQueue {
        let (requests, limits) = (BTreeMap::new(), ByteLimits::DEFAULT);
        SaveQueue { generations, worker: None, requests, last_request: 0, limits }
    }

    /// Sends a task to the thread. Returns the number of the request, from 1.
    pub fn begin(&mut self, task: SaveTask, ready_frame: Option<u64>) -> Result<u64, String> {
        self.end_oldest()?;
        let (write_bytes, reads) = match &task {
            SaveTask::Write { content, .. } => (content.len(), false),
            SaveTask::Read { .. } => (0, true),
        };
        self.wait_for_bytes(write_bytes, ready_frame)?;
        let shared = Arc::new(SaveQueueShared::default());
        if self.worker.is_none() {
            let (jobs, receiver) = channel();
            let generations = self.generations.clone();
            let thread = panic::spawn("saves", move || work(&generations, &receiver));
            let thread = thread.map_err(|reason| format!("no thread can be made: {reason}"))?;
            self.worker = Some(SaveThread { jobs, thread });
        }
        let worker = self.worker.as_ref().expect("it was made just now");
        let earlier = self.requests.values().filter(|request| reads && request.reads);
        let earlier_reads = earlier.map(|request| request.shared.clone()).collect();
        let read_bytes_max = self.limits.read;
        let job = SaveJob { task, shared: shared.clone(), earlier_reads, read_bytes_max };
        worker.jobs.send(job).expect("the thread ends only with this queue");
        self.last_request += 1;
        self.requests
            .insert(self.last_request, SaveRequest { shared, ready_frame, write_bytes, reads });
        Ok(self.last_request)
    }

    fn end_oldest(&mut self) -> Result<(), String> {
        if self.requests.len() < REQUESTS_MAX {
            return Ok(());
        }
        // With a ready frame, the choice of the forgotten request must not depend on the disk.
        let done = |request: &SaveRequest| {
            request.ready_frame.is_some() || request.shared.lock().answer.is_some()
        };
        let oldest = self.requests.iter().find(|(_, request)| done(request)).map(|(id, _)| *id);
        let oldest = oldest.ok_or_else(|| {
            format!("{REQUESTS_MAX} reads and writes are under way already: wait for some")
        })?;
        let answer = self.requests.remove(&oldest).and_then(|one| one.shared.wait().answer.take());
        log_unread_failure(answer);
        Ok(())
    }

    /// Makes room for content that is to be written.
    fn wait_for_bytes(&self, bytes: usize, ready_frame: Option<u64>) -> Result<(), String> {
        let all: usize = self.requests.values().map(|request| request.write_bytes).sum();
        let exceeds_limit = |waiting: usize| bytes > 0 && waiting + bytes > self.limits.write;
        if !exceeds_limit(all) {
            return Ok(());
        }
        let unfinished = self.requests.values().filter(|it| !it.is_known_done(ready_frame));
        if exceeds_limit(unfinished.map(|request| request.write_bytes).sum()) {
            return Err(format!(
                "saves of {} MiB wait to be written already (WRITE_BYTES_MAX): wait for some",
                self.limits.write >> 20
            ));
        }
        // The disk may still be busy with requests that the game regards as done.
        for request in self.requests.values().filter(|it| it.is_known_done(ready_frame)) {
            drop(request.shared.wait());
        }
        Ok(())
    }

    /// Blocks until all requests are done.
    pub fn wait_for_all(&mut self) {
        for request in self.requests.values() {
            drop(request.shared.wait());
        }
    }

    /// Returns the progress of a request, or `None` if no request has that number.
    pub fn poll(&mut self, request: u64, frame: u64) -> Option<RequestProgress> {
        let request = self.requests.get(&request)?;
        let state = match request.ready_frame {
            Some(ready) if frame < ready => return Some(RequestProgress::Yes(0.0)),
            Some(_) => request.shared.wait(),
            None => request.shared.lock(),
        };
        Some(match &state.answer {
            None => RequestProgress::Yes(state.progress),
            Some(answer) => RequestProgress::Done(answer.is_ok()),
        })
    }

    /// Takes the answer of a finished request, and forgets the request.
    pub fn take(&mut self, request: u64) -> Option<SaveResult> {
        let answer = self.requests.get(&request)?.shared.lock().answer.take()?;
        self.requests.remove(&request);
        Some(answer)
    }
}

impl Drop for SaveQueue {
    /// Completes all requests before the game ends.
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            drop(worker.jobs);
            // Panics of the thread are caught inside.
            let _ = worker.thread.join();
        }
        for request in std::mem::take(&mut self.requests).into_values() {
            log_unread_failure(request.shared.lock().answer.take());
        }
    }
}

/// Logs the error of a request if its answer was never queried.
fn log_unread_failure(answer: Option<SaveResult>) {
    if let Some(Err(message)) = answer {
        log::write(log::LogLevel::Warning, &format!("nobody asked for the result: {message}"));
    }
}

fn work(generations: &SaveGenerations, jobs: &Receiver<SaveJob>) {
    while let Ok(job) = jobs.recv() {
        let shared = job.shared.clone();
        let answer = panic::contain(|| run_job(generations, job));
        let answer = answer.unwrap_or_else(|error| Err(error.message));
        shared.lock().answer = Some(answer);
        shared.done.notify_all();
    }
}

fn run_job(generations: &SaveGenerations, job: SaveJob) -> SaveResult {
    let bytes_read_before = job.bytes_read_before();
    let SaveJob { task, shared, read_bytes_max, .. } = job;
    // Progress stays below 1 until the disk confirms the end.
    let on_progress = |part: f64| shared.lock().progress = part * 0.99;
    match task {
        SaveTask::Write { slot, content, time, version } => {
            generations.write(&slot, &content, time, version, &on_progress).map(|()| None)
        }
        SaveTask::Read { slot, version, check } => {
            let loaded = generations.read(&slot, version, check, &on_progress)?;
            let bytes = loaded.content.len();
            if bytes_read_before + bytes > read_bytes_max {
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
