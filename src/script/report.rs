//! What an unexpected error leaves behind: its words, where the engine and the script were, and the
//! script's stack. Made where the error is raised, before anything is unwound. The walk over the
//! stack is stack.rs, what is said beyond LuaJIT's own words is hint.rs.

use super::cx::Cx;
use super::describe::{bytes, describe, literal};
use super::{hint, stack};
use crate::foundation::context;
use mlua::ffi::*;
use std::ffi::c_int;
use std::fmt::Formatter;

/// A longer message is cut here.
const MESSAGE_BYTES_MAX: usize = 2000;
/// A longer line of source is cut here.
const SOURCE_CHARS_MAX: usize = 160;

/// A source position.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub file: String,
    pub line: u32,
}

/// One line of a stack.
#[derive(Clone, Debug, Default)]
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
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What the engine was doing, outermost first.
    pub contexts: Vec<String>,
    pub message: String,
    pub place: Option<Place>,
    /// The text of that line.
    pub source: String,
    /// Innermost first.
    pub frames: Vec<Frame>,
    /// The stack of the coroutine that the error came out of, and of those that it ran in.
    pub coroutine: Vec<Frame>,
    /// Whether the script was stopped by the engine, and must not go on.
    pub stopped: bool,
    /// Whether the engine itself failed, and not the script.
    pub engine_fault: bool,
    /// The error's words as they were raised: where others come to the handler, a `pcall` of the
    /// game's has swallowed this error, and another one is told.
    pub raised: String,
}

impl Report {
    /// A report of something that has no script's stack.
    pub fn of_words(message: impl Into<String>) -> Report {
        Report { contexts: context::lines(), message: message.into(), ..Report::default() }
    }
}

/// The message handler of every protected call into Lua.
///
/// # Safety
/// Called by Lua only, with the error's value at 1.
pub unsafe extern "C-unwind" fn handler(l: *mut lua_State) -> c_int {
    // SAFETY: the state belongs to a VM of ours; nothing below raises.
    unsafe {
        let own = own_words(l);
        let cx = Cx::of(l);
        cx.memory.be_lenient();
        let words = own.unwrap_or_else(|| error_words(l, 1, cx));
        let known = cx.report.as_ref().is_some_and(|it| it.stopped || words.ends_with(&it.raised));
        if !known {
            // Level 0 is this handler.
            let report = capture(l, cx, &words, 1);
            cx.report = Some(Box::new(report));
        }
        cx.memory.be_strict();
        1
    }
}

/// What the `__tostring` of an error object says. It is the game's code: it may raise and may be
/// stopped, and then there are no words of its own.
unsafe fn own_words(l: *mut lua_State) -> Option<String> {
    // SAFETY: called by the handler, with the error's value at 1; what raises is inside lua_pcall,
    // and nothing of the context is borrowed meanwhile.
    unsafe {
        let top = lua_gettop(l);
        if lua_type(l, 1) != LUA_TTABLE || lua_checkstack(l, 8) == 0 || lua_getmetatable(l, 1) == 0
        {
            return None;
        }
        Cx::of(l).memory.be_lenient();
        lua_pushlstring(l, c"__tostring".as_ptr(), 10);
        Cx::of(l).memory.be_strict();
        lua_rawget(l, -2);
        let mut words = None;
        if lua_type(l, -1) == LUA_TFUNCTION {
            lua_pushvalue(l, 1);
            if lua_pcall(l, 1, 1, 0) == LUA_OK && lua_type(l, -1) == LUA_TSTRING {
                words = Some(String::from_utf8_lossy(bytes(l, -1)).into_owned());
            }
        }
        lua_settop(l, top);
        words
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
            LUA_TSTRING => String::from_utf8_lossy(bytes(l, i)).into_owned(),
            LUA_TNUMBER => super::describe::number(lua_tonumber(l, i)),
            LUA_TTABLE => format!("error with a table as its value: {}", literal(l, i, cx)),
            LUA_TNIL | LUA_TNONE => "error with nil as its value: `error` was called without a \
                                     message, or with a variable that is nil"
                .to_string(),
            _ => format!("error with a value that is no text: {}", describe(l, i, cx)),
        }
    }
}

