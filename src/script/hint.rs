//! What an error's words do not say and a person would ask next: the name that was meant, the other
//! way to write a call. Reads the text of the message and the script's globals; changes nothing.

use super::cx::Cx;
use super::describe::bytes;
use super::emit::standard::{ABSENT, NO_LOVE};
use super::report::Place;
use crate::foundation::suggest;
use mlua::ffi::*;
use std::ffi::{CStr, c_int};

/// LuaJIT's words for a stack that is full, and for one that is full of native calls.
const OVERFLOWS: [&str; 2] = ["stack overflow", "C stack overflow"];

/// Name and function, for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] = &[(c"hint", hint)];

/// `hint(message, file, line)`: what to say after a message that is LuaJIT's own, which the line
/// raised.
unsafe extern "C-unwind" fn hint(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two strings and a number.
    unsafe {
        let text = |i| String::from_utf8_lossy(bytes(l, i)).into_owned();
        let place = Place { file: text(2), line: lua_tonumber(l, 3) as u32 };
        let source = Cx::of(l).source_line(&place);
        let words = after(l, &text(1), &source);
        lua_pushlstring(l, words.as_ptr().cast(), words.len());
        1
    }
}

/// What to say after a message that is LuaJIT's own; empty where there is nothing to add.
///
/// # Safety
/// `l` is a live state with a few free slots.
pub unsafe fn after(l: *mut lua_State, message: &str, source: &str) -> String {
    if OVERFLOWS.contains(&message) {
        return ": a function calls itself, directly or through others, without an end".to_string();
    }
    // SAFETY: as the caller promised; raw reads of tables, popped again.
    unsafe {
        let top = lua_gettop(l);
        let words = match missing(message) {
            Some(Missing::Global(name)) => no_global(l, name),
            Some(Missing::Called(name)) => no_function(l, source, name).unwrap_or_default(),
            Some(Missing::Number(name)) => on_a_number(source, name).unwrap_or_default(),
            None => String::new(),
        };
        lua_settop(l, top);
        words
    }
}

/// The words for a stack that overflowed inside compiled code, where LuaJIT has no room to tell the
/// line: the remedy instead.
pub fn overflow_without_place(words: &str) -> Option<String> {
    let known = OVERFLOWS.iter().any(|overflow| words.ends_with(overflow));
    known.then(|| {
        "stack overflow: a function calls itself, directly or through others, without an end\n\
         The line is lost in compiled code: lua = { jit = false } in settings.sjson shows it"
            .to_string()
    })
}

/// What was not there.
enum Missing<'a> {
    Global(&'a str),
    Called(&'a str),
    /// A number that was indexed as if it were an object.
    Number(&'a str),
}

/// Reads LuaJIT's own messages.
fn missing(message: &str) -> Option<Missing<'_>> {
    let between = |start: &str, end: &str| message.strip_prefix(start)?.strip_suffix(end);
    for what in ["call", "index"] {
        let start = format!("attempt to {what} global '");
        if let Some(name) = between(&start, "' (a nil value)") {
            return Some(Missing::Global(name));
        }
    }
    for kind in ["field", "method"] {
        let start = format!("attempt to call {kind} '");
        if let Some(name) = between(&start, "' (a nil value)") {
            return Some(Missing::Called(name));
        }
    }
    for kind in ["local", "upvalue", "global", "field"] {
        let start = format!("attempt to index {kind} '");
        if let Some(name) = between(&start, "' (a number value)") {
            return Some(Missing::Number(name));
        }
    }
    None
}

unsafe fn no_global(l: *mut lua_State, name: &str) -> String {
    if name == "love" {
        return format!(": {NO_LOVE}");
    }
    if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
        return format!(": games do not have Lua's '{name}': {why}");
    }
    // SAFETY: as for `after`.
    let names = unsafe { string_keys(l, LUA_GLOBALSINDEX) };
    let hint = suggest::hint(name, names.iter().map(String::as_str));
    format!(": there is no global '{name}'{hint}")
}

unsafe fn no_function(l: *mut lua_State, source: &str, name: &str) -> Option<String> {
    let (table, sign) = word_before(source, name)?;
    // SAFETY: as for `after`.
    unsafe {
        lua_pushlstring(l, table.as_ptr().cast(), table.len());
        lua_rawget(l, LUA_GLOBALSINDEX);
        if lua_type(l, -1) == LUA_TTABLE {
            let names = string_keys(l, -1);
            let hint = suggest::hint(name, names.iter().map(String::as_str));
            return Some(format!(": {table} has no function '{name}'{hint}"));
        }
        // A method of a local's: most likely a string's.
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        lua_pushlstring(l, c"string".as_ptr(), 6);
        lua_rawget(l, -2);
        if sign != ':' || lua_type(l, -1) != LUA_TTABLE {
            return None;
        }
        let names = string_keys(l, -1);
        let near = suggest::nearest(name, names.iter().map(String::as_str))?;
        Some(format!(": if '{table}' is a string, did you mean '{near}'?"))
    }
}

/// Engine objects are numbers, which have no methods: how the call is written instead.
fn on_a_number(source: &str, name: &str) -> Option<String> {
    let at = source.find(&format!("{name}:"))? + name.len() + 1;
    let rest = &source[at..];
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let method = &rest[..end];
    Some(format!(
        ": engine objects are numbers without methods: write World.{method}({name}, …), or the \
         module that {name} belongs to"
    ))
}

/// The word before `.name` or `:name` in a line of source, and the sign between them.
fn word_before<'a>(source: &'a str, name: &str) -> Option<(&'a str, char)> {
    let find = |sign: char| Some((source.find(&format!("{sign}{name}"))?, sign));
    let (at, sign) = find('.').or_else(|| find(':'))?;
    let before = &source[..at];
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_');
    let word = &before[start.map_or(0, |i| i + 1)..];
    (!word.is_empty()).then_some((word, sign))
}

unsafe fn string_keys(l: *mut lua_State, i: c_int) -> Vec<String> {
    let mut names = Vec::new();
    // SAFETY: lua_next with a key that it gave itself does not raise; keys are not converted.
    unsafe {
        lua_pushvalue(l, i);
        lua_pushnil(l);
        while lua_next(l, -2) != 0 {
            if lua_type(l, -2) == LUA_TSTRING {
                names.push(String::from_utf8_lossy(bytes(l, -2)).into_owned());
            }
            lua_settop(l, -2);
        }
        lua_settop(l, -2);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_before_a_misspelt_call_is_read_off_the_line() {
        assert_eq!(word_before("  World.updte(world, dt)", "updte"), Some(("World", '.')));
        assert_eq!(word_before("local a = s:splt(1)", "splt"), Some(("s", ':')));
        assert_eq!(word_before("updte()", "updte"), None);
    }

    #[test]
    fn a_method_of_a_number_says_how_it_is_written() {
        let words = on_a_number("  w:update(1)", "w").unwrap();
        assert!(words.contains("write World.update(w, …)"), "{words}");
        assert_eq!(on_a_number("  w.x = 1", "w"), None);
    }

    #[test]
    fn an_overflow_without_a_place_names_the_remedy() {
        assert!(overflow_without_place("main.lua:1: stack overflow").is_some());
        assert!(overflow_without_place("error in error handling").is_none());
    }
}
