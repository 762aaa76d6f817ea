//! An editor for documents that leaves all other bytes unchanged: set, insert, remove. Every change
//! patches the text and parses the result again, so a document and its text always agree. Knows no
//! files and no merging.
//!
//! Comments: a comment on the line of a removed value is removed with it, and all others stay. A
//! new value is inserted after the previous value and after that value's comment on the same line.

mod batch;

use super::write::{WriteStyle, check, key_text, prefix_path, value_text};
use super::{
    Document, NESTING_MAX, ObjectEntry, PathStep, SjsonTree, SjsonValue, TextSpan, TreeError,
    parse, path_text,
};
use crate::compact_sort::CompactSort;

/// An editor for one document. A change that fails leaves the document unchanged.
#[derive(Clone, Debug)]
pub struct DocumentEditor {
    document: Document,
}

/// A replacement of a range of bytes by a text.
struct Patch {
    span: TextSpan,
    text: String,
}

pub use batch::NewEntries;

type EditResult = Result<(), TreeError>;

/// A new list item, or object entry with its key.
type NewPart<'a> = (Option<&'a str>, &'a SjsonTree);

impl DocumentEditor {
    pub fn new(document: Document) -> DocumentEditor {
        DocumentEditor { document }
    }

    pub fn document(&self) -> &Document {
        &self.document
    }

    pub fn finish(self) -> Document {
        self.document
    }

    /// Sets the value at `path` to `tree`. Missing keys are added at the ends of their objects,
    /// together with the objects around them. Missing list items are an error.
    pub fn set(&mut self, path: &[PathStep], tree: &SjsonTree) -> EditResult {
        self.set_all(&[(path, tree)])
    }

    /// Sets several values that are not inside each other. Existing values are replaced in one
    /// pass, which is faster than separate calls of `set`. If one change fails, nothing changes.
    pub fn set_all(&mut self, changes: &[(&[PathStep], &SjsonTree)]) -> EditResult {
        let mut changed = self.clone();
        let mut patches = Vec::new();
        for (path, tree) in changes {
            check(tree, NESTING_MAX).map_err(|error| prefix_path(&path_text(path), error))?;
            if path.is_empty() {
                return Err(at_path(path, "cannot be set: write a new one".to_string()));
            }
            if self.document.at(path).is_some() {
                patches.push(self.replacement(path, tree));
            }
        }
        let error_path = match changes {
            [(path, _)] => *path,
            _ => &[],
        };
        changed.apply(error_path, patches)?;
        for (path, tree) in changes {
            if self.document.at(path).is_none() {
                changed.add(path, tree)?;
            }
        }
        *self = changed;
        Ok(())
    }

    /// Removes a key with its value from its object, or an item from its list.
    pub fn remove(&mut self, path: &[PathStep]) -> EditResult {
        let Some((last, parents)) = path.split_last() else {
            return Err(at_path(path, "cannot be removed: delete the file".to_string()));
        };
        if self.document.at(path).is_none() {
            return Err(at_path(path, "there is no such value to remove".to_string()));
        }
        let layout = self.layout(parents);
        let index = match last {
            PathStep::Item(index) => *index,
            PathStep::Key(key) => {
                let mut entries = layout.value.entries().expect("the path leads here");
                entries.position(|entry| entry.key == *key).expect("the path leads here")
            }
        };
        let patches = layout.removal(index);
        self.apply(path, patches)
    }

    /// Inserts an item into the list at `path`, before the item that is now at `index` (from 0).
    /// The length of the list appends the item.
    pub fn insert_item(&mut self, path: &[PathStep], index: usize, tree: &SjsonTree) -> EditResult {
        let value = self.document.at(path);
        let items = value.and_then(|value| value.items());
        let Some(count) = items.map(|items| items.len()) else {
            return Err(at_path(path, format!("expected list, found {}", kind_text(value))));
        };
        self.insert(path, count, index, None, tree)
    }

    /// Inserts a key into the object at `path`, before the entry that is now at `index` (from 0).
    /// The number of entries appends the key.
    pub fn insert_entry(
        &mut self,
        path: &[PathStep],
        index: usize,
        key: &str,
        tree: &SjsonTree,
    ) -> EditResult {
        let value = self.document.at(path);
        let entries = value.and_then(|value| value.entries());
        let Some(count) = entries.map(|entries| entries.len()) else {
            return Err(at_path(path, format!("expected object, found {}", kind_text(value))));
        };
        if value.is_some_and(|value| value.get(key).is_some()) {
            return Err(at_path(path, format!("the key '{key}' already exists: set it")));
        }
        self.insert(path, count, index, Some(key), tree)
    }

