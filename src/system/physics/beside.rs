//! A simulation whose steps run beside scripts and rendering: the step that one update begins is
//! taken over by the next. Meanwhile scripts read a copy of the step before. What they change is
//! changed in the copy at once, noted, and done again in what the step made of the world, before
//! the next one begins. So everything is seen one update later, and nothing depends on how long a
//! step takes, or on which thread.
//!
//! The copy is for reading: of touches, which are most of a simulation, it has only who touches
//! whom.

use super::ground::Dispatcher;
use super::{Physics, Touches};
use crate::foundation::{Error, fault, log};
use crate::{owner, scope};
use rapier3d::prelude::{ColliderHandle, NarrowPhase};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Which thread makes the steps of a simulation that is moved on beside scripts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lane {
    /// The one that asks for them, before it goes on.
    Own,
    /// One of the simulation's own.
    Other,
}

/// Something that was changed, to be changed again in what the running step makes.
pub(super) type Change = Arc<dyn Fn(&mut Physics) + Send + Sync>;

/// What a simulation that is moved on beside scripts has more.
pub(super) struct Beside {
    lane: Lane,
    thread: Option<Thread>,
    step: Option<Step>,
    /// Since the step began.
    pub changes: Vec<Change>,
    /// The fault that ended the simulation: there is no going on.
    failed: Option<Error>,
}

/// A step on its way.
enum Step {
    Running,
    Made(Box<Made>),
}

/// What steps made.
pub(super) struct Made {
    /// What the next step begins with; none where the step failed altogether.
    ahead: Option<Physics>,
    /// The same for scripts; none where nothing but time went on.
    shown: Option<Physics>,
    outcome: Result<u32, Error>,
}

impl Made {
    pub fn copy(&self) -> Made {
        Made {
            ahead: self.ahead.as_ref().map(Physics::copy),
            shown: self.shown.as_ref().map(Physics::copy),
            outcome: self.outcome.clone(),
        }
    }
}

/// Makes the steps of one update. A fault of the simulation comes back as an error.
fn make(mut ahead: Physics, seconds: f64) -> Made {
    scope!("physics_beside");
    owner!("physics");
    let work = || {
        let outcome = ahead.make_steps(seconds);
        let moved = ahead.track.stepped || outcome.is_err();
        let shown = moved.then(|| ahead.copy_shown());
        // The copy shows them.
        ahead.track.placed.clear();
        Made { ahead: Some(ahead), shown, outcome }
    };
    fault::contain(work).unwrap_or_else(|error| Made {
        ahead: None,
        shown: None,
        outcome: Err(error),
    })
}

/// What a thread is to do.
struct Order {
    ahead: Physics,
    seconds: f64,
    /// What scripts read before: letting go of it takes time.
    old: Option<Physics>,
}

/// What passes between a simulation and its thread: one thing at a time.
#[derive(Default)]
struct Desk {
    order: Option<Order>,
    made: Option<Made>,
    /// Nobody asks any more.
    closed: bool,
}

/// The desk, and the bell that rings when something was put on it.
#[derive(Default)]
struct Office {
    desk: Mutex<Desk>,
    bell: Condvar,
}

