//! What one thread writes down: the beginning and the end of each of its scopes, in a ring that the
//! end of a frame empties. Nothing is looked up or allocated here. What comes of the events is in
//! tree.rs.

use super::clock::ticks;
use super::names::Site;
use crate::foundation::fault;
use crate::foundation::log;
use crate::foundation::memory::Zeros;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Threads that can be profiled at once.
pub const LANES_MAX: usize = 64;
/// How many scopes can lie inside each other; deeper ones are left out.
pub const DEPTH_MAX: usize = 128;
/// Beginnings and ends of one thread between two frames' ends; what is more is left out.
pub const EVENTS_MAX: usize = 1 << 15;

/// Marks the name of a scope that a script began.
const SCRIPT: u32 = 1 << 31;
/// Marks one that was left out of the ring.
const LOST: u32 = 1 << 30;
const NAME: u32 = LOST - 1;

/// One beginning, or one end (whose name is 0).
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Event {
    pub tick: u64,
    pub name: u32,
}

/// What a thread writes and the end of a frame reads.
pub(super) struct Lane {
    /// Most threads write down little between two frames' ends.
    events: Zeros<UnsafeCell<Event>>,
    /// How many events were ever written: the thread's.
    head: AtomicUsize,
    /// How many were ever read: the reader's.
    tail: AtomicUsize,
    /// Scopes that were left out.
    lost: AtomicU64,
    depth: Cell<usize>,
    /// The names of the open scopes.
    stack: [Cell<u32>; DEPTH_MAX],
    taken: AtomicBool,
    pub name: Mutex<String>,
}

// SAFETY: `depth` and `stack` are used by the thread that has taken the lane alone; an event is
// written by it before `head` says so, and read before `tail` says that it can be written again.
unsafe impl Sync for Lane {}

static LANES: Mutex<Vec<&'static Lane>> = Mutex::new(Vec::new());
static ENABLED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static LANE: Cell<Option<&'static Lane>> = const { Cell::new(None) };
    static LEASE: RefCell<Option<Lease>> = const { RefCell::new(None) };
}

/// Gives a lane back when its thread ends.
struct Lease(&'static Lane);

impl Drop for Lease {
    fn drop(&mut self) {
        LANE.set(None);
        self.0.close_to(0);
        self.0.taken.store(false, Ordering::Release);
    }
}

/// Has scopes written down from now on, or not.
pub fn set_enabled(on: bool) {
    super::clock::begin();
    ENABLED.store(on, Ordering::Relaxed);
}

/// Whether scopes are written down.
#[inline(always)]
pub fn is_enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Every lane that was ever taken.
pub(super) fn all() -> Vec<&'static Lane> {
    fault::lock(&LANES).clone()
}

/// The lane of this thread.
#[inline(always)]
pub(super) fn own() -> Option<&'static Lane> {
    match LANE.get() {
        Some(lane) => Some(lane),
        None => take(),
    }
}

#[cold]
#[inline(never)]
fn take() -> Option<&'static Lane> {
    crate::owner!("profiler");
    let name = std::thread::current().name().unwrap_or("thread").to_string();
    let mut lanes = fault::lock(&LANES);
    let mut free: Vec<_> =
        lanes.iter().filter(|lane| !lane.taken.load(Ordering::Acquire)).collect();
    // One of the same name first, so that a thread that comes again goes on where it was.
    free.sort_by_key(|lane| *fault::lock(&lane.name) != name);
    let same = free.first().filter(|it| *fault::lock(&it.name) == name);
    let lane = match (same, free.first()) {
        (Some(lane), _) => **lane,
        _ if lanes.len() < LANES_MAX => {
            let lane: &'static Lane = Box::leak(Box::new(Lane::new()));
            lanes.push(lane);
            lane
        }
        (None, Some(lane)) => **lane,
        (None, None) => {
            drop(lanes);
            log::warn("profiler", &format!("more than {LANES_MAX} threads: some are left out"));
            return None;
        }
    };
    lane.taken.store(true, Ordering::Release);
    *fault::lock(&lane.name) = name;
    drop(lanes);
    // Where the thread is ending already, the lane stays with it.
    let _ = LEASE.try_with(|lease| *lease.borrow_mut() = Some(Lease(lane)));
    LANE.set(Some(lane));
    Some(lane)
}

