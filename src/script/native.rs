//! The few functions of the prelude's `core` table that need the VM itself and so cannot be rows.
//! None of them raises.

use super::api::gui_fast::NATIVES as NATIVES_OF_GUI;
use super::api::physics_fast::NATIVES as NATIVES_OF_PHYSICS;
use super::cx::Cx;
use super::load::{Fault, load};
use super::types::Floats;
use mlua::ffi::*;
use std::ffi::{CStr, c_int};

/// Name and function, for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] = &[
    (c"note_ctype", note_ctype),
    (c"reads_vector", reads_vector),
    (c"note_source", note_source),
    (c"note_loaded", note_loaded),
    (c"memory_used", memory_used),
    (c"stop_collector", stop_collector),
    (c"is_interruption", is_interruption),
    (c"has_native_stack", has_native_stack),
    (c"gui_natives", gui_natives),
    (c"make_resume", make_resume),
    (c"make_wrapped", make_wrapped),
    (c"load_chunk", load_chunk),
];

unsafe extern "C-unwind" {
    fn script_resume(l: *mut lua_State) -> c_int;
    fn script_wrapped(l: *mut lua_State) -> c_int;
}

/// `note_ctype(name, number)`: the number of a value type; whether native code knows that type.
unsafe extern "C-unwind" fn note_ctype(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a string and a number.
    unsafe {
        let name = string(l, 1);
        let known = Cx::of(l).ctypes.note(&name, lua_tonumber(l, 2) as u16);
        lua_pushboolean(l, known as c_int);
    }
    1
}

/// `reads_vector(v)`: whether native code reads `Vector3(1, 2, 3)` as that.
unsafe extern "C-unwind" fn reads_vector(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a Vector3.
    unsafe {
        let read = Cx::of(l).ctypes.read(l, 1, Floats::Vector3);
        let right = read.is_some_and(|data| *(data as *const [f32; 3]) == [1.0, 2.0, 3.0]);
        lua_pushboolean(l, right as c_int);
    }
    1
}

/// `note_source(chunk, text)`: the text of a file's chunk, for the source lines in stacks.
unsafe extern "C-unwind" fn note_source(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two strings.
    unsafe {
        let (chunk, text) = (string(l, 1), string(l, 2));
        Cx::of(l).sources.insert(chunk, text.into_bytes().into());
    }
    0
}

/// `note_loaded(chunk, text)`: the text of a chunk that was loaded from a string, as far as such
/// texts are kept. Those of files stay what they are.
unsafe extern "C-unwind" fn note_loaded(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two strings.
    unsafe {
        let (chunk, text) = (string(l, 1), string(l, 2));
        Cx::of(l).loaded.note(chunk, text);
    }
    0
}

/// `memory_used()`: bytes that Lua holds, and the most that it ever held.
unsafe extern "C-unwind" fn memory_used(l: *mut lua_State) -> c_int {
    // SAFETY: pushes two numbers.
    unsafe {
        let memory = &Cx::of(l).memory;
        lua_pushnumber(l, memory.used() as f64);
        lua_pushnumber(l, memory.peak() as f64);
    }
    2
}

/// `stop_collector()`: after a game's `collectgarbage("collect")`, which starts it.
unsafe extern "C-unwind" fn stop_collector(l: *mut lua_State) -> c_int {
    // SAFETY: allowed in any call.
    unsafe {
        if !Cx::of(l).worker {
            lua_gc(l, LUA_GCSTOP, 0);
        }
    }
    0
}

/// `is_interruption(problem)`: whether this error was raised by the hook, inside which no hook
/// runs: a handler of the game's must not, for nothing could stop it.
unsafe extern "C-unwind" fn is_interruption(l: *mut lua_State) -> c_int {
    // SAFETY: any value may be passed; a string is not converted.
    unsafe {
        let ours = match &Cx::of(l).interrupted {
            Some(words) if lua_type(l, 1) == LUA_TSTRING => *words == string(l, 1),
            _ => false,
        };
        lua_pushboolean(l, ours as c_int);
    }
    1
}

/// `load_chunk(text, name, env)`: the function of a text, with that environment if there is one; or
/// nil, the words of what is wrong, and whether it takes too long, so that a part of it would, too.
unsafe extern "C-unwind" fn load_chunk(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two strings, which stay where they are while they are arguments,
    // and a table or nil.
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
            Err(Fault::Told) => {
                lua_pushnil(l);
                lua_insert(l, -2);
                2
            }
            Err(Fault::Refused(words)) => {
                let memory = &Cx::of(l).memory;
                memory.be_lenient();
                lua_pushnil(l);
                lua_pushlstring(l, words.as_ptr().cast(), words.len());
                lua_pushboolean(l, 1);
                memory.be_strict();
                3
            }
        }
    }
}

/// `gui_natives()`: the context's address, and a table with the C type and the address of each
/// function that Guis are drawn with, by name.
unsafe extern "C-unwind" fn gui_natives(l: *mut lua_State) -> c_int {
    // SAFETY: pushes plain values; the addresses hold as long as the state.
    unsafe {
        lua_pushlightuserdata(l, std::ptr::from_mut(Cx::of(l)).cast());
        lua_createtable(l, 0, NATIVES_OF_GUI.len() as c_int);
        for (name, kind, address) in NATIVES_OF_GUI.iter().chain(NATIVES_OF_PHYSICS) {
            lua_pushlstring(l, name.as_ptr().cast(), name.len());
            lua_createtable(l, 2, 0);
            lua_pushlstring(l, kind.as_ptr().cast(), kind.len());
            lua_rawseti(l, -2, 1);
            lua_pushlightuserdata(l, address.0.cast_mut());
            lua_rawseti(l, -2, 2);
            lua_rawset(l, -3);
        }
    }
    2
}

/// `has_native_stack()`: whether there is room for another native call that calls Lua again. LuaJIT
/// bounds the stack of each coroutine, and not the native one that they share.
unsafe extern "C-unwind" fn has_native_stack(l: *mut lua_State) -> c_int {
    let here = 0u8;
    // SAFETY: pushes a boolean.
    unsafe {
        let room = std::ptr::from_ref(&here).addr() > Cx::of(l).stack_floor;
        lua_pushboolean(l, room as c_int);
    }
    1
}

/// `make_resume(resume, note, refuse)`: `coroutine.resume`, made of Lua's own; `note(thread,
/// problem)` is told of a death, and `refuse(thread)` raises the words of what cannot be resumed.
unsafe extern "C-unwind" fn make_resume(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes three functions.
    unsafe { make(l, script_resume, 3) }
}

/// `make_wrapped(resume, note, refuse, thread)`: the function that resumes a coroutine.
unsafe extern "C-unwind" fn make_wrapped(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes three functions and a thread.
    unsafe { make(l, script_wrapped, 4) }
}

/// A function of raise.c with its upvalues: the least address that it may work at, as a number of
/// those bits, and arguments.
unsafe fn make(l: *mut lua_State, function: lua_CFunction, arguments: c_int) -> c_int {
    // SAFETY: as many arguments are given.
    unsafe {
        let cx = Cx::of(l);
        cx.memory.be_lenient();
        lua_settop(l, arguments);
        lua_pushnumber(l, f64::from_bits(cx.stack_floor as u64));
        lua_insert(l, 1);
        lua_pushcclosure(l, function, arguments + 1);
        cx.memory.be_strict();
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
        // What is right, as nearly all is, is checked faster so than it is mended.
        match std::str::from_utf8(bytes) {
            Ok(text) => text.to_string(),
            Err(_) => String::from_utf8_lossy(bytes).into_owned(),
        }
    }
}
