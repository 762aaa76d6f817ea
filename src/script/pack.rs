//! Lua data as bytes and back: booleans, numbers and strings bit by bit, tables of every shape, the
//! value types and their boxes. For what leaves the VM: saves, messages between scripts. What is
//! only looked at by Rust crosses as a [`Value`](super::value::Value).
//!
//! A value is a tag and what follows it. Tables are trees: a table that is reached twice is written
//! twice, and one that leads back to itself is refused, like everything else that is no data
//! (functions, coroutines, objects with a metatable, handles of what is alive). Numbers are
//! little-endian. NaN stays a NaN, though not with every bit.

use super::arg::{Arg, Wrong};
use super::cx::Cx;
use super::describe::{self, bytes, describe};
use super::ret::Ret;
use super::types::{Shape, Type};
use crate::error;
use crate::foundation::blob::Reader;
use crate::foundation::{Error, Handle};
use mlua::ffi::*;
use std::ffi::{c_int, c_void};

/// How deep tables may be nested.
pub const DEPTH_MAX: usize = 128;
/// The most bytes that a value may take.
pub const BYTES_MAX: usize = 64 << 20;

/// A value that left the VM, or is about to enter one.
#[derive(Clone, PartialEq, Debug)]
pub struct Packed(pub Vec<u8>);

mod tag {
    pub const NIL: u8 = 0;
    pub const FALSE: u8 = 1;
    pub const TRUE: u8 = 2;
    /// Eight bytes.
    pub const NUMBER: u8 = 3;
    /// A whole number in four bytes.
    pub const SMALL: u8 = 4;
    /// A length of four bytes, then the bytes.
    pub const TEXT: u8 = 5;
    /// How many items, then how many entries; the items, from 1; the entries, each a key and a
    /// value.
    pub const TABLE: u8 = 6;
    /// The first of the value types, in the order of `VALUES`.
    pub const VALUE: u8 = 16;
    /// The same inside their boxes.
    pub const BOXED: u8 = 32;
}

/// The value types, with their bytes: 32-bit floats, or a hash.
const VALUES: [(&str, usize); 8] = [
    ("Vector2", 8),
    ("Vector3", 12),
    ("Vector4", 16),
    ("Quaternion", 16),
    ("Matrix4x4", 64),
    ("Color", 16),
    ("IdString32", 4),
    ("IdString64", 8),
];

/// How `true` is packed.
pub const TRUE: [u8; 1] = [tag::TRUE];

impl Packed {
    /// Whether it is nil.
    pub fn is_nil(&self) -> bool {
        self.0 == [tag::NIL]
    }
}

/// Why a value cannot be packed: where, from the innermost key outwards, and the words.
struct Fault {
    path: Vec<String>,
    words: String,
    /// The words are followed by the path to the table at this depth.
    back_to: Option<usize>,
}

impl Fault {
    fn new(words: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { path: Vec::new(), words: words.into(), back_to: None })
    }

    fn inside(mut self: Box<Fault>, key: String) -> Box<Fault> {
        // Not by `push`, which results have, too.
        self.path.extend([key]);
        self
    }

    /// `party[2].friend must be …`; without a path `must be …`.
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
        text += &self.words;
        match self.back_to {
            Some(0) => text += " the table itself",
            Some(depth) => text += &format!(" {}", path(&self.path[..depth])),
            None => {}
        }
        text
    }
}

/// Of a longer path, the first half of so many keys and the last two are shown.
const KEYS_SHOWN: usize = 12;

/// The places on Lua's stack that a table takes: a key and a value, and what describes them.
const ROOM: c_int = 10;

type Packing = Result<(), Box<Fault>>;

/// Packs the value at `i`; the words say why it is not data, and where.
///
/// # Safety
/// `l` is the state of the running call, and `i` a position in it, or one past its end.
pub unsafe fn pack(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Packed, String> {
    let mut packer = Packer { l, cx, out: Vec::new(), open: Vec::new() };
    // SAFETY: as the caller promised. The stack is left as it was, also by a fault.
    let packed = unsafe {
        let top = lua_gettop(l);
        let packed = packer.value(i);
        lua_settop(l, top);
        packed
    };
    packed.map(|()| Packed(packer.out)).map_err(|fault| fault.text())
}

struct Packer<'a> {
    l: *mut lua_State,
    cx: &'a Cx,
    out: Vec<u8>,
    /// The tables that are being packed, outermost first.
    open: Vec<*const c_void>,
}

