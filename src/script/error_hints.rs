//! Hints after error messages: the name that was probably meant, or the correct form of a call.
//! Reads the text of the message and the script's variables; changes nothing. Hints for missing
//! functions are in function_hints.rs, for fields in field_hints.rs, and for syntax errors in
//! syntax_hints.rs.

use super::context::ScriptContext;
use super::describe_value::bytes;
use super::docgen::standard_library::{ABSENT, NO_LOVE};
use super::field_hints;
use super::function_hints;
use super::lua_variables::{self, is_of_name, string_keys};
use super::report::{SourceLocation, split_location};
use super::{familiar_names, porting_table, syntax_hints};
use engine_foundation::suggest;
use mlua::ffi::*;
use std::ffi::{CStr, c_int};

/// LuaJIT's messages for a full stack, and for a stack full of native calls.
const OVERFLOWS: [&str; 2] = ["stack overflow", "C stack overflow"];

/// Name and function for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] = &[(c"hint", hint), (c"syntax_hint", syntax_hint)];

/// `hint(message, file, line, thread, level)`: returns the hint for a message of LuaJIT that was
/// raised by this line, in the function at that level of a coroutine.
unsafe extern "C-unwind" fn hint(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two strings, a number, a coroutine and a number.
    unsafe {
        let text = |i| String::from_utf8_lossy(bytes(l, i)).into_owned();
        let location = SourceLocation { file: text(2), line: lua_tonumber(l, 3) as u32 };
        let cx = ScriptContext::of(l);
        let source = cx.source_line(&location);
        let thread = lua_tothread(l, 4);
        let level = lua_tonumber(l, 5) as c_int;
        let (thread, level) = match thread {
            thread if thread.is_null() => (l, None),
            // The caller counted the levels in a function of its own.
            thread if thread == l => (l, Some(level - 1)),
            thread => (thread, Some(level)),
        };
        let message = text(1);
        let mut hint = hint_for(thread, level, &message, &source);
        if hint.is_empty()
            && let (Some(location), problem) = split_location(&message)
        {
            hint = syntax_error_hint(l, problem, &location);
        }
        push_text(l, &hint);
        1
    }
}

/// `syntax_hint(message)`: returns the hint for the message of a text that does not compile.
unsafe extern "C-unwind" fn syntax_hint(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes a string.
    unsafe {
        let message = String::from_utf8_lossy(bytes(l, 1)).into_owned();
        let (location, message) = split_location(&message);
        let hint = location.map(|location| syntax_error_hint(l, message, &location));
        push_text(l, &hint.unwrap_or_default());
        1
    }
}

unsafe fn push_text(l: *mut lua_State, text: &str) {
    // SAFETY: the caller has a free slot; memory of the hint is accounted for as that of reports.
    unsafe {
        let memory = &ScriptContext::of(l).memory;
        memory.begin_lenient();
        lua_pushlstring(l, text.as_ptr().cast(), text.len());
        memory.end_lenient();
    }
}

/// Returns the hint for the message of a script that does not compile; empty if there is nothing to
/// add.
///
/// # Safety
/// `l` is a live state.
pub unsafe fn syntax_error_hint(
    l: *mut lua_State,
    message: &str,
    location: &SourceLocation,
) -> String {
    // SAFETY: as the caller promised.
    let cx = unsafe { ScriptContext::of(l) };
    let text = cx.source_text(&location.file).unwrap_or_default();
    syntax_hints::hint(message, text, location.line as usize).unwrap_or_default()
}