/// A report of an error with these words, with the stack from `level` outwards.
///
/// # Safety
/// `l` is the state that raised, inside its message handler, hook or after its death.
pub unsafe fn capture(l: *mut lua_State, cx: &mut Cx, words: &str, level: c_int) -> Report {
    // SAFETY: as the caller promised.
    let (walk, coroutine) = unsafe {
        let coroutine = stack::coroutines(l, cx, words);
        (stack::walk(l, cx, level, None), coroutine)
    };
    let (place, message) = split_place(words);
    let first = coroutine.iter().chain(&walk.frames).find_map(|frame| frame.place.clone());
    let place = place.or(first);
    let mut contexts = context::lines();
    contexts.extend(walk.contexts);
    if let Some((its, lines)) = cx.error_contexts.take() {
        // An engine function's own lines, inside the ones that were there when it was called.
        let common = lines.iter().zip(&contexts).take_while(|(a, b)| a == b).count();
        if message.ends_with(&its) {
            contexts.extend(lines.into_iter().skip(common));
        }
    }
    // One that a `pcall` of the game's swallowed is forgotten.
    let fault = cx.engine_fault.take();
    let engine_fault = fault.is_some_and(|fault| message.contains(&fault));
    let source = place.as_ref().map(|place| cx.source_line(place)).unwrap_or_default();
    // SAFETY: as the caller promised.
    let hint = unsafe { hint::after(l, Some(level), message, &source) };
    let unknown = if walk.tail_called && place.is_none() { TAIL_CALLED } else { "" };
    Report {
        contexts,
        message: format!("{}{hint}{unknown}", cut(message)),
        place,
        source,
        frames: walk.frames,
        coroutine,
        stopped: false,
        engine_fault,
        raised: words.to_string(),
    }
}

/// Said where no line is left on the stack.
const TAIL_CALLED: &str = "\nThe line is not known: the function had ended in `return f(…)`, which \
                           leaves nothing of it behind";

/// Takes `main.lua:12: ` off the front of a message, and the same of the engine's own Lua, which is
/// no place of the game's.
pub fn split_place(words: &str) -> (Option<Place>, &str) {
    if words.starts_with(super::describe::ENGINE_CHUNK) {
        return (None, words.split_once(": ").map_or(words, |(_, message)| message));
    }
    let split = || {
        let (file, rest) = words.split_once(".lua:")?;
        let (line, message) = rest.split_once(": ")?;
        let line = line.parse().ok()?;
        let file = format!("{file}.lua");
        (!file.contains(['\n', ' '])).then_some((Some(Place { file, line }), message))
    };
    split().unwrap_or((None, words))
}

/// A message that people can read, with its size where it is longer.
fn cut(message: &str) -> String {
    if message.len() <= MESSAGE_BYTES_MAX {
        return message.to_string();
    }
    let end = message.floor_char_boundary(MESSAGE_BYTES_MAX);
    format!("{}… ({} bytes in all)", &message[..end], message.len())
}

impl Cx {
    /// The text of a line; empty where it is not known.
    pub fn source_line(&self, place: &Place) -> String {
        let file = self.sources.get(&place.file);
        let file = file.and_then(|text| std::str::from_utf8(text).ok());
        let text = file.or_else(|| self.loaded.get(&place.file));
        let line = text.and_then(|text| text.lines().nth(place.line.checked_sub(1)? as usize));
        let line = line.unwrap_or_default().trim();
        match line.char_indices().nth(SOURCE_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_string(),
        }
    }
}

