//! The global allocator: mimalloc, and in front of each block whose it is. A block's owner stands
//! in the 16 bytes before it, so that freeing needs no search. The sum of all blocks is counted for
//! the limit (limit.rs), whether owners are counted or not.

use super::limit;
use super::owners::{self, NOBODY};
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// The allocator without owners, for those who count by themselves. What it gave must be given back
/// to it, and to no other.
pub struct Plain;

/// The allocator of programs that want to know whose their memory is.
pub struct Counting;

/// What stands before a block: its owner, in bytes that keep the block's alignment.
const HEAD: usize = 16;

static INSTALLED: AtomicBool = AtomicBool::new(false);
static COUNTING: AtomicBool = AtomicBool::new(true);

/// Whether this program's memory goes through [`Counting`].
pub fn is_installed() -> bool {
    INSTALLED.load(Ordering::Relaxed)
}

/// Says that [`Counting`] is this program's global allocator.
pub fn note_installed() {
    INSTALLED.store(true, Ordering::Relaxed);
}

/// Whether what is allocated now is counted.
pub fn is_counting() -> bool {
    is_installed() && COUNTING.load(Ordering::Relaxed)
}

/// Has what is allocated from now on be counted, or not. Blocks that were counted are taken from
/// their owners when they are freed, whatever this says.
pub fn set_counting(on: bool) {
    COUNTING.store(on, Ordering::Relaxed);
}

/// mimalloc, by its plain functions where those align well enough. The ones for any alignment ask
/// for larger blocks, and take longer, whenever a size is no power of two.
struct Straight;

unsafe extern "C" {
    fn mi_malloc(size: usize) -> *mut c_void;
    fn mi_zalloc(size: usize) -> *mut c_void;
    fn mi_realloc(block: *mut c_void, size: usize) -> *mut c_void;
}

/// Whether the plain functions align a block well enough: to 8 bytes, and to 16 from that size on.
#[inline(always)]
const fn is_plain(size: usize, align: usize) -> bool {
    align <= 8 || (align == 16 && size >= 16)
}

// SAFETY: all of it is mimalloc's, whose blocks are freed in one way, however they were made.
unsafe impl GlobalAlloc for Straight {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the layout has a size; so below.
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
        // SAFETY: the block was given with this layout.
        unsafe { MiMalloc.dealloc(block, layout) }
    }

    #[inline(always)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the block was given with this layout, by a plain function if that is plain.
        unsafe {
            match is_plain(layout.size(), layout.align()) && is_plain(size, layout.align()) {
                true => mi_realloc(block as *mut c_void, size) as *mut u8,
                false => MiMalloc.realloc(block, layout, size),
            }
        }
    }
}

// SAFETY: all of it is mimalloc's.
unsafe impl GlobalAlloc for Plain {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised; so below.
        unsafe { Straight.alloc(layout) }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: see above.
        unsafe { Straight.dealloc(block, layout) }
    }

    #[inline(always)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see above.
        unsafe { Straight.realloc(block, layout, size) }
    }
}

/// How far into what mimalloc gave a block begins.
#[inline(always)]
fn offset(layout: Layout) -> usize {
    layout.align().max(HEAD)
}

/// What is asked of mimalloc for a block.
#[inline(always)]
fn whole(layout: Layout) -> Option<Layout> {
    let size = layout.size().checked_add(offset(layout))?;
    Layout::from_size_align(size, layout.align().max(HEAD)).ok()
}

/// Notes the owner of what mimalloc gave: the block in it.
#[inline(always)]
unsafe fn begin(given: *mut u8, layout: Layout) -> *mut u8 {
    if given.is_null() {
        return given;
    }
    let owner = match COUNTING.load(Ordering::Relaxed) {
        true => owners::current(),
        false => NOBODY,
    };
    if owner != NOBODY {
        owners::hold(owner, layout.size());
    }
    limit::change(layout.size() as i64);
    // SAFETY: the block lies HEAD bytes or more inside of what was given.
    unsafe {
        let block = given.add(offset(layout));
        *block.sub(HEAD) = owner;
        block
    }
}

// SAFETY: blocks are mimalloc's, moved by the offset of their layout, which keeps their alignment;
// the same layout leads back to what mimalloc gave.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(whole) = whole(layout) else { return std::ptr::null_mut() };
        // SAFETY: the layout has a size.
        unsafe { begin(Straight.alloc(whole), layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(whole) = whole(layout) else { return std::ptr::null_mut() };
        // SAFETY: the layout has a size.
        unsafe { begin(Straight.alloc_zeroed(whole), layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block was given with this layout, so the rest of it lies before, and the
        // layout around it could be made.
        unsafe {
            let owner = *block.sub(HEAD);
            if owner != NOBODY {
                owners::release(owner, layout.size());
            }
            limit::change(-(layout.size() as i64));
            let whole = whole(layout).unwrap_unchecked();
            Straight.dealloc(block.sub(offset(layout)), whole);
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(wanted) = size.checked_add(offset(layout)) else { return std::ptr::null_mut() };
        // SAFETY: as for `dealloc`; what stands before the block moves along with it.
        unsafe {
            let owner = *block.sub(HEAD);
            let whole = whole(layout).unwrap_unchecked();
            let given = Straight.realloc(block.sub(offset(layout)), whole, wanted);
            if given.is_null() {
                return given;
            }
            if owner != NOBODY {
                owners::resize(owner, layout.size(), size);
            }
            limit::change(size as i64 - layout.size() as i64);
            given.add(offset(layout))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foundation::memory::snapshot;

    fn held(name: &str) -> (i64, i64) {
        snapshot().get(name).map_or((0, 0), |held| (held.bytes, held.blocks))
    }

    #[test]
    fn a_block_is_its_owners_until_it_is_freed_by_whomever() {
        let layout = Layout::from_size_align(100, 8).unwrap();
        // SAFETY: each block is used within its size and given back with its layout.
        unsafe {
            let block = {
                crate::owner!("tests/blocks");
                Counting.alloc(layout)
            };
            assert_eq!(held("tests/blocks"), (100, 1));
            block.write_bytes(7, 100);
            let block = Counting.realloc(block, layout, 1000);
            assert_eq!((held("tests/blocks"), *block.add(99)), ((1000, 1), 7));
            Counting.dealloc(block, Layout::from_size_align(1000, 8).unwrap());
        }
        assert_eq!(held("tests/blocks"), (0, 0));
    }

    #[test]
    fn blocks_keep_their_alignment_and_zeros() {
        crate::owner!("tests/aligned");
        for align in [1, 8, 16, 64, 4096] {
            let layout = Layout::from_size_align(200, align).unwrap();
            // SAFETY: as above.
            unsafe {
                let block = Counting.alloc_zeroed(layout);
                assert_eq!(block.addr() % align, 0);
                assert!((0..200).all(|at| *block.add(at) == 0));
                let block = Counting.realloc(block, layout, 3000);
                assert_eq!(block.addr() % align, 0);
                Counting.dealloc(block, Layout::from_size_align(3000, align).unwrap());
            }
        }
        assert_eq!(held("tests/aligned"), (0, 0));
    }

    #[test]
    fn more_than_there_can_be_is_refused() {
        let layout = Layout::from_size_align(isize::MAX as usize - 64, 1).unwrap();
        // SAFETY: nothing is given.
        assert!(unsafe { Counting.alloc(layout) }.is_null());
    }
}
