//! Hints after error messages: the name that was probably meant, or the correct form of a call.
//! Reads the text of the message and the script's globals; changes nothing.

use super::context::ScriptContext;
use super::describe_value::bytes;
use super::docgen::standard_library::{ABSENT, NO_LOVE};
use super::familiar_names::{self, equivalent};
use super::handle_hints::article;
use super::report::SourceLocation;
use engine_foundation::{Handle, HandleKind, suggest};
use mlua::ffi::*;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;

/// LuaJIT's messages for a full stack, and for a stack full of native calls.
const OVERFLOWS: [&str; 2] = ["stack overflow", "C stack overflow"];

/// Name and function for the core table.
pub const NATIVES: &[(&CStr, lua_CFunction)] = &[(c"hint", hint)];

/// `hint(message, file, line)`: returns the hint for a message of LuaJIT that was raised by this
/// line.
unsafe extern "C-unwind" fn hint(l: *mut lua_State) -> c_int {
    // SAFETY: the prelude passes two strings and a number.
    unsafe {
        let text = |i| String::from_utf8_lossy(bytes(l, i)).into_owned();
        let location = SourceLocation { file: text(2), line: lua_tonumber(l, 3) as u32 };
        let source = ScriptContext::of(l).source_line(&location);
        let message = hint_for(l, None, &text(1), &source);
        lua_pushlstring(l, message.as_ptr().cast(), message.len());
        1
    }
}

/// Returns the hint for a message of LuaJIT; empty if there is nothing to add. `level` is the
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
        let message = match missing(message) {
            Some(MissingName::Global(name)) => no_global(l, level, name),
            Some(MissingName::Called(name)) => no_function(l, source, name).unwrap_or_default(),
            Some(MissingName::Number(name)) => {
                let kind = level.and_then(|level| kind_of(l, level, name));
                on_a_number(l, source, name, kind).unwrap_or_default()
            }
            Some(MissingName::Item) => item_of(source).unwrap_or_default(),
            Some(MissingName::Iterator) => iterator_of(source).unwrap_or_default(),
            None => String::new(),
        };
        lua_settop(l, top);
        message
    }
}

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

