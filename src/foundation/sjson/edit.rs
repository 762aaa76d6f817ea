//! Changes to a document that leave all other bytes alone: set, insert, remove. Every change makes
//! a few patches of the text and reads the result again, so a document and its text never part.
//! Knows no files and no merging.
//!
//! Where comments go: one on the line of a removed value goes with it, all others stay. A new
//! value comes behind the one before it and behind that one's comment on the same line.

use super::write::{Style, check, key_text, under, value_text};
use super::{Data, Document, NESTING_MAX, Span, Step, Tree, TreeError, Value, parse, path_text};

/// A document under change. A change that fails leaves it as it was.
#[derive(Clone, Debug)]
pub struct Edit {
    document: Document,
}

/// A replacement of some bytes by a text.
struct Patch {
    span: Span,
    text: String,
}

type Done = Result<(), TreeError>;

impl Edit {
    pub fn new(document: Document) -> Edit {
        Edit { document }
    }

    pub fn document(&self) -> &Document {
        &self.document
    }

    pub fn finish(self) -> Document {
        self.document
    }

    /// Makes `path` hold `tree`. Keys that are missing are added at the ends of their objects,
    /// together with the objects around them; items that are missing are not.
    pub fn set(&mut self, path: &[Step], tree: &Tree) -> Done {
        self.set_all(&[(path, tree)])
    }

    /// As `set` for many places that are not inside each other; existing values are replaced in
    /// one go, which is faster than one by one. Fails as a whole.
    pub fn set_all(&mut self, places: &[(&[Step], &Tree)]) -> Done {
        let mut changed = self.clone();
        let mut patches = Vec::new();
        for (path, tree) in places {
            check(tree, NESTING_MAX).map_err(|error| under(&path_text(path), error))?;
            if path.is_empty() {
                return Err(at_path(path, "cannot be set: write a new one".to_string()));
            }
            if self.document.at(path).is_some() {
                patches.push(self.replacement(path, tree));
            }
        }
        let blamed = match places {
            [(path, _)] => *path,
            _ => &[],
        };
        changed.apply(blamed, patches)?;
        for (path, tree) in places {
            if self.document.at(path).is_none() {
                changed.add(path, tree)?;
            }
        }
        *self = changed;
        Ok(())
    }

    /// Takes a key with its value out of its object, or an item out of its list.
    pub fn remove(&mut self, path: &[Step]) -> Done {
        let Some((last, parents)) = path.split_last() else {
            return Err(at_path(path, "cannot be removed: delete the file".to_string()));
        };
        if self.document.at(path).is_none() {
            return Err(at_path(path, "there is no such value to remove".to_string()));
        }
        let layout = self.layout(parents);
        let index = match last {
            Step::Item(index) => *index,
            Step::Key(key) => {
                let mut entries = layout.value.entries().expect("the path leads here");
                entries.position(|entry| entry.key == *key).expect("the path leads here")
            }
        };
        let patches = layout.removal(index);
        self.apply(path, patches)
    }

    /// Puts an item into the list at `path`, before the item that is at `index` (from 0) now; the
    /// length of the list is the place behind its end.
    pub fn insert_item(&mut self, path: &[Step], index: usize, tree: &Tree) -> Done {
        let value = self.document.at(path);
        let items = value.and_then(|value| value.items());
        let Some(count) = items.map(|items| items.len()) else {
            return Err(at_path(path, format!("expected list, found {}", found(value))));
        };
        self.insert(path, count, index, None, tree)
    }

    /// Puts a key into the object at `path`, before the entry that is at `index` (from 0) now; the
    /// number of entries is the place behind the last.
    pub fn insert_entry(&mut self, path: &[Step], index: usize, key: &str, tree: &Tree) -> Done {
        let value = self.document.at(path);
        let entries = value.and_then(|value| value.entries());
        let Some(count) = entries.map(|entries| entries.len()) else {
            return Err(at_path(path, format!("expected object, found {}", found(value))));
        };
        if value.is_some_and(|value| value.get(key).is_some()) {
            return Err(at_path(path, format!("there is a key '{key}' already: set it")));
        }
        self.insert(path, count, index, Some(key), tree)
    }

    fn insert(
        &mut self,
        path: &[Step],
        count: usize,
        index: usize,
        key: Option<&str>,
        tree: &Tree,
    ) -> Done {
        check(tree, NESTING_MAX).map_err(|error| under(&path_text(path), error))?;
        if index > count {
            let message =
                format!("length is {count}: there is no place {} to insert at", index + 1);
            return Err(at_path(path, message));
        }
        let patches = self.layout(path).insertion(index, key, tree);
        self.apply(path, patches)
    }

