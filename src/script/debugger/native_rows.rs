//! Breakpoints on native functions of the engine: the address of the function in its object is
//! exchanged for one that reports the call, and then calls the function. So a script that has
//! stored the function in a local stops, too.

use super::super::context::ScriptContext;
use super::call_core;
use crate::value::ScriptValue;
use mlua::ffi::*;
use std::collections::HashMap;
use std::ffi::c_int;

/// The value that distinguishes a native function from one of Lua's library.
const NATIVE: u8 = 1;

/// The first fields of LuaJIT's `GCfunc` of a native function.
#[repr(C)]
struct RawNativeFunction {
    next: u64,
    marked: u8,
    kind: u8,
    variant: u8,
    upvalues: u8,
    unused: u32,
    environment: u64,
    gray: u64,
    code: u64,
    function: lua_CFunction,
}

const _: () = assert!(std::mem::offset_of!(RawNativeFunction, function) == 40);

/// The functions that are exchanged, by the address of their object: the number of the breakpoint,
/// and the function.
#[derive(Default)]
pub struct NativeRows(HashMap<usize, (f64, lua_CFunction)>);

/// `debug_row(function, number)`: calls `core.debugger_row(number)` before each call of a native
/// function; without a number, no longer. Returns false for functions of Lua's own library.
pub unsafe extern "C-unwind" fn debug_row(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a native function, which lives as long as the VM.
    unsafe {
        let object = lua_topointer(l, 1).cast::<RawNativeFunction>().cast_mut();
        let number = (lua_type(l, 2) == LUA_TNUMBER).then(|| lua_tonumber(l, 2));
        let is_native = (*object).variant == NATIVE;
        if let Some(debugger) = &mut ScriptContext::of(l).debugger
            && is_native
        {
            let rows = &mut debugger.rows.0;
            match (number, rows.get(&object.addr()).copied()) {
                (Some(number), known) => {
                    let function = known.map_or((*object).function, |(_, function)| function);
                    rows.insert(object.addr(), (number, function));
                    (*object).function = reported;
                }
                (None, Some((_, function))) => {
                    (*object).function = function;
                    rows.remove(&object.addr());
                }
                (None, None) => {}
            }
        }
        lua_pushboolean(l, c_int::from(is_native));
    }
    1
}

/// Takes the place of a native function with a breakpoint.
unsafe extern "C-unwind" fn reported(l: *mut lua_State) -> c_int {
    // SAFETY: the record is that of the running function; its object lives as long as the VM, and
    // the function runs with the arguments of this call.
    unsafe {
        let mut ar = std::mem::MaybeUninit::<lua_Debug>::zeroed();
        let top = lua_gettop(l);
        lua_getstack(l, 0, ar.as_mut_ptr());
        lua_getinfo(l, c"f".as_ptr(), ar.as_mut_ptr());
        let object = lua_topointer(l, -1).addr();
        lua_settop(l, top);
        let row = |l| ScriptContext::of(l).debugger.as_ref()?.rows.0.get(&object).copied();
        let Some((number, function)) = row(l) else { return 0 };
        call_core(l, c"debugger_row", &[ScriptValue::Number(number)]);
        function(l)
    }
}