impl Office {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        fault::lock(&self.desk)
    }

    /// Waits until `take` finds what it looks for.
    fn wait<T>(&self, mut take: impl FnMut(&mut Desk) -> Option<T>) -> T {
        let mut desk = self.desk();
        loop {
            if let Some(found) = take(&mut desk) {
                return found;
            }
            desk = self.bell.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn put(&self, put: impl FnOnce(&mut Desk)) {
        put(&mut self.desk());
        self.bell.notify_all();
    }

    /// What the thread does, until the office is closed.
    fn work(&self) {
        let order = |desk: &mut Desk| match desk.closed {
            true => Some(None),
            false => desk.order.take().map(Some),
        };
        while let Some(Order { ahead, seconds, old }) = self.wait(order) {
            let made = make(ahead, seconds);
            self.put(|desk| desk.made = Some(made));
            drop(old);
        }
    }
}

/// The thread of one simulation. It ends with it.
struct Thread {
    office: Arc<Office>,
    handle: Option<JoinHandle<()>>,
}

impl Thread {
    fn start() -> std::io::Result<Thread> {
        let office = Arc::new(Office::default());
        let own = office.clone();
        let handle = fault::spawn("physics", move || own.work())?;
        Ok(Thread { office, handle: Some(handle) })
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.office.put(|desk| desk.closed = true);
        if let Some(handle) = self.handle.take() {
            // It catches every panic of its own.
            let _ = handle.join();
        }
    }
}

impl Beside {
    pub fn new(lane: Lane) -> Beside {
        Beside { lane, thread: None, step: None, changes: Vec::new(), failed: None }
    }

    /// Has the steps of an update made.
    fn begin(&mut self, ahead: Physics, seconds: f64, old: Option<Physics>) {
        if self.lane == Lane::Other && self.thread.is_none() {
            match Thread::start() {
                Ok(thread) => self.thread = Some(thread),
                Err(reason) => {
                    log::warning(&format!(
                        "no thread for physics ({reason}): its steps are made on the game's own"
                    ));
                    self.lane = Lane::Own;
                }
            }
        }
        self.step = Some(match &self.thread {
            None => Step::Made(Box::new(make(ahead, seconds))),
            Some(thread) => {
                thread.office.put(|desk| desk.order = Some(Order { ahead, seconds, old }));
                Step::Running
            }
        });
    }

    /// Waits for the step that is on its way, if one is.
    fn wait(&mut self) -> Option<Made> {
        match self.step.take()? {
            Step::Made(made) => Some(*made),
            Step::Running => {
                let thread = self.thread.as_ref().expect("it runs there");
                Some(thread.office.wait(|desk| desk.made.take()))
            }
        }
    }

    /// The step that is on its way, waited for; it is still to be taken over.
    pub fn settle(&mut self) -> Option<&Made> {
        let made = self.wait()?;
        match self.step.insert(Step::Made(Box::new(made))) {
            Step::Made(made) => Some(made),
            Step::Running => None,
        }
    }

    /// Puts another step in place of the one that is on its way.
    pub fn replace(&mut self, made: Option<Made>, changes: Vec<Change>) {
        self.wait();
        self.step = made.map(|made| Step::Made(Box::new(made)));
        self.changes = changes;
    }
}

impl Physics {
    /// Whether its steps are seen one update later.
    pub fn is_beside(&self) -> bool {
        self.beside.is_some()
    }

    /// Does something without noting it.
    pub(super) fn unnoted<R>(&mut self, change: impl FnOnce(&mut Physics) -> R) -> R {
        let beside = self.beside.take();
        let done = change(self);
        self.beside = beside;
        done
    }

    /// Changes something, and notes it where a step is on its way.
    pub(super) fn change<R>(
        &mut self,
        change: impl Fn(&mut Physics) -> R + Send + Sync + 'static,
    ) -> R {
        if self.beside.is_none() {
            return change(self);
        }
        let done = self.unnoted(&change);
        self.note(move |it| {
            change(it);
        });
        done
    }

    /// Notes something that was done, to be done again.
    pub(super) fn note(&mut self, change: impl Fn(&mut Physics) + Send + Sync + 'static) {
        if let Some(beside) = &mut self.beside {
            beside.changes.push(Arc::new(change));
        }
    }

    /// The same state again, as one that is moved on by whoever has it.
    pub(super) fn copy(&self) -> Physics {
        self.copy_with(self.world.narrow_phase.clone(), self.touches.clone())
    }

    /// The same state for reading.
    fn copy_shown(&self) -> Physics {
        let contacts = self.world.contact_pairs().filter(|pair| pair.has_any_active_contact());
        let contacts = contacts.map(|pair| (pair.collider1, pair.collider2));
        let inside = self.world.intersection_pairs().filter(|(.., touch)| *touch);
        let inside = inside.map(|(one, _, two, ..)| (one, two));
        let both = |(one, two)| [(one, two), (two, one)];
        let mut touches: Vec<_> = contacts.chain(inside).flat_map(both).collect();
        touches.sort_unstable_by_key(|(one, _): &(ColliderHandle, _)| one.into_raw_parts());
        let dispatcher = Dispatcher { flat: self.setup.flat };
        self.copy_with(NarrowPhase::with_query_dispatcher(dispatcher), Some(touches))
    }

    fn copy_with(&self, touching: NarrowPhase, touches: Option<Touches>) -> Physics {
        Physics {
            world: super::snapshot::copy(&self.world, touching),
            touches,
            setup: self.setup,
            left: self.left,
            collector: self.collector.copy(),
            track: self.track.clone(),
            links: self.links.clone(),
            beside: None,
        }
    }

    /// Takes the last update's steps over, and has this one's made.
    pub(super) fn update_beside(
        &mut self,
        mut beside: Box<Beside>,
        seconds: f64,
    ) -> Result<u32, Error> {
        if let Some(error) = &beside.failed {
            let error = error.clone();
            self.beside = Some(beside);
            return Err(error);
        }
        let made = beside.wait();
        let changes = std::mem::take(&mut beside.changes);
        let mut old = None;
        let (ahead, outcome) = match made {
            // The first: whatever was changed is here.
            None => {
                self.rest();
                (Some(self.copy()), Ok(0))
            }
            Some(Made { mut ahead, mut shown, outcome }) => {
                for world in [&mut ahead, &mut shown].into_iter().flatten() {
                    changes.iter().for_each(|change| change(world));
                    world.links.end_broken(&mut world.world);
                }
                match shown {
                    Some(shown) => old = Some(std::mem::replace(self, shown)),
                    None => {
                        self.rest();
                        self.left = ahead.as_ref().map_or(0.0, |ahead| ahead.left);
                        self.track.between |= self.left > 0.0;
                    }
                }
                (ahead, outcome)
            }
        };
        match (ahead, &outcome) {
            (Some(ahead), Ok(_)) => beside.begin(ahead, seconds, old),
            // Time stands still for an update, as without.
            (Some(ahead), Err(_)) => {
                let made = Made { ahead: Some(ahead), shown: None, outcome: Ok(0) };
                beside.step = Some(Step::Made(Box::new(made)));
            }
            (None, outcome) => beside.failed = outcome.clone().err(),
        }
        self.beside = Some(beside);
        outcome
    }

    /// Nothing happened.
    fn rest(&mut self) {
        self.collector.begin();
        self.links.broken.clear();
        self.track.stepped = false;
    }
}
