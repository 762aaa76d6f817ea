//! A run in several processes of this program: which gets which file, what they send, in the order
//! of the files. A process that ends too early fails its file, and another takes its place. The
//! other end is in worker.rs.

use super::file::{Tell, of_file};
use super::frames::{Piece, Splitter, marker};
use super::result::{Outcome, TestResult};
use super::retry::with_retries;
use super::worker::{self, Message, Start};
use super::{Options, Stop};
use crate::app::exit;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes read at once from a process.
const READ_BYTES: usize = 64 << 10;
/// Of what a process said before it died, so many lines are told.
const LAST_LINES: usize = 5;

/// What comes of a file, in its order.
pub enum News {
    /// What its tests printed, to standard output or standard error.
    Printed(Vec<u8>),
    Complained(Vec<u8>),
    Test(TestResult),
    Done(Result<Outcome, Stop>),
}

/// What all processes of a run share.
struct Crew<'a> {
    options: &'a Options,
    root: &'a Path,
    has_store: bool,
    files: &'a [String],
    next: AtomicUsize,
    stop: AtomicBool,
    /// The process of each job.
    running: Vec<Mutex<Option<Child>>>,
}

/// Runs the files in `jobs` processes. `each` hears the news of one file after the other, as if
/// they had run one by one, and says whether to go on.
pub fn run(
    (root, options, has_store): (&Path, &Options, bool),
    files: &[String],
    jobs: usize,
    mut each: impl FnMut(usize, News) -> Result<bool, Stop>,
) -> Result<(), Stop> {
    let running = (0..jobs).map(|_| Mutex::new(None)).collect();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let crew = Crew { options, root, has_store, files, next, stop, running };
    std::thread::scope(|scope| {
        let (outbox, inbox) = channel();
        for job in 0..jobs {
            let (crew, outbox) = (&crew, outbox.clone());
            scope.spawn(move || crew.work(job, &outbox));
        }
        drop(outbox);
        let result = in_order(&inbox, &mut each);
        crew.end();
        result
    })
}