/// A name that does not exist, as reported by LuaJIT.
enum MissingName<'a> {
    Global(&'a str),
    Called(&'a str),
    /// A number that was indexed as if it were an object.
    Number(&'a str),
    /// A value without a name that was nil, such as `items[3]`.
    Item,
    /// A table that was called, as in `for i, v in items do`.
    Iterator,
}

/// Parses LuaJIT's own messages.
fn missing(message: &str) -> Option<MissingName<'_>> {
    match message {
        "attempt to index a nil value" => return Some(MissingName::Item),
        "attempt to call a table value" => return Some(MissingName::Iterator),
        _ => {}
    }
    let between = |start: &str, end: &str| message.strip_prefix(start)?.strip_suffix(end);
    for operation in ["call", "index"] {
        let start = format!("attempt to {operation} global '");
        if let Some(name) = between(&start, "' (a nil value)") {
            return Some(MissingName::Global(name));
        }
    }
    for kind in ["field", "method"] {
        let start = format!("attempt to call {kind} '");
        if let Some(name) = between(&start, "' (a nil value)") {
            return Some(MissingName::Called(name));
        }
    }
    for kind in ["local", "upvalue", "global", "field"] {
        let start = format!("attempt to index {kind} '");
        if let Some(name) = between(&start, "' (a number value)") {
            return Some(MissingName::Number(name));
        }
    }
    None
}

unsafe fn no_global(l: *mut lua_State, level: Option<c_int>, name: &str) -> String {
    if name == "love" {
        return format!(": {NO_LOVE}");
    }
    if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
        return format!(": games do not have Lua's '{name}': {why}");
    }
    // SAFETY: as for `hint_for`.
    let names = unsafe {
        let mut names = level.map_or_else(Vec::new, |level| variables(l, level));
        names.extend(string_keys(l, LUA_GLOBALSINDEX));
        names
    };
    let mut hint = suggest::hint(name, names.iter().map(String::as_str));
    if hint.is_empty()
        && let Some(meaning) = familiar_names::meaning(name)
    {
        hint = format!(", {meaning}");
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
    let is_name = !table.is_empty() && table.chars().all(|c| is_of_name(c) || c == '.');
    is_name.then(|| format!(": write pairs({table}) or, for a list, ipairs({table})"))
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

unsafe fn no_function(l: *mut lua_State, source: &str, name: &str) -> Option<String> {
    let (table, sign) = word_before(source, name)?;
    // SAFETY: as for `hint_for`.
    unsafe {
        lua_pushlstring(l, table.as_ptr().cast(), table.len());
        lua_rawget(l, LUA_GLOBALSINDEX);
        if lua_type(l, -1) == LUA_TTABLE {
            let names = string_keys(l, -1);
            let hint = match equivalent(table, name) {
                Some(other) if other == table => format!(": write {other}(…)"),
                Some(other) => format!(", did you mean {other}?"),
                None => suggest::hint_of_functions(name, names.iter().map(String::as_str)),
            };
            return Some(format!(": {table} has no function '{name}'{hint}"));
        }
        // A method of a local variable, most likely a string.
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

/// How a line uses a number as if it were an object.
enum ObjectUse<'a> {
    Method(&'a str),
    /// `unit.position`
    Read(&'a str),
    /// `unit.position = p`
    Write(&'a str),
}

/// Returns the hint for a method call on a number, or for one of its fields. Engine objects are
/// numbers, which have neither, so the hint shows how to write the call instead.
unsafe fn on_a_number(
    l: *mut lua_State,
    source: &str,
    name: &str,
    kind: Option<HandleKind>,
) -> Option<String> {
    let used = object_use(source, name)?;
    let (wanted, absent) = match used {
        ObjectUse::Method(method) => (method.to_string(), "methods"),
        ObjectUse::Read(field) => (field.to_string(), "fields"),
        ObjectUse::Write(field) => (format!("set_{field}"), "fields"),
    };
    // A number that is no handle of a known kind may be any number.
    if kind.is_none() && absent == "fields" {
        return None;
    }
    let module = kind.map_or("Unit", HandleKind::name);
    let hint_start =
        kind.map(HandleKind::noun).map(|word| format!("{name} is {} {word}, and ", article(word)));
    let hint_start = hint_start.unwrap_or_default();
    // SAFETY: as for `hint_for`.
    let functions = unsafe {
        lua_pushlstring(l, module.as_ptr().cast(), module.len());
        lua_rawget(l, LUA_GLOBALSINDEX);
        if lua_type(l, -1) == LUA_TTABLE { string_keys(l, -1) } else { Vec::new() }
    };
    let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
    let near = || {
        let near = suggest::nearest(&wanted, functions.iter().copied());
        let fits = || suggest::names_by_parts(&wanted, functions.iter().copied()).first().copied();
        near.or_else(fits)
    };
    let call = match (kind, equivalent(module, &wanted)) {
        (Some(_), _) if functions.contains(&wanted.as_str()) => {
            format!("{module}.{wanted}({name}, …)")
        }
        (Some(_), Some(other)) if other.starts_with(&format!("{module}.")) => {
            format!("{other}({name}, …)")
        }
        (Some(_), Some(other)) => other.to_string(),
        (Some(_), None) => near().map_or_else(
            || format!("{module}.NAME({name}, …)"),
            |near| format!("{module}.{near}({name}, …)"),
        ),
        (None, _) => format!("{module}.NAME({name}, …)"),
    };
    let other = if kind.is_none() { ", or the module that it belongs to" } else { "" };
    Some(format!(": {hint_start}engine objects are numbers without {absent}: write {call}{other}"))
}

/// Returns how a source line uses `name` as an object.
fn object_use<'a>(source: &'a str, name: &str) -> Option<ObjectUse<'a>> {
    let after = |sign: char| {
        let path = format!("{name}{sign}");
        let starts = source.match_indices(&path).map(|(at, _)| at);
        let at = starts.filter(|at| !source[..*at].ends_with(is_of_name)).last()?;
        let rest = &source[at + path.len()..];
        let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        (end > 0).then(|| (&rest[..end], rest[end..].trim_start()))
    };
    if let Some((method, rest)) = after(':')
        && !rest.is_empty()
    {
        return Some(ObjectUse::Method(method));
    }
    let (field, rest) = after('.')?;
    let is_written = rest.starts_with('=') && !rest.starts_with("==");
    Some(if is_written { ObjectUse::Write(field) } else { ObjectUse::Read(field) })
}

/// Returns the handle kind of a variable of the function at `level`.
unsafe fn kind_of(l: *mut lua_State, level: c_int, name: &str) -> Option<HandleKind> {
    let mut ar = MaybeUninit::<lua_Debug>::zeroed();
    // SAFETY: as for `hint_for`; the record is filled by lua_getstack before it is read.
    unsafe {
        if lua_checkstack(l, 4) == 0 || lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
            return None;
        }
        let ar = ar.as_mut_ptr();
        let is_it = |found: *const c_char| CStr::from_ptr(found).to_bytes() == name.as_bytes();
        // The last variable of that name shadows the others.
        let mut number = None;
        for i in 1.. {
            let found = lua_getlocal(l, ar, i);
            if found.is_null() {
                break;
            }
            if is_it(found) && lua_type(l, -1) == LUA_TNUMBER {
                number = Some(lua_tonumber(l, -1));
            }
            lua_settop(l, -2);
        }
        if number.is_none() {
            lua_getinfo(l, c"f".as_ptr(), ar);
            for i in 1.. {
                let found = lua_getupvalue(l, -1, i);
                if found.is_null() {
                    break;
                }
                if is_it(found) && lua_type(l, -1) == LUA_TNUMBER {
                    number = Some(lua_tonumber(l, -1));
                }
                lua_settop(l, -2);
            }
        }
        if number.is_none() {
            lua_pushlstring(l, name.as_ptr().cast(), name.len());
            lua_rawget(l, LUA_GLOBALSINDEX);
            number = (lua_type(l, -1) == LUA_TNUMBER).then(|| lua_tonumber(l, -1));
        }
        HandleKind::of(Handle::from_number(number?)?)
    }
}

/// Returns the names of the variables of the function at `level`.
unsafe fn variables(l: *mut lua_State, level: c_int) -> Vec<String> {
    let mut names = Vec::new();
    let mut ar = MaybeUninit::<lua_Debug>::zeroed();
    // SAFETY: as for `kind_of`; names that are read live as long as the function.
    unsafe {
        if lua_checkstack(l, 4) == 0 || lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
            return names;
        }
        let ar = ar.as_mut_ptr();
        for i in 1.. {
            let found = lua_getlocal(l, ar, i);
            if found.is_null() {
                break;
            }
            names.push(CStr::from_ptr(found).to_string_lossy().into_owned());
            lua_settop(l, -2);
        }
        lua_getinfo(l, c"f".as_ptr(), ar);
        for i in 1.. {
            let found = lua_getupvalue(l, -1, i);
            if found.is_null() {
                break;
            }
            names.push(CStr::from_ptr(found).to_string_lossy().into_owned());
            lua_settop(l, -2);
        }
        lua_settop(l, -2);
    }
    // LuaJIT's own variables have names such as `(for index)`.
    names.retain(|name| name.chars().all(is_of_name) && !name.is_empty());
    names
}

/// Returns the word before `.name` or `:name` in a line of source, and the separator between them.
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
    // SAFETY: lua_next with a key that it returned itself does not raise; keys are not converted.
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
    fn the_table_of_a_misspelt_call_is_parsed_from_the_line() {
        assert_eq!(word_before("  World.updte(world, dt)", "updte"), Some(("World", '.')));
        assert_eq!(word_before("local a = s:splt(1)", "splt"), Some(("s", ':')));
        assert_eq!(word_before("updte()", "updte"), None);
    }

    #[test]
    fn uses_of_a_number_as_an_object_are_parsed_from_the_line() {
        let used = |source: &str, name: &str| match object_use(source, name) {
            Some(ObjectUse::Method(name)) => format!(":{name}"),
            Some(ObjectUse::Read(name)) => format!(".{name}"),
            Some(ObjectUse::Write(name)) => format!(".{name} ="),
            None => String::new(),
        };
        assert_eq!(used("  w:update(1)", "w"), ":update");
        assert_eq!(used("  w.x = 1", "w"), ".x =");
        assert_eq!(used("if u.x == 1 then", "u"), ".x");
        assert_eq!(used("local p = menu.x + u.position", "u"), ".position");
        assert_eq!(used("local p = menu.x", "u"), "");
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
        assert_eq!(iterator_of("items()"), None);
        assert_eq!(iterator_of("for i, v in f() do"), None);
    }

    #[test]
    fn an_overflow_without_a_location_has_a_remedy() {
        assert!(overflow_message("main.lua:1: stack overflow").is_some());
        assert!(overflow_message("error in error handling").is_none());
    }
}
