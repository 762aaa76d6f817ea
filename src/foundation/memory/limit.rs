//! The limit on the engine's memory: how many bytes the blocks of the process hold together, and
//! how many they may. Counted in every build, one batch per thread at a time, so that an allocation
//! costs an addition to a number of its own thread.
//!
//! An allocation is never refused here. Callers that know how much they are about to take ask
//! [`check_room`] first; whoever runs scripts learns of growth beyond the limit
//! ([`set_growth_hook`]) and raises an ordinary error.

use super::allocator::is_counting;
use super::owners::{self, NOBODY};
use crate::error;
use crate::foundation::Error;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// A thread adds its own count to the shared one when it differs from zero by more than this.
pub const BATCH_BYTES: usize = 64 << 10;
/// The share of the limit that is left for what runs while the limit is exceeded, and its minimum.
const RESERVE_PART: usize = 8;
const RESERVE_BYTES_MIN: usize = 8 << 20;
/// What may be held behind the block that exceeded the limit, where that went beyond the reserve.
const RESERVE_BEHIND_EXCESS: usize = 1 << 20;
/// How many owners an error names, and the least that each of them holds.
const NAMED_OWNERS_MAX: usize = 3;
const NAMED_BYTES_MIN: i64 = 1 << 20;

const BATCH: i64 = BATCH_BYTES as i64;
const NO_LIMIT: i64 = i64::MAX;

/// Bytes held by all blocks, as far as the threads have added their own counts.
static HELD: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicI64 = AtomicI64::new(NO_LIMIT);
/// Whether more is held than may be.
static OVER: AtomicBool = AtomicBool::new(false);
/// How much was held when the reserve was first looked at since it became too much; 0: not yet.
static HELD_AT_EXCESS: AtomicI64 = AtomicI64::new(0);
/// How often the count fell back below the limit.
static RECOVERIES: AtomicU64 = AtomicU64::new(0);
static GROWTH_HOOK: OnceLock<fn()> = OnceLock::new();

/// The count of a thread that has no batch: before its first block, and while it ends. Far enough
/// from zero that every change takes the slow path.
const NO_BATCH: i64 = i64::MAX / 2;

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    New,
    Runs,
    Ends,
}

/// Adds what is left of a thread's batch when the thread ends.
struct LastBatch;

impl Drop for LastBatch {
    fn drop(&mut self) {
        let rest = BATCHED.replace(NO_BATCH);
        STAGE.set(Stage::Ends);
        if rest != NO_BATCH {
            add(rest);
        }
    }
}

thread_local! {
    static BATCHED: Cell<i64> = const { Cell::new(NO_BATCH) };
    static STAGE: Cell<Stage> = const { Cell::new(Stage::New) };
    static LAST_BATCH: LastBatch = const { LastBatch };
    /// Whether this thread does work of the engine's own ([`Apart`]), and what its blocks came to
    /// since then.
    static IS_APART: Cell<bool> = const { Cell::new(false) };
    static APART_BYTES: Cell<i64> = const { Cell::new(0) };
    /// All that this thread has added to the shared count.
    static ADDED: Cell<i64> = const { Cell::new(0) };
}

/// Counts bytes that this thread allocated, or below zero freed.
#[inline(always)]
pub(super) fn change(bytes: i64) {
    let batched = BATCHED.get() + bytes;
    if batched.unsigned_abs() > BATCH as u64 {
        return end_batch(batched);
    }
    BATCHED.set(batched);
}

#[cold]
#[inline(never)]
fn end_batch(batched: i64) {
    match STAGE.get() {
        Stage::Runs => {
            BATCHED.set(0);
            add(batched);
        }
        Stage::New => {
            // First, for what follows may allocate.
            STAGE.set(Stage::Runs);
            BATCHED.set(batched - NO_BATCH);
            let registered = LAST_BATCH.try_with(|_| ());
            // It fails only while the thread ends: nothing would add its batch.
            if registered.is_err() {
                drop(LastBatch);
            }
        }
        Stage::Ends => add(batched - NO_BATCH),
    }
}

