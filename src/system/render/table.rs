//! Two small tables: a map for keys that are numbers already, and a list of ranges that have
//! changed. Knows nothing of what they are of.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Ranges nearer to each other than this are copied as one.
const GAP_MAX: u32 = 16;
/// With this many ranges they are settled at once: nobody may be there who copies them soon.
const RANGES_KEPT: usize = 1 << 16;
/// With more ranges than this, wide gaps are copied, too: each copy has a price of its own.
const RANGES_MAX: usize = 512;

/// A map whose keys need no strong hash.
pub type Map<K, V> = HashMap<K, V, BuildHasherDefault<Numbers>>;

/// Multiplies and folds: for numbers that nobody chooses in order to do harm.
#[derive(Clone, Copy, Default)]
pub struct Numbers(u64);

impl Hasher for Numbers {
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

/// What has changed in an array.
#[derive(Default, Debug)]
pub struct RangeList {
    ranges: Vec<Range<u32>>,
    settled: bool,
}

impl RangeList {
    /// One more range.
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
            if self.ranges.len() == RANGES_KEPT {
                self.settle();
            }
            self.ranges.push(range);
        }
        self.settled = false;
    }

    /// The ranges in ascending order, without overlaps, near ones as one.
    pub fn settle(&mut self) -> &[Range<u32>] {
        if !self.settled && self.ranges.len() > 1 {
            self.ranges.sort_unstable_by_key(|range| range.start);
            self.merge(GAP_MAX);
            let mut gap = GAP_MAX;
            while self.ranges.len() > RANGES_MAX {
                gap *= 4;
                self.merge(gap);
            }
        }
        self.settled = true;
        &self.ranges
    }

    fn merge(&mut self, gap: u32) {
        let mut kept = 0;
        for i in 1..self.ranges.len() {
            let next = self.ranges[i].clone();
            let last = &mut self.ranges[kept];
            if next.start <= last.end.saturating_add(gap) {
                last.end = last.end.max(next.end);
            } else {
                kept += 1;
                self.ranges[kept] = next;
            }
        }
        self.ranges.truncate(kept + 1);
    }

    pub fn clear(&mut self) {
        self.ranges.clear();
        self.settled = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranges as first and end.
    #[track_caller]
    fn check(added: &[[u32; 2]], wanted: &[[u32; 2]]) {
        let mut list = RangeList::default();
        for [first, end] in added {
            list.add(*first..*end);
        }
        let settled: Vec<[u32; 2]> = list.settle().iter().map(|it| [it.start, it.end]).collect();
        assert_eq!(settled, wanted);
    }

    #[test]
    fn ranges_are_sorted_and_near_ones_become_one() {
        check(&[], &[]);
        check(&[[3, 3]], &[]);
        check(&[[0, 2], [2, 4], [4, 9]], &[[0, 9]]);
        check(&[[100, 102], [0, 2]], &[[0, 2], [100, 102]]);
        check(&[[100, 102], [0, 2], [10, 12], [101, 110]], &[[0, 12], [100, 110]]);
    }

    #[test]
    fn very_many_ranges_become_fewer_and_still_cover_all() {
        let mut list = RangeList::default();
        for i in 0..10_000 {
            list.add(i * 40..i * 40 + 1);
        }
        let ranges = list.settle();
        assert!(ranges.len() <= RANGES_MAX);
        for i in 0..10_000 {
            assert!(ranges.iter().any(|range| range.contains(&(i * 40))));
        }
    }

    #[test]
    fn ranges_that_nobody_copies_do_not_grow_for_ever() {
        let mut list = RangeList::default();
        for _ in 0..20 {
            for i in 0..10_000 {
                list.add(i * 40..i * 40 + 1);
            }
            assert!(list.ranges.len() <= RANGES_KEPT);
        }
        let ranges = list.settle();
        assert!((0..10_000).all(|i| ranges.iter().any(|range| range.contains(&(i * 40)))));
    }
}
