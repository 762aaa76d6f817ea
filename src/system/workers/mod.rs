//! Workers: threads of their own for long jobs of a game, beside its frames and the tasks in them.
//! Messages both ways, progress, the end. Knows no scripts: messages and results are bytes, and
//! what runs on a thread is handed in from above.
//!
//! In lockstep (deterministic runs) a worker's time goes by turns, each some frames long: when a
//! turn is over, the game waits until the worker is at rest, takes what it sent and gives it what
//! was sent to it meanwhile. So a run is the same however fast the machine is.

mod link;
#[cfg(test)]
mod tests;

pub use link::{Controls, End, Inside};

use crate::foundation::memory::Owner;
use crate::foundation::{Error, Handle, Kind, Slots, fault, log};
use link::{Link, Load, Mail, Rest};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Workers that can be there at once, ended ones whose results nobody asked for included.
pub const WORKERS_MAX: usize = 16;
/// Messages that can wait to be received, each way.
pub const MESSAGES_MAX: usize = 4096;
/// Bytes that they can take.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;
/// Frames that a turn can take in lockstep.
pub const TURN_FRAMES_MAX: u64 = 3600;
/// A failure that nobody asked for after so many frames is told by the log.
const UNASKED_FRAMES_MAX: u64 = 60;
/// So long the end of the game waits for workers that were cancelled.
const PATIENCE: Duration = Duration::from_secs(1);
/// As the main thread's usually is: recursion goes as deep.
const STACK_BYTES: usize = 8 << 20;

/// The handle of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerId(pub Handle);

/// How a worker is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Running,
    Done,
    Failed,
}

impl Status {
    pub const fn name(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Done => "done",
            Status::Failed => "failed",
        }
    }
}

/// What to start.
pub struct Order {
    /// For people.
    pub name: String,
    /// The first message that it receives.
    pub data: Vec<u8>,
    /// How many frames a turn takes in lockstep, 1 to [`TURN_FRAMES_MAX`].
    pub turn_frames: u64,
}

enum Worker {
    Child(Box<Child>),
    /// Inside a worker: the game that started it.
    Parent(Inside),
}

/// A worker as the game sees it.
struct Child {
    name: String,
    link: Arc<Link>,
    turn_frames: u64,
    /// In lockstep: the frame that begins with the end of the running turn, and what was sent and
    /// received, as far as the game may know of it.
    due: u64,
    outgoing: Mail,
    arrived: Mail,
    unread: Load,
    progress: f64,
    end: Option<End>,
    /// When the game could know of the failure.
    failed_in: Option<u64>,
}

/// All workers of a game.
pub struct Workers {
    slots: Slots<Worker>,
    lockstep: bool,
    frame: u64,
    started: u64,
    parent: Option<WorkerId>,
    asked_to_end: fn() -> bool,
    /// What the worker that this is came to.
    result: Option<Vec<u8>>,
}

impl Workers {
    /// `asked_to_end`: whether the process should end, so that nothing is waited for.
    pub fn new(lockstep: bool, asked_to_end: fn() -> bool) -> Workers {
        let slots = Slots::new(Kind::Worker, WORKERS_MAX);
        Workers { slots, lockstep, frame: 0, started: 0, parent: None, asked_to_end, result: None }
    }

    /// From now on these are the workers of a worker: there are none, but for its parent.
    pub fn enter(&mut self, inside: Inside) {
        self.parent = self.slots.add(Worker::Parent(inside)).map(WorkerId);
    }

    pub fn slots(&self) -> &Slots<impl Sized> {
        &self.slots
    }

    /// The game, inside a worker.
    pub fn parent(&self) -> Option<WorkerId> {
        self.parent
    }

