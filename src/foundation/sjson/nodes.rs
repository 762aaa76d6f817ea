//! The values of a document in tables: 16 bytes each, with keys and texts as positions in the
//! document's text. Only texts with escapes are stored apart.

use super::TextSpan;
use std::ops::Range;

/// Marks a key or a text that is in the document's text as it is.
const IN_TEXT: u32 = u32::MAX;

/// A [`TextSpan`] in half the memory: a text has at most [`super::TEXT_BYTES_MAX`] bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeSpan {
    start: u32,
    end: u32,
}

impl NodeSpan {
    pub fn new(start: usize, end: usize) -> NodeSpan {
        NodeSpan { start: start as u32, end: end as u32 }
    }

    pub fn range(self) -> TextSpan {
        TextSpan { start: self.start as usize, end: self.end as usize }
    }
}

/// A value. The kind is in the upper bits of the end of its span.
#[derive(Clone, Copy, Debug)]
struct Node {
    start: u32,
    end_and_kind: u32,
    /// A number's bits; the first item or field and the count of a list or an object; a text's
    /// index among the texts, or [`IN_TEXT`]; 1 for true.
    payload: u64,
}

/// Number of bits of a span's end. The longest text has 2^26 bytes.
const END_BITS: u32 = 28;

/// The content of a value.
#[derive(Clone, Debug)]
pub(super) enum NodeData {
    Null,
    Bool(bool),
    Number(f64),
    /// Index among the texts, or [`IN_TEXT`].
    String(u32),
    /// Range of the table of items.
    Array(Range<usize>),
    /// Range of the table of fields.
    Object(Range<usize>),
}

/// A key of an object with its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeField {
    pub key_span: NodeSpan,
    pub node: u32,
    /// Index among the texts, or [`IN_TEXT`].
    key: u32,
}

/// All values of a document. Children precede their parents.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    items: Vec<u32>,
    fields: Vec<NodeField>,
    /// Keys and texts that differ from their source.
    texts: Vec<Box<str>>,
    /// Items and fields of the lists and objects that are not complete yet.
    open_items: Vec<u32>,
    open_fields: Vec<NodeField>,
}

impl Nodes {
    /// Adds a value, and returns its index.
    pub fn push(&mut self, span: NodeSpan, data: NodeData) -> u32 {
        let range = |range: Range<usize>| (range.start as u64) << 32 | range.len() as u64;
        let (kind, payload) = match data {
            NodeData::Null => (0, 0),
            NodeData::Bool(value) => (1, u64::from(value)),
            NodeData::Number(number) => (2, number.to_bits()),
            NodeData::String(text) => (3, u64::from(text)),
            NodeData::Array(items) => (4, range(items)),
            NodeData::Object(fields) => (5, range(fields)),
        };
        let end_and_kind = span.end | kind << END_BITS;
        self.nodes.push(Node { start: span.start, end_and_kind, payload });
        self.nodes.len() as u32 - 1
    }

    pub fn clear(&mut self) {
        *self = Nodes::default();
    }

    /// Releases memory that no value uses.
    pub fn shrink(&mut self) {
        self.nodes.shrink_to_fit();
        self.items.shrink_to_fit();
        self.fields.shrink_to_fit();
        (self.open_items, self.open_fields) = (Vec::new(), Vec::new());
    }

    pub fn data(&self, node: usize) -> NodeData {
        let Node { end_and_kind, payload, .. } = self.nodes[node];
        let range = || {
            let start = (payload >> 32) as usize;
            start..start + payload as u32 as usize
        };
        match end_and_kind >> END_BITS {
            0 => NodeData::Null,
            1 => NodeData::Bool(payload != 0),
            2 => NodeData::Number(f64::from_bits(payload)),
            3 => NodeData::String(payload as u32),
            4 => NodeData::Array(range()),
            _ => NodeData::Object(range()),
        }
    }

    pub fn span(&self, node: usize) -> TextSpan {
        let Node { start, end_and_kind, .. } = self.nodes[node];
        TextSpan { start: start as usize, end: (end_and_kind & ((1 << END_BITS) - 1)) as usize }
    }

    pub fn items(&self, range: Range<usize>) -> &[u32] {
        &self.items[range]
    }

    pub fn fields(&self, range: Range<usize>) -> &[NodeField] {
        &self.fields[range]
    }

    /// Returns the key of a field. `source` is the text of the document.
    pub fn key<'a>(&'a self, source: &'a str, field: &NodeField) -> &'a str {
        self.text(source, field.key_span.range(), field.key)
    }

    /// Returns true if a field has a key.
    pub fn has_key(&self, source: &str, field: &NodeField, key: &str) -> bool {
        if let Some(text) = self.texts.get(field.key as usize) {
            return &**text == key;
        }
        // Most fields differ in length, so that their texts are not read.
        let span = field.key_span.range();
        let length = span.end - span.start;
        [0, 2, 6].contains(&length.wrapping_sub(key.len()))
            && inside(&source[span.start..span.end]) == key
    }

    /// Returns a text by its index and its position, quotes included.
    pub fn text<'a>(&'a self, source: &'a str, span: TextSpan, text: u32) -> &'a str {
        match self.texts.get(text as usize) {
            Some(text) => text,
            None => inside(&source[span.start..span.end]),
        }
    }

    /// Stores a text that differs from its source, and returns its index.
    pub fn add_text(&mut self, text: Option<String>) -> u32 {
        let Some(text) = text else { return IN_TEXT };
        self.texts.push(text.into());
        self.texts.len() as u32 - 1
    }

    /// Begins a list or an object. Returns the counts that [`Nodes::end_items`] or
    /// [`Nodes::end_fields`] needs.
    pub fn open_counts(&self) -> (usize, usize) {
        (self.open_items.len(), self.open_fields.len())
    }

    pub fn add_item(&mut self, node: u32) {
        self.open_items.push(node);
    }

    pub fn add_field(&mut self, key_span: NodeSpan, key: u32, node: u32) {
        self.open_fields.push(NodeField { key_span, node, key });
    }

    /// Returns the fields of the innermost object that is not complete.
    pub fn fields_since(&self, counts: (usize, usize)) -> &[NodeField] {
        &self.open_fields[counts.1..]
    }

    pub fn end_items(&mut self, counts: (usize, usize)) -> NodeData {
        let start = self.items.len();
        self.items.extend(self.open_items.drain(counts.0..));
        NodeData::Array(start..self.items.len())
    }

    pub fn end_fields(&mut self, counts: (usize, usize)) -> NodeData {
        let start = self.fields.len();
        self.fields.extend(self.open_fields.drain(counts.1..));
        NodeData::Object(start..self.fields.len())
    }
}

/// Returns a text or key without its quotes.
fn inside(source: &str) -> &str {
    let quotes = match source {
        _ if source.len() >= 6 && source.starts_with("\"\"\"") => 3,
        _ if source.starts_with('"') => 1,
        _ => 0,
    };
    &source[quotes..source.len() - quotes]
}
