//! What a worker's thread and the game's share: messages both ways, progress, the end. In lockstep
//! the game takes and gives only while the worker is at rest, so that what each of them sees does
//! not depend on how fast the other is.

use super::{MESSAGE_BYTES_MAX, MESSAGES_MAX};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How a worker ended.
#[derive(Clone, PartialEq, Debug)]
pub enum End {
    /// With this result.
    Done(Vec<u8>),
    /// With these words.
    Failed(String),
}

/// Messages in their order.
#[derive(Default)]
pub(super) struct Mail {
    messages: VecDeque<Vec<u8>>,
    bytes: usize,
}

/// How much waits to be received.
#[derive(Clone, Copy, Default)]
pub(super) struct Load {
    messages: usize,
    bytes: usize,
}

impl Mail {
    pub fn load(&self) -> Load {
        Load { messages: self.messages.len(), bytes: self.bytes }
    }

    /// Adds a message, where there is room beside what waits elsewhere on the same way.
    pub fn add(&mut self, message: Vec<u8>, elsewhere: Load) -> Result<(), String> {
        let Load { messages, bytes } = self.load();
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

    /// Moves all of `other` to the end of this.
    pub fn append(&mut self, other: &mut Mail) {
        self.bytes += std::mem::take(&mut other.bytes);
        self.messages.append(&mut other.messages);
    }
}

/// Whether a worker's thread is doing something.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Rest {
    No,
    /// It found no message, and goes on in its next turn.
    Turn,
    /// It waits for a message.
    Message,
}

/// What the game can do to a worker's thread.
pub struct Controls {
    /// Stops what runs there.
    pub stop: Box<dyn Fn() + Send>,
    /// Gives it all of its time anew.
    pub renew: Box<dyn Fn() + Send>,
}

pub(super) struct State {
    /// To the worker, and from it.
    pub inbox: Mail,
    pub outbox: Mail,
    /// What the game has not received of earlier turns.
    pub unread: Load,
    pub progress: f64,
    pub rest: Rest,
    pub end: Option<End>,
    cancelled: bool,
    controls: Option<Controls>,
}

pub(super) struct Link {
    pub lockstep: bool,
    state: Mutex<State>,
    changed: Condvar,
}

/// How long a thread sleeps before it looks around, where nobody wakes it.
const LOOK_AROUND: Duration = Duration::from_millis(50);

impl Link {
    pub fn new(lockstep: bool) -> Arc<Link> {
        let state = State {
            inbox: Mail::default(),
            outbox: Mail::default(),
            unread: Load::default(),
            progress: 0.0,
            rest: Rest::No,
            end: None,
            cancelled: false,
            controls: None,
        };
        Arc::new(Link { lockstep, state: Mutex::new(state), changed: Condvar::new() })
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn wake(&self) {
        self.changed.notify_all();
    }

    /// Waits until `done`, or until `give_up` says so.
    pub fn wait_until(
        &self,
        done: impl Fn(&State) -> bool,
        give_up: impl Fn() -> bool,
    ) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while !done(&state) && !give_up() {
            let waited = self.changed.wait_timeout(state, LOOK_AROUND);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state
    }

    /// Ends the worker as soon as can be; nobody asks for its result.
    pub fn cancel(&self) {
        let mut state = self.lock();
        state.cancelled = true;
        if let Some(controls) = &state.controls {
            (controls.stop)();
        }
        self.wake();
    }

    pub fn finish(&self, end: End) {
        let mut state = self.lock();
        state.controls = None;
        state.end = Some(end);
        self.wake();
    }
}

/// The worker's own end of a link.
#[derive(Clone)]
pub struct Inside {
    pub(super) link: Arc<Link>,
}

/// Said to a worker that was cancelled while it waited.
const CANCELLED: &str = "stopped: this worker was cancelled";

impl Inside {
    /// Hands over what the game needs for stopping this thread.
    pub fn set_controls(&self, controls: Controls) {
        let mut state = self.link.lock();
        if state.cancelled {
            (controls.stop)();
        }
        state.controls = Some(controls);
    }

    /// Whether the game wants no more of this worker.
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

    /// The next message, if there is one.
    pub(super) fn receive(&self) -> Result<Option<Vec<u8>>, String> {
        let message = self.link.lock().inbox.take();
        if message.is_some() || !self.link.lockstep {
            return Ok(message);
        }
        self.rest(Rest::Turn)
    }

    /// The next message, waited for.
    pub(super) fn wait(&self) -> Result<Option<Vec<u8>>, String> {
        let message = self.link.lock().inbox.take();
        match message {
            Some(message) => Ok(Some(message)),
            None => self.rest(Rest::Message),
        }
    }

    fn rest(&self, rest: Rest) -> Result<Option<Vec<u8>>, String> {
        self.link.lock().rest = rest;
        self.link.wake();
        let goes_on = |state: &State| {
            state.cancelled
                || match self.link.lockstep {
                    true => state.rest == Rest::No,
                    false => !state.inbox.is_empty(),
                }
        };
        let mut state = self.link.wait_until(goes_on, || false);
        state.rest = Rest::No;
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
