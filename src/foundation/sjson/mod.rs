//! SJSON, the text format of all source data: documents that keep their text, plain trees, a
//! writer, and an editor that changes one value and leaves every other byte unchanged. Opens no
//! files. Knows none of the formats built on top (settings, units, packages): those read values by
//! key and report errors by line.
//!
//! The format is JSON with less syntax (the Stingray documentation has the rules):
//!
//! ```text
//! // The file is the inside of an object; `=` and `:` mean the same.
//! name = "Barrel"            /* commas are optional, plain JSON is fine */
//! "spawn rate" = 0.5
//! size = [1, 2, 3]
//! help = """Raw text over
//! many lines, no escapes."""
//! ```
//!
//! Keys need quotes if they contain white space, one of `= : , { } [ ] "` or the start of a
//! comment. Text values always need quotes. Numbers are JSON's, stored as f64. An integer that f64
//! cannot store exactly is an error. Each key of an object is unique.

mod edit;
#[cfg(test)]
mod edit_tests;
mod from_tree;
mod nodes;
mod parse;
#[cfg(test)]
mod parse_tests;
mod write;

use std::fmt;
use std::sync::OnceLock;

pub use edit::{DocumentEditor, NewEntries};
use nodes::{NodeData, NodeField, Nodes};
pub use parse::{parse, parse_bytes, parse_text};
pub use write::{line, write};
pub(crate) use write::{push_number, push_string};

/// Maximum length of a text in bytes.
pub const TEXT_BYTES_MAX: usize = 64 << 20;
/// Maximum nesting depth of lists and objects, including the file's own object.
pub const NESTING_MAX: usize = 100;

/// A syntax error. Displayed as `line 1, column 4: list is not closed: add ']'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Line number, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// A description of the error and its remedy.
    pub message: String,
}

impl SyntaxError {
    /// Formats the error with a location that editors recognize: `settings.sjson:1:4: list is not
    /// closed: add ']'`.
    pub fn in_file(&self, file: &str) -> String {
        format!("{file}:{}:{}: {}", self.line, self.column, self.message)
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SyntaxError { line, column, message } = self;
        write!(out, "line {line}, column {column}: {message}")
    }
}

impl std::error::Error for SyntaxError {}

/// An error in writing a tree or editing a document. Displayed as `'window.size[2]': …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeError {
    /// Path to the value: keys joined by periods, items counted from 1; empty for the whole
    /// document.
    pub path: String,
    pub message: String,
}

impl fmt::Display for TreeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(out, "the whole document: {}", self.message),
            path => write!(out, "'{path}': {}", self.message),
        }
    }
}

impl std::error::Error for TreeError {}

/// One step of a path into a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep<'a> {
    Key(&'a str),
    /// Item index from 0. Messages count from 1, as Lua does.
    Item(usize),
}

fn path_text(path: &[PathStep]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            PathStep::Key(key) if text.is_empty() => text.push_str(key),
            PathStep::Key(key) => text.extend([".", key]),
            PathStep::Item(index) => text.push_str(&format!("[{}]", index + 1)),
        }
    }
    text
}

/// A value without its text, for building new documents and for comparing documents.
#[derive(Clone, Debug, PartialEq)]
pub enum SjsonTree {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<SjsonTree>),
    /// Entries in the order of the text.
    Object(Vec<(String, SjsonTree)>),
}

impl SjsonTree {
    /// Returns the number of values in the tree, including the root.
    pub fn values(&self) -> usize {
        match self {
            SjsonTree::Array(items) => 1 + items.iter().map(SjsonTree::values).sum::<usize>(),
            SjsonTree::Object(entries) => {
                1 + entries.iter().map(|(_, value)| value.values()).sum::<usize>()
            }
            _ => 1,
        }
    }

    /// Returns the value of `key`, or `None` if the key is missing or this is not an object.
    /// Searches all keys.
    pub fn get(&self, key: &str) -> Option<&SjsonTree> {
        let SjsonTree::Object(entries) = self else {
            return None;
        };
        entries.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// Formats the kind for messages: `expected number, got list`.
impl fmt::Display for ValueKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            ValueKind::Null => "null",
            ValueKind::Bool => "true or false",
            ValueKind::Number => "number",
            ValueKind::String => "text",
            ValueKind::Array => "list",
            ValueKind::Object => "object",
        })
    }
}

/// A range of bytes in the text: `start` is included, `end` is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextSpan {
    pub start: usize,
    pub end: usize,
}

/// A parsed text: the text itself and its values, each with its position in the text.
#[derive(Clone, Debug)]
pub struct Document {
    text: String,
    nodes: Nodes,
    root: usize,
    /// True if the whole text is the inside of an object, without braces around it.
    bare_root: bool,
    /// Byte position of each line's start, found when the first line is asked for.
    lines: OnceLock<Vec<u32>>,
}

