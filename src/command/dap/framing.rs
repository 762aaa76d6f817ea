//! The framing of the Debug Adapter Protocol: a header with the length, an empty line, and JSON.

use engine_foundation::json;
use engine_foundation::sjson::SjsonTree;
use std::io::{BufRead, Read, Write};

/// Maximum length of a message in bytes.
const MESSAGE_BYTES_MAX: usize = 16 << 20;
/// Maximum length of a line of the header in bytes.
const LINE_BYTES_MAX: u64 = 4096;

/// A message of the editor.
#[derive(Debug, PartialEq)]
pub enum InputMessage {
    Message(SjsonTree),
    /// Input that is no message, which is ignored.
    Problem(String),
    /// The input has ended.
    End,
}

/// Returns a message with its header.
fn framed(text: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

/// Sends a message to the editor.
///
/// # Errors
/// Returns an error if the editor reads no more.
pub fn send(text: &str) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    output.write_all(&framed(text)).and_then(|()| output.flush())
}

/// Reads messages until the input ends, or `take` returns false.
pub fn read_messages(input: &mut impl BufRead, take: &mut dyn FnMut(InputMessage) -> bool) {
    loop {
        let message = read_message(input);
        let is_end = message == InputMessage::End;
        if !take(message) || is_end {
            return;
        }
    }
}

fn read_message(input: &mut impl BufRead) -> InputMessage {
    let mut length: Option<usize> = None;
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        if !read.is_ok_and(|bytes| bytes > 0) {
            return InputMessage::End;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() && length.is_some() {
            break;
        }
        match line.split_once(':') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") => {
                match value.trim().parse() {
                    Ok(bytes) if bytes <= MESSAGE_BYTES_MAX => length = Some(bytes),
                    _ => return problem("a message has a wrong Content-Length"),
                }
            }
            Some(_) => {}
            // An empty line without a length before it is ignored.
            None if line.is_empty() => {}
            None => return problem("a line is not a header: Content-Length: N is expected"),
        }
    }
    let mut bytes = vec![0; length.unwrap_or_default()];
    if input.read_exact(&mut bytes).is_err() {
        return InputMessage::End;
    }
    let Ok(text) = String::from_utf8(bytes) else { return problem("a message is not UTF-8") };
    match json::read(&text) {
        Ok(tree) => InputMessage::Message(tree),
        Err(message) => problem(&format!("a message is not JSON: {message}")),
    }
}

fn problem(text: &str) -> InputMessage {
    InputMessage::Problem(text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<InputMessage> {
        let mut found = Vec::new();
        read_messages(&mut &bytes[..], &mut |message| {
            found.push(message);
            true
        });
        found
    }

    #[test]
    fn messages_are_read_as_they_are_framed() {
        let text = [framed("{\"seq\":1}"), framed("{\"a\":\"ä\"}")].concat();
        let wanted = ["{\"seq\":1}", "{\"a\":\"ä\"}"].map(|it| json::read(it).unwrap());
        let [first, second] = wanted.map(InputMessage::Message);
        assert_eq!(read(&text), [first, second, InputMessage::End]);
    }

    #[test]
    fn input_that_is_no_message_is_reported_and_skipped() {
        let check = |before: &str, wanted: &str| {
            let found = read(&[before.as_bytes(), &framed("{}")].concat());
            let InputMessage::Problem(problem) = &found[0] else { panic!("{found:?}") };
            assert!(problem.contains(wanted), "{problem}");
            let rest = &found[found.len() - 2..];
            let empty = InputMessage::Message(SjsonTree::Object(Vec::new()));
            assert_eq!(rest, [empty, InputMessage::End], "{before}");
        };
        check("garbage\r\n", "is not a header");
        check("Content-Length: x\r\n", "wrong Content-Length");
        check("Content-Length: 99999999999\r\n", "wrong Content-Length");
        check("Content-Length: 3\r\n\r\n{,}", "not JSON");
        check("Content-Length: 2\r\n\r\n\u{e4}", "not JSON");
        let long = "x".repeat(10_000) + "\r\n";
        check(&long, "is not a header");
        assert_eq!(read(b"Content-Length: 10\r\n\r\n{"), [InputMessage::End]);
        let mut other = b"Content-Type: x\r\n\r\n".to_vec();
        other.extend(framed("{}"));
        assert_eq!(read(&other).len(), 2);
    }
}
