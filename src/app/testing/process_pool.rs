//! A pool of worker processes for a test run: assigns files to processes and passes their results
//! on in the order of the files. If a process dies, its file fails and a new process replaces it.
//! The worker's side is in worker_process.rs.

use super::result::{FileOutcome, TestResult};
use super::retry::with_retries;
use super::stdio_framing::{FrameSplitter, StreamPart, marker};
use super::test_file::{OnTestResult, file_failure};
use super::worker_process::{self, ProcessMessage, ProcessStart};
use super::{RunAborted, TestOptions};
use crate::exit;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Size of the buffer for a process's output, in bytes.
const READ_BYTES: usize = 64 << 10;
/// Number of last lines of a dead process's standard error that are reported.
const LAST_LINES: usize = 5;

/// An event of a running test file, in order.
pub enum FileEvent {
    /// Output of the file's tests to standard output.
    Output(Vec<u8>),
    /// Output of the file's tests to standard error.
    ErrorOutput(Vec<u8>),
    Test(TestResult),
    Done(Result<FileOutcome, RunAborted>),
}

/// State shared by all worker processes of a run.
struct ProcessPool<'a> {
    options: &'a TestOptions,
    root: &'a Path,
    has_store: bool,
    files: &'a [String],
    next: AtomicUsize,
    stop: AtomicBool,
    /// The process of each job.
    running: Vec<Mutex<Option<Child>>>,
}

/// Runs the files in `jobs` processes. Passes the events to `each` in the order of the files, as if
/// they had run one after the other. `each` returns true to continue.
pub fn run(
    (root, options, has_store): (&Path, &TestOptions, bool),
    files: &[String],
    jobs: usize,
    mut each: impl FnMut(usize, FileEvent) -> Result<bool, RunAborted>,
) -> Result<(), RunAborted> {
    let running = (0..jobs).map(|_| Mutex::new(None)).collect();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let pool = ProcessPool { options, root, has_store, files, next, stop, running };
    std::thread::scope(|scope| {
        let (outbox, inbox) = channel();
        for job in 0..jobs {
            let (pool, outbox) = (&pool, outbox.clone());
            scope.spawn(move || pool.work(job, &outbox));
        }
        drop(outbox);
        let result = pass_in_order(&inbox, &mut each);
        pool.end();
        result
    })
}

