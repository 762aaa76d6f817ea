//! Standard output and standard error: the one place where the process writes to them. Text from a
//! game can hold characters that steer a terminal (escape sequences, overwritten lines, reversed
//! text). They are shown as escapes; only the engine's own colours are commands.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;

/// Why standard output lost something, once it has.
static LOST: Mutex<Option<String>> = Mutex::new(None);

/// Whether a character steers a terminal, or the order in which text is shown, instead of being
/// shown: control characters (C0, DEL, C1), bidirectional overrides and isolates, line and
/// paragraph separators. A zero byte does nothing on a terminal.
pub fn steers(c: char) -> bool {
    match c {
        '\n' | '\t' | '\0' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => true,
        c => c.is_control(),
    }
}

/// Text as it can be shown on a terminal: what steers is an escape, such as `\u{1b}`. Newlines and
/// tabs stay, and a carriage return right before a newline.
pub fn escape(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.bytes().all(plain) || !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '\r' if letters.peek() == Some(&'\n') => shown.push(c),
            c if steers(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The same for text that must stay on one line of a list or a format: newlines and zero bytes are
/// escapes, too.
pub fn escape_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\0' => shown.extend(c.escape_default()),
            c if steers(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

/// Text for a terminal: escaped, with the engine's own colours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Styled(String);

impl Styled {
    pub fn plain(text: &str) -> Styled {
        Styled(escape(text).into_owned())
    }

    /// Text in a colour, by its number for terminals.
    pub fn colored(color: &'static str, text: &str) -> Styled {
        Styled(format!("\x1b[{color}m{}\x1b[0m", escape(text)))
    }

    /// Commands for the terminal, which the engine alone gives.
    pub fn command(command: &'static str) -> Styled {
        Styled(command.to_string())
    }

    /// Moves the cursor to a column, from 0.
    pub fn to_column(column: usize) -> Styled {
        match column {
            0 => Styled("\r".to_string()),
            column => Styled(format!("\r\x1b[{column}C")),
        }
    }

    pub fn then(mut self, other: &Styled) -> Styled {
        self.0 += &other.0;
        self
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes text to standard output. What cannot be written is lost: see [`lost`].
pub fn print(text: &str) {
    print_styled(&Styled::plain(text));
}

/// Writes text with colours and commands to standard output.
pub fn print_styled(text: &Styled) {
    let mut out = io::stdout();
    let written = out.write_all(text.0.as_bytes()).and_then(|()| match text.0.ends_with('\n') {
        true => Ok(()),
        false => out.flush(),
    });
    note(written);
}

/// Writes text to standard error. Nobody can be told where that fails.
pub fn print_error(text: &str) {
    print_error_styled(&Styled::plain(text));
}

/// Writes text with colours and commands to standard error.
pub fn print_error_styled(text: &Styled) {
    let _ = io::stderr().write_all(text.0.as_bytes());
}

/// Writes a line of a running game to standard output. A closed pipe or a full disk must not end a
/// game: `engine run mygame | head` goes on without its output. A full disk shows at the end.
pub fn print_game_line(line: &str) {
    note(writeln!(io::stdout(), "{}", escape(line)));
}

/// Passes on what another process of the engine wrote, which has escaped it already.
pub fn pass_on(bytes: &[u8], error: bool) {
    // A closed pipe takes it along.
    let _ = match error {
        false => io::stdout().write_all(bytes),
        true => io::stderr().write_all(bytes),
    };
}

/// Has everything that waits written now: why standard output lost something, if it has. A pipe
/// that somebody closed is no loss.
pub fn lost() -> Option<String> {
    note(io::stdout().flush());
    LOST.lock().unwrap_or_else(|poison| poison.into_inner()).clone()
}

fn note(written: io::Result<()>) {
    let Err(reason) = written else { return };
    if reason.kind() != io::ErrorKind::BrokenPipe {
        let mut lost = LOST.lock().unwrap_or_else(|poison| poison.into_inner());
        lost.get_or_insert_with(|| reason.to_string());
    }
}

/// Whether somebody watches standard output.
pub fn is_watched() -> bool {
    io::stdout().is_terminal()
}

/// Whether somebody watches standard error.
pub fn is_error_watched() -> bool {
    io::stderr().is_terminal()
}

/// Writes a line to standard output, in place of `println!`.
#[macro_export]
macro_rules! print_line {
    ($($words:tt)+) => {
        $crate::foundation::terminal::print(&(format!($($words)+) + "\n"))
    };
}

/// Writes a line to standard error in the same way.
#[macro_export]
macro_rules! error_line {
    ($($words:tt)+) => {
        $crate::foundation::terminal::print_error(&(format!($($words)+) + "\n"))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &str) {
        assert_eq!(escape(text), wanted, "{text:?}");
        let shown = escape(text);
        assert!(!shown.replace("\r\n", "\n").chars().any(steers), "{shown:?}");
        assert_eq!(escape(&shown), shown, "a second time changes nothing");
    }

    #[test]
    fn what_steers_a_terminal_is_shown_as_an_escape() {
        check("plain\ttext\nkäse \u{1f980}\0", "plain\ttext\nkäse \u{1f980}\0");
        check("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}");
        check("\x1b[2J\x1b[31mred", "\\u{1b}[2J\\u{1b}[31mred");
        check("line\rover", "line\\rover");
        check("of Windows\r\nnext\r\n", "of Windows\r\nnext\r\n");
        check("\u{7f}\u{8}\u{b}", "\\u{7f}\\u{8}\\u{b}");
        check("\u{9b}31m\u{9d}0;t\u{9c}", "\\u{9b}31m\\u{9d}0;t\\u{9c}");
        check("a\u{202e}b\u{2066}c\u{2069}", "a\\u{202e}b\\u{2066}c\\u{2069}");
        check("one\u{2028}two\u{2029}", "one\\u{2028}two\\u{2029}");
        // Marks that Arabic and Hebrew texts need.
        check("\u{200f}שלום\u{200e}\u{61c}", "\u{200f}שלום\u{200e}\u{61c}");
    }

    #[test]
    fn every_control_character_is_known() {
        let all = (0..0x110000).filter_map(char::from_u32);
        let missed: Vec<char> = all
            .filter(|c| c.is_control() && !steers(*c) && !matches!(c, '\n' | '\t' | '\0'))
            .collect();
        assert_eq!(missed, []);
        assert_eq!(escape_line("a\nb\0c\x1b"), "a\\nb\\u{0}c\\u{1b}");
    }

    #[test]
    fn only_the_engine_itself_colours() {
        let text = Styled::colored("31", "a\x1b[32mb").then(&Styled::plain("\x1b[0m"));
        assert_eq!(text.as_str(), "\x1b[31ma\\u{1b}[32mb\x1b[0m\\u{1b}[0m");
        assert_eq!(
            Styled::to_column(3).then(&Styled::command("\x1b[K")).as_str(),
            "\r\x1b[3C\x1b[K"
        );
    }
}
