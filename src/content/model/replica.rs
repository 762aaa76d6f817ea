//! A replica of a shared model: a tool's own operations, which it sees at once, on top of the
//! operations that all tools agree on. The order of the shared ones is decided in one place, and
//! every replica applies them in this order. Knows no connections.

use super::{Model, Operation};
use std::collections::HashSet;

/// An operation in the shared order.
#[derive(Clone, Debug, PartialEq)]
pub struct Committed {
    /// The replica that made the operation, and the number that it gave it.
    pub author: u32,
    pub number: u64,
    pub operation: Operation,
}

/// An own operation that is not in the shared order yet.
#[derive(Clone, Debug)]
struct Pending {
    number: u64,
    operation: Operation,
    inverse: Operation,
    is_sent: bool,
}

/// A model with own operations.
#[derive(Clone, Debug, Default)]
pub struct Replica {
    author: u32,
    model: Model,
    pending: Vec<Pending>,
    next: u64,
}

impl Replica {
    /// Creates a replica of a model. Each author has one replica.
    pub fn new(author: u32, model: Model) -> Replica {
        Replica { author, model, pending: Vec::new(), next: 1 }
    }

    /// Returns the model with all own operations.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the model for new keys.
    pub fn keys(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Applies an own operation. It stays local until it is committed. Returns its number.
    pub fn change(&mut self, operation: Operation) -> u64 {
        let number = self.next;
        self.next += 1;
        let inverse = self.model.apply(operation.clone());
        self.pending.push(Pending { number, operation, inverse, is_sent: false });
        number
    }

    /// Returns the own operations that are not committed, with their numbers.
    pub fn local(&self) -> impl Iterator<Item = (u64, &Operation)> {
        let local = self.pending.iter().filter(|pending| !pending.is_sent);
        local.map(|pending| (pending.number, &pending.operation))
    }

    /// Commits those local operations that `is_chosen` selects by number. They are to be sent to
    /// the place that decides the order; the others stay local.
    pub fn commit(&mut self, is_chosen: impl Fn(u64) -> bool) -> Vec<Committed> {
        let author = self.author;
        let chosen =
            self.pending.iter_mut().filter(|pending| !pending.is_sent && is_chosen(pending.number));
        chosen
            .map(|pending| {
                pending.is_sent = true;
                let (number, operation) = (pending.number, pending.operation.clone());
                Committed { author, number, operation }
            })
            .collect()
    }

    /// Takes back the local operations that are not committed.
    pub fn revert(&mut self) {
        self.roll_back();
        self.pending.retain(|pending| pending.is_sent);
        self.replay();
    }

    /// Applies operations of the shared order, also the own ones, below the pending ones.
    pub fn receive(&mut self, committed: impl IntoIterator<Item = Committed>) {
        self.roll_back();
        let mut own = HashSet::new();
        for Committed { author, number, operation } in committed {
            if author == self.author {
                own.insert(number);
            }
            self.model.apply(operation);
        }
        self.pending.retain(|pending| !own.contains(&pending.number));
        self.replay();
    }

    fn roll_back(&mut self) {
        for pending in self.pending.iter().rev() {
            self.model.apply(pending.inverse.clone());
        }
    }

    fn replay(&mut self) {
        for pending in &mut self.pending {
            pending.inverse = self.model.apply(pending.operation.clone());
        }
    }
}
