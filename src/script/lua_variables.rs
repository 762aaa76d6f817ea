//! Variables of running functions and keys of tables, for error messages: raw reads that run no
//! code of the game and never raise.

use super::describe_value::bytes;
use mlua::ffi::*;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;

/// Maximum number of keys of a table that are read.
const KEYS_MAX: usize = 10_000;
/// Maximum number of tables behind a table, by `__index`, whose keys are read.
const INDEX_DEPTH_MAX: usize = 8;

/// Returns true if a character can be part of a name.
pub fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Passes the variables of the function at `level` to `visit`, with the value on top of the stack:
/// locals in the order of declaration, then upvalues.
///
/// # Safety
/// `l` is a live state. `visit` leaves the stack as it is, and does not raise.
unsafe fn each_variable(l: *mut lua_State, level: c_int, mut visit: impl FnMut(&CStr, bool)) {
    let mut ar = MaybeUninit::<lua_Debug>::zeroed();
    // SAFETY: the record is filled by lua_getstack before it is read; names live as long as the
    // function.
    unsafe {
        if lua_checkstack(l, 6) == 0 || lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
            return;
        }
        let ar = ar.as_mut_ptr();
        let mut take = |name: *const c_char, is_local: bool| {
            if !name.is_null() {
                visit(CStr::from_ptr(name), is_local);
                lua_settop(l, -2);
            }
            !name.is_null()
        };
        let mut i = 1;
        while take(lua_getlocal(l, ar, i), true) {
            i += 1;
        }
        lua_getinfo(l, c"f".as_ptr(), ar);
        let mut i = 1;
        while take(lua_getupvalue(l, -1, i), false) {
            i += 1;
        }
        lua_settop(l, -2);
    }
}

/// Returns the names of the variables of the function at `level`.
///
/// # Safety
/// `l` is a live state.
pub unsafe fn names(l: *mut lua_State, level: c_int) -> Vec<String> {
    let mut names = Vec::new();
    // SAFETY: as the caller promised.
    unsafe { each_variable(l, level, |name, _| names.push(name.to_string_lossy().into_owned())) };
    // LuaJIT's own variables have names such as `(for index)`.
    names.retain(|name| name.chars().all(is_of_name) && !name.is_empty());
    names
}

/// Pushes the value that `name` has in the function at `level`, or as a global. Pushes nil if there
/// is no such variable.
///
/// # Safety
/// `l` is a live state with a free slot.
pub unsafe fn push(l: *mut lua_State, level: Option<c_int>, name: &str) {
    // SAFETY: as the caller promised; the value is copied into the slot at `found`.
    unsafe {
        lua_pushnil(l);
        let found = lua_gettop(l);
        let (mut has_local, mut is_known) = (false, false);
        if let Some(level) = level {
            each_variable(l, level, |known, is_local| {
                // The last local of that name shadows the others.
                if known.to_bytes() == name.as_bytes() && (is_local || !has_local) {
                    (has_local, is_known) = (is_local, true);
                    lua_pushvalue(l, -1);
                    lua_replace(l, found);
                }
            });
        }
        if !is_known {
            push_field(l, LUA_GLOBALSINDEX, name);
            lua_replace(l, found);
        }
    }
}

/// Pushes the field of a table by a raw read.
///
/// # Safety
/// A table is at `i`, which does not count from the top; `l` has a free slot.
pub unsafe fn push_field(l: *mut lua_State, i: c_int, name: &str) {
    // SAFETY: as the caller promised.
    unsafe {
        lua_pushlstring(l, name.as_ptr().cast(), name.len());
        lua_rawget(l, i);
    }
}

/// Pushes the value of a path such as `game.player`, read without metamethods. Pushes nil if a part
/// of the path is no table.
///
/// # Safety
/// As for [`push`].
pub unsafe fn push_path(l: *mut lua_State, level: Option<c_int>, path: &str) {
    let mut parts = path.split('.');
    // SAFETY: as the caller promised.
    unsafe {
        push(l, level, parts.next().unwrap_or_default());
        for part in parts {
            match lua_type(l, -1) {
                LUA_TTABLE => push_field(l, lua_gettop(l), part),
                _ => lua_pushnil(l),
            }
            lua_remove(l, -2);
        }
    }
}

/// Returns the keys of the table at `i` that are strings, and those of the tables behind it, where
/// `__index` leads.
///
/// # Safety
/// A table is at `i`; `l` has a few free slots.
pub unsafe fn string_keys(l: *mut lua_State, i: c_int) -> Vec<String> {
    let mut names = Vec::new();
    // SAFETY: lua_next with a key that it returned itself does not raise; keys are not converted.
    unsafe {
        let top = lua_gettop(l);
        lua_pushvalue(l, i);
        for _ in 0..INDEX_DEPTH_MAX {
            lua_pushnil(l);
            while lua_next(l, -2) != 0 && names.len() < KEYS_MAX {
                if lua_type(l, -2) == LUA_TSTRING {
                    names.push(String::from_utf8_lossy(bytes(l, -2)).into_owned());
                }
                lua_settop(l, -2);
            }
            lua_settop(l, top + 1);
            if lua_getmetatable(l, -1) == 0 {
                break;
            }
            push_field(l, lua_gettop(l), "__index");
            if lua_type(l, -1) != LUA_TTABLE {
                break;
            }
            lua_replace(l, top + 1);
            lua_settop(l, top + 1);
        }
        lua_settop(l, top);
    }
    names
}
