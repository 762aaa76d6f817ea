//! Deserializer: pushes values from bytes on Lua's stack, except for the value types, which the
//! prelude creates (lua/boot/value_decoding.lua).

use super::super::context::ScriptContext;
use super::super::value::{ITEMS_UNCHECKED, check_pushing};
use super::{VALUES, ValueToken, check, token};
use engine_foundation::blob::BlobReader;
use mlua::ffi::*;
use std::ffi::c_int;

/// Pushes two values from which the prelude's `core.restore` rebuilds the serialized value. The
/// first is a table that holds the value at 1. The second is a list of the value types in it, which
/// only Lua can create: for each, a table, a key, the type's name, a flag for a boxed value, a
/// count, and this many parts.
///
/// # Safety
/// `l` is the state of the running call; allocation cannot fail during an engine call.
pub unsafe fn unpack(l: *mut lua_State, packed: &[u8], cx: &ScriptContext) -> Result<(), String> {
    check(packed).map_err(|error| error.message)?;
    // SAFETY: as the caller promised; room on the stack is made before it is used.
    unsafe {
        if lua_checkstack(l, 12) == 0 {
            return Err("the Lua stack is full".into());
        }
        lua_createtable(l, 1, 0);
        let holder = lua_gettop(l);
        lua_createtable(l, 0, 0);
        let mut unpacker =
            ValueDecoder { l, cx, reader: BlobReader::new(packed), list: holder + 1, at: 0 };
        unpacker.item(holder, 1)
    }
}

struct ValueDecoder<'a> {
    l: *mut lua_State,
    cx: &'a ScriptContext,
    reader: BlobReader<'a>,
    /// Stack position of the list of value types, and its length.
    list: c_int,
    at: lua_Integer,
}

impl ValueDecoder<'_> {
    /// Sets item `index` of a table to the next value.
    ///
    /// # Safety
    /// As for [`unpack`], which has checked the bytes; a table is at `table`.
    unsafe fn item(&mut self, table: c_int, index: usize) -> Result<(), String> {
        let l = self.l;
        // SAFETY: as the caller promised, with the room that every table makes.
        unsafe {
            lua_pushnumber(l, index as f64);
            self.entry(table)
        }
    }

    /// Sets the key on top of the stack to the next value, and pops it.
    ///
    /// # Safety
    /// As for [`ValueDecoder::item`].
    unsafe fn entry(&mut self, table: c_int) -> Result<(), String> {
        let l = self.l;
        // SAFETY: as the caller promised; the key was checked, so rawset does not raise.
        unsafe {
            let token = token(&mut self.reader).map_err(|error| error.message)?;
            match token {
                ValueToken::Table { items, entries } => self.table(items, entries)?,
                ValueToken::Special { which, boxed, bytes } => {
                    self.add_value_type(table, which, boxed, bytes);
                    // A placeholder, so that the keys keep the order of the data.
                    lua_pushboolean(l, 0);
                }
                plain => push_plain(l, &plain),
            }
            lua_rawset(l, table);
        }
        Ok(())
    }

    /// Pushes a table and reads its content.
    ///
    /// # Safety
    /// As for [`ValueDecoder::item`].
    unsafe fn table(&mut self, items: usize, entries: usize) -> Result<(), String> {
        let l = self.l;
        // SAFETY: as the caller promised.
        unsafe {
            if lua_checkstack(l, 12) == 0 {
                return Err("the Lua stack is full".into());
            }
            check_pushing(self.cx)?;
            let room = |count: usize| count.min(1 << 20) as c_int;
            lua_createtable(l, room(items), room(entries));
            let table = lua_gettop(l);
            for index in 1..=items {
                if index % ITEMS_UNCHECKED == 0 {
                    check_pushing(self.cx)?;
                }
                self.item(table, index)?;
            }
            for index in 1..=entries {
                if index % ITEMS_UNCHECKED == 0 {
                    check_pushing(self.cx)?;
                }
                push_plain(l, &token(&mut self.reader).map_err(|error| error.message)?);
                self.entry(table)?;
            }
        }
        Ok(())
    }

    /// Adds an entry to the list of value types. The key is on top of the stack.
    ///
    /// # Safety
    /// As for [`ValueDecoder::item`].
    unsafe fn add_value_type(&mut self, table: c_int, which: usize, boxed: bool, bytes: &[u8]) {
        let l = self.l;
        let name = VALUES[which].0;
        let word = |part: &[u8]| u32::from_le_bytes(part.try_into().expect("four bytes"));
        // SAFETY: as the caller promised.
        unsafe {
            let key = lua_gettop(l);
            lua_pushvalue(l, table);
            self.add();
            lua_pushvalue(l, key);
            self.add();
            lua_pushlstring(l, name.as_ptr().cast(), name.len());
            self.add();
            lua_pushboolean(l, boxed as c_int);
            self.add();
            if name.starts_with("IdString") {
                let hex: String =
                    bytes.rchunks(4).map(|part| format!("{:08x}", word(part))).collect();
                lua_pushnumber(l, 1.0);
                self.add();
                lua_pushlstring(l, hex.as_ptr().cast(), hex.len());
                self.add();
                return;
            }
            lua_pushnumber(l, (bytes.len() / 4) as f64);
            self.add();
            for part in bytes.chunks(4) {
                lua_pushnumber(l, f32::from_bits(word(part)).into());
                self.add();
            }
        }
    }

    /// Moves the value on top of the stack to the end of the list.
    ///
    /// # Safety
    /// As for [`ValueDecoder::item`].
    unsafe fn add(&mut self) {
        self.at += 1;
        // SAFETY: as the caller promised.
        unsafe { lua_rawseti(self.l, self.list, self.at) }
    }
}

/// Pushes a value that is neither a table nor a value type.
///
/// # Safety
/// As for [`unpack`].
unsafe fn push_plain(l: *mut lua_State, token: &ValueToken) {
    // SAFETY: as the caller promised.
    unsafe {
        match token {
            ValueToken::Boolean(value) => lua_pushboolean(l, *value as c_int),
            ValueToken::Number(number) => lua_pushnumber(l, *number),
            ValueToken::Text(text) => {
                lua_pushlstring(l, text.as_ptr().cast(), text.len());
            }
            ValueToken::Nil | ValueToken::Table { .. } | ValueToken::Special { .. } => {
                lua_pushnil(l)
            }
        }
    }
}
