//! The few functions of the prelude's `core` table that need the VM itself and therefore cannot be
//! rows. None of them raises.

use super::api;
use super::api::physics_world::raycast;
use super::compiled_frames::CompiledFunctions;
use super::context::{ErrorContexts, ScriptContext};
use super::debugger;
use super::kept_locals::SLOTS_MAX;
use super::load::{Fault, load};
use super::report::with_inner_contexts;
use super::stack_trace;
use super::types::VectorType;
use super::unpacked_chunk;
use mlua::ffi::*;
use std::ffi::{CStr, c_int};

/// Name and function, for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] = &[
    (c"note_ctype", register_value_type),
    (c"reads_vector", reads_vector),
    (c"note_source", register_source),
    (c"note_loaded", register_loaded_text),
    (c"memory_used", memory_used),
    (c"stop_collector", stop_collector),
    (c"is_interruption", is_interruption),
    (c"has_native_stack", has_native_stack),
    (c"unpacked_rows", unpacked_rows),
    (c"unpacked_check", unpacked_check),
    (c"physics_ray", physics_ray),
    (c"make_resume", make_resume),
    (c"make_wrapped", make_wrapped),
    (c"load_chunk", load_chunk),
    (c"keep_contexts", keep_contexts),
    (c"contexts", contexts),
    (c"contexts_of", contexts_of),
    (c"kept_locals", kept_locals),
];

unsafe extern "C-unwind" {
    fn script_resume(l: *mut lua_State) -> c_int;
    fn script_wrapped(l: *mut lua_State) -> c_int;
}

/// `note_ctype(name, number)`: registers the FFI number of a value type. Returns true if native
/// code knows that type.
unsafe extern "C-unwind" fn register_value_type(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a string and a number.
    unsafe {
        let name = string(l, 1);
        let known = ScriptContext::of(l).ctypes.note(&name, lua_tonumber(l, 2) as u16);
        lua_pushboolean(l, known as c_int);
    }
    1
}

/// `reads_vector(v)`: returns true if native code reads `Vector3(1, 2, 3)` correctly.
unsafe extern "C-unwind" fn reads_vector(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a Vector3.
    unsafe {
        let read = ScriptContext::of(l).ctypes.read(l, 1, VectorType::Vector3);
        let right = read.is_some_and(|data| *(data as *const [f32; 3]) == [1.0, 2.0, 3.0]);
        lua_pushboolean(l, right as c_int);
    }
    1
}

/// `note_source(chunk, text)`: stores the text of a file's chunk, for the source lines in stack
/// traces.
unsafe extern "C-unwind" fn register_source(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two strings.
    unsafe {
        let (chunk, text) = (string(l, 1), string(l, 2));
        ScriptContext::of(l).sources.insert(chunk, text.into_bytes().into());
    }
    0
}

/// `note_loaded(chunk, text)`: stores the text of a chunk that was loaded from a string, within the
/// limit for such texts. The texts of files do not change.
unsafe extern "C-unwind" fn register_loaded_text(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two strings.
    unsafe {
        let (chunk, text) = (string(l, 1), string(l, 2));
        ScriptContext::of(l).loaded.note(chunk, text);
    }
    0
}

/// `memory_used()`: returns the bytes that Lua holds, and the maximum that it ever held.
unsafe extern "C-unwind" fn memory_used(l: *mut lua_State) -> c_int {
    // SAFETY: pushes two numbers.
    unsafe {
        let memory = &ScriptContext::of(l).memory;
        lua_pushnumber(l, memory.used() as f64);
        lua_pushnumber(l, memory.peak() as f64);
    }
    2
}

/// `stop_collector()`: stops the collector again after a game's `collectgarbage("collect")`, which
/// starts it.
unsafe extern "C-unwind" fn stop_collector(l: *mut lua_State) -> c_int {
    // SAFETY: allowed in any call.
    unsafe {
        if !ScriptContext::of(l).worker {
            lua_gc(l, LUA_GCSTOP, 0);
        }
    }
    0
}

/// `is_interruption(problem)`: returns true if this error was raised by the hook. No hook runs
/// inside the hook, so a handler of the game must not run then: nothing could stop it.
unsafe extern "C-unwind" fn is_interruption(l: *mut lua_State) -> c_int {
    // SAFETY: any value may be passed; a string is not converted.
    unsafe {
        let ours = match &ScriptContext::of(l).interrupted {
            Some(message) if lua_type(l, 1) == LUA_TSTRING => *message == string(l, 1),
            _ => false,
        };
        lua_pushboolean(l, ours as c_int);
    }
    1
}

