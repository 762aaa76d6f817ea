//! Line editor for a terminal: the text of the line, the cursor and the history. The input is bytes
//! of keys, the output is a text. Knows no game and no terminal.
//!
//! It is ours because the game's messages appear while a line is typed, and the game may end then:
//! `rustyline` blocks in its own read, which nothing outside can end, and holds messages back;
//! `reedline` would bring 15 crates.

/// Maximum number of lines in the history.
const HISTORY_MAX: usize = 500;
/// Maximum length of a line, in bytes.
const LINE_BYTES_MAX: usize = 16 << 10;

/// An event that a key causes, for the owner of the line.
#[derive(Debug, PartialEq)]
pub enum LineEvent {
    /// The line is complete.
    Line(String),
    /// Complete the name before the cursor.
    Complete(String),
    /// The input has ended.
    End,
    /// Clear the screen.
    Clear,
}

/// Key decoded from the bytes that a terminal sends (ECMA-48 and xterm's sequences).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Key {
    Letter(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Left,
    Right,
    WordLeft,
    WordRight,
    Up,
    Down,
    Home,
    End,
    /// Letter with the control key.
    Control(char),
    Unknown,
}

/// Edited line with its cursor and history.
#[derive(Default)]
pub struct Line {
    letters: Vec<char>,
    cursor: usize,
    history: Vec<String>,
    /// Index of the shown history entry, from its end; 0 is the line being typed.
    back: usize,
    /// Line being typed when the history was entered.
    typed: Vec<char>,
    /// Bytes of an incomplete key.
    pending: Vec<u8>,
}

impl Line {
    /// Creates a line with this history, the oldest entry first.
    pub fn new(history: Vec<String>) -> Line {
        Line { history, ..Line::default() }
    }

    pub fn text(&self) -> String {
        self.letters.iter().collect()
    }

