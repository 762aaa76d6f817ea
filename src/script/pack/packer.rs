//! From Lua's stack to bytes, and the words for what is no data, with the way to it.

use super::super::cx::Cx;
use super::super::describe::{self, bytes, describe};
use super::{BYTES_MAX, DEPTH_MAX, Packed, VALUES, tag};
use crate::foundation::Handle;
use mlua::ffi::*;
use std::ffi::{c_int, c_void};

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
