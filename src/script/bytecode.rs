//! The prelude's chunks compiled once for all VMs of a process: a test run makes a VM for every
//! file, and parsing is most of a boot. Never bytecode from elsewhere: LuaJIT does not check what
//! it loads.

use mlua::ffi::*;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// What is known of a chunk.
enum Kept {
    /// One VM compiled it: where there is one only, keeping the result would be work for nothing.
    Compiled,
    Bytecode(Vec<u8>),
}

static KEPT: Mutex<Option<HashMap<&'static str, Kept>>> = Mutex::new(None);

/// Pushes a chunk of the prelude, where a VM before this one has left it: whether it did.
///
/// # Safety
/// `l` is a live state with room for two values.
pub unsafe fn load(l: *mut lua_State, name: &'static str) -> bool {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(Kept::Bytecode(bytes)) = kept.as_ref().and_then(|kept| kept.get(name)) else {
        return false;
    };
    // SAFETY: as the caller promised. The bytecode has the chunk's real name in it.
    unsafe {
        let status = luaL_loadbuffer(l, bytes.as_ptr().cast(), bytes.len(), c"=[engine]".as_ptr());
        if status != LUA_OK {
            lua_settop(l, -2);
        }
        status == LUA_OK
    }
}

/// Notes the compiled chunk on top of the stack.
///
/// # Safety
/// `l` is a live state with a Lua function on top of its stack.
pub unsafe fn keep(l: *mut lua_State, name: &'static str) {
    // It is there for every game of the process.
    crate::owner!("engine");
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if kept.insert(name, Kept::Compiled).is_some() {
        let mut bytes: Vec<u8> = Vec::new();
        // SAFETY: as the caller promised; the writer gets the vector back as it was given.
        let failed = unsafe { lua_dump(l, write, (&raw mut bytes).cast(), 0) };
        if failed == 0 {
            kept.insert(name, Kept::Bytecode(bytes));
        }
    }
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
