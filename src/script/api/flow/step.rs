//! One step of running graphs for scripts: stores the results of the function that was called, runs
//! events, and returns the next function with its inputs. It takes and returns numbers only, so
//! that compiled Lua calls it directly; values of other types go through the functions in mod.rs.

use crate::argument::{Argument, ArgumentError, UnboxedArgument};
use crate::context::ScriptContext;
use crate::types::{ApiType, ValueShape};
use engine_flow::{FlowCall, RunState, Slot, Tag};
use engine_foundation::Handle;
use engine_runtime::{Engine, PLAIN_INPUTS_MAX};
use mlua::ffi::{LUA_TNUMBER, lua_State, lua_tonumber, lua_type};
use std::ffi::c_int;

/// Step without a function to call.
const NOTHING: f64 = 0.0;
/// Step that calls `on_flow_event`.
const CALLBACK: f64 = -1.0;
/// Number of counts of inputs in the code of a step: none, inputs that are no plain values, and one
/// for each count of plain inputs.
const COUNTS: u32 = 8;
/// Number of kinds of a result: nil, number, boolean.
const KINDS: u32 = 3;

/// A number of a script, which may be infinite or not a number.
pub struct AnyNumber(f64);

impl Argument for AnyNumber {
    const TYPE: ApiType = ApiType::new("number", ValueShape::Number);

    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        _: &ScriptContext,
    ) -> Result<AnyNumber, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe {
            match lua_type(l, i) {
                LUA_TNUMBER => Ok(AnyNumber(lua_tonumber(l, i))),
                _ => Err(ArgumentError::Type),
            }
        }
    }
}

impl UnboxedArgument for AnyNumber {
    type C = f64;
    unsafe fn from_c(c: f64, _: u32, _: &ScriptContext) -> Option<AnyNumber> {
        Some(AnyNumber(c))
    }
}

/// Numbers of scripts from here on can be objects.
const HANDLE_MIN: f64 = (1u64 << 40) as f64;

/// Returns a result: its number is an object, if it is the number of one.
#[inline(always)]
fn result(engine: &Engine, kind: u32, number: f64) -> Slot {
    match kind {
        0 => Slot::NIL,
        1 if number >= HANDLE_MIN => {
            let handle = Handle::from_number(number).filter(|handle| engine.is_object(*handle));
            handle.map_or(Slot::number(number), Slot::handle)
        }
        1 => Slot::number(number),
        _ => Slot::boolean(number != 0.0),
    }
}

/// Returns the number of inputs without the last ones that are nil, after writing them to `plain`;
/// `None` if they are no plain values, which are numbers and objects.
#[inline(always)]
fn write_plain(inputs: &[Slot], plain: &mut [f64; PLAIN_INPUTS_MAX]) -> Option<usize> {
    let nils = inputs.iter().rev().take_while(|input| input.tag == Tag::Nil).count();
    let inputs = &inputs[..inputs.len() - nils];
    if inputs.len() > PLAIN_INPUTS_MAX {
        return None;
    }
    for (input, plain) in inputs.iter().zip(plain) {
        *plain = match input.tag {
            Tag::Number => input.as_number(),
            Tag::Handle => input.as_handle().map_or(0.0, Handle::to_number),
            _ => return None,
        };
    }
    Some(inputs.len())
}

/// Returns the address of the plain inputs of a step.
pub(super) fn plain_inputs(engine: &mut Engine) -> f64 {
    engine.worlds.flow.plain_inputs.as_ptr().expose_provenance() as f64
}

/// Stores the results of a call and runs events. `outputs` has a bit for each event output that
/// continues; -1 without a call. `kinds` has the kinds of the results `first` and `second`: nil,
/// numbers or booleans; -1 for the results that were added.
///
/// Returns 0 if there is nothing to call, -1 for the callback, or the code of a function: its
/// number from 1, times `COUNTS`, plus 0 for inputs that are no plain values, or else one more than
/// their number. Plain inputs are at the address of `plain_inputs`.
pub(super) fn step(
    engine: &mut Engine,
    outputs: AnyNumber,
    kinds: AnyNumber,
    first: AnyNumber,
    second: AnyNumber,
) -> f64 {
    if outputs.0 >= 0.0 {
        let continued = outputs.0 as u32;
        if kinds.0 >= 0.0 {
            let kinds = kinds.0 as u32;
            let first = result(engine, kinds % KINDS, first.0);
            let results = [first, result(engine, kinds / KINDS, second.0)];
            engine.worlds.flow.get_mut().complete_plain_call(results, continued);
        } else {
            let results = std::mem::take(&mut engine.worlds.flow.results);
            engine.worlds.flow.get_mut().complete_call(&results, continued);
            engine.worlds.flow.results = results;
        }
    }
    engine.worlds.flow.results.clear();
    let call = match engine.run_flow() {
        RunState::Idle | RunState::Stopped => return NOTHING,
        RunState::Call(call) => call,
    };
    let graphs = &mut engine.worlds.flow;
    match call {
        FlowCall::Function(function) => {
            let mut inputs = std::mem::take(&mut graphs.inputs);
            graphs.get_mut().call_inputs(&mut inputs);
            let plain = write_plain(&inputs, &mut graphs.plain_inputs);
            graphs.inputs = inputs;
            let count = plain.map_or(0, |count| count as u32 + 1);
            (f64::from(function) + 1.0) * f64::from(COUNTS) + f64::from(count)
        }
        FlowCall::Callback(event) => {
            graphs.inputs.clear();
            graphs.inputs.push(event.value);
            graphs.callback = Some(event);
            CALLBACK
        }
    }
}

const _: () = assert!(PLAIN_INPUTS_MAX + 1 < COUNTS as usize);
