//! What an unexpected error leaves behind: its words, where the engine and the script were, and the
//! script's stack with source lines, locals and upvalues. Made where the error is raised, before
//! anything is unwound.

use super::cx::Cx;
use super::describe::{ENGINE_CHUNK, chunk_name, describe, literal};
use crate::foundation::{context, suggest};
use mlua::ffi::*;
use std::ffi::{CStr, c_char, c_int};
use std::mem::MaybeUninit;

/// A deeper stack is shown by this many frames at each end.
const FRAMES_SHOWN: usize = 12;
/// At most this many locals and upvalues are shown of a frame.
const VARIABLES_MAX: c_int = 24;
/// Locals are shown of this many innermost frames of the game.
const FRAMES_WITH_VARIABLES: usize = 6;

/// A source position.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub file: String,
    pub line: u32,
}

/// One line of a stack.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Where, for a function of the game's; an engine function has no place.
    pub place: Option<Place>,
    /// `function 'fire'`, `main chunk`, `engine function 'play'`.
    pub what: String,
    /// The text of the line.
    pub source: String,
    /// Names and values, in order of declaration.
    pub locals: Vec<(String, String)>,
    pub upvalues: Vec<(String, String)>,
    /// Frames left out after this one.
    pub left_out: usize,
}

/// An unexpected error.
#[derive(Clone, Debug)]
pub struct Report {
    /// What the engine was doing, outermost first.
    pub contexts: Vec<String>,
    pub message: String,
    pub place: Option<Place>,
    /// The text of that line.
    pub source: String,
    /// Innermost first.
    pub frames: Vec<Frame>,
    /// The stack of the coroutine that the error came out of.
    pub coroutine: Vec<Frame>,
    /// Whether the script was stopped by the engine, and must not go on.
    pub stopped: bool,
}

impl Report {
    /// A report of something that has no script's stack.
    pub fn of_words(message: impl Into<String>) -> Report {
        Report {
            contexts: context::lines(),
            message: message.into(),
            place: None,
            source: String::new(),
            frames: Vec::new(),
            coroutine: Vec::new(),
            stopped: false,
        }
    }
}

/// The message handler of every protected call into Lua.
///
/// # Safety
/// Called by Lua only, with the error's value at 1.
pub unsafe extern "C-unwind" fn handler(l: *mut lua_State) -> c_int {
    // SAFETY: the state belongs to a VM of ours; nothing below raises.
    unsafe {
        let cx = Cx::of(l);
        cx.memory.lenient += 1;
        if cx.report.is_none() {
            let words = error_words(l, 1, cx);
            // Level 0 is this handler.
            let report = capture(l, cx, &words, 1);
            cx.report = Some(Box::new(report));
        }
        cx.memory.lenient -= 1;
        1
    }
}

/// The words of an error's value, which may be anything.
///
/// # Safety
/// `l` is a live state and `i` a position in it.
pub unsafe fn error_words(l: *mut lua_State, i: c_int, cx: &Cx) -> String {
    // SAFETY: as the caller promised.
    unsafe {
        match lua_type(l, i) {
            LUA_TSTRING => CStr::from_ptr(lua_tolstring(l, i, std::ptr::null_mut()))
                .to_string_lossy()
                .into_owned(),
            LUA_TNUMBER => super::describe::number(lua_tonumber(l, i)),
            LUA_TTABLE => format!("error with a table as its value: {}", literal(l, i, cx)),
            LUA_TNIL | LUA_TNONE => "error with nil as its value: `error` was called without a \
                                     message, or with a variable that is nil"
                .to_string(),
            _ => format!("error with a value of another kind: {}", describe(l, i, cx)),
        }
    }
}

