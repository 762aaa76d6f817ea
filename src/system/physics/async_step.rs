//! Asynchronous steps: the steps of a simulation run in parallel with scripts and rendering. The
//! step that one update starts is taken over by the next. In the meantime, scripts read a copy of
//! the preceding step. Their changes are applied to the copy at once, recorded, and replayed on the
//! result of the step before the next one starts. Everything therefore becomes visible one update
//! later, and nothing depends on the duration of a step or on its thread.
//!
//! The copy is read-only: of the contacts, which are the largest part of a simulation, it contains
//! only the touching pairs.

use super::half_space::HalfSpaceDispatcher;
use super::{Simulation, TouchPairs};
use engine_foundation::owner;
use engine_foundation::scope;
use engine_foundation::{Error, log, panic};
use rapier3d::prelude::{ColliderHandle, NarrowPhase};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Thread that runs the steps of an asynchronous simulation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepThread {
    /// The calling thread, before it continues.
    Own,
    /// A separate thread of the simulation.
    Other,
}

/// A recorded change, to be replayed on the result of the running step.
pub(super) type PendingChange = Arc<dyn Fn(&mut Simulation) + Send + Sync>;

/// Additional state of a simulation with asynchronous steps.
pub(super) struct AsyncStep {
    thread_kind: StepThread,
    thread: Option<StepWorker>,
    step: Option<StepInFlight>,
    /// Changes recorded since the step started.
    pub changes: Vec<PendingChange>,
    /// Error that ended the simulation. It cannot continue.
    failed: Option<Error>,
}

/// A started step.
enum StepInFlight {
    Running,
    Done(Box<StepResult>),
}

/// Result of the steps of an update.
pub(super) struct StepResult {
    /// State from which the next step starts. `None` if the step panicked.
    ahead: Option<Simulation>,
    /// Copy of that state for scripts. `None` if only time has passed.
    readable: Option<Simulation>,
    outcome: Result<u32, Error>,
}

impl StepResult {
    pub fn copy(&self) -> StepResult {
        StepResult {
            ahead: self.ahead.as_ref().map(Simulation::copy),
            readable: self.readable.as_ref().map(Simulation::copy),
            outcome: self.outcome.clone(),
        }
    }
}

/// Runs the steps of one update. A panic in the simulation is returned as an error.
fn run_steps(mut ahead: Simulation, seconds: f64) -> StepResult {
    scope!("physics_beside");
    owner!("physics");
    let work = || {
        let outcome = ahead.make_steps(seconds);
        let moved = ahead.track.stepped || outcome.is_err();
        let readable = moved.then(|| ahead.copy_for_reading());
        // The copy reports these bodies.
        ahead.track.placed.clear();
        StepResult { ahead: Some(ahead), readable, outcome }
    };
    panic::contain(work).unwrap_or_else(|error| StepResult {
        ahead: None,
        readable: None,
        outcome: Err(error),
    })
}

/// A request to the step thread.
struct StepRequest {
    ahead: Simulation,
    seconds: f64,
    /// Previous copy for scripts. The thread drops it, because that takes time.
    previous: Option<Simulation>,
}

/// Contents of the mailbox: at most one request or result at a time.
#[derive(Default)]
struct MailboxSlot {
    request: Option<StepRequest>,
    result: Option<StepResult>,
    /// True after the simulation was dropped, which ends the thread.
    closed: bool,
}

/// A one-slot mailbox between the simulation and its step thread. The condition variable signals
/// every change.
#[derive(Default)]
struct Mailbox {
    slot: Mutex<MailboxSlot>,
    condvar: Condvar,
}

