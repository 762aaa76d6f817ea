//! The limit on the engine's memory: the total bytes of all blocks of the process, and their
//! maximum. The total is counted in every build, in batches per thread, so that an allocation costs
//! one addition to a thread-local number.
//!
//! This module never refuses an allocation. Callers that know the size of an allocation in advance
//! call [`check_room`] first. Code that runs scripts is notified of growth beyond the limit
//! ([`set_growth_hook`]) and raises an ordinary error.

use super::allocator::is_counting;
use super::owners::{self, NOBODY};
use crate::Error;
use crate::compact_sort::CompactSort;
use crate::error;
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// Size of a thread's batch: a thread adds its own count to the shared one when it differs from
/// zero by more than this.
pub const BATCH_BYTES: usize = 64 << 10;
/// The reserve, for code that runs while the limit is exceeded: the limit is divided by
/// `RESERVE_PART`, and `RESERVE_BYTES_MIN` is the minimum.
const RESERVE_PART: usize = 8;
const RESERVE_BYTES_MIN: usize = 8 << 20;
/// Bytes that may be allocated after the block that exceeded the limit, if that block went beyond
/// the reserve.
const RESERVE_AFTER_EXCESS: usize = 1 << 20;
/// Maximum number of owners that an error names, and the minimum bytes that each of them holds.
const NAMED_OWNERS_MAX: usize = 3;
const NAMED_BYTES_MIN: i64 = 1 << 20;

const BATCH: i64 = BATCH_BYTES as i64;
const NO_LIMIT: i64 = i64::MAX;

/// Total bytes of all blocks, without the threads' unfinished batches.
static TOTAL: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicI64 = AtomicI64::new(NO_LIMIT);
/// True while the total exceeds the limit.
static OVER: AtomicBool = AtomicBool::new(false);
/// The total at the first check of the reserve since the limit was exceeded; 0 if it was not
/// checked yet.
static TOTAL_AT_EXCESS: AtomicI64 = AtomicI64::new(0);
/// Number of times that the total fell back below the limit.
static RECOVERIES: AtomicU64 = AtomicU64::new(0);
static GROWTH_HOOK: OnceLock<fn()> = OnceLock::new();

/// The batch of a thread that has none: before its first block, and while the thread ends. The
/// value is so far from zero that every change takes the slow path.
const NO_BATCH: i64 = i64::MAX / 2;

#[derive(Clone, Copy, PartialEq)]
enum LimitStage {
    New,
    Runs,
    Ends,
}

/// A guard that adds the rest of a thread's batch to the total when the thread ends.
struct BatchFlushGuard;

impl Drop for BatchFlushGuard {
    fn drop(&mut self) {
        let rest = BATCHED.replace(NO_BATCH);
        STAGE.set(LimitStage::Ends);
        if rest != NO_BATCH {
            add(rest);
        }
    }
}

thread_local! {
    static BATCHED: Cell<i64> = const { Cell::new(NO_BATCH) };
    static STAGE: Cell<LimitStage> = const { Cell::new(LimitStage::New) };
    static LAST_BATCH: BatchFlushGuard = const { BatchFlushGuard };
    /// True if this thread does the engine's own work ([`SeparateWork`]); `SEPARATE_BYTES` counts
    /// the bytes of that work.
    static IS_SEPARATE: Cell<bool> = const { Cell::new(false) };
    static SEPARATE_BYTES: Cell<i64> = const { Cell::new(0) };
    /// Bytes that this thread has added to the shared total.
    static ADDED: Cell<i64> = const { Cell::new(0) };
}

/// Counts bytes that this thread allocated; a negative number counts freed bytes.
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
        LimitStage::Runs => {
            BATCHED.set(0);
            add(batched);
        }
        LimitStage::New => {
            // The stage is set first because the following code may allocate.
            STAGE.set(LimitStage::Runs);
            BATCHED.set(batched - NO_BATCH);
            let registered = LAST_BATCH.try_with(|_| ());
            // This fails only while the thread ends. Then no guard would add the batch.
            if registered.is_err() {
                drop(BatchFlushGuard);
            }
        }
        LimitStage::Ends => add(batched - NO_BATCH),
    }
}

