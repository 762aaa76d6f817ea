//! The event buffer of one thread: the beginning and the end of each of its scopes, in a ring
//! buffer that is emptied at the end of each frame. Recording looks up nothing and allocates
//! nothing. The events are evaluated in tree.rs.

use super::clock::ticks;
use super::names::ScopeSite;
use crate::log;
use crate::memory::LazyZeroed;
use crate::panic;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Maximum number of threads that can be profiled at once.
pub const LANES_MAX: usize = 64;
/// Maximum nesting depth of scopes. Deeper scopes are dropped.
pub const DEPTH_MAX: usize = 128;
/// Maximum number of events of one thread between two frame ends. Further scopes are dropped.
pub const EVENTS_MAX: usize = 1 << 15;

/// Flag on the name of a scope that a script began.
const SCRIPT: u32 = 1 << 31;
/// Flag on the name of a scope that was dropped.
const DROPPED: u32 = 1 << 30;
const NAME: u32 = DROPPED - 1;

/// The beginning or the end of a scope. The name of an end is 0.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct ScopeEvent {
    pub tick: u64,
    pub name: u32,
}

/// A ring buffer that one thread writes and that is read at the end of a frame.
pub(super) struct ThreadBuffer {
    /// The ring. It is lazily zeroed because most threads write few events between two frame ends.
    events: LazyZeroed<UnsafeCell<ScopeEvent>>,
    /// Number of events ever written. Only the thread changes it.
    head: AtomicUsize,
    /// Number of events ever read. Only the reader changes it.
    tail: AtomicUsize,
    /// Number of dropped scopes.
    lost: AtomicU64,
    depth: Cell<usize>,
    /// Names of the open scopes.
    stack: [Cell<u32>; DEPTH_MAX],
    taken: AtomicBool,
    pub name: Mutex<String>,
}

// SAFETY: only the thread that has taken the buffer uses `depth` and `stack`. That thread writes an
// event before it advances `head`. The reader reads the event before it advances `tail`, which
// allows the slot to be written again.
unsafe impl Sync for ThreadBuffer {}

static BUFFERS: Mutex<Vec<&'static ThreadBuffer>> = Mutex::new(Vec::new());
static ENABLED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static BUFFER: Cell<Option<&'static ThreadBuffer>> = const { Cell::new(None) };
    static BUFFER_GUARD: RefCell<Option<ThreadBufferGuard>> = const { RefCell::new(None) };
}

/// A guard that returns a buffer to the pool when its thread ends.
struct ThreadBufferGuard(&'static ThreadBuffer);

impl Drop for ThreadBufferGuard {
    fn drop(&mut self) {
        BUFFER.set(None);
        self.0.close_to(0);
        self.0.taken.store(false, Ordering::Release);
    }
}

/// Turns the recording of scopes on or off.
pub fn set_enabled(on: bool) {
    super::clock::begin();
    ENABLED.store(on, Ordering::Relaxed);
}

/// Returns true if scopes are recorded.
#[inline(always)]
pub fn is_enabled() -> bool {
    ENABLED.load(Ordering::Relaxed)
}

/// Returns all buffers that were ever taken.
pub(super) fn all() -> Vec<&'static ThreadBuffer> {
    panic::lock(&BUFFERS).clone()
}

/// Returns the buffer of this thread.
#[inline(always)]
pub(super) fn of_this_thread() -> Option<&'static ThreadBuffer> {
    match BUFFER.get() {
        Some(buffer) => Some(buffer),
        None => take(),
    }
}

#[cold]
#[inline(never)]
fn take() -> Option<&'static ThreadBuffer> {
    crate::owner!("profiler");
    let name = std::thread::current().name().unwrap_or("thread").to_string();
    let mut buffers = panic::lock(&BUFFERS);
    let mut free: Vec<_> =
        buffers.iter().filter(|buffer| !buffer.taken.load(Ordering::Acquire)).collect();
    // A free buffer with the same thread name is preferred, so that a restarted thread continues
    // its own rows.
    free.sort_by_key(|buffer| *panic::lock(&buffer.name) != name);
    let same = free.first().filter(|it| *panic::lock(&it.name) == name);
    let buffer = match (same, free.first()) {
        (Some(buffer), _) => **buffer,
        _ if buffers.len() < LANES_MAX => {
            let buffer: &'static ThreadBuffer = Box::leak(Box::new(ThreadBuffer::new()));
            buffers.push(buffer);
            buffer
        }
        (None, Some(buffer)) => **buffer,
        (None, None) => {
            drop(buffers);
            log::warn("profiler", &format!("more than {LANES_MAX} threads: some are ignored"));
            return None;
        }
    };
    buffer.taken.store(true, Ordering::Release);
    *panic::lock(&buffer.name) = name;
    drop(buffers);
    // If the thread is already ending, it keeps the buffer.
    let _ = BUFFER_GUARD.try_with(|lease| *lease.borrow_mut() = Some(ThreadBufferGuard(buffer)));
    BUFFER.set(Some(buffer));
    Some(buffer)
}

