//! XML: a reader for files that other programs export, and the escaping of text for XML and HTML.
//! Knows no files, no elements of a format and no document types: it expands no entities but the
//! five named ones and character numbers, and it does not recurse.
//!
//! The reader is ours because crates refuse files that exist: a `&` that begins no escape, as
//! BMFont writes it in names, and elements without an end. With `quick-xml`, escapes, lines and
//! attribute errors would still be handled here.

use crate::terminal::escape_line;
use std::borrow::Cow;

/// One part of a document.
pub enum XmlEvent<'a> {
    /// The start tag of an element. An element without content has no [`XmlEvent::Close`].
    Open(XmlTag<'a>),
    Close,
    /// Text between tags.
    Text(Cow<'a, str>),
}

/// A start tag: `<name key="value">`.
pub struct XmlTag<'a> {
    pub name: &'a str,
    /// The tag's text after the name.
    rest: &'a str,
    /// True for `<name/>`.
    pub is_empty: bool,
}

impl<'a> XmlTag<'a> {
    fn new(inside: &'a str) -> XmlTag<'a> {
        let inside = inside.trim_end();
        let (inside, is_empty) = match inside.strip_suffix('/') {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        let (name, rest) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
        XmlTag { name, rest, is_empty }
    }

    /// Returns the attributes in their order.
    ///
    /// # Errors
    /// Returns the text at which no `name="value"` begins.
    pub fn attributes(&self) -> Result<Vec<(String, String)>, &'a str> {
        let mut attributes = Vec::new();
        let mut rest = self.rest.trim_start();
        while !rest.is_empty() {
            let (name, value, after) = attribute(rest).ok_or(rest)?;
            attributes.push((name.to_string(), unescape(value).into_owned()));
            rest = after.trim_start();
        }
        Ok(attributes)
    }
}

/// Splits `name="value"` off the start of a text: name, value and the rest.
fn attribute(text: &str) -> Option<(&str, &str, &str)> {
    let (name, after) = text.split_once('=')?;
    let after = after.trim_start();
    let quote = after.chars().next().filter(|c| "\"'".contains(*c))?;
    let (value, after) = after[1..].split_once(quote)?;
    Some((name.trim(), value, after))
}

/// The error of a document that ends inside of a tag or a comment.
#[derive(Debug, PartialEq)]
pub struct XmlCutShort;

/// Reads a document from its start to its end. Skips comments, declarations and processing
/// instructions. Does not check that tags match.
pub struct XmlReader<'a> {
    rest: &'a str,
    /// The line where `rest` begins.
    rest_line: usize,
    line: usize,
}

impl<'a> XmlReader<'a> {
    pub fn new(text: &'a str) -> XmlReader<'a> {
        XmlReader { rest: text, rest_line: 1, line: 1 }
    }

    /// Returns the line, from 1, where the last event or error began.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the next event; `None` at the end.
    ///
    /// # Errors
    /// Returns an error if the document ends inside of a tag or a comment.
    pub fn next_event(&mut self) -> Result<Option<XmlEvent<'a>>, XmlCutShort> {
        loop {
            self.line = self.rest_line;
            let Some(markup) = self.rest.strip_prefix('<') else {
                let Some(length) = self.rest.find('<') else { return Ok(None) };
                return Ok(Some(XmlEvent::Text(unescape(self.take(length, "")))));
            };
            self.rest = markup;
            let end = match markup {
                _ if markup.starts_with("!--") => "-->",
                _ if markup.starts_with("![CDATA[") => "]]>",
                _ => ">",
            };
            let length = markup.find(end).ok_or(XmlCutShort)?;
            let inside = self.take(length, end);
            if let Some(text) = inside.strip_prefix("![CDATA[") {
                return Ok(Some(XmlEvent::Text(Cow::Borrowed(text))));
            }
            match inside.bytes().next() {
                Some(b'!' | b'?') => {}
                Some(b'/') => return Ok(Some(XmlEvent::Close)),
                _ => return Ok(Some(XmlEvent::Open(XmlTag::new(inside)))),
            }
        }
    }

    /// Returns the next `length` bytes, and skips them and `end`.
    fn take(&mut self, length: usize, end: &str) -> &'a str {
        let taken = &self.rest[..length];
        self.rest = &self.rest[length + end.len()..];
        self.rest_line += taken.bytes().filter(|byte| *byte == b'\n').count();
        taken
    }
}

