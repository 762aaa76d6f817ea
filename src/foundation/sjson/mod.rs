//! SJSON, the text format of all source data: documents that keep their text, plain trees, a
//! writer, and an editor that changes one value and leaves every other byte alone. Opens no files
//! and knows no format built on top (settings, units, packages); those ask for values by key and
//! report faults by line.
//!
//! The format is JSON with less ceremony (the Stingray documentation has the rules):
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
//! Keys need quotes when they have white space, one of `= : , { } [ ] "` or the start of a comment
//! in them. Text values always need quotes. Numbers are JSON's, held as f64; a whole number that
//! f64 cannot hold exactly is refused. An object has each key once.

mod edit;
#[cfg(test)]
mod edit_tests;
mod of_tree;
mod parse;
#[cfg(test)]
mod parse_tests;
mod write;

use std::fmt;

pub use edit::Edit;
pub use parse::{parse, parse_bytes};
pub use write::write;

/// The longest text that is read.
pub const TEXT_BYTES_MAX: usize = 64 << 20;
/// How deep lists and objects nest at most, the file's own object included.
pub const NESTING_MAX: usize = 100;

/// Why a text is not SJSON. Shown as `line 1, column 4: list is not closed: add ']'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl SyntaxError {
    /// The error as an editor finds it: `settings.sjson:1:4: list is not closed: add
    /// ']'`.
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

/// Why a tree cannot be written or a document not be edited. Shown as `'window.size[2]': …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeError {
    /// Keys joined by points, items counted from 1; empty for the whole document.
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
pub enum Step<'a> {
    Key(&'a str),
    /// From 0; messages count from 1, as Lua does.
    Item(usize),
}

fn path_text(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.extend([".", key]),
            Step::Item(index) => text.push_str(&format!("[{}]", index + 1)),
        }
    }
    text
}

/// A value without its text: what is built to be written, and what documents are compared by.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Tree>),
    /// In the order of the text.
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// How many values it is made of, itself included.
    pub fn values(&self) -> usize {
        match self {
            Tree::Array(items) => 1 + items.iter().map(Tree::values).sum::<usize>(),
            Tree::Object(entries) => {
                1 + entries.iter().map(|(_, value)| value.values()).sum::<usize>()
            }
            _ => 1,
        }
    }

    /// The value under `key`; `None` if there is none or this is no object. Looks through all keys.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        let Tree::Object(entries) = self else {
            return None;
        };
        entries.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// The word for messages: `expected number, got list`.
impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Kind::Null => "null",
            Kind::Bool => "true or false",
            Kind::Number => "number",
            Kind::String => "text",
            Kind::Array => "list",
            Kind::Object => "object",
        })
    }
}

/// Bytes of the text, `start` included, `end` not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// A value in the text. Children come before their parents in `Document::nodes`.
#[derive(Clone, Debug)]
struct Node {
    span: Span,
    data: Data,
}

#[derive(Clone, Debug)]
enum Data {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<usize>),
    Object(Vec<Field>),
}

#[derive(Clone, Debug)]
struct Field {
    key: String,
    key_span: Span,
    node: usize,
}

/// A parsed text: the text itself and its values, each of which knows its place.
#[derive(Clone, Debug)]
pub struct Document {
    text: String,
    nodes: Vec<Node>,
    root: usize,
    /// Whether the whole text is the inside of an object, without braces around it.
    bare_root: bool,
    /// Where each line starts.
    lines: Vec<usize>,
}

impl Document {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn into_text(self) -> String {
        self.text
    }

    pub fn root(&self) -> Value<'_> {
        self.value(self.root)
    }

    pub fn to_tree(&self) -> Tree {
        self.root().to_tree()
    }

    /// The value at the end of `path`, if there is one.
    pub fn at(&self, path: &[Step]) -> Option<Value<'_>> {
        path.iter().try_fold(self.root(), |value, step| value.step(*step))
    }

    /// Line and column (in characters) of a byte of the text, both from 1.
    pub fn position(&self, byte: usize) -> (usize, usize) {
        let line = self.line(byte);
        let start = self.lines[line - 1];
        (line, column_of(&self.text[start..byte]))
    }

    fn line(&self, byte: usize) -> usize {
        self.lines.partition_point(|start| *start <= byte)
    }

    fn value(&self, node: usize) -> Value<'_> {
        Value { document: self, node }
    }
}

/// The column, from 1, behind `before`, the start of a line. A byte order mark takes no column.
fn column_of(before: &str) -> usize {
    before.trim_start_matches('\u{feff}').chars().count() + 1
}

/// A value of a document. `as_…`, `items` and `entries` are `None` when it is of another kind.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    document: &'a Document,
    node: usize,
}

/// A key of an object with its value.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    pub key: &'a str,
    /// Where the key stands, quotes included.
    pub key_span: Span,
    pub value: Value<'a>,
}

impl Entry<'_> {
    /// The line of the key, from 1.
    pub fn line(&self) -> usize {
        self.value.document.line(self.key_span.start)
    }

    /// The column of the key, from 1, in characters.
    pub fn column(&self) -> usize {
        self.value.document.position(self.key_span.start).1
    }
}

