//! The allocator of this test program: the engine's own, which counts the bytes of all blocks.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering};

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of bytes that are allocated now.
pub fn allocated_bytes() -> usize {
    ALLOCATED.load(Ordering::SeqCst)
}

/// Starts a measurement of the peak. Returns the number of bytes that are allocated now.
pub fn reset_peak() -> usize {
    let allocated_bytes = allocated_bytes();
    PEAK.store(allocated_bytes, Ordering::SeqCst);
    allocated_bytes
}

/// Returns the largest number of bytes that were allocated at once since [`reset_peak`].
pub fn peak() -> usize {
    PEAK.load(Ordering::SeqCst)
}

fn add(bytes: usize) {
    let allocated_bytes = ALLOCATED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if allocated_bytes > PEAK.load(Ordering::Relaxed) {
        PEAK.fetch_max(allocated_bytes, Ordering::Relaxed);
    }
}

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// SAFETY: every call is forwarded to mimalloc; only sizes are counted in addition.
unsafe impl GlobalAlloc for CountingAllocator {
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
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: see above.
        unsafe { MiMalloc.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size);
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: see above.
        unsafe { MiMalloc.realloc(block, layout, size) }
    }
}

#[test]
fn allocator_tracks_current_and_peak_bytes() {
    const BYTES: usize = 300 << 20;
    let _alone = crate::fuzz::targets::lock_measurement();
    let allocated_bytes = reset_peak();
    // Nothing is written to the block, so it takes no physical memory.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BYTES)));
    assert!(peak() >= allocated_bytes + BYTES);
    assert!(reset_peak() < allocated_bytes + BYTES);
}