/// Maximum number of bytes between `&` and `;`. A text may contain very many `&` and no `;`.
const ESCAPE_BYTES_MAX: usize = 16;

/// Replaces the escapes in a text. A `&` that begins no escape is literal.
pub fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out += before;
        let end = after.bytes().take(ESCAPE_BYTES_MAX).position(|byte| byte == b';');
        let (name, following) = end.map_or(("", after), |end| (&after[..end], &after[end + 1..]));
        let number = name.strip_prefix("#x").map(|hex| u32::from_str_radix(hex, 16));
        let number = number.or_else(|| name.strip_prefix('#').map(str::parse));
        let c = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => number.and_then(Result::ok).and_then(char::from_u32),
        };
        out.push(c.unwrap_or('&'));
        rest = if c.is_some() { following } else { after };
    }
    Cow::Owned(out + rest)
}

/// Escapes text for the content and the attributes of XML and HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}

/// Escapes one line of text from a game for XML 1.0. Characters that XML cannot represent, such as
/// most control characters, are shown as escape sequences.
pub fn escape_for_display(text: &str) -> String {
    escape(&escape_line(text)).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

/// Escapes a text from a game for an attribute of XML 1.0, as [`escape_for_display`] does, but
/// keeps its line breaks.
pub fn escape_lines_for_display(text: &str) -> String {
    text.split('\n').map(escape_for_display).collect::<Vec<_>>().join("&#10;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the events of a document as one text, with the line of each.
    fn events(text: &str) -> String {
        let mut reader = XmlReader::new(text);
        let mut out = Vec::new();
        loop {
            let event = reader.next_event();
            let shown = match event {
                Ok(Some(XmlEvent::Open(tag))) => match tag.attributes() {
                    Ok(all) => format!("{} {all:?}{}", tag.name, ["", " /"][tag.is_empty as usize]),
                    Err(rest) => format!("{} !{rest}", tag.name),
                },
                Ok(Some(XmlEvent::Close)) => "close".to_string(),
                Ok(Some(XmlEvent::Text(text))) => format!("'{text}'"),
                Ok(None) => "end".to_string(),
                Err(XmlCutShort) => "cut short".to_string(),
            };
            let is_last = shown == "end" || shown == "cut short";
            out.push(format!("{}: {shown}", reader.line()));
            if is_last {
                return out.join(", ");
            }
        }
    }

    #[test]
    fn elements_text_and_lines_are_read() {
        let check = |text: &str, wanted: &str| assert_eq!(events(text), wanted, "{text}");
        check("", "1: end");
        check("<?xml version='1.0'?>\n<!-- <a> -->\n<!x>", "1: '\n', 2: '\n', 3: end");
        check(
            "<a x = \"1\"\n y='&lt;2'>b</a >",
            "1: a [(\"x\", \"1\"), (\"y\", \"<2\")], 2: 'b', 2: close, 2: end",
        );
        check("<a /><b/>\n", "1: a [] /, 1: b [] /, 1: end");
        check("a&amp;<![CDATA[<b>&amp;]]>", "1: 'a&', 1: '<b>&amp;', 1: end");
        check("<a x=1 y>", "1: a !x=1 y, 1: end");
        check("<a x='1' y='2>", "1: a !y='2, 1: end");
        for cut in ["<a", "<!-- >", "<![CDATA[ >", "</a", "<"] {
            check(&format!("\n{cut}"), "1: '\n', 2: cut short");
        }
    }

    #[test]
    fn an_ampersand_may_stand_for_itself() {
        let check = |text: &str, wanted: &str| assert_eq!(unescape(text), wanted);
        check("a & b &c; &amp;amp;", "a & b &c; &amp;");
        check("&#65;&#x42;&#xd800;&#99999999999;&", "AB&#xd800;&#99999999999;&");
        check("&lt;&gt;&quot;&apos;&é;", "<>\"'&é;");
        check(&"&".repeat(99), &"&".repeat(99));
    }

    #[test]
    fn escaped_text_is_read_as_it_was() {
        let text = "<a b=\"c\"> & 'd' \n\t";
        assert_eq!(escape(text), "&lt;a b=&quot;c&quot;&gt; &amp; 'd' \n\t");
        assert_eq!(unescape(&escape(text)), text);
        assert_eq!(
            escape_for_display("</a>\x1b&\0\n\u{ffff}"),
            "&lt;/a&gt;\\u{1b}&amp;\\u{0}\\n\\u{ffff}"
        );
    }
}
