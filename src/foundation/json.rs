//! JSON: text to trees and back. The only writer of JSON; large tables that are written piece by
//! piece use its strings. SJSON is a superset of JSON, so the reader is that of source files; it
//! accepts input a little more loosely than JSON.

use crate::sjson::{self, SjsonTree};
use crate::terminal::controls_terminal;

/// Parses a text.
///
/// # Errors
/// Returns a message with the position if the text is not valid.
pub fn read(text: &str) -> Result<SjsonTree, String> {
    match sjson::parse(text) {
        Ok(document) => Ok(document.to_tree()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns a tree as JSON on one line. Numbers that JSON cannot represent become null.
pub fn write(tree: &SjsonTree) -> String {
    let mut out = String::new();
    write_tree(&mut out, tree, None);
    out
}

/// Returns a tree as JSON with an item per line, and two spaces per level.
pub fn write_indented(tree: &SjsonTree) -> String {
    let mut out = String::new();
    write_tree(&mut out, tree, Some(0));
    out
}

/// Returns a text as a JSON string. Characters that control a terminal are escaped, too.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

fn push_quoted(out: &mut String, text: &str) {
    sjson::push_string(out, text, |c| c.is_control() || controls_terminal(c));
}

/// Writes a tree at a level of indentation; `None` writes everything on one line.
fn write_tree(out: &mut String, tree: &SjsonTree, level: Option<usize>) {
    match tree {
        SjsonTree::Null => *out += "null",
        SjsonTree::Bool(value) => *out += if *value { "true" } else { "false" },
        SjsonTree::Number(value) if value.is_finite() => sjson::push_number(out, *value),
        SjsonTree::Number(_) => *out += "null",
        SjsonTree::String(text) => push_quoted(out, text),
        SjsonTree::Array(items) => write_items(out, ['[', ']'], items, level, write_tree),
        SjsonTree::Object(entries) => {
            write_items(out, ['{', '}'], entries, level, |out, (key, value), level| {
                push_quoted(out, key);
                *out += if level.is_some() { ": " } else { ":" };
                write_tree(out, value, level);
            });
        }
    }
}

fn write_items<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: &[T],
    level: Option<usize>,
    write_item: impl Fn(&mut String, &T, Option<usize>),
) {
    let inner = level.map(|level| level + 1);
    out.push(open);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        new_line(out, inner);
        write_item(out, item, inner);
    }
    if !items.is_empty() {
        new_line(out, level);
    }
    out.push(close);
}

fn new_line(out: &mut String, level: Option<usize>) {
    if let Some(level) = level {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    }
}

/// Returns a string as a tree.
pub fn text(value: impl Into<String>) -> SjsonTree {
    SjsonTree::String(value.into())
}

/// Returns a count as a tree.
pub fn count(number: usize) -> SjsonTree {
    SjsonTree::Number(number as f64)
}

/// Returns an array of strings.
pub fn texts(value: impl IntoIterator<Item = impl Into<String>>) -> SjsonTree {
    SjsonTree::Array(value.into_iter().map(text).collect())
}

/// Returns an array of numbers.
pub fn numbers(numbers: impl IntoIterator<Item = f64>) -> SjsonTree {
    SjsonTree::Array(numbers.into_iter().map(SjsonTree::Number).collect())
}

/// Returns an object with its keys in this order.
pub fn object<const N: usize>(entries: [(&str, SjsonTree); N]) -> SjsonTree {
    SjsonTree::Object(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

/// Reads base64 text (RFC 4648) with its padding. Returns `None` if it is not valid.
pub fn bytes_of_base64(text: &str) -> Option<Vec<u8>> {
    let (fours, rest) = text.as_bytes().as_chunks::<4>();
    let mut bytes = Vec::with_capacity(fours.len() * 3);
    for (index, four) in fours.iter().enumerate() {
        let is_last = index + 1 == fours.len();
        let padding = four.iter().rev().take_while(|letter| **letter == b'=').count();
        if padding > 2 || padding > 0 && !is_last {
            return None;
        }
        let mut bits = 0;
        for letter in &four[..4 - padding] {
            let value = match letter {
                b'A'..=b'Z' => letter - b'A',
                b'a'..=b'z' => letter - b'a' + 26,
                b'0'..=b'9' => letter - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * padding;
        bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    rest.is_empty().then_some(bytes)
}

/// Returns bytes as base64 text (RFC 4648).
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_json_reads_back_equal() {
        let tree = object([
            ("type", text("ev\"al\\\n\t\r\u{1}é🦀")),
            ("none", SjsonTree::Null),
            ("yes", SjsonTree::Bool(true)),
            ("numbers", numbers([0.0, -1.5, 1e300, 1e-9, 123456789.0])),
            ("nested", SjsonTree::Array(vec![object([("a b", SjsonTree::Array(Vec::new()))])])),
        ]);
        let message = write(&tree);
        assert_eq!(
            message,
            "{\"type\":\"ev\\\"al\\\\\\n\\t\\r\\u0001é🦀\",\"none\":null,\"yes\":true,\
             \"numbers\":[0,-1.5,1e300,1e-9,123456789],\"nested\":[{\"a b\":[]}]}"
        );
        assert_eq!(read(&message), Ok(tree));
        assert_eq!(write(&numbers([f64::NAN, f64::INFINITY])), "[null,null]");
        assert_eq!(read(r#"{"a": "\ud83e\udd80"}"#), Ok(object([("a", text("🦀"))])));
    }

    #[test]
    fn json_errors_have_a_position() {
        assert_eq!(
            read("{\"a\": [1, 2").unwrap_err(),
            "line 1, column 7: list is not closed: add ']'"
        );
    }

    #[test]
    fn numbers_out_of_range_are_refused_or_zero() {
        let all = read("[1e-2147483648, -1e-99999999999999999999, 0e2147483648, 5e-324]").unwrap();
        assert_eq!(all, numbers([0.0, -0.0, 0.0, 5e-324]));
        for number in ["1e2147483648", "-1e309", "1e99999999999999999999"] {
            let message = read(&format!("{{\"a\": [1, {number}]}}")).unwrap_err();
            let wanted =
                format!("line 1, column 11: number {number} is too large: the largest is ");
            assert!(message.starts_with(&wanted), "{message}");
        }
        for number in ["-", "+1", "1.", ".5", "1e", "01", "0x10", "NaN", "Infinity", "1e1.5"] {
            assert!(read(&format!("[{number}]")).is_err(), "{number}");
        }
    }

    #[test]
    fn bytes_are_encoded_in_base64() {
        for (bytes, wanted) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), wanted);
            assert_eq!(bytes_of_base64(wanted).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
        assert_eq!(bytes_of_base64("+//+"), Some(vec![0xfb, 0xff, 0xfe]));
        for invalid in ["Z", "Zg=", "Zg==Zg==", "Z===", "Z g=", "Zg-_"] {
            assert_eq!(bytes_of_base64(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn text_is_escaped_and_blocks_are_indented() {
        let values =
            SjsonTree::Array(vec![text("x\"\\\n\t\r\u{1}é\u{202e}"), SjsonTree::Bool(true)]);
        let tree = object([("a", values), ("b", SjsonTree::Array(vec![])), ("c", object([]))]);
        assert_eq!(
            write_indented(&tree),
            "{\n  \"a\": [\n    \"x\\\"\\\\\\n\\t\\r\\u0001é\\u202e\",\n    true\n  ],\n  \
             \"b\": [],\n  \"c\": {}\n}"
        );
        assert_eq!(quoted("a \"b\""), "\"a \\\"b\\\"\"");
    }
}
