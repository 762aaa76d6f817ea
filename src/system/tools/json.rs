//! JSON on its way in and out: compact text of a tree, and trees of text. Plain JSON is SJSON, so
//! reading is the reader of source files; it takes what people type a little more loosely.

use crate::foundation::sjson::{self, Tree};
use std::fmt::Write;

/// Reads one message.
///
/// # Errors
/// Words that say where it is not JSON.
pub fn read(text: &str) -> Result<Tree, String> {
    match sjson::parse(text) {
        Ok(document) => Ok(document.to_tree()),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads what a client sent, of at most so many values. It is read where the client's messages come
/// in, so that the game's thread never waits for a long one.
///
/// # Errors
/// Words that say why it is no message.
pub fn read_message(text: &str, most: usize) -> Result<Tree, String> {
    let tree = read(text).map_err(|words| format!("the message is no JSON: {words}"))?;
    match tree.values() {
        count if count > most => Err(format!("the message has {count} values, and {most} may be")),
        _ => Ok(tree),
    }
}

/// A tree on one line. Numbers that JSON cannot hold are null.
pub fn write(tree: &Tree) -> String {
    let mut text = String::new();
    put(&mut text, tree);
    text
}

fn put(text: &mut String, tree: &Tree) {
    match tree {
        Tree::Null => *text += "null",
        Tree::Bool(value) => *text += if *value { "true" } else { "false" },
        Tree::Number(value) => number(text, *value),
        Tree::String(words) => quote(text, words),
        Tree::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                put(text, item);
            }
            text.push(']');
        }
        Tree::Object(entries) => {
            text.push('{');
            for (i, (key, value)) in entries.iter().enumerate() {
                if i > 0 {
                    text.push(',');
                }
                quote(text, key);
                text.push(':');
                put(text, value);
            }
            text.push('}');
        }
    }
}

fn number(text: &mut String, value: f64) {
    let size = value.abs();
    let written = match value.is_finite() {
        false => write!(text, "null"),
        // The shortest digits that read back as the same number.
        true if size == 0.0 || (1e-5..1e17).contains(&size) => write!(text, "{value}"),
        true => write!(text, "{value:e}"),
    };
    written.expect("a string can be written to");
}

fn quote(text: &mut String, words: &str) {
    text.push('"');
    for letter in words.chars() {
        match letter {
            '"' => *text += "\\\"",
            '\\' => *text += "\\\\",
            '\n' => *text += "\\n",
            '\r' => *text += "\\r",
            '\t' => *text += "\\t",
            letter if letter.is_control() => {
                write!(text, "\\u{:04x}", u32::from(letter)).expect("a string can be written to");
            }
            letter => text.push(letter),
        }
    }
    text.push('"');
}

/// A text.
pub fn text(words: impl Into<String>) -> Tree {
    Tree::String(words.into())
}

/// A number.
pub fn count(number: usize) -> Tree {
    Tree::Number(number as f64)
}

/// A list of texts.
pub fn texts(words: impl IntoIterator<Item = impl Into<String>>) -> Tree {
    Tree::Array(words.into_iter().map(text).collect())
}

/// A list of numbers.
pub fn numbers(numbers: impl IntoIterator<Item = f64>) -> Tree {
    Tree::Array(numbers.into_iter().map(Tree::Number).collect())
}

/// An object, with its keys in this order.
pub fn object<const N: usize>(entries: [(&str, Tree); N]) -> Tree {
    Tree::Object(entries.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
}

/// Bytes as text of 64 letters (RFC 4648).
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
    fn what_is_written_is_json_and_reads_back_the_same() {
        let tree = object([
            ("type", text("ev\"al\\\n\t\r\u{1}é🦀")),
            ("none", Tree::Null),
            ("yes", Tree::Bool(true)),
            ("numbers", numbers([0.0, -1.5, 1e300, 1e-9, 123456789.0])),
            ("nested", Tree::Array(vec![object([("a b", Tree::Array(Vec::new()))])])),
        ]);
        let words = write(&tree);
        assert_eq!(
            words,
            "{\"type\":\"ev\\\"al\\\\\\n\\t\\r\\u0001é🦀\",\"none\":null,\"yes\":true,\
             \"numbers\":[0,-1.5,1e300,1e-9,123456789],\"nested\":[{\"a b\":[]}]}"
        );
        assert_eq!(read(&words), Ok(tree));
        assert_eq!(write(&numbers([f64::NAN, f64::INFINITY])), "[null,null]");
        assert_eq!(read(r#"{"a": "\ud83e\udd80"}"#), Ok(object([("a", text("🦀"))])));
    }

    #[test]
    fn what_is_not_json_says_where() {
        assert_eq!(
            read("{\"a\": [1, 2").unwrap_err(),
            "line 1, column 7: list is not closed: add ']'"
        );
    }

    #[test]
    fn numbers_beyond_all_others_are_refused_or_zero() {
        let all = read("[1e-2147483648, -1e-99999999999999999999, 0e2147483648, 5e-324]").unwrap();
        assert_eq!(all, numbers([0.0, -0.0, 0.0, 5e-324]));
        for number in ["1e2147483648", "-1e309", "1e99999999999999999999"] {
            let words = read(&format!("{{\"a\": [1, {number}]}}")).unwrap_err();
            let wanted =
                format!("line 1, column 11: number {number} is too large: the largest is ");
            assert!(words.starts_with(&wanted), "{words}");
        }
        for number in ["-", "+1", "1.", ".5", "1e", "01", "0x10", "NaN", "Infinity", "1e1.5"] {
            assert!(read(&format!("[{number}]")).is_err(), "{number}");
        }
    }

    #[test]
    fn a_message_has_so_many_values_and_no_more() {
        let four = "{\"a\": [1, {\"b\": 2}]}";
        assert!(read_message(four, 5).is_ok());
        let words = read_message(four, 4).unwrap_err();
        assert_eq!(words, "the message has 5 values, and 4 may be");
        let words = read_message("{\"a\"", 4).unwrap_err();
        assert!(words.starts_with("the message is no JSON: line 1, column 2: "), "{words}");
    }

    #[test]
    fn bytes_become_64_letters() {
        for (bytes, wanted) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), wanted);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }
}
