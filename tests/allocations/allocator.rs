//! The allocator of this test program: the system's, which counts what watched threads do, and
//! which fails once when a test asks for it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

/// Numbers of calls that a watched thread made.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub struct Calls {
    pub allocations: u64,
    pub frees: u64,
}

thread_local! {
    static IS_WATCHED: Cell<bool> = const { Cell::new(false) };
    static CALLS: Cell<Calls> = const { Cell::new(Calls { allocations: 0, frees: 0 }) };
}

/// Number of allocations that succeed before one fails; negative if none should fail.
static ALLOCATIONS_LEFT: AtomicI64 = AtomicI64::new(i64::MIN);

/// Watches the current thread from now on, or no longer.
pub fn watch(is_watched: bool) {
    IS_WATCHED.set(is_watched);
}

/// Returns the calls that the current thread has made while it was watched.
pub fn calls() -> Calls {
    CALLS.get()
}

/// Lets one allocation of the process fail after `number` more allocations.
pub fn fail_after(number: i64) {
    ALLOCATIONS_LEFT.store(number, SeqCst);
}

/// Lets no allocation fail any more. Returns true if one has failed.
pub fn stop_failing() -> bool {
    ALLOCATIONS_LEFT.swap(i64::MIN, SeqCst) < 0
}

/// Counts an allocation. Returns true if it must fail.
fn allocates() -> bool {
    if IS_WATCHED.get() {
        let calls = CALLS.get();
        CALLS.set(Calls { allocations: calls.allocations + 1, ..calls });
    }
    ALLOCATIONS_LEFT.load(SeqCst) >= 0 && ALLOCATIONS_LEFT.fetch_sub(1, SeqCst) == 0
}

struct WatchedAllocator;

#[global_allocator]
static ALLOCATOR: WatchedAllocator = WatchedAllocator;

// SAFETY: it is the system's allocator, which may return null at any time.
unsafe impl GlobalAlloc for WatchedAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's guarantees are forwarded, also below.
        if allocates() { null_mut() } else { unsafe { System.alloc(layout) } }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if IS_WATCHED.get() {
            let calls = CALLS.get();
            CALLS.set(Calls { frees: calls.frees + 1, ..calls });
        }
        // SAFETY: see above.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see above.
        if allocates() { null_mut() } else { unsafe { System.realloc(block, layout, size) } }
    }
}
