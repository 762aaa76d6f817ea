//! Text to document. One pass, by hand; every fault carries its place and a remedy. Makes no
//! decisions about meaning.

use super::{Data, Document, Field, NESTING_MAX, Node, Span, SyntaxError, TEXT_BYTES_MAX};
use super::{column_of, write::number_text};
use std::borrow::Cow;

type Parsed<T> = Result<T, SyntaxError>;

/// Reads bytes that should be UTF-8; for files.
pub fn parse_bytes(bytes: &[u8]) -> Result<Document, SyntaxError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return parse(text),
        Err(error) => error,
    };
    let at = error.valid_up_to();
    // The part before `at` is valid, so nothing of it is lost here.
    let before = String::from_utf8_lossy(&bytes[..at]);
    let message =
        format!("byte 0x{:02x} at offset {at} is not UTF-8: save the file as UTF-8", bytes[at]);
    Err(fault_at(&before, before.len(), message))
}

/// Reads a text; see the head of `sjson` for the rules.
pub fn parse(text: &str) -> Result<Document, SyntaxError> {
    if text.len() > TEXT_BYTES_MAX {
        let message =
            format!("text has {} bytes, more than {TEXT_BYTES_MAX}: split it", text.len());
        return Err(fault_at("", 0, message));
    }
    let mut parser = Parser::new(text);
    let bare_root = parser.skip_to_bare_root()?;
    let root = if bare_root {
        let fields = parser.fields(None)?;
        let span = Span { start: parser.start, end: text.len() };
        parser.push(span, Data::Object(fields))
    } else {
        parser.value()?
    };
    parser.skip()?;
    if let Some(extra) = parser.next_char() {
        return parser.fault(format!(
            "'{}' after the end of the file's value: remove it",
            extra.escape_debug()
        ));
    }
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    Ok(Document {
        text: text.to_string(),
        nodes: parser.nodes,
        root,
        bare_root,
        lines: [0].into_iter().chain(breaks.map(|(i, _)| i + 1)).collect(),
    })
}

fn fault_at(text: &str, byte: usize, message: String) -> SyntaxError {
    let before = &text[..byte];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    SyntaxError {
        line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
        column: column_of(&before[line_start..]),
        message,
    }
}

/// The most characters of a word that a message shows.
const SHOWN_MAX: usize = 60;

/// A word for a message, which a long one would fill.
fn shown(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(SHOWN_MAX) {
        None => Cow::Borrowed(word),
        Some((end, _)) => Cow::Owned(format!("{}…", &word[..end])),
    }
}

