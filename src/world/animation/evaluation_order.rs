//! The order in which characters are evaluated: those with the same state machine and model one
//! after another, but for a few that have changed, so that their shared data stays in the cache.
//! Results do not depend on it.

use super::Character;
use std::sync::Arc;

/// The characters are sorted again if more than one of this many was changed. Until then, new ones
/// are the last, so that the cost of a change does not grow with the number of characters.
const UNCHANGED_PER_CHANGE: usize = 8;

/// The order of the characters of a table, and memory for lists of them.
#[derive(Default)]
pub(super) struct EvaluationOrder {
    /// Indices of the characters.
    order: Vec<u32>,
    /// Number of changes since `order` was sorted.
    changes: usize,
    /// Memory of the keys of a sort: number of the machine, address of the model, and index.
    keys: Vec<(Option<usize>, usize, u32)>,
    /// Memory of the lists; empty.
    slots: Vec<Option<&'static mut Character>>,
    due: Vec<&'static mut Character>,
}

/// Returns an empty list with the memory of another one.
fn recycled<T, U>(mut list: Vec<T>) -> Vec<U> {
    list.clear();
    // Lists of values of the same size keep their memory.
    list.into_iter().map(|_| unreachable!("the list is empty")).collect()
}

impl EvaluationOrder {
    /// Notes that a character was added, removed or given other data.
    pub fn note_change(&mut self) {
        self.changes = self.changes.saturating_add(1);
    }

    /// Notes that any of the characters can have other data.
    pub fn note_reload(&mut self) {
        self.changes = usize::MAX;
    }

    /// Lets the order have each index of a table once.
    fn update(&mut self, characters: &[Character]) {
        let (known, count) = (self.order.len(), characters.len());
        if self.changes > count / UNCHANGED_PER_CHANGE {
            self.sort(characters);
        } else if count < known {
            self.order.retain(|index| (*index as usize) < count);
        } else {
            self.order.extend(known as u32..count as u32);
        }
    }

    fn sort(&mut self, characters: &[Character]) {
        self.changes = 0;
        self.keys.clear();
        self.keys.extend(characters.iter().zip(0..).map(|(character, index)| {
            let machine = character.machine.as_ref().map(|machine| machine.bound.number);
            (machine, Arc::as_ptr(&character.model).addr(), index)
        }));
        self.keys.sort_unstable();
        self.order.clear();
        self.order.extend(self.keys.iter().map(|(_, _, index)| *index));
    }

    /// Calls `work` with the characters that are due, in their order.
    pub fn with_due<R>(
        &mut self,
        characters: &mut [Character],
        work: impl FnOnce(&mut [&mut Character]) -> R,
    ) -> R {
        self.update(characters);
        let mut slots: Vec<Option<&mut Character>> = recycled(std::mem::take(&mut self.slots));
        slots.extend(characters.iter_mut().map(|it| it.is_due.then_some(it)));
        let mut due: Vec<&mut Character> = recycled(std::mem::take(&mut self.due));
        due.extend(self.order.iter().filter_map(|index| slots[*index as usize].take()));
        let result = work(&mut due);
        (self.slots, self.due) = (recycled(slots), recycled(due));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::recycled;

    #[test]
    fn recycled_lists_keep_their_memory() {
        let list: Vec<&u64> = Vec::with_capacity(100);
        let list: Vec<Option<&i8>> = recycled(list);
        assert!(list.is_empty() && list.capacity() >= 100);
        let list: Vec<&u64> = recycled(list);
        assert!(list.capacity() >= 100);
    }
}
