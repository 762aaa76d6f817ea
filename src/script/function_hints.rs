//! Hints for functions that a table does not have: the name of another engine, a similar name, the
//! module that has the function. Also hints for arguments that another engine's function takes.

use super::docgen::standard_library::{ABSENT, LIBRARIES};
use super::lua_variables::{self, is_of_name, push_field, string_keys};
use super::{api, familiar_names, porting_layer, porting_table};
use engine_foundation::suggest;
use mlua::ffi::*;
use std::ffi::c_int;

/// Maximum number of modules that a hint names because they have a function of that name.
const MODULES_MAX: usize = 2;

/// Beginnings of messages about arguments, after the name of the function.
const ARGUMENT_PROBLEMS: [&str; 2] = ["argument ", "takes "];

/// Returns the hint for a call of a function that is nil: `World.updte(world)`, `text:splt()`.
///
/// # Safety
/// `l` is a live state with a few free slots.
pub unsafe fn no_function(
    l: *mut lua_State,
    level: Option<c_int>,
    source: &str,
    name: &str,
) -> Option<String> {
    let (table, sign) = word_before(source, name)?;
    let absent = format!("{table}.{name}");
    if let Some((_, why)) = ABSENT.iter().find(|(known, _)| *known == absent) {
        return Some(format!(": games do not have Lua's '{absent}': {why}"));
    }
    // SAFETY: as the caller promised.
    unsafe {
        lua_variables::push(l, level, table);
        if lua_type(l, -1) == LUA_TTABLE {
            let names = string_keys(l, -1);
            let hint = match is_module(l, table) {
                true => other_name(l, table, name, &names),
                false => Some(suggest::hint_of_functions(name, names.iter().map(String::as_str))),
            };
            return Some(format!(": {table} has no function '{name}'{}", hint.unwrap_or_default()));
        }
        // A method of a local variable, most likely a string.
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        push_field(l, lua_gettop(l), "string");
        if sign != ':' || lua_type(l, -1) != LUA_TTABLE {
            return None;
        }
        let names = string_keys(l, -1);
        let near = suggest::nearest(name, names.iter().map(String::as_str))?;
        Some(format!(": if '{table}' is a string, did you mean '{near}'?"))
    }
}

/// Returns true if a name is that of a table of the API, of Lua's own library, or of the porting
/// layer, if the game has loaded it.
///
/// # Safety
/// As for [`no_function`].
pub unsafe fn is_module(l: *mut lua_State, name: &str) -> bool {
    // SAFETY: as the caller promised; the values are popped again.
    unsafe {
        let top = lua_gettop(l);
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        push_field(l, lua_gettop(l), "api");
        let mut is_api = false;
        if lua_type(l, -1) == LUA_TTABLE {
            push_field(l, lua_gettop(l), name);
            is_api = lua_type(l, -1) == LUA_TTABLE;
        }
        lua_settop(l, top);
        is_api
            || !name.is_empty() && LIBRARIES.iter().any(|library| library.name == name)
            || porting_layer::module(name).is_some() && has_layer(l)
    }
}

/// Returns true if the game has loaded the porting layer.
///
/// # Safety
/// As for [`no_function`].
pub unsafe fn has_layer(l: *mut lua_State) -> bool {
    // SAFETY: as the caller promised; the value is popped again.
    unsafe {
        lua_variables::push(l, None, porting_layer::GLOBALS);
        let has = lua_type(l, -1) == LUA_TTABLE;
        lua_settop(l, -2);
        has
    }
}

/// Returns the hint for a function or a constant that a module of the API or of Lua does not have.
/// `names` are those that it has.
///
/// # Safety
/// As for [`no_function`].
pub unsafe fn other_name(
    l: *mut lua_State,
    module: &str,
    name: &str,
    names: &[String],
) -> Option<String> {
    if let Some(here) = porting_table::missing(module, Some(name)) {
        return Some(here);
    }
    match familiar_names::equivalent(module, name) {
        Some(other) if other == module => return Some(format!(": write {other}(…)")),
        Some(other) => return Some(format!(", did you mean {other}?")),
        None => {}
    }
    let names = || names.iter().map(String::as_str);
    if let Some(near) = suggest::nearest(name, names()) {
        return Some(format!(", did you mean '{near}'?"));
    }
    // SAFETY: as the caller promised.
    if let Some(sibling) = unsafe { sibling_with(l, module, name) } {
        return Some(format!(", did you mean {sibling}.{name}?"));
    }
    let by_parts = suggest::hint_of_functions(name, names());
    if !by_parts.is_empty() {
        return Some(by_parts);
    }
    let is_api = api::MODULES.iter().any(|rows| rows.name == module);
    if !is_api && let Some(here) = porting_table::answer(module, None) {
        return Some(here);
    }
    let others = modules_with(name);
    if (1..=MODULES_MAX).contains(&others.len()) {
        let others: Vec<String> = others.iter().map(|other| format!("{other}.{name}")).collect();
        return Some(format!(", did you mean {}?", others.join(" or ")));
    }
    familiar_names::meaning(name).map(|meaning| format!(", {meaning}"))
}