/// Adds to the shared count, or to what this thread holds apart.
fn add(bytes: i64) {
    if IS_APART.get() {
        return APART_BYTES.set(APART_BYTES.get() + bytes);
    }
    ADDED.set(ADDED.get() + bytes);
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    let over = held > LIMIT.load(Ordering::Relaxed);
    note_over(over);
    if over && bytes > 0 {
        call_growth_hook();
    }
}

fn note_over(over: bool) {
    if OVER.load(Ordering::Relaxed) != over && OVER.swap(over, Ordering::Relaxed) && !over {
        HELD_AT_EXCESS.store(0, Ordering::Relaxed);
        RECOVERIES.fetch_add(1, Ordering::Relaxed);
    }
}

fn call_growth_hook() {
    if let Some(hook) = GROWTH_HOOK.get() {
        hook();
    }
}

/// Names the function that is called on a thread whose blocks grew while more is held than may be.
/// It must not allocate. The first one stays.
pub fn set_growth_hook(hook: fn()) {
    // Every VM of the process names the same one.
    let _ = GROWTH_HOOK.set(hook);
}

/// Work of the engine's own, such as compiling what was saved: until this is dropped, what the
/// calling thread allocates and frees does not count as the game's, and the game's is not in its
/// way. What is left of it counts from then on: the sum of all is always that of the blocks.
pub struct Apart {
    /// The one around this one, on the same thread, goes on.
    inner: bool,
    /// Of this thread.
    _thread: PhantomData<*const ()>,
}

impl Apart {
    pub fn begin() -> Apart {
        end_own_batch();
        Apart { inner: IS_APART.replace(true), _thread: PhantomData }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        if !self.inner {
            end_own_batch();
            IS_APART.set(false);
            add(APART_BYTES.replace(0));
        }
    }
}

/// Whether the calling thread works apart, as those do that it starts for its work.
pub fn is_apart() -> bool {
    IS_APART.get()
}

/// Adds this thread's batch now.
fn end_own_batch() {
    if STAGE.get() == Stage::Runs {
        add(BATCHED.replace(0));
    }
}

/// Bytes that are held: exact for this thread, and for each other one to [`BATCH_BYTES`]. For one
/// that works [`Apart`], what its work holds.
pub fn held() -> usize {
    let own = BATCHED.get();
    let own = if own == NO_BATCH { 0 } else { own };
    let others = if IS_APART.get() { APART_BYTES.get() } else { HELD.load(Ordering::Relaxed) };
    usize::try_from(others + own).unwrap_or(0)
}

/// The calling thread's part in what is held: bytes that it took, less those that it gave back,
/// which another thread may have taken. It tells whether this thread has grown since a moment.
pub fn own_part() -> i64 {
    let own = BATCHED.get();
    ADDED.get() + if own == NO_BATCH { 0 } else { own }
}

/// The most bytes that may be held; none: there is no limit.
pub fn limit() -> Option<usize> {
    match LIMIT.load(Ordering::Relaxed) {
        NO_LIMIT => None,
        limit => usize::try_from(limit).ok(),
    }
}

/// Sets the most bytes that the blocks of the process may hold together.
pub fn set_limit(bytes: Option<usize>) {
    let limit = bytes.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(NO_LIMIT);
    LIMIT.store(limit, Ordering::Relaxed);
    note_over(HELD.load(Ordering::Relaxed) > limit);
}

/// Whether more is held than may be.
#[inline(always)]
pub fn is_over() -> bool {
    OVER.load(Ordering::Relaxed)
}

/// How often the count fell back below the limit.
pub fn recoveries() -> u64 {
    RECOVERIES.load(Ordering::Relaxed)
}

/// What may be held beyond the limit, for what runs while it is exceeded.
fn reserve(limit: usize) -> usize {
    (limit / RESERVE_PART).max(RESERVE_BYTES_MIN)
}

