//! Tokens of a Lua script, as LuaJIT's lexer reads them (lj_lex.c).

/// Kind of a token. Comments are left out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SourceTokenKind {
    Word,
    Text,
    Number,
    Sign,
}

/// One token of a script.
#[derive(Clone, Copy, Debug)]
pub struct SourceToken<'a> {
    pub kind: SourceTokenKind,
    pub text: &'a str,
    /// Byte offset in the text.
    pub start: usize,
}

/// Lua's keywords.
pub const KEYWORDS: &[&str] = &[
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
    "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
];

/// Signs of several characters, longer ones first.
const SIGNS: [&str; 16] = [
    "...", "~>>", "..", "==", "~=", "<=", ">=", "::", "!=", "?.", "??", "<<", ">>", "&&", "||",
    "->",
];

/// Returns the tokens of a script; `None` if a string or a comment has no end.
pub fn tokens(text: &str) -> Option<Vec<SourceToken<'_>>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut i = 0;
    if bytes.first() == Some(&b'#') {
        i = end_of_line(bytes, 0);
    }
    while i < bytes.len() {
        let start = i;
        let byte = bytes[i];
        let kind = match byte {
            b' ' | b'\t'..=b'\r' => {
                i += 1;
                continue;
            }
            b'-' if bytes[i..].starts_with(b"--") => {
                i = match long_bracket(bytes, i + 2) {
                    Some(end) => end?,
                    None => end_of_line(bytes, i),
                };
                continue;
            }
            b'"' | b'\'' => {
                i = end_of_string(bytes, i)?;
                SourceTokenKind::Text
            }
            b'0'..=b'9' => {
                i = end_of_number(bytes, i);
                SourceTokenKind::Number
            }
            b'[' if long_bracket(bytes, i).is_some() => {
                i = long_bracket(bytes, i).flatten()?;
                SourceTokenKind::Text
            }
            _ if is_letter(byte) => {
                while i < bytes.len() && (is_letter(bytes[i]) || bytes[i].is_ascii_digit()) {
                    i += 1;
                }
                SourceTokenKind::Word
            }
            _ => {
                let sign = SIGNS.iter().find(|sign| bytes[i..].starts_with(sign.as_bytes()));
                i += sign.map_or(1, |sign| sign.len());
                SourceTokenKind::Sign
            }
        };
        tokens.push(SourceToken { kind, text: &text[start..i], start });
    }
    Some(tokens)
}

/// Returns true if a byte can be a letter of a name. LuaJIT accepts every byte above ASCII as a
/// letter.
fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn end_of_line(bytes: &[u8], i: usize) -> usize {
    bytes[i..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| i + at)
}

fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut i = start + 1;
    loop {
        match *bytes.get(i)? {
            b'\\' if bytes.get(i + 1) == Some(&b'z') => {
                i += 2;
                while bytes.get(i).is_some_and(u8::is_ascii_whitespace) {
                    i += 1;
                }
            }
            b'\\' => i += 2,
            b'\n' => return None,
            byte if byte == bytes[start] => return Some(i + 1),
            _ => i += 1,
        }
    }
}

fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let mut i = start;
    while i < bytes.len() {
        let sign = matches!(bytes[i], b'+' | b'-') && i > start;
        let exponent = sign && matches!(bytes[i - 1], b'e' | b'E' | b'p' | b'P');
        let hex = bytes[start..].starts_with(b"0x") || bytes[start..].starts_with(b"0X");
        let wrong = exponent && hex && matches!(bytes[i - 1], b'e' | b'E');
        if !(bytes[i].is_ascii_alphanumeric() || bytes[i] == b'.' || exponent && !wrong) {
            break;
        }
        i += 1;
    }
    i
}

/// Returns the end of the long bracket that begins at `i`: `None` if there is no long bracket, and
/// `Some(None)` if it has no end.
fn long_bracket(bytes: &[u8], i: usize) -> Option<Option<usize>> {
    if bytes.get(i) != Some(&b'[') {
        return None;
    }
    let level = bytes[i + 1..].iter().take_while(|byte| **byte == b'=').count();
    if bytes.get(i + 1 + level) != Some(&b'[') {
        return None;
    }
    let close = [&b"]"[..], &b"=".repeat(level), b"]"].concat();
    let found = bytes[i + level + 2..].windows(close.len()).position(|part| part == close);
    Some(found.map(|at| i + level + 2 + at + close.len()))
}