/// Adds to the shared total, or to this thread's separate count.
fn add(bytes: i64) {
    if IS_SEPARATE.get() {
        return SEPARATE_BYTES.set(SEPARATE_BYTES.get() + bytes);
    }
    ADDED.set(ADDED.get() + bytes);
    let held = TOTAL.fetch_add(bytes, Ordering::Relaxed) + bytes;
    let over = held > LIMIT.load(Ordering::Relaxed);
    record_over_limit(over);
    if over && bytes > 0 {
        call_growth_hook();
    }
}

fn record_over_limit(over: bool) {
    if OVER.load(Ordering::Relaxed) != over && OVER.swap(over, Ordering::Relaxed) && !over {
        TOTAL_AT_EXCESS.store(0, Ordering::Relaxed);
        RECOVERIES.fetch_add(1, Ordering::Relaxed);
    }
}

fn call_growth_hook() {
    if let Some(hook) = GROWTH_HOOK.get() {
        hook();
    }
}

/// Sets the function that is called on a thread that allocates while the total exceeds the limit.
/// The function must not allocate. Only the first call has an effect.
pub fn set_growth_hook(hook: fn()) {
    // Every VM of the process sets the same function.
    let _ = GROWTH_HOOK.set(hook);
}

/// A guard for the engine's own work, such as compiling saved files. While it lives, memory of the
/// calling thread does not count against the limit of the game, and the game's memory does not
/// limit the work. Memory that remains afterwards is added to the total. The sum of all counts is
/// always the sum of the blocks.
pub struct SeparateWork {
    /// True if this guard is nested in another one on the same thread.
    nested: bool,
    /// Ties the guard to this thread.
    _thread: PhantomData<*const ()>,
}

impl SeparateWork {
    pub fn begin() -> SeparateWork {
        flush_batch();
        SeparateWork { nested: IS_SEPARATE.replace(true), _thread: PhantomData }
    }
}

impl Drop for SeparateWork {
    fn drop(&mut self) {
        if !self.nested {
            flush_batch();
            IS_SEPARATE.set(false);
            add(SEPARATE_BYTES.replace(0));
        }
    }
}

/// Returns true if the calling thread's memory is counted separately ([`SeparateWork`]). A thread
/// that [`run_with_stack`](crate::panic::run_with_stack) starts inherits this.
pub fn is_separate() -> bool {
    IS_SEPARATE.get()
}

/// Adds this thread's batch to the total now.
fn flush_batch() {
    if STAGE.get() == LimitStage::Runs {
        add(BATCHED.replace(0));
    }
}

/// Returns the total bytes: exact for this thread, and within [`BATCH_BYTES`] for each other
/// thread. Within [`SeparateWork`], returns the bytes of its work.
pub fn total() -> usize {
    let own = BATCHED.get();
    let own = if own == NO_BATCH { 0 } else { own };
    let others =
        if IS_SEPARATE.get() { SEPARATE_BYTES.get() } else { TOTAL.load(Ordering::Relaxed) };
    usize::try_from(others + own).unwrap_or(0)
}

/// Returns the calling thread's part of the total: bytes that it allocated, minus bytes that it
/// freed, which other threads may have allocated. Compare two results to find the growth of this
/// thread.
pub fn thread_total() -> i64 {
    let own = BATCHED.get();
    ADDED.get() + if own == NO_BATCH { 0 } else { own }
}

/// Returns the limit in bytes, or `None` if no limit is set.
pub fn limit() -> Option<usize> {
    match LIMIT.load(Ordering::Relaxed) {
        NO_LIMIT => None,
        limit => usize::try_from(limit).ok(),
    }
}

/// Sets the maximum total bytes of all blocks of the process.
pub fn set_limit(bytes: Option<usize>) {
    let limit = bytes.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(NO_LIMIT);
    LIMIT.store(limit, Ordering::Relaxed);
    record_over_limit(TOTAL.load(Ordering::Relaxed) > limit);
}

