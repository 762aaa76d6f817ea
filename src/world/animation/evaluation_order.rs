//! The order in which characters are evaluated: those with the same state machine and model one
//! after another, so that their shared data stays in the cache. Results do not depend on it.

use super::Character;
use std::sync::Arc;

/// The order of the characters of a table, and memory for lists of them.
#[derive(Default)]
pub(super) struct EvaluationOrder {
    /// Indices of the characters.
    order: Vec<u32>,
    /// True if characters were added, removed or given other data since `order` was sorted.
    is_outdated: bool,
    /// Memory of the lists; empty.
    all: Vec<Option<&'static mut Character>>,
    due: Vec<&'static mut Character>,
}

/// Returns an empty list with the memory of another one.
fn recycled<T, U>(mut list: Vec<T>) -> Vec<U> {
    list.clear();
    // Lists of values of the same size keep their memory.
    list.into_iter().map(|_| unreachable!("the list is empty")).collect()
}

impl EvaluationOrder {
    /// Lets the next list be sorted again.
    pub fn mark_outdated(&mut self) {
        self.is_outdated = true;
    }

    fn sort(&mut self, characters: &[Character]) {
        if !std::mem::take(&mut self.is_outdated) && self.order.len() == characters.len() {
            return;
        }
        self.order.clear();
        self.order.extend(0..characters.len() as u32);
        self.order.sort_by_key(|index| {
            let Character { machine, model, .. } = &characters[*index as usize];
            let machine = machine.as_ref().map(|machine| machine.bound.number);
            (machine, Arc::as_ptr(model).addr())
        });
    }

    /// Calls `work` with the characters that are due, in their order.
    pub fn with_due<R>(
        &mut self,
        characters: &mut [Character],
        work: impl FnOnce(&mut [&mut Character]) -> R,
    ) -> R {
        self.sort(characters);
        let mut all = recycled(std::mem::take(&mut self.all));
        all.extend(characters.iter_mut().map(Some));
        let mut due: Vec<&mut Character> = recycled(std::mem::take(&mut self.due));
        for index in &self.order {
            due.extend(all[*index as usize].take().filter(|it: &&mut Character| it.is_due));
        }
        let result = work(&mut due);
        (self.all, self.due) = (recycled(all), recycled(due));
        result
    }
}
