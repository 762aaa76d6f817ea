//! The global allocator: mimalloc, with the owner of each block in the 16 bytes before it. Freeing
//! a block therefore needs no search. The total size of all blocks is counted for the memory limit
//! (limit.rs), even if owners are not counted.

use super::limit;
use super::owners::{self, NOBODY};
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// An allocator without owners, for code that counts its own memory. Its blocks must be freed
/// through it, and through no other allocator.
pub struct UncountedAllocator;

/// The allocator for programs that track the owner of their memory.
pub struct CountingAllocator;

/// Bytes of the header before a block. The header holds the block's owner, and its size preserves
/// the block's alignment.
const HEADER_BYTES: usize = 16;

static INSTALLED: AtomicBool = AtomicBool::new(false);
static COUNTING: AtomicBool = AtomicBool::new(true);

/// Returns true if [`CountingAllocator`] is this program's global allocator.
pub fn is_installed() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}

/// Records that [`CountingAllocator`] is this program's global allocator.
pub fn mark_installed() {
    INSTALLED.store(true, Ordering::Relaxed);
}

/// Returns true if new allocations are counted under their owners.
pub fn is_counting() -> bool {
    is_installed() && COUNTING.load(Ordering::Relaxed)
}

/// Turns counting by owner on or off for new allocations. Blocks that were counted are always
/// subtracted from their owners when they are freed.
pub fn set_counting(on: bool) {
    COUNTING.store(on, Ordering::Relaxed);
}

/// mimalloc through its plain functions, where their alignment suffices. If a size is not a power
/// of two, the functions for any alignment request larger blocks and are slower.
struct AlignedMimalloc;

unsafe extern "C" {
    fn mi_malloc(size: usize) -> *mut c_void;
    fn mi_zalloc(size: usize) -> *mut c_void;
    fn mi_realloc(block: *mut c_void, size: usize) -> *mut c_void;
}

/// Returns true if the plain functions align a block sufficiently: to 8 bytes, and to 16 bytes for
/// sizes of 16 and more.
#[inline(always)]
const fn is_plain(size: usize, align: usize) -> bool {
    align <= 8 || (align == 16 && size >= 16)
}

// SAFETY: all functions belong to mimalloc, which frees every block in the same manner, however it
// was allocated.
unsafe impl GlobalAlloc for AlignedMimalloc {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the layout has a nonzero size. This also holds below.
        unsafe {
            match is_plain(layout.size(), layout.align()) {
                true => mi_malloc(layout.size()) as *mut u8,
                false => MiMalloc.alloc(layout),
            }
        }
    }

    #[inline(always)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see above.
        unsafe {
            match is_plain(layout.size(), layout.align()) {
                true => mi_zalloc(layout.size()) as *mut u8,
                false => MiMalloc.alloc_zeroed(layout),
            }
        }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block was allocated with this layout.
        unsafe { MiMalloc.dealloc(block, layout) }
    }

    #[inline(always)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the block was allocated with this layout, by a plain function if the layout is
        // plain.
        unsafe {
            match is_plain(layout.size(), layout.align()) && is_plain(size, layout.align()) {
                true => mi_realloc(block as *mut c_void, size) as *mut u8,
                false => MiMalloc.realloc(block, layout, size),
            }
        }
    }
}

// SAFETY: all calls go to mimalloc.
unsafe impl GlobalAlloc for UncountedAllocator {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of the same method. This also holds below.
        unsafe { AlignedMimalloc.alloc(layout) }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: see above.
        unsafe { AlignedMimalloc.dealloc(block, layout) }
    }

    #[inline(always)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see above.
        unsafe { AlignedMimalloc.realloc(block, layout, size) }
    }
}

/// Returns the offset of a block within its mimalloc allocation.
#[inline(always)]
fn offset(layout: Layout) -> usize {
    layout.align().max(HEADER_BYTES)
}

/// Returns the layout that is requested from mimalloc for a block and its header.
#[inline(always)]
fn full_layout(layout: Layout) -> Option<Layout> {
    let size = layout.size().checked_add(offset(layout))?;
    Layout::from_size_align(size, layout.align().max(HEADER_BYTES)).ok()
}