    /// How many were ever started.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// Starts a thread that runs `run`.
    ///
    /// # Errors
    /// If there are too many, or the system has no thread left.
    pub fn start(
        &mut self,
        order: Order,
        run: impl FnOnce(Inside) -> End + Send + 'static,
    ) -> Result<WorkerId, Error> {
        if self.slots.len() >= WORKERS_MAX {
            return Err(crate::error!(
                "{WORKERS_MAX} workers are there already (WORKERS_MAX): ask for the results of \
                 those that have ended, cancel some, or send more work to one"
            ));
        }
        let link = Link::new(self.lockstep);
        // There is room for one message.
        let _ = link.lock().inbox.add(order.data, Load::default());
        let inside = Inside { link: link.clone() };
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = fault::spawn_with(builder, &format!("worker {}", order.name), move || {
            Owner::of_thread("workers");
            let link = inside.link.clone();
            let end = fault::contain(|| run(inside));
            link.finish(end.unwrap_or_else(|error| End::Failed(error.to_string())));
        });
        thread.map_err(|reason| crate::error!("no thread can be made: {reason}"))?;
        self.started += 1;
        let child = Child {
            name: order.name,
            link,
            turn_frames: order.turn_frames,
            due: self.frame + order.turn_frames,
            outgoing: Mail::default(),
            arrived: Mail::default(),
            unread: Load::default(),
            progress: 0.0,
            end: None,
            failed_in: None,
        };
        let handle = self.slots.add(Worker::Child(Box::new(child)));
        Ok(WorkerId(handle.expect("there is room")))
    }

    /// A frame begins: in lockstep, turns that are over end now. Failures that nobody asks for are
    /// told.
    pub fn begin_frame(&mut self, frame: u64) {
        self.frame = frame;
        if self.slots.is_empty() {
            return;
        }
        let handles: Vec<Handle> = self.slots.iter().map(|(handle, _)| handle).collect();
        for handle in handles {
            let Some(Worker::Child(child)) = self.slots.get_mut(handle) else { continue };
            if child.link.lockstep && child.end.is_none() && frame >= child.due {
                child.turn(frame, self.asked_to_end);
            }
            child.tell_failure(frame);
        }
    }

    fn worker(&mut self, id: WorkerId) -> &mut Worker {
        self.slots.get_mut(id.0).expect("the handle was checked where it came in")
    }

    /// A worker that was started here.
    fn child(&mut self, id: WorkerId) -> Result<&mut Child, String> {
        match self.worker(id) {
            Worker::Child(child) => Ok(child),
            Worker::Parent(_) => Err("this is the game that started this worker: only messages \
                                      can be exchanged with it"
                .to_string()),
        }
    }

    /// Sends a message. The words say why there is no room.
    pub fn send(&mut self, id: WorkerId, message: Vec<u8>) -> Result<(), String> {
        match self.worker(id) {
            Worker::Parent(inside) => inside.send(message),
            Worker::Child(child) => child.send(message),
        }
    }

    /// The next message that has arrived. Inside a worker, in lockstep: the turn ends where there
    /// is none.
    pub fn receive(&mut self, id: WorkerId) -> Result<Option<Vec<u8>>, String> {
        match self.worker(id) {
            Worker::Parent(inside) => inside.receive(),
            Worker::Child(child) if child.link.lockstep => Ok(child.arrived.take()),
            Worker::Child(child) => Ok(child.link.lock().outbox.take()),
        }
    }

    /// The next message, waited for. `None` where there will be none: the worker has ended, or
    /// waits for a message itself.
    pub fn wait(&mut self, id: WorkerId) -> Result<Option<Vec<u8>>, String> {
        let (frame, asked_to_end) = (self.frame, self.asked_to_end);
        match self.worker(id) {
            Worker::Parent(inside) => inside.wait(),
            Worker::Child(child) if child.link.lockstep => {
                Ok(child.wait_by_turns(frame, asked_to_end))
            }
            Worker::Child(child) => {
                let something = |state: &link::State| {
                    let waits = state.rest == Rest::Message && state.inbox.is_empty();
                    !state.outbox.is_empty() || state.end.is_some() || waits
                };
                Ok(child.link.wait_until(something, asked_to_end).outbox.take())
            }
        }
    }

    /// How a worker is.
    pub fn status(&mut self, id: WorkerId) -> Result<Status, String> {
        let child = self.child(id)?;
        child.look();
        Ok(match child.end {
            None => Status::Running,
            Some(End::Done(_)) => Status::Done,
            Some(End::Failed(_)) => Status::Failed,
        })
    }