/// Returns the hint for a message of LuaJIT, or of a function of the API about its arguments; empty
/// if there is nothing to add. `level` is the
/// function that raised the error, if it is on the stack of `l`.
///
/// # Safety
/// `l` is a live state with a few free slots.
pub unsafe fn hint_for(
    l: *mut lua_State,
    level: Option<c_int>,
    message: &str,
    source: &str,
) -> String {
    if OVERFLOWS.contains(&message) {
        return ": a function calls itself, directly or through others, without an end".to_string();
    }
    // SAFETY: as the caller promised; raw reads of tables, popped again.
    unsafe {
        let top = lua_gettop(l);
        if lua_checkstack(l, 12) == 0 {
            return String::new();
        }
        let Some(fault) = fault_of(message) else {
            let hint = function_hints::other_arguments(l, message);
            return hint.unwrap_or_default();
        };
        let hint = match fault {
            Fault::Global(name) => Some(no_global(l, level, name)),
            Fault::Called(name) => function_hints::no_function(l, level, source, name),
            Fault::Number(name) => field_hints::on_a_number(l, level, source, name),
            Fault::Field(name) => field_hints::no_field(l, level, source, name),
            Fault::Self_ => Some(WITHOUT_COLON.to_string()),
            Fault::Item => item_of(source),
            Fault::Iterator => iterator_of(source),
            Fault::Text if source.contains('+') => Some(JOINED_TEXTS.to_string()),
            Fault::Text => Some(NUMBER_OF_TEXT.to_string()),
        };
        lua_settop(l, top);
        hint.unwrap_or_default()
    }
}

/// Hint for a function that was called without the object before its colon.
const WITHOUT_COLON: &str = ": the function is defined with a colon, and is called with one: \
                             object:name(…)";
const JOINED_TEXTS: &str = ": texts are joined with `..`, and tonumber(text) is the number in a \
                            text";
const NUMBER_OF_TEXT: &str = ": tonumber(text) is the number in a text";

/// Returns the remedy for a stack overflow inside compiled code, where LuaJIT has no room to report
/// the line.
pub fn overflow_message(message: &str) -> Option<String> {
    let known = OVERFLOWS.iter().any(|overflow| message.ends_with(overflow));
    known.then(|| {
        "stack overflow: a function calls itself, directly or through others, without an end\n\
         The line is lost in compiled code: lua = { jit = false } in settings.sjson shows it"
            .to_string()
    })
}

