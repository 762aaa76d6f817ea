//! Large tables that begin as zeros, and of which mostly a small part is used: the system gives the
//! pages of such a table as they are written to, so the rest of it takes no memory. mimalloc writes
//! most blocks whole. Not counted under any owner, for nobody knows how much of them is there.

use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A table of a fixed length.
pub struct Zeros<T: 'static> {
    items: NonNull<[T]>,
}

// SAFETY: it owns its items, as a box does.
unsafe impl<T: Send> Send for Zeros<T> {}
// SAFETY: see above.
unsafe impl<T: Sync> Sync for Zeros<T> {}

impl<T: 'static> Zeros<T> {
    /// # Safety
    /// Zero bytes are a value of `T`.
    pub unsafe fn new(count: usize) -> Zeros<T> {
        const { assert!(!std::mem::needs_drop::<T>(), "items are not dropped") };
        let layout = Layout::array::<T>(count).expect("a table fits into memory");
        assert!(layout.size() > 0, "a table has items");
        // SAFETY: the layout has a size.
        let first = unsafe { System.alloc_zeroed(layout) };
        let Some(first) = NonNull::new(first.cast::<T>()) else { handle_alloc_error(layout) };
        Zeros { items: NonNull::slice_from_raw_parts(first, count) }
    }
}

impl<T> Deref for Zeros<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the items are there, and values: as the maker promised.
        unsafe { self.items.as_ref() }
    }
}

impl<T> DerefMut for Zeros<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: see above.
        unsafe { self.items.as_mut() }
    }
}

impl<T> Drop for Zeros<T> {
    fn drop(&mut self) {
        let layout = Layout::for_value::<[T]>(self);
        // SAFETY: made with this layout.
        unsafe { System.dealloc(self.items.as_ptr().cast(), layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_begins_as_zeros_and_keeps_what_is_written() {
        // SAFETY: numbers.
        let mut table: Zeros<u64> = unsafe { Zeros::new(100_000) };
        assert_eq!(table.len(), 100_000);
        assert!(table.iter().all(|number| *number == 0));
        table[99_999] = 7;
        assert_eq!((table[99_998], table[99_999]), (0, 7));
    }
}