impl ThreadBuffer {
    pub fn new() -> ThreadBuffer {
        ThreadBuffer {
            // SAFETY: events consist of numbers only, so zero bytes are valid.
            events: unsafe { LazyZeroed::new(EVENTS_MAX) },
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
    fn write(&self, head: usize, event: ScopeEvent) {
        // SAFETY: the caller checked for a free slot, so the reader does not access it until `head`
        // advances.
        unsafe { *self.events[head & (EVENTS_MAX - 1)].get() = event };
        self.head.store(head + 1, Ordering::Release);
    }

    /// Opens a scope. The time is taken last.
    #[inline(always)]
    fn open(&self, name: u32) {
        let (depth, head) = (self.depth.get(), self.head.load(Ordering::Relaxed));
        self.depth.set(depth + 1);
        let used = head - self.tail.load(Ordering::Acquire);
        // Free slots are reserved for the ends of all open scopes.
        if depth < DEPTH_MAX && used + depth + 2 <= EVENTS_MAX && name & NAME != 0 {
            self.stack[depth].set(name);
            self.write(head, ScopeEvent { tick: ticks(), name: name & NAME });
        } else {
            self.record_dropped(depth, name);
        }
    }

    #[cold]
    #[inline(never)]
    fn record_dropped(&self, depth: usize, name: u32) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        if let Some(slot) = self.stack.get(depth) {
            slot.set(name | DROPPED);
        }
    }

    /// Closes the innermost scopes until `depth` of them are open. The time is taken first.
    #[inline(always)]
    fn close_to(&self, depth: usize) {
        let tick = ticks();
        while self.depth.get() > depth {
            let top = self.depth.get() - 1;
            self.depth.set(top);
            if top < DEPTH_MAX && self.stack[top].get() & DROPPED == 0 {
                self.write(self.head.load(Ordering::Relaxed), ScopeEvent { tick, name: 0 });
            }
        }
    }

    /// Calls `each` with every event that was written since the last call.
    pub fn drain(&self, mut each: impl FnMut(ScopeEvent)) {
        let (tail, head) = (self.tail.load(Ordering::Relaxed), self.head.load(Ordering::Acquire));
        for at in tail..head {
            // SAFETY: the event was written before `head` advanced, and is not overwritten before
            // `tail` advances.
            each(unsafe { *self.events[at & (EVENTS_MAX - 1)].get() });
        }
        self.tail.store(head, Ordering::Release);
    }

    /// Returns the number of scopes that were dropped since the last call.
    pub fn take_dropped(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }
}

/// A guard for an open scope of Rust code, which closes it on drop. Created by
/// [`scope!`](crate::scope).
#[must_use]
pub struct ProfileScope {
    buffer: Option<&'static ThreadBuffer>,
    depth: usize,
    /// Ties the guard to this thread.
    _not_send: PhantomData<*const ()>,
}

impl ProfileScope {
    /// Opens a scope.
    #[inline(always)]
    pub fn begin(site: &ScopeSite) -> ProfileScope {
        match is_enabled() {
            true => ProfileScope::open(site.id()),
            false => ProfileScope { buffer: None, depth: 0, _not_send: PhantomData },
        }
    }

    /// Opens a scope whose name is known only at run time, such as that of a task or a system.
    #[inline]
    pub fn named(name: &'static str) -> ProfileScope {
        match is_enabled() {
            true => ProfileScope::open(super::names::id_of_static(name)),
            false => ProfileScope { buffer: None, depth: 0, _not_send: PhantomData },
        }
    }

    /// Returns a guard that opens no scope, but on drop closes all scopes that were opened during
    /// its life. Use it around code that may leave scopes open.
    pub fn close_on_drop() -> ProfileScope {
        let buffer = if is_enabled() { of_this_thread() } else { None };
        let depth = buffer.map_or(0, |buffer| buffer.depth.get());
        ProfileScope { buffer, depth, _not_send: PhantomData }
    }

    #[inline(always)]
    fn open(name: u32) -> ProfileScope {
        let buffer = of_this_thread();
        let depth = buffer.map_or(0, |buffer| {
            let depth = buffer.depth.get();
            buffer.open(name);
            depth
        });
        ProfileScope { buffer, depth, _not_send: PhantomData }
    }
}

impl Drop for ProfileScope {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer {
            buffer.close_to(self.depth);
        }
    }
}