    /// Adds the missing end of `path`: the first missing key with all that is to be under it.
    fn add(&mut self, path: &[Step], tree: &Tree) -> Done {
        let there = (0..path.len()).rev().find(|end| self.document.at(&path[..*end]).is_some());
        let there = there.expect("the root is always there");
        let Step::Key(key) = path[there] else {
            return Err(at_path(path, "there is no such item: insert it first".to_string()));
        };
        let parent = self.document.at(&path[..there]);
        let entries = parent.and_then(|value| value.entries());
        let Some(count) = entries.map(|entries| entries.len()) else {
            let message = format!("expected object, found {}", found(parent));
            return Err(at_path(&path[..there], message));
        };
        let mut tree = tree.clone();
        for step in path[there + 1..].iter().rev() {
            let Step::Key(key) = step else {
                return Err(at_path(path, "there is no such list: insert it first".to_string()));
            };
            tree = Tree::Object(vec![(key.to_string(), tree)]);
        }
        self.insert(&path[..there], count, count, Some(key), &tree)
    }

    fn replacement(&self, path: &[Step], tree: &Tree) -> Patch {
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

    fn layout(&self, path: &[Step]) -> Layout<'_> {
        let ancestors = (0..=path.len()).rev();
        let chain: Vec<Value> =
            ancestors.map(|end| self.document.at(&path[..end]).expect("asked before")).collect();
        Layout::new(&self.document, &chain)
    }

    /// Patches the text and reads it again; nothing changes when that fails.
    fn apply(&mut self, path: &[Step], mut patches: Vec<Patch>) -> Done {
        patches.sort_by_key(|patch| patch.span.start);
        let text = &self.document.text;
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for patch in patches {
            if patch.span.start < at {
                let message = "two of the places to set are inside each other: set the outer one";
                return Err(at_path(path, message.to_string()));
            }
            out.push_str(&text[at..patch.span.start]);
            push_apart(&mut out, &patch.text);
            at = patch.span.end;
            if at < text.len() && glues(&out, &text[at..]) {
                out.push(' ');
            }
        }
        out.push_str(&text[at..]);
        match parse(&out) {
            Ok(document) => self.document = document,
            Err(error) => return Err(at_path(path, format!("cannot be changed so: {error}"))),
        }
        Ok(())
    }
}

fn at_path(path: &[Step], message: String) -> TreeError {
    let path = path_text(path);
    TreeError { path, message }
}

fn found(value: Option<Value>) -> String {
    value.map_or("nothing".to_string(), |value| value.kind().to_string())
}

fn is_flat(tree: &Tree) -> bool {
    let plain = |tree: &Tree| !matches!(tree, Tree::Array(_) | Tree::Object(_));
    match tree {
        Tree::Object(entries) => entries.iter().all(|(_, value)| plain(value)),
        _ => true,
    }
}

/// Whether the last character before and the first after would become one word or one quote.
fn glues(before: &str, after: &str) -> bool {
    let wordy =
        |letter: char| !letter.is_ascii_whitespace() && !",[]{}=:/\u{feff}".contains(letter);
    before.ends_with(wordy) && after.starts_with(wordy)
}

fn push_apart(out: &mut String, text: &str) {
    if glues(out, text) {
        out.push(' ');
    }
    out.push_str(text);
}

/// Where the parts of one list or object stand in the text, and how its neighbourhood is written.
struct Layout<'a> {
    text: &'a str,
    value: Value<'a>,
    /// Behind the opening bracket; the start of the text for a file without braces.
    inside: usize,
    /// The closing bracket; the end of the text for a file without braces.
    close: usize,
    bare: bool,
    /// Items, or entries from key to value.
    parts: Vec<Span>,
    style: Style,
    commas: bool,
    parent_on_one_line: bool,
}