    /// Returns the number of characters before the cursor.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Returns the history, the oldest entry first.
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// Adds bytes from the terminal, to be processed by [`Line::next`].
    pub fn take(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Processes the added bytes up to the next key that returns a request, because later keys may
    /// depend on the response.
    pub fn next(&mut self) -> Option<LineEvent> {
        while let Some((key, length)) = key(&self.pending) {
            self.pending.drain(..length);
            let asked = self.press(key);
            if asked.is_some() {
                return asked;
            }
        }
        None
    }

    /// Drops the bytes of an incomplete key, for example a lone escape.
    pub fn drop_incomplete_key(&mut self) {
        self.pending.clear();
    }

    fn press(&mut self, key: Key) -> Option<LineEvent> {
        match key {
            Key::Letter(letter) => self.insert(&letter.to_string()),
            Key::Enter => return Some(LineEvent::Line(self.enter())),
            Key::Tab => {
                return Some(LineEvent::Complete(self.letters[..self.cursor].iter().collect()));
            }
            Key::Backspace | Key::Control('h') if self.cursor > 0 => {
                self.cursor -= 1;
                self.letters.remove(self.cursor);
            }
            Key::Control('d') if self.letters.is_empty() => return Some(LineEvent::End),
            Key::Delete | Key::Control('d') if self.cursor < self.letters.len() => {
                self.letters.remove(self.cursor);
            }
            Key::Left | Key::Control('b') => self.cursor = self.cursor.saturating_sub(1),
            Key::Right | Key::Control('f') => {
                self.cursor = (self.cursor + 1).min(self.letters.len());
            }
            Key::WordLeft => self.cursor = self.word_start(),
            Key::WordRight => self.cursor = self.word_end(),
            Key::Home | Key::Control('a') => self.cursor = 0,
            Key::End | Key::Control('e') => self.cursor = self.letters.len(),
            Key::Up | Key::Control('p') => self.recall(self.back + 1),
            Key::Down | Key::Control('n') if self.back > 0 => self.recall(self.back - 1),
            Key::Control('u') => {
                self.letters.drain(..self.cursor);
                self.cursor = 0;
            }
            Key::Control('k') => self.letters.truncate(self.cursor),
            Key::Control('w') => {
                let start = self.word_start();
                self.letters.drain(start..self.cursor);
                self.cursor = start;
            }
            Key::Control('l') => return Some(LineEvent::Clear),
            Key::Control('c') if self.letters.is_empty() => return Some(LineEvent::End),
            Key::Control('c') => {
                self.letters.clear();
                (self.cursor, self.back) = (0, 0);
            }
            _ => {}
        }
        None
    }

    fn insert(&mut self, text: &str) {
        if self.letters.len() * 4 + text.len() > LINE_BYTES_MAX {
            return;
        }
        for letter in text.chars() {
            self.letters.insert(self.cursor, letter);
            self.cursor += 1;
        }
    }

    /// Replaces the start of a name before the cursor with a word.
    pub fn complete(&mut self, start: &str, word: &str) {
        let before = self.cursor.saturating_sub(start.chars().count());
        self.letters.drain(before..self.cursor);
        self.cursor = before;
        self.insert(word);
    }

    fn enter(&mut self) -> String {
        let text = self.text();
        let known = self.history.last() == Some(&text);
        if !text.trim().is_empty() && !known {
            self.history.push(text.clone());
            let more = self.history.len().saturating_sub(HISTORY_MAX);
            self.history.drain(..more);
        }
        self.letters.clear();
        (self.cursor, self.back) = (0, 0);
        text
    }

    fn recall(&mut self, back: usize) {
        if back > self.history.len() {
            return;
        }
        if self.back == 0 {
            self.typed = std::mem::take(&mut self.letters);
        }
        self.back = back;
        self.letters = match back {
            0 => std::mem::take(&mut self.typed),
            back => self.history[self.history.len() - back].chars().collect(),
        };
        self.cursor = self.letters.len();
    }

    fn word_start(&self) -> usize {
        let mut at = self.cursor;
        while at > 0 && !self.letters[at - 1].is_alphanumeric() {
            at -= 1;
        }
        while at > 0 && self.letters[at - 1].is_alphanumeric() {
            at -= 1;
        }
        at
    }

    fn word_end(&self) -> usize {
        let mut at = self.cursor;
        while at < self.letters.len() && !self.letters[at].is_alphanumeric() {
            at += 1;
        }
        while at < self.letters.len() && self.letters[at].is_alphanumeric() {
            at += 1;
        }
        at
    }
}

/// Decodes the key at the start of some bytes and its length; `None` if more bytes are needed.
fn key(bytes: &[u8]) -> Option<(Key, usize)> {
    match bytes {
        [b'\r' | b'\n', ..] => Some((Key::Enter, 1)),
        [b'\t', ..] => Some((Key::Tab, 1)),
        [0x7f, ..] => Some((Key::Backspace, 1)),
        [0x1b, rest @ ..] => escaped(rest),
        [byte @ 1..=26, ..] => Some((Key::Control(char::from(b'a' + byte - 1)), 1)),
        [0..=31, ..] => Some((Key::Unknown, 1)),
        [first, ..] => {
            let length = match first {
                0..0x80 => 1,
                0xc0..0xe0 => 2,
                0xe0..0xf0 => 3,
                0xf0.. => 4,
                _ => return Some((Key::Unknown, 1)),
            };
            let letter = std::str::from_utf8(bytes.get(..length)?).ok();
            let letter = letter.and_then(|text| text.chars().next());
            Some((letter.map_or(Key::Unknown, Key::Letter), length))
        }
        [] => None,
    }
}

/// Decodes a key that begins with an escape.
fn escaped(rest: &[u8]) -> Option<(Key, usize)> {
    match rest {
        [] => None,
        [b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            let numbers = std::str::from_utf8(&rest[..end]).unwrap_or_default();
            let word = numbers.ends_with(";5") || numbers.ends_with(";3");
            let key = match (rest[end], numbers) {
                (b'A', _) => Key::Up,
                (b'B', _) => Key::Down,
                (b'C', _) if word => Key::WordRight,
                (b'D', _) if word => Key::WordLeft,
                (b'C', _) => Key::Right,
                (b'D', _) => Key::Left,
                (b'H', _) | (b'~', "1" | "7") => Key::Home,
                (b'F', _) | (b'~', "4" | "8") => Key::End,
                (b'~', "3") => Key::Delete,
                _ => Key::Unknown,
            };
            Some((key, end + 3))
        }
        [b'O', letter, ..] => {
            let key = match letter {
                b'A' => Key::Up,
                b'B' => Key::Down,
                b'C' => Key::Right,
                b'D' => Key::Left,
                b'H' => Key::Home,
                b'F' => Key::End,
                _ => Key::Unknown,
            };
            Some((key, 3))
        }
        [b'O'] => None,
        [b'b', ..] => Some((Key::WordLeft, 2)),
        [b'f', ..] => Some((Key::WordRight, 2)),
        [_, ..] => Some((Key::Unknown, 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the text after some keys, with `|` at the cursor.
    fn check(line: &mut Line, keys: &str, wanted: &str) {
        line.take(keys.as_bytes());
        assert_eq!(line.next(), None);
        let mut letters = line.letters.clone();
        letters.insert(line.cursor, '|');
        assert_eq!(letters.into_iter().collect::<String>(), wanted, "{keys:?}");
    }

    #[test]
    fn letters_are_inserted_at_the_cursor() {
        let mut line = Line::default();
        check(&mut line, "hällo", "hällo|");
        check(&mut line, "\x1b[D\x1b[D\x7fX", "häX|lo");
        check(&mut line, "\x01a\x1b[3~", "a|äXlo");
        check(&mut line, "\x05 world\x1b[1;5D", "aäXlo |world");
        check(&mut line, "\x17", "|world");
        check(&mut line, "\x0b", "|");
        check(&mut line, "\x7f\x1b[D\x1b[C\x1b[B\x0b\x15", "|");
    }

    #[test]
    fn an_escape_sequence_may_arrive_in_pieces() {
        let mut line = Line::default();
        for piece in ["é🦀", "\x1b[1;5D", "ö"] {
            for byte in piece.bytes() {
                line.take(&[byte]);
                assert_eq!(line.next(), None);
            }
        }
        assert_eq!(line.text(), "öé🦀");
        line.take(b"\x1b");
        assert_eq!(line.next(), None);
        line.drop_incomplete_key();
        check(&mut line, "x", "öx|é🦀");
    }

    #[test]
    fn history_recalls_lines_and_restores_the_current_one() {
        let mut line = Line::new(vec!["one".into()]);
        line.take(b"two\rtwo\r  \r");
        for wanted in ["two", "two", "  "] {
            assert_eq!(line.next(), Some(LineEvent::Line(wanted.into())));
        }
        assert_eq!(line.history(), ["one", "two"]);
        check(&mut line, "thr\x1b[A", "two|");
        check(&mut line, "\x1b[A\x1b[A", "one|");
        check(&mut line, "\x1b[B\x1b[B", "thr|");
    }

    #[test]
    fn keys_request_completion_and_exit() {
        let mut line = Line::default();
        line.take(b"Unit.lo\t(u)");
        assert_eq!(line.next(), Some(LineEvent::Complete("Unit.lo".into())));
        line.complete("lo", "local_position");
        check(&mut line, "", "Unit.local_position(u)|");
        check(&mut line, "\x03", "|");
        line.take(b"\x0c\x04");
        assert_eq!((line.next(), line.next()), (Some(LineEvent::Clear), Some(LineEvent::End)));
        line.take(b"\x03");
        assert_eq!(line.next(), Some(LineEvent::End));
    }
}