/// Hands the news of the first file over as they come, and keeps those of later files until then.
fn in_order(
    inbox: &Receiver<(usize, News)>,
    each: &mut dyn FnMut(usize, News) -> Result<bool, Stop>,
) -> Result<(), Stop> {
    let (mut front, mut waiting) = (0, BTreeMap::<usize, Vec<News>>::new());
    for (index, news) in inbox {
        waiting.entry(index).or_default().push(news);
        while let Some(list) = waiting.remove(&front) {
            let mut done = false;
            for news in list {
                done |= matches!(news, News::Done(_));
                if !each(front, news)? {
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

/// A process's ends of its pipes.
struct Hand {
    stdin: ChildStdin,
    stdout: ChildStdout,
    splitter: Splitter,
    /// Its standard error: text, and `None` at the end of each file.
    complaints: Receiver<Option<Vec<u8>>>,
}

impl Crew<'_> {
    /// One job's thread.
    fn work(&self, job: usize, outbox: &Sender<(usize, News)>) {
        let mut hand = None;
        while !self.stop.load(SeqCst) {
            let index = self.next.fetch_add(1, SeqCst);
            let Some(file) = self.files.get(index) else { break };
            // Where nobody listens any more, the run has ended.
            let send = |news: News| drop(outbox.send((index, news)));
            let done =
                with_retries(self.options.retry, &mut |test| send(News::Test(test)), |tell| {
                    self.run_file(job, &mut hand, file, &send, tell)
                });
            send(News::Done(done));
        }
        // A process whose input ends, ends.
        drop(hand);
        if let Some(mut child) = lock(&self.running[job]).take() {
            let _ = child.wait();
        }
    }

    /// Ends every process at once.
    fn end(&self) {
        self.stop.store(true, SeqCst);
        for child in &self.running {
            if let Some(child) = &mut *lock(child) {
                // One that has ended needs no end.
                let _ = child.kill();
            }
        }
    }

    fn run_file(
        &self,
        job: usize,
        hand: &mut Option<Hand>,
        file: &str,
        send: &dyn Fn(News),
        tell: Tell,
    ) -> Result<Outcome, Stop> {
        let mut at_work = match hand.take() {
            Some(hand) => hand,
            None => self.start(job).map_err(|reason| Stop {
                code: exit::ENGINE,
                words: format!("a process for --jobs cannot be started: {reason}"),
            })?,
        };
        // One that has died says so by its silence.
        let _ = at_work.stdin.write_all(&worker::request(file));
        let outcome = at_work.listen(send, tell);
        if let Some(outcome) = outcome {
            at_work.complain(send);
            *hand = Some(at_work);
            return outcome;
        }
        drop(at_work.stdin);
        let status = lock(&self.running[job]).take().map(|mut child| child.wait());
        let status = match status {
            Some(Ok(status)) => status.to_string(),
            _ => "it is gone".to_string(),
        };
        let mut said = Vec::new();
        while let Ok(text) = at_work.complaints.recv() {
            said.extend(text.unwrap_or_default());
        }
        if !self.stop.load(SeqCst) {
            tell(TestResult::failed(of_file(file, death_words(&status, &said))));
        }
        Ok(Outcome::default())
    }

    fn start(&self, job: usize) -> std::io::Result<Hand> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("test")
            .arg(self.root)
            .arg("--worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let gone = || std::io::Error::other("it has no pipes");
        let mut stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        let stderr = child.stderr.take().ok_or_else(gone)?;
        let nonce = nonce(child.id());
        *lock(&self.running[job]) = Some(child);
        if self.stop.load(SeqCst) {
            self.end();
        }
        let start = Start { nonce, has_store: self.has_store };
        let _ = stdin.write_all(&start.to_bytes(self.options));
        let (outbox, complaints) = channel();
        std::thread::Builder::new()
            .name("complaints".into())
            .spawn(move || hear(stderr, Splitter::new(marker(nonce)), &outbox))?;
        Ok(Hand { stdin, stdout, splitter: Splitter::new(marker(nonce)), complaints })
    }
}

/// A number that no test knows.
fn nonce(process: u32) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(process)
}

/// Takes a process's standard error apart; without someone who listens, for nobody.
fn hear(mut stderr: impl Read, mut splitter: Splitter, outbox: &Sender<Option<Vec<u8>>>) {
    let mut bytes = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = stderr.read(&mut bytes) {
        for piece in splitter.push(&bytes[..count]) {
            let _ = outbox.send(match piece {
                Piece::Text(text) => Some(text),
                Piece::Frame(_) => None,
            });
        }
    }
    let _ = outbox.send(Some(splitter.finish()));
}

impl Hand {
    /// Hears what comes of a file; nothing where the process ended before it.
    fn listen(&mut self, send: &dyn Fn(News), tell: Tell) -> Option<Result<Outcome, Stop>> {
        let mut bytes = vec![0; READ_BYTES];
        let mut done = None;
        while done.is_none() {
            let count = self.stdout.read(&mut bytes).ok().filter(|count| *count > 0)?;
            for piece in self.splitter.push(&bytes[..count]) {
                let frame = match piece {
                    Piece::Text(text) => {
                        send(News::Printed(text));
                        continue;
                    }
                    Piece::Frame(frame) => frame,
                };
                match Message::from_bytes(&frame).ok()? {
                    Message::Test(test) => tell(test),
                    Message::Done(outcome) => done = Some(Ok(outcome)),
                    Message::Stop(stop) => done = Some(Err(stop)),
                }
            }
        }
        done
    }

    /// Passes on what the file had to say on standard error.
    fn complain(&mut self, send: &dyn Fn(News)) {
        while let Ok(Some(text)) = self.complaints.recv() {
            send(News::Complained(text));
        }
    }
}

fn death_words(status: &str, said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let lines: Vec<&str> = said.lines().collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    let last = last.iter().map(|line| format!("\n  {line}"));
    format!(
        "the process that ran this file ended before its tests did ({status}){}",
        last.collect::<String>()
    )
}
