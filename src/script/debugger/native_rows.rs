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

/// A function that is exchanged.
#[derive(Clone, Copy)]
struct NativeRow {
    /// The number of the breakpoint.
    number: f64,
    object: *mut RawNativeFunction,
    /// The address that the object had.
    function: lua_CFunction,
}

/// The functions that are exchanged, by the address of their object.
#[derive(Default)]
pub struct NativeRows(HashMap<usize, NativeRow>);

impl NativeRows {
    /// Restores all functions.
    ///
    /// # Safety
    /// Their VM is open.
    pub unsafe fn restore(&mut self) {
        for (_, row) in self.0.drain() {
            // SAFETY: as the caller promised; the prelude keeps the functions alive.
            unsafe { (*row.object).function = row.function };
        }
    }
}

/// Returns the native function at an index of the stack; `None` for one of Lua's own library.
///
/// # Safety
/// `l` is a live state, and the value at the index a function that is not one of Lua.
unsafe fn native_at(l: *mut lua_State, index: c_int) -> Option<*mut RawNativeFunction> {
    // SAFETY: as the caller promised.
    unsafe {
        let object = lua_topointer(l, index).cast::<RawNativeFunction>().cast_mut();
        ((*object).variant == NATIVE).then_some(object)
    }
}

/// `debug_is_native(function)`: returns false for functions of Lua's own library.
pub unsafe extern "C-unwind" fn debug_is_native(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a function that is not one of Lua.
    unsafe {
        let is_native = native_at(l, 1).is_some();
        lua_pushboolean(l, c_int::from(is_native));
    }
    1
}

/// `debug_row(function, number)`: calls `core.debugger_row(number)` before each call of a native
/// function; without a number, no longer.
pub unsafe extern "C-unwind" fn debug_row(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a native function, which lives as long as the VM.
    unsafe {
        let number = (lua_type(l, 2) == LUA_TNUMBER).then(|| lua_tonumber(l, 2));
        if let Some(debugger) = &mut ScriptContext::of(l).debugger
            && let Some(object) = native_at(l, 1)
        {
            let rows = &mut debugger.rows.0;
            match (number, rows.get(&object.addr()).copied()) {
                (Some(number), known) => {
                    let function = known.map_or((*object).function, |row| row.function);
                    rows.insert(object.addr(), NativeRow { number, object, function });
                    (*object).function = reported;
                }
                (None, Some(row)) => {
                    (*object).function = row.function;
                    rows.remove(&object.addr());
                }
                (None, None) => {}
            }
        }
    }
    0
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
        // Only a function that has a row has this address.
        let Some(NativeRow { number, function, .. }) = row(l) else { return 0 };
        call_core(l, c"debugger_row", &[ScriptValue::Number(number)]);
        let results = function(l);
        // The breakpoint may have been removed meanwhile.
        if row(l).is_some() {
            call_core(l, c"debugger_row_after", &[ScriptValue::Number(number)]);
        }
        results
    }
}
