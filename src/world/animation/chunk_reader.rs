//! The thread that reads the chunks of streamed clips: the most urgent one first.

use super::clip_stream::ClipStream;
use engine_animation::Clip;
use engine_foundation::memory::OwnerScope;
use engine_foundation::{Error, error, log, panic};
use std::cmp::Reverse;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;

/// A chunk to read.
#[derive(Debug)]
pub struct ChunkJob {
    pub stream: Weak<ClipStream>,
    pub chunk: usize,
    /// Bytes of memory that it is expected to take.
    pub bytes: usize,
}

/// A chunk that was read.
pub struct ChunkResult {
    pub job: ChunkJob,
    /// `None` if the clip was replaced before.
    pub read: Option<Result<Clip, Error>>,
}

/// The chunks that wait for the thread.
#[derive(Default)]
pub struct QueuedJobs {
    pub jobs: Vec<ChunkJob>,
    has_ended: bool,
}

impl QueuedJobs {
    /// Takes the most urgent job: of a current pose, then of the newest use, then the first one.
    pub fn take(&mut self) -> Option<ChunkJob> {
        let urgency = |job: &ChunkJob| job.stream.upgrade().map(|it| it.urgency(job.chunk));
        let jobs = self.jobs.iter().enumerate();
        let (index, _) = jobs.max_by_key(|(index, job)| (urgency(job), Reverse(*index)))?;
        Some(self.jobs.remove(index))
    }

    /// Removes the jobs whose chunks were last needed before an update, and those of clips that
    /// were replaced.
    pub fn remove_old(&mut self, update: u64) -> Vec<ChunkJob> {
        let is_old = |job: &mut ChunkJob| {
            job.stream.upgrade().is_none_or(|stream| stream.last_use(job.chunk) < update)
        };
        self.jobs.extract_if(.., is_old).collect()
    }
}

/// The queue of the thread.
#[derive(Default)]
struct Queue {
    jobs: Mutex<QueuedJobs>,
    changed: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, QueuedJobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a job. Returns `None` at the end of the thread.
    fn next(&self) -> Option<ChunkJob> {
        let mut queued = self.lock();
        loop {
            if queued.has_ended {
                return None;
            }
            if let Some(job) = queued.take() {
                return Some(job);
            }
            queued = self.changed.wait(queued).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads chunks until the end of the thread.
    fn work(&self, results: &Sender<ChunkResult>) {
        while let Some(job) = self.next() {
            let stream = job.stream.upgrade();
            let read = stream.map(|it| panic::contain(|| it.read(job.chunk)).flatten());
            // Nobody takes results at the end of the thread.
            let _ = results.send(ChunkResult { job, read });
        }
    }
}

/// The thread that reads chunks. Dropping this value ends it.
pub struct ChunkReader {
    queue: Arc<Queue>,
    results: Mutex<Receiver<ChunkResult>>,
    thread: Option<JoinHandle<()>>,
}

impl ChunkReader {
    /// Starts the thread.
    ///
    /// # Errors
    /// Fails if the system cannot start another thread.
    pub fn start() -> Result<ChunkReader, Error> {
        let queue = Arc::new(Queue::default());
        let (sender, results) = channel();
        let shared = queue.clone();
        let work = move || {
            OwnerScope::of_thread("animation");
            shared.work(&sender);
        };
        let thread = panic::spawn("animation chunks", work)
            .map_err(|reason| error!("no thread could be started: {reason}"))?;
        Ok(ChunkReader { queue, results: Mutex::new(results), thread: Some(thread) })
    }

    /// Lets the thread read a chunk.
    pub fn add(&self, job: ChunkJob) {
        self.queue.lock().jobs.push(job);
        self.queue.changed.notify_one();
    }

    /// Removes jobs as [`QueuedJobs::remove_old`] does.
    pub fn remove_old(&self, update: u64) -> Vec<ChunkJob> {
        self.queue.lock().remove_old(update)
    }

    /// Returns the chunks that were read since the last call.
    pub fn take_results(&self) -> Vec<ChunkResult> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner).try_iter().collect()
    }

    /// Waits for a chunk.
    #[cfg(test)]
    pub fn wait(&self) -> ChunkResult {
        let results = self.results.lock().unwrap();
        results.recv_timeout(std::time::Duration::from_secs(60)).expect("the thread reads")
    }
}

impl Drop for ChunkReader {
    fn drop(&mut self) {
        self.queue.lock().has_ended = true;
        self.queue.changed.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::warning("the thread that reads animations failed");
        }
    }
}