impl Document {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    pub fn root(&self) -> SjsonValue<'_> {
        self.value(self.root)
    }

    pub fn to_tree(&self) -> SjsonTree {
        self.root().to_tree()
    }

    /// Returns the value at `path`, if it exists.
    pub fn at(&self, path: &[PathStep]) -> Option<SjsonValue<'_>> {
        path.iter().try_fold(self.root(), |value, step| value.step(*step))
    }

    /// Returns the line and the column (in characters) of a byte in the text, both from 1.
    pub fn position(&self, byte: usize) -> (usize, usize) {
        let line = self.line(byte);
        let start = self.lines()[line - 1] as usize;
        (line, column_of(&self.text[start..byte]))
    }

    fn line(&self, byte: usize) -> usize {
        self.lines().partition_point(|start| *start as usize <= byte)
    }

    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            [0].into_iter().chain(breaks.map(|(at, _)| at as u32 + 1)).collect()
        })
    }

    fn value(&self, node: usize) -> SjsonValue<'_> {
        SjsonValue { document: self, node }
    }
}

/// Returns the column, from 1, after `before`, which starts at the beginning of a line. A byte
/// order mark takes no column.
fn column_of(before: &str) -> usize {
    before.trim_start_matches('\u{feff}').chars().count() + 1
}

/// A value of a document. `as_…`, `items` and `entries` return `None` if it has another kind.
#[derive(Clone, Copy)]
pub struct SjsonValue<'a> {
    document: &'a Document,
    node: usize,
}

/// A key of an object with its value.
#[derive(Clone, Copy)]
pub struct ObjectEntry<'a> {
    pub key: &'a str,
    /// Position of the key, including quotes.
    pub key_span: TextSpan,
    pub value: SjsonValue<'a>,
}

impl ObjectEntry<'_> {
    /// Returns the line of the key, from 1.
    pub fn line(&self) -> usize {
        self.value.document.line(self.key_span.start)
    }

    /// Returns the column of the key, from 1, in characters.
    pub fn column(&self) -> usize {
        self.value.document.position(self.key_span.start).1
    }
}

impl<'a> SjsonValue<'a> {
    fn data(self) -> NodeData {
        self.document.nodes.data(self.node)
    }

