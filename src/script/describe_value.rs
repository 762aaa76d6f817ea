//! Descriptions of Lua values and source locations for messages. Nothing here raises an error or
//! runs a metamethod of a game.

use super::context::ScriptContext;
use super::describe_handle;
use engine_foundation::text_format;
use mlua::ffi::*;
use std::ffi::{CStr, c_int};
use std::mem::MaybeUninit;

/// Chunk name of the engine's own Lua. Stack frames with this name are hidden from users.
pub const ENGINE_CHUNK: &str = "[engine]";

/// Maximum number of bytes of a string that a description quotes.
const QUOTED_MAX: usize = 60;
/// Maximum number of entries of a table that a description lists.
const ENTRIES_MAX: usize = 6;

/// Returns a short description of a value: `nil`, `number 3.5`, `string "x"`, `unit units/rat#17`,
/// `Vector3`, `table`.
///
/// # Safety
/// `l` is a live state and `i` a position in it, or one past its end. The engine is not borrowed.
pub unsafe fn describe(l: *mut lua_State, i: c_int, cx: &ScriptContext) -> String {
    // SAFETY: as the caller promised; none of these calls raises.
    unsafe {
        match lua_type(l, i) {
            LUA_TNONE => "nothing".to_string(),
            LUA_TNUMBER => {
                let value = lua_tonumber(l, i);
                let handle = describe_handle::text_with_kind(&*cx.engine, value);
                handle.unwrap_or_else(|| format!("number {}", number(value)))
            }
            LUA_TSTRING => format!("string {}", quoted(l, i)),
            LUA_TBOOLEAN => format!("boolean {}", lua_toboolean(l, i) != 0),
            _ => cx.ctypes.name(l, i).unwrap_or_else(|| type_name(l, i)).to_string(),
        }
    }
}

/// Returns a value as it would be written in Lua, for lists of locals: `nil`, `3.5`, `"x"`, `{hp =
/// 10}`.
///
/// # Safety
/// As for [`describe`]; four free stack slots are needed.
pub unsafe fn literal(l: *mut lua_State, i: c_int, cx: &ScriptContext) -> String {
    // SAFETY: as the caller promised.
    unsafe {
        match lua_type(l, i) {
            LUA_TTABLE => table(l, i, cx),
            _ => shallow(l, i, cx),
        }
    }
}

unsafe fn shallow(l: *mut lua_State, i: c_int, cx: &ScriptContext) -> String {
    // SAFETY: as for `literal`.
    unsafe {
        match lua_type(l, i) {
            LUA_TNIL | LUA_TNONE => "nil".to_string(),
            LUA_TNUMBER => {
                let value = lua_tonumber(l, i);
                describe_handle::text(&*cx.engine, value).unwrap_or_else(|| number(value))
            }
            LUA_TSTRING => quoted(l, i),
            LUA_TBOOLEAN => (lua_toboolean(l, i) != 0).to_string(),
            _ => vector(l, i, cx).unwrap_or_else(|| describe(l, i, cx)),
        }
    }
}

unsafe fn vector(l: *mut lua_State, i: c_int, cx: &ScriptContext) -> Option<String> {
    // SAFETY: as for `literal`; the floats are used here alone.
    let (name, floats) = unsafe { cx.ctypes.floats(l, i) }?;
    let parts: Vec<String> = floats.iter().map(|float| float.to_string()).collect();
    Some(format!("{name}({})", parts.join(", ")))
}

unsafe fn table(l: *mut lua_State, i: c_int, cx: &ScriptContext) -> String {
    // SAFETY: as for `literal`; lua_next with a key that it returned itself does not raise.
    unsafe {
        let i = if i < 0 { lua_gettop(l) + 1 + i } else { i };
        let (mut parts, mut expected, mut more) = (Vec::new(), 1.0, 0);
        lua_pushnil(l);
        while lua_next(l, i) != 0 {
            if parts.len() < ENTRIES_MAX {
                let value = shallow(l, -1, cx);
                parts.push(match lua_type(l, -2) {
                    LUA_TNUMBER if lua_tonumber(l, -2) == expected => {
                        expected += 1.0;
                        value
                    }
                    LUA_TSTRING if is_name(bytes(l, -2)) => {
                        format!("{} = {value}", String::from_utf8_lossy(bytes(l, -2)))
                    }
                    _ => format!("[{}] = {value}", shallow(l, -2, cx)),
                });
            } else {
                more += 1;
            }
            lua_pop(l, 1);
        }
        if more > 0 {
            parts.push(format!("… {more} more"));
        }
        format!("{{{}}}", parts.join(", "))
    }
}

