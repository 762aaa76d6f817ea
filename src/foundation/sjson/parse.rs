//! The parser: text to document. A hand-written parser with one pass. Every error has its position
//! and a remedy. Does not interpret the values.

use super::nodes::{NodeData, NodeField, NodeSpan, Nodes};
use super::{Document, NESTING_MAX, SyntaxError, TEXT_BYTES_MAX};
use super::{column_of, write::number_text};
use std::borrow::Cow;
use std::sync::OnceLock;

type Parsed<T> = Result<T, SyntaxError>;

/// Parses the bytes of a file, which should be UTF-8.
pub fn parse_bytes(bytes: &[u8]) -> Result<Document, SyntaxError> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return parse(text),
        Err(error) => error,
    };
    let at = error.valid_up_to();
    // The part before `at` is valid UTF-8, so nothing of it is lost here.
    let before = String::from_utf8_lossy(&bytes[..at]);
    let message =
        format!("byte 0x{:02x} at offset {at} is not UTF-8: save the file as UTF-8", bytes[at]);
    Err(syntax_error_at(&before, before.len(), message))
}

/// Parses a text. The rules are in the head of `sjson`.
pub fn parse(text: &str) -> Result<Document, SyntaxError> {
    let (nodes, root, bare_root) = parse_nodes(text)?;
    Ok(Document { text: text.to_string(), nodes, root, bare_root, lines: OnceLock::new() })
}

/// Parses a text without copying it.
///
/// # Errors
/// Returns the text with the error.
pub fn parse_text(text: String) -> Result<Document, (SyntaxError, String)> {
    match parse_nodes(&text) {
        Ok((nodes, root, bare_root)) => {
            Ok(Document { text, nodes, root, bare_root, lines: OnceLock::new() })
        }
        Err(error) => Err((error, text)),
    }
}

/// Returns the values of a text, the index of the root, and true if the root has no braces.
fn parse_nodes(text: &str) -> Parsed<(Nodes, usize, bool)> {
    if text.len() > TEXT_BYTES_MAX {
        let message =
            format!("text has {} bytes, more than {TEXT_BYTES_MAX}: split it", text.len());
        return Err(syntax_error_at("", 0, message));
    }
    let mut parser = Parser::new(text);
    let bare_root = parser.skip_to_bare_root()?;
    let root = if bare_root {
        let fields = parser.fields(None)?;
        parser.nodes.push(NodeSpan::new(parser.start, text.len()), fields)
    } else {
        parser.value()?
    };
    parser.skip()?;
    if let Some(extra) = parser.next_char() {
        return parser.syntax_error(format!(
            "'{}' after the end of the file's value: remove it",
            extra.escape_debug()
        ));
    }
    parser.nodes.shrink();
    Ok((parser.nodes, root as usize, bare_root))
}

fn syntax_error_at(text: &str, byte: usize, message: String) -> SyntaxError {
    let before = &text[..byte];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    SyntaxError {
        line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
        column: column_of(&before[line_start..]),
        message,
    }
}

/// Starts of the lines that git writes around both sides of a merge conflict.
const CONFLICT_MARKERS: [&str; 3] = ["<<<<<<<", "=======", ">>>>>>>"];
const CONFLICT_MESSAGE: &str = "the file has a merge conflict of git: choose between the two sides \
                                and remove the lines that begin with <<<<<<<, ======= and >>>>>>>";

/// Maximum number of characters of a word that a message shows.
const WORD_CHARACTERS_MAX: usize = 60;

/// Maximum number of fields of an object whose keys are compared with each other.
const SMALL_OBJECT_FIELDS_MAX: usize = 12;
/// Number of digits that every whole number of this length keeps as a number.
const EXACT_DIGITS_MAX: usize = 15;

/// Shortens a long word for a message.
fn shortened(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(WORD_CHARACTERS_MAX) {
        None => Cow::Borrowed(word),
        Some((end, _)) => Cow::Owned(format!("{}…", &word[..end])),
    }
}