    fn entry(self, field: &'a NodeField) -> ObjectEntry<'a> {
        let document = self.document;
        ObjectEntry {
            key: document.nodes.key(&document.text, field),
            key_span: field.key_span.range(),
            value: document.value(field.node as usize),
        }
    }

    /// Returns the position of the value in the text, including quotes and brackets.
    pub fn span(self) -> TextSpan {
        self.document.nodes.span(self.node)
    }

    /// Returns the line where the value starts, from 1.
    pub fn line(self) -> usize {
        self.document.line(self.span().start)
    }

    /// Returns the column where the value starts, from 1, in characters.
    pub fn column(self) -> usize {
        self.document.position(self.span().start).1
    }

    pub fn kind(self) -> ValueKind {
        match self.data() {
            NodeData::Null => ValueKind::Null,
            NodeData::Bool(_) => ValueKind::Bool,
            NodeData::Number(_) => ValueKind::Number,
            NodeData::String(_) => ValueKind::String,
            NodeData::Array(_) => ValueKind::Array,
            NodeData::Object(_) => ValueKind::Object,
        }
    }

    pub fn as_bool(self) -> Option<bool> {
        match self.data() {
            NodeData::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_f64(self) -> Option<f64> {
        match self.data() {
            NodeData::Number(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a number as f32, or `None` if it is not finite as f32, such as 1e300.
    pub fn as_f32(self) -> Option<f32> {
        self.as_f64().map(|number| number as f32).filter(|number| number.is_finite())
    }

    /// Returns the first number that is not finite as f32, in this value and the lists inside of
    /// it.
    pub fn beyond_f32(self) -> Option<f64> {
        match self.as_f64() {
            Some(number) => Some(number).filter(|_| self.as_f32().is_none()),
            None => self.items().into_iter().flatten().find_map(SjsonValue::beyond_f32),
        }
    }

    pub fn as_str(self) -> Option<&'a str> {
        match self.data() {
            NodeData::String(text) => {
                let document = self.document;
                Some(document.nodes.text(&document.text, self.span(), text))
            }
            _ => None,
        }
    }

    /// Returns the value of `key`, or `None` if the key is missing or this is not an object.
    /// Searches all keys, so for many lookups iterate over `entries` once instead.
    pub fn get(self, key: &str) -> Option<SjsonValue<'a>> {
        self.step(PathStep::Key(key))
    }

    /// Returns the values of a list.
    pub fn items(self) -> Option<impl ExactSizeIterator<Item = SjsonValue<'a>>> {
        let document = self.document;
        match self.data() {
            NodeData::Array(items) => {
                let items = document.nodes.items(items).iter();
                Some(items.map(|node| document.value(*node as usize)))
            }
            _ => None,
        }
    }

    /// Returns the keys and values of an object, in the order of the text.
    pub fn entries(self) -> Option<impl ExactSizeIterator<Item = ObjectEntry<'a>>> {
        let document = self.document;
        match self.data() {
            NodeData::Object(fields) => {
                let fields = document.nodes.fields(fields).iter();
                Some(fields.map(move |field| self.entry(field)))
            }
            _ => None,
        }
    }

    pub fn to_tree(self) -> SjsonTree {
        if let Some(items) = self.items() {
            return SjsonTree::Array(items.map(SjsonValue::to_tree).collect());
        }
        if let Some(entries) = self.entries() {
            let entry = |entry: ObjectEntry| (entry.key.to_string(), entry.value.to_tree());
            return SjsonTree::Object(entries.map(entry).collect());
        }
        match (self.data(), self.as_str()) {
            (_, Some(text)) => SjsonTree::String(text.to_string()),
            (NodeData::Bool(value), _) => SjsonTree::Bool(value),
            (NodeData::Number(value), _) => SjsonTree::Number(value),
            _ => SjsonTree::Null,
        }
    }

    fn step(self, step: PathStep) -> Option<SjsonValue<'a>> {
        match step {
            PathStep::Key(key) => {
                let NodeData::Object(fields) = self.data() else { return None };
                let Document { nodes, text, .. } = self.document;
                let mut fields = nodes.fields(fields).iter();
                let field = fields.find(|field| nodes.has_key(text, field, key))?;
                Some(self.document.value(field.node as usize))
            }
            PathStep::Item(index) => self.items()?.nth(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str = "// a game
name = \"Ünder\"
window = {
  size: [640 480], \"full screen\": false }
nothing = null
";

    #[test]
    fn values_are_read_by_key() {
        let document = parse(SETTINGS).unwrap();
        let root = document.root();
        let window = root.get("window").unwrap();
        assert_eq!(root.get("name").unwrap().as_str(), Some("Ünder"));
        assert_eq!(window.get("full screen").unwrap().as_bool(), Some(false));
        let size = window.get("size").unwrap();
        let numbers: Vec<_> = size.items().unwrap().map(|v| v.as_f64()).collect();
        assert_eq!(numbers, [Some(640.0), Some(480.0)]);
        let keys: Vec<_> = root.entries().unwrap().map(|entry| entry.key).collect();
        assert_eq!(keys, ["name", "window", "nothing"]);
        let path = [PathStep::Key("window"), PathStep::Key("size"), PathStep::Item(1)];
        assert_eq!(document.at(&path).unwrap().as_f64(), Some(480.0));
    }

    #[test]
    fn a_value_of_another_kind_is_none() {
        let document = parse(SETTINGS).unwrap();
        let name = document.root().get("name").unwrap();
        assert_eq!(name.as_bool(), None);
        assert_eq!(name.as_f64(), None);
        assert_eq!(document.root().as_str(), None);
        assert!(name.items().is_none() && name.entries().is_none());
        assert!(name.get("x").is_none() && document.root().get("x").is_none());
        assert!(document.at(&[PathStep::Item(0)]).is_none());
    }

    #[test]
    fn values_and_keys_have_their_line_and_column() {
        let document = parse(SETTINGS).unwrap();
        let window = document.root().get("window").unwrap();
        let entry = window.entries().unwrap().nth(1).unwrap();
        assert_eq!((window.line(), window.column()), (3, 10));
        assert_eq!((entry.line(), entry.column()), (4, 20));
        assert_eq!((entry.value.line(), entry.value.column()), (4, 35));
        let wide = parse("a = \"üü\" b = 1").unwrap();
        assert_eq!(wide.root().get("b").unwrap().column(), 14);
        assert_eq!(parse("\u{feff}a = 1").unwrap().at(&[]).unwrap().line(), 1);
        let marked = parse("\u{feff}a = 1").unwrap();
        assert_eq!(marked.root().get("a").unwrap().column(), 5);
    }

    #[test]
    fn kinds_have_names() {
        let document = parse("[null, true, 1, \"\", [], {}]").unwrap();
        let items = document.root().items().unwrap();
        let kinds: Vec<_> = items.map(|value| value.kind().to_string()).collect();
        assert_eq!(kinds, ["null", "true or false", "number", "text", "list", "object"]);
    }

    #[test]
    fn a_tree_keeps_the_values_in_order() {
        let tree = parse(SETTINGS).unwrap().to_tree();
        assert_eq!(tree.get("name"), Some(&SjsonTree::String("Ünder".to_string())));
        assert_eq!(tree.get("nothing"), Some(&SjsonTree::Null));
        assert_eq!(tree.get("none"), None);
        assert_eq!(SjsonTree::Null.get("name"), None);
        let size = tree.get("window").unwrap().get("size");
        let want = SjsonTree::Array(vec![SjsonTree::Number(640.0), SjsonTree::Number(480.0)]);
        assert_eq!(size, Some(&want));
    }

    #[test]
    fn errors_have_a_location() {
        let error = parse("a = 1\nb: [1 2").unwrap_err();
        assert_eq!(error.to_string(), "line 2, column 4: list is not closed: add ']'");
        assert_eq!(
            error.in_file("settings.sjson"),
            "settings.sjson:2:4: list is not closed: add ']'"
        );
    }
}