/// Passes events of the current file on at once, and queues those of later files.
fn pass_in_order(
    inbox: &Receiver<(usize, FileEvent)>,
    each: &mut dyn FnMut(usize, FileEvent) -> Result<bool, RunAborted>,
) -> Result<(), RunAborted> {
    let (mut front, mut waiting) = (0, BTreeMap::<usize, Vec<FileEvent>>::new());
    for (index, event) in inbox {
        waiting.entry(index).or_default().push(event);
        while let Some(list) = waiting.remove(&front) {
            let mut done = false;
            for event in list {
                done |= matches!(event, FileEvent::Done(_));
                if !each(front, event)? {
                    return Ok(());
                }
            }
            if !done {
                break;
            }
            front += 1;
        }
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pipes to a worker process.
struct WorkerProcess {
    stdin: ChildStdin,
    stdout: ChildStdout,
    splitter: FrameSplitter,
    /// Standard error of the process: text, and `None` at the end of each file.
    stderr_parts: Receiver<Option<Vec<u8>>>,
}

impl ProcessPool<'_> {
    /// Runs on one job's thread: takes files until none is left.
    fn work(&self, job: usize, outbox: &Sender<(usize, FileEvent)>) {
        let mut idle_worker = None;
        while !self.stop.load(SeqCst) {
            let index = self.next.fetch_add(1, SeqCst);
            let Some(file) = self.files.get(index) else { break };
            // If the receiver is gone, the run has ended.
            let send = |event: FileEvent| drop(outbox.send((index, event)));
            let done = with_retries(
                self.options.retry,
                &mut |test| send(FileEvent::Test(test)),
                |on_test| self.run_file(job, &mut idle_worker, file, &send, on_test),
            );
            send(FileEvent::Done(done));
        }
        // Closing a process's input ends the process.
        drop(idle_worker);
        if let Some(mut child) = lock(&self.running[job]).take() {
            let _ = child.wait();
        }
    }

    /// Kills all processes.
    fn end(&self) {
        self.stop.store(true, SeqCst);
        for child in &self.running {
            if let Some(child) = &mut *lock(child) {
                // An error means that the process has already ended.
                let _ = child.kill();
            }
        }
    }

    fn run_file(
        &self,
        job: usize,
        idle_worker: &mut Option<WorkerProcess>,
        file: &str,
        send: &dyn Fn(FileEvent),
        on_test: OnTestResult,
    ) -> Result<FileOutcome, RunAborted> {
        let mut worker = match idle_worker.take() {
            Some(idle_worker) => idle_worker,
            None => self.start(job).map_err(|reason| RunAborted {
                code: exit::ENGINE,
                message: format!("a process for --jobs cannot be started: {reason}"),
            })?,
        };
        // If the process is dead, reading from it reports that.
        let _ = worker.stdin.write_all(&worker_process::request(file));
        let outcome = worker.listen(send, on_test);
        if let Some(outcome) = outcome {
            worker.forward_error_output(send);
            *idle_worker = Some(worker);
            return outcome;
        }
        drop(worker.stdin);
        let status = lock(&self.running[job]).take().map(|mut child| child.wait());
        let status = match status {
            Some(Ok(status)) => status.to_string(),
            _ => "it is gone".to_string(),
        };
        let mut stderr_text = Vec::new();
        while let Ok(text) = worker.stderr_parts.recv() {
            stderr_text.extend(text.unwrap_or_default());
        }
        if !self.stop.load(SeqCst) {
            on_test(TestResult::failed(file_failure(file, exit_message(&status, &stderr_text))));
        }
        Ok(FileOutcome::default())
    }

    fn start(&self, job: usize) -> std::io::Result<WorkerProcess> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("test")
            .arg(self.root)
            .arg("--worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let no_pipes = || std::io::Error::other("it has no pipes");
        let mut stdin = child.stdin.take().ok_or_else(no_pipes)?;
        let stdout = child.stdout.take().ok_or_else(no_pipes)?;
        let stderr = child.stderr.take().ok_or_else(no_pipes)?;
        let nonce = nonce(child.id());
        *lock(&self.running[job]) = Some(child);
        if self.stop.load(SeqCst) {
            self.end();
        }
        let start = ProcessStart { nonce, has_store: self.has_store };
        let _ = stdin.write_all(&start.to_bytes(self.options));
        let (outbox, stderr_parts) = channel();
        std::thread::Builder::new()
            .name("complaints".into())
            .spawn(move || forward_stderr(stderr, FrameSplitter::new(marker(nonce)), &outbox))?;
        Ok(WorkerProcess {
            stdin,
            stdout,
            splitter: FrameSplitter::new(marker(nonce)),
            stderr_parts,
        })
    }
}

/// Returns a number that tests cannot know.
fn nonce(process: u32) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(process)
}

/// Splits a process's standard error into text and frames. Reads to the end, even if no receiver
/// exists.
fn forward_stderr(
    mut stderr: impl Read,
    mut splitter: FrameSplitter,
    outbox: &Sender<Option<Vec<u8>>>,
) {
    let mut bytes = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = stderr.read(&mut bytes) {
        for piece in splitter.push(&bytes[..count]) {
            let _ = outbox.send(match piece {
                StreamPart::Text(text) => Some(text),
                StreamPart::Frame(_) => None,
            });
        }
    }
    let _ = outbox.send(Some(splitter.finish()));
}

impl WorkerProcess {
    /// Receives the results of a file. Returns `None` if the process ended before the file did.
    fn listen(
        &mut self,
        send: &dyn Fn(FileEvent),
        on_test: OnTestResult,
    ) -> Option<Result<FileOutcome, RunAborted>> {
        let mut bytes = vec![0; READ_BYTES];
        let mut done = None;
        while done.is_none() {
            let count = self.stdout.read(&mut bytes).ok().filter(|count| *count > 0)?;
            for piece in self.splitter.push(&bytes[..count]) {
                let frame = match piece {
                    StreamPart::Text(text) => {
                        send(FileEvent::Output(text));
                        continue;
                    }
                    StreamPart::Frame(frame) => frame,
                };
                match ProcessMessage::from_bytes(&frame).ok()? {
                    ProcessMessage::Test(test) => on_test(test),
                    ProcessMessage::Done(outcome) => done = Some(Ok(outcome)),
                    ProcessMessage::Stop(stop) => done = Some(Err(stop)),
                }
            }
        }
        done
    }

    /// Passes on the file's output to standard error.
    fn forward_error_output(&mut self, send: &dyn Fn(FileEvent)) {
        while let Ok(Some(text)) = self.stderr_parts.recv() {
            send(FileEvent::ErrorOutput(text));
        }
    }
}

fn exit_message(status: &str, stderr_text: &[u8]) -> String {
    let stderr_text = String::from_utf8_lossy(stderr_text);
    let lines: Vec<&str> = stderr_text.lines().collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    let last = last.iter().map(|line| format!("\n  {line}"));
    format!(
        "the process that ran this file ended before its tests did ({status}){}",
        last.collect::<String>()
    )
}
