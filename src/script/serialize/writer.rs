//! Serializer: writes values from Lua's stack as bytes, and reports the path to a value that is not
//! data.

use super::super::context::ScriptContext;
use super::super::describe_value::{self, bytes, describe};
use super::{BYTES_MAX, DEPTH_MAX, SerializedValue, VALUES, tag};
use engine_foundation::Handle;
use mlua::ffi::*;
use std::ffi::{c_int, c_void};

/// The reason why a value cannot be serialized: the path, from the innermost key outwards, and the
/// message.
struct SerializeError {
    path: Vec<String>,
    message: String,
    /// Depth of the table whose path follows the message.
    back_to: Option<usize>,
}

impl SerializeError {
    fn new(message: impl Into<String>) -> Box<SerializeError> {
        Box::new(SerializeError { path: Vec::new(), message: message.into(), back_to: None })
    }

    fn in_entry(mut self: Box<SerializeError>, key: String) -> Box<SerializeError> {
        // `push` is avoided, because results have a method of that name, too.
        self.path.extend([key]);
        self
    }

    /// Returns the text `party[2].friend must be …`; without a path `must be …`.
    fn text(mut self) -> String {
        self.path.reverse();
        let path = |keys: &[String]| {
            let text = match keys.len() <= KEYS_SHOWN {
                true => keys.concat(),
                false => {
                    let (first, last) = (&keys[..KEYS_SHOWN / 2], &keys[keys.len() - 2..]);
                    format!("{} … {}", first.concat(), last.concat())
                }
            };
            text.strip_prefix('.').map(str::to_string).unwrap_or(text)
        };
        let mut text = path(&self.path);
        if !text.is_empty() {
            text += " ";
        }
        text += &self.message;
        match self.back_to {
            Some(0) => text += " the table itself",
            Some(depth) => text += &format!(" {}", path(&self.path[..depth])),
            None => {}
        }
        text
    }
}

/// Maximum number of keys shown of a path. Of a longer path, the first half of this number and the
/// last two keys are shown.
const KEYS_SHOWN: usize = 12;

/// Number of slots on Lua's stack that a table needs: for a key, a value, and their descriptions.
const STACK_SLOTS: c_int = 10;

type SerializeResult = Result<(), Box<SerializeError>>;

/// Serializes the value at `i`. Returns an error message with the path if it is not data.
///
/// # Safety
/// `l` is the state of the running call, and `i` a position in it, or one past its end.
pub unsafe fn pack(
    l: *mut lua_State,
    i: c_int,
    cx: &ScriptContext,
) -> Result<SerializedValue, String> {
    let mut packer = ValueEncoder { l, cx, out: Vec::new(), open: Vec::new() };
    // SAFETY: as the caller promised. The stack is restored, also after an error.
    let packed = unsafe {
        let top = lua_gettop(l);
        let packed = packer.value(i);
        lua_settop(l, top);
        packed
    };
    packed.map(|()| SerializedValue(packer.out)).map_err(|error| error.text())
}

struct ValueEncoder<'a> {
    l: *mut lua_State,
    cx: &'a ScriptContext,
    out: Vec<u8>,
    /// The tables that are being serialized, outermost first.
    open: Vec<*const c_void>,
}

