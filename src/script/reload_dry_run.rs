//! The dry run of a changed file, for hot reload. Its effects do not reach the engine. An
//! interruption (an error, the watchdog, the memory limit) stops only the reload.

use super::context::ScriptContext;
use super::report::{ErrorReport, handler};
use mlua::ffi::*;
use std::ffi::{CStr, c_int};

/// Name and function, for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] =
    &[(c"dry_run", dry_run), (c"settle", settle), (c"source", source)];

unsafe fn set_reloading(l: *mut lua_State, cx: &mut ScriptContext, on: bool) {
    cx.reloading = on;
    cx.restrict();
    // SAFETY: the registry holds the core table; setting a field of it runs no metamethod.
    unsafe {
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        lua_pushboolean(l, on as c_int);
        lua_setfield(l, -2, c"reloading".as_ptr());
        lua_settop(l, -2);
    }
}

/// `dry_run(fn)`: runs a function while engine calls with effects are refused, and restores the
/// state of the random number generator afterwards. Returns true and the function's result; or
/// false, the error's message, its location and the whole report as text. Until `settle` is called
/// nothing can interrupt the caller, so that the following steps are atomic.
unsafe extern "C-unwind" fn dry_run(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a function. What raises in it ends at lua_pcall.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        let random = (*cx.engine).frame.random.clone();
        set_reloading(l, cx, true);
        lua_settop(l, 1);
        lua_pushcclosure(l, handler, 0);
        lua_insert(l, 1);
        cx.memory.end_lenient();
        let status = lua_pcall(l, 0, 1, 1);
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        set_reloading(l, cx, false);
        (*cx.engine).frame.random = random;
        let report = cx.report.take();
        let stopped = report.as_ref().is_some_and(|report| report.stopped);
        if status == LUA_OK && !stopped {
            lua_pushboolean(l, 1);
            lua_pushvalue(l, 2);
            return 2;
        }
        cx.interrupt.renew_budget(l);
        let message = || super::report::error_text(l, -1, cx);
        let report = report.map_or_else(|| ErrorReport::from_message(message()), |report| *report);
        let location =
            report.location.as_ref().map(|location| format!("{}:{}", location.file, location.line));
        lua_pushboolean(l, 0);
        for text in [report.message.clone(), location.unwrap_or_default(), report.to_string()] {
            lua_pushlstring(l, text.as_ptr().cast(), text.len());
        }
        4
    }
}

/// `settle()`: allows interruptions again.
unsafe extern "C-unwind" fn settle(l: *mut lua_State) -> c_int {
    // SAFETY: called once after every `dry_run`.
    unsafe { ScriptContext::of(l).memory.end_lenient() };
    0
}

/// `source(chunk)`: returns the text that was stored for a chunk, or nil.
unsafe extern "C-unwind" fn source(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a string; lenient, so that pushing cannot fail.
    unsafe {
        let cx = ScriptContext::of(l);
        let name = super::report::error_text(l, 1, cx);
        cx.memory.begin_lenient();
        match cx.sources.get(&name) {
            Some(text) => {
                lua_pushlstring(l, text.as_ptr().cast(), text.len());
            }
            None => lua_pushnil(l),
        }
        cx.memory.end_lenient();
        1
    }
}