impl<'a> Layout<'a> {
    /// The layout of the first of `chain`, which goes on with the values around it up to the root.
    fn new(document: &'a Document, chain: &[Value<'a>]) -> Layout<'a> {
        let value = chain[0];
        let bare = |value: &Value| document.bare_root && value.node == document.root;
        let one_line = |value: &Value| {
            let Span { start, end } = value.span();
            !bare(value) && !document.text[start..end].contains('\n')
        };
        let span = value.span();
        let edge = usize::from(!bare(&value));
        let mut layout = Layout {
            text: &document.text,
            value,
            inside: span.start + edge,
            close: span.end - edge,
            bare: bare(&value),
            parts: parts(document, value),
            style: style(document, chain),
            commas: false,
            parent_on_one_line: chain.get(1).is_some_and(one_line),
        };
        layout.commas = layout.has_commas();
        layout
    }

    /// Whether values are separated by commas here; where there are too few to tell, as the style
    /// has it, and always on one line.
    fn has_commas(&self) -> bool {
        let (from, to) = match self.parts.as_slice() {
            [] => return self.style.line_commas || self.on_one_line(),
            [only] => (only.end, self.close),
            [.., before, last] => (before.end, last.start),
        };
        let lone = self.parts.len() == 1;
        self.comma(from, to).is_some()
            || (lone
                && (self.style.line_commas || !(self.bare || self.text[from..to].contains('\n'))))
    }

    /// Whether the whole list or object stands on one line.
    fn on_one_line(&self) -> bool {
        !self.bare && !self.text[self.inside..self.close].contains('\n')
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |i| i + 1)
    }

    /// The white space at the start of the line of `at`.
    fn indent_at(&self, at: usize) -> &'a str {
        let line = self.text[self.line_start(at)..at].trim_start_matches('\u{feff}');
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The gap between the part before `index` and the one at `index`.
    fn gap(&self, index: usize) -> Span {
        let before = index.checked_sub(1).map(|before| self.parts[before].end);
        Span {
            start: before.unwrap_or(self.inside),
            end: self.parts.get(index).map_or(self.close, |part| part.start),
        }
    }

    /// The comma between two values, which is not in a comment.
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

    /// The end of what belongs to a value on its line: a comma and comments that end there.
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

    fn part_text(&self, key: Option<&str>, tree: &Tree, indent: &str, on_one_line: bool) -> String {
        let value = value_text(tree, &self.style, indent, on_one_line);
        match key {
            Some(key) => key_text(key, &self.style) + &self.style.separator + &value,
            None => value,
        }
    }

    fn insertion(&self, index: usize, key: Option<&str>, tree: &Tree) -> Vec<Patch> {
        if self.parts.is_empty() {
            return vec![self.first_part(key, tree)];
        }
        let gap = self.gap(index);
        let at_edge = index == 0 || index == self.parts.len();
        let on_one_line = !self.text[gap.start..gap.end].contains('\n');
        if on_one_line && !(self.bare && at_edge) {
            return vec![self.insertion_in_line(index, key, tree)];
        }
        if index == 0 && self.bare {
            let next = self.parts[0].start;
            let indent = self.indent_at(next);
            let part = self.part_text(key, tree, indent, false);
            let comma = if self.commas { "," } else { "" };
            return vec![put(next, format!("{part}{comma}{}{indent}", self.style.newline))];
        }
        self.insertion_of_line(index, key, tree)
    }

    fn insertion_in_line(&self, index: usize, key: Option<&str>, tree: &Tree) -> Patch {
        let part = self.part_text(key, tree, "", true);
        let comma = if self.commas { ", " } else { " " };
        if index > 0 {
            return put(self.parts[index - 1].end, format!("{comma}{part}"));
        }
        put(self.parts[0].start, format!("{part}{comma}"))
    }

    /// Inserts on a line of its own, below the value before or below the opening bracket.
    fn insertion_of_line(&self, index: usize, key: Option<&str>, tree: &Tree) -> Vec<Patch> {
        let gap = self.gap(index);
        let at = self.line_tail(gap.start, gap.end);
        let indent = self.indent_at(self.parts[index.saturating_sub(1)].start);
        let newline = self.style.newline;
        let comma = self.comma(gap.start, gap.end);
        let mut patches = Vec::new();
        let mut part = self.part_text(key, tree, indent, false);
        if index == 0 || comma.is_some_and(|comma| comma < at) {
            part.push_str(if self.commas { "," } else { "" });
        } else if self.commas {
            patches.push(put(gap.start, ",".to_string()));
        }
        let rest = self.text[at..].trim_start_matches([' ', '\t', '\r']);
        let tail = match rest.is_empty() || rest.starts_with('\n') {
            true => String::new(),
            false => format!("{newline}{indent}"),
        };
        patches.push(put(at, format!("{newline}{indent}{part}{tail}")));
        patches
    }

    /// Fills an empty list or object.
    fn first_part(&self, key: Option<&str>, tree: &Tree) -> Patch {
        let inner = &self.text[self.inside..self.close];
        let kept = self.inside + inner.trim_end().len();
        let newline = self.style.newline;
        let span = Span { start: kept, end: self.close };
        if self.bare {
            let before = if kept > self.inside { newline } else { "" };
            let part = self.part_text(key, tree, "", false);
            let text = format!("{before}{part}{newline}");
            return Patch { span, text };
        }
        let blank = kept == self.inside;
        let short = key.is_none() && is_flat(tree) && !matches!(tree, Tree::Object(_));
        if blank && (self.parent_on_one_line || (short && self.on_one_line())) {
            let part = self.part_text(key, tree, "", true);
            let space = if key.is_some() { " " } else { "" };
            let text = format!("{space}{part}{space}");
            return Patch { span, text };
        }
        let outer = self.indent_at(self.inside);
        let indent = format!("{outer}{}", self.style.indent);
        let part = self.part_text(key, tree, &indent, false);
        let text = format!("{newline}{indent}{part}{newline}{outer}");
        Patch { span, text }
    }

    fn removal(&self, index: usize) -> Vec<Patch> {
        let part = self.parts[index];
        let (before, after) = (self.gap(index), self.gap(index + 1));
        let comma_before = self.comma(before.start, before.end).filter(|_| index > 0);
        let comma_after = self.comma(after.start, after.end);
        let last = index + 1 == self.parts.len();
        // A comma in front separates nothing any more once the last value is gone.
        let stray = comma_before.filter(|_| last && comma_after.is_none());

        let tail = self.line_tail(part.end, after.end);
        let line_start = self.line_start(part.start);
        let starts_line = self.text[line_start..part.start].trim_matches([' ', '\t']).is_empty();
        let rest = self.text[tail..].trim_start_matches([' ', '\t', '\r']);
        let ends_line = rest.is_empty() || rest.starts_with('\n');
        let mut patches: Vec<Patch> = stray.map(|at| cut(at, at + 1)).into_iter().collect();
        if starts_line && ends_line && comma_after.is_none_or(|comma| comma < tail) {
            let end = self.text.len() - rest.len() + usize::from(!rest.is_empty());
            patches.push(cut(line_start, end));
            return patches;
        }
        if let Some(comma) = stray
            && self.text[comma + 1..part.start].trim().is_empty()
        {
            return vec![cut(comma, part.end)];
        }
        let spaces = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
        match comma_after {
            Some(comma) if self.text[part.end..comma].trim().is_empty() => {
                patches.push(cut(part.start, comma + 1 + spaces(&self.text[comma + 1..])));
            }
            Some(comma) => patches.extend([cut(part.start, part.end), cut(comma, comma + 1)]),
            None if last => {
                let front = &self.text[before.start..part.start];
                let kept = front.trim_end_matches([' ', '\t']).len();
                patches.push(cut(before.start + kept, part.end));
            }
            None => patches.push(cut(part.start, part.end + spaces(&self.text[part.end..]))),
        }
        patches
    }
}

