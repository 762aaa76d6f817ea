//! An allocator of ranges in an array. Independent of what the array contains.

use std::ops::Range;

/// An allocator of ranges in an array: the free ranges, in ascending order.
pub struct RangeAllocator(Vec<Range<u32>>);

impl RangeAllocator {
    /// Returns an allocator with `count` free elements.
    pub fn all(count: u32) -> RangeAllocator {
        let mut free = RangeAllocator(Vec::new());
        free.release(0, count);
        free
    }

    /// Allocates `count` adjacent elements and returns the first.
    pub fn take(&mut self, count: u32) -> Option<u32> {
        let at = self.0.iter().position(|range| range.end - range.start >= count)?;
        let range = &mut self.0[at];
        let first = range.start;
        range.start += count;
        if range.start == range.end {
            self.0.remove(at);
        }
        Some(first)
    }

    /// Frees `count` elements from `first` on. Elements beyond the array enlarge it.
    pub fn release(&mut self, first: u32, count: u32) {
        if count == 0 {
            return;
        }
        let at = self.0.partition_point(|range| range.start < first);
        self.0.insert(at, first..first + count);
        if self.0.get(at + 1).is_some_and(|next| next.start == first + count) {
            self.0[at].end = self.0.remove(at + 1).end;
        }
        if at > 0 && self.0[at - 1].end == first {
            self.0[at - 1].end = self.0.remove(at).end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_allocated_first_fit_and_free_ranges_merge() {
        let mut free = RangeAllocator::all(100);
        let starts: Vec<_> = [30, 30, 30, 30].map(|count| free.take(count)).to_vec();
        assert_eq!(starts, [Some(0), Some(30), Some(60), None]);
        free.release(30, 30);
        assert_eq!((free.take(20), free.take(20)), (Some(30), None));
        free.release(0, 30);
        free.release(30, 20);
        free.release(60, 30);
        assert_eq!((free.0.len(), free.0[0].clone()), (1, 0..100));
        assert_eq!((free.take(0), free.take(100)), (Some(0), Some(0)));
        assert!(free.0.is_empty());
    }
}
