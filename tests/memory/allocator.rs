//! The allocator of this test program: the engine's own, which counts the bytes of all blocks.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the bytes of all blocks, and the largest number of them at once.
struct ByteCounter {
    allocated: AtomicUsize,
    peak: AtomicUsize,
}

static BYTES: ByteCounter = ByteCounter::new();

impl ByteCounter {
    const fn new() -> Self {
        Self { allocated: AtomicUsize::new(0), peak: AtomicUsize::new(0) }
    }

    fn add(&self, bytes: usize) {
        let allocated_bytes = self.allocated.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if allocated_bytes > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(allocated_bytes, Ordering::Relaxed);
        }
    }

    fn subtract(&self, bytes: usize) {
        self.allocated.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn reset_peak(&self) -> usize {
        let allocated_bytes = self.allocated.load(Ordering::SeqCst);
        self.peak.store(allocated_bytes, Ordering::SeqCst);
        allocated_bytes
    }
}

/// Returns the number of bytes that are allocated now.
pub fn allocated_bytes() -> usize {
    BYTES.allocated.load(Ordering::SeqCst)
}

/// Starts a measurement of the peak. Returns the number of bytes that are allocated now.
pub fn reset_peak() -> usize {
    BYTES.reset_peak()
}

/// Returns the largest number of bytes that were allocated at once since [`reset_peak`].
pub fn peak() -> usize {
    BYTES.peak.load(Ordering::SeqCst)
}

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// SAFETY: every call is forwarded to mimalloc; only sizes are counted in addition.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.add(layout.size());
        // SAFETY: the caller's guarantees are passed on; the same holds below.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        BYTES.add(layout.size());
        // SAFETY: see above.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        BYTES.subtract(layout.size());
        // SAFETY: see above.
        unsafe { MiMalloc.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        BYTES.add(size);
        BYTES.subtract(layout.size());
        // SAFETY: see above.
        unsafe { MiMalloc.realloc(block, layout, size) }
    }
}

#[test]
fn counter_tracks_current_and_peak_bytes() {
    let counter = ByteCounter::new();
    counter.add(100);
    counter.add(300);
    counter.subtract(300);
    assert_eq!(counter.peak.load(Ordering::SeqCst), 400);
    assert_eq!(counter.reset_peak(), 100);
    assert_eq!(counter.peak.load(Ordering::SeqCst), 100);
}

/// Other tests allocate and free a few MiB meanwhile, so this block is larger than what it asserts.
#[test]
fn allocator_of_the_process_is_counted() {
    const BLOCK_BYTES: usize = 600 << 20;
    let _alone = crate::fuzz::targets::lock_measurement();
    let allocated_bytes = reset_peak();
    // Nothing is written to the block, so it takes no physical memory.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BLOCK_BYTES)));
    assert!(peak() >= allocated_bytes + BLOCK_BYTES / 2);
    assert!(reset_peak() < allocated_bytes + BLOCK_BYTES / 2);
}