/// A wrong use of a value, as reported by LuaJIT.
#[derive(Debug, PartialEq)]
enum Fault<'a> {
    Global(&'a str),
    /// A function of a table that is nil.
    Called(&'a str),
    /// A number that was indexed as if it were an object.
    Number(&'a str),
    /// A field that is nil.
    Field(&'a str),
    /// The variable `self` is nil or a number.
    Self_,
    /// A value without a name that was nil, such as `items[3]`.
    Item,
    /// A table that was called, as in `for i, v in items do`.
    Iterator,
    /// A text in arithmetic.
    Text,
}

/// Parses LuaJIT's own messages.
fn fault_of(message: &str) -> Option<Fault<'_>> {
    let rest = message.strip_prefix("attempt to ")?;
    match rest {
        "index a nil value" => return Some(Fault::Item),
        "call a table value" => return Some(Fault::Iterator),
        "perform arithmetic on a string value" => return Some(Fault::Text),
        _ => {}
    }
    let (head, rest) = rest.split_once(" '")?;
    let (name, value) = rest.split_once("' (a ")?;
    let (operation, kind) = head.rsplit_once(' ')?;
    match (operation, kind, value) {
        ("index", "local" | "upvalue", "nil value)" | "number value)") if name == "self" => {
            Some(Fault::Self_)
        }
        (_, "global", "nil value)") => Some(Fault::Global(name)),
        ("call", "field" | "method", "nil value)") => Some(Fault::Called(name)),
        (_, "field", "nil value)") => Some(Fault::Field(name)),
        ("index", _, "number value)") => Some(Fault::Number(name)),
        ("perform arithmetic on", _, "string value)") => Some(Fault::Text),
        _ => None,
    }
}

unsafe fn no_global(l: *mut lua_State, level: Option<c_int>, name: &str) -> String {
    if name == "love" {
        return format!(": {NO_LOVE}");
    }
    if name == "self" {
        return WITHOUT_COLON.to_string();
    }
    if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
        return format!(": games do not have Lua's '{name}': {why}");
    }
    // SAFETY: as for `hint_for`.
    let names = unsafe {
        let mut names = level.map_or_else(Vec::new, |level| lua_variables::names(l, level));
        names.extend(string_keys(l, LUA_GLOBALSINDEX));
        names
    };
    let mut hint = suggest::hint(name, names.iter().map(String::as_str));
    if hint.is_empty()
        && let Some(meaning) = familiar_names::meaning(name)
    {
        hint = format!(", {meaning}");
    }
    if let Some(here) = porting_table::missing(name, None) {
        hint = here;
    }
    format!(": there is no global '{name}'{hint}")
}

/// Returns the hint for an item that is nil: `items[3]` of `items[3].hp`, if the line has one.
fn item_of(source: &str) -> Option<String> {
    let mut items = source.match_indices(']').filter_map(|(end, _)| {
        let start = source[..end].rfind('[')?;
        let name = source[..start].rsplit(|c: char| !is_of_name(c) && c != '.').next()?;
        let next = source[end + 1..].chars().next()?;
        let is_whole = !source[start..end].contains(']');
        let is_item = is_whole && !name.is_empty() && ".[:".contains(next);
        is_item.then(|| format!("{name}{}", &source[start..=end]))
    });
    let item = items.next()?;
    // With two of them, it is not known which is nil.
    items.next().is_none().then(|| format!(": {item} is nil"))
}

/// Returns the hint for a loop over a table without `pairs`.
fn iterator_of(source: &str) -> Option<String> {
    let (_, after) = source.split_once("for ")?.1.split_once(" in ")?;
    let table = after.split(" do").next()?.trim();
    let table = if table.starts_with('{') { "{ … }" } else { table };
    let is_name = !table.is_empty() && table.chars().all(|c| is_of_name(c) || c == '.');
    (is_name || table.starts_with('{'))
        .then(|| format!(": write pairs({table}) or, for a list, ipairs({table})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_vm_are_parsed() {
        let check = |message: &str, fault: Option<Fault>| {
            assert_eq!(fault_of(&format!("attempt to {message}")), fault, "{message}");
        };
        check("call global 'updte' (a nil value)", Some(Fault::Global("updte")));
        check("perform arithmetic on global 'x' (a nil value)", Some(Fault::Global("x")));
        check("call method 'updte' (a nil value)", Some(Fault::Called("updte")));
        check("index field 'hp' (a nil value)", Some(Fault::Field("hp")));
        check("concatenate field 'hp' (a nil value)", Some(Fault::Field("hp")));
        check("index upvalue 'unit' (a number value)", Some(Fault::Number("unit")));
        check("index local 'self' (a nil value)", Some(Fault::Self_));
        check("perform arithmetic on local 's' (a string value)", Some(Fault::Text));
        check("index a nil value", Some(Fault::Item));
        check("call a table value", Some(Fault::Iterator));
        check("compare nil with number", None);
        check("index local 'a' (a boolean value)", None);
        assert_eq!(fault_of("no weapon"), None);
    }

    #[test]
    fn items_that_are_nil_are_named_if_only_one_can_be_it() {
        assert_eq!(item_of("hp = enemies[i].hp").as_deref(), Some(": enemies[i] is nil"));
        assert_eq!(item_of("a.b[1][2] = 3").as_deref(), Some(": a.b[1] is nil"));
        assert_eq!(item_of("hp = a[1].hp + b[2].hp"), None);
        assert_eq!(item_of("hp = f().hp"), None);
        assert_eq!(item_of("hp = a[b[1]].hp"), None);
    }

    #[test]
    fn loops_over_a_table_get_pairs() {
        let hint = ": write pairs(self.items) or, for a list, ipairs(self.items)";
        assert_eq!(iterator_of("for i, v in self.items do").as_deref(), Some(hint));
        let hint = ": write pairs({ … }) or, for a list, ipairs({ … })";
        assert_eq!(iterator_of("for i, v in { 1, 2 } do").as_deref(), Some(hint));
        assert_eq!(iterator_of("items()"), None);
        assert_eq!(iterator_of("for i, v in f() do"), None);
    }

    #[test]
    fn an_overflow_without_a_location_has_a_remedy() {
        assert!(overflow_message("main.lua:1: stack overflow").is_some());
        assert!(overflow_message("error in error handling").is_none());
    }
}
