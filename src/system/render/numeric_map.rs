//! Two small data structures: a map for integer keys, and a list of changed ranges. Independent of
//! what they store.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Ranges with a smaller gap than this are copied as one.
const GAP_MAX: u32 = 16;
/// At this number of ranges they are merged at once, because a copy may not follow soon.
const RANGES_BUFFERED_MAX: usize = 1 << 16;
/// Above this number of ranges, wider gaps are copied too, because each copy has a fixed cost.
const RANGES_MAX: usize = 512;

/// A map whose keys need no strong hash.
pub type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<IntegerHasher>>;

/// A hasher that multiplies and folds: for numbers that cannot be chosen by an attacker.
#[derive(Clone, Copy, Default)]
pub struct IntegerHasher(u64);

impl Hasher for IntegerHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_i32(&mut self, number: i32) {
        self.write_u64(u64::from(number.cast_unsigned()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number.cast_unsigned() as u64);
    }
}

/// The changed ranges of an array.
#[derive(Default, Debug)]
pub struct DirtyRanges {
    ranges: Vec<Range<u32>>,
    is_merged: bool,
}

impl DirtyRanges {
    /// Adds a range.
    pub fn add(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        if let Some(last) = self.ranges.last_mut()
            && range.start <= last.end
            && range.end >= last.start
        {
            last.start = last.start.min(range.start);
            last.end = last.end.max(range.end);
        } else {
            if self.ranges.len() == RANGES_BUFFERED_MAX {
                self.merge_all();
            }
            self.ranges.push(range);
        }
        self.is_merged = false;
    }

    /// Merges and returns the ranges in ascending order, without overlaps, with close ranges
    /// joined.
    pub fn merge_all(&mut self) -> &[Range<u32>] {
        if !self.is_merged && self.ranges.len() > 1 {
            self.ranges.sort_unstable_by_key(|range| range.start);
            self.merge(GAP_MAX);
            let mut gap = GAP_MAX;
            while self.ranges.len() > RANGES_MAX {
                gap *= 4;
                self.merge(gap);
            }
        }
        self.is_merged = true;
        &self.ranges
    }

    fn merge(&mut self, gap: u32) {
        let mut last_index = 0;
        for i in 1..self.ranges.len() {
            let next = self.ranges[i].clone();
            let last = &mut self.ranges[last_index];
            if next.start <= last.end.saturating_add(gap) {
                last.end = last.end.max(next.end);
            } else {
                last_index += 1;
                self.ranges[last_index] = next;
            }
        }
        self.ranges.truncate(last_index + 1);
    }

    pub fn clear(&mut self) {
        self.ranges.clear();
        self.is_merged = false;
    }

    /// Returns true if there are no ranges.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks ranges, written as first and end.
    #[track_caller]
    fn check(added: &[[u32; 2]], wanted: &[[u32; 2]]) {
        let mut list = DirtyRanges::default();
        for [first, end] in added {
            list.add(*first..*end);
        }
        let merged: Vec<[u32; 2]> = list.merge_all().iter().map(|it| [it.start, it.end]).collect();
        assert_eq!(merged, wanted);
    }

    #[test]
    fn ranges_are_sorted_and_near_ones_are_merged() {
        check(&[], &[]);
        check(&[[3, 3]], &[]);
        check(&[[0, 2], [2, 4], [4, 9]], &[[0, 9]]);
        check(&[[100, 102], [0, 2]], &[[0, 2], [100, 102]]);
        check(&[[100, 102], [0, 2], [10, 12], [101, 110]], &[[0, 12], [100, 110]]);
    }

    #[test]
    fn merged_ranges_cover_all_dirty_elements() {
        let mut list = DirtyRanges::default();
        for i in 0..10_000 {
            list.add(i * 40..i * 40 + 1);
        }
        let ranges = list.merge_all();
        assert!(ranges.len() <= RANGES_MAX);
        for i in 0..10_000 {
            assert!(ranges.iter().any(|range| range.contains(&(i * 40))));
        }
    }

    #[test]
    fn the_number_of_buffered_ranges_is_limited() {
        let mut list = DirtyRanges::default();
        for _ in 0..20 {
            for i in 0..10_000 {
                list.add(i * 40..i * 40 + 1);
            }
            assert!(list.ranges.len() <= RANGES_BUFFERED_MAX);
        }
        let ranges = list.merge_all();
        assert!((0..10_000).all(|i| ranges.iter().any(|range| range.contains(&(i * 40)))));
    }
}