impl Packer<'_> {
    fn u32(&mut self, value: u32) {
        self.out.extend(value.to_le_bytes());
    }

    /// Of a string or table, which never has 2^32 of anything within `BYTES_MAX`.
    fn length(&mut self, length: usize) -> Packing {
        self.check_size(length)?;
        self.u32(length as u32);
        Ok(())
    }

    /// Whether there is room for so many bytes more.
    fn check_size(&self, more: usize) -> Packing {
        if self.out.len().saturating_add(more) <= BYTES_MAX {
            return Ok(());
        }
        let mib = BYTES_MAX >> 20;
        Err(Fault::new(format!("is too much: all data together may take {mib} MiB")))
    }

    /// # Safety
    /// As for [`pack`].
    unsafe fn value(&mut self, i: c_int) -> Packing {
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

    fn number(&mut self, number: f64) -> Packing {
        let small = number as i32;
        if f64::from(small).to_bits() == number.to_bits() {
            self.out.push(tag::SMALL);
            self.out.extend(small.to_le_bytes());
            return Ok(());
        }
        // SAFETY: the engine lives as long as the VM, and is not borrowed while arguments are read.
        let engine = unsafe { &*self.cx.engine };
        let living = Handle::from_number(number).and_then(|handle| engine.living(handle));
        if let Some(kind) = living {
            return Err(Fault::new(format!(
                "is the handle of a {} that is there, and no data: keep what it takes to make it \
                 again (a number that only looks like it can be kept as a string)",
                kind.name()
            )));
        }
        self.out.push(tag::NUMBER);
        self.out.extend(number.to_le_bytes());
        Ok(())
    }

    /// A value type.
    ///
    /// # Safety
    /// As for [`pack`].
    unsafe fn special(&mut self, i: c_int, first: u8) -> Packing {
        // SAFETY: a value of that type has that many bytes.
        unsafe {
            let name = self.cx.ctypes.name(self.l, i);
            let found = name.and_then(|name| VALUES.iter().position(|(known, _)| *known == name));
            let Some(found) = found else {
                return Err(Fault::new(format!(
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

    /// # Safety
    /// As for [`pack`]; a table is at `i`.
    unsafe fn table(&mut self, i: c_int) -> Packing {
        let l = self.l;
        // SAFETY: as the caller promised.
        unsafe {
            let i = if i < 0 { lua_gettop(l) + 1 + i } else { i };
            if lua_checkstack(l, ROOM) == 0 {
                return Err(Fault::new("is too deep inside for Lua's stack"));
            }
            if lua_getmetatable(l, i) != 0 {
                return self.object(i);
            }
            let address = lua_topointer(l, i);
            if let Some(depth) = self.open.iter().position(|open| *open == address) {
                let fault = Fault::new("leads back to");
                return Err(Box::new(Fault { back_to: Some(depth), ..*fault }));
            }
            if self.open.len() == DEPTH_MAX {
                return Err(Fault::new(format!("is more than {DEPTH_MAX} tables deep inside")));
            }
            self.open.push(address);
            self.items_and_entries(i)?;
            self.open.pop();
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Packer::table`], with room for [`ROOM`] values.
    unsafe fn items_and_entries(&mut self, i: c_int) -> Packing {
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
                self.value(-1).map_err(|fault| fault.inside(format!("[{index}]")))?;
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
                    let words = format!("has a key that is no string, number or boolean: {got}");
                    return Err(Fault::new(words));
                }
                let (key, value) = (lua_gettop(l) - 1, lua_gettop(l));
                self.value(key)
                    .map_err(|fault| Fault::new(format!("has a key that {}", fault.words)))?;
                if let Err(fault) = self.value(value) {
                    lua_settop(l, value);
                    return Err(fault.inside(key_words(l, key, self.cx)));
                }
                entries += 1;
                lua_settop(l, -2);
            }
            self.out[at..at + 4].copy_from_slice(&entries.to_le_bytes());
        }
        self.check_size(0)
    }

    /// A table with a metatable, which is on top of the stack: one of our boxes, or no data.
    ///
    /// # Safety
    /// As for [`Packer::table`].
    unsafe fn object(&mut self, i: c_int) -> Packing {
        let l = self.l;
        // SAFETY: raw reads of our own tables, and of a field of a box.
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
                return Err(Fault::new(
                    "has a metatable, so it is an object and no data: keep its fields in a plain \
                     table, and make the object again of them",
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

/// A key as it stands in a path: `.name`, `[2]`, `["two words"]`.
unsafe fn key_words(l: *mut lua_State, i: c_int, cx: &Cx) -> String {
    // SAFETY: the walk left the key where it was, and room for describing it.
    unsafe {
        if lua_type(l, i) == LUA_TSTRING && describe::is_name(bytes(l, i)) {
            return format!(".{}", String::from_utf8_lossy(bytes(l, i)));
        }
        format!("[{}]", describe::literal(l, i, cx))
    }
}

/// One value, or the head of a table.
enum Token<'a> {
    Nil,
    Boolean(bool),
    Number(f64),
    Text(&'a [u8]),
    Table { items: usize, entries: usize },
    Special { which: usize, boxed: bool, bytes: &'a [u8] },
}

fn token<'a>(reader: &mut Reader<'a>) -> Result<Token<'a>, Error> {
    let tag = reader.u8()?;
    Ok(match tag {
        tag::NIL => Token::Nil,
        tag::FALSE | tag::TRUE => Token::Boolean(tag == tag::TRUE),
        tag::NUMBER => Token::Number(reader.f64()?),
        tag::SMALL => Token::Number((reader.u32()? as i32).into()),
        tag::TEXT => Token::Text(reader.bytes()?),
        tag::TABLE => {
            let (items, entries) = (reader.u32()? as usize, reader.u32()? as usize);
            // Each item has a byte, and each entry two: a wrong count takes no memory.
            if items.saturating_add(entries.saturating_mul(2)) > reader.left() {
                return Err(error!("it is damaged: a table is larger than the data"));
            }
            Token::Table { items, entries }
        }
        _ => {
            let boxed = tag >= tag::BOXED;
            let first = if boxed { tag::BOXED } else { tag::VALUE };
            let which = usize::from(tag.wrapping_sub(first));
            let (_, count) = VALUES
                .get(which)
                .ok_or_else(|| error!("it is damaged, or of a newer engine: unknown tag {tag}"))?;
            Token::Special { which, boxed, bytes: reader.take(*count)? }
        }
    })
}

impl Token<'_> {
    fn is_key(&self) -> bool {
        match self {
            Token::Number(number) => !number.is_nan(),
            token => matches!(token, Token::Boolean(_) | Token::Text(_)),
        }
    }
}

/// Whether bytes are one whole value: the words of what is wrong with them.
pub fn check(bytes: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::new(bytes);
    check_value(&mut reader, 0)?;
    match reader.left() {
        0 => Ok(()),
        left => Err(error!("it is damaged: {left} bytes too many")),
    }
}

fn check_value(reader: &mut Reader, depth: usize) -> Result<(), Error> {
    let Token::Table { items, entries } = token(reader)? else { return Ok(()) };
    if depth == DEPTH_MAX {
        return Err(error!("it is damaged: its tables are more than {DEPTH_MAX} deep"));
    }
    for _ in 0..items {
        check_value(reader, depth + 1)?;
    }
    for _ in 0..entries {
        if !token(reader)?.is_key() {
            return Err(error!("it is damaged: a key is no string, number or boolean"));
        }
        check_value(reader, depth + 1)?;
    }
    Ok(())
}

/// Pushes two values of which the prelude's `core.restore` makes the one that was packed: a table
/// with it at 1, and a list of the value types in it, which only Lua can make. Each is a table, a
/// key, the type's name, whether it is in a box, a count, and so many parts.
///
/// # Safety
/// `l` is the state of the running call; allocation cannot fail during an engine call.
pub unsafe fn unpack(l: *mut lua_State, packed: &[u8], cx: &Cx) -> Result<(), String> {
    check(packed).map_err(|error| error.message)?;
    // SAFETY: as the caller promised; room on the stack is made before it is used.
    unsafe {
        if lua_checkstack(l, 12) == 0 {
            return Err("the Lua stack is full".into());
        }
        lua_createtable(l, 1, 0);
        let holder = lua_gettop(l);
        lua_createtable(l, 0, 0);
        let mut unpacker = Unpacker { l, cx, reader: Reader::new(packed), list: holder + 1, at: 0 };
        unpacker.item(holder, 1)
    }
}

struct Unpacker<'a> {
    l: *mut lua_State,
    cx: &'a Cx,
    reader: Reader<'a>,
    /// Where the list of value types is, and how much is in it.
    list: c_int,
    at: lua_Integer,
}

impl Unpacker<'_> {
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
    /// As for [`Unpacker::item`].
    unsafe fn entry(&mut self, table: c_int) -> Result<(), String> {
        let l = self.l;
        // SAFETY: as the caller promised; the key was checked, so rawset does not raise.
        unsafe {
            let token = token(&mut self.reader).map_err(|error| error.message)?;
            match token {
                Token::Table { items, entries } => self.table(items, entries)?,
                Token::Special { which, boxed, bytes } => {
                    self.note(table, which, boxed, bytes);
                    // Its place, so that the order of keys is the one of the data.
                    lua_pushboolean(l, 0);
                }
                plain => push_plain(l, &plain),
            }
            lua_rawset(l, table);
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Unpacker::item`].
    unsafe fn table(&mut self, items: usize, entries: usize) -> Result<(), String> {
        let l = self.l;
        // SAFETY: as the caller promised.
        unsafe {
            if lua_checkstack(l, 12) == 0 {
                return Err("the Lua stack is full".into());
            }
            if self.cx.memory.used > self.cx.memory.limit.saturating_mul(2) {
                return Err("there is not enough memory for the data".into());
            }
            let room = |count: usize| count.min(1 << 20) as c_int;
            lua_createtable(l, room(items), room(entries));
            let table = lua_gettop(l);
            for index in 1..=items {
                self.item(table, index)?;
            }
            for _ in 0..entries {
                push_plain(l, &token(&mut self.reader).map_err(|error| error.message)?);
                self.entry(table)?;
            }
        }
        Ok(())
    }

    /// Adds to the list of value types. The key is on top of the stack.
    ///
    /// # Safety
    /// As for [`Unpacker::item`].
    unsafe fn note(&mut self, table: c_int, which: usize, boxed: bool, bytes: &[u8]) {
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
    /// As for [`Unpacker::item`].
    unsafe fn add(&mut self) {
        self.at += 1;
        // SAFETY: as the caller promised.
        unsafe { lua_rawseti(self.l, self.list, self.at) }
    }
}

/// # Safety
/// As for [`unpack`].
unsafe fn push_plain(l: *mut lua_State, token: &Token) {
    // SAFETY: as the caller promised.
    unsafe {
        match token {
            Token::Boolean(value) => lua_pushboolean(l, *value as c_int),
            Token::Number(number) => lua_pushnumber(l, *number),
            Token::Text(text) => {
                lua_pushlstring(l, text.as_ptr().cast(), text.len());
            }
            Token::Nil | Token::Table { .. } | Token::Special { .. } => lua_pushnil(l),
        }
    }
}

impl Arg for Packed {
    const TYPE: Type = Type::new("any", Shape::Boxed);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Packed, Wrong> {
        // SAFETY: as the caller promised.
        unsafe { pack(l, i, cx).map_err(Wrong::Words) }
    }
}

impl Ret for Packed {
    const TYPES: &'static [Type] = &[Type::new("any", Shape::Packed)];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { unpack(l, &self.0, cx).map(|()| 2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(items: u32, entries: u32) -> Vec<u8> {
        [&[tag::TABLE][..], &items.to_le_bytes(), &entries.to_le_bytes()].concat()
    }

    fn check_refused(bytes: &[u8], words: &str) {
        assert_eq!(check(bytes).map_err(|error| error.message), Err(words.to_string()));
    }

    #[test]
    fn bytes_that_are_no_value_are_refused_before_anything_is_made_of_them() {
        check_refused(&[], "it is damaged: it ends where 1 more bytes should be");
        check_refused(&[tag::NIL, 0], "it is damaged: 1 bytes too many");
        check_refused(&[9], "it is damaged, or of a newer engine: unknown tag 9");
        check_refused(&[24], "it is damaged, or of a newer engine: unknown tag 24");
        check_refused(&[255], "it is damaged, or of a newer engine: unknown tag 255");
        check_refused(
            &[tag::VALUE + 1, 0, 0],
            "it is damaged: it ends where 12 more bytes should be",
        );
        check_refused(&table(u32::MAX, u32::MAX), "it is damaged: a table is larger than the data");
        let nan = [&table(0, 1)[..], &[tag::NUMBER], &f64::NAN.to_le_bytes(), &[0]].concat();
        check_refused(&nan, "it is damaged: a key is no string, number or boolean");
        let nil = [&table(0, 1)[..], &[tag::NIL, tag::NIL]].concat();
        check_refused(&nil, "it is damaged: a key is no string, number or boolean");
    }

    #[test]
    fn tables_are_as_deep_as_they_may_be_and_no_deeper() {
        let nested = |depth: usize| [table(1, 0).repeat(depth), vec![tag::NIL]].concat();
        assert!(check(&nested(DEPTH_MAX)).is_ok());
        let words = format!("it is damaged: its tables are more than {DEPTH_MAX} deep");
        check_refused(&nested(DEPTH_MAX + 1), &words);
    }
}
