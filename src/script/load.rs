//! Compiling script text into a chunk. All callers use this module: `load`, modules, bundles and
//! checks. LuaJIT's parser cannot be stopped, and its time can grow with the square of the text's
//! length: each `elseif`, `and` and `goto` walks a list of those before it, and so does each string
//! that has the same hash as others. Therefore the parser receives the text in pieces, and limits
//! are checked between them.

use super::context::ScriptContext;
use super::report;
use engine_platform::ThreadClock;
use mlua::ffi::*;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

/// CPU seconds that compiling one text may take. 16 MiB of data take a second.
pub const LOAD_SECONDS_MAX: f64 = 2.5;
/// Maximum number of `goto`, `break`, `continue` and `::` in one function. At a label or at the end
/// of a loop, the parser's time grows with the square of the number of jumps that lead there, and
/// no limit is checked meanwhile.
pub const JUMPS_MAX: usize = 10_000;
/// Bytes of the native stack that the parser may use. The parser bounds most of its own depth,
/// which takes half of this. It does not bound the depth of `a ? b : c ? d : …`, whose end takes
/// time with the square of the depth. Wherever scripts run, more stack than this is left
/// (`stack_floor`).
const PARSER_STACK_BYTES: usize = 768 << 10;
/// Bytes of text between two checks of the limits.
const PIECE_BYTES: usize = 512;
/// Text that ends the parser at once. In every token, an unclosed string follows, so that the lexer
/// fails. At a plain end of the text, the parser would first finish everything that is open.
const POISON: &[u8] = b"\n'\"\n'\n";

unsafe extern "C-unwind" {
    fn lua_loadx(
        l: *mut lua_State,
        reader: unsafe extern "C-unwind" fn(
            *mut lua_State,
            *mut c_void,
            *mut usize,
        ) -> *const c_char,
        data: *mut c_void,
        name: *const c_char,
        mode: *const c_char,
    ) -> c_int;
}

/// Returns the line at which a function has more jumps and labels than [`JUMPS_MAX`], if there is
/// one. Names, strings, comments and line ends are read as in LuaJIT's lexer (lj_lex.c).
fn line_of_excess(text: &[u8]) -> Option<usize> {
    // Fast path: nearly every text has few, even including those in its strings and comments.
    let jumps = ["goto", "break", "continue", "::"];
    if let Ok(text) = std::str::from_utf8(text)
        && jumps.iter().map(|word| text.matches(word).count()).sum::<usize>() <= JUMPS_MAX
    {
        return None;
    }
    let mut at = header_bytes(text);
    let mut functions = Functions { open: Vec::new(), depth: 0, jumps: 0 };
    while at < text.len() {
        let rest = &text[at..];
        at += match rest[0] {
            b'"' | b'\'' => string_bytes(rest),
            b'[' => long_bytes(rest).unwrap_or(1),
            b'-' if rest.starts_with(b"--") => 2 + comment_bytes(&rest[2..]),
            b':' if rest.starts_with(b"::") => {
                functions.jumps += 1;
                2
            }
            byte if is_of_word(byte) => {
                let end = rest.iter().position(|byte| !is_of_word(*byte));
                let word = &rest[..end.unwrap_or(rest.len())];
                functions.read(word);
                word.len()
            }
            _ => 1,
        };
        if functions.jumps > JUMPS_MAX {
            return Some(line_at(text, at));
        }
    }
    None
}

/// Counts the jumps and labels of each function, because the parser walks only those of one
/// function.
struct Functions {
    /// The functions around the current one: the block depth at which the nested function began,
    /// and the number of jumps so far.
    open: Vec<(usize, usize)>,
    /// Number of open blocks that end with `end` or `until`.
    depth: usize,
    /// Number of jumps in the current function.
    jumps: usize,
}

impl Functions {
    fn read(&mut self, word: &[u8]) {
        match word {
            b"goto" | b"break" | b"continue" => self.jumps += 1,
            b"function" => {
                self.open.push((self.depth, self.jumps));
                self.depth += 1;
                self.jumps = 0;
            }
            b"do" | b"if" | b"repeat" => self.depth += 1,
            b"end" | b"until" => {
                self.depth = self.depth.saturating_sub(1);
                if let Some((depth, jumps)) = self.open.pop_if(|(depth, _)| *depth == self.depth) {
                    (self.depth, self.jumps) = (depth, jumps);
                }
            }
            _ => {}
        }
    }
}

