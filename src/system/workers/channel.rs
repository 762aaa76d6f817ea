//! The channel between a worker thread and the game's thread: messages in both directions,
//! progress, and the result. In lockstep the game exchanges data only while the worker is at rest,
//! so that neither side can observe how fast the other runs.

use super::{MESSAGE_BYTES_MAX, MESSAGES_MAX};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The outcome of a worker.
#[derive(Clone, PartialEq, Debug)]
pub enum WorkerEnd {
    /// The worker finished with this result.
    Done(Vec<u8>),
    /// The worker failed with this error message.
    Failed(String),
}

/// A queue of messages, oldest first, with their total size in bytes.
#[derive(Default)]
pub(super) struct MessageQueue {
    messages: VecDeque<Vec<u8>>,
    bytes: usize,
}

/// Number and total size of the messages that wait in a queue.
#[derive(Clone, Copy, Default)]
pub(super) struct QueueLoad {
    messages: usize,
    bytes: usize,
}

impl MessageQueue {
    pub fn load(&self) -> QueueLoad {
        QueueLoad { messages: self.messages.len(), bytes: self.bytes }
    }

    /// Adds a message, unless the limits are reached. `elsewhere` counts messages that wait in
    /// another queue of the same direction.
    pub fn add(&mut self, message: Vec<u8>, elsewhere: QueueLoad) -> Result<(), String> {
        let QueueLoad { messages, bytes } = self.load();
        if messages + elsewhere.messages >= MESSAGES_MAX {
            return Err(format!(
                "{MESSAGES_MAX} messages wait to be received already (MESSAGES_MAX): receive them \
                 first, or put more into each"
            ));
        }
        if bytes + elsewhere.bytes + message.len() > MESSAGE_BYTES_MAX {
            return Err(format!(
                "the messages that wait to be received would take more than {} MiB \
                 (MESSAGE_BYTES_MAX): receive them first",
                MESSAGE_BYTES_MAX >> 20
            ));
        }
        self.bytes += message.len();
        self.messages.push_back(message);
        Ok(())
    }

    pub fn take(&mut self) -> Option<Vec<u8>> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.len();
        Some(message)
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Moves all messages of `other` to the end of this queue.
    pub fn append(&mut self, other: &mut MessageQueue) {
        self.bytes += std::mem::take(&mut other.bytes);
        self.messages.append(&mut other.messages);
    }
}

/// Reason why a worker's thread is at rest.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum WorkerActivity {
    NotWaiting,
    /// The worker found no message, and continues in its next turn.
    Turn,
    /// The worker waits for a message.
    Message,
}

/// Callbacks with which the game controls a worker's thread.
pub struct ThreadControls {
    /// Stops the code that runs on the thread.
    pub stop: Box<dyn Fn() + Send>,
    /// Resets the thread's time limit.
    pub renew: Box<dyn Fn() + Send>,
}

pub(super) struct ChannelState {
    /// Messages to the worker, and messages from the worker.
    pub inbox: MessageQueue,
    pub outbox: MessageQueue,
    /// Messages of earlier turns that the game has not received yet.
    pub unread: QueueLoad,
    pub progress: f64,
    pub wait_reason: WorkerActivity,
    pub end: Option<WorkerEnd>,
    cancelled: bool,
    controls: Option<ThreadControls>,
}

pub(super) struct WorkerChannel {
    pub lockstep: bool,
    state: Mutex<ChannelState>,
    changed: Condvar,
}

/// Longest sleep of a waiting thread before it checks its condition again.
const RECHECK_INTERVAL: Duration = Duration::from_millis(50);

impl WorkerChannel {
    pub fn new(lockstep: bool) -> Arc<WorkerChannel> {
        let state = ChannelState {
            inbox: MessageQueue::default(),
            outbox: MessageQueue::default(),
            unread: QueueLoad::default(),
            progress: 0.0,
            wait_reason: WorkerActivity::NotWaiting,
            end: None,
            cancelled: false,
            controls: None,
        };
        Arc::new(WorkerChannel { lockstep, state: Mutex::new(state), changed: Condvar::new() })
    }

    pub fn lock(&self) -> MutexGuard<'_, ChannelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn wake(&self) {
        self.changed.notify_all();
    }

    /// Blocks until `condition` or `abort` returns true.
    pub fn wait_until(
        &self,
        condition: impl Fn(&ChannelState) -> bool,
        abort: impl Fn() -> bool,
    ) -> MutexGuard<'_, ChannelState> {
        let mut state = self.lock();
        while !condition(&state) && !abort() {
            let waited = self.changed.wait_timeout(state, RECHECK_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    /// Requests that the worker stops as soon as possible. Its result is discarded.
    pub fn cancel(&self) {
        let mut state = self.lock();
        state.cancelled = true;
        if let Some(controls) = &state.controls {
            (controls.stop)();
        }
        self.wake();
    }

    pub fn finish(&self, end: WorkerEnd) {
        let mut state = self.lock();
        state.controls = None;
        state.end = Some(end);
        self.wake();
    }
}

/// The worker's end of a `WorkerChannel`.
#[derive(Clone)]
pub struct WorkerEndpoint {
    pub(super) link: Arc<WorkerChannel>,
}

/// The error message for a worker that was cancelled while it waited.
const CANCELLED: &str = "stopped: this worker was cancelled";

impl WorkerEndpoint {
    /// Registers the callbacks with which the game stops this thread.
    pub fn set_controls(&self, controls: ThreadControls) {
        let mut state = self.link.lock();
        if state.cancelled {
            (controls.stop)();
        }
        state.controls = Some(controls);
    }

    /// Returns true if the game cancelled this worker.
    pub fn is_cancelled(&self) -> bool {
        self.link.lock().cancelled
    }

    pub(super) fn send(&self, message: Vec<u8>) -> Result<(), String> {
        let mut state = self.link.lock();
        let unread = state.unread;
        state.outbox.add(message, unread)?;
        self.link.wake();
        Ok(())
    }

    /// Returns the next message, if there is one. In lockstep an empty inbox ends the turn.
    pub(super) fn receive(&self) -> Result<Option<Vec<u8>>, String> {
        let message = self.link.lock().inbox.take();
        if message.is_some() || !self.link.lockstep {
            return Ok(message);
        }
        self.wait_for(WorkerActivity::Turn)
    }

    /// Returns the next message, and blocks until there is one.
    pub(super) fn wait(&self) -> Result<Option<Vec<u8>>, String> {
        let message = self.link.lock().inbox.take();
        match message {
            Some(message) => Ok(Some(message)),
            None => self.wait_for(WorkerActivity::Message),
        }
    }

    fn wait_for(&self, reason: WorkerActivity) -> Result<Option<Vec<u8>>, String> {
        self.link.lock().wait_reason = reason;
        self.link.wake();
        let can_continue = |state: &ChannelState| {
            state.cancelled
                || match self.link.lockstep {
                    true => state.wait_reason == WorkerActivity::NotWaiting,
                    false => !state.inbox.is_empty(),
                }
        };
        let mut state = self.link.wait_until(can_continue, || false);
        state.wait_reason = WorkerActivity::NotWaiting;
        if let Some(controls) = &state.controls {
            (controls.renew)();
        }
        match state.cancelled {
            true => Err(CANCELLED.to_string()),
            false => Ok(state.inbox.take()),
        }
    }

    pub(super) fn set_progress(&self, progress: f64) {
        self.link.lock().progress = progress;
    }
}