/// Whether the reserve is used up, too. Beyond what was held when this was first asked there is
/// always a little: a table that doubles may go far beyond the limit in one step, and what releases
/// it must run.
pub fn is_reserve_used() -> bool {
    let is_used = |limit: usize| {
        let held = held();
        let now = i64::try_from(held).unwrap_or(i64::MAX);
        let first = HELD_AT_EXCESS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        let excess = usize::try_from(first.map_or_else(|before| before, |_| now)).unwrap_or(0);
        let behind = excess.saturating_add(RESERVE_BEHIND_EXCESS);
        held > limit.saturating_add(reserve(limit)).max(behind)
    };
    is_over() && limit().is_some_and(is_used)
}

/// How many bytes may still be taken.
pub fn room() -> usize {
    limit().map_or(usize::MAX, |limit| limit.saturating_sub(held()))
}

/// Asks for room before it is taken.
///
/// # Errors
/// There is less than that: words that name the limit, its setting and who holds most.
pub fn check_room(bytes: usize) -> Result<(), Error> {
    match limit() {
        Some(limit) if bytes > room() => Err(error!("{}", no_room_message(bytes, limit))),
        _ => Ok(()),
    }
}

/// Looks at the limit while much is being made whose size is not known in advance.
///
/// # Errors
/// More is held than may be.
pub fn check_over() -> Result<(), Error> {
    let over = match is_apart() {
        true => room() == 0,
        false => is_over(),
    };
    if over { Err(error!("{}", over_message())) } else { Ok(()) }
}

/// True for an error of this limit, whatever stands before it: what was to be read or made may be
/// all right.
pub fn is_shortage(error: &Error) -> bool {
    error.message.contains(SHORTAGE)
}

/// The words by which these errors are known.
const SHORTAGE: &str = "not enough memory: ";
const SETTING: &str = "limits.engine_memory_mib in settings.sjson";