/// `load_chunk(text, name, env)`: compiles a text and returns its function, with that environment
/// if it is not nil. On failure it returns nil, the error message, and true if the text takes too
/// long, so that a part of it would, too.
unsafe extern "C-unwind" fn load_chunk(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two strings, which stay in memory while they are arguments, and a
    // table or nil.
    unsafe {
        lua_settop(l, 3);
        let mut length = 0;
        let start = lua_tolstring(l, 1, &mut length);
        let text = std::slice::from_raw_parts(start.cast::<u8>(), length);
        match load(l, CStr::from_ptr(lua_tolstring(l, 2, &mut length)), text) {
            Ok(()) => {
                if lua_type(l, 3) == LUA_TTABLE {
                    lua_pushvalue(l, 3);
                    lua_setfenv(l, -2);
                }
                1
            }
            Err(Fault::OnStack) => {
                lua_pushnil(l);
                lua_insert(l, -2);
                2
            }
            Err(Fault::Refused(message)) => {
                let memory = &ScriptContext::of(l).memory;
                memory.begin_lenient();
                lua_pushnil(l);
                lua_pushlstring(l, message.as_ptr().cast(), message.len());
                lua_pushboolean(l, 1);
                memory.end_lenient();
                3
            }
        }
    }
}

/// `unpacked_rows()`: returns the addresses of the context and of its scratch array, and lists of
/// the C types and the addresses of the functions of the unpacked rows.
unsafe extern "C-unwind" fn unpacked_rows(l: *mut lua_State) -> c_int {
    // SAFETY: pushes plain values; the addresses are valid as long as the state.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        lua_pushlightuserdata(l, std::ptr::from_mut(cx).cast());
        lua_pushlightuserdata(l, cx.scratch.as_mut_ptr().cast());
        lua_createtable(l, 0, 0);
        lua_createtable(l, 0, 0);
        for (i, (_, _, form)) in unpacked_chunk::rows(api::MODULES).enumerate() {
            let kind = unpacked_chunk::c_type(form);
            lua_pushlstring(l, kind.as_ptr().cast(), kind.len());
            lua_rawseti(l, -3, i as lua_Integer + 1);
            lua_pushlightuserdata(l, form.address.0.cast_mut());
            lua_rawseti(l, -2, i as lua_Integer + 1);
        }
        cx.memory.end_lenient();
    }
    4
}

/// `unpacked_check(index)`: returns the function that finds a wrong argument of an unpacked row and
/// raises the error.
unsafe extern "C-unwind" fn unpacked_check(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes the index of a row.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        let index = lua_tonumber(l, 1) as usize - 1;
        let row = unpacked_chunk::rows(api::MODULES).nth(index);
        let (module, row, form) = row.expect("lua/gui/rows.lua names rows");
        let text = unpacked_chunk::check(module, row, form);
        let loaded = load(l, unpacked_chunk::CHECK_CHUNK, text.as_bytes());
        assert!(loaded.is_ok(), "the checks of a row compile");
        cx.memory.end_lenient();
    }
    1
}

/// `physics_ray()`: returns the context's address, and the C type and the address of the raycast.
unsafe extern "C-unwind" fn physics_ray(l: *mut lua_State) -> c_int {
    let (kind, address) = raycast::RAY;
    // SAFETY: pushes plain values; the addresses are valid as long as the state.
    unsafe {
        lua_pushlightuserdata(l, std::ptr::from_mut(ScriptContext::of(l)).cast());
        lua_pushlstring(l, kind.as_ptr().cast(), kind.len());
        lua_pushlightuserdata(l, address.0.cast_mut());
    }
    3
}

/// `has_native_stack()`: returns true if there is room for another native call that calls Lua
/// again. LuaJIT bounds the stack of each coroutine, but not the native stack that they share.
unsafe extern "C-unwind" fn has_native_stack(l: *mut lua_State) -> c_int {
    let here = 0u8;
    // SAFETY: pushes a boolean.
    unsafe {
        let room = std::ptr::from_ref(&here).addr() > ScriptContext::of(l).stack_floor;
        lua_pushboolean(l, room as c_int);
    }
    1
}

/// `make_resume(resume, note, refuse)`: returns `coroutine.resume`, built on Lua's own function.
/// `note(thread, problem)` is called when a coroutine dies of an error, and `refuse(thread)` raises
/// the error for a coroutine that cannot be resumed.
unsafe extern "C-unwind" fn make_resume(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes three functions.
    unsafe { make(l, script_resume, 3) }
}

