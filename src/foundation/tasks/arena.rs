//! An arena for the closures of one graph: chunks that are filled from the front and reused for
//! later graphs. The arena does not know the types of its values. Code that places a value here
//! must move it out again.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Maximum bytes that one task's closure may capture.
pub const CLOSURE_BYTES_MAX: usize = 4096;

const CHUNK: Layout = match Layout::from_size_align(16 * CLOSURE_BYTES_MAX, 64) {
    Ok(layout) => layout,
    Err(_) => panic!("64 is a power of two"),
};

#[derive(Default)]
pub(super) struct Arena {
    chunks: Vec<NonNull<u8>>,
    /// Index of the chunk that is being filled; `used` is its number of used bytes.
    chunk: usize,
    used: usize,
}

// SAFETY: the arena owns its chunks, and hands out no references to them.
unsafe impl Send for Arena {}

impl Arena {
    /// Moves a value into the arena. The arena never drops the value, and the value keeps its
    /// address until `clear`.
    pub fn store<T>(&mut self, value: T) -> *mut T {
        const {
            assert!(
                size_of::<T>() <= CLOSURE_BYTES_MAX && align_of::<T>() <= CHUNK.align(),
                "this task captures too much: let it borrow or box what it needs"
            );
        }
        let mut start = self.used.next_multiple_of(align_of::<T>());
        if self.chunks.is_empty() || start + size_of::<T>() > CHUNK.size() {
            start = 0;
            self.next_chunk();
        }
        self.used = start + size_of::<T>();
        // SAFETY: the value fits into the chunk from `start`. `start` and the chunk's address are
        // multiples of the value's alignment. Nothing was placed there since the last `clear`.
        unsafe {
            let pointer = self.chunks[self.chunk].add(start).cast::<T>().as_ptr();
            pointer.write(value);
            pointer
        }
    }

    fn next_chunk(&mut self) {
        self.chunk = if self.chunks.is_empty() { 0 } else { self.chunk + 1 };
        if self.chunk == self.chunks.len() {
            // SAFETY: the layout has a nonzero size.
            let chunk = NonNull::new(unsafe { alloc(CHUNK) });
            self.chunks.push(chunk.unwrap_or_else(|| handle_alloc_error(CHUNK)));
        }
    }

    /// Frees the whole arena for reuse. Remaining values are not dropped.
    pub fn clear(&mut self) {
        (self.chunk, self.used) = (0, 0);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for chunk in &self.chunks {
            // SAFETY: the chunk was allocated with this layout.
            unsafe { dealloc(chunk.as_ptr(), CHUNK) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_adjacent_and_aligned_in_several_chunks() {
        #[repr(align(64))]
        struct Wide(u8);
        let mut arena = Arena::default();
        for _ in 0..2 {
            let small = arena.store(7u8);
            let number = arena.store(1.5f64);
            let wide = arena.store(Wide(9));
            let large: Vec<_> = (0..40).map(|i| arena.store([i as u8; 4000])).collect();
            assert!(number.addr().is_multiple_of(8) && wide.addr().is_multiple_of(64));
            // SAFETY: all four were placed since the last `clear`.
            unsafe {
                assert_eq!((small.read(), number.read(), (*wide).0), (7, 1.5, 9));
                let same = large.iter().enumerate().all(|(i, at)| at.read() == [i as u8; 4000]);
                assert!(same);
            }
            arena.clear();
            assert_eq!(arena.chunks.len(), 3, "the same chunks are used again");
        }
    }
}