/// Returns true if the total exceeds the limit.
#[inline(always)]
pub fn is_over() -> bool {
    OVER.load(Ordering::Relaxed)
}

/// Returns the number of times that the total fell back below the limit.
pub fn recoveries() -> u64 {
    RECOVERIES.load(Ordering::Relaxed)
}

/// Returns the bytes that may be held beyond the limit, for code that runs while the limit is
/// exceeded.
fn reserve(limit: usize) -> usize {
    (limit / RESERVE_PART).max(RESERVE_BYTES_MIN)
}

/// Returns true if the reserve is also used up. A small amount beyond the total at the first check
/// is always allowed: a table that doubles may exceed the limit by far in one step, and the code
/// that frees it must run.
pub fn is_reserve_used() -> bool {
    let is_used = |limit: usize| {
        let held = total();
        let now = i64::try_from(held).unwrap_or(i64::MAX);
        let first = TOTAL_AT_EXCESS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        let excess = usize::try_from(first.map_or_else(|before| before, |_| now)).unwrap_or(0);
        let excess_limit = excess.saturating_add(RESERVE_AFTER_EXCESS);
        held > limit.saturating_add(reserve(limit)).max(excess_limit)
    };
    is_over() && limit().is_some_and(is_used)
}

/// Returns the number of bytes that may still be allocated.
pub fn available() -> usize {
    limit().map_or(usize::MAX, |limit| limit.saturating_sub(total()))
}

/// Checks that an allocation of `bytes` fits, before it is done.
///
/// # Errors
/// Returns an error if it does not fit. The message names the limit, its setting and the largest
/// owners.
pub fn check_room(bytes: usize) -> Result<(), Error> {
    match limit() {
        Some(limit) if bytes > available() => {
            Err(error!("{}", out_of_memory_message(bytes, limit)))
        }
        _ => Ok(()),
    }
}

/// Checks the limit during work whose memory use is not known in advance.
///
/// # Errors
/// Returns an error if the total exceeds the limit.
pub fn check_over() -> Result<(), Error> {
    let over = match is_separate() {
        true => available() == 0,
        false => is_over(),
    };
    if over { Err(error!("{}", over_message())) } else { Ok(()) }
}

/// Returns true for an error of this limit, even if it has a prefix. The data that was to be read
/// or created may be valid.
pub fn is_shortage(error: &Error) -> bool {
    error.message.contains(SHORTAGE)
}

/// The text that identifies errors of this limit.
const SHORTAGE: &str = "not enough memory: ";
const SETTING: &str = "limits.engine_memory_mib in settings.sjson";

fn mib(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

fn out_of_memory_message(bytes: usize, limit: usize) -> String {
    format!(
        "{SHORTAGE}this takes {} MiB, and the engine holds {} of its {} MiB{}: ask for \
         less, release some of it, or raise {SETTING}",
        mib(bytes),
        total() >> 20,
        limit >> 20,
        largest_owners()
    )
}

/// Returns the error message for a total that exceeds the limit.
pub fn over_message() -> String {
    format!(
        "{SHORTAGE}the engine holds all of its {} MiB{}: release some of it, or raise \
         {SETTING}",
        limit().unwrap_or(0) >> 20,
        largest_owners()
    )
}

/// Returns the owners with the most memory as text, or an empty text if owners are not counted.
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
    owners.sort_compact_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    owners.truncate(NAMED_OWNERS_MAX);
    let named: Vec<_> =
        owners.iter().map(|(bytes, name)| format!("{name} {} MiB", bytes >> 20)).collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}

/// Memory that counts although it is in no block of the process: on the graphics adapter, or in
/// another allocator. A negative number excludes bytes of blocks, because the system provides their
/// pages only when they are written to. The charge ends when it is dropped.
#[derive(Debug)]
pub struct MemoryCharge {
    bytes: i64,
    owner: u8,
}

impl MemoryCharge {
    /// Creates a charge of zero bytes for an owner.
    pub fn new(owner: &str) -> MemoryCharge {
        let owner = if is_counting() { owners::number_of(owner) } else { NOBODY };
        if owner != NOBODY {
            owners::add_block(owner, 0);
        }
        MemoryCharge { bytes: 0, owner }
    }