    fn insert(
        &mut self,
        path: &[PathStep],
        count: usize,
        index: usize,
        key: Option<&str>,
        tree: &SjsonTree,
    ) -> EditResult {
        check(tree, NESTING_MAX).map_err(|error| prefix_path(&path_text(path), error))?;
        if index > count {
            let message =
                format!("length is {count}: there is no index {} to insert at", index + 1);
            return Err(at_path(path, message));
        }
        let patches = self.layout(path).insertion(index, &[(key, tree)]);
        self.apply(path, patches)
    }

    /// Adds the missing part of `path`: the first missing key with everything below it.
    fn add(&mut self, path: &[PathStep], tree: &SjsonTree) -> EditResult {
        let existing = (0..path.len()).rev().find(|end| self.document.at(&path[..*end]).is_some());
        let existing = existing.expect("the root is always there");
        let PathStep::Key(key) = path[existing] else {
            return Err(at_path(path, "there is no such item: insert it first".to_string()));
        };
        let parent = self.document.at(&path[..existing]);
        let entries = parent.and_then(|value| value.entries());
        let Some(count) = entries.map(|entries| entries.len()) else {
            let message = format!("expected object, found {}", kind_text(parent));
            return Err(at_path(&path[..existing], message));
        };
        let mut tree = tree.clone();
        for step in path[existing + 1..].iter().rev() {
            let PathStep::Key(key) = step else {
                return Err(at_path(path, "there is no such list: insert it first".to_string()));
            };
            tree = SjsonTree::Object(vec![(key.to_string(), tree)]);
        }
        self.insert(&path[..existing], count, count, Some(key), &tree)
    }

    fn replacement(&self, path: &[PathStep], tree: &SjsonTree) -> Patch {
        let layout = self.layout(&path[..path.len() - 1]);
        let old = self.document.at(path).expect("asked before");
        let span = old.span();
        let old_text = &self.document.text[span.start..span.end];
        let was_short_object = old.entries().is_some_and(|entries| entries.len() > 0)
            && !old_text.contains('\n')
            && is_flat(tree);
        let on_one_line = layout.on_one_line() || was_short_object;
        let indent = layout.indent_at(span.start);
        Patch { span, text: value_text(tree, &layout.style, indent, on_one_line) }
    }

    fn layout(&self, path: &[PathStep]) -> Layout<'_> {
        let ancestors = (0..=path.len()).rev();
        let chain: Vec<SjsonValue> =
            ancestors.map(|end| self.document.at(&path[..end]).expect("asked before")).collect();
        Layout::new(&self.document, &chain)
    }

    /// Patches the text and parses it again. Nothing changes if that fails.
    fn apply(&mut self, path: &[PathStep], mut patches: Vec<Patch>) -> EditResult {
        patches.sort_compact_by_key(|patch| patch.span.start);
        let text = &self.document.text;
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for patch in patches {
            if patch.span.start < at {
                let message = "two of the values to set are inside each other: set the outer one";
                return Err(at_path(path, message.to_string()));
            }
            out.push_str(&text[at..patch.span.start]);
            push_separated(&mut out, &patch.text);
            at = patch.span.end;
            if at < text.len() && would_join(&out, &text[at..]) {
                out.push(' ');
            }
        }
        out.push_str(&text[at..]);
        match parse(&out) {
            Ok(document) => self.document = document,
            Err(error) => {
                return Err(at_path(path, format!("cannot be changed this way: {error}")));
            }
        }
        Ok(())
    }
}

fn at_path(path: &[PathStep], message: String) -> TreeError {
    let path = path_text(path);
    TreeError { path, message }
}

fn kind_text(value: Option<SjsonValue>) -> String {
    value.map_or("nothing".to_string(), |value| value.kind().to_string())
}

fn is_flat(tree: &SjsonTree) -> bool {
    let plain = |tree: &SjsonTree| !matches!(tree, SjsonTree::Array(_) | SjsonTree::Object(_));
    match tree {
        SjsonTree::Object(entries) => entries.iter().all(|(_, value)| plain(value)),
        _ => true,
    }
}

