//! Values of graphs as arguments and results of engine functions, so that nodes call the functions
//! of rows without Lua. A row can be called in this way if graphs have values of all of its types:
//! numbers, booleans, texts, vectors, rotations, colors and objects.

use super::api_row::FunctionRow;
use super::argument::{Argument, ArgumentError};
use super::return_value::ReturnValue;
use engine_flow::{CallResult, FlowHeap, Slot, Tag};
use engine_runtime::Engine;

/// Calls the function of a row with the inputs of a node, and writes the node's outputs.
///
/// # Safety
/// The row's function has the arguments and results that the entry was made for.
/// [`FunctionRow::call_from_graph`] calls a row with its own entry.
pub type GraphEntry =
    unsafe fn(&mut Engine, &'static FunctionRow, &[Slot], &mut [Slot], &mut FlowHeap) -> CallResult;

/// Reads an argument from an input of a node. A text is valid until the heap changes.
pub type SlotReader<T> = fn(Slot, &Engine, &FlowHeap) -> Result<T, ArgumentError>;

/// Writes results as outputs of a node.
pub type SlotWriter<T> = fn(T, &mut SlotResults) -> Result<(), String>;

/// The outputs of a node, as they are written.
pub struct SlotResults<'a> {
    slots: &'a mut [Slot],
    count: usize,
    pub heap: &'a mut FlowHeap,
}

impl SlotResults<'_> {
    /// Writes the next output.
    #[inline(always)]
    pub fn push(&mut self, value: Slot) -> Result<(), String> {
        self.slots[self.count] = value;
        self.count += 1;
        Ok(())
    }

    /// Writes the next output, a number.
    ///
    /// # Errors
    /// Returns an error if the number is not finite.
    #[inline(always)]
    pub fn push_number(&mut self, number: f64) -> Result<(), String> {
        match number.is_finite() {
            true => self.push(Slot::number(number)),
            false => Err(format!("result {} must be a finite number", self.count + 1)),
        }
    }

    /// Writes the next output, a text.
    ///
    /// # Errors
    /// Returns an error if the text does not fit.
    pub fn push_text(&mut self, text: &str) -> Result<(), String> {
        let text = self.heap.add_text(text)?;
        self.push(text)
    }
}

/// Reads an argument of a type that graphs have values of.
///
/// # Errors
/// Returns the reason why the value is refused.
#[inline(always)]
pub fn of_slot<T: Argument>(
    slot: Slot,
    engine: &Engine,
    heap: &FlowHeap,
) -> Result<T, ArgumentError> {
    match const { T::OF_SLOT } {
        Some(read) => read(slot, engine, heap),
        None => Err(ArgumentError::Type),
    }
}

/// Reads argument `i`, from 1.
///
/// # Errors
/// Returns the message for a refused value.
#[inline(never)]
pub fn read<T: Argument>(
    i: usize,
    engine: &Engine,
    row: &FunctionRow,
    inputs: &[Slot],
    heap: &FlowHeap,
) -> Result<T, String> {
    let slot = inputs.get(i - 1).copied().unwrap_or(Slot::NIL);
    of_slot::<T>(slot, engine, heap).map_err(|wrong| refused::<T>(i, row, slot, wrong))
}

#[cold]
fn refused<T: Argument>(i: usize, row: &FunctionRow, slot: Slot, wrong: ArgumentError) -> String {
    let name = row.params[i - 1].0;
    let kind = T::TYPE;
    match wrong {
        ArgumentError::Type => {
            let or_nil = if kind.optional { " or nil" } else { "" };
            let got = slot.tag.noun();
            format!("argument #{i} '{name}' must be {}{or_nil}, got {got}", kind.lua)
        }
        ArgumentError::Message(message) | ArgumentError::RestArgument(_, message) => {
            format!("argument #{i} '{name}': {message}")
        }
    }
}

/// Reads an optional argument.
#[inline(always)]
pub fn optional<T: Argument>(
    slot: Slot,
    engine: &Engine,
    heap: &FlowHeap,
) -> Result<Option<T>, ArgumentError> {
    match slot.tag {
        Tag::Nil => Ok(None),
        _ => of_slot::<T>(slot, engine, heap).map(Some),
    }
}

/// Writes one of several results.
#[inline(always)]
pub fn push<R: ReturnValue>(result: R, results: &mut SlotResults) -> Result<(), String> {
    match const { R::INTO_SLOTS } {
        Some(write) => write(result, results),
        None => Err("returns no values of graphs".to_string()),
    }
}

/// Writes all results as the outputs of a node.
///
/// # Errors
/// Returns the message of a function that failed.
#[inline(always)]
pub fn write<R: ReturnValue>(result: R, outputs: &mut [Slot], heap: &mut FlowHeap) -> CallResult {
    push(result, &mut SlotResults { slots: outputs, count: 0, heap }).map_err(Box::from)
}