/// Returns the length of the byte order mark and of a first line with `#`, which LuaJIT skips.
fn header_bytes(text: &[u8]) -> usize {
    let mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    match text[mark..].first() {
        Some(b'#') => mark + line_bytes(&text[mark..]),
        _ => mark,
    }
}

/// Returns the number of bytes before the end of the line.
fn line_bytes(text: &[u8]) -> usize {
    text.iter().position(|byte| is_line_end(*byte)).unwrap_or(text.len())
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

fn line_at(text: &[u8], at: usize) -> usize {
    1 + text[..at].iter().filter(|byte| **byte == b'\n').count()
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the length of the quoted string at the start of a text.
fn string_bytes(text: &[u8]) -> usize {
    // The characters of C's isspace.
    let is_space = |byte: &&u8| byte.is_ascii_whitespace() || **byte == 0x0b;
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' if text.get(at + 1) == Some(&b'z') => {
                at += 2 + text[at + 2..].iter().take_while(is_space).count();
            }
            // Two bytes can form one line end: CR LF, and LF CR.
            b'\\' if text.get(at + 1).copied().is_some_and(is_line_end) => {
                let pair = text.get(at + 2).copied().is_some_and(is_line_end);
                at += if pair && text[at + 2] != text[at + 1] { 3 } else { 2 };
            }
            b'\\' => at += 2,
            // The parser fails at the end of a line.
            byte if byte == text[0] || is_line_end(byte) => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the length of the long bracket string at the start of a text, if there is one.
fn long_bytes(text: &[u8]) -> Option<usize> {
    let level = text[1..].iter().take_while(|byte| **byte == b'=').count();
    if text.get(1 + level) != Some(&b'[') {
        return None;
    }
    let close = [&b"]"[..], &vec![b'='; level], b"]"].concat();
    let inside = &text[level + 2..];
    let at = inside.windows(close.len()).position(|bytes| bytes == close);
    Some(at.map_or(text.len(), |at| level + 2 + at + close.len()))
}

/// Returns the length of a comment after its `--`.
fn comment_bytes(text: &[u8]) -> usize {
    let long = if text.first() == Some(&b'[') { long_bytes(text) } else { None };
    long.unwrap_or_else(|| line_bytes(text))
}

/// The reason why a text does not compile.
#[derive(Debug, PartialEq)]
pub enum Fault {
    /// The text is not valid Lua, or there is not enough memory for it. The message is on top of
    /// the stack.
    OnStack,
    /// The text takes too much time or stack. The message contains chunk and line. Nothing is on
    /// the stack.
    Refused(String),
}

struct Reader<'a> {
    text: &'a [u8],
    /// Number of bytes that were passed to the parser.
    passed: usize,
    /// The clock of this thread, and the time on it at which the limit is reached.
    end: Option<(ThreadClock, f64)>,
    /// Lowest address that the stack may reach.
    floor: usize,
    refused: Option<String>,
    poisoned: bool,
}

impl Reader<'_> {
    /// Returns the reason why the parser must stop, if there is one.
    fn refusal(&mut self) -> Option<String> {
        let here = 0u8;
        if std::ptr::from_ref(&here).addr() < self.floor {
            let message = "it is nested too deeply: write `a ? b : c` with `if` and `elseif` here";
            return Some(message.to_string());
        }
        let Some((clock, end)) = &self.end else {
            let clock = ThreadClock::of_this_thread();
            let end = clock.seconds() + LOAD_SECONDS_MAX;
            self.end = Some((clock, end));
            return None;
        };
        (clock.seconds() > *end).then(|| {
            format!(
                "it takes more than {LOAD_SECONDS_MAX} seconds to compile (LOAD_SECONDS_MAX), as \
                 thousands of `elseif`, `and`, `or`, `goto` or labels in a row do: look things up \
                 in a table, or divide it"
            )
        })
    }
}

