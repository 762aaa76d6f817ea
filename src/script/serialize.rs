//! Serialization of Lua data to bytes and back: booleans, numbers and strings bit by bit, tables of
//! every shape, the value types and their boxes. For data that leaves the VM: saves, and messages
//! between scripts. Data that only Rust reads is passed as a [`Value`](super::value::Value).
//!
//! A value is a tag and its content. Tables are trees: a table that is reached twice is written
//! twice, and one that contains itself is refused, like everything that is not data (functions,
//! coroutines, objects with a metatable, handles of live objects). Numbers are little-endian. NaN
//! stays a NaN, but its bits may change.

mod reader;
mod writer;

use super::argument::{Argument, ArgumentError};
use super::context::ScriptContext;
use super::return_value::ReturnValue;
use super::types::{ApiType, ValueShape};
use engine_foundation::Error;
use engine_foundation::blob::BlobReader;
use engine_foundation::error;
use mlua::ffi::lua_State;
use std::ffi::c_int;

/// Maximum nesting depth of tables.
pub const DEPTH_MAX: usize = 128;
/// Maximum size of a serialized value in bytes.
pub const BYTES_MAX: usize = 64 << 20;

/// A serialized value that left the VM, or is about to enter one.
#[derive(Clone, PartialEq, Debug)]
pub struct SerializedValue(pub Vec<u8>);

mod tag {
    pub const NIL: u8 = 0;
    pub const FALSE: u8 = 1;
    pub const TRUE: u8 = 2;
    /// A number in eight bytes.
    pub const NUMBER: u8 = 3;
    /// A whole number in four bytes.
    pub const SMALL: u8 = 4;
    /// A string: a length of four bytes, then the bytes.
    pub const TEXT: u8 = 5;
    /// A table: the number of items, the number of entries, the items from index 1, then the
    /// entries, each a key and a value.
    pub const TABLE: u8 = 6;
    /// The first of the value types, in the order of `VALUES`.
    pub const VALUE: u8 = 16;
    /// The first of the boxed value types, in the same order.
    pub const BOXED: u8 = 32;
}

/// The value types, with their size in bytes: 32-bit floats, or a hash.
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

/// The serialized form of `true`.
pub const TRUE: [u8; 1] = [tag::TRUE];

impl SerializedValue {
    /// Returns the serialized nil.
    pub fn nil() -> SerializedValue {
        SerializedValue(vec![tag::NIL])
    }

    /// Returns true if the value is nil.
    pub fn is_nil(&self) -> bool {
        self.0 == [tag::NIL]
    }
}

/// One value, or the head of a table.
enum ValueToken<'a> {
    Nil,
    Boolean(bool),
    Number(f64),
    Text(&'a [u8]),
    Table { items: usize, entries: usize },
    Special { which: usize, boxed: bool, bytes: &'a [u8] },
}

fn token<'a>(reader: &mut BlobReader<'a>) -> Result<ValueToken<'a>, Error> {
    let tag = reader.u8()?;
    Ok(match tag {
        tag::NIL => ValueToken::Nil,
        tag::FALSE | tag::TRUE => ValueToken::Boolean(tag == tag::TRUE),
        tag::NUMBER => ValueToken::Number(reader.f64()?),
        tag::SMALL => ValueToken::Number((reader.u32()? as i32).into()),
        tag::TEXT => ValueToken::Text(reader.bytes()?),
        tag::TABLE => {
            let (items, entries) = (reader.u32()? as usize, reader.u32()? as usize);
            // An item takes at least one byte, and an entry two, so a wrong count cannot cause a
            // large allocation.
            if items.saturating_add(entries.saturating_mul(2)) > reader.remaining() {
                return Err(error!("it is damaged: a table is larger than the data"));
            }
            ValueToken::Table { items, entries }
        }
        _ => {
            let boxed = tag >= tag::BOXED;
            let first = if boxed { tag::BOXED } else { tag::VALUE };
            let which = usize::from(tag.wrapping_sub(first));
            let (_, count) = VALUES
                .get(which)
                .ok_or_else(|| error!("it is damaged, or of a newer engine: unknown tag {tag}"))?;
            ValueToken::Special { which, boxed, bytes: reader.take(*count)? }
        }
    })
}