impl std::fmt::Display for Report {
    /// The form of SYSTEMS A1.7: contexts, the error, its place; then the stack. No line ends it.
    fn fmt(&self, out: &mut Formatter) -> std::fmt::Result {
        for line in &self.contexts {
            writeln!(out, "{line}")?;
        }
        write!(out, "Error: {}", self.message.replace('\n', "\n    "))?;
        if let Some(place) = &self.place {
            write!(out, "\n    In {}:{}", place.file, place.line)?;
            write_source(out, place.line, &self.source)?;
        }
        let shown = self.place.as_ref();
        write_stack(out, "Coroutine stack, innermost first:", &self.coroutine, shown)?;
        let shown = shown.filter(|_| self.coroutine.is_empty());
        write_stack(out, "Lua stack, innermost first:", &self.frames, shown)
    }
}

fn write_source(out: &mut Formatter, line: u32, text: &str) -> std::fmt::Result {
    match text {
        "" => Ok(()),
        text => write!(out, "\n    {line:>5} | {text}"),
    }
}

/// Frames in a row that are the same place count as one; the line that was shown above the stack is
/// not shown again.
fn write_stack(
    out: &mut Formatter,
    title: &str,
    frames: &[Frame],
    shown: Option<&Place>,
) -> std::fmt::Result {
    if frames.is_empty() {
        return Ok(());
    }
    write!(out, "\n{title}")?;
    let alike = |a: &Frame, b: &Frame| a.place == b.place && a.what == b.what && a.left_out == 0;
    for (index, run) in frames.chunk_by(alike).enumerate() {
        let Some((frame, last)) = run.first().zip(run.last()) else { continue };
        match &frame.place {
            Some(place) => {
                write!(out, "\n  {}:{} in {}", place.file, place.line, frame.what)?;
                if index > 0 || shown != Some(place) {
                    write_source(out, place.line, &frame.source)?;
                }
            }
            None => write!(out, "\n  {}", frame.what)?,
        }
        for (name, value) in &frame.locals {
            write!(out, "\n          local {name} = {value}")?;
        }
        for (name, value) in &frame.upvalues {
            write!(out, "\n          upvalue {name} = {value}")?;
        }
        if run.len() > 1 {
            write!(out, "\n  … and {} more of the same", run.len() - 1)?;
        }
        if last.left_out > 0 {
            write!(out, "\n  … {} left out", last.left_out)?;
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
        assert_eq!(split_place("[engine] frame:35: boom"), (None, "boom"));
    }

    #[test]
    fn a_long_message_is_cut_where_a_letter_ends() {
        let long = "ä".repeat(5000);
        let shown = cut(&long);
        assert!(shown.len() < 2100 && shown.ends_with("ä… (10000 bytes in all)"), "{shown}");
        assert_eq!(cut("short"), "short");
    }

    #[test]
    fn a_report_has_the_order_of_contexts_error_place_and_stack() {
        let place = |line| Some(Place { file: "enemy.lua".into(), line });
        let frame = |line, what: &str| Frame {
            place: place(line),
            what: what.into(),
            source: "aim()".into(),
            ..Frame::default()
        };
        let report = Report {
            contexts: vec!["When calling: update".into(), "When spawning wave: 3".into()],
            message: "no weapon\nfor the boss".into(),
            place: place(7),
            source: "fire()".into(),
            frames: vec![
                Frame { locals: vec![("hp".into(), "3".into())], ..frame(7, "function 'fire'") },
                Frame { left_out: 5, ..frame(9, "function 'aim'") },
                frame(9, "function 'aim'"),
                frame(9, "function 'aim'"),
            ],
            ..Report::default()
        };
        let wanted = "When calling: update
When spawning wave: 3
Error: no weapon
    for the boss
    In enemy.lua:7
        7 | fire()
Lua stack, innermost first:
  enemy.lua:7 in function 'fire'
          local hp = 3
  enemy.lua:9 in function 'aim'
        9 | aim()
  … 5 left out
  enemy.lua:9 in function 'aim'
        9 | aim()
  … and 1 more of the same";
        assert_eq!(report.to_string(), wanted);
    }
}