/// Passes the next piece to the parser, or text that ends it if it must stop.
unsafe extern "C-unwind" fn read(
    _: *mut lua_State,
    data: *mut c_void,
    size: *mut usize,
) -> *const c_char {
    // SAFETY: `load` passes a reader, and LuaJIT a pointer for the size.
    unsafe {
        let reader = &mut *data.cast::<Reader>();
        if reader.passed > 0 && reader.passed < reader.text.len() && reader.refused.is_none() {
            reader.refused = reader.refusal();
        }
        if reader.refused.is_some() {
            let poison = if reader.poisoned { &[][..] } else { POISON };
            reader.poisoned = true;
            *size = poison.len();
            return poison.as_ptr().cast();
        }
        let left = &reader.text[reader.passed..];
        let piece = left.len().min(PIECE_BYTES);
        reader.passed += piece;
        *size = piece;
        left.as_ptr().cast()
    }
}

/// Compiles a text of the engine and pushes the chunk. Returns the message of an error.
///
/// # Safety
/// As for [`load`].
pub unsafe fn load_or_message(l: *mut lua_State, name: &str, text: &str) -> Result<(), String> {
    let name = CString::new(name).map_err(|_| "a chunk's name has a zero byte".to_string())?;
    // SAFETY: as the caller promised.
    unsafe {
        load(l, &name, text.as_bytes()).map_err(|fault| match fault {
            Fault::OnStack => report::error_text(l, -1, ScriptContext::of(l)),
            Fault::Refused(message) => message,
        })
    }
}

/// Compiles a text and pushes the chunk. Bytecode is refused.
///
/// # Safety
/// `l` is a live state with room for two values; the text does not change meanwhile.
pub unsafe fn load(l: *mut lua_State, name: &CStr, text: &[u8]) -> Result<(), Fault> {
    if let Some(line) = line_of_excess(text) {
        return Err(Fault::Refused(format!(
            "{}:{line}: one function has more than {JUMPS_MAX} of `goto`, `break`, `continue` and \
             `::` (JUMPS_MAX): divide it into several functions",
            display_name(name)
        )));
    }
    let here = 0u8;
    let floor = std::ptr::from_ref(&here).addr().saturating_sub(PARSER_STACK_BYTES);
    let mut reader = Reader { text, passed: 0, end: None, floor, refused: None, poisoned: false };
    // SAFETY: the reader is used by this call alone; mode "t" refuses binary chunks.
    unsafe {
        let data = (&raw mut reader).cast();
        let status = lua_loadx(l, read, data, name.as_ptr(), c"t".as_ptr());
        if let Some(message) = reader.refused {
            // Pops LuaJIT's message about the artificial end of the text.
            lua_settop(l, -2);
            let line = line_at(text, reader.passed);
            return Err(Fault::Refused(format!("{}:{line}: {message}", display_name(name))));
        }
        if status == LUA_OK { Ok(()) } else { Err(Fault::OnStack) }
    }
}

