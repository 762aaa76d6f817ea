//! JSON text to trees and back, with compact output. SJSON is a superset of JSON, so the reader is
//! that of source files; it accepts input a little more loosely than JSON.

use engine_foundation::sjson::{self, SjsonTree};
use std::fmt::Write;

/// Parses one message.
///
/// # Errors
/// Returns a message with the position if the text is not valid.
pub fn read(text: &str) -> Result<SjsonTree, String> {
    match sjson::parse(text) {
        Ok(document) => Ok(document.to_tree()),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses a client's message of at most `most` values. It is called on the thread that receives the
/// message, so that the game's thread never waits for a long one.
///
/// # Errors
/// Returns a message that says why the text is not a valid message.
pub fn read_message(text: &str, most: usize) -> Result<SjsonTree, String> {
    let tree = read(text).map_err(|message| format!("the message is not JSON: {message}"))?;
    match tree.values() {
        count if count > most => {
            Err(format!("the message has {count} values, and {most} are allowed"))
        }
        _ => Ok(tree),
    }
}

/// Returns a tree as JSON on one line. Numbers that JSON cannot represent become null.
pub fn write(tree: &SjsonTree) -> String {
    let mut output = String::new();
    write_tree(&mut output, tree);
    output
}

fn write_tree(output: &mut String, tree: &SjsonTree) {
    match tree {
        SjsonTree::Null => *output += "null",
        SjsonTree::Bool(value) => *output += if *value { "true" } else { "false" },
        SjsonTree::Number(value) => number(output, *value),
        SjsonTree::String(text) => quote(output, text),
        SjsonTree::Array(items) => {
            output.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    output.push(',');
                }
                write_tree(output, item);
            }
            output.push(']');
        }
        SjsonTree::Object(entries) => {
            output.push('{');
            for (i, (key, value)) in entries.iter().enumerate() {
                if i > 0 {
                    output.push(',');
                }
                quote(output, key);
                output.push(':');
                write_tree(output, value);
            }
            output.push('}');
        }
    }
}

fn number(output: &mut String, value: f64) {
    let size = value.abs();
    let written = match value.is_finite() {
        false => write!(output, "null"),
        // The shortest digits that parse as the same number.
        true if size == 0.0 || (1e-5..1e17).contains(&size) => write!(output, "{value}"),
        true => write!(output, "{value:e}"),
    };
    written.expect("a string can be written to");
}

fn quote(output: &mut String, text: &str) {
    output.push('"');
    for letter in text.chars() {
        match letter {
            '"' => *output += "\\\"",
            '\\' => *output += "\\\\",
            '\n' => *output += "\\n",
            '\r' => *output += "\\r",
            '\t' => *output += "\\t",
            letter if letter.is_control() => {
                write!(output, "\\u{:04x}", u32::from(letter)).expect("a string can be written to");
            }
            letter => output.push(letter),
        }
    }
    output.push('"');
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
    fn the_number_of_values_in_a_message_is_limited() {
        let four = "{\"a\": [1, {\"b\": 2}]}";
        assert!(read_message(four, 5).is_ok());
        let message = read_message(four, 4).unwrap_err();
        assert_eq!(message, "the message has 5 values, and 4 are allowed");
        let message = read_message("{\"a\"", 4).unwrap_err();
        assert!(message.starts_with("the message is not JSON: line 1, column 2: "), "{message}");
    }

    #[test]
    fn bytes_are_encoded_in_base64() {
        for (bytes, wanted) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), wanted);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }
}