/// Whether a key without quotes may have this byte in it; comments end it, too.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte > b' ' && byte != 0x7f && !b"=:,{}[]\"".contains(&byte)
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Behind a byte order mark, if there is one.
    start: usize,
    at: usize,
    depth: usize,
    nodes: Vec<Node>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Parser { text, bytes: text.as_bytes(), start, at: start, depth: 0, nodes: Vec::new() }
    }

    fn fault<T>(&self, message: String) -> Parsed<T> {
        self.fault_from(self.at, message)
    }

    fn fault_from<T>(&self, byte: usize, message: String) -> Parsed<T> {
        Err(fault_at(self.text, byte, message))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next_char(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn ahead(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    fn comment_ahead(&self) -> bool {
        self.ahead("//") || self.ahead("/*")
    }

    fn push(&mut self, span: Span, data: Data) -> usize {
        self.nodes.push(Node { span, data });
        self.nodes.len() - 1
    }

    fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Parsed<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') if self.ahead("//") => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                Some(b'/') if self.ahead("/*") => {
                    let Some(length) = self.text[self.at + 2..].find("*/") else {
                        return self.fault("comment is not closed: add '*/'".to_string());
                    };
                    self.at += length + 4;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Moves to the first value or key, and tells whether the text is the inside of an object: it
    /// is unless it starts with a bracket or is a single value, as plain JSON may be.
    fn skip_to_bare_root(&mut self) -> Parsed<bool> {
        self.skip()?;
        let start = self.at;
        if matches!(self.peek(), Some(b'{' | b'[')) {
            return Ok(false);
        }
        let single = self.peek().is_some()
            && self.value().is_ok()
            && self.skip().is_ok()
            && self.peek().is_none();
        self.at = start;
        self.nodes.clear();
        Ok(!single)
    }

    fn value(&mut self) -> Parsed<usize> {
        let start = self.at;
        let data = match self.peek() {
            Some(b'{') => {
                self.at += 1;
                Data::Object(self.fields(Some(start))?)
            }
            Some(b'[') => Data::Array(self.items()?),
            Some(b'"') => Data::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Data::Number(self.number()?),
            _ => self.literal()?,
        };
        Ok(self.push(self.span_from(start), data))
    }

    fn enter(&mut self, start: usize) -> Parsed<()> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            let message =
                format!("more than {NESTING_MAX} lists and objects in each other: nest less");
            return self.fault_from(start, message);
        }
        Ok(())
    }

    /// The inside of an object, up to and with the brace that closes the one at `open`; up to the
    /// end of the text where the file itself is the object.
    fn fields(&mut self, open: Option<usize>) -> Parsed<Vec<Field>> {
        self.enter(open.unwrap_or(self.at))?;
        let mut fields = Vec::new();
        let mut comma_may_follow = false;
        loop {
            self.skip()?;
            match (self.peek(), open) {
                (None, None) => break,
                (None, Some(open)) => {
                    return self.fault_from(open, "object is not closed: add '}'".to_string());
                }
                (Some(b'}'), Some(_)) => {
                    self.at += 1;
                    break;
                }
                (Some(close @ (b'}' | b']')), _) => return self.wrong_close(close, open),
                (Some(b','), _) => self.comma(&mut comma_may_follow)?,
                _ => {
                    fields.push(self.field()?);
                    comma_may_follow = true;
                }
            }
        }
        self.depth -= 1;
        self.refuse_duplicates(&fields)?;
        Ok(fields)
    }

    fn items(&mut self) -> Parsed<Vec<usize>> {
        let open = self.at;
        self.at += 1;
        self.enter(open)?;
        let mut items = Vec::new();
        let mut comma_may_follow = false;
        loop {
            self.skip()?;
            match self.peek() {
                None => {
                    return self.fault_from(open, "list is not closed: add ']'".to_string());
                }
                Some(b']') => break,
                Some(close @ b'}') => return self.wrong_close(close, Some(open)),
                Some(b',') => self.comma(&mut comma_may_follow)?,
                Some(b'=' | b':') => {
                    let message = "a list has no keys: use '{ }' around keys and values";
                    return self.fault(message.to_string());
                }
                _ => {
                    items.push(self.value()?);
                    comma_may_follow = true;
                }
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(items)
    }

    fn wrong_close<T>(&self, close: u8, open: Option<usize>) -> Parsed<T> {
        let close = char::from(close);
        let Some(open) = open else {
            return self.fault(format!("'{close}' closes nothing: remove it"));
        };
        let line = fault_at(self.text, open, String::new()).line;
        let (what, due) = match self.bytes[open] {
            b'[' => ("list", ']'),
            _ => ("object", '}'),
        };
        self.fault(format!(
            "'{close}' cannot close the {what} of line {line}: put '{due}' before it"
        ))
    }

    fn comma(&mut self, may_follow: &mut bool) -> Parsed<()> {
        if !*may_follow {
            return self.fault("comma without a value before it: remove it".to_string());
        }
        *may_follow = false;
        self.at += 1;
        Ok(())
    }

    fn field(&mut self) -> Parsed<Field> {
        let start = self.at;
        let key = match self.peek() {
            Some(b'"') => self.string()?,
            _ => self.word().to_string(),
        };
        let key_span = self.span_from(start);
        if key_span.start == key_span.end {
            return self.unexpected("a key");
        }
        self.skip()?;
        if !matches!(self.peek(), Some(b'=' | b':')) {
            let key = shown(&key);
            let message = format!("key '{key}' has no value: write {key} = value");
            return self.fault_from(start, message);
        }
        self.at += 1;
        self.skip()?;
        if matches!(self.peek(), None | Some(b',' | b'}' | b']')) {
            let message = format!("key '{}' has no value: write one behind it", shown(&key));
            return self.fault_from(start, message);
        }
        let node = self.value()?;
        Ok(Field { key, key_span, node })
    }

    fn refuse_duplicates(&self, fields: &[Field]) -> Parsed<()> {
        let mut sorted: Vec<&Field> = fields.iter().collect();
        sorted.sort_by_key(|field| (&field.key, field.key_span.start));
        let twice = sorted.windows(2).filter(|pair| pair[0].key == pair[1].key);
        let Some(pair) = twice.min_by_key(|pair| pair[1].key_span.start) else {
            return Ok(());
        };
        let line = |field: &Field| fault_at(self.text, field.key_span.start, String::new()).line;
        let message = format!(
            "key '{}' is given twice, in line {} and in line {}: remove one",
            shown(&pair[0].key),
            line(pair[0]),
            line(pair[1])
        );
        self.fault_from(pair[1].key_span.start, message)
    }

    /// Takes the characters that a key, number or literal may have; may be none.
    fn word(&mut self) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(is_word_byte) && !self.comment_ahead() {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn unexpected<T>(&self, due: &str) -> Parsed<T> {
        let found = match self.next_char() {
            Some(found) if found.is_control() => format!("character U+{:04X}", found as u32),
            Some(found) => format!("'{found}'"),
            None => "the end of the text".to_string(),
        };
        self.fault(format!("{found} where {due} is due: remove it"))
    }

    fn literal(&mut self) -> Parsed<Data> {
        let start = self.at;
        let word = self.word();
        let remedy = match word {
            "true" => return Ok(Data::Bool(true)),
            "false" => return Ok(Data::Bool(false)),
            "null" => return Ok(Data::Null),
            "" => return self.unexpected("a value"),
            _ if word.eq_ignore_ascii_case("true") => "write true",
            _ if word.eq_ignore_ascii_case("false") => "write false",
            _ if word.eq_ignore_ascii_case("null") => "write null",
            _ if word.starts_with(['.', '+']) => "write numbers like 0.5, quotes around text",
            _ => "put quotes around text",
        };
        self.fault_from(start, format!("'{}' is not a value: {remedy}", shown(word)))
    }

    fn number(&mut self) -> Parsed<f64> {
        let start = self.at;
        let word = self.word();
        if let Some(remedy) = number_remedy(word) {
            return self.fault_from(start, format!("'{}' is not a number: {remedy}", shown(word)));
        }
        let value: f64 = word.parse().expect("the grammar above is a part of Rust's");
        if value.is_infinite() {
            let word = shown(word);
            let message = format!("number {word} is too large: the largest is about 1.8e308");
            return self.fault_from(start, message);
        }
        let whole = !word.contains(['.', 'e', 'E']);
        if whole && format!("{value:.0}") != word {
            let message = format!(
                "number {} would become {}: write it with fewer digits or as text in quotes",
                shown(word),
                number_text(value)
            );
            return self.fault_from(start, message);
        }
        Ok(value)
    }

    fn string(&mut self) -> Parsed<String> {
        if self.ahead("\"\"\"") {
            return self.raw_string();
        }
        let open = self.at;
        let mut value = String::new();
        self.at += 1;
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            value.push_str(&self.text[start..self.at]);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => value.push(self.escape()?),
                None | Some(b'\r' | b'\n') => {
                    let message = "text is not closed: add '\"', or use \"\"\" for several lines";
                    return self.fault_from(open, message.to_string());
                }
                Some(byte) => {
                    let message = format!("control character in text: write \\u{byte:04x}");
                    return self.fault(message);
                }
            }
        }
        self.at += 1;
        Ok(value)
    }

    /// Text between three quotes: everything in it stands for itself.
    fn raw_string(&mut self) -> Parsed<String> {
        let start = self.at + 3;
        let Some(length) = self.text[start..].find("\"\"\"") else {
            return self.fault("text is not closed: add '\"\"\"'".to_string());
        };
        self.at = start + length + 3;
        Ok(self.text[start..start + length].to_string())
    }

    fn escape(&mut self) -> Parsed<char> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.next_char() else {
            return self.fault_from(start, "text ends in '\\': finish the escape".to_string());
        };
        self.at += letter.len_utf8();
        Ok(match letter {
            '"' | '\\' | '/' => letter,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode_escape(start),
            _ => {
                let message = format!(
                    "'\\{}' is not an escape: write '\\\\' for a backslash",
                    letter.escape_debug()
                );
                return self.fault_from(start, message);
            }
        })
    }

    /// The four digits of `\uXXXX`, and of its second half where the first is a surrogate.
    fn unicode_escape(&mut self, start: usize) -> Parsed<char> {
        let first = self.four_digits(start)?;
        let lone = |parser: &Self| {
            let message =
                format!("\\u{first:04x} is half a character: write both halves or \"\"\"");
            parser.fault_from(start, message)
        };
        let code = match first {
            0xd800..=0xdbff if self.ahead("\\u") => {
                self.at += 2;
                let second = self.four_digits(start)?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return lone(self);
                }
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            _ => first,
        };
        char::from_u32(code).map_or_else(|| lone(self), Ok)
    }

    fn four_digits(&mut self, start: usize) -> Parsed<u32> {
        let digits = self.bytes.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            let message = "\\u needs four hexadecimal digits: write \\u00e9 for 'é'";
            return self.fault_from(start, message.to_string());
        };
        self.at += 4;
        let value = |code, digit: &u8| code * 16 + char::from(*digit).to_digit(16).unwrap();
        Ok(digits.iter().fold(0, value))
    }
}

/// What to do about a word that is not a JSON number; `None` if it is one.
fn number_remedy(word: &str) -> Option<&'static str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    if unsigned.starts_with("0x") || unsigned.starts_with("0X") {
        return Some("write it in decimal digits");
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    if fraction == Some("") {
        return Some("write digits behind the point");
    }
    let exponent = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    if exponent == Some("") && digits(whole) {
        return Some("write digits behind the 'e'");
    }
    if !digits(whole) || !fraction.is_none_or(digits) || !exponent.is_none_or(digits) {
        return Some("put quotes around text");
    }
    if whole.len() > 1 && whole.starts_with('0') {
        return Some("remove the zeros in front");
    }
    None
}
