//! Measures the memory of a test case by counting every block that Rust allocates.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering};

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// Starts a measurement and returns the number of bytes that are allocated now.
pub fn begin() -> usize {
    let held = HELD.load(Ordering::SeqCst);
    MOST.store(held, Ordering::SeqCst);
    held
}

/// Returns the peak number of allocated bytes since [`begin`].
pub fn most_held() -> usize {
    MOST.load(Ordering::SeqCst)
}

fn add(bytes: usize) {
    let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if held > MOST.load(Ordering::Relaxed) {
        MOST.fetch_max(held, Ordering::Relaxed);
    }
}

struct Watched;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

// SAFETY: every call is forwarded to mimalloc, as in the engine itself; only sizes are counted in
// addition.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's guarantees are passed on; the same holds below.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: see above.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: see above.
        unsafe { MiMalloc.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: see above.
        unsafe { MiMalloc.realloc(block, layout, size) }
    }
}

#[test]
fn a_block_counts_while_it_is_held_and_the_most_is_kept() {
    const BYTES: usize = 300 << 20;
    let held = begin();
    // Nothing is written to the block, so it takes no physical memory.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BYTES)));
    assert!(most_held() >= held + BYTES);
    assert!(begin() < held + BYTES);
}
