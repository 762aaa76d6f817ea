//! The per-thread array of counter values. Only its own thread writes to it; other threads read it.

use super::registry::COUNTERS_MAX;
use crate::log;
use crate::panic;
use std::cell::{Cell, RefCell};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Maximum number of threads that can count at once. Further threads add to a shared array that is
/// never read.
pub const BLOCKS_MAX: usize = 128;
/// Number of counters per bit of `changed_chunks`.
pub const CHUNK: usize = COUNTERS_MAX / 64;

pub struct ThreadCounters {
    /// Counter values as the bits of 64-bit floats. The values of the thread that plays the frames
    /// restart at zero in each frame. Those of other threads accumulate forever.
    values: [AtomicU64; COUNTERS_MAX],
    /// Bit set of the chunks of `values` that Rust code ever added to.
    touched: AtomicU64,
    taken: AtomicBool,
}

static BLOCKS: Mutex<Vec<&'static ThreadCounters>> = Mutex::new(Vec::new());
/// The array for threads that have none of their own. It is never read.
static UNOWNED: ThreadCounters = ThreadCounters::new();

thread_local! {
    static THREAD_BLOCK: Cell<Option<&'static ThreadCounters>> = const { Cell::new(None) };
    static LEASE: RefCell<Option<ThreadCountersGuard>> = const { RefCell::new(None) };
}

/// Returns a thread's array to the pool when the thread ends. The array keeps its values, and the
/// next thread continues from them.
struct ThreadCountersGuard(&'static ThreadCounters);

impl Drop for ThreadCountersGuard {
    fn drop(&mut self) {
        THREAD_BLOCK.set(Some(&UNOWNED));
        self.0.taken.store(false, Ordering::Release);
    }
}

/// Returns this thread's array, and assigns one at the first call.
#[inline(always)]
pub fn of_this_thread() -> &'static ThreadCounters {
    match THREAD_BLOCK.get() {
        Some(block) => block,
        None => take(),
    }
}

#[cold]
#[inline(never)]
fn take() -> &'static ThreadCounters {
    crate::owner!("statistics");
    let mut blocks = panic::lock(&BLOCKS);
    let free = blocks.iter().find(|block| !block.taken.load(Ordering::Acquire)).copied();
    let block = match free {
        Some(block) => block,
        None if blocks.len() < BLOCKS_MAX => {
            let block = ThreadCounters::on_heap();
            blocks.push(block);
            block
        }
        None => {
            drop(blocks);
            THREAD_BLOCK.set(Some(&UNOWNED));
            log::warn("statistics", &format!("more than {BLOCKS_MAX} threads: some do not count"));
            return &UNOWNED;
        }
    };
    block.taken.store(true, Ordering::Release);
    drop(blocks);
    let _ = LEASE.try_with(|lease| *lease.borrow_mut() = Some(ThreadCountersGuard(block)));
    THREAD_BLOCK.set(Some(block));
    block
}

/// Returns all arrays except `own`.
pub fn other_threads(own: &'static ThreadCounters) -> Vec<&'static ThreadCounters> {
    let blocks = panic::lock(&BLOCKS);
    blocks.iter().copied().filter(|block| !std::ptr::eq(*block, own)).collect()
}

impl ThreadCounters {
    const fn new() -> ThreadCounters {
        ThreadCounters {
            values: [const { AtomicU64::new(0) }; COUNTERS_MAX],
            touched: AtomicU64::new(0),
            taken: AtomicBool::new(true),
        }
    }

    /// Allocates an array that is never freed. It is too large to be built on the stack.
    fn on_heap() -> &'static ThreadCounters {
        let layout = std::alloc::Layout::new::<ThreadCounters>();
        // SAFETY: the layout has a nonzero size. A zeroed block is valid: all counters are zero and
        // no thread has taken it.
        unsafe {
            let block = std::alloc::alloc_zeroed(layout).cast::<ThreadCounters>();
            if block.is_null() {
                std::alloc::handle_alloc_error(layout);
            }
            &*block
        }
    }

    /// Adds to the counter with a number. Only the thread that owns the array may call this.
    #[inline(always)]
    pub fn add(&self, number: u32, amount: f64) {
        let value = &self.values[number as usize & (COUNTERS_MAX - 1)];
        let sum = f64::from_bits(value.load(Ordering::Relaxed)) + amount;
        value.store(sum.to_bits(), Ordering::Relaxed);
        let bit = 1u64 << ((number as usize / CHUNK) & 63);
        if self.touched.load(Ordering::Relaxed) & bit == 0 {
            self.touched.fetch_or(bit, Ordering::Release);
        }
    }

    #[inline(always)]
    pub fn value(&self, number: usize) -> f64 {
        f64::from_bits(self.values[number].load(Ordering::Relaxed))
    }

    /// Moves this thread's values to `into`, and resets them to zero.
    pub fn take_all(&self, into: &mut [f64]) {
        for (value, into) in self.values.iter().zip(into) {
            *into = f64::from_bits(value.load(Ordering::Relaxed));
            value.store(0, Ordering::Relaxed);
        }
    }

    pub fn clear(&self) {
        for value in &self.values {
            value.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the bit set of chunks that were added to.
    pub fn changed_chunks(&self) -> u64 {
        self.touched.load(Ordering::Acquire)
    }

    pub fn address(&self, number: u32) -> *mut f64 {
        self.values[number as usize & (COUNTERS_MAX - 1)].as_ptr().cast()
    }
}

#[cfg(test)]
pub fn leaked() -> &'static ThreadCounters {
    ThreadCounters::on_heap()
}