/// `make_wrapped(resume, note, refuse, thread)`: returns the function that resumes a coroutine.
unsafe extern "C-unwind" fn make_wrapped(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes three functions and a thread.
    unsafe { make(l, script_wrapped, 4) }
}

/// Pushes a function of raise.c with its upvalues: the lowest stack address at which it may run, as
/// a number with those bits, and the arguments.
unsafe fn make(l: *mut lua_State, function: lua_CFunction, arguments: c_int) -> c_int {
    // SAFETY: as many arguments are on the stack.
    unsafe {
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        lua_settop(l, arguments);
        lua_pushnumber(l, f64::from_bits(cx.stack_floor as u64));
        lua_insert(l, 1);
        lua_pushcclosure(l, function, arguments + 1);
        cx.memory.end_lenient();
        1
    }
}

/// `keep_contexts(problem)`: the message handler of `pcall`, which stores the contexts of the error
/// and returns it unchanged. A C function: it runs inside hooks, too, and needs little stack.
unsafe extern "C-unwind" fn keep_contexts(l: *mut lua_State) -> c_int {
    // SAFETY: called by Lua only, with the error's value at 1.
    unsafe {
        lua_settop(l, 1);
        if lua_type(l, 1) == LUA_TSTRING {
            let cx = ScriptContext::of(l);
            let message = string(l, 1);
            let known = cx.error_contexts.take();
            let script = stack_trace::contexts(l, cx, 1);
            let lines = with_inner_contexts(script, known.as_ref(), &message);
            cx.error_contexts = Some(ErrorContexts { message, lines, is_caught: true });
        }
        debugger::error_caught(l);
        1
    }
}

/// `contexts()`: returns a list of the contexts of the caller, outermost first.
unsafe extern "C-unwind" fn contexts(l: *mut lua_State) -> c_int {
    // SAFETY: pushes a list.
    unsafe {
        let lines = stack_trace::contexts(l, ScriptContext::of(l), 1);
        push_list(l, &with_inner_contexts(lines, None, ""))
    }
}

/// `contexts_of(problem)`: returns a list of the contexts in which the error was raised that the
/// game caught last, or nil if its message is another one.
unsafe extern "C-unwind" fn contexts_of(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a string.
    unsafe {
        let message = string(l, 1);
        match &ScriptContext::of(l).error_contexts {
            Some(known) if known.is_caught && known.message == message => {
                push_list(l, &known.lines)
            }
            _ => {
                lua_pushnil(l);
                1
            }
        }
    }
}

/// `kept_locals(fn, line)`: returns nil if the locals of a Lua function are known after a line. If
/// it was compiled, returns the set of the indices of those that are.
unsafe extern "C-unwind" fn kept_locals(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a function of Lua and a number; allocation cannot fail meanwhile.
    unsafe {
        let memory = &ScriptContext::of(l).memory;
        memory.begin_lenient();
        let line = lua_tonumber(l, 2) as c_int;
        lua_settop(l, 1);
        match CompiledFunctions::read(l).kept(l, line) {
            None => lua_pushnil(l),
            Some(kept) => {
                lua_createtable(l, 0, 0);
                for slot in (0..SLOTS_MAX).filter(|slot| kept.contains(*slot)) {
                    lua_pushboolean(l, 1);
                    lua_rawseti(l, -2, slot as lua_Integer + 1);
                }
            }
        }
        memory.end_lenient();
        1
    }
}

unsafe fn push_list(l: *mut lua_State, lines: &[String]) -> c_int {
    // SAFETY: the caller has free slots; allocation cannot fail meanwhile.
    unsafe {
        let memory = &ScriptContext::of(l).memory;
        memory.begin_lenient();
        lua_createtable(l, lines.len() as c_int, 0);
        for (i, line) in lines.iter().enumerate() {
            lua_pushlstring(l, line.as_ptr().cast(), line.len());
            lua_rawseti(l, -2, i as lua_Integer + 1);
        }
        memory.end_lenient();
        1
    }
}

unsafe fn string(l: *mut lua_State, i: c_int) -> String {
    // SAFETY: called for strings only.
    unsafe {
        let mut length = 0;
        let start = lua_tolstring(l, i, &mut length);
        if start.is_null() {
            return String::new();
        }
        let bytes = std::slice::from_raw_parts(start as *const u8, length);
        // Checking valid UTF-8, the usual case, is faster than repairing it.
        match std::str::from_utf8(bytes) {
            Ok(text) => text.to_string(),
            Err(_) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}