impl Lane {
    pub fn new() -> Lane {
        Lane {
            // SAFETY: events are numbers alone.
            events: unsafe { Zeros::new(EVENTS_MAX) },
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            depth: Cell::new(0),
            stack: [const { Cell::new(0) }; DEPTH_MAX],
            taken: AtomicBool::new(true),
            name: Mutex::new(String::new()),
        }
    }

    #[inline(always)]
    fn write(&self, head: usize, event: Event) {
        // SAFETY: the caller found room, so nobody reads this place until `head` says that it may.
        unsafe { *self.events[head & (EVENTS_MAX - 1)].get() = event };
        self.head.store(head + 1, Ordering::Release);
    }

    /// Opens a scope; the time is taken last.
    #[inline(always)]
    fn open(&self, name: u32) {
        let (depth, head) = (self.depth.get(), self.head.load(Ordering::Relaxed));
        self.depth.set(depth + 1);
        let used = head - self.tail.load(Ordering::Acquire);
        // Room is left for the ends of all that are open.
        if depth < DEPTH_MAX && used + depth + 2 <= EVENTS_MAX && name & NAME != 0 {
            self.stack[depth].set(name);
            self.write(head, Event { tick: ticks(), name: name & NAME });
        } else {
            self.lose(depth, name);
        }
    }

    #[cold]
    #[inline(never)]
    fn lose(&self, depth: usize, name: u32) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = self.stack.get(depth) {
            place.set(name | LOST);
        }
    }

    /// Closes what is open until so many are left; the time is taken first.
    #[inline(always)]
    fn close_to(&self, depth: usize) {
        let tick = ticks();
        while self.depth.get() > depth {
            let top = self.depth.get() - 1;
            self.depth.set(top);
            if top < DEPTH_MAX && self.stack[top].get() & LOST == 0 {
                self.write(self.head.load(Ordering::Relaxed), Event { tick, name: 0 });
            }
        }
    }

    /// Calls `each` with every event that was written since the last time.
    pub fn drain(&self, mut each: impl FnMut(Event)) {
        let (tail, head) = (self.tail.load(Ordering::Relaxed), self.head.load(Ordering::Acquire));
        for at in tail..head {
            // SAFETY: written before `head` said so, and not again before `tail` does.
            each(unsafe { *self.events[at & (EVENTS_MAX - 1)].get() });
        }
        self.tail.store(head, Ordering::Release);
    }

    /// How many scopes were left out since the last time.
    pub fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }
}

/// An open scope of Rust's, closed when the value goes. Made by [`scope!`](crate::scope).
#[must_use]
pub struct Scope {
    lane: Option<&'static Lane>,
    depth: usize,
    /// Of this thread alone.
    here: PhantomData<*const ()>,
}

impl Scope {
    /// Opens a scope.
    #[inline(always)]
    pub fn begin(site: &Site) -> Scope {
        match is_enabled() {
            true => Scope::open(site.id()),
            false => Scope { lane: None, depth: 0, here: PhantomData },
        }
    }

    /// Opens a scope whose name is known at run time only: a task's, a system's.
    #[inline]
    pub fn named(name: &'static str) -> Scope {
        match is_enabled() {
            true => Scope::open(super::names::id_of_static(name)),
            false => Scope { lane: None, depth: 0, here: PhantomData },
        }
    }

    /// Opens nothing: what is opened while the value is there is closed when it goes. For whoever
    /// calls code that may leave scopes open.
    pub fn bracket() -> Scope {
        let lane = if is_enabled() { own() } else { None };
        let depth = lane.map_or(0, |lane| lane.depth.get());
        Scope { lane, depth, here: PhantomData }
    }

    #[inline(always)]
    fn open(name: u32) -> Scope {
        let lane = own();
        let depth = lane.map_or(0, |lane| {
            let depth = lane.depth.get();
            lane.open(name);
            depth
        });
        Scope { lane, depth, here: PhantomData }
    }
}

impl Drop for Scope {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(lane) = self.lane {
            lane.close_to(self.depth);
        }
    }
}

/// What came of a script's wish to close a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Closed {
    Fine = 0,
    /// It was open, and so were others inside of it, which are closed now, too.
    WithOthers = 1,
    /// No scope of a script's is open.
    NoneOpen = 2,
    /// Scopes of scripts are open, and that one is not.
    NotOpen = 3,
}

