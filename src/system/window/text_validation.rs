//! Validation of texts passed from a game to the desktop: window titles and clipboard text.
//! Taskbars, terminals and other programs read these texts, so control characters are rejected.

use engine_foundation::terminal::{controls_terminal, escape_line};

/// Maximum length of a title, in bytes.
pub const TITLE_BYTES_MAX: usize = 1000;

/// Returns the reason if a title is refused.
pub fn title_error(title: &str) -> Option<String> {
    if title.len() > TITLE_BYTES_MAX {
        let length = title.len();
        let message = format!("has {length} bytes, and {TITLE_BYTES_MAX} are the most");
        return Some(format!("{message} (TITLE_BYTES_MAX)"));
    }
    match title.chars().find(|c| c.is_control() || controls_terminal(*c))? {
        '\0' => Some("has a zero byte, which no title can have".to_string()),
        odd => Some(format!("has {odd:?} in it: a title is one line of letters")),
    }
}

/// Converts any text to a valid title, for example the unchecked name of a folder or a bundle.
pub fn title_of(text: &str) -> String {
    let mut title = escape_line(text).replace('\t', " ");
    title.truncate(title.floor_char_boundary(TITLE_BYTES_MAX));
    title
}

/// Returns the reason if a text is refused for the clipboard. A text with control characters could
/// run commands when the player pastes it into a terminal.
pub fn clipboard_error(text: &str) -> Option<String> {
    let odd = text.chars().find(|c| c.is_control() && !"\n\r\t".contains(*c))?;
    Some(format!("has {odd:?} in it: the clipboard takes letters, line breaks and tabs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_printable_line_of_limited_length() {
        assert_eq!(title_error("Käse \u{1f980} 日本"), None);
        let explanation = "in it: a title is one line of letters";
        for (title, odd) in [
            ("\x1b]0;x", "'\\u{1b}'"),
            ("a\nb", "'\\n'"),
            ("a\tb", "'\\t'"),
            ("\u{85}", "'\\u{85}'"),
            ("a\u{202e}b", "'\\u{202e}'"),
        ] {
            assert_eq!(title_error(title), Some(format!("has {odd} {explanation}")));
            assert_eq!(title_error(&title_of(title)), None);
        }
        assert_eq!(title_error("\0").unwrap(), "has a zero byte, which no title can have");
        let long = "é".repeat(501);
        assert_eq!(
            title_error(&long).unwrap(),
            "has 1002 bytes, and 1000 are the most (TITLE_BYTES_MAX)"
        );
        assert_eq!(title_of(&long), "é".repeat(500));
        assert_eq!(title_of("a\0b\x1b"), "a\\u{0}b\\u{1b}");
    }

    #[test]
    fn the_clipboard_accepts_no_terminal_escapes() {
        assert_eq!(clipboard_error("two\r\nlines\tand שלום\u{200f}"), None);
        for (text, odd) in [("a\x1b[201~rm", "'\\u{1b}'"), ("\0", "'\\0'"), ("\u{9b}", "'\\u{9b}'")]
        {
            let explanation = "in it: the clipboard takes letters, line breaks and tabs";
            assert_eq!(clipboard_error(text), Some(format!("has {odd} {explanation}")));
        }
    }
}
