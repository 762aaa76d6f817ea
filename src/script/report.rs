//! Reports of unexpected errors: the message, the contexts of the engine and the script, and the
//! script's stack. A report is created where the error is raised, before the stack is unwound. The
//! stack walk is in stack_trace.rs; hints that extend LuaJIT's own messages are in error_hints.rs.

use super::context::{ErrorContexts, ScriptContext};
use super::describe_value::{bytes, describe, literal};
use super::{debugger, error_hints, stack_trace};
use engine_foundation::context;
use mlua::ffi::*;
use std::ffi::c_int;
use std::fmt::Formatter;

/// Maximum length of a message in bytes; longer messages are cut.
const MESSAGE_BYTES_MAX: usize = 2000;
/// Maximum length of a source line in characters; longer lines are cut.
const SOURCE_CHARS_MAX: usize = 160;

/// A position in the source of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceLocation {
    pub file: String,
    pub line: u32,
}

/// One frame of a stack trace.
#[derive(Clone, Debug, Default)]
pub struct StackFrame {
    /// Location of a function of the game; an engine function has none.
    pub location: Option<SourceLocation>,
    /// Description of the frame: `function 'fire'`, `main chunk`, `engine function 'play'`.
    pub description: String,
    /// The text of the line.
    pub source: String,
    /// Names and values, in order of declaration.
    pub locals: Vec<(String, String)>,
    pub upvalues: Vec<(String, String)>,
    /// Number of frames left out after this one.
    pub left_out: usize,
}

/// The report of an unexpected error.
#[derive(Clone, Debug, Default)]
pub struct ErrorReport {
    /// The activities of the engine when the error occurred, outermost first.
    pub contexts: Vec<String>,
    pub message: String,
    pub location: Option<SourceLocation>,
    /// The text of the line at `location`.
    pub source: String,
    /// Stack frames, innermost first.
    pub frames: Vec<StackFrame>,
    /// The stack of the coroutine that raised the error, and of those in which it ran.
    pub coroutine: Vec<StackFrame>,
    /// True if the engine stopped the script, which must not continue.
    pub stopped: bool,
    /// True if the engine itself failed, and not the script.
    pub engine_fault: bool,
    /// The error's message as it was raised. If the handler receives another message, a `pcall` of
    /// the game has swallowed this error, and another error is reported.
    pub raised: String,
}

impl ErrorReport {
    /// Creates a report of an error that has no script stack.
    pub fn from_message(message: impl Into<String>) -> ErrorReport {
        ErrorReport {
            contexts: context::lines(),
            message: message.into(),
            ..ErrorReport::default()
        }
    }
}

/// The message handler of every protected call into Lua.
///
/// # Safety
/// Called by Lua only, with the error's value at 1.
pub unsafe extern "C-unwind" fn handler(l: *mut lua_State) -> c_int {
    // SAFETY: the state belongs to a VM of the engine; nothing below raises.
    unsafe {
        let own = tostring_of_error(l);
        let cx = ScriptContext::of(l);
        cx.memory.begin_lenient();
        let message = own.unwrap_or_else(|| error_text(l, 1, cx));
        let known =
            cx.report.as_ref().is_some_and(|it| it.stopped || message.ends_with(&it.raised));
        if !known {
            // Level 0 is this handler.
            let report = capture(l, cx, &message, 1);
            cx.report = Some(Box::new(report));
        }
        cx.memory.end_lenient();
        if !known {
            debugger::error_raised(l, &message);
        }
        1
    }
}

/// Returns the text from the `__tostring` metamethod of an error object. The metamethod is code of
/// the game: it may raise and may be stopped, and `None` is returned then.
unsafe fn tostring_of_error(l: *mut lua_State) -> Option<String> {
    // SAFETY: called by the handler, with the error's value at 1; what raises is inside lua_pcall,
    // and nothing of the context is borrowed meanwhile.
    unsafe {
        let top = lua_gettop(l);
        if lua_type(l, 1) != LUA_TTABLE || lua_checkstack(l, 8) == 0 || lua_getmetatable(l, 1) == 0
        {
            return None;
        }
        ScriptContext::of(l).memory.begin_lenient();
        lua_pushlstring(l, c"__tostring".as_ptr(), 10);
        ScriptContext::of(l).memory.end_lenient();
        lua_rawget(l, -2);
        let mut message = None;
        if lua_type(l, -1) == LUA_TFUNCTION {
            lua_pushvalue(l, 1);
            if lua_pcall(l, 1, 1, 0) == LUA_OK && lua_type(l, -1) == LUA_TSTRING {
                message = Some(String::from_utf8_lossy(bytes(l, -1)).into_owned());
            }
        }
        lua_settop(l, top);
        message
    }
}

