//! Plain data that is passed between Lua and Rust: nil, booleans, numbers, strings, lists and
//! tables.

use super::context::ScriptContext;
use super::describe_value::describe;
use engine_foundation::sjson::SjsonTree;
use mlua::ffi::*;
use std::ffi::c_int;

/// Maximum nesting depth of tables.
pub const DEPTH_MAX: usize = 64;
/// Maximum size in bytes of the data of one call after it is read. A table that is reached twice is
/// read twice, so a small table can expand to a very large one.
pub const BYTES_MAX: usize = 64 << 20;

/// Plain data of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum ScriptValue {
    Nil,
    Boolean(bool),
    Number(f64),
    Text(String),
    List(Vec<ScriptValue>),
    /// A table with its keys in order.
    Table(Vec<(String, ScriptValue)>),
}

/// Reads the value at `i`. Returns an error message if it is not plain data.
///
/// # Safety
/// `l` is the state of the running call, and `i` a position in it, or one past its end.
pub unsafe fn read_value(
    l: *mut lua_State,
    i: c_int,
    cx: &ScriptContext,
) -> Result<ScriptValue, String> {
    // SAFETY: as the caller promised.
    unsafe { ValueReader::new(l, cx).value(i) }
}

/// Reads the values of one call, which together may take [`BYTES_MAX`].
pub struct ValueReader<'a> {
    l: *mut lua_State,
    cx: &'a ScriptContext,
    left: usize,
}

impl ValueReader<'_> {
    pub fn new(l: *mut lua_State, cx: &ScriptContext) -> ValueReader<'_> {
        ValueReader { l, cx, left: BYTES_MAX }
    }

    /// Reads the value at `i`.
    ///
    /// # Safety
    /// As for [`read_value`].
    pub unsafe fn value(&mut self, i: c_int) -> Result<ScriptValue, String> {
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

    unsafe fn read(&mut self, i: c_int, depth: usize) -> Result<ScriptValue, String> {
        let (l, cx) = (self.l, self.cx);
        self.take(size_of::<ScriptValue>())?;
        // SAFETY: as for `read_value`; strings are not converted.
        unsafe {
            Ok(match lua_type(l, i) {
                LUA_TNONE | LUA_TNIL => ScriptValue::Nil,
                LUA_TBOOLEAN => ScriptValue::Boolean(lua_toboolean(l, i) != 0),
                LUA_TNUMBER => ScriptValue::Number(lua_tonumber(l, i)),
                LUA_TSTRING => ScriptValue::Text(self.text(i)?),
                LUA_TTABLE if depth == 0 => {
                    return Err(format!(
                        "tables are nested more than {DEPTH_MAX} deep (or in a circle)"
                    ));
                }
                LUA_TTABLE => return self.table(i, depth - 1),
                _ => {
                    let description = describe(l, i, cx);
                    let remedy = match description.get(..7) {
                        Some("Vector2") => " (write its numbers: v.x, v.y)",
                        Some("Vector3") => " (write its numbers: v.x, v.y, v.z)",
                        _ => "",
                    };
                    return Err(format!(
                        "must be plain data (booleans, numbers, strings, tables), got \
                         {description}{remedy}"
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

    unsafe fn table(&mut self, i: c_int, depth: usize) -> Result<ScriptValue, String> {
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
                    Err(message) => {
                        lua_settop(l, top);
                        return Err(message);
                    }
                }
                lua_settop(l, -2);
            }
        }
        match (list.is_empty(), table.is_empty()) {
            (false, false) => Err("a table must be a list or have names as keys, not both".into()),
            (false, true) => Ok(ScriptValue::List(list)),
            _ => {
                table.sort_by(|(a, _), (b, _)| a.cmp(b));
                Ok(ScriptValue::Table(table))
            }
        }
    }
}

fn in_list(key: f64, length: usize) -> bool {
    key.fract() == 0.0 && key >= 1.0 && key <= length as f64
}

/// Number of items that are pushed between two checks of Lua's memory and of the time.
pub const ITEMS_UNCHECKED: usize = 1024;

/// Checks that Lua still has memory for data that is being pushed, because allocation cannot fail
/// there. Also checks the callback time, because strings with colliding hashes take longer the more
/// there are.
pub fn check_pushing(cx: &ScriptContext) -> Result<(), String> {
    if cx.memory.is_far_over() {
        return Err("there is not enough memory for the data".into());
    }
    if cx.interrupt.is_stopping() {
        return Err("there was not enough time for the data".into());
    }
    Ok(())
}

/// Pushes a value. Returns an error message if it cannot be pushed.
///
/// # Safety
/// `l` is the state of the running call; allocation cannot fail during an engine call.
pub unsafe fn push_value(l: *mut lua_State, value: &ScriptValue) -> Result<(), String> {
    // SAFETY: as the caller promised; room on the stack is made before it is used.
    unsafe {
        if lua_checkstack(l, 4) == 0 {
            return Err("the Lua stack is full".into());
        }
        match value {
            ScriptValue::Nil => lua_pushnil(l),
            ScriptValue::Boolean(value) => lua_pushboolean(l, *value as c_int),
            ScriptValue::Number(value) => lua_pushnumber(l, *value),
            ScriptValue::Text(text) => {
                lua_pushlstring(l, text.as_ptr() as *const _, text.len());
            }
            ScriptValue::List(items) => {
                lua_createtable(l, items.len().min(1 << 20) as c_int, 0);
                for (i, item) in items.iter().enumerate() {
                    if i % ITEMS_UNCHECKED == 0 {
                        check_pushing(ScriptContext::of(l))?;
                    }
                    push_value(l, item)?;
                    lua_rawseti(l, -2, i as lua_Integer + 1);
                }
            }
            ScriptValue::Table(entries) => {
                lua_createtable(l, 0, entries.len().min(1 << 20) as c_int);
                for (i, (key, item)) in entries.iter().enumerate() {
                    if i % ITEMS_UNCHECKED == 0 {
                        check_pushing(ScriptContext::of(l))?;
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

impl ScriptValue {
    /// Converts SJSON into plain data.
    pub fn from_tree(tree: &SjsonTree) -> ScriptValue {
        match tree {
            SjsonTree::Null => ScriptValue::Nil,
            SjsonTree::Bool(value) => ScriptValue::Boolean(*value),
            SjsonTree::Number(value) => ScriptValue::Number(*value),
            SjsonTree::String(text) => ScriptValue::Text(text.clone()),
            SjsonTree::Array(items) => {
                ScriptValue::List(items.iter().map(ScriptValue::from_tree).collect())
            }
            SjsonTree::Object(entries) => {
                let entry = |(key, value): &(String, SjsonTree)| {
                    (key.clone(), ScriptValue::from_tree(value))
                };
                ScriptValue::Table(entries.iter().map(entry).collect())
            }
        }
    }

    /// Converts plain data into SJSON.
    pub fn to_tree(&self) -> SjsonTree {
        match self {
            ScriptValue::Nil => SjsonTree::Null,
            ScriptValue::Boolean(value) => SjsonTree::Bool(*value),
            ScriptValue::Number(value) => SjsonTree::Number(*value),
            ScriptValue::Text(text) => SjsonTree::String(text.clone()),
            ScriptValue::List(items) => {
                SjsonTree::Array(items.iter().map(ScriptValue::to_tree).collect())
            }
            ScriptValue::Table(entries) => {
                let entry = |(key, value): &(String, ScriptValue)| (key.clone(), value.to_tree());
                SjsonTree::Object(entries.iter().map(entry).collect())
            }
        }
    }
}
