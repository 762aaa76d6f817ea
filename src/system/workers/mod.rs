//! Workers: threads for long jobs of a game, which run in parallel to its frames and their tasks.
//! Workers exchange messages with the game, report progress and return a result. This module knows
//! no scripts: messages and results are bytes, and the caller passes in the function that runs on a
//! thread.
//!
//! In lockstep (deterministic runs) a worker's time is divided into turns of a fixed number of
//! frames. At the end of a turn the game waits until the worker is at rest. Then it receives the
//! worker's messages and delivers the messages that were sent to the worker meanwhile. A run is
//! therefore the same on every machine, however fast the machine is.

mod channel;
#[cfg(test)]
mod tests;

pub use channel::{ThreadControls, WorkerEnd, WorkerEndpoint};

use channel::{MessageQueue, QueueLoad, WorkerActivity, WorkerChannel};
use engine_foundation::memory::OwnerScope;
use engine_foundation::{Error, Handle, HandleKind, Slots, log, panic};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most workers at once, including ended workers whose results were not collected.
pub const WORKERS_MAX: usize = 16;
/// The most messages that wait to be received, in each direction.
pub const MESSAGES_MAX: usize = 4096;
/// The most bytes of the messages that wait to be received, in each direction.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;
/// The most frames of a turn in lockstep.
pub const TURN_FRAMES_MAX: u64 = 3600;
/// A failure whose result was not collected within this number of frames is logged.
const UNCOLLECTED_FRAMES_MAX: u64 = 60;
/// The time that the end of the game waits for cancelled workers.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);
/// Stack size of a worker thread. It equals the usual size of the main thread's stack, so that
/// recursion can be equally deep.
const STACK_BYTES: usize = 8 << 20;

/// The handle of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkerId(pub Handle);

/// The status of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkerStatus {
    Running,
    Done,
    Failed,
}

impl WorkerStatus {
    pub const fn name(self) -> &'static str {
        match self {
            WorkerStatus::Running => "running",
            WorkerStatus::Done => "done",
            WorkerStatus::Failed => "failed",
        }
    }
}

/// Description of a worker to start.
pub struct WorkerStart {
    /// The worker's name, for logs and messages.
    pub name: String,
    /// The first message that the worker receives.
    pub data: Vec<u8>,
    /// Number of frames of a turn in lockstep, from 1 to [`TURN_FRAMES_MAX`].
    pub turn_frames: u64,
}

enum Worker {
    Child(Box<WorkerHandle>),
    /// Inside a worker: the connection to the game that started it.
    Parent(WorkerEndpoint),
}

/// The game's side of a worker.
struct WorkerHandle {
    name: String,
    link: Arc<WorkerChannel>,
    turn_frames: u64,
    /// In lockstep: the frame at whose start the current turn ends. The following fields hold the
    /// messages and the state that the game can see in lockstep.
    turn_end_frame: u64,
    outgoing: MessageQueue,
    arrived: MessageQueue,
    unread: QueueLoad,
    progress: f64,
    end: Option<WorkerEnd>,
    /// The first frame in which the game could see the failure.
    failed_in: Option<u64>,
}

/// All workers of a game.
pub struct Workers {
    slots: Slots<Worker>,
    lockstep: bool,
    frame: u64,
    started: u64,
    parent: Option<WorkerId>,
    end_requested: fn() -> bool,
    /// Inside a worker: the result of this worker.
    result: Option<Vec<u8>>,
    /// An object that the caller shares with the code on the threads.
    pub companion: Option<Arc<dyn Any + Send + Sync>>,
}

impl Workers {
    /// Creates an empty set of workers. `end_requested` returns true if the process should end, so
    /// that nothing waits any longer.
    pub fn new(lockstep: bool, end_requested: fn() -> bool) -> Workers {
        let slots = Slots::new(HandleKind::Worker, WORKERS_MAX);
        Workers {
            slots,
            lockstep,
            frame: 0,
            started: 0,
            parent: None,
            end_requested,
            result: None,
            companion: None,
        }
    }

    /// Turns this set into that of a worker: it contains only the connection to its parent.
    pub fn enter(&mut self, inside: WorkerEndpoint) {
        self.parent = self.slots.add(Worker::Parent(inside)).map(WorkerId);
    }

    pub fn slots(&self) -> &Slots<impl Sized> {
        &self.slots
    }

    /// Returns the parent game, if this is inside a worker.
    pub fn parent(&self) -> Option<WorkerId> {
        self.parent
    }

    /// Returns the number of workers that were ever started.
    pub fn started(&self) -> u64 {
        self.started
    }

