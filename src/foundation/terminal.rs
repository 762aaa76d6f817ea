//! Standard output and standard error: the only module in which the process writes to them. Text
//! from a game can contain terminal control characters (escape sequences, overwritten lines,
//! reversed text). These are printed as escapes. Only the engine's own colors and commands reach
//! the terminal as control sequences.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;

/// The first error that lost text on standard output, if any.
static OUTPUT_ERROR: Mutex<Option<String>> = Mutex::new(None);

/// Returns true if a character controls a terminal or the order of displayed text instead of being
/// displayed. These are control characters (C0, DEL, C1), bidirectional overrides and isolates, and
/// line and paragraph separators. A zero byte has no effect on a terminal.
pub fn controls_terminal(c: char) -> bool {
    match c {
        '\n' | '\t' | '\0' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => true,
        c => c.is_control(),
    }
}

/// Escapes text for a terminal: control characters become escapes such as `\u{1b}`. Newlines and
/// tabs remain, and so does a carriage return directly before a newline.
pub fn escape(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.bytes().all(plain) || !text.chars().any(controls_terminal) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '\r' if letters.peek() == Some(&'\n') => escaped.push(c),
            c if controls_terminal(c) => escaped.extend(c.escape_default()),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// Escapes text that must stay on one line of a list or a format: newlines and zero bytes become
/// escapes, too.
pub fn escape_line(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\0' => escaped.extend(c.escape_default()),
            c if controls_terminal(c) => escaped.extend(c.escape_default()),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text for a terminal: escaped, with the engine's own colors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StyledText(String);

impl StyledText {
    pub fn plain(text: &str) -> StyledText {
        StyledText(escape(text).into_owned())
    }

    /// Creates text in a color, which is specified by its terminal color code.
    pub fn colored(color: &'static str, text: &str) -> StyledText {
        StyledText(format!("\x1b[{color}m{}\x1b[0m", escape(text)))
    }

    /// Creates a terminal command. Only the engine uses it.
    pub fn command(command: &'static str) -> StyledText {
        StyledText(command.to_string())
    }

    /// Creates the command that moves the cursor to a column, from 0.
    pub fn to_column(column: usize) -> StyledText {
        match column {
            0 => StyledText("\r".to_string()),
            column => StyledText(format!("\r\x1b[{column}C")),
        }
    }

    pub fn then(mut self, other: &StyledText) -> StyledText {
        self.0 += &other.0;
        self
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes text to standard output. Text that cannot be written is lost: see [`output_error`].
pub fn print(text: &str) {
    print_styled(&StyledText::plain(text));
}

/// Writes text with colors and commands to standard output.
pub fn print_styled(text: &StyledText) {
    let mut out = io::stdout();
    let written = out.write_all(text.0.as_bytes()).and_then(|()| match text.0.ends_with('\n') {
        true => Ok(()),
        false => out.flush(),
    });
    record_output_error(written);
}

/// Writes text to standard error. Write errors are ignored, because they cannot be reported
/// anywhere.
pub fn print_error(text: &str) {
    print_error_styled(&StyledText::plain(text));
}

/// Writes text with colors and commands to standard error.
pub fn print_error_styled(text: &StyledText) {
    let _ = io::stderr().write_all(text.0.as_bytes());
}

/// Writes a line of a running game to standard output. A closed pipe or a full disk must not end a
/// game: `engine run mygame | head` continues without its output. A full disk is reported at the
/// end.
pub fn print_game_line(line: &str) {
    record_output_error(writeln!(io::stdout(), "{}", escape(line)));
}

/// Forwards output of another engine process, which has escaped it already.
pub fn forward_output(bytes: &[u8], error: bool) {
    // If the pipe is closed, the output is lost.
    let _ = match error {
        false => io::stdout().write_all(bytes),
        true => io::stderr().write_all(bytes),
    };
}

/// Flushes standard output. Returns the reason if output was lost. Output to a closed pipe does not
/// count as lost.
pub fn output_error() -> Option<String> {
    record_output_error(io::stdout().flush());
    OUTPUT_ERROR.lock().unwrap_or_else(|poison| poison.into_inner()).clone()
}

fn record_output_error(written: io::Result<()>) {
    let Err(reason) = written else { return };
    if reason.kind() != io::ErrorKind::BrokenPipe {
        let mut lost = OUTPUT_ERROR.lock().unwrap_or_else(|poison| poison.into_inner());
        lost.get_or_insert_with(|| reason.to_string());
    }
}

/// Returns true if standard output is a terminal.
pub fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns true if standard error is a terminal.
pub fn is_error_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Writes a line to standard output. Replaces `println!`.
#[macro_export]
macro_rules! print_line {
    ($($arguments:tt)+) => {
        $crate::terminal::print(&(format!($($arguments)+) + "\n"))
    };
}

/// Writes a line to standard error. Replaces `eprintln!`.
#[macro_export]
macro_rules! error_line {
    ($($arguments:tt)+) => {
        $crate::terminal::print_error(&(format!($($arguments)+) + "\n"))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &str) {
        assert_eq!(escape(text), wanted, "{text:?}");
        let escaped = escape(text);
        assert!(!escaped.replace("\r\n", "\n").chars().any(controls_terminal), "{escaped:?}");
        assert_eq!(escape(&escaped), escaped, "a second time changes nothing");
    }

    #[test]
    fn control_characters_are_printed_as_escapes() {
        check("plain\ttext\nkäse \u{1f980}\0", "plain\ttext\nkäse \u{1f980}\0");
        check("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}");
        check("\x1b[2J\x1b[31mred", "\\u{1b}[2J\\u{1b}[31mred");
        check("line\rover", "line\\rover");
        check("of Windows\r\nnext\r\n", "of Windows\r\nnext\r\n");
        check("\u{7f}\u{8}\u{b}", "\\u{7f}\\u{8}\\u{b}");
        check("\u{9b}31m\u{9d}0;t\u{9c}", "\\u{9b}31m\\u{9d}0;t\\u{9c}");
        check("a\u{202e}b\u{2066}c\u{2069}", "a\\u{202e}b\\u{2066}c\\u{2069}");
        check("one\u{2028}two\u{2029}", "one\\u{2028}two\\u{2029}");
        // Arabic and Hebrew texts need these marks.
        check("\u{200f}שלום\u{200e}\u{61c}", "\u{200f}שלום\u{200e}\u{61c}");
    }

    #[test]
    fn every_control_character_is_recognised() {
        let all = (0..0x110000).filter_map(char::from_u32);
        let missed: Vec<char> = all
            .filter(|c| {
                c.is_control() && !controls_terminal(*c) && !matches!(c, '\n' | '\t' | '\0')
            })
            .collect();
        assert_eq!(missed, []);
        assert_eq!(escape_line("a\nb\0c\x1b"), "a\\nb\\u{0}c\\u{1b}");
    }

    #[test]
    fn only_the_engine_prints_colours() {
        let text = StyledText::colored("31", "a\x1b[32mb").then(&StyledText::plain("\x1b[0m"));
        assert_eq!(text.as_str(), "\x1b[31ma\\u{1b}[32mb\x1b[0m\\u{1b}[0m");
        assert_eq!(
            StyledText::to_column(3).then(&StyledText::command("\x1b[K")).as_str(),
            "\r\x1b[3C\x1b[K"
        );
    }
}