/// Returns the message of an error value, which may be of any type.
///
/// # Safety
/// `l` is a live state and `i` a position in it.
pub unsafe fn error_text(l: *mut lua_State, i: c_int, cx: &ScriptContext) -> String {
    // SAFETY: as the caller promised.
    unsafe {
        match lua_type(l, i) {
            LUA_TSTRING => String::from_utf8_lossy(bytes(l, i)).into_owned(),
            LUA_TNUMBER => super::describe_value::number(lua_tonumber(l, i)),
            LUA_TTABLE => format!("error with a table as its value: {}", literal(l, i, cx)),
            LUA_TNIL | LUA_TNONE => "error with nil as its value: `error` was called without a \
                                     message, or with a variable that is nil"
                .to_string(),
            _ => format!("error with a value that is not text: {}", describe(l, i, cx)),
        }
    }
}

/// Creates the report of an error with this message, with the stack from `level` outwards.
///
/// # Safety
/// `l` is the state that raised, inside its message handler, hook or after its death.
pub unsafe fn capture(
    l: *mut lua_State,
    cx: &mut ScriptContext,
    raised: &str,
    level: c_int,
) -> ErrorReport {
    // SAFETY: as the caller promised.
    let (walk, coroutine) = unsafe {
        let coroutine = stack_trace::coroutines(l, cx, raised);
        (stack_trace::walk(l, cx, level, None), coroutine)
    };
    let (location, message) = split_location(raised);
    let first = coroutine.iter().chain(&walk.frames).find_map(|frame| frame.location.clone());
    // An error that was caught has its old contexts only if it is raised again: elsewhere.
    let is_rethrown = location != first;
    let location = location.or(first);
    let known = cx.error_contexts.take().filter(|known| is_rethrown || !known.is_caught);
    let contexts = with_inner_contexts(walk.contexts, known.as_ref(), raised);
    // An engine fault that a `pcall` of the game swallowed is discarded.
    let fault = cx.engine_fault.take();
    let engine_fault = fault.is_some_and(|fault| message.contains(&fault));
    let source = location.as_ref().map(|location| cx.source_line(location)).unwrap_or_default();
    // SAFETY: as the caller promised.
    let hint = unsafe {
        let hint = error_hints::hint_for(l, Some(level), message, &source);
        match &location {
            Some(location) if hint.is_empty() => {
                error_hints::syntax_error_hint(l, message, location)
            }
            _ => hint,
        }
    };
    let unknown = if walk.tail_called && location.is_none() { TAIL_CALLED } else { "" };
    ErrorReport {
        contexts,
        message: format!("{}{hint}{unknown}", truncate(message)),
        location,
        source,
        frames: walk.frames,
        coroutine,
        stopped: false,
        engine_fault,
        raised: raised.to_string(),
    }
}

/// Returns the contexts of an error: those of the engine and of the script, and inside of them
/// those that are known of an error with this message.
pub fn with_inner_contexts(
    script: Vec<String>,
    known: Option<&ErrorContexts>,
    raised: &str,
) -> Vec<String> {
    let mut contexts = context::lines();
    contexts.extend(script);
    if let Some(known) = known.filter(|known| raised.ends_with(&known.message)) {
        let common = known.lines.iter().zip(&contexts).take_while(|(a, b)| a == b).count();
        contexts.extend(known.lines.iter().skip(common).cloned());
    }
    contexts
}

/// Note for errors that have no line on the stack.
const TAIL_CALLED: &str = "\nThe line is not known: the function had ended in `return f(…)`, which \
                           leaves nothing of it behind";

/// Splits a location such as `main.lua:12: ` off the start of a message. The location of the
/// engine's own Lua is removed as well, but not returned.
pub fn split_location(message: &str) -> (Option<SourceLocation>, &str) {
    if message.starts_with(super::describe_value::ENGINE_CHUNK) {
        return (None, message.split_once(": ").map_or(message, |(_, message)| message));
    }
    let split = || {
        let (file, rest) = message.split_once(".lua:")?;
        let (line, message) = rest.split_once(": ")?;
        let line = line.parse().ok()?;
        let file = format!("{file}.lua");
        (!file.contains(['\n', ' '])).then_some((Some(SourceLocation { file, line }), message))
    };
    split().unwrap_or((None, message))
}