    /// Starts a thread that runs `run`.
    ///
    /// # Errors
    /// Returns an error if there are too many workers, or if the operating system cannot create a
    /// thread.
    pub fn start(
        &mut self,
        order: WorkerStart,
        run: impl FnOnce(WorkerEndpoint) -> WorkerEnd + Send + 'static,
    ) -> Result<WorkerId, Error> {
        if self.slots.len() >= WORKERS_MAX {
            return Err(engine_foundation::error!(
                "{WORKERS_MAX} workers already exist (WORKERS_MAX): read the results of those that \
                 have ended, cancel some, or send more work to one"
            ));
        }
        let link = WorkerChannel::new(self.lockstep);
        // There is always room for one message.
        let _ = link.lock().inbox.add(order.data, QueueLoad::default());
        let inside = WorkerEndpoint { link: link.clone() };
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = panic::spawn_with(builder, &format!("worker {}", order.name), move || {
            OwnerScope::of_thread("workers");
            let link = inside.link.clone();
            let end = panic::contain(|| run(inside));
            link.finish(end.unwrap_or_else(|error| WorkerEnd::Failed(error.to_string())));
        });
        thread.map_err(|reason| engine_foundation::error!("no thread can be started: {reason}"))?;
        self.started += 1;
        let child = WorkerHandle {
            name: order.name,
            link,
            turn_frames: order.turn_frames,
            turn_end_frame: self.frame + order.turn_frames,
            outgoing: MessageQueue::default(),
            arrived: MessageQueue::default(),
            unread: QueueLoad::default(),
            progress: 0.0,
            end: None,
            failed_in: None,
        };
        let handle = self.slots.add(Worker::Child(Box::new(child)));
        Ok(WorkerId(handle.expect("there is room")))
    }

    /// Begins a frame. In lockstep, turns that are over end now. Failures whose results nobody
    /// collects are logged.
    pub fn begin_frame(&mut self, frame: u64) {
        self.frame = frame;
        let end_requested = self.end_requested;
        if self.slots.is_empty() {
            return;
        }
        let handles: Vec<Handle> = self.slots.iter().map(|(handle, _)| handle).collect();
        for handle in handles {
            let Some(Worker::Child(child)) = self.slots.get_mut(handle) else { continue };
            if child.link.lockstep && child.end.is_none() && frame >= child.turn_end_frame {
                child.run_turn(frame, &end_requested);
            }
            child.report_failure(frame);
        }
    }

    fn worker(&mut self, id: WorkerId) -> &mut Worker {
        self.slots.get_mut(id.0).expect("the handle was checked where it came in")
    }

    /// Returns a worker that was started here.
    fn child(&mut self, id: WorkerId) -> Result<&mut WorkerHandle, String> {
        match self.worker(id) {
            Worker::Child(child) => Ok(child),
            Worker::Parent(_) => Err("this is the game that started this worker: only messages \
                                      can be exchanged with it"
                .to_string()),
        }
    }

    /// Sends a message. The error says why there is no room.
    pub fn send(&mut self, id: WorkerId, message: Vec<u8>) -> Result<(), String> {
        match self.worker(id) {
            Worker::Parent(inside) => inside.send(message),
            Worker::Child(child) => child.send(message),
        }
    }

    /// Returns the next message that has arrived. Inside a worker in lockstep, the turn ends if
    /// there is none.
    pub fn receive(&mut self, id: WorkerId) -> Result<Option<Vec<u8>>, String> {
        match self.worker(id) {
            Worker::Parent(inside) => inside.receive(),
            Worker::Child(child) if child.link.lockstep => Ok(child.arrived.take()),
            Worker::Child(child) => Ok(child.link.lock().outbox.take()),
        }
    }