/// Opens a scope for a script: `name` is what [`name_id`](super::name_id) gave.
#[inline]
pub fn begin_script(name: u32) {
    if is_enabled()
        && let Some(lane) = own()
    {
        lane.open(name | SCRIPT);
    }
}

/// Closes the innermost scope that a script opened, or with a name the innermost of that name.
#[inline]
pub fn end_script(name: u32) -> Closed {
    let Some(lane) = own().filter(|_| is_enabled()) else { return Closed::Fine };
    let depth = lane.depth.get();
    if depth > 0 && depth <= DEPTH_MAX {
        let top = lane.stack[depth - 1].get();
        if top & SCRIPT != 0 && (name == 0 || top & NAME == name) {
            lane.close_to(depth - 1);
            return Closed::Fine;
        }
    }
    end_outer(lane, name)
}

#[cold]
#[inline(never)]
fn end_outer(lane: &Lane, name: u32) -> Closed {
    let depth = lane.depth.get();
    if depth > DEPTH_MAX {
        // So deep nothing is known of names.
        lane.close_to(depth - 1);
        return Closed::Fine;
    }
    let mut open = 0;
    for at in (0..depth).rev() {
        let one = lane.stack[at].get();
        if one & SCRIPT == 0 {
            break;
        }
        if one & NAME == name {
            lane.close_to(at);
            return Closed::WithOthers;
        }
        open += 1;
    }
    if open == 0 { Closed::NoneOpen } else { Closed::NotOpen }
}

/// The name of the innermost scope that a script has open on this thread.
pub fn open_script() -> Option<&'static str> {
    let lane = own()?;
    let top = lane.depth.get().checked_sub(1).filter(|top| *top < DEPTH_MAX)?;
    let name = lane.stack[top].get();
    (name & SCRIPT != 0).then(|| super::names::name_of(name & NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(lane: &Lane) -> Vec<u32> {
        let mut names = Vec::new();
        lane.drain(|event| names.push(event.name));
        names
    }

    #[test]
    fn beginnings_and_ends_come_in_their_order() {
        let lane = Lane::new();
        lane.open(1);
        lane.open(2);
        lane.close_to(1);
        assert_eq!(names(&lane), [1, 2, 0]);
        lane.close_to(0);
        assert_eq!(names(&lane), [0]);
    }

    #[test]
    fn what_closes_closes_what_is_still_open_inside_of_it() {
        let lane = Lane::new();
        for name in 1..=3 {
            lane.open(name);
        }
        lane.close_to(0);
        assert_eq!(names(&lane), [1, 2, 3, 0, 0, 0]);
    }

    #[test]
    fn a_full_ring_leaves_scopes_out_and_never_an_end() {
        let lane = Lane::new();
        lane.open(1);
        for _ in 0..EVENTS_MAX {
            lane.open(2);
            lane.close_to(1);
        }
        lane.close_to(0);
        let names = names(&lane);
        let begun = names.iter().filter(|name| **name != 0).count();
        assert_eq!(begun * 2, names.len());
        assert!(names.len() <= EVENTS_MAX && lane.take_lost() > 0);
        lane.open(3);
        lane.close_to(0);
        assert_eq!((self::names(&lane), lane.take_lost()), (vec![3, 0], 0));
    }

    #[test]
    fn scopes_that_lie_too_deep_are_left_out_and_counted() {
        let lane = Lane::new();
        for _ in 0..DEPTH_MAX + 10 {
            lane.open(1);
        }
        assert_eq!(lane.take_lost(), 10);
        lane.close_to(0);
        assert_eq!(names(&lane).len(), 2 * DEPTH_MAX);
    }

    #[test]
    fn a_script_closes_its_own_scopes_alone() {
        let lane = Lane::new();
        lane.open(7);
        assert_eq!(end_outer(&lane, 0), Closed::NoneOpen);
        lane.open(1 | SCRIPT);
        lane.open(2 | SCRIPT);
        assert_eq!(end_outer(&lane, 9), Closed::NotOpen);
        assert_eq!(end_outer(&lane, 1), Closed::WithOthers);
        assert_eq!(names(&lane), [7, 1, 2, 0, 0]);
    }
}
