//! One step of running graphs for scripts: stores the results of the function that was called, runs
//! events, and returns the next function with its inputs, in one call from Lua. It passes numbers,
//! booleans and nil; other values go through the functions in mod.rs.

use crate::argument::{Argument, ArgumentError, Integer};
use crate::context::ScriptContext;
use crate::return_value::ReturnValue;
use crate::types::{ApiType, ValueShape};
use engine_flow::{FlowCall, RunState, Slot, Tag};
use engine_foundation::Handle;
use engine_runtime::Engine;
use mlua::ffi::{
    LUA_TBOOLEAN, LUA_TNIL, LUA_TNONE, LUA_TNUMBER, lua_Integer, lua_State, lua_pushboolean,
    lua_pushinteger, lua_pushnil, lua_pushnumber, lua_toboolean, lua_tonumber, lua_type,
};
use std::ffi::c_int;

/// Number of a call of `on_flow_event`.
const CALLBACK: f64 = -1.0;
/// Maximum number of inputs that a step returns.
const PLAIN_INPUTS_MAX: usize = 4;

/// A result that is a number, a boolean or nil.
pub struct PlainResult(Slot);

impl Argument for PlainResult {
    const TYPE: ApiType = ApiType::new("any", ValueShape::Boxed);

    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        _: &ScriptContext,
    ) -> Result<PlainResult, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe {
            match lua_type(l, i) {
                LUA_TNUMBER => Ok(PlainResult(Slot::number(lua_tonumber(l, i)))),
                LUA_TBOOLEAN => Ok(PlainResult(Slot::boolean(lua_toboolean(l, i) != 0))),
                LUA_TNIL | LUA_TNONE => Ok(PlainResult(Slot::NIL)),
                _ => Err(ArgumentError::Message("must be a number, a boolean or nil".into())),
            }
        }
    }
}

/// The function to call next: its number, or 0 for none; the number of its inputs without the last
/// ones that are nil, or -1 if they are no plain values; then these inputs.
pub struct NextCall {
    number: f64,
    count: lua_Integer,
    inputs: [Slot; PLAIN_INPUTS_MAX],
}

impl ReturnValue for NextCall {
    const TYPES: &'static [ApiType] = &[ApiType::new("any", ValueShape::Boxed)];

    unsafe fn push(self, l: *mut lua_State, _: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised; a native function has room for 20 values.
        unsafe {
            lua_pushnumber(l, self.number);
            lua_pushinteger(l, self.count);
            let plain = self.count.max(0) as usize;
            for input in &self.inputs[..plain] {
                match input.tag {
                    Tag::Boolean => lua_pushboolean(l, c_int::from(input.as_boolean())),
                    Tag::Handle => {
                        lua_pushnumber(l, input.as_handle().map_or(0.0, Handle::to_number));
                    }
                    Tag::Nil => lua_pushnil(l),
                    _ => lua_pushnumber(l, input.as_number()),
                }
            }
            Ok(2 + plain as c_int)
        }
    }
}

/// Returns the inputs in the form of a step.
fn next_call(number: f64, inputs: &[Slot]) -> NextCall {
    let mut next = NextCall { number, count: -1, inputs: [Slot::NIL; PLAIN_INPUTS_MAX] };
    let nils = inputs.iter().rev().take_while(|input| **input == Slot::NIL).count();
    let inputs = &inputs[..inputs.len() - nils];
    let is_plain =
        |it: &Slot| matches!(it.tag, Tag::Number | Tag::Boolean | Tag::Handle | Tag::Nil);
    if inputs.len() <= PLAIN_INPUTS_MAX && inputs.iter().all(is_plain) {
        next.inputs[..inputs.len()].copy_from_slice(inputs);
        next.count = inputs.len() as lua_Integer;
    }
    next
}

/// Numbers of scripts from here on can be objects.
const HANDLE_MIN: f64 = (1u64 << 40) as f64;

/// Returns a result as an object, if its number is one.
#[inline(always)]
fn object(engine: &Engine, result: Slot) -> Slot {
    let number = result.as_number();
    if number < HANDLE_MIN {
        return result;
    }
    let handle = Handle::from_number(number).filter(|handle| engine.is_object(*handle));
    handle.map_or(result, Slot::handle)
}

/// Stores the results of a call and runs events. `outputs` has a bit for each event output that
/// continues; -1 without a call. The results are `first` and `second`, or those that were `added`.
pub(super) fn step(
    engine: &mut Engine,
    outputs: Integer,
    first: PlainResult,
    second: PlainResult,
    added: Option<bool>,
) -> NextCall {
    if outputs.0 >= 0 {
        let continued = outputs.0 as u32;
        let graphs = &mut engine.worlds.flow;
        if added.is_none() {
            let results = [first.0, second.0].map(|result| object(engine, result));
            engine.worlds.flow.get_mut().complete_plain_call(results, continued);
        } else {
            let results = std::mem::take(&mut graphs.results);
            graphs.get_mut().complete_call(&results, continued);
            graphs.results = results;
        }
    }
    engine.worlds.flow.results.clear();
    let state = engine.run_flow();
    let graphs = &mut engine.worlds.flow;
    let call = match state {
        RunState::Idle | RunState::Stopped => return next_call(0.0, &[]),
        RunState::Call(call) => call,
    };
    let mut inputs = std::mem::take(&mut graphs.inputs);
    let number = match call {
        FlowCall::Function(function) => {
            graphs.get_mut().call_inputs(&mut inputs);
            f64::from(function) + 1.0
        }
        FlowCall::Callback(event) => {
            inputs.clear();
            inputs.push(event.value);
            graphs.callback = Some(event);
            CALLBACK
        }
    };
    graphs.inputs = inputs;
    next_call(number, &graphs.inputs)
}
