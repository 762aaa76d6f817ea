//! The chunks of a bundle's scripts: loaded from where their text lies in the mapped file. Knows
//! nothing of modules.

use super::cx::Cx;
use super::ret::Ret;
use super::types::{Shape, Type};
use crate::resource::bundle::Bytes;
use mlua::ffi::*;
use std::ffi::{CString, c_char, c_int};

unsafe extern "C-unwind" {
    fn luaL_loadbufferx(
        l: *mut lua_State,
        text: *const c_char,
        size: usize,
        name: *const c_char,
        mode: *const c_char,
    ) -> c_int;
}

/// A script's path and text, which come to Lua as a function and its path. Nothing comes where
/// there is none or where it does not compile: whoever loads it in the usual way tells why.
pub struct Chunk(pub Option<(String, Bytes)>);

impl Ret for Chunk {
    const TYPES: &'static [Type] =
        &[Type::new("function|nil", Shape::Boxed), Type::new("string|nil", Shape::Boxed)];

    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        let Some((path, text)) = self.0 else { return Ok(0) };
        let name = CString::new(format!("@{path}")).map_err(|_| "a path has a zero byte")?;
        // SAFETY: as the caller promised; mode "t" refuses binary chunks.
        unsafe {
            let (start, size) = (text.as_ptr().cast(), text.len());
            if luaL_loadbufferx(l, start, size, name.as_ptr(), c"t".as_ptr()) != LUA_OK {
                lua_settop(l, -2);
                return Ok(0);
            }
            lua_pushlstring(l, path.as_ptr().cast(), path.len());
        }
        cx.sources.insert(path, text);
        Ok(2)
    }
}
