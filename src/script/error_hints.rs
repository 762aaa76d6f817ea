//! Hints after error messages: the name that was probably meant, or the correct form of a call.
//! Reads the text of the message and the script's globals; changes nothing.

use super::context::ScriptContext;
use super::describe_value::bytes;
use super::docgen::standard_library::{ABSENT, NO_LOVE};
use super::handle_hints::article;
use super::report::SourceLocation;
use engine_foundation::{Handle, HandleKind, suggest};
use mlua::ffi::*;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;

/// LuaJIT's messages for a full stack, and for a stack full of native calls.
const OVERFLOWS: [&str; 2] = ["stack overflow", "C stack overflow"];

/// Function names that users look for but that do not exist, with the functions that exist instead.
const EQUIVALENTS: &[(&str, &str)] = &[
    ("Actor.apply_force", "Actor.add_force"),
    ("Actor.apply_impulse", "Actor.add_impulse"),
    ("Actor.set_position", "Actor.teleport_position"),
    ("Actor.set_rotation", "Actor.teleport_rotation"),
    ("Camera.look_at", "Quaternion.look"),
    ("Camera.new", "Application.create_camera"),
    ("Gui.create", "World.create_screen_gui"),
    ("Gui.draw", "Gui.bitmap"),
    ("Gui.image", "Gui.bitmap"),
    ("Gui.draw_image", "Gui.bitmap"),
    ("Gui.new", "World.create_screen_gui"),
    ("Gui.print", "Gui.text"),
    ("Keyboard.down", "Keyboard.button"),
    ("Keyboard.held", "Keyboard.button"),
    ("Keyboard.is_down", "Keyboard.button"),
    ("Level.destroy", "World.destroy_level"),
    ("Level.load", "World.spawn_level"),
    ("Level.spawn", "World.spawn_level"),
    ("Mouse.down", "Mouse.button"),
    ("Mouse.is_down", "Mouse.button"),
    ("Mouse.position", "Mouse.axis"),
    ("PhysicsWorld.on_collision", "PhysicsWorld.contacts"),
    ("PhysicsWorld.on_contact", "PhysicsWorld.contacts"),
    ("PhysicsWorld.on_trigger", "PhysicsWorld.triggers"),
    ("Quaternion.look_at", "Quaternion.look"),
    ("Sound.load", "Sound.preload"),
    ("Sound.play", "Sound.trigger"),
    ("Texture.create", "Texture.load"),
    ("Texture.new", "Texture.load"),
    ("Unit.create", "World.spawn_unit"),
    ("Unit.destroy", "World.destroy_unit"),
    ("Unit.look_at", "Quaternion.look"),
    ("Unit.new", "World.spawn_unit"),
    ("Unit.set_velocity", "Actor.set_velocity"),
    ("Unit.spawn", "World.spawn_unit"),
    ("Unit.velocity", "Actor.velocity"),
    ("World.create", "Application.new_world"),
    ("World.destroy", "Application.release_world"),
    ("World.new", "Application.new_world"),
    ("World.raycast", "PhysicsWorld.raycast"),
];

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
            Some(MissingName::Global(name)) => no_global(l, name),
            Some(MissingName::Called(name)) => no_function(l, source, name).unwrap_or_default(),
            Some(MissingName::Number(name)) => {
                let kind = level.and_then(|level| kind_of(l, level, name));
                on_a_number(l, source, name, kind).unwrap_or_default()
            }
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
}

/// Parses LuaJIT's own messages.
fn missing(message: &str) -> Option<MissingName<'_>> {
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

unsafe fn no_global(l: *mut lua_State, name: &str) -> String {
    if name == "love" {
        return format!(": {NO_LOVE}");
    }
    if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| *absent == name) {
        return format!(": games do not have Lua's '{name}': {why}");
    }
    // SAFETY: as for `hint_for`.
    let names = unsafe { string_keys(l, LUA_GLOBALSINDEX) };
    let hint = suggest::hint(name, names.iter().map(String::as_str));
    format!(": there is no global '{name}'{hint}")
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

/// Returns the equivalent of a function that users look for under another name.
fn equivalent(module: &str, name: &str) -> Option<&'static str> {
    let wanted = |known: &str| known.split_once('.') == Some((module, name));
    EQUIVALENTS.iter().find(|(known, _)| wanted(known)).map(|(_, other)| *other)
}

/// Returns every name of [`EQUIVALENTS`] with its equivalent.
#[cfg(test)]
pub fn all_equivalents() -> &'static [(&'static str, &'static str)] {
    EQUIVALENTS
}

/// Returns the hint for a method call on a number. Engine objects are numbers, which have no
/// methods, so the hint shows how to write the call instead.
unsafe fn on_a_number(
    l: *mut lua_State,
    source: &str,
    name: &str,
    kind: Option<HandleKind>,
) -> Option<String> {
    let method = method_of(source, name)?;
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
        let near = suggest::nearest(method, functions.iter().copied());
        let fits = || suggest::names_by_parts(method, functions.iter().copied()).first().copied();
        near.or_else(fits)
    };
    let call = match (kind, equivalent(module, method)) {
        (Some(_), _) if functions.contains(&method) => format!("{module}.{method}({name}, …)"),
        (Some(_), Some(other)) => other.to_string(),
        (Some(_), None) => near().map_or_else(
            || format!("{module}.NAME({name}, …)"),
            |near| format!("{module}.{near}({name}, …)"),
        ),
        (None, _) => format!("{module}.NAME({name}, …)"),
    };
    let other = if kind.is_none() { ", or the module that it belongs to" } else { "" };
    Some(format!(": {hint_start}engine objects are numbers without methods: write {call}{other}"))
}

/// Returns the name of the method that a source line calls on `name`.
fn method_of<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let rest = &source[source.find(&format!("{name}:"))? + name.len() + 1..];
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(&rest[..end])
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
    fn a_method_call_on_a_number_is_parsed_from_the_line() {
        assert_eq!(method_of("  w:update(1)", "w"), Some("update"));
        assert_eq!(method_of("  w.x = 1", "w"), None);
    }

    #[test]
    fn an_overflow_without_a_location_has_a_remedy() {
        assert!(overflow_message("main.lua:1: stack overflow").is_some());
        assert!(overflow_message("error in error handling").is_none());
    }
}
