//! Chunks as bytecode: the prelude's, made when the engine was built (build.rs), and the fast
//! forms', made once in a process, for a test run makes a VM for every file, and parsing is most of
//! a boot without it. Never bytecode from elsewhere: LuaJIT does not check what it loads.
//!
//! What is loaded is the same in the first VM of a process and in every other: LuaJIT numbers
//! strings as they are made, and orders tables by those numbers, so `pairs` would differ.

use mlua::ffi::*;
use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::sync::{Mutex, PoisonError};

static MADE: Mutex<Option<HashMap<&'static str, &'static [u8]>>> = Mutex::new(None);

/// What bytecode of LuaJIT begins with: anything else would be taken for text.
const HEAD: &[u8] = b"\x1bLJ";

/// Pushes the chunk that `bytes` are: whether they are bytecode that this LuaJIT takes.
///
/// # Safety
/// `l` is a live state with room for two values; `bytes` were made by `lua_dump`.
pub unsafe fn load(l: *mut lua_State, bytes: &[u8]) -> bool {
    if !bytes.starts_with(HEAD) {
        return false;
    }
    // SAFETY: as the caller promised. The bytecode has the chunk's real name in it.
    unsafe {
        let status = luaL_loadbuffer(l, bytes.as_ptr().cast(), bytes.len(), c"=[engine]".as_ptr());
        if status != LUA_OK {
            lua_settop(l, -2);
        }
        status == LUA_OK
    }
}

/// The bytecode of a chunk that the engine itself writes, made at the first call for `name`.
pub fn made(name: &'static str, chunk: &str, text: impl FnOnce() -> String) -> &'static [u8] {
    // It is there for every game of the process.
    crate::owner!("engine");
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.get_or_insert_default().entry(name).or_insert_with(|| dump(chunk, &text()).leak())
}

/// Compiles a text of our own in a state that has nothing else in it.
fn dump(chunk: &str, text: &str) -> Vec<u8> {
    let chunk = CString::new(chunk).expect("the names of our chunks have no zero bytes");
    let mut bytes: Vec<u8> = Vec::new();
    // SAFETY: a state of its own; the writer gets the vector back as it was given.
    unsafe {
        let l = luaL_newstate();
        assert!(!l.is_null(), "there is no memory for a Lua state");
        let status = luaL_loadbuffer(l, text.as_ptr().cast(), text.len(), chunk.as_ptr());
        assert!(status == LUA_OK, "{chunk:?} does not compile");
        let failed = lua_dump(l, write, (&raw mut bytes).cast(), 0);
        assert!(failed == 0, "{chunk:?} cannot be dumped");
        lua_close(l);
    }
    bytes
}

unsafe extern "C-unwind" fn write(
    _: *mut lua_State,
    data: *const c_void,
    size: usize,
    bytes: *mut c_void,
) -> c_int {
    // SAFETY: `lua_dump` passes on the vector, and `size` bytes of data.
    unsafe {
        let bytes = &mut *(bytes as *mut Vec<u8>);
        bytes.extend_from_slice(std::slice::from_raw_parts(data.cast(), size));
    }
    0
}