/// Returns true if the texts would join to one word or one quote without a space in between.
fn would_join(before: &str, after: &str) -> bool {
    let is_word =
        |letter: char| !letter.is_ascii_whitespace() && !",[]{}=:/\u{feff}".contains(letter);
    before.ends_with(is_word) && after.starts_with(is_word)
}

fn push_separated(out: &mut String, text: &str) {
    if would_join(out, text) {
        out.push(' ');
    }
    out.push_str(text);
}

/// The positions of the parts of one list or object in the text, and its formatting style.
struct Layout<'a> {
    text: &'a str,
    value: SjsonValue<'a>,
    /// Position after the opening bracket; the start of the text for a file without braces.
    content_start: usize,
    /// Position of the closing bracket; the end of the text for a file without braces.
    content_end: usize,
    bare: bool,
    /// List items, or object entries from key to value.
    parts: Vec<TextSpan>,
    style: WriteStyle,
    commas: bool,
    parent_on_one_line: bool,
}

impl<'a> Layout<'a> {
    /// Creates the layout of the first value in `chain`. The rest of the chain is its ancestors up
    /// to the root.
    fn new(document: &'a Document, chain: &[SjsonValue<'a>]) -> Layout<'a> {
        let value = chain[0];
        let bare = |value: &SjsonValue| document.bare_root && value.node == document.root;
        let one_line = |value: &SjsonValue| {
            let TextSpan { start, end } = value.span();
            !bare(value) && !document.text[start..end].contains('\n')
        };
        let span = value.span();
        let edge = usize::from(!bare(&value));
        let mut layout = Layout {
            text: &document.text,
            value,
            content_start: span.start + edge,
            content_end: span.end - edge,
            bare: bare(&value),
            parts: parts(value),
            style: style(document, chain),
            commas: false,
            parent_on_one_line: chain.get(1).is_some_and(one_line),
        };
        layout.commas = layout.has_commas();
        layout
    }

    /// Returns true if commas separate the values. If there are too few values to decide, the style
    /// decides, and values on one line always have commas.
    fn has_commas(&self) -> bool {
        let (from, to) = match self.parts.as_slice() {
            [] => return self.style.line_commas || self.on_one_line(),
            [only] => (only.end, self.content_end),
            [.., before, last] => (before.end, last.start),
        };
        let is_single = self.parts.len() == 1;
        self.comma(from, to).is_some()
            || (is_single
                && (self.style.line_commas || !(self.bare || self.text[from..to].contains('\n'))))
    }

    /// Returns true if the whole list or object is on one line.
    fn on_one_line(&self) -> bool {
        !self.bare && !self.text[self.content_start..self.content_end].contains('\n')
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |i| i + 1)
    }

    /// Returns the white space at the start of the line that contains `at`.
    fn indent_at(&self, at: usize) -> &'a str {
        let line = self.text[self.line_start(at)..at].trim_start_matches('\u{feff}');
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Returns the gap between the part before `index` and the part at `index`.
    fn gap(&self, index: usize) -> TextSpan {
        let before = index.checked_sub(1).map(|before| self.parts[before].end);
        TextSpan {
            start: before.unwrap_or(self.content_start),
            end: self.parts.get(index).map_or(self.content_end, |part| part.start),
        }
    }

    /// Returns the position of the comma between two values, outside of comments.
    fn comma(&self, from: usize, to: usize) -> Option<usize> {
        let mut at = from;
        while at < to {
            match comment_length(&self.text[at..to]) {
                Some(length) => at += length,
                None if self.text.as_bytes()[at] == b',' => return Some(at),
                None => at += 1,
            }
        }
        None
    }

    /// Returns the end of a value's line tail: its comma, and the comments that end on its line.
    fn line_tail(&self, from: usize, to: usize) -> usize {
        let (mut at, mut end) = (from, from);
        while at < to {
            match comment_length(&self.text[at..to]) {
                Some(length) if self.text[at..at + length].contains('\n') => break,
                Some(length) => (at, end) = (at + length, at + length),
                None if self.text.as_bytes()[at] == b',' => (at, end) = (at + 1, at + 1),
                None if b" \t".contains(&self.text.as_bytes()[at]) => at += 1,
                None => break,
            }
        }
        end
    }

    fn part_text(&self, part: &NewPart, indent: &str, on_one_line: bool) -> String {
        let value = value_text(part.1, &self.style, indent, on_one_line);
        match part.0 {
            Some(key) => key_text(key, &self.style) + &self.style.separator + &value,
            None => value,
        }
    }

    /// Returns the text of new parts on one line.
    fn parts_in_line(&self, new: &[NewPart]) -> String {
        let parts: Vec<String> = new.iter().map(|part| self.part_text(part, "", true)).collect();
        parts.join(if self.commas { ", " } else { " " })
    }

    /// Returns the text of new parts on lines of their own.
    fn parts_on_lines(&self, new: &[NewPart], indent: &str, commas: bool) -> String {
        let parts: Vec<String> =
            new.iter().map(|part| self.part_text(part, indent, false)).collect();
        let comma = if commas { "," } else { "" };
        parts.join(&format!("{comma}{}{indent}", self.style.newline))
    }

    fn insertion(&self, index: usize, new: &[NewPart]) -> Vec<Patch> {
        if self.parts.is_empty() {
            return vec![self.first_parts(new)];
        }
        let gap = self.gap(index);
        let at_edge = index == 0 || index == self.parts.len();
        let on_one_line = !self.text[gap.start..gap.end].contains('\n');
        if on_one_line && !(self.bare && at_edge) {
            return vec![self.insertion_in_line(index, new)];
        }
        if index == 0 && self.bare {
            let next = self.parts[0].start;
            let indent = self.indent_at(next);
            let parts = self.parts_on_lines(new, indent, self.commas);
            let comma = if self.commas { "," } else { "" };
            return vec![insert_at(next, format!("{parts}{comma}{}{indent}", self.style.newline))];
        }
        self.insertion_of_lines(index, new)
    }

    fn insertion_in_line(&self, index: usize, new: &[NewPart]) -> Patch {
        let parts = self.parts_in_line(new);
        let comma = if self.commas { ", " } else { " " };
        if index > 0 {
            return insert_at(self.parts[index - 1].end, format!("{comma}{parts}"));
        }
        insert_at(self.parts[0].start, format!("{parts}{comma}"))
    }

    /// Inserts parts on new lines, below the previous value or below the opening bracket.
    fn insertion_of_lines(&self, index: usize, new: &[NewPart]) -> Vec<Patch> {
        let gap = self.gap(index);
        let at = self.line_tail(gap.start, gap.end);
        let indent = self.indent_at(self.parts[index.saturating_sub(1)].start);
        let newline = self.style.newline;
        let comma = self.comma(gap.start, gap.end);
        let mut patches = Vec::new();
        let mut parts = self.parts_on_lines(new, indent, self.commas);
        if index == 0 || comma.is_some_and(|comma| comma < at) {
            parts.push_str(if self.commas { "," } else { "" });
        } else if self.commas {
            patches.push(insert_at(gap.start, ",".to_string()));
        }
        let rest = self.text[at..].trim_start_matches([' ', '\t', '\r']);
        let tail = match rest.is_empty() || rest.starts_with('\n') {
            true => String::new(),
            false => format!("{newline}{indent}"),
        };
        patches.push(insert_at(at, format!("{newline}{indent}{parts}{tail}")));
        patches
    }

    /// Inserts the first parts into an empty list or object.
    fn first_parts(&self, new: &[NewPart]) -> Patch {
        let inner = &self.text[self.content_start..self.content_end];
        let kept_end = self.content_start + inner.trim_end().len();
        let newline = self.style.newline;
        let span = TextSpan { start: kept_end, end: self.content_end };
        let commas = self.style.line_commas;
        if self.bare {
            let before = if kept_end > self.content_start { newline } else { "" };
            let parts = self.parts_on_lines(new, "", commas);
            let text = format!("{before}{parts}{newline}");
            return Patch { span, text };
        }
        let is_item = |(key, tree): &NewPart| {
            key.is_none() && is_flat(tree) && !matches!(tree, SjsonTree::Object(_))
        };
        let blank = kept_end == self.content_start;
        let short = new.iter().all(is_item);
        if blank && (self.parent_on_one_line || (short && self.on_one_line())) {
            let parts = self.parts_in_line(new);
            let is_list = new.iter().all(|(key, _)| key.is_none());
            let space = if is_list { "" } else { " " };
            let text = format!("{space}{parts}{space}");
            return Patch { span, text };
        }
        let outer = self.indent_at(self.content_start);
        let indent = format!("{outer}{}", self.style.indent);
        let parts = self.parts_on_lines(new, &indent, commas);
        let text = format!("{newline}{indent}{parts}{newline}{outer}");
        Patch { span, text }
    }

    fn removal(&self, index: usize) -> Vec<Patch> {
        let part = self.parts[index];
        let (before, after) = (self.gap(index), self.gap(index + 1));
        let comma_before = self.comma(before.start, before.end).filter(|_| index > 0);
        let comma_after = self.comma(after.start, after.end);
        let last = index + 1 == self.parts.len();
        // After the removal of the last value, the comma before it separates nothing.
        let stray = comma_before.filter(|_| last && comma_after.is_none());

        let tail = self.line_tail(part.end, after.end);
        let line_start = self.line_start(part.start);
        let starts_line = self.text[line_start..part.start].trim_matches([' ', '\t']).is_empty();
        let rest = self.text[tail..].trim_start_matches([' ', '\t', '\r']);
        let ends_line = rest.is_empty() || rest.starts_with('\n');
        let mut patches: Vec<Patch> =
            stray.map(|at| remove_range(at, at + 1)).into_iter().collect();
        if starts_line && ends_line && comma_after.is_none_or(|comma| comma < tail) {
            let end = self.text.len() - rest.len() + usize::from(!rest.is_empty());
            patches.push(remove_range(line_start, end));
            return patches;
        }
        if let Some(comma) = stray
            && self.text[comma + 1..part.start].trim().is_empty()
        {
            return vec![remove_range(comma, part.end)];
        }
        let spaces = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
        match comma_after {
            Some(comma) if self.text[part.end..comma].trim().is_empty() => {
                patches.push(remove_range(part.start, comma + 1 + spaces(&self.text[comma + 1..])));
            }
            Some(comma) => {
                patches.extend([remove_range(part.start, part.end), remove_range(comma, comma + 1)])
            }
            None if last => {
                let front = &self.text[before.start..part.start];
                let kept_length = front.trim_end_matches([' ', '\t']).len();
                patches.push(remove_range(before.start + kept_length, part.end));
            }
            None => {
                patches.push(remove_range(part.start, part.end + spaces(&self.text[part.end..])))
            }
        }
        patches
    }
}