/// Returns a chunk's name as errors show it.
fn display_name(name: &CStr) -> String {
    let name = name.to_string_lossy();
    match name.strip_prefix(['@', '=']) {
        Some(name) => name.to_string(),
        None => {
            let line = name.lines().next().unwrap_or_default();
            format!("[string \"{}...\"]", line.chars().take(40).collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compiles a text in a separate state. Returns the result, and the CPU seconds that it took.
    fn loaded(text: &str) -> (Result<(), Fault>, f64) {
        let clock = ThreadClock::of_this_thread();
        // SAFETY: the state is used here only, and nothing is run in it.
        unsafe {
            let l = luaL_newstate();
            let begun = clock.seconds();
            let result = load(l, c"@big.lua", text.as_bytes());
            let seconds = clock.seconds() - begun;
            lua_close(l);
            (result, seconds)
        }
    }

    #[track_caller]
    fn check_refused(text: &str, wanted: &str) {
        let (result, seconds) = loaded(text);
        let Err(Fault::Refused(message)) = result else { panic!("{result:?} after {seconds} s") };
        assert!(message.starts_with("big.lua:1: ") && message.contains(wanted), "{message}");
        assert!(seconds < 3.0, "it took {seconds} s: {}", &text[..40]);
    }

    #[test]
    fn parsing_time_is_bounded_for_any_text() {
        let jumps = [
            format!("if true then {} end", "elseif true then ".repeat(900_000)),
            format!("return a{}", " and a".repeat(2_600_000)),
        ];
        for text in jumps {
            check_refused(&text, "LOAD_SECONDS_MAX");
        }
    }

    #[test]
    fn jumps_and_labels_are_counted_outside_of_strings_and_comments() {
        let n = JUMPS_MAX;
        for text in [
            "goto a ".repeat(n + 1),
            "while a do break end ".repeat(n + 1),
            "--[[ it ]] ::a:: ".repeat(n / 2 + 1),
            "a'\\'' x=[==[ ]] ]==] -- no\n break b\"\\z \n\" ".repeat(n + 1),
        ] {
            let (result, _) = loaded(&text);
            let Err(Fault::Refused(message)) = result else {
                panic!("{result:?}: {}", &text[..20])
            };
            assert!(message.contains("JUMPS_MAX"), "{message}");
        }
        for text in [
            "a = 'goto \\' break' ".repeat(n + 1),
            "a = [=[ goto ]] break ]=] ".repeat(n + 1),
            "-- goto\n --[[ break\n :: ]] a = 1 ".repeat(n + 1),
            "gotos = 1 _break = b.a ".repeat(n + 1),
            "while a do break end ".repeat(n - 1),
            // The jumps of each function are counted separately.
            "function f() while a do break end repeat goto b ::b:: until a end f()\n".repeat(n),
        ] {
            assert_eq!(loaded(&text).0, Ok(()), "{}", &text[..20]);
        }
    }

    #[test]
    fn labels_and_variables_are_looked_up_in_bounded_time() {
        let n = JUMPS_MAX - 2;
        let labels: String = (0..n / 3).map(|i| format!("goto a{i} ::a{i}:: ")).collect();
        let gotos = format!("do {} end ::a::", "goto a ".repeat(n));
        let breaks = format!("while a do {} end", "if a then break end ".repeat(n));
        let only_labels: String = (0..n / 2).map(|i| format!("::a{i}:: x=1 ")).collect();
        // Each name is searched among all names of the enclosing functions.
        let locals: Vec<String> = (0..199).map(|i| format!("a{i}")).collect();
        let locals = format!("local {}=1 ", locals.join(","));
        let nested = format!("local function f() {locals}").repeat(190);
        let names = "zz=zy ".repeat(2_000_000);
        let names = format!("{nested}{names}{}", "end ".repeat(190));
        for text in [labels, gotos, breaks, format!("do {only_labels} end"), names] {
            let (result, seconds) = loaded(&text);
            match &result {
                // A label may be missing or defined twice.
                Ok(()) | Err(Fault::OnStack) => {}
                Err(Fault::Refused(message)) => {
                    assert!(message.contains("LOAD_SECONDS_MAX"), "{message}: {}", &text[..40]);
                }
            }
            assert!(seconds < 3.0, "it took {seconds} s: {}", &text[..40]);
        }
    }

    #[test]
    fn nested_choices_do_not_overflow_the_stack() {
        let (result, seconds) = loaded(&format!("return a{}", "?a:a".repeat(10_000)));
        assert!(seconds < 1.0, "it took {seconds} s: {result:?}");
        check_refused(&format!("return a{}", "?a:a".repeat(3_000_000)), "nested too deeply");
        check_refused(&format!("return a{}", "?a".repeat(3_000_000)), "nested too deeply");
    }

    #[test]
    fn large_data_is_loaded() {
        let rows = "1.5, true, \"text\", -20, [\"key\"] = 0x10, name = 1e10,\n";
        let text = format!("return {{\n{}}}", rows.repeat((16 << 20) / rows.len() - 1));
        let (result, seconds) = loaded(&text);
        assert_eq!(result, Ok(()), "after {seconds} s");
        assert_eq!(loaded(&"local a = 1 ".repeat(100)).0, Ok(()));
    }

    #[test]
    fn a_truncated_text_is_reported_as_such() {
        assert_eq!(loaded(&format!("return {{{}", "1, ".repeat(1000))).0, Err(Fault::OnStack));
        assert_eq!(loaded("\u{1b}LJ").0, Err(Fault::OnStack));
    }
}