    /// How far a worker said it is, from 0 to 1; 1 when it is done.
    pub fn progress(&mut self, id: WorkerId) -> Result<f64, String> {
        let child = self.child(id)?;
        child.look();
        Ok(if let Some(End::Done(_)) = child.end { 1.0 } else { child.progress })
    }

    /// What a worker that has ended came to; its handle is stale then. `None`: it runs.
    pub fn result(&mut self, id: WorkerId, place: &str) -> Result<Option<End>, String> {
        let frame = self.frame;
        let child = self.child(id)?;
        child.look();
        let Some(end) = child.end.take() else { return Ok(None) };
        let name = child.name.clone();
        self.slots.remove(id.0, &name, frame, place);
        Ok(Some(end))
    }

    /// Stops a worker, and forgets what it came to; its handle is stale then.
    pub fn cancel(&mut self, id: WorkerId, place: &str) -> Result<(), String> {
        let frame = self.frame;
        let child = self.child(id)?;
        child.link.cancel();
        let name = child.name.clone();
        self.slots.remove(id.0, &name, frame, place);
        Ok(())
    }

    /// Inside a worker: how far it is. In the game itself there is nobody to tell.
    pub fn set_progress(&mut self, progress: f64) {
        if let Some(parent) = self.parent
            && let Worker::Parent(inside) = self.worker(parent)
        {
            inside.set_progress(progress);
        }
    }

    /// Inside a worker: what it came to.
    pub fn set_result(&mut self, result: Vec<u8>) {
        self.result = Some(result);
    }

    pub fn take_result(&mut self) -> Option<Vec<u8>> {
        self.result.take()
    }
}

impl Child {
    fn send(&mut self, message: Vec<u8>) -> Result<(), String> {
        if self.link.lockstep {
            return self.outgoing.add(message, self.unread);
        }
        self.link.lock().inbox.add(message, Load::default())?;
        self.link.wake();
        Ok(())
    }

    /// Takes in what the thread says of itself, where it may be known at any time.
    fn look(&mut self) {
        if self.link.lockstep || self.end.is_some() {
            return;
        }
        let state = self.link.lock();
        self.progress = state.progress;
        self.end = state.end.clone();
    }

    /// Ends a turn, and begins the next. False: the process is to end.
    fn turn(&mut self, frame: u64, asked_to_end: fn() -> bool) -> bool {
        let over = |state: &link::State| state.rest != Rest::No || state.end.is_some();
        let mut state = self.link.wait_until(over, asked_to_end);
        if !over(&state) {
            return false;
        }
        self.arrived.append(&mut state.outbox);
        state.unread = self.arrived.load();
        self.progress = state.progress;
        self.end = state.end.clone();
        state.inbox.append(&mut self.outgoing);
        self.unread = state.inbox.load();
        if state.rest == Rest::Turn || !state.inbox.is_empty() {
            state.rest = Rest::No;
            self.link.wake();
        }
        self.due = frame + self.turn_frames;
        true
    }

    fn wait_by_turns(&mut self, frame: u64, asked_to_end: fn() -> bool) -> Option<Vec<u8>> {
        loop {
            if let Some(message) = self.arrived.take() {
                return Some(message);
            }
            if self.end.is_some() || !self.turn(frame, asked_to_end) {
                return None;
            }
            let waits = self.link.lock().rest == Rest::Message;
            if waits && self.arrived.is_empty() {
                return None;
            }
        }
    }

    fn tell_failure(&mut self, frame: u64) {
        self.look();
        let Some(End::Failed(words)) = &self.end else { return };
        let since = *self.failed_in.get_or_insert(frame);
        if frame == since + UNASKED_FRAMES_MAX {
            log::warning(&format!(
                "worker '{}' failed, and nobody asked for its result: {words}",
                self.name
            ));
        }
    }
}

impl Drop for Workers {
    /// Workers end with their game.
    fn drop(&mut self) {
        let children = || {
            self.slots.iter().filter_map(|(_, worker)| match worker {
                Worker::Child(child) => Some(child),
                Worker::Parent(_) => None,
            })
        };
        children().for_each(|child| child.link.cancel());
        let began = Instant::now();
        for child in children() {
            drop(child.link.wait_until(|state| state.end.is_some(), || began.elapsed() > PATIENCE));
        }
    }
}
