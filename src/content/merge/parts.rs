//! The entries of an object or the items of a list, each with the text around it: comments, white
//! space, commas. Joined in order, they are the text of the container again. Merges nothing.

use engine_foundation::sjson::{Document, SjsonValue, ValueKind};

/// A value with the text of its document.
#[derive(Clone, Copy)]
pub struct SourceValue<'a> {
    pub source: &'a str,
    pub value: SjsonValue<'a>,
}

impl<'a> SourceValue<'a> {
    pub fn root(document: &'a Document) -> SourceValue<'a> {
        SourceValue { source: document.text(), value: document.root() }
    }

    /// Returns the text of the value.
    pub fn text(self) -> &'a str {
        let span = self.value.span();
        &self.source[span.start..span.end]
    }

    pub fn kind(self) -> ValueKind {
        self.value.kind()
    }

    pub fn with(self, value: SjsonValue<'a>) -> SourceValue<'a> {
        SourceValue { value, ..self }
    }
}

/// An entry of an object or an item of a list.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    /// White space and comments before the part, from the end of the part before it.
    pub lead: &'a str,
    /// The key and all text up to the value. Empty for items.
    pub head: &'a str,
    /// The decoded key. Empty for items.
    pub key: &'a str,
    pub value: SourceValue<'a>,
    /// Text between the value and its comma.
    pub before_comma: &'a str,
    pub has_comma: bool,
    /// Comments on the line of the value.
    pub after: &'a str,
}

/// The parts of a container. Its text is `open`, the parts, `closing`.
pub struct Parts<'a> {
    /// The opening bracket, with the comments on its line.
    pub open: &'a str,
    pub parts: Vec<Part<'a>>,
    /// White space and comments after the last part.
    pub lead: &'a str,
    /// The closing bracket; empty for a file that is the inside of an object.
    pub close: &'a str,
    /// True if commas separate the parts; `None` if there are too few to decide.
    pub uses_commas: Option<bool>,
}

impl<'a> Parts<'a> {
    /// Splits the text of an object or a list.
    pub fn of(container: SourceValue<'a>) -> Parts<'a> {
        let (source, span) = (container.source, container.value.span());
        let is_bare =
            container.kind() == ValueKind::Object && !source[span.start..].starts_with('{');
        let edge = usize::from(!is_bare);
        let end = span.end - edge;
        let mut at = span.start + edge;
        let open_end = match is_bare {
            true => at + header_length(&source[at..end]),
            false => at + same_line_comments(&source[at..end]),
        };
        let open = &source[span.start..open_end];
        at = open_end;
        let count = container.value.entries().map(|entries| entries.len());
        let count = count.or_else(|| container.value.items().map(|items| items.len()));
        let mut parts: Vec<Part> = Vec::with_capacity(count.unwrap_or_default());
        let mut add = |start: usize, key: &'a str, value: SjsonValue<'a>| {
            if let Some(last) = parts.last_mut() {
                at += last.take_tail(&source[at..start]);
            }
            let value_span = value.span();
            parts.push(Part {
                lead: &source[at..start],
                head: &source[start..value_span.start],
                key,
                value: container.with(value),
                before_comma: "",
                has_comma: false,
                after: "",
            });
            at = value_span.end;
        };
        for entry in container.value.entries().into_iter().flatten() {
            add(entry.key_span.start, entry.key, entry.value);
        }
        for item in container.value.items().into_iter().flatten() {
            add(item.span().start, "", item);
        }
        if let Some(last) = parts.last_mut() {
            at += last.take_tail(&source[at..end]);
        }
        let uses_commas = (parts.len() > 1).then(|| parts[0].has_comma);
        Parts { open, parts, lead: &source[at..end], close: &source[end..span.end], uses_commas }
    }

    /// Returns true if a comma follows the last part.
    pub fn has_trailing_comma(&self) -> bool {
        self.parts.last().is_some_and(|part| part.has_comma)
    }
}

impl<'a> Part<'a> {
    /// Takes the comma and the comments on the line from the text that follows the value. Returns
    /// their length.
    fn take_tail(&mut self, gap: &'a str) -> usize {
        let mut start = 0;
        if let Some(comma) = comma_position(gap) {
            self.before_comma = &gap[..comma];
            self.has_comma = true;
            start = comma + 1;
        }
        let length = same_line_comments(&gap[start..]);
        self.after = &gap[start..start + length];
        start + length
    }
}

/// Returns the length of the comment at the start of a text between values.
fn comment_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let inner = text.strip_prefix("/*")?;
    Some(inner.find("*/").map_or(text.len(), |length| length + 4))
}

/// Returns the position of the comma in a text between values, outside of comments.
fn comma_position(gap: &str) -> Option<usize> {
    let mut at = 0;
    while at < gap.len() {
        match comment_length(&gap[at..]) {
            Some(length) => at += length,
            None if gap.as_bytes()[at] == b',' => return Some(at),
            None => at += 1,
        }
    }
    None
}

/// Returns the length of the comments that end on the line where the text starts.
fn same_line_comments(text: &str) -> usize {
    let (mut at, mut end) = (0, 0);
    while at < text.len() {
        match comment_length(&text[at..]) {
            Some(length) if text[at..at + length].contains('\n') => break,
            Some(length) => (at, end) = (at + length, at + length),
            None if b" \t".contains(&text.as_bytes()[at]) => at += 1,
            None => break,
        }
    }
    end
}

/// Returns the length of the comments at the start of a file up to the last blank line before the
/// first entry. They belong to the file, and not to the entry.
fn header_length(text: &str) -> usize {
    let (mut at, mut end, mut breaks) = (0, 0, 0);
    while at < text.len() {
        match comment_length(&text[at..]) {
            Some(length) => (at, breaks) = (at + length, 0),
            None if text.as_bytes()[at].is_ascii_whitespace() => {
                breaks += usize::from(text.as_bytes()[at] == b'\n');
                // The line break before the first entry belongs to the entry.
                if breaks == 2 && text[..at].contains('/') {
                    end = at;
                }
                at += 1;
            }
            None => break,
        }
    }
    end
}

/// Returns true if a text between values has a comment.
pub fn has_comment(text: &str) -> bool {
    text.contains("//") || text.contains("/*")
}

/// Returns true if a comment in the text extends to the end of its line, and the text ends there.
pub fn ends_in_line_comment(text: &str) -> bool {
    let mut at = 0;
    while at < text.len() {
        match comment_length(&text[at..]) {
            Some(length) if at + length == text.len() => return text[at..].starts_with("//"),
            Some(length) => at += length,
            None => at += 1,
        }
    }
    false
}
