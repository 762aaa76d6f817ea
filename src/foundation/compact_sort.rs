//! Sorting for code that is not on the path of a frame. The sort of the standard library is fast,
//! and adds 5 KiB of code for each type and order. This one sorts the positions of
//! elements, with one function for all types, and then moves the elements. It allocates a few bytes
//! for each element, and is slower.

use std::cmp::Ordering;

/// Stable sorting of slices with little code.
pub trait CompactSort<T> {
    /// Sorts the elements by their own order.
    fn sort_compact(&mut self)
    where
        T: Ord;

    /// Sorts the elements. Panics if there are 2³² of them or more, and may panic if `compare` is
    /// no consistent order; the elements then stay as they are.
    fn sort_compact_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts the elements by a key, which is computed for each comparison.
    fn sort_compact_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> CompactSort<T> for [T] {
    fn sort_compact(&mut self)
    where
        T: Ord,
    {
        self.sort_compact_by(T::cmp);
    }

    fn sort_compact_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let order = sorted_positions(self.len(), &mut |a, b| compare(&self[a], &self[b]));
        move_elements(self, order);
    }

    fn sort_compact_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.sort_compact_by(|a, b| key(a).cmp(&key(b)));
    }
}

/// Returns the positions of the elements in their new order.
#[inline(never)]
fn sorted_positions(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<u32> {
    let count = u32::try_from(count).expect("positions have 32 bits");
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by(|a, b| compare(*a as usize, *b as usize));
    order
}

/// Moves each element to its new position. `order` has the old one of each.
fn move_elements<T>(elements: &mut [T], mut order: Vec<u32>) {
    for first in 0..order.len() {
        // The positions of a cycle, in which each element comes from the next position. A position
        // that has its element refers to itself.
        let mut position = first;
        loop {
            let source = order[position] as usize;
            order[position] = position as u32;
            if source == first {
                break;
            }
            elements.swap(position, source);
            position = source;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_sorted_like_those_of_the_standard_library() {
        let mut state = 1u32;
        let mut next = |most: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % most
        };
        for length in [0, 1, 2, 3, 10, 100, 1000] {
            // Few keys: elements with equal ones keep their order.
            let elements: Vec<(u32, String)> =
                (0..length).map(|at| (next(1 + length / 4), at.to_string())).collect();
            let (mut expected, mut sorted) = (elements.clone(), elements.clone());
            expected.sort_by_key(|it| it.0);
            sorted.sort_compact_by_key(|it| it.0);
            assert_eq!(sorted, expected);
            expected.sort_by(|a, b| b.1.cmp(&a.1));
            sorted.sort_compact_by(|a, b| b.1.cmp(&a.1));
            assert_eq!(sorted, expected);
            expected.sort();
            sorted.sort_compact();
            assert_eq!(sorted, expected);
        }
    }

    #[test]
    fn a_comparison_that_panics_leaves_the_elements() {
        let mut elements = vec![3, 1, 2];
        let sort = || elements.sort_compact_by(|_, _| panic!("no order"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(sort)).is_err());
        assert_eq!(elements, [3, 1, 2]);
    }
}
