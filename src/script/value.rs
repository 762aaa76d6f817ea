//! Plain data on its way between Lua and Rust: nil, booleans, numbers, strings, lists and tables.

use super::cx::Cx;
use super::describe::describe;
use crate::foundation::sjson::Tree;
use mlua::ffi::*;
use std::ffi::c_int;

/// How deep tables may be nested.
pub const DEPTH_MAX: usize = 64;
/// The most bytes that the data of one call may take, once it is read. A table that is reached
/// twice is read twice, so a small one can stand for very much.
pub const BYTES_MAX: usize = 64 << 20;

/// Plain data.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Nil,
    Boolean(bool),
    Number(f64),
    Text(String),
    List(Vec<Value>),
    /// Keys in order.
    Table(Vec<(String, Value)>),
}

/// Reads the value at `i`; the words say why it is not plain data.
///
/// # Safety
/// `l` is the state of the running call, and `i` a position in it, or one past its end.
pub unsafe fn read_value(l: *mut lua_State, i: c_int, cx: &Cx) -> Result<Value, String> {
    // SAFETY: as the caller promised.
    unsafe { Reader::new(l, cx).value(i) }
}

/// Reads the values of one call, which together may take [`BYTES_MAX`].
pub struct Reader<'a> {
    l: *mut lua_State,
    cx: &'a Cx,
    left: usize,
}

impl Reader<'_> {
    pub fn new(l: *mut lua_State, cx: &Cx) -> Reader<'_> {
        Reader { l, cx, left: BYTES_MAX }
    }

    /// The value at `i`.
    ///
    /// # Safety
    /// As for [`read_value`].
    pub unsafe fn value(&mut self, i: c_int) -> Result<Value, String> {
        // SAFETY: as the caller promised.
        unsafe { self.read(i, DEPTH_MAX) }
    }

    fn take(&mut self, bytes: usize) -> Result<(), String> {
        let left = self.left.checked_sub(bytes);
        self.left = left.ok_or_else(|| {
            format!(
                "must be less data: all of it together may take {} MiB (a table that is reached \
                 twice counts twice)",
                BYTES_MAX >> 20
            )
        })?;
        Ok(())
    }

    unsafe fn read(&mut self, i: c_int, depth: usize) -> Result<Value, String> {
        let (l, cx) = (self.l, self.cx);
        self.take(size_of::<Value>())?;
        // SAFETY: as for `read_value`; strings are not converted.
        unsafe {
            Ok(match lua_type(l, i) {
                LUA_TNONE | LUA_TNIL => Value::Nil,
                LUA_TBOOLEAN => Value::Boolean(lua_toboolean(l, i) != 0),
                LUA_TNUMBER => Value::Number(lua_tonumber(l, i)),
                LUA_TSTRING => Value::Text(self.text(i)?),
                LUA_TTABLE if depth == 0 => {
                    return Err(format!(
                        "tables are nested more than {DEPTH_MAX} deep (or in a circle)"
                    ));
                }
                LUA_TTABLE => return self.table(i, depth - 1),
                _ => {
                    let what = describe(l, i, cx);
                    return Err(format!(
                        "must be plain data (booleans, numbers, strings, tables), got {what}"
                    ));
                }
            })
        }
    }

    unsafe fn text(&mut self, i: c_int) -> Result<String, String> {
        // SAFETY: called for strings only.
        let bytes = unsafe {
            let mut length = 0;
            let start = lua_tolstring(self.l, i, &mut length);
            std::slice::from_raw_parts(start as *const u8, length)
        };
        self.take(bytes.len())?;
        let text = std::str::from_utf8(bytes).map_err(|_| "must be valid UTF-8".to_string())?;
        Ok(text.to_string())
    }

    unsafe fn table(&mut self, i: c_int, depth: usize) -> Result<Value, String> {
        let (l, cx) = (self.l, self.cx);
        let (mut list, mut table) = (Vec::new(), Vec::new());
        // SAFETY: as for `read_value`; keys are not converted while the table is walked.
        unsafe {
            if lua_checkstack(l, 4) == 0 {
                return Err("tables are nested too deep".into());
            }
            let i = if i < 0 { lua_gettop(l) + 1 + i } else { i };
            let top = lua_gettop(l);
            for index in 1..=lua_objlen(l, i) {
                lua_rawgeti(l, i, index as lua_Integer);
                let value = self.read(-1, depth);
                lua_settop(l, top);
                list.push(value?);
            }
            lua_pushnil(l);
            while lua_next(l, i) != 0 {
                let value = match lua_type(l, -2) {
                    LUA_TSTRING => self
                        .take(size_of::<String>())
                        .and_then(|()| self.text(-2))
                        .and_then(|key| Ok((key, self.read(-1, depth)?))),
                    LUA_TNUMBER if in_list(lua_tonumber(l, -2), list.len()) => {
                        lua_settop(l, -2);
                        continue;
                    }
                    _ => Err(format!("keys must be strings, got {}", describe(l, -2, cx))),
                };
                match value {
                    Ok(entry) => table.push(entry),
                    Err(words) => {
                        lua_settop(l, top);
                        return Err(words);
                    }
                }
                lua_settop(l, -2);
            }
        }
        match (list.is_empty(), table.is_empty()) {
            (false, false) => Err("a table must be a list or have names as keys, not both".into()),
            (false, true) => Ok(Value::List(list)),
            _ => {
                table.sort_by(|(a, _), (b, _)| a.cmp(b));
                Ok(Value::Table(table))
            }
        }
    }
}