    /// Returns the charged bytes.
    pub fn bytes(&self) -> i64 {
        self.bytes
    }

    /// Replaces the charged bytes.
    pub fn set(&mut self, bytes: i64) {
        let change = bytes - self.bytes;
        if self.owner != NOBODY {
            owners::adjust(self.owner, change);
        }
        add(change);
        self.bytes = bytes;
    }
}

impl Drop for MemoryCharge {
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
    use std::sync::{Mutex, PoisonError};

    // The total belongs to the process, and other tests run in parallel, so these tests must hold
    // whatever the others do. Behavior at the limit is tested in tests/bad_input/memory.rs.

    /// Held by the tests that change the total of the process by more than real work does.
    static LARGE_CHANGES: Mutex<()> = Mutex::new(());

    #[test]
    fn a_thread_reports_its_bytes_in_batches_and_at_its_end() {
        let _alone = LARGE_CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
        // So large that allocations of other threads are negligible.
        const LARGE: i64 = 1 << 50;
        let before = total();
        let small = std::thread::spawn(|| {
            change(100);
            (BATCHED.get(), TOTAL.load(Ordering::Relaxed))
        });
        let (batched, shared) = small.join().unwrap();
        assert_eq!(batched, 100);
        assert!(shared < LARGE / 2);
        std::thread::spawn(|| change(LARGE)).join().unwrap();
        assert!(total() as i64 - before as i64 > LARGE / 2, "it was added when the thread ended");
        std::thread::spawn(|| change(-LARGE)).join().unwrap();
        assert!((total() as i64 - before as i64) < LARGE / 2, "and taken away by another");
    }

    #[test]
    fn separate_work_counts_the_memory_it_leaves_allocated() {
        let _alone = LARGE_CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
        // So large that allocations of other threads are negligible.
        const LARGE: i64 = 1 << 48;
        let shared = || TOTAL.load(Ordering::Relaxed);
        let work = move || {
            change(LARGE);
            let outer = SeparateWork::begin();
            // All earlier allocations of this thread are counted now.
            let before = shared();
            change(4 * LARGE);
            {
                let _inner = SeparateWork::begin();
                change(-LARGE);
            }
            let meanwhile = shared() - before;
            // Another thread may free memory that was allocated here before it was counted.
            std::thread::spawn(|| change(-2 * LARGE)).join().unwrap();
            assert!(total() as i64 > 2 * LARGE, "its own");
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
        let _alone = LARGE_CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
        const LARGE: i64 = 1 << 52;
        let mut charge = MemoryCharge::new("tests/charge");
        charge.set(LARGE);
        assert!(total() as i64 > LARGE / 2);
        charge.set(LARGE / 2);
        assert_eq!(charge.bytes(), LARGE / 2);
        drop(charge);
        assert!((total() as i64) < LARGE / 4);
    }

    #[test]
    fn an_error_names_the_largest_owners() {
        let owners = vec![(5 << 20, "log"), (900, "small"), (9 << 20, "calls/Save")];
        assert_eq!(describe_owners(owners), " (calls/Save 9 MiB, log 5 MiB)");
        assert_eq!(describe_owners(vec![(1, "small")]), "");
        let many = vec![(4 << 20, "d"), (3 << 20, "c"), (2 << 20, "b"), (1 << 20, "a")];
        assert_eq!(describe_owners(many), " (d 4 MiB, c 3 MiB, b 2 MiB)");
    }

    #[test]
    fn without_a_limit_every_allocation_succeeds() {
        assert_eq!(limit(), None, "no test of this program sets one");
        assert_eq!((available(), is_over(), is_reserve_used()), (usize::MAX, false, false));
        assert_eq!(check_room(usize::MAX), Ok(()));
        for message in [out_of_memory_message(1, 1), over_message()] {
            assert!(is_shortage(&Error::new(format!("a.sound: {message}"))));
        }
        assert!(!is_shortage(&Error::new("it is damaged")));
        assert_eq!((reserve(64 << 20), reserve(2 << 30)), (8 << 20, 256 << 20));
    }
}
