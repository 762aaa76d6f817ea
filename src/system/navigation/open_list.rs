//! The open list of searches: a heap in front of which the smallest new entry waits. Most searches
//! go on with the entry that they have just added, which never gets into the heap then.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Marks that no entry waits in front of the heap.
const NONE: u64 = u64::MAX;

/// Entries that are taken out in ascending order.
#[derive(Clone, Debug)]
pub(super) struct OpenList {
    next: u64,
    heap: BinaryHeap<Reverse<u64>>,
}

impl Default for OpenList {
    fn default() -> OpenList {
        OpenList { next: NONE, heap: BinaryHeap::new() }
    }
}

impl OpenList {
    pub fn clear(&mut self) {
        self.next = NONE;
        self.heap.clear();
    }

    /// Adds an entry, which is below `u64::MAX`.
    #[inline]
    pub fn push(&mut self, entry: u64) {
        let larger = self.next.max(entry);
        self.next = self.next.min(entry);
        if larger != NONE {
            self.heap.push(Reverse(larger));
        }
    }

    /// Returns the smallest entry.
    #[inline]
    pub fn peek(&self) -> Option<u64> {
        let least = self.heap.peek().map_or(NONE, |Reverse(least)| *least).min(self.next);
        (least != NONE).then_some(least)
    }

    /// Takes the smallest entry out.
    #[inline]
    pub fn pop(&mut self) -> Option<u64> {
        match self.heap.peek() {
            Some(Reverse(least)) if *least < self.next => self.heap.pop().map(|Reverse(it)| it),
            _ => {
                let next = std::mem::replace(&mut self.next, NONE);
                (next != NONE).then_some(next)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OpenList;
    use engine_foundation::random::Random;

    #[test]
    fn entries_come_out_in_order() {
        let (mut open, mut random, mut all) = (OpenList::default(), Random::seed(1), Vec::new());
        for round in 0..2000 {
            if random.next_f64() < 0.55 {
                let entry = (random.next_f64() * 50.0) as u64;
                open.push(entry);
                all.push(entry);
            } else {
                all.sort_unstable();
                let least = (!all.is_empty()).then(|| all.remove(0));
                assert_eq!((open.peek(), open.pop()), (least, least), "{round}");
            }
        }
        open.clear();
        assert_eq!((open.peek(), open.pop()), (None, None));
    }
}