impl Mailbox {
    fn lock_slot(&self) -> MutexGuard<'_, MailboxSlot> {
        panic::lock(&self.slot)
    }

    /// Blocks until `take` returns a value.
    fn wait<T>(&self, mut take: impl FnMut(&mut MailboxSlot) -> Option<T>) -> T {
        let mut slot = self.lock_slot();
        loop {
            if let Some(found) = take(&mut slot) {
                return found;
            }
            slot = self.condvar.wait(slot).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn update(&self, update: impl FnOnce(&mut MailboxSlot)) {
        update(&mut self.lock_slot());
        self.condvar.notify_all();
    }

    /// Main loop of the step thread. Returns when the mailbox is closed.
    fn work(&self) {
        let request = |slot: &mut MailboxSlot| match slot.closed {
            true => Some(None),
            false => slot.request.take().map(Some),
        };
        while let Some(StepRequest { ahead, seconds, previous }) = self.wait(request) {
            let result = run_steps(ahead, seconds);
            self.update(|slot| slot.result = Some(result));
            drop(previous);
        }
    }
}

/// Step thread of one simulation. It ends when the simulation is dropped.
struct StepWorker {
    mailbox: Arc<Mailbox>,
    handle: Option<JoinHandle<()>>,
}

impl StepWorker {
    fn start() -> std::io::Result<StepWorker> {
        let mailbox = Arc::new(Mailbox::default());
        let own = mailbox.clone();
        let handle = panic::spawn("physics", move || own.work())?;
        Ok(StepWorker { mailbox, handle: Some(handle) })
    }
}

impl Drop for StepWorker {
    fn drop(&mut self) {
        self.mailbox.update(|slot| slot.closed = true);
        if let Some(handle) = self.handle.take() {
            // The thread catches all of its panics.
            let _ = handle.join();
        }
    }
}

impl AsyncStep {
    pub fn new(thread_kind: StepThread) -> AsyncStep {
        AsyncStep { thread_kind, thread: None, step: None, changes: Vec::new(), failed: None }
    }

    /// Starts the steps of an update.
    fn begin(&mut self, ahead: Simulation, seconds: f64, previous: Option<Simulation>) {
        if self.thread_kind == StepThread::Other && self.thread.is_none() {
            match StepWorker::start() {
                Ok(thread) => self.thread = Some(thread),
                Err(reason) => {
                    log::warning(&format!(
                        "no thread for physics ({reason}): its steps run on the game's thread"
                    ));
                    self.thread_kind = StepThread::Own;
                }
            }
        }
        self.step = Some(match &self.thread {
            None => StepInFlight::Done(Box::new(run_steps(ahead, seconds))),
            Some(thread) => {
                thread
                    .mailbox
                    .update(|slot| slot.request = Some(StepRequest { ahead, seconds, previous }));
                StepInFlight::Running
            }
        });
    }

    /// Blocks until the started step is finished and takes its result. Returns `None` if no step
    /// was started.
    fn wait(&mut self) -> Option<StepResult> {
        match self.step.take()? {
            StepInFlight::Done(result) => Some(*result),
            StepInFlight::Running => {
                let thread = self.thread.as_ref().expect("it runs there");
                Some(thread.mailbox.wait(|slot| slot.result.take()))
            }
        }
    }

    /// Blocks until the started step is finished and returns its result, which stays in place for
    /// the next update.
    pub fn finish(&mut self) -> Option<&StepResult> {
        let result = self.wait()?;
        match self.step.insert(StepInFlight::Done(Box::new(result))) {
            StepInFlight::Done(result) => Some(result),
            StepInFlight::Running => None,
        }
    }

    /// Replaces the started step and the recorded changes.
    pub fn replace(&mut self, result: Option<StepResult>, changes: Vec<PendingChange>) {
        self.wait();
        self.step = result.map(|result| StepInFlight::Done(Box::new(result)));
        self.changes = changes;
    }
}

impl Simulation {
    /// Returns true if the steps are asynchronous and become visible one update later.
    pub fn is_async(&self) -> bool {
        self.async_step.is_some()
    }

    /// Applies a change without recording it.
    pub(super) fn change_unrecorded<R>(&mut self, change: impl FnOnce(&mut Simulation) -> R) -> R {
        let async_step = self.async_step.take();
        let result = change(self);
        self.async_step = async_step;
        result
    }

    /// Applies a change, and records it if the steps are asynchronous.
    pub(super) fn change<R>(
        &mut self,
        change: impl Fn(&mut Simulation) -> R + Send + Sync + 'static,
    ) -> R {
        if self.async_step.is_none() {
            return change(self);
        }
        let result = self.change_unrecorded(&change);
        self.record(move |it| {
            change(it);
        });
        result
    }

    /// Records an applied change for the replay.
    pub(super) fn record(&mut self, change: impl Fn(&mut Simulation) + Send + Sync + 'static) {
        if let Some(async_step) = &mut self.async_step {
            async_step.changes.push(Arc::new(change));
        }
    }

    /// Copies the state as a simulation with synchronous steps.
    pub(super) fn copy(&self) -> Simulation {
        self.copy_with(self.world.narrow_phase.clone(), self.touches.clone())
    }

    /// Copies the state for reading.
    fn copy_for_reading(&self) -> Simulation {
        let contacts = self.world.contact_pairs().filter(|pair| pair.has_any_active_contact());
        let contacts = contacts.map(|pair| (pair.collider1, pair.collider2));
        let inside = self.world.intersection_pairs().filter(|(.., touch)| *touch);
        let inside = inside.map(|(one, _, two, ..)| (one, two));
        let both = |(one, two)| [(one, two), (two, one)];
        let mut touches: Vec<_> = contacts.chain(inside).flat_map(both).collect();
        touches.sort_unstable_by_key(|(one, _): &(ColliderHandle, _)| one.into_raw_parts());
        let dispatcher = HalfSpaceDispatcher { flat: self.setup.flat };
        self.copy_with(NarrowPhase::with_query_dispatcher(dispatcher), Some(touches))
    }

    fn copy_with(&self, touching: NarrowPhase, touches: Option<TouchPairs>) -> Simulation {
        Simulation {
            world: super::snapshot::copy(&self.world, touching),
            touches,
            setup: self.setup,
            unsimulated: self.unsimulated,
            collector: self.collector.copy(),
            track: self.track.clone(),
            planes: self.planes.clone(),
            links: self.links.clone(),
            async_step: None,
        }
    }

    /// Takes over the steps of the last update, and starts those of this update.
    pub(super) fn update_async(
        &mut self,
        mut async_step: Box<AsyncStep>,
        seconds: f64,
    ) -> Result<u32, Error> {
        if let Some(error) = &async_step.failed {
            let error = error.clone();
            self.async_step = Some(async_step);
            return Err(error);
        }
        let result = async_step.wait();
        let changes = std::mem::take(&mut async_step.changes);
        let mut previous = None;
        let (ahead, outcome) = match result {
            // In the first update, all changes are in this simulation.
            None => {
                self.clear_events();
                (Some(self.copy()), Ok(0))
            }
            Some(StepResult { mut ahead, mut readable, outcome }) => {
                for world in [&mut ahead, &mut readable].into_iter().flatten() {
                    changes.iter().for_each(|change| change(world));
                    world.links.remove_broken(&mut world.world);
                }
                match readable {
                    Some(readable) => previous = Some(std::mem::replace(self, readable)),
                    None => {
                        self.clear_events();
                        self.unsimulated = ahead.as_ref().map_or(0.0, |ahead| ahead.unsimulated);
                        self.track.interpolated |= self.unsimulated > 0.0;
                    }
                }
                (ahead, outcome)
            }
        };
        match (ahead, &outcome) {
            (Some(ahead), Ok(_)) => async_step.begin(ahead, seconds, previous),
            // No time passes in this update, as with synchronous steps.
            (Some(ahead), Err(_)) => {
                let result = StepResult { ahead: Some(ahead), readable: None, outcome: Ok(0) };
                async_step.step = Some(StepInFlight::Done(Box::new(result)));
            }
            (None, outcome) => async_step.failed = outcome.clone().err(),
        }
        self.async_step = Some(async_step);
        outcome
    }

    /// Clears the events of the last update, because no step has run.
    fn clear_events(&mut self) {
        self.collector.begin();
        self.links.broken.clear();
        self.track.stepped = false;
    }
}