impl ValueEncoder<'_> {
    fn u32(&mut self, value: u32) {
        self.out.extend(value.to_le_bytes());
    }

    /// Writes the length of a string or table, which is always below 2^32 within `BYTES_MAX`.
    fn length(&mut self, length: usize) -> SerializeResult {
        self.check_size(length)?;
        self.u32(length as u32);
        Ok(())
    }

    /// Returns an error if `more` bytes exceed the size limit.
    fn check_size(&self, more: usize) -> SerializeResult {
        if self.out.len().saturating_add(more) <= BYTES_MAX {
            return Ok(());
        }
        let mib = BYTES_MAX >> 20;
        Err(SerializeError::new(format!("is too much: all data together may take {mib} MiB")))
    }

    /// Serializes the value at `i`.
    ///
    /// # Safety
    /// As for [`pack`].
    unsafe fn value(&mut self, i: c_int) -> SerializeResult {
        let l = self.l;
        // SAFETY: as the caller promised; strings are not converted, and nothing here raises.
        unsafe {
            match lua_type(l, i) {
                LUA_TNONE | LUA_TNIL => self.out.push(tag::NIL),
                LUA_TBOOLEAN if lua_toboolean(l, i) == 0 => self.out.push(tag::FALSE),
                LUA_TBOOLEAN => self.out.push(tag::TRUE),
                LUA_TNUMBER => return self.number(lua_tonumber(l, i)),
                LUA_TSTRING => {
                    let text = bytes(l, i);
                    self.out.push(tag::TEXT);
                    self.length(text.len())?;
                    self.out.extend(text);
                }
                LUA_TTABLE => return self.table(i),
                _ => return self.special(i, tag::VALUE),
            }
        }
        Ok(())
    }

    fn number(&mut self, number: f64) -> SerializeResult {
        let small = number as i32;
        if f64::from(small).to_bits() == number.to_bits() {
            self.out.push(tag::SMALL);
            self.out.extend(small.to_le_bytes());
            return Ok(());
        }
        // SAFETY: the engine lives as long as the VM, and is not borrowed while arguments are read.
        let engine = unsafe { &*self.cx.engine };
        let living = Handle::from_number(number).and_then(|handle| engine.live_kind(handle));
        if let Some(kind) = living {
            return Err(SerializeError::new(format!(
                "is the handle of a {} that exists, and not data: keep what is needed to make it \
                 again (a number that only looks like it can be kept as a string)",
                kind.name()
            )));
        }
        self.out.push(tag::NUMBER);
        self.out.extend(number.to_le_bytes());
        Ok(())
    }

    /// Serializes a value type.
    ///
    /// # Safety
    /// As for [`pack`].
    unsafe fn special(&mut self, i: c_int, first: u8) -> SerializeResult {
        // SAFETY: a value of that type has that many bytes.
        unsafe {
            let name = self.cx.ctypes.name(self.l, i);
            let found = name.and_then(|name| VALUES.iter().position(|(known, _)| *known == name));
            let Some(found) = found else {
                return Err(SerializeError::new(format!(
                    "must be data (booleans, numbers, strings, tables, vectors), got {}",
                    describe(self.l, i, self.cx)
                )));
            };
            self.out.push(first + found as u8);
            let start = lua_topointer(self.l, i) as *const u8;
            self.out.extend(std::slice::from_raw_parts(start, VALUES[found].1));
        }
        Ok(())
    }

    /// Serializes the table at `i`.
    ///
    /// # Safety
    /// As for [`pack`]; a table is at `i`.
    unsafe fn table(&mut self, i: c_int) -> SerializeResult {
        let l = self.l;
        // SAFETY: as the caller promised.
        unsafe {
            let i = if i < 0 { lua_gettop(l) + 1 + i } else { i };
            if lua_checkstack(l, STACK_SLOTS) == 0 {
                return Err(SerializeError::new("is too deep inside for Lua's stack"));
            }
            if lua_getmetatable(l, i) != 0 {
                return self.object(i);
            }
            let address = lua_topointer(l, i);
            if let Some(depth) = self.open.iter().position(|open| *open == address) {
                let error = SerializeError::new("leads back to");
                return Err(Box::new(SerializeError { back_to: Some(depth), ..*error }));
            }
            if self.open.len() == DEPTH_MAX {
                return Err(SerializeError::new(format!(
                    "is more than {DEPTH_MAX} tables deep inside"
                )));
            }
            self.open.push(address);
            self.items_and_entries(i)?;
            self.open.pop();
        }
        Ok(())
    }

    /// Serializes the content of the table at `i`.
    ///
    /// # Safety
    /// As for [`ValueEncoder::table`], with room for [`STACK_SLOTS`] values.
    unsafe fn items_and_entries(&mut self, i: c_int) -> SerializeResult {
        let l = self.l;
        // SAFETY: keys are not converted while the table is walked.
        unsafe {
            let items = lua_objlen(l, i);
            self.out.push(tag::TABLE);
            self.length(items)?;
            let at = self.out.len();
            self.u32(0);
            for index in 1..=items {
                lua_rawgeti(l, i, index as lua_Integer);
                self.value(-1).map_err(|error| error.in_entry(format!("[{index}]")))?;
                lua_settop(l, -2);
            }
            let mut entries = 0u32;
            lua_pushnil(l);
            while lua_next(l, i) != 0 {
                let key = lua_type(l, -2);
                if key == LUA_TNUMBER && is_item(lua_tonumber(l, -2), items) {
                    lua_settop(l, -2);
                    continue;
                }
                if ![LUA_TNUMBER, LUA_TSTRING, LUA_TBOOLEAN].contains(&key) {
                    let got = describe(l, -2, self.cx);
                    let message =
                        format!("has a key that is not a string, number or boolean: {got}");
                    return Err(SerializeError::new(message));
                }
                let (key, value) = (lua_gettop(l) - 1, lua_gettop(l));
                self.value(key).map_err(|error| {
                    SerializeError::new(format!("has a key that {}", error.message))
                })?;
                if let Err(error) = self.value(value) {
                    lua_settop(l, value);
                    return Err(error.in_entry(key_text(l, key, self.cx)));
                }
                entries += 1;
                lua_settop(l, -2);
            }
            self.out[at..at + 4].copy_from_slice(&entries.to_le_bytes());
        }
        self.check_size(0)
    }

    /// Serializes a table with a metatable, which is on top of the stack: one of the engine's
    /// boxes, or an error.
    ///
    /// # Safety
    /// As for [`ValueEncoder::table`].
    unsafe fn object(&mut self, i: c_int) -> SerializeResult {
        let l = self.l;
        // SAFETY: raw reads of the engine's own tables, and of a field of a box.
        unsafe {
            lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
            lua_pushlstring(l, c"box_metatables".as_ptr(), 14);
            lua_rawget(l, -2);
            let known = lua_type(l, -1) == LUA_TTABLE;
            lua_pushvalue(l, -3);
            if known {
                lua_rawget(l, -2);
            }
            if lua_type(l, -1) != LUA_TBOOLEAN {
                return Err(SerializeError::new(
                    "has a metatable, so it is an object and not data: keep its fields in a plain \
                     table, and make the object again from them",
                ));
            }
            lua_pushlstring(l, c"_value".as_ptr(), 6);
            lua_rawget(l, i);
            self.special(-1, tag::BOXED)?;
            lua_settop(l, -6);
        }
        Ok(())
    }
}

fn is_item(key: f64, items: usize) -> bool {
    key >= 1.0 && key <= items as f64 && key as usize as f64 == key
}

/// Formats a key as part of a path: `.name`, `[2]`, `["two words"]`.
unsafe fn key_text(l: *mut lua_State, i: c_int, cx: &ScriptContext) -> String {
    // SAFETY: the walk left the key in place, and room for describing it.
    unsafe {
        if lua_type(l, i) == LUA_TSTRING && describe_value::is_name(bytes(l, i)) {
            return format!(".{}", String::from_utf8_lossy(bytes(l, i)));
        }
        format!("[{}]", describe_value::literal(l, i, cx))
    }
}