/// Shortens a message to a readable length, and adds the full size if it is longer.
fn truncate(message: &str) -> String {
    if message.len() <= MESSAGE_BYTES_MAX {
        return message.to_string();
    }
    let end = message.floor_char_boundary(MESSAGE_BYTES_MAX);
    format!("{}… ({} bytes in all)", &message[..end], message.len())
}

impl ScriptContext {
    /// Returns the text of a chunk, if it is known.
    pub fn source_text(&self, chunk: &str) -> Option<&str> {
        let file = self.sources.get(chunk).and_then(|text| std::str::from_utf8(text).ok());
        file.or_else(|| self.loaded.get(chunk))
    }

    /// Returns the text of a line; empty if it is not known.
    pub fn source_line(&self, location: &SourceLocation) -> String {
        let text = self.source_text(&location.file);
        let line = text.and_then(|text| text.lines().nth(location.line.checked_sub(1)? as usize));
        let line = line.unwrap_or_default().trim();
        match line.char_indices().nth(SOURCE_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_string(),
        }
    }
}

impl std::fmt::Display for ErrorReport {
    /// Writes the report: contexts, the error, its location, then the stack. The text does not end
    /// with a line break.
    fn fmt(&self, out: &mut Formatter) -> std::fmt::Result {
        for line in &self.contexts {
            writeln!(out, "{line}")?;
        }
        write!(out, "Error: {}", self.message.replace('\n', "\n    "))?;
        if let Some(location) = &self.location {
            write!(out, "\n    In {}:{}", location.file, location.line)?;
            write_source(out, location.line, &self.source)?;
        }
        let shown = self.location.as_ref();
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

/// Writes a stack trace. Consecutive frames with the same location are written once, with their
/// count. The line that was shown above the stack is not repeated.
fn write_stack(
    out: &mut Formatter,
    title: &str,
    frames: &[StackFrame],
    shown: Option<&SourceLocation>,
) -> std::fmt::Result {
    if frames.is_empty() {
        return Ok(());
    }
    write!(out, "\n{title}")?;
    let alike = |a: &StackFrame, b: &StackFrame| {
        a.location == b.location && a.description == b.description && a.left_out == 0
    };
    for (index, run) in frames.chunk_by(alike).enumerate() {
        let Some((frame, last)) = run.first().zip(run.last()) else { continue };
        match &frame.location {
            Some(location) => {
                write!(out, "\n  {}:{} in {}", location.file, location.line, frame.description)?;
                if index > 0 || shown != Some(location) {
                    write_source(out, location.line, &frame.source)?;
                }
            }
            None => write!(out, "\n  {}", frame.description)?,
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
    fn a_location_prefix_is_split_from_a_message() {
        let (location, rest) = split_location("scripts/enemy.lua:12: no weapon");
        assert_eq!(location, Some(SourceLocation { file: "scripts/enemy.lua".into(), line: 12 }));
        assert_eq!(rest, "no weapon");
        assert_eq!(split_location("see a.lua:x: no"), (None, "see a.lua:x: no"));
        assert_eq!(split_location("plain"), (None, "plain"));
        assert_eq!(split_location("[engine] frame:35: boom"), (None, "boom"));
    }

    #[test]
    fn a_long_message_is_truncated_at_a_character_boundary() {
        let long = "ä".repeat(5000);
        let shown = truncate(&long);
        assert!(shown.len() < 2100 && shown.ends_with("ä… (10000 bytes in all)"), "{shown}");
        assert_eq!(truncate("short"), "short");
    }

    #[test]
    fn a_report_lists_contexts_error_location_and_stack() {
        let location = |line| Some(SourceLocation { file: "enemy.lua".into(), line });
        let frame = |line, description: &str| StackFrame {
            location: location(line),
            description: description.into(),
            source: "aim()".into(),
            ..StackFrame::default()
        };
        let report = ErrorReport {
            contexts: vec!["When calling: update".into(), "When spawning wave: 3".into()],
            message: "no weapon\nfor the boss".into(),
            location: location(7),
            source: "fire()".into(),
            frames: vec![
                StackFrame {
                    locals: vec![("hp".into(), "3".into())],
                    ..frame(7, "function 'fire'")
                },
                StackFrame { left_out: 5, ..frame(9, "function 'aim'") },
                frame(9, "function 'aim'"),
                frame(9, "function 'aim'"),
            ],
            ..ErrorReport::default()
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