impl ValueToken<'_> {
    fn is_key(&self) -> bool {
        match self {
            ValueToken::Number(number) => !number.is_nan(),
            token => matches!(token, ValueToken::Boolean(_) | ValueToken::Text(_)),
        }
    }
}

/// Checks that the bytes are exactly one value.
///
/// # Errors
/// Returns an error that describes the damage otherwise.
pub fn check(bytes: &[u8]) -> Result<(), Error> {
    let mut reader = BlobReader::new(bytes);
    check_value(&mut reader, 0)?;
    match reader.remaining() {
        0 => Ok(()),
        left => Err(error!("it is damaged: {left} bytes too many")),
    }
}

/// Checks that the bytes are the content of a save: one value, which is never nil.
///
/// # Errors
/// Returns an error that describes the damage otherwise.
pub fn check_save(bytes: &[u8]) -> Result<(), Error> {
    check(bytes)?;
    match bytes == [tag::NIL] {
        true => Err(error!("it is damaged: it holds no value")),
        false => Ok(()),
    }
}

fn check_value(reader: &mut BlobReader, depth: usize) -> Result<(), Error> {
    let ValueToken::Table { items, entries } = token(reader)? else { return Ok(()) };
    if depth == DEPTH_MAX {
        return Err(error!("it is damaged: its tables are more than {DEPTH_MAX} deep"));
    }
    for _ in 0..items {
        check_value(reader, depth + 1)?;
    }
    for _ in 0..entries {
        if !token(reader)?.is_key() {
            return Err(error!("it is damaged: a key is not a string, number or boolean"));
        }
        check_value(reader, depth + 1)?;
    }
    Ok(())
}

impl Argument for SerializedValue {
    const TYPE: ApiType = ApiType::new("any", ValueShape::Boxed);
    unsafe fn read(
        l: *mut lua_State,
        i: c_int,
        cx: &ScriptContext,
    ) -> Result<SerializedValue, ArgumentError> {
        // SAFETY: as the caller promised.
        unsafe { writer::pack(l, i, cx).map_err(ArgumentError::Message) }
    }
}

impl ReturnValue for SerializedValue {
    const TYPES: &'static [ApiType] = &[ApiType::new("any", ValueShape::Packed)];
    unsafe fn push(self, l: *mut lua_State, cx: &mut ScriptContext) -> Result<c_int, String> {
        // SAFETY: as the caller promised.
        unsafe { reader::unpack(l, &self.0, cx).map(|()| 2) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(items: u32, entries: u32) -> Vec<u8> {
        [&[tag::TABLE][..], &items.to_le_bytes(), &entries.to_le_bytes()].concat()
    }

    fn check_refused(bytes: &[u8], message: &str) {
        assert_eq!(check(bytes).map_err(|error| error.message), Err(message.to_string()));
    }

    #[test]
    fn invalid_bytes_are_refused_before_values_are_created() {
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
        check_refused(&nan, "it is damaged: a key is not a string, number or boolean");
        let nil = [&table(0, 1)[..], &[tag::NIL, tag::NIL]].concat();
        check_refused(&nil, "it is damaged: a key is not a string, number or boolean");
    }

    #[test]
    fn a_save_contains_a_value() {
        assert!(check(&[tag::NIL]).is_ok() && check_save(&TRUE).is_ok());
        let refused = check_save(&[tag::NIL]).unwrap_err();
        assert_eq!(refused.message, "it is damaged: it holds no value");
    }

    #[test]
    fn the_nesting_limit_of_tables_is_exact() {
        let nested = |depth: usize| [table(1, 0).repeat(depth), vec![tag::NIL]].concat();
        assert!(check(&nested(DEPTH_MAX)).is_ok());
        let message = format!("it is damaged: its tables are more than {DEPTH_MAX} deep");
        check_refused(&nested(DEPTH_MAX + 1), &message);
    }
}
