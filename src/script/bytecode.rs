//! Lua chunks as bytecode. The prelude's bytecode is compiled when the engine is built (build.rs).
//! The bytecode of the fast forms is compiled once in a process, because a test run creates a VM
//! for every file and parsing would be most of a boot. Bytecode from other sources is never loaded:
//! LuaJIT does not check what it loads.
//!
//! The first VM of a process loads the same bytecode as every other. LuaJIT numbers strings in the
//! order of their creation and orders tables by those numbers, so `pairs` would differ otherwise.

use mlua::ffi::*;
use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::sync::{Mutex, PoisonError};

static BYTECODE_CACHE: Mutex<Option<HashMap<&'static str, &'static [u8]>>> = Mutex::new(None);

/// The first bytes of LuaJIT bytecode. A chunk without them would be parsed as text.
const HEAD: &[u8] = b"\x1bLJ";

/// Pushes the function that the bytecode in `bytes` defines. Returns false if `bytes` is not
/// bytecode that this LuaJIT accepts.
///
/// # Safety
/// `l` is a live state with room for two values; `bytes` were written by `lua_dump`.
pub unsafe fn load(l: *mut lua_State, bytes: &[u8]) -> bool {
    if !bytes.starts_with(HEAD) {
        return false;
    }
    // SAFETY: as the caller promised. The bytecode contains the chunk's real name.
    unsafe {
        let status = luaL_loadbuffer(l, bytes.as_ptr().cast(), bytes.len(), c"=[engine]".as_ptr());
        if status != LUA_OK {
            lua_settop(l, -2);
        }
        status == LUA_OK
    }
}

/// Returns the bytecode of a chunk that the engine generates. The chunk is compiled at the first
/// call for `name`.
pub fn cached_bytecode(
    name: &'static str,
    chunk: &str,
    text: impl FnOnce() -> String,
) -> &'static [u8] {
    // The bytecode is shared by every game of the process.
    engine_foundation::owner!("engine");
    let mut cache = BYTECODE_CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    cache.get_or_insert_default().entry(name).or_insert_with(|| dump(chunk, &text()).leak())
}

/// Compiles a chunk of the engine in a separate, otherwise empty Lua state.
fn dump(chunk: &str, text: &str) -> Vec<u8> {
    let chunk = CString::new(chunk).expect("the names of our chunks have no zero bytes");
    let mut bytes: Vec<u8> = Vec::new();
    // SAFETY: the state is used here only; the writer receives the vector that is passed to
    // `lua_dump`.
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