/// Returns true if the bytes of a string are a valid Lua name.
pub fn is_name(bytes: &[u8]) -> bool {
    let word = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    word && bytes.first().is_some_and(|byte| !byte.is_ascii_digit())
}

/// Formats a number as Lua prints it.
pub fn number(number: f64) -> String {
    text_format::significant(number, 14)
}

/// Returns the bytes of a string.
///
/// # Safety
/// A string is at `i`, and stays there as long as its bytes are read.
pub unsafe fn bytes<'a>(l: *mut lua_State, i: c_int) -> &'a [u8] {
    // SAFETY: as the caller promised; a string is not converted.
    unsafe {
        let mut length = 0;
        let start = lua_tolstring(l, i, &mut length);
        std::slice::from_raw_parts(start as *const u8, length)
    }
}

unsafe fn quoted(l: *mut lua_State, i: c_int) -> String {
    // SAFETY: as for `bytes`.
    let all = unsafe { bytes(l, i) };
    let shown = &all[..all.len().min(QUOTED_MAX)];
    let text: String = String::from_utf8_lossy(shown).chars().flat_map(escape).collect();
    match all.len() > shown.len() {
        true => format!("\"{text}…\" ({} bytes)", all.len()),
        false => format!("\"{text}\""),
    }
}

fn escape(c: char) -> Vec<char> {
    match c {
        '\n' => vec!['\\', 'n'],
        '"' => vec!['\\', '"'],
        '\\' => vec!['\\', '\\'],
        c if c.is_control() => c.escape_default().collect(),
        c => vec![c],
    }
}

unsafe fn type_name<'a>(l: *mut lua_State, i: c_int) -> &'a str {
    // SAFETY: Lua's type names are static ASCII strings.
    let name = unsafe { CStr::from_ptr(lua_typename(l, lua_type(l, i))) };
    match name.to_str().unwrap_or("value") {
        // The only FFI values that a game can create, except for the engine's value types.
        "cdata" => "a number of 64 bits (5LL, 5ULL)",
        name => name,
    }
}

/// Returns the name of a chunk as it is shown to users.
///
/// # Safety
/// `ar` was filled by `lua_getinfo` with `S`.
pub unsafe fn chunk_name(ar: &lua_Debug) -> String {
    // SAFETY: the source is a string of the function's prototype, alive while it runs.
    let source = unsafe { CStr::from_ptr(ar.source) }.to_string_lossy();
    match source.strip_prefix(['@', '=']) {
        Some(name) => name.to_string(),
        None => format!("[string \"{}\"]", source.lines().next().unwrap_or_default()),
    }
}

/// Returns the innermost line of the game's own code on this stack, as `main.lua:12`.
///
/// # Safety
/// `l` is a live state.
pub unsafe fn script_location(l: *mut lua_State) -> Option<String> {
    // SAFETY: as the caller promised.
    unsafe { location_at(l, 1) }
}

/// Returns the line of the `nth` innermost function of the game on this stack, from 1.
///
/// # Safety
/// `l` is a live state.
pub unsafe fn location_at(l: *mut lua_State, nth: usize) -> Option<String> {
    let mut left = nth;
    for level in 0.. {
        let mut ar = MaybeUninit::<lua_Debug>::zeroed();
        // SAFETY: the record is filled by lua_getstack before lua_getinfo reads it.
        unsafe {
            if lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
                return None;
            }
            lua_getinfo(l, c"Sl".as_ptr(), ar.as_mut_ptr());
            let ar = ar.assume_init_ref();
            if ar.currentline > 0 {
                let chunk = chunk_name(ar);
                if !chunk.starts_with(ENGINE_CHUNK) {
                    left -= 1;
                }
                if left == 0 {
                    return Some(format!("{chunk}:{}", ar.currentline));
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_formatted_as_lua_prints_them() {
        for (value, text) in [
            (1.0, "1"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1.0 / 3.0, "0.33333333333333"),
            (99_999_999_999_999.0, "99999999999999"),
            (1e14, "1e+14"),
            (2f64.powi(60), "1.1529215046068e+18"),
            (0.0001, "0.0001"),
            (-1.5e-5, "-1.5e-05"),
            (1e300, "1e+300"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!((number(f64::NAN), number(f64::INFINITY)), ("nan".into(), "inf".into()));
    }
}
