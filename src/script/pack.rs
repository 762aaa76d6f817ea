//! Lua data as bytes and back: booleans, numbers and strings bit by bit, tables of every shape, the
//! value types and their boxes. For what leaves the VM: saves, messages between scripts. What is
//! only looked at by Rust crosses as a [`Value`](super::value::Value).
//!
//! A value is a tag and what follows it. Tables are trees: a table that is reached twice is written
//! twice, and one that leads back to itself is refused, like everything else that is no data
//! (functions, coroutines, objects with a metatable, handles of what is alive). Numbers are
//! little-endian. NaN stays a NaN, though not with every bit.

mod packer;
mod unpacker;

use super::arg::{Arg, Wrong};
use super::cx::Cx;
use super::ret::Ret;
use super::types::{Shape, Type};
use crate::error;
use crate::foundation::Error;
use crate::foundation::blob::Reader;
use mlua::ffi::lua_State;
use std::ffi::c_int;

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
    /// Nil.
    pub fn nil() -> Packed {
        Packed(vec![tag::NIL])
    }

    /// Whether it is nil.
    pub fn is_nil(&self) -> bool {
        self.0 == [tag::NIL]
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

/// The same for the content of a save, which is never nil.
pub fn check_save(bytes: &[u8]) -> Result<(), Error> {
    check(bytes)?;
    match bytes == [tag::NIL] {
        true => Err(error!("it is damaged: it holds no value")),
        false => Ok(()),
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

impl Arg for Packed {
    const TYPE: Type = Type::new("any", Shape::Boxed);
    unsafe fn read(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Packed, Wrong> {
        // SAFETY: as the caller promised.
        unsafe { packer::pack(l, i, cx).map_err(Wrong::Words) }
    }
}

impl Ret for Packed {
    const TYPES: &'static [Type] = &[Type::new("any", Shape::Packed)];
    unsafe fn push(self, l: *mut lua_State, cx: &mut Cx) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { unpacker::unpack(l, &self.0, cx).map(|()| 2) }
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
    fn a_save_holds_a_value() {
        assert!(check(&[tag::NIL]).is_ok() && check_save(&TRUE).is_ok());
        let refused = check_save(&[tag::NIL]).unwrap_err();
        assert_eq!(refused.message, "it is damaged: it holds no value");
    }

    #[test]
    fn tables_are_as_deep_as_they_may_be_and_no_deeper() {
        let nested = |depth: usize| [table(1, 0).repeat(depth), vec![tag::NIL]].concat();
        assert!(check(&nested(DEPTH_MAX)).is_ok());
        let words = format!("it is damaged: its tables are more than {DEPTH_MAX} deep");
        check_refused(&nested(DEPTH_MAX + 1), &words);
    }
}