/// A report of an error with these words, with the stack from `level` outwards.
///
/// # Safety
/// `l` is the state that raised, inside its message handler, hook or after its death.
pub unsafe fn capture(l: *mut lua_State, cx: &mut Cx, words: &str, level: c_int) -> Report {
    // SAFETY: as the caller promised.
    let (frames, script_contexts) = unsafe { frames(l, cx, level) };
    let (place, message) = split_place(words);
    let first = frames.iter().find_map(|frame| frame.place.clone());
    let place = place.or(first);
    let mut contexts = context::lines();
    contexts.extend(script_contexts);
    if let Some((its, lines)) = cx.error_contexts.take() {
        // An engine function's own lines, inside the ones that were there when it was called.
        let common = lines.iter().zip(&contexts).take_while(|(a, b)| a == b).count();
        if message.ends_with(&its) {
            contexts.extend(lines.into_iter().skip(common));
        }
    }
    // SAFETY: as the caller promised.
    let coroutine = unsafe { dead_coroutine(l, cx, message) };
    let source = place.as_ref().map(|place| source_line(cx, place)).unwrap_or_default();
    // SAFETY: as the caller promised.
    let hint = unsafe { misspelt(l, message, &source) };
    Report {
        contexts,
        message: format!("{message}{hint}"),
        place,
        source,
        frames,
        coroutine,
        stopped: false,
    }
}

/// The stack of the coroutine that died with these words, if the error came out of one.
unsafe fn dead_coroutine(l: *mut lua_State, cx: &Cx, message: &str) -> Vec<Frame> {
    let mut found = Vec::new();
    // SAFETY: raw reads, popped again. A coroutine that died of an error keeps its stack, with the
    // error's value on top of it.
    unsafe {
        let top = lua_gettop(l);
        lua_getfield(l, LUA_REGISTRYINDEX, c"engine.core".as_ptr());
        lua_pushlstring(l, c"coroutines".as_ptr(), 10);
        lua_rawget(l, -2);
        if lua_type(l, -1) == LUA_TTABLE {
            lua_pushnil(l);
            while lua_next(l, -2) != 0 {
                let thread = lua_tothread(l, -2);
                lua_settop(l, -2);
                let dead = !thread.is_null() && thread != l && lua_status(thread) > LUA_YIELD;
                if dead && lua_gettop(thread) > 0 && lua_type(thread, -1) == LUA_TSTRING {
                    let words = error_words(thread, -1, cx);
                    if message.ends_with(split_place(&words).1) {
                        (found, _) = frames(thread, cx, 0);
                    }
                }
            }
        }
        lua_settop(l, top);
    }
    found
}

/// Takes `main.lua:12: ` off the front of a message.
fn split_place(words: &str) -> (Option<Place>, &str) {
    let split = || {
        let (file, rest) = words.split_once(".lua:")?;
        let (line, message) = rest.split_once(": ")?;
        let line = line.parse().ok()?;
        let file = format!("{file}.lua");
        (!file.contains(['\n', ' '])).then_some((Some(Place { file, line }), message))
    };
    split().unwrap_or((None, words))
}

fn source_line(cx: &Cx, place: &Place) -> String {
    let text = cx.sources.get(&place.file);
    let line = text.and_then(|text| text.lines().nth(place.line.checked_sub(1)? as usize));
    line.unwrap_or_default().to_string()
}

/// Frames from `level` outwards, and the lines of `Script.context` among them, outermost first.
///
/// # Safety
/// As for [`capture`].
pub unsafe fn frames(l: *mut lua_State, cx: &Cx, level: c_int) -> (Vec<Frame>, Vec<String>) {
    let (mut frames, mut contexts) = (Vec::new(), Vec::new());
    // SAFETY: the record is filled by lua_getstack before it is read.
    unsafe {
        let depth = depth(l, level);
        if lua_checkstack(l, 12) == 0 {
            return (frames, contexts);
        }
        let mut level = level;
        while level < depth {
            let mut ar = MaybeUninit::<lua_Debug>::zeroed();
            if lua_getstack(l, level, ar.as_mut_ptr()) == 0 {
                break;
            }
            let skip = depth as usize > FRAMES_SHOWN * 2 && frames.len() == FRAMES_SHOWN;
            if skip && level + (FRAMES_SHOWN as c_int) < depth {
                let to = depth - FRAMES_SHOWN as c_int;
                if let Some(last) = frames.last_mut() {
                    let last: &mut Frame = last;
                    last.left_out = (to - level) as usize;
                }
                level = to;
                continue;
            }
            lua_getinfo(l, c"nSlu".as_ptr(), ar.as_mut_ptr());
            let ar = ar.assume_init_mut();
            if let Some(line) = script_context(l, ar) {
                contexts.push(line);
            } else if let Some(frame) = frame(l, cx, ar, frames.len()) {
                frames.push(frame);
            }
            level += 1;
        }
    }
    contexts.reverse();
    (frames, contexts)
}