/// Records the owner in the header of a mimalloc allocation, and returns the block after it.
#[inline(always)]
unsafe fn store_owner(allocation: *mut u8, layout: Layout) -> *mut u8 {
    if allocation.is_null() {
        return allocation;
    }
    let owner = match COUNTING.load(Ordering::Relaxed) {
        true => owners::current(),
        false => NOBODY,
    };
    if owner != NOBODY {
        owners::add_block(owner, layout.size());
    }
    limit::change(layout.size() as i64);
    // SAFETY: the block starts at least HEAD bytes after the start of the allocation.
    unsafe {
        let block = allocation.add(offset(layout));
        *block.sub(HEADER_BYTES) = owner;
        block
    }
}

// SAFETY: blocks are mimalloc's, moved by the offset of their layout, which preserves their
// alignment. The same layout leads back to mimalloc's address.
unsafe impl GlobalAlloc for CountingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(whole) = full_layout(layout) else { return std::ptr::null_mut() };
        // SAFETY: the layout has a nonzero size.
        unsafe { store_owner(AlignedMimalloc.alloc(whole), layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(whole) = full_layout(layout) else { return std::ptr::null_mut() };
        // SAFETY: the layout has a nonzero size.
        unsafe { store_owner(AlignedMimalloc.alloc_zeroed(whole), layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block was allocated with this layout, so its header lies before it, and the
        // layout around it is valid.
        unsafe {
            let owner = *block.sub(HEADER_BYTES);
            if owner != NOBODY {
                owners::release(owner, layout.size());
            }
            limit::change(-(layout.size() as i64));
            let whole = full_layout(layout).unwrap_unchecked();
            AlignedMimalloc.dealloc(block.sub(offset(layout)), whole);
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(wanted) = size.checked_add(offset(layout)) else { return std::ptr::null_mut() };
        // SAFETY: as for `dealloc`. The header before the block moves along with it.
        unsafe {
            let owner = *block.sub(HEADER_BYTES);
            let whole = full_layout(layout).unwrap_unchecked();
            let allocation = AlignedMimalloc.realloc(block.sub(offset(layout)), whole, wanted);
            if allocation.is_null() {
                return allocation;
            }
            if owner != NOBODY {
                owners::resize(owner, layout.size(), size);
            }
            limit::change(size as i64 - layout.size() as i64);
            allocation.add(offset(layout))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::snapshot;

    fn total(name: &str) -> (i64, i64) {
        snapshot().get(name).map_or((0, 0), |held| (held.bytes, held.blocks))
    }

    #[test]
    fn a_block_counts_for_its_owner_until_it_is_freed() {
        let layout = Layout::from_size_align(100, 8).unwrap();
        // SAFETY: each block is used within its size and freed with its layout.
        unsafe {
            let block = {
                crate::owner!("tests/blocks");
                CountingAllocator.alloc(layout)
            };
            assert_eq!(total("tests/blocks"), (100, 1));
            block.write_bytes(7, 100);
            let block = CountingAllocator.realloc(block, layout, 1000);
            assert_eq!((total("tests/blocks"), *block.add(99)), ((1000, 1), 7));
            CountingAllocator.dealloc(block, Layout::from_size_align(1000, 8).unwrap());
        }
        assert_eq!(total("tests/blocks"), (0, 0));
    }

    #[test]
    fn blocks_keep_their_alignment_and_zeros() {
        crate::owner!("tests/aligned");
        for align in [1, 8, 16, 64, 4096] {
            let layout = Layout::from_size_align(200, align).unwrap();
            // SAFETY: as above.
            unsafe {
                let block = CountingAllocator.alloc_zeroed(layout);
                assert_eq!(block.addr() % align, 0);
                assert!((0..200).all(|at| *block.add(at) == 0));
                let block = CountingAllocator.realloc(block, layout, 3000);
                assert_eq!(block.addr() % align, 0);
                CountingAllocator.dealloc(block, Layout::from_size_align(3000, align).unwrap());
            }
        }
        assert_eq!(total("tests/aligned"), (0, 0));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let layout = Layout::from_size_align(isize::MAX as usize - 64, 1).unwrap();
        // SAFETY: no block is returned.
        assert!(unsafe { CountingAllocator.alloc(layout) }.is_null());
    }
}