    /// Returns the next message, and blocks until there is one. Returns `None` if there will be
    /// none because the worker has ended or waits for a message itself; and while `is_interrupted`
    /// returns true: the caller has to wait again.
    pub fn wait(
        &mut self,
        id: WorkerId,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<u8>>, String> {
        let (frame, end_requested) = (self.frame, self.end_requested);
        let ends = || end_requested() || is_interrupted();
        match self.worker(id) {
            Worker::Parent(inside) => inside.wait(),
            Worker::Child(child) if child.link.lockstep => Ok(child.wait_by_turns(frame, &ends)),
            Worker::Child(child) => {
                let something = |state: &channel::ChannelState| {
                    let waits =
                        state.wait_reason == WorkerActivity::Message && state.inbox.is_empty();
                    !state.outbox.is_empty() || state.end.is_some() || waits
                };
                Ok(child.link.wait_until(something, ends).outbox.take())
            }
        }
    }

    /// Returns the status of a worker.
    pub fn status(&mut self, id: WorkerId) -> Result<WorkerStatus, String> {
        let child = self.child(id)?;
        child.refresh_state();
        Ok(match child.end {
            None => WorkerStatus::Running,
            Some(WorkerEnd::Done(_)) => WorkerStatus::Done,
            Some(WorkerEnd::Failed(_)) => WorkerStatus::Failed,
        })
    }

    /// Returns the progress that a worker reported, from 0 to 1; 1 when it is done.
    pub fn progress(&mut self, id: WorkerId) -> Result<f64, String> {
        let child = self.child(id)?;
        child.refresh_state();
        Ok(if let Some(WorkerEnd::Done(_)) = child.end { 1.0 } else { child.progress })
    }

    /// Takes the outcome of a worker that has ended, and removes the worker: its handle becomes
    /// stale. Returns `None` if the worker still runs.
    pub fn result(&mut self, id: WorkerId, location: &str) -> Result<Option<WorkerEnd>, String> {
        let frame = self.frame;
        let child = self.child(id)?;
        child.refresh_state();
        let Some(end) = child.end.take() else { return Ok(None) };
        let name = child.name.clone();
        self.slots.remove(id.0, &name, frame, location);
        Ok(Some(end))
    }

    /// Stops a worker, discards its outcome and removes it: its handle becomes stale.
    pub fn cancel(&mut self, id: WorkerId, location: &str) -> Result<(), String> {
        let frame = self.frame;
        let child = self.child(id)?;
        child.link.cancel();
        let name = child.name.clone();
        self.slots.remove(id.0, &name, frame, location);
        Ok(())
    }

    /// Inside a worker: reports its progress. Does nothing in the game itself.
    pub fn set_progress(&mut self, progress: f64) {
        if let Some(parent) = self.parent
            && let Worker::Parent(inside) = self.worker(parent)
        {
            inside.set_progress(progress);
        }
    }

    /// Inside a worker: sets its result.
    pub fn set_result(&mut self, result: Vec<u8>) {
        self.result = Some(result);
    }

    pub fn take_result(&mut self) -> Option<Vec<u8>> {
        self.result.take()
    }
}

impl WorkerHandle {
    fn send(&mut self, message: Vec<u8>) -> Result<(), String> {
        if self.link.lockstep {
            return self.outgoing.add(message, self.unread);
        }
        self.link.lock().inbox.add(message, QueueLoad::default())?;
        self.link.wake();
        Ok(())
    }

    /// Copies progress and outcome from the thread. Does nothing in lockstep, where they are copied
    /// at the end of a turn.
    fn refresh_state(&mut self) {
        if self.link.lockstep || self.end.is_some() {
            return;
        }
        let state = self.link.lock();
        self.progress = state.progress;
        self.end = state.end.clone();
    }

    /// Ends a turn and begins the next. Returns false if the process is to end.
    fn run_turn(&mut self, frame: u64, ends: &dyn Fn() -> bool) -> bool {
        let over = |state: &channel::ChannelState| {
            state.wait_reason != WorkerActivity::NotWaiting || state.end.is_some()
        };
        let mut state = self.link.wait_until(over, ends);
        if !over(&state) {
            return false;
        }
        self.arrived.append(&mut state.outbox);
        state.unread = self.arrived.load();
        self.progress = state.progress;
        self.end = state.end.clone();
        state.inbox.append(&mut self.outgoing);
        self.unread = state.inbox.load();
        if state.wait_reason == WorkerActivity::Turn || !state.inbox.is_empty() {
            state.wait_reason = WorkerActivity::NotWaiting;
            self.link.wake();
        }
        self.turn_end_frame = frame + self.turn_frames;
        true
    }

    fn wait_by_turns(&mut self, frame: u64, ends: &dyn Fn() -> bool) -> Option<Vec<u8>> {
        loop {
            if let Some(message) = self.arrived.take() {
                return Some(message);
            }
            if self.end.is_some() || !self.run_turn(frame, ends) {
                return None;
            }
            let waits = self.link.lock().wait_reason == WorkerActivity::Message;
            if waits && self.arrived.is_empty() {
                return None;
            }
        }
    }

    fn report_failure(&mut self, frame: u64) {
        self.refresh_state();
        let Some(WorkerEnd::Failed(message)) = &self.end else { return };
        let since = *self.failed_in.get_or_insert(frame);
        if frame == since + UNCOLLECTED_FRAMES_MAX {
            log::warning(&format!(
                "worker '{}' failed, and nobody asked for its result: {message}",
                self.name
            ));
        }
    }
}

impl Drop for Workers {
    /// Cancels all workers when their game ends.
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
            drop(
                child
                    .link
                    .wait_until(|state| state.end.is_some(), || began.elapsed() > SHUTDOWN_TIMEOUT),
            );
        }
    }
}