fn put(at: usize, text: String) -> Patch {
    let span = Span { start: at, end: at };
    Patch { span, text }
}

fn cut(start: usize, end: usize) -> Patch {
    Patch { span: Span { start, end }, text: String::new() }
}

/// The length of the comment that a text between values starts with.
fn comment_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let inner = text.strip_prefix("/*")?;
    Some(inner.find("*/").map_or(text.len(), |length| length + 4))
}

fn parts(document: &Document, value: Value) -> Vec<Span> {
    let span = |node: usize| document.nodes[node].span;
    match value.data() {
        Data::Array(nodes) => nodes.iter().map(|node| span(*node)).collect(),
        Data::Object(fields) => fields
            .iter()
            .map(|field| Span { start: field.key_span.start, end: span(field.node).end })
            .collect(),
        _ => Vec::new(),
    }
}

/// The style of the nearest object that has an entry to learn from.
fn style(document: &Document, chain: &[Value]) -> Style {
    let text = &document.text;
    let mut style = Style::house();
    if text.split_once('\n').is_some_and(|(line, _)| line.ends_with('\r')) {
        style.newline = "\r\n";
    }
    let first_bytes = document.lines.iter().filter_map(|start| text.as_bytes().get(*start));
    if first_bytes.copied().find(|byte| b" \t".contains(byte)) == Some(b'\t') {
        style.indent = "\t";
    }
    let last_entry = |value: &Value<'_>| {
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
