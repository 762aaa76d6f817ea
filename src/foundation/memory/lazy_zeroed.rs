//! Large zeroed tables of which usually only a small part is used. The system provides the pages of
//! such a table when they are first written to, so the rest takes no memory. mimalloc is not used
//! because it writes to most blocks completely. The tables are not counted under any owner, because
//! the number of their used pages is unknown.

use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A table of fixed length whose items start as zero bytes.
pub struct LazyZeroed<T: 'static> {
    items: NonNull<[T]>,
}

// SAFETY: the table owns its items, as a box does.
unsafe impl<T: Send> Send for LazyZeroed<T> {}
// SAFETY: see above.
unsafe impl<T: Sync> Sync for LazyZeroed<T> {}

impl<T: 'static> LazyZeroed<T> {
    /// Allocates a table of `count` items.
    ///
    /// # Safety
    /// Zero bytes must be a valid value of `T`.
    pub unsafe fn new(count: usize) -> LazyZeroed<T> {
        const { assert!(!std::mem::needs_drop::<T>(), "items are not dropped") };
        let layout = Layout::array::<T>(count).expect("a table fits into memory");
        assert!(layout.size() > 0, "a table has items");
        // SAFETY: the layout has a nonzero size.
        let first = unsafe { System.alloc_zeroed(layout) };
        let Some(first) = NonNull::new(first.cast::<T>()) else { handle_alloc_error(layout) };
        LazyZeroed { items: NonNull::slice_from_raw_parts(first, count) }
    }
}

impl<T> Deref for LazyZeroed<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the items are allocated, and zero bytes are valid values, as the caller of `new`
        // promised.
        unsafe { self.items.as_ref() }
    }
}

impl<T> DerefMut for LazyZeroed<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: see above.
        unsafe { self.items.as_mut() }
    }
}

impl<T> Drop for LazyZeroed<T> {
    fn drop(&mut self) {
        let layout = Layout::for_value::<[T]>(self);
        // SAFETY: the memory was allocated with this layout.
        unsafe { System.dealloc(self.items.as_ptr().cast(), layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_zeroed_and_keeps_written_values() {
        // SAFETY: zero bytes are valid numbers.
        let mut table: LazyZeroed<u64> = unsafe { LazyZeroed::new(100_000) };
        assert_eq!(table.len(), 100_000);
        assert!(table.iter().all(|number| *number == 0));
        table[99_999] = 7;
        assert_eq!((table[99_998], table[99_999]), (0, 7));
    }
}