/// Returns the hint for a message about arguments (`World.update: argument #1 …`) if the function
/// takes other arguments in Stingray.
///
/// # Safety
/// As for [`no_function`].
pub unsafe fn other_arguments(l: *mut lua_State, message: &str) -> Option<String> {
    let (path, problem) = message.split_once(": ")?;
    let (module, function) = path.split_once('.')?;
    let is_name = module.chars().chain(function.chars()).all(is_of_name);
    if !is_name || !ARGUMENT_PROBLEMS.iter().any(|start| problem.starts_with(start)) {
        return None;
    }
    // Functions of cameras take units there, and no texts.
    if module == "Camera" && problem.contains(", got string ") {
        return None;
    }
    // SAFETY: as the caller promised.
    porting_table::other_arguments(module, function, unsafe { has_layer(l) })
}

/// Returns the module that differs from this one only by upper and lower case, and has the name:
/// `Math` and `math`.
unsafe fn sibling_with(l: *mut lua_State, module: &str, name: &str) -> Option<String> {
    let mut letters = module.chars();
    let first = letters.next()?;
    let other: String = match first.is_uppercase() {
        true => module.to_lowercase(),
        false => first.to_uppercase().chain(letters).collect(),
    };
    if other == module {
        return None;
    }
    // SAFETY: as for `no_function`.
    unsafe {
        lua_variables::push(l, None, &other);
        let is_table = lua_type(l, -1) == LUA_TTABLE;
        let has = is_table && string_keys(l, -1).iter().any(|known| known == name);
        lua_settop(l, -2);
        has.then_some(other)
    }
}

/// Returns the modules of the API that have a function of this name, as far as rows declare it.
fn modules_with(name: &str) -> Vec<&'static str> {
    let rows = api::MODULES.iter().filter(|rows| rows.funcs.iter().any(|row| row.name == name));
    let mut modules: Vec<&str> = rows.map(|rows| rows.name).collect();
    modules.sort_unstable();
    modules.dedup();
    modules
}

/// Returns the word before `.name` or `:name` in a line of source, and the separator between them.
fn word_before<'a>(source: &'a str, name: &str) -> Option<(&'a str, char)> {
    let find = |sign: char| {
        let dotted = format!("{sign}{name}");
        let starts = source.match_indices(&dotted).map(|(at, _)| at);
        let mut whole = starts.filter(|at| !source[at + dotted.len()..].starts_with(is_of_name));
        Some((whole.next()?, sign))
    };
    let (at, sign) = find('.').or_else(|| find(':'))?;
    let before = &source[..at];
    let start = before.rfind(|c: char| !is_of_name(c));
    let start = start.map_or(0, |i| i + before[i..].chars().next().map_or(1, char::len_utf8));
    let word = &before[start..];
    (!word.is_empty()).then_some((word, sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_misspelt_call_is_parsed_from_the_line() {
        assert_eq!(word_before("  World.updte(world, dt)", "updte"), Some(("World", '.')));
        assert_eq!(word_before("local a = s:splt(1)", "splt"), Some(("s", ':')));
        assert_eq!(word_before("Gui.rectangle(a) Gui.rect2(b)", "rect"), None);
        assert_eq!(word_before("\"ä\"..x:updte()", "updte"), Some(("x", ':')));
        assert_eq!(word_before("updte()", "updte"), None);
    }

    #[test]
    fn modules_with_a_function_are_found() {
        assert_eq!(modules_with("set_fullscreen"), ["Window"]);
        assert_eq!(modules_with("no_such_function"), Vec::<&str>::new());
    }
}
