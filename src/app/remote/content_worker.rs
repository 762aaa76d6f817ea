//! The thread that answers questions of tools about the files of the game's folder. Reading a large
//! folder takes longer than a frame, so the game's thread only queues the questions.

use super::versions::FolderMark;
use super::{IncomingCall, PendingReply, Refusal};
use crate::content;
use engine_content::references::{ContentGraph, ReferenceUse, Target};
use engine_foundation::memory::OwnerScope;
use engine_foundation::panic;
use engine_foundation::sjson::SjsonTree;
use engine_platform as platform;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Maximum number of questions that wait.
const QUESTIONS_MAX: usize = 64;
/// A graph that was read this long ago is read again for the next question.
const GRAPH_AGE: Duration = Duration::from_secs(2);
/// A graph is kept for this many times the duration of reading it, so that a large folder is not
/// read all the time.
const AGE_FACTOR: u32 = 4;
/// A graph that nobody asks for is dropped after this time.
const IDLE: Duration = Duration::from_secs(30);

type Work = Box<dyn FnOnce(&mut ContentFolder) -> Result<Option<SjsonTree>, Refusal> + Send>;

/// The queue of the thread, which starts with the first question.
#[derive(Default)]
pub struct ContentWorker {
    sender: Option<Sender<ContentQuestion>>,
    waiting: Arc<AtomicUsize>,
}

/// A question, and the client that waits for its answer.
struct ContentQuestion {
    reply: PendingReply,
    work: Work,
}

/// The game's folder, as the thread knows it.
pub struct ContentFolder {
    pub folder: PathBuf,
    graph: Option<KnownGraph>,
    pub mark: Option<FolderMark>,
}

/// The graph of the folder, and the answers that need a look at all of it.
pub struct KnownGraph {
    pub graph: ContentGraph,
    pub unused: BTreeSet<Target>,
    pub cycles: Vec<Vec<Target>>,
    /// Index of the cycle of each target that is part of one.
    pub cycle_of: HashMap<Target, usize>,
    pub missing: Vec<ReferenceUse>,
    /// Number of missing names in the files of each target.
    pub missing_in: HashMap<Target, usize>,
    read_at: Instant,
    read_duration: Duration,
}

/// Queues a question. The answer follows later.
pub fn ask(
    call: &mut IncomingCall,
    work: impl FnOnce(&mut ContentFolder) -> Result<SjsonTree, Refusal> + Send + 'static,
) -> Result<Option<SjsonTree>, Refusal> {
    ask_later(call, |folder| work(folder).map(Some))
}

/// Queues a question whose answer can need somebody else, too: then the work returns `None`.
pub fn ask_later(
    call: &mut IncomingCall,
    work: impl FnOnce(&mut ContentFolder) -> Result<Option<SjsonTree>, Refusal> + Send + 'static,
) -> Result<Option<SjsonTree>, Refusal> {
    if call.app.game_folder().is_none() {
        return Err(Refusal::of("a bundle has no sources"));
    }
    let folder = call.state.folder.clone();
    let question = ContentQuestion { reply: call.reply.clone(), work: Box::new(work) };
    call.state.content.send(folder, question)?;
    Ok(None)
}

impl ContentWorker {
    fn send(&mut self, folder: PathBuf, question: ContentQuestion) -> Result<(), Refusal> {
        if self.waiting.load(Ordering::Acquire) >= QUESTIONS_MAX {
            let message = format!("{QUESTIONS_MAX} questions already wait (QUESTIONS_MAX)");
            return Err(Refusal::of(message));
        }
        if self.sender.is_none() {
            let (sender, questions) = channel();
            let waiting = self.waiting.clone();
            panic::spawn("tools-content", move || answer_all(folder, &questions, &waiting))
                .map_err(|reason| Refusal::of(format!("no thread is left: {reason}")))?;
            self.sender = Some(sender);
        }
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let sent = self.sender.as_ref().map(|sender| sender.send(question));
        if let Some(Err(_)) = sent {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            self.sender = None;
            return Err(Refusal::of("the thread that reads the folder has ended: ask again"));
        }
        Ok(())
    }
}

/// Answers questions until the run ends.
fn answer_all(folder: PathBuf, questions: &Receiver<ContentQuestion>, waiting: &AtomicUsize) {
    OwnerScope::of_thread("tools");
    platform::lower_thread_priority();
    let mut folder = ContentFolder { folder, graph: None, mark: None };
    loop {
        let question = match questions.recv_timeout(IDLE) {
            Ok(question) => question,
            Err(RecvTimeoutError::Timeout) => {
                folder.graph = None;
                match questions.recv() {
                    Ok(question) => question,
                    Err(_) => return,
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let ContentQuestion { reply, work } = question;
        let outcome = panic::contain(|| work(&mut folder));
        waiting.fetch_sub(1, Ordering::AcqRel);
        match outcome {
            Ok(Ok(Some(entries))) => reply.answer(entries),
            Ok(Ok(None)) => {}
            Ok(Err(refusal)) => reply.refuse(refusal),
            Err(error) => reply.refuse(Refusal::of(error.message)),
        }
    }
}

impl ContentFolder {
    /// Returns the graph of the folder, which is read again if it is old.
    pub fn graph(&mut self) -> Result<&KnownGraph, Refusal> {
        if self.graph.as_ref().is_none_or(KnownGraph::is_old) {
            // Two graphs of a large game at once would need twice the memory.
            self.graph = None;
            self.graph = Some(KnownGraph::read(&self.folder)?);
        }
        self.graph.as_ref().ok_or_else(|| Refusal::of("the folder cannot be read"))
    }
}

impl KnownGraph {
    fn is_old(&self) -> bool {
        self.read_at.elapsed() > GRAPH_AGE.max(self.read_duration * AGE_FACTOR)
    }

    fn read(folder: &std::path::Path) -> Result<KnownGraph, Refusal> {
        let start = Instant::now();
        let refuse = |error: engine_foundation::Error| Refusal::of(error.to_string());
        let graph = content::graph(folder).map_err(refuse)?;
        let unused = content::unused(&graph).map_err(refuse)?.into_iter().cloned().collect();
        let cycles: Vec<Vec<Target>> =
            graph.cycles().into_iter().map(|ring| ring.into_iter().cloned().collect()).collect();
        let parts = cycles.iter().enumerate();
        let cycle_of = parts
            .flat_map(|(at, ring)| ring.iter().map(move |target| (target.clone(), at)))
            .collect();
        let missing = content::missing_uses(&graph);
        let mut missing_in: HashMap<Target, usize> = HashMap::new();
        for at in &missing {
            if let Some(target) = graph.target_of(&graph.files[at.file].path) {
                *missing_in.entry(target).or_default() += 1;
            }
        }
        let (read_at, read_duration) = (Instant::now(), start.elapsed());
        Ok(KnownGraph {
            graph,
            unused,
            cycles,
            cycle_of,
            missing,
            missing_in,
            read_at,
            read_duration,
        })
    }
}