/// The result of a script's request to close a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum CloseResult {
    Fine = 0,
    /// The scope was open and is now closed, with other scopes that were open inside of it.
    WithOthers = 1,
    /// No scope of a script is open.
    NoneOpen = 2,
    /// Scopes of scripts are open, but not the requested one.
    NotOpen = 3,
}

/// Opens a scope for a script. `name` is a number that [`name_id`](super::name_id) returned.
#[inline]
pub fn begin_script(name: u32) {
    if is_enabled()
        && let Some(buffer) = of_this_thread()
    {
        buffer.open(name | SCRIPT);
    }
}

/// Closes the innermost scope that a script opened. If `name` is not 0, closes the innermost scope
/// with that name.
#[inline]
pub fn end_script(name: u32) -> CloseResult {
    let Some(buffer) = of_this_thread().filter(|_| is_enabled()) else { return CloseResult::Fine };
    let depth = buffer.depth.get();
    if depth > 0 && depth <= DEPTH_MAX {
        let top = buffer.stack[depth - 1].get();
        if top & SCRIPT != 0 && (name == 0 || top & NAME == name) {
            buffer.close_to(depth - 1);
            return CloseResult::Fine;
        }
    }
    end_outer(buffer, name)
}

#[cold]
#[inline(never)]
fn end_outer(buffer: &ThreadBuffer, name: u32) -> CloseResult {
    let depth = buffer.depth.get();
    if depth > DEPTH_MAX {
        // No names are recorded at this depth.
        buffer.close_to(depth - 1);
        return CloseResult::Fine;
    }
    let mut open = 0;
    for at in (0..depth).rev() {
        let entry = buffer.stack[at].get();
        if entry & SCRIPT == 0 {
            break;
        }
        if entry & NAME == name {
            buffer.close_to(at);
            return CloseResult::WithOthers;
        }
        open += 1;
    }
    if open == 0 { CloseResult::NoneOpen } else { CloseResult::NotOpen }
}

/// Returns the name of the innermost scope that a script has open on this thread.
pub fn open_script() -> Option<&'static str> {
    let buffer = of_this_thread()?;
    let top = buffer.depth.get().checked_sub(1).filter(|top| *top < DEPTH_MAX)?;
    let name = buffer.stack[top].get();
    (name & SCRIPT != 0).then(|| super::names::name_of(name & NAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(buffer: &ThreadBuffer) -> Vec<u32> {
        let mut names = Vec::new();
        buffer.drain(|event| names.push(event.name));
        names
    }

    #[test]
    fn begin_and_end_events_are_read_in_order() {
        let buffer = ThreadBuffer::new();
        buffer.open(1);
        buffer.open(2);
        buffer.close_to(1);
        assert_eq!(names(&buffer), [1, 2, 0]);
        buffer.close_to(0);
        assert_eq!(names(&buffer), [0]);
    }

    #[test]
    fn closing_a_scope_closes_the_open_scopes_inside_it() {
        let buffer = ThreadBuffer::new();
        for name in 1..=3 {
            buffer.open(name);
        }
        buffer.close_to(0);
        assert_eq!(names(&buffer), [1, 2, 3, 0, 0, 0]);
    }

    #[test]
    fn a_full_ring_drops_whole_scopes() {
        let buffer = ThreadBuffer::new();
        buffer.open(1);
        for _ in 0..EVENTS_MAX {
            buffer.open(2);
            buffer.close_to(1);
        }
        buffer.close_to(0);
        let names = names(&buffer);
        let begun = names.iter().filter(|name| **name != 0).count();
        assert_eq!(begun * 2, names.len());
        assert!(names.len() <= EVENTS_MAX && buffer.take_dropped() > 0);
        buffer.open(3);
        buffer.close_to(0);
        assert_eq!((self::names(&buffer), buffer.take_dropped()), (vec![3, 0], 0));
    }

    #[test]
    fn scopes_that_are_nested_too_deeply_are_dropped_and_counted() {
        let buffer = ThreadBuffer::new();
        for _ in 0..DEPTH_MAX + 10 {
            buffer.open(1);
        }
        assert_eq!(buffer.take_dropped(), 10);
        buffer.close_to(0);
        assert_eq!(names(&buffer).len(), 2 * DEPTH_MAX);
    }

    #[test]
    fn a_script_closes_only_its_own_scopes() {
        let buffer = ThreadBuffer::new();
        buffer.open(7);
        assert_eq!(end_outer(&buffer, 0), CloseResult::NoneOpen);
        buffer.open(1 | SCRIPT);
        buffer.open(2 | SCRIPT);
        assert_eq!(end_outer(&buffer, 9), CloseResult::NotOpen);
        assert_eq!(end_outer(&buffer, 1), CloseResult::WithOthers);
        assert_eq!(names(&buffer), [7, 1, 2, 0, 0]);
    }
}
