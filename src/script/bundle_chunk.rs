//! The chunks of a bundle's scripts, loaded directly from the mapped file. This module knows
//! nothing of Lua modules.

use super::context::ScriptContext;
use super::load::{Fault, load};
use super::return_value::ReturnValue;
use super::types::{ApiType, ValueShape};
use engine_resource::bundle::SharedBytes;
use mlua::ffi::*;
use std::ffi::{CString, c_int};

/// A script's path and source text, returned to Lua as a function and its path. Nothing is returned
/// if the script does not exist or does not compile: the usual loader then reports the reason. If
/// loading takes too long, `false` and a message are returned.
pub struct BundleChunk(pub Option<(String, SharedBytes)>);

impl ReturnValue for BundleChunk {
    const TYPES: &'static [ApiType] = &[
        ApiType::new("function|false|nil", ValueShape::Boxed),
        ApiType::new("string|nil", ValueShape::Boxed),
    ];

    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        let Some((path, text)) = self.0 else { return Ok(0) };
        let name = CString::new(format!("@{path}")).map_err(|_| "a path has a zero byte")?;
        // SAFETY: as the caller promised.
        unsafe {
            match load(l, &name, &text) {
                Ok(()) => {}
                Err(Fault::OnStack) => {
                    lua_settop(l, -2);
                    return Ok(0);
                }
                Err(Fault::Refused(message)) => {
                    lua_pushboolean(l, 0);
                    lua_pushlstring(l, message.as_ptr().cast(), message.len());
                    return Ok(2);
                }
            }
            lua_pushlstring(l, path.as_ptr().cast(), path.len());
        }
        cx.sources.insert(path, text);
        Ok(2)
    }
}