/// How many levels the stack has, found by doubling and halving.
unsafe fn depth(l: *mut lua_State, from: c_int) -> c_int {
    let exists = |level| {
        let mut ar = MaybeUninit::<lua_Debug>::zeroed();
        // SAFETY: asks only whether the level is there.
        unsafe { lua_getstack(l, level, ar.as_mut_ptr()) != 0 }
    };
    let (mut low, mut high) = (from, from + 1);
    while exists(high) {
        low = high;
        high *= 2;
    }
    if !exists(low) {
        return low;
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if exists(middle) { low = middle } else { high = middle }
    }
    high
}

/// The line of a frame of `Script.context`, which holds it in its first two locals.
unsafe fn script_context(l: *mut lua_State, ar: &mut lua_Debug) -> Option<String> {
    // SAFETY: as for `frames`; the two values are popped again.
    unsafe {
        if chunk_name(ar) != "[engine] context" || *ar.what != b'L' as c_char {
            return None;
        }
        let mut words = [String::new(), String::new()];
        for (i, word) in words.iter_mut().enumerate() {
            if lua_getlocal(l, ar, i as c_int + 1).is_null() {
                return None;
            }
            if lua_type(l, -1) == LUA_TSTRING {
                let start = lua_tolstring(l, -1, std::ptr::null_mut());
                *word = CStr::from_ptr(start).to_string_lossy().into_owned();
            }
            lua_settop(l, -2);
        }
        Some(format!("{} {}", words[0], words[1]))
    }
}

unsafe fn frame(l: *mut lua_State, cx: &Cx, ar: &mut lua_Debug, index: usize) -> Option<Frame> {
    // SAFETY: as for `frames`.
    unsafe {
        let name = match ar.name.is_null() {
            true => None,
            false => Some(CStr::from_ptr(ar.name).to_string_lossy().into_owned()),
        };
        let chunk = chunk_name(ar);
        let mut frame = Frame {
            place: None,
            what: String::new(),
            source: String::new(),
            locals: Vec::new(),
            upvalues: Vec::new(),
            left_out: 0,
        };
        if ar.currentline <= 0 || chunk.starts_with(ENGINE_CHUNK) {
            let name = name.filter(|name| !["error", "assert", "?"].contains(&name.as_str()))?;
            if chunk.starts_with(ENGINE_CHUNK) && index > 0 {
                return None;
            }
            frame.what = format!("engine function '{name}'");
            return Some(frame);
        }
        let place = Place { file: chunk, line: ar.currentline as u32 };
        frame.what = match (*ar.what as u8, name) {
            (b'm', _) => "main chunk".to_string(),
            (_, Some(name)) => format!("function '{name}'"),
            (_, None) => format!("a function defined at line {}", ar.linedefined),
        };
        frame.source = source_line(cx, &place);
        frame.place = Some(place);
        if index < FRAMES_WITH_VARIABLES {
            frame.locals = variables(l, cx, |i| lua_getlocal(l, ar, i));
            lua_getinfo(l, c"f".as_ptr(), ar);
            frame.upvalues = variables(l, cx, |i| lua_getupvalue(l, -1, i));
            lua_settop(l, -2);
            frame.upvalues.retain(|(_, value)| value != "function");
        }
        Some(frame)
    }
}

/// Names and values that `next` pushes one by one.
unsafe fn variables(
    l: *mut lua_State,
    cx: &Cx,
    mut next: impl FnMut(c_int) -> *const c_char,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for i in 1..=VARIABLES_MAX {
        let name = next(i);
        if name.is_null() {
            break;
        }
        // SAFETY: a name came with a value on the stack, which is popped again.
        unsafe {
            let name = CStr::from_ptr(name).to_string_lossy();
            // Names in brackets are the VM's own temporaries.
            if !name.starts_with('(') {
                found.push((name.into_owned(), literal(l, -1, cx)));
            }
            lua_settop(l, -2);
        }
    }
    found
}