fn insert_at(at: usize, text: String) -> Patch {
    let span = TextSpan { start: at, end: at };
    Patch { span, text }
}

fn remove_range(start: usize, end: usize) -> Patch {
    Patch { span: TextSpan { start, end }, text: String::new() }
}

/// Returns the length of the comment at the start of a text between values.
fn comment_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let inner = text.strip_prefix("/*")?;
    Some(inner.find("*/").map_or(text.len(), |length| length + 4))
}

fn parts(value: SjsonValue) -> Vec<TextSpan> {
    let entry =
        |entry: ObjectEntry| TextSpan { start: entry.key_span.start, end: entry.value.span().end };
    match (value.items(), value.entries()) {
        (Some(items), _) => items.map(SjsonValue::span).collect(),
        (_, Some(entries)) => entries.map(entry).collect(),
        _ => Vec::new(),
    }
}

/// Returns the style of the nearest object in the chain that has an entry.
fn style(document: &Document, chain: &[SjsonValue]) -> WriteStyle {
    let text = &document.text;
    let mut style = WriteStyle::default_style();
    if text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r')) {
        style.newline = "\r\n";
    }
    let first_bytes = document.lines().iter();
    let first_bytes = first_bytes.filter_map(|start| text.as_bytes().get(*start as usize));
    if first_bytes.copied().find(|byte| b" \t".contains(byte)) == Some(b'\t') {
        style.indent = "\t";
    }
    let last_entry = |value: &SjsonValue<'_>| {
        value.entries().and_then(|entries| entries.last().map(|e| (e.key_span, e.value.span())))
    };
    let Some((key, value)) = chain.iter().find_map(last_entry) else {
        return style;
    };
    let separator = &text[key.end..value.start];
    if separator.chars().all(|letter| " \t=:".contains(letter)) {
        style.separator = separator.to_string();
    }
    style.quote_keys = text[key.start..].starts_with('"');
    style.line_commas = style.quote_keys && separator.contains(':');
    style
}
