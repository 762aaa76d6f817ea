//! The chunks of a bundle's scripts: loaded from where their text lies in the mapped file. Knows
//! nothing of modules.

use super::cx::Cx;
use super::load::{Fault, load};
use super::ret::Ret;
use super::types::{Shape, Type};
use crate::resource::bundle::Bytes;
use mlua::ffi::*;
use std::ffi::{CString, c_int};

/// A script's path and text, which come to Lua as a function and its path. Nothing comes where
/// there is none or where it does not compile: whoever loads it in the usual way tells why. Of one
/// that takes too long, `false` comes and the words.
pub struct Chunk(pub Option<(String, Bytes)>);

impl Ret for Chunk {
    const TYPES: &'static [Type] =
        &[Type::new("function|false|nil", Shape::Boxed), Type::new("string|nil", Shape::Boxed)];

    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        let Some((path, text)) = self.0 else { return Ok(0) };
        let name = CString::new(format!("@{path}")).map_err(|_| "a path has a zero byte")?;
        // SAFETY: as the caller promised.
        unsafe {
            match load(l, &name, &text) {
                Ok(()) => {}
                Err(Fault::Told) => {
                    lua_settop(l, -2);
                    return Ok(0);
                }
                Err(Fault::Refused(words)) => {
                    lua_pushboolean(l, 0);
                    lua_pushlstring(l, words.as_ptr().cast(), words.len());
                    return Ok(2);
                }
            }
            lua_pushlstring(l, path.as_ptr().cast(), path.len());
        }
        cx.sources.insert(path, text);
        Ok(2)
    }
}