impl<'a> Value<'a> {
    fn data(self) -> &'a Data {
        &self.document.nodes[self.node].data
    }

    /// Where the value stands in the text, quotes and brackets included.
    pub fn span(self) -> Span {
        self.document.nodes[self.node].span
    }

    /// The line where the value starts, from 1.
    pub fn line(self) -> usize {
        self.document.line(self.span().start)
    }

    /// The column where the value starts, from 1, in characters.
    pub fn column(self) -> usize {
        self.document.position(self.span().start).1
    }

    pub fn kind(self) -> Kind {
        match self.data() {
            Data::Null => Kind::Null,
            Data::Bool(_) => Kind::Bool,
            Data::Number(_) => Kind::Number,
            Data::String(_) => Kind::String,
            Data::Array(_) => Kind::Array,
            Data::Object(_) => Kind::Object,
        }
    }

    pub fn as_bool(self) -> Option<bool> {
        match self.data() {
            Data::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_f64(self) -> Option<f64> {
        match self.data() {
            Data::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// A number that is still one as a float: 1e300 is not.
    pub fn as_f32(self) -> Option<f32> {
        self.as_f64().map(|number| number as f32).filter(|number| number.is_finite())
    }

    /// The first number that is none as a float, in this and in the lists that it is made of.
    pub fn beyond_f32(self) -> Option<f64> {
        match self.as_f64() {
            Some(number) => Some(number).filter(|_| self.as_f32().is_none()),
            None => self.items().into_iter().flatten().find_map(Value::beyond_f32),
        }
    }

    pub fn as_str(self) -> Option<&'a str> {
        match self.data() {
            Data::String(value) => Some(value),
            _ => None,
        }
    }

    /// The value under `key`; `None` also when this is no object. Looks through all keys: for many
    /// look-ups walk `entries` once.
    pub fn get(self, key: &str) -> Option<Value<'a>> {
        self.step(Step::Key(key))
    }

    /// The values of a list.
    pub fn items(self) -> Option<impl ExactSizeIterator<Item = Value<'a>>> {
        let document = self.document;
        match self.data() {
            Data::Array(nodes) => Some(nodes.iter().map(|node| document.value(*node))),
            _ => None,
        }
    }

    /// The keys and values of an object, in the order of the text.
    pub fn entries(self) -> Option<impl ExactSizeIterator<Item = Entry<'a>>> {
        let document = self.document;
        match self.data() {
            Data::Object(fields) => Some(fields.iter().map(|field| Entry {
                key: &field.key,
                key_span: field.key_span,
                value: document.value(field.node),
            })),
            _ => None,
        }
    }

    pub fn to_tree(self) -> Tree {
        let tree = |node: &usize| self.document.value(*node).to_tree();
        match self.data() {
            Data::Null => Tree::Null,
            Data::Bool(value) => Tree::Bool(*value),
            Data::Number(value) => Tree::Number(*value),
            Data::String(value) => Tree::String(value.clone()),
            Data::Array(nodes) => Tree::Array(nodes.iter().map(tree).collect()),
            Data::Object(fields) => {
                let entry = |field: &Field| (field.key.clone(), tree(&field.node));
                Tree::Object(fields.iter().map(entry).collect())
            }
        }
    }

    fn step(self, step: Step) -> Option<Value<'a>> {
        let node = match (self.data(), step) {
            (Data::Object(fields), Step::Key(key)) => {
                fields.iter().find(|field| field.key == key)?.node
            }
            (Data::Array(nodes), Step::Item(index)) => *nodes.get(index)?,
            _ => return None,
        };
        Some(self.document.value(node))
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
        let path = [Step::Key("window"), Step::Key("size"), Step::Item(1)];
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
        assert!(document.at(&[Step::Item(0)]).is_none());
    }

    #[test]
    fn values_and_keys_know_their_place() {
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
    fn kinds_have_words() {
        let document = parse("[null, true, 1, \"\", [], {}]").unwrap();
        let items = document.root().items().unwrap();
        let words: Vec<_> = items.map(|value| value.kind().to_string()).collect();
        assert_eq!(words, ["null", "true or false", "number", "text", "list", "object"]);
    }

    #[test]
    fn a_tree_holds_the_values_in_order() {
        let tree = parse(SETTINGS).unwrap().to_tree();
        assert_eq!(tree.get("name"), Some(&Tree::String("Ünder".to_string())));
        assert_eq!(tree.get("nothing"), Some(&Tree::Null));
        assert_eq!(tree.get("none"), None);
        assert_eq!(Tree::Null.get("name"), None);
        let size = tree.get("window").unwrap().get("size");
        let want = Tree::Array(vec![Tree::Number(640.0), Tree::Number(480.0)]);
        assert_eq!(size, Some(&want));
    }

    #[test]
    fn errors_name_the_place() {
        let error = parse("a = 1\nb: [1 2").unwrap_err();
        assert_eq!(error.to_string(), "line 2, column 4: list is not closed: add ']'");
        assert_eq!(
            error.in_file("settings.sjson"),
            "settings.sjson:2:4: list is not closed: add ']'"
        );
    }
}