/// `World has no function 'updte', did you mean 'update'?` for a call of something that is not
/// there.
unsafe fn misspelt(l: *mut lua_State, message: &str, source: &str) -> String {
    let called = |kind: &str| {
        let rest = message.strip_prefix(&format!("attempt to call {kind} '"))?;
        rest.strip_suffix("' (a nil value)")
    };
    // SAFETY: raw reads of the table of globals, popped again.
    unsafe {
        let top = lua_gettop(l);
        let mut words = String::new();
        if let Some(name) = called("global") {
            let names = string_keys(l, LUA_GLOBALSINDEX);
            let hint = suggest::hint(name, names.iter().map(String::as_str));
            words = format!(": there is no global function '{name}'{hint}");
        } else if let Some(name) = called("field").or_else(|| called("method"))
            && let Some(module) = module_before(source, name)
        {
            lua_pushlstring(l, module.as_ptr() as *const _, module.len());
            lua_rawget(l, LUA_GLOBALSINDEX);
            if lua_type(l, -1) == LUA_TTABLE {
                let names = string_keys(l, -1);
                let hint = suggest::hint(name, names.iter().map(String::as_str));
                words = format!(": {module} has no function '{name}'{hint}");
            }
        }
        lua_settop(l, top);
        words
    }
}

/// The word before `.name` or `:name` in a line of source.
fn module_before<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let at = source.find(&format!(".{name}")).or_else(|| source.find(&format!(":{name}")))?;
    let before = &source[..at];
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |i| i + 1);
    Some(&before[start..]).filter(|word| !word.is_empty())
}

unsafe fn string_keys(l: *mut lua_State, i: c_int) -> Vec<String> {
    let mut names = Vec::new();
    // SAFETY: lua_next with a key that it gave itself does not raise; keys are not converted.
    unsafe {
        lua_pushvalue(l, i);
        lua_pushnil(l);
        while lua_next(l, -2) != 0 {
            if lua_type(l, -2) == LUA_TSTRING {
                let start = lua_tolstring(l, -2, std::ptr::null_mut());
                names.push(CStr::from_ptr(start).to_string_lossy().into_owned());
            }
            lua_settop(l, -2);
        }
        lua_settop(l, -2);
    }
    names
}

impl std::fmt::Display for Report {
    /// The form of SYSTEMS A1.7: contexts, the error, its place; then the stack.
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        for line in &self.contexts {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "Error: {}", self.message.replace('\n', "\n    "))?;
        if let Some(place) = &self.place {
            writeln!(out, "    In {}:{}", place.file, place.line)?;
            write_source(out, "    ", place.line, &self.source)?;
        }
        write_stack(out, "Coroutine stack, innermost first:", &self.coroutine)?;
        write_stack(out, "Lua stack, innermost first:", &self.frames)
    }
}

fn write_source(
    out: &mut std::fmt::Formatter,
    indent: &str,
    line: u32,
    text: &str,
) -> std::fmt::Result {
    match text.trim() {
        "" => Ok(()),
        text => writeln!(out, "{indent}{line:>5} | {text}"),
    }
}

fn write_stack(out: &mut std::fmt::Formatter, title: &str, frames: &[Frame]) -> std::fmt::Result {
    if frames.is_empty() {
        return Ok(());
    }
    writeln!(out, "{title}")?;
    for frame in frames {
        match &frame.place {
            Some(place) => {
                writeln!(out, "  {}:{} in {}", place.file, place.line, frame.what)?;
                write_source(out, "    ", place.line, &frame.source)?;
            }
            None => writeln!(out, "  {}", frame.what)?,
        }
        for (name, value) in &frame.locals {
            writeln!(out, "          local {name} = {value}")?;
        }
        for (name, value) in &frame.upvalues {
            writeln!(out, "          upvalue {name} = {value}")?;
        }
        if frame.left_out > 0 {
            writeln!(out, "  … {} more", frame.left_out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_taken_off_the_front_of_a_message() {
        let (place, rest) = split_place("scripts/enemy.lua:12: no weapon");
        assert_eq!(place, Some(Place { file: "scripts/enemy.lua".into(), line: 12 }));
        assert_eq!(rest, "no weapon");
        assert_eq!(split_place("see a.lua:x: no"), (None, "see a.lua:x: no"));
        assert_eq!(split_place("plain"), (None, "plain"));
    }

    #[test]
    fn the_module_of_a_misspelt_call_is_read_off_the_line() {
        assert_eq!(module_before("  World.updte(world, dt)", "updte"), Some("World"));
        assert_eq!(module_before("updte()", "updte"), None);
    }
}