fn in_list(key: f64, length: usize) -> bool {
    key.fract() == 0.0 && key >= 1.0 && key <= length as f64
}

/// How many items are pushed between two looks at Lua's memory and at the time.
pub const ITEMS_UNCHECKED: usize = 1024;

/// Checks that Lua still has memory for data that is being pushed, for allocation cannot fail
/// there, and the callback time: strings that collide take ever longer, the more there are.
pub fn check_pushing(cx: &Cx) -> Result<(), String> {
    if cx.memory.is_far_over() {
        return Err("there is not enough memory for the data".into());
    }
    if cx.interrupt.is_stopping() {
        return Err("there was not enough time for the data".into());
    }
    Ok(())
}

/// Pushes a value; the words say why it could not be.
///
/// # Safety
/// `l` is the state of the running call; allocation cannot fail during an engine call.
pub unsafe fn push_value(l: *mut lua_State, value: &Value) -> Result<(), String> {
    // SAFETY: as the caller promised; room on the stack is made before it is used.
    unsafe {
        if lua_checkstack(l, 4) == 0 {
            return Err("the Lua stack is full".into());
        }
        match value {
            Value::Nil => lua_pushnil(l),
            Value::Boolean(value) => lua_pushboolean(l, *value as c_int),
            Value::Number(value) => lua_pushnumber(l, *value),
            Value::Text(text) => {
                lua_pushlstring(l, text.as_ptr() as *const _, text.len());
            }
            Value::List(items) => {
                lua_createtable(l, items.len().min(1 << 20) as c_int, 0);
                for (i, item) in items.iter().enumerate() {
                    if i % ITEMS_UNCHECKED == 0 {
                        check_pushing(Cx::of(l))?;
                    }
                    push_value(l, item)?;
                    lua_rawseti(l, -2, i as lua_Integer + 1);
                }
            }
            Value::Table(entries) => {
                lua_createtable(l, 0, entries.len().min(1 << 20) as c_int);
                for (i, (key, item)) in entries.iter().enumerate() {
                    if i % ITEMS_UNCHECKED == 0 {
                        check_pushing(Cx::of(l))?;
                    }
                    lua_pushlstring(l, key.as_ptr() as *const _, key.len());
                    push_value(l, item)?;
                    lua_rawset(l, -3);
                }
            }
        }
        Ok(())
    }
}

impl Value {
    /// Plain data from SJSON.
    pub fn from_tree(tree: &Tree) -> Value {
        match tree {
            Tree::Null => Value::Nil,
            Tree::Bool(value) => Value::Boolean(*value),
            Tree::Number(value) => Value::Number(*value),
            Tree::String(text) => Value::Text(text.clone()),
            Tree::Array(items) => Value::List(items.iter().map(Value::from_tree).collect()),
            Tree::Object(entries) => {
                let entry = |(key, value): &(String, Tree)| (key.clone(), Value::from_tree(value));
                Value::Table(entries.iter().map(entry).collect())
            }
        }
    }

    /// Plain data for SJSON.
    pub fn to_tree(&self) -> Tree {
        match self {
            Value::Nil => Tree::Null,
            Value::Boolean(value) => Tree::Bool(*value),
            Value::Number(value) => Tree::Number(*value),
            Value::Text(text) => Tree::String(text.clone()),
            Value::List(items) => Tree::Array(items.iter().map(Value::to_tree).collect()),
            Value::Table(entries) => {
                let entry = |(key, value): &(String, Value)| (key.clone(), value.to_tree());
                Tree::Object(entries.iter().map(entry).collect())
            }
        }
    }
}
