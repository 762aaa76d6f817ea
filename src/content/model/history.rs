//! Undo and redo: the inverses of applied operations, in steps that a person takes back at once.

use super::{Model, Operation};

/// Maximum number of operations that can be undone. Beyond it, the older half of the steps is
/// forgotten.
pub const UNDO_OPERATIONS_MAX: usize = 2_000_000;

/// The steps that can be undone, and those that can be done again.
#[derive(Clone, Debug, Default)]
pub struct History {
    undo: Stack,
    redo: Stack,
}

/// Inverses in the order in which they were made, and the start of each step.
#[derive(Clone, Debug, Default)]
struct Stack {
    operations: Vec<Operation>,
    starts: Vec<usize>,
}

impl Stack {
    /// Removes the last step. The last operation comes first.
    fn pop(&mut self) -> Option<impl Iterator<Item = Operation>> {
        let start = self.starts.pop()?;
        Some(self.operations.drain(start..).rev())
    }

    fn begin(&mut self) {
        if self.operations.len() > UNDO_OPERATIONS_MAX {
            self.forget_older_half();
        }
        self.starts.push(self.operations.len());
    }

    fn forget_older_half(&mut self) {
        let half = self.starts.len().div_ceil(2);
        let end = self.starts.get(half).copied().unwrap_or(self.operations.len());
        self.operations.drain(..end);
        self.starts.drain(..half);
        self.starts.iter_mut().for_each(|start| *start -= end);
    }
}

impl History {
    /// Begins a step. Operations up to the next step are undone together.
    pub fn begin(&mut self) {
        self.undo.begin();
    }

    /// Applies an operation as a part of the last step. Steps that were undone are forgotten.
    pub fn apply(&mut self, model: &mut Model, operation: Operation) {
        if self.undo.starts.is_empty() {
            self.undo.begin();
        }
        self.redo = Stack::default();
        self.undo.operations.push(model.apply(operation));
    }

    /// Takes back the last step. Returns the operations that did it, or `None` if there is no step.
    pub fn undo(&mut self, model: &mut Model) -> Option<Vec<Operation>> {
        step(model, &mut self.undo, &mut self.redo)
    }

    /// Does the last step that was undone again. Returns its operations.
    pub fn redo(&mut self, model: &mut Model) -> Option<Vec<Operation>> {
        step(model, &mut self.redo, &mut self.undo)
    }

    /// Returns the number of steps that can be undone.
    pub fn len(&self) -> usize {
        self.undo.starts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.undo.starts.is_empty()
    }
}

/// Applies the last step of one stack, and pushes its inverse to the other one.
fn step(model: &mut Model, from: &mut Stack, to: &mut Stack) -> Option<Vec<Operation>> {
    let operations: Vec<Operation> = from.pop()?.collect();
    to.begin();
    to.operations.extend(operations.iter().map(|operation| model.apply(operation.clone())));
    Some(operations)
}