/// Returns true if a key without quotes may contain this byte. A comment also ends such a key.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte > b' ' && byte != 0x7f && !b"=:,{}[]\"".contains(&byte)
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Position of the first byte after the byte order mark, if the text has one.
    start: usize,
    at: usize,
    depth: usize,
    nodes: Nodes,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
        let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Parser { text, bytes: text.as_bytes(), start, at: start, depth: 0, nodes: Nodes::default() }
    }

    fn syntax_error<T>(&self, message: String) -> Parsed<T> {
        self.syntax_error_from(self.at, message)
    }

    fn syntax_error_from<T>(&self, byte: usize, message: String) -> Parsed<T> {
        let line = self.text[..byte].rfind('\n').map_or(0, |at| at + 1);
        let is_marker = CONFLICT_MARKERS.iter().any(|it| self.text[line..].starts_with(it));
        Err(match is_marker {
            true => syntax_error_at(self.text, line, CONFLICT_MESSAGE.to_string()),
            false => syntax_error_at(self.text, byte, message),
        })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next_char(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn starts_with(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    fn starts_comment(&self) -> bool {
        self.starts_with("//") || self.starts_with("/*")
    }

    fn span_from(&self, start: usize) -> NodeSpan {
        NodeSpan::new(start, self.at)
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Parsed<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                Some(b'/') if self.starts_with("//") => {
                    let rest = &self.text[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                Some(b'/') if self.starts_with("/*") => {
                    let Some(length) = self.text[self.at + 2..].find("*/") else {
                        return self.syntax_error("comment is not closed: add '*/'".to_string());
                    };
                    self.at += length + 4;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Moves to the first value or key. Returns true if the text is the inside of an object: it is
    /// unless it starts with a bracket or is a single value, as plain JSON may be.
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

    fn value(&mut self) -> Parsed<u32> {
        let start = self.at;
        let data = match self.peek() {
            Some(b'{') => {
                self.at += 1;
                self.fields(Some(start))?
            }
            Some(b'[') => self.items()?,
            Some(b'"') => {
                let text = self.string()?;
                NodeData::String(self.nodes.add_text(text))
            }
            Some(b'-' | b'0'..=b'9') => NodeData::Number(self.number()?),
            _ => self.literal()?,
        };
        Ok(self.nodes.push(self.span_from(start), data))
    }

    fn enter(&mut self, start: usize) -> Parsed<()> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            let message =
                format!("more than {NESTING_MAX} lists and objects in each other: nest less");
            return self.syntax_error_from(start, message);
        }
        Ok(())
    }

    /// Parses the entries of an object, up to and including the brace that closes the one at
    /// `open`. If the file itself is the object, parses up to the end of the text.
    fn fields(&mut self, open: Option<usize>) -> Parsed<NodeData> {
        self.enter(open.unwrap_or(self.at))?;
        let counts = self.nodes.open_counts();
        let mut comma_may_follow = false;
        loop {
            self.skip()?;
            match (self.peek(), open) {
                (None, None) => break,
                (None, Some(open)) => {
                    return self
                        .syntax_error_from(open, "object is not closed: add '}'".to_string());
                }
                (Some(b'}'), Some(_)) => {
                    self.at += 1;
                    break;
                }
                (Some(close @ (b'}' | b']')), _) => return self.wrong_close(close, open),
                (Some(b','), _) => self.comma(&mut comma_may_follow)?,
                _ => {
                    self.field()?;
                    comma_may_follow = true;
                }
            }
        }
        self.depth -= 1;
        self.refuse_duplicates(self.nodes.fields_since(counts))?;
        Ok(self.nodes.end_fields(counts))
    }

    fn items(&mut self) -> Parsed<NodeData> {
        let open = self.at;
        self.at += 1;
        self.enter(open)?;
        let counts = self.nodes.open_counts();
        let mut comma_may_follow = false;
        loop {
            self.skip()?;
            match self.peek() {
                None => {
                    return self.syntax_error_from(open, "list is not closed: add ']'".to_string());
                }
                Some(b']') => break,
                Some(close @ b'}') => return self.wrong_close(close, Some(open)),
                Some(b',') => self.comma(&mut comma_may_follow)?,
                Some(b'=' | b':') => {
                    let message = "a list has no keys: use '{ }' around keys and values";
                    return self.syntax_error(message.to_string());
                }
                _ => {
                    let item = self.value()?;
                    self.nodes.add_item(item);
                    comma_may_follow = true;
                }
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(self.nodes.end_items(counts))
    }

    fn wrong_close<T>(&self, close: u8, open: Option<usize>) -> Parsed<T> {
        let close = char::from(close);
        let Some(open) = open else {
            return self.syntax_error(format!("'{close}' closes nothing: remove it"));
        };
        let line = syntax_error_at(self.text, open, String::new()).line;
        let (noun, due) = match self.bytes[open] {
            b'[' => ("list", ']'),
            _ => ("object", '}'),
        };
        self.syntax_error(format!(
            "'{close}' cannot close the {noun} of line {line}: put '{due}' before it"
        ))
    }

    fn comma(&mut self, may_follow: &mut bool) -> Parsed<()> {
        if !*may_follow {
            return self.syntax_error("comma without a value before it: remove it".to_string());
        }
        *may_follow = false;
        self.at += 1;
        Ok(())
    }

    fn field(&mut self) -> Parsed<()> {
        let start = self.at;
        let key = match self.peek() {
            Some(b'"') => self.string()?,
            _ => {
                self.word();
                None
            }
        };
        let key = self.nodes.add_text(key);
        let key_span = self.span_from(start);
        let key_text =
            |parser: &Self| parser.nodes.text(parser.text, key_span.range(), key).to_string();
        if self.at == start {
            return self.unexpected("a key");
        }
        self.skip()?;
        if !matches!(self.peek(), Some(b'=' | b':')) {
            let key = key_text(self);
            let key = shortened(&key);
            let message = format!("key '{key}' has no value: write {key} = value");
            return self.syntax_error_from(start, message);
        }
        self.at += 1;
        self.skip()?;
        if matches!(self.peek(), None | Some(b',' | b'}' | b']')) {
            let key = key_text(self);
            let message = format!("key '{}' has no value: write one after it", shortened(&key));
            return self.syntax_error_from(start, message);
        }
        let node = self.value()?;
        self.nodes.add_field(key_span, key, node);
        Ok(())
    }

    fn refuse_duplicates(&self, fields: &[NodeField]) -> Parsed<()> {
        // Most objects are small, and comparing all is faster than sorting.
        let is_small = fields.len() <= SMALL_OBJECT_FIELDS_MAX;
        let mut pairs = fields
            .iter()
            .enumerate()
            .flat_map(|(at, field)| fields[..at].iter().map(move |earlier| (earlier, field)));
        let key = |field: &NodeField| self.nodes.key(self.text, field);
        if is_small && !pairs.any(|(one, other)| key(one) == key(other)) {
            return Ok(());
        }
        let mut sorted: Vec<&NodeField> = fields.iter().collect();
        sorted.sort_by_key(|field| (key(field), field.key_span.range().start));
        let twice = sorted.windows(2).filter(|pair| key(pair[0]) == key(pair[1]));
        let Some(pair) = twice.min_by_key(|pair| pair[1].key_span.range().start) else {
            return Ok(());
        };
        let line = |field: &NodeField| {
            syntax_error_at(self.text, field.key_span.range().start, String::new()).line
        };
        let message = format!(
            "key '{}' is given twice, in line {} and in line {}: remove one",
            shortened(key(pair[0])),
            line(pair[0]),
            line(pair[1])
        );
        self.syntax_error_from(pair[1].key_span.range().start, message)
    }

    /// Reads the characters that a key, number or literal may contain. The result may be empty.
    fn word(&mut self) -> &'a str {
        let start = self.at;
        while self.peek().is_some_and(is_word_byte) && !self.starts_comment() {
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
        self.syntax_error(format!("{found} where {due} is expected: remove it"))
    }

    fn literal(&mut self) -> Parsed<NodeData> {
        let start = self.at;
        let word = self.word();
        let remedy = match word {
            "true" => return Ok(NodeData::Bool(true)),
            "false" => return Ok(NodeData::Bool(false)),
            "null" => return Ok(NodeData::Null),
            "" => return self.unexpected("a value"),
            _ if word.eq_ignore_ascii_case("true") => "write true",
            _ if word.eq_ignore_ascii_case("false") => "write false",
            _ if word.eq_ignore_ascii_case("null") => "write null",
            _ if word.starts_with(['.', '+']) => "write numbers like 0.5, quotes around text",
            _ => "put quotes around text",
        };
        self.syntax_error_from(start, format!("'{}' is not a value: {remedy}", shortened(word)))
    }

    fn number(&mut self) -> Parsed<f64> {
        let start = self.at;
        let word = self.word();
        if let Some(remedy) = number_remedy(word) {
            return self.syntax_error_from(
                start,
                format!("'{}' is not a number: {remedy}", shortened(word)),
            );
        }
        let value: f64 = word.parse().expect("the grammar above is a part of Rust's");
        if value.is_infinite() {
            let word = shortened(word);
            let message = format!("number {word} is too large: the largest is about 1.8e308");
            return self.syntax_error_from(start, message);
        }
        let is_short = word.len() <= EXACT_DIGITS_MAX && !word.starts_with(['0', '-']);
        let whole = !is_short && !word.contains(['.', 'e', 'E']);
        // All digits, or as few as lead to that number: so the writer has them.
        if whole && format!("{value:.0}") != word && number_text(value) != word {
            let message = format!(
                "number {} would become {}: write it with fewer digits or as text in quotes",
                shortened(word),
                number_text(value)
            );
            return self.syntax_error_from(start, message);
        }
        Ok(value)
    }

    /// Parses a text. Returns it if it differs from its source between the quotes.
    fn string(&mut self) -> Parsed<Option<String>> {
        if self.starts_with("\"\"\"") {
            return self.raw_string();
        }
        let open = self.at;
        let mut value = String::new();
        self.at += 1;
        let mut has_escapes = false;
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            let plain = &self.text[start..self.at];
            match self.peek() {
                Some(b'"') => {
                    if has_escapes {
                        value.push_str(plain);
                    }
                    break;
                }
                Some(b'\\') => {
                    has_escapes = true;
                    value.push_str(plain);
                    value.push(self.escape()?);
                }
                None | Some(b'\r' | b'\n') => {
                    let message = "text is not closed: add '\"', or use \"\"\" for several lines";
                    return self.syntax_error_from(open, message.to_string());
                }
                Some(byte) => {
                    let message = format!("control character in text: write \\u{byte:04x}");
                    return self.syntax_error(message);
                }
            }
        }
        self.at += 1;
        Ok(has_escapes.then_some(value))
    }

    /// Parses a text between triple quotes, which has no escapes.
    fn raw_string(&mut self) -> Parsed<Option<String>> {
        let start = self.at + 3;
        let Some(length) = self.text[start..].find("\"\"\"") else {
            return self.syntax_error("text is not closed: add '\"\"\"'".to_string());
        };
        self.at = start + length + 3;
        Ok(None)
    }

    fn escape(&mut self) -> Parsed<char> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.next_char() else {
            return self
                .syntax_error_from(start, "text ends in '\\': finish the escape".to_string());
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
                return self.syntax_error_from(start, message);
            }
        })
    }

    /// Parses the four digits of `\uXXXX`, and the second escape if the first is a surrogate.
    fn unicode_escape(&mut self, start: usize) -> Parsed<char> {
        let first = self.four_digits(start)?;
        let lone = |parser: &Self| {
            let message =
                format!("\\u{first:04x} is half a character: write both halves or \"\"\"");
            parser.syntax_error_from(start, message)
        };
        let code = match first {
            0xd800..=0xdbff if self.starts_with("\\u") => {
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
            return self.syntax_error_from(start, message.to_string());
        };
        self.at += 4;
        let value = |code, digit: &u8| code * 16 + char::from(*digit).to_digit(16).unwrap();
        Ok(digits.iter().fold(0, value))
    }
}

/// Returns the remedy for a word that is not a JSON number, or `None` if it is one.
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
        return Some("write digits after the point");
    }
    let exponent = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    if exponent == Some("") && digits(whole) {
        return Some("write digits after the 'e'");
    }
    if !digits(whole) || !fraction.is_none_or(digits) || !exponent.is_none_or(digits) {
        return Some("put quotes around text");
    }
    if whole.len() > 1 && whole.starts_with('0') {
        return Some("remove the zeros in front");
    }
    None
}