fn mib(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

fn no_room_message(bytes: usize, limit: usize) -> String {
    format!(
        "{SHORTAGE}this takes {} MiB, and the engine holds {} of its {} MiB{}: ask for \
         less, release some of it, or raise {SETTING}",
        mib(bytes),
        held() >> 20,
        limit >> 20,
        largest_owners()
    )
}

/// The words for memory that is held beyond the limit.
pub fn over_message() -> String {
    format!(
        "{SHORTAGE}the engine holds all of its {} MiB{}: release some of it, or raise \
         {SETTING}",
        limit().unwrap_or(0) >> 20,
        largest_owners()
    )
}

/// Who holds most, where that is counted.
fn largest_owners() -> String {
    if !is_counting() {
        return String::new();
    }
    let mut owners = Vec::new();
    owners::each(|_, name, bytes, _| owners.push((bytes, name)));
    describe_owners(owners)
}

fn describe_owners(mut owners: Vec<(i64, &str)>) -> String {
    owners.retain(|(bytes, _)| *bytes >= NAMED_BYTES_MIN);
    owners.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    owners.truncate(NAMED_OWNERS_MAX);
    let named: Vec<_> =
        owners.iter().map(|(bytes, name)| format!("{name} {} MiB", bytes >> 20)).collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}

/// Memory that counts although no block of the process holds it: on the graphics adapter, or of an
/// allocator of its own. Below zero: bytes of blocks that do not count, because the system gives
/// their pages only as they are written to. Ends when it is dropped.
#[derive(Debug)]
pub struct Charge {
    bytes: i64,
    owner: u8,
}

impl Charge {
    /// Nothing yet, of an owner.
    pub fn new(owner: &str) -> Charge {
        let owner = if is_counting() { owners::number_of(owner) } else { NOBODY };
        if owner != NOBODY {
            owners::hold(owner, 0);
        }
        Charge { bytes: 0, owner }
    }

    /// Bytes that are charged.
    pub fn bytes(&self) -> i64 {
        self.bytes
    }

    /// Charges so many bytes instead of those before.
    pub fn set(&mut self, bytes: i64) {
        let change = bytes - self.bytes;
        if self.owner != NOBODY {
            owners::adjust(self.owner, change);
        }
        add(change);
        self.bytes = bytes;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.set(0);
        if self.owner != NOBODY {
            owners::release(self.owner, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The count is the process's, and other tests run in parallel: these hold whatever they do.
    // What happens at the limit is in tests/bad_input/memory.rs.

    #[test]
    fn a_thread_adds_its_count_in_batches_and_the_rest_when_it_ends() {
        // So much that what other threads do meanwhile is nothing beside it.
        const LARGE: i64 = 1 << 50;
        let before = held();
        let small = std::thread::spawn(|| {
            change(100);
            (BATCHED.get(), HELD.load(Ordering::Relaxed))
        });
        let (batched, shared) = small.join().unwrap();
        assert_eq!(batched, 100);
        assert!(shared < LARGE / 2);
        std::thread::spawn(|| change(LARGE)).join().unwrap();
        assert!(held() as i64 - before as i64 > LARGE / 2, "it was added when the thread ended");
        std::thread::spawn(|| change(-LARGE)).join().unwrap();
        assert!((held() as i64 - before as i64) < LARGE / 2, "and taken away by another");
    }

    #[test]
    fn work_apart_counts_what_it_leaves_when_it_ends() {
        // So much that what other threads do meanwhile is nothing beside it.
        const LARGE: i64 = 1 << 48;
        let shared = || HELD.load(Ordering::Relaxed);
        let work = move || {
            change(LARGE);
            let outer = Apart::begin();
            // All that this thread took before is counted now.
            let before = shared();
            change(4 * LARGE);
            {
                let _inner = Apart::begin();
                change(-LARGE);
            }
            let meanwhile = shared() - before;
            // Another thread may free what was made here before it was counted.
            std::thread::spawn(|| change(-2 * LARGE)).join().unwrap();
            assert!(held() as i64 > 2 * LARGE, "its own");
            drop(outer);
            let left = shared() - before;
            change(-2 * LARGE);
            (meanwhile, left)
        };
        let (meanwhile, left) = std::thread::spawn(work).join().unwrap();
        assert!(meanwhile.abs() < LARGE / 2, "{meanwhile}");
        assert!((left - LARGE).abs() < LARGE / 2, "3 made and left, 2 freed by another: {left}");
    }

    #[test]
    fn a_charge_counts_until_it_is_dropped() {
        const LARGE: i64 = 1 << 52;
        let mut charge = Charge::new("tests/charge");
        charge.set(LARGE);
        assert!(held() as i64 > LARGE / 2);
        charge.set(LARGE / 2);
        assert_eq!(charge.bytes(), LARGE / 2);
        drop(charge);
        assert!((held() as i64) < LARGE / 4);
    }

    #[test]
    fn an_error_names_those_who_hold_most() {
        let owners = vec![(5 << 20, "log"), (900, "small"), (9 << 20, "calls/Save")];
        assert_eq!(describe_owners(owners), " (calls/Save 9 MiB, log 5 MiB)");
        assert_eq!(describe_owners(vec![(1, "small")]), "");
        let many = vec![(4 << 20, "d"), (3 << 20, "c"), (2 << 20, "b"), (1 << 20, "a")];
        assert_eq!(describe_owners(many), " (d 4 MiB, c 3 MiB, b 2 MiB)");
    }

    #[test]
    fn without_a_limit_there_is_room_for_everything() {
        assert_eq!(limit(), None, "no test of this program sets one");
        assert_eq!((room(), is_over(), is_reserve_used()), (usize::MAX, false, false));
        assert_eq!(check_room(usize::MAX), Ok(()));
        for message in [no_room_message(1, 1), over_message()] {
            assert!(is_shortage(&Error::new(format!("a.sound: {message}"))));
        }
        assert!(!is_shortage(&Error::new("it is damaged")));
        assert_eq!((reserve(64 << 20), reserve(2 << 30)), (8 << 20, 256 << 20));
    }
}
