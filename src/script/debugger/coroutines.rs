//! The coroutines of a stopped game.

use super::super::context::ScriptContext;
use super::super::luajit_layout;
use super::code_swap::{THREAD, each_object};
use mlua::ffi::*;
use std::ffi::c_int;

/// Maximum number of coroutines that are listed, without those that have resumed another.
const COROUTINES_MAX: usize = 1000;
/// The upper bits of a slot with a coroutine.
const SLOT: u64 = !6 & 0x1_ffff;

/// Number of slots of LuaJIT's `global_State` in which the address of the running coroutine is
/// searched. What follows it in memory is longer.
const GLOBAL_SLOTS: usize = 128;

/// `debug_thread_addresses()`: returns a list of the addresses at which that of the running
/// coroutine is now, among them the one at which LuaJIT keeps it, and the address of the main
/// coroutine.
pub unsafe extern "C-unwind" fn debug_thread_addresses(l: *mut lua_State) -> c_int {
    // SAFETY: these slots belong to the state.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        let slots = luajit_layout::global_slots(l);
        lua_createtable(l, 4, 0);
        let is_own = |n: &usize| slots.add(*n).read() == l.addr() as u64;
        for (i, n) in (0..GLOBAL_SLOTS).filter(is_own).enumerate() {
            lua_pushnumber(l, slots.add(n).addr() as f64);
            lua_rawseti(l, -2, i as lua_Integer + 1);
        }
        lua_pushnumber(l, cx.main.addr() as f64);
        cx.memory.end_lenient();
        2
    }
}

/// `debug_coroutines(have_resumed)`: returns a list of the coroutines with functions on their
/// stacks, without the main one; if `have_resumed` is true, of all that wait for one that they have
/// resumed, and of the running one.
pub unsafe extern "C-unwind" fn debug_coroutines(l: *mut lua_State) -> c_int {
    // SAFETY: objects that wait to be swept are left out, and the collector is stopped while
    // scripts run.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        lua_checkstack(l, 10);
        let have_resumed = lua_toboolean(l, 1) != 0;
        let main = cx.main.cast_const();
        let mut found = Vec::new();
        each_object(l, |object| {
            let thread = object.cast::<lua_State>();
            let is_thread =
                (*object).kind == THREAD && !luajit_layout::is_dead(l, (*object).marked);
            if is_thread && thread != main {
                found.push(thread);
            }
        });
        found.retain(|thread| {
            let thread = thread.cast_mut();
            let mut ar = std::mem::MaybeUninit::<lua_Debug>::zeroed();
            // One that has resumed another is in a call, and has neither yielded nor failed.
            lua_getstack(thread, 0, ar.as_mut_ptr()) != 0
                && (!have_resumed || lua_status(thread) == LUA_OK)
        });
        if !have_resumed {
            found.truncate(COROUTINES_MAX);
        }
        lua_createtable(l, found.len() as c_int, 0);
        for (i, thread) in found.iter().enumerate() {
            luajit_layout::push_slot(l, SLOT << 47 | thread.expose_provenance() as u64);
            lua_rawseti(l, -2, i as lua_Integer + 1);
        }
        cx.memory.end_lenient();
        1
    }
}
