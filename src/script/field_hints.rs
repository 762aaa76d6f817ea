//! Hints for fields: those that a table does not have, and those of engine objects, which are
//! numbers.

use super::familiar_names::equivalent;
use super::function_hints;
use super::handle_hints::article;
use super::lua_variables::{self, is_of_name, string_keys};
use engine_foundation::{Handle, HandleKind, suggest};
use mlua::ffi::*;
use std::ffi::c_int;

/// Maximum number of fields of a table that a hint lists.
const FIELDS_SHOWN: usize = 6;

/// How a line uses a number as if it were an object.
#[derive(Debug, PartialEq)]
enum ObjectUse<'a> {
    Method(&'a str),
    /// `unit.position`
    Read(&'a str),
    /// `unit.position = p`
    Write(&'a str),
}

/// Returns the hint for a field that is nil: of a module of the API, or of a table with a similar
/// field.
///
/// # Safety
/// `l` is a live state with a few free slots.
pub unsafe fn no_field(
    l: *mut lua_State,
    level: Option<c_int>,
    source: &str,
    name: &str,
) -> Option<String> {
    let owner = owner_of(source, name)?;
    // SAFETY: as the caller promised.
    unsafe {
        lua_variables::push_path(l, level, owner);
        if lua_type(l, -1) != LUA_TTABLE {
            return None;
        }
        let fields = string_keys(l, -1);
        if function_hints::is_module(l, owner) {
            let hint = function_hints::other_name(l, owner, name, &fields).unwrap_or_default();
            return Some(format!(": {owner} has no '{name}'{hint}"));
        }
        let mut fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        fields.retain(|field| field.chars().all(is_of_name));
        if let Some(near) = suggest::nearest(name, fields.iter().copied()) {
            return Some(format!(": {owner} has no field '{name}', did you mean '{near}'?"));
        }
        fields.sort_unstable();
        fields.dedup();
        let is_short = (1..=FIELDS_SHOWN).contains(&fields.len());
        is_short.then(|| format!(": {owner} has no field '{name}', it has {}", fields.join(", ")))
    }
}

/// Returns the hint for a method call on a number, or for one of its fields. Engine objects are
/// numbers, which have neither, so the hint shows how to write the call instead.
///
/// # Safety
/// As for [`no_field`].
pub unsafe fn on_a_number(
    l: *mut lua_State,
    level: Option<c_int>,
    source: &str,
    name: &str,
) -> Option<String> {
    let used = object_use(source, name)?;
    let object = match owner_of(source, name) {
        Some(owner) => format!("{owner}.{name}"),
        None => name.to_string(),
    };
    // SAFETY: as the caller promised.
    let kind = unsafe { kind_of(l, level, &object) };
    let (wanted, absent) = match used {
        ObjectUse::Method(method) => (method.to_string(), "methods"),
        ObjectUse::Read(field) => (field.to_string(), "fields"),
        ObjectUse::Write(field) => (format!("set_{field}"), "fields"),
    };
    let Some(kind) = kind else {
        // A number that is no handle may be any number.
        return (absent == "methods").then(|| {
            format!(
                ": engine objects are numbers without methods: write Unit.NAME({object}, …), or \
                 the module that it belongs to"
            )
        });
    };
    let module = kind.name();
    // SAFETY: as the caller promised.
    let functions = unsafe {
        lua_variables::push(l, None, module);
        if lua_type(l, -1) == LUA_TTABLE { string_keys(l, -1) } else { Vec::new() }
    };
    let call = call_of(module, &wanted, &object, &functions);
    let noun = kind.noun();
    let a = article(noun);
    Some(format!(
        ": {object} is {a} {noun}, and engine objects are numbers without {absent}: write {call}"
    ))
}

/// Returns the call of a module's function that most likely means `wanted`.
fn call_of(module: &str, wanted: &str, object: &str, functions: &[String]) -> String {
    let names = || functions.iter().map(String::as_str);
    if names().any(|name| name == wanted) {
        return format!("{module}.{wanted}({object}, …)");
    }
    if let Some(other) = equivalent(module, wanted) {
        let is_own = other.starts_with(&format!("{module}."));
        return if is_own { format!("{other}({object}, …)") } else { other.to_string() };
    }
    let fits = || suggest::names_by_parts(wanted, names()).first().copied();
    let near = suggest::nearest(wanted, names()).or_else(fits).unwrap_or("NAME");
    format!("{module}.{near}({object}, …)")
}

/// Returns the handle kind of the value of a path.
unsafe fn kind_of(l: *mut lua_State, level: Option<c_int>, path: &str) -> Option<HandleKind> {
    // SAFETY: as for `no_field`.
    unsafe {
        lua_variables::push_path(l, level, path);
        let number = (lua_type(l, -1) == LUA_TNUMBER).then(|| lua_tonumber(l, -1));
        HandleKind::of(Handle::from_number(number?)?)
    }
}

/// Returns the path before `.name` in a line of source: `game.player` before `.hp`.
pub fn owner_of<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let dotted = format!(".{name}");
    let ends = source.match_indices(&dotted).map(|(at, _)| at);
    let at = ends.filter(|at| !source[at + dotted.len()..].starts_with(is_of_name)).last()?;
    let before = &source[..at];
    let start = before.rfind(|c: char| !is_of_name(c) && c != '.');
    let path =
        &before[start.map_or(0, |i| i + before[i..].chars().next().map_or(1, char::len_utf8))..];
    // A text may be joined with the path: `"hp "..game.player.hp`.
    let path = path.strip_prefix("..").unwrap_or(path);
    let is_path = path.split('.').all(|part| part.starts_with(|c: char| !c.is_ascii_digit()));
    is_path.then_some(path)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_of_a_field_is_read_from_the_line() {
        assert_eq!(owner_of("local hp = game.player.hp + 1", "hp"), Some("game.player"));
        assert_eq!(owner_of("x = Math.pi * 2", "pi"), Some("Math"));
        assert_eq!(owner_of("x = \"ä\"..a.b", "b"), Some("a"));
        assert_eq!(owner_of("x = f().hp", "hp"), None);
        assert_eq!(owner_of("x = a[1].hp", "hp"), None);
        assert_eq!(owner_of("x = hpx.hpx", "hp"), None);
        assert_eq!(owner_of("x = 1", "hp"), None);
    }

    #[test]
    fn uses_of_a_number_as_an_object_are_parsed_from_the_line() {
        let check = |source: &str, name: &str, wanted: Option<ObjectUse>| {
            assert_eq!(object_use(source, name), wanted, "{source}");
        };
        check("  w:update(1)", "w", Some(ObjectUse::Method("update")));
        check("  w.x = 1", "w", Some(ObjectUse::Write("x")));
        check("if u.x == 1 then", "u", Some(ObjectUse::Read("x")));
        check("local p = menu.x + u.position", "u", Some(ObjectUse::Read("position")));
        check("local p = menu.x", "u", None);
    }

    #[test]
    fn calls_for_fields_of_objects_are_real_functions() {
        let functions = ["set_local_position", "world_position", "name"].map(str::to_string);
        let check = |wanted: &str, call: &str| {
            assert_eq!(call_of("Unit", wanted, "u", &functions), call);
        };
        check("name", "Unit.name(u, …)");
        check("x", "Unit.world_position(u, …)");
        check("set_x", "Unit.set_local_position(u, …)");
        check("set_colour_of_hat", "Unit.NAME(u, …)");
    }
}
